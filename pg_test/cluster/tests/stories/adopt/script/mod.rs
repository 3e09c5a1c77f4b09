//! The script that makes integers bigint: what it says before, where it stops, and what is drawn while it runs.

mod drawn_ids;
mod guarded;
mod last_step;
mod lost_keys;
mod refused;
mod resumed;
mod said_before;
mod settings;
