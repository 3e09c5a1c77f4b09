//! Leases of nodes that a registry grants.

mod copies;
mod members;
mod orphans;
mod outages;
mod reasons;
mod replication;
mod restores;
mod settings;
mod shutdowns;
mod trust;
mod unresponsive;
