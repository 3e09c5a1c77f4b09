//! Attacks on nodes that are assigned to a server for good, and on registries: copies of disks, lost answers and files, thieves,
//! full disks and restarts.

mod ada;
mod answers;
mod files;
mod limits;
mod malice;
mod pauses;
mod restarts;
mod thieves;
mod twins;
