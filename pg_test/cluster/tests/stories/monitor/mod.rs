//! Views for an administrator: wait events, statistics, checks, and the queries of monitoring systems.

mod alarms;
mod ceiling_file;
mod health;
mod other_servers;
mod queries;
mod stats;
mod waits;
