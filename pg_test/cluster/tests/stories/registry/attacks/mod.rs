//! Attacks on nodes that are assigned to a server for good, and on registries: copies of disks, lost answers and files, other logins,
//! full disks and restarts.

mod assigned_server;
mod disk_copies;
mod harmful_roles;
mod limits;
mod lost_answers;
mod other_logins;
mod pauses;
mod restarts;
mod state_files;
