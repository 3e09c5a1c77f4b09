//! What another role has written meets a conversion: none of it is run.

mod by_way;
mod domains;
mod objects;
mod scripts;
mod swapped;
mod types;
