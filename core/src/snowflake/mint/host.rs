//! The surroundings of minting, and the limits that it keeps to.

use crate::ceiling::Ceiling;
use crate::clock::{ClockAnchor, Micros};
use crate::snowflake::lease::Lease;

/// Limits on running ahead of the clock, and on waiting. In microseconds.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The farthest that the tick of an id can start ahead of the clock.
    pub max_ahead: Micros,
    /// The longest wait for a clock to catch up. Waits for the layout's own rate have no limit.
    pub max_wait: Micros,
    /// The largest difference between the progress of the wall clock and the time since boot.
    pub max_jump: Micros,
    /// The step by which the ceiling is raised.
    pub window: Micros,
}

/// The surroundings of minting: clocks, waiting, random bits and a durable ceiling.
pub trait Host {
    /// The reason to stop a wait or a raise: cancellation, shutdown, a failed write.
    type Interrupt;

    /// Returns the wall clock, in microseconds since 1970.
    fn now(&mut self) -> Micros;
    /// Returns the time since boot, which no one can set, in microseconds.
    fn up(&mut self) -> Micros;
    /// Returns the anchor that tells a jump of the wall clock by the time since boot.
    fn anchor(&self) -> &ClockAnchor;
    /// Waits for about `wait.span` microseconds, or less.
    ///
    /// # Errors
    /// When the caller must stop waiting.
    fn pause(&mut self, wait: Wait) -> Result<(), Self::Interrupt>;
    /// Notes that the clock is `behind` the lane's last id by more than `max_ahead`.
    fn stepped_back(&mut self, behind: Micros);
    /// Returns random bits, for layouts that start a tick at random.
    fn random(&mut self) -> u64;
    /// Returns the bounds of this database. [`Host::raise`] can find others.
    fn ceiling(&self) -> &Ceiling;
    /// Makes a ceiling above `beyond` durable, then publishes it. [`Micros::MIN`] only attaches.
    ///
    /// # Errors
    /// When the ceiling could not be raised.
    fn raise(&mut self, beyond: Micros) -> Result<(), Self::Interrupt>;
    /// Returns the lease to mint within, where this server leases its nodes from a registry.
    #[inline]
    fn lease(&self) -> Option<&Lease> {
        None
    }
    /// Asks for a renewal of the lease, which ends before the next id, and waits a little. `is_first`: the call has not
    /// waited before.
    ///
    /// # Errors
    /// When it will not be renewed.
    fn renew(&mut self, _is_first: bool) -> Result<(), Self::Interrupt> {
        Ok(())
    }
}

/// A wait of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Its length, in microseconds.
    pub span: Micros,
    /// Its cause.
    pub cause: WaitCause,
    /// True for the first wait of the call.
    pub is_first: bool,
}

/// The cause of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitCause {
    /// The next tick, as the layout's rate is used up.
    Capacity,
    /// A clock that was set back.
    Clock,
    /// A clock behind the ceiling that an earlier run of the server has left.
    Ceiling,
    /// A clock behind the beginning of the lease.
    Lease,
}
