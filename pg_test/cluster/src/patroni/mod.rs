//! A cluster of three servers under Patroni, each on a network of its own, with clients and faults.

pub mod check;
pub mod clients;
pub mod cluster;
pub mod etcd;
pub mod faults;
pub mod network;
pub mod node;
pub mod outages;
pub mod terms;
