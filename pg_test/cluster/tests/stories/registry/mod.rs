//! Nodes that a registry lends.

mod access;
mod copies;
mod members;
mod outages;
mod replication;
mod settings;
