//! The ceiling of a database: on disk, replaced, and begun again by a new extension.

mod of_the_server;
mod on_disk;
mod recreated;
mod replaced;

use super::assert_behind_ceiling;
