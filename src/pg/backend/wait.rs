//! The wait events of sessions, as `pg_stat_activity` shows them: by name from 17 on, before that as `Extension`.

use crate::pg::backend::local::Local;
use pgrx::pg_sys;
use std::ffi::CStr;

/// A wait event. The server knows its name once a session has waited for it.
pub struct WaitEvent {
    #[cfg_attr(any(feature = "pg15", feature = "pg16"), expect(dead_code))]
    name: &'static CStr,
    /// The number that the server gave to the name; 0 when this process has not asked yet.
    number: Local<u32>,
}

impl WaitEvent {
    pub const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            number: Local::new(0),
        }
    }

    /// Returns the number by which the server shows the event.
    pub fn number(&self) -> u32 {
        if self.number.get() == 0 {
            self.number.set(self.ask());
        }
        self.number.get()
    }

    #[cfg(any(feature = "pg15", feature = "pg16"))]
    fn ask(&self) -> u32 {
        pg_sys::PG_WAIT_EXTENSION
    }

    /// Returns the number by which the server shows the name. A server has room for 128 names; further waits have none.
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    fn ask(&self) -> u32 {
        // SAFETY: looks the name up in shared memory, or adds it, under a lock of the server.
        let ask = || unsafe { pg_sys::WaitEventExtensionNew(self.name.as_ptr()) };
        pgrx::PgTryBuilder::new(ask)
            .catch_others(|_| {
                // SAFETY: the lock that the error has left. A waiting session holds no other one of this kind.
                unsafe { pg_sys::LWLockReleaseAll() };
                pg_sys::PG_WAIT_EXTENSION
            })
            .execute()
    }

    /// Runs `work`, which does not call the server's own waits, as a wait for this event.
    pub fn show<T>(&self, work: impl FnOnce() -> T) -> T {
        let number = self.number();
        // SAFETY: points to this process's entry, or to a variable of its own. An error ends the wait with the transaction.
        unsafe {
            *pg_sys::my_wait_event_info = number;
            let answer = work();
            *pg_sys::my_wait_event_info = 0;
            answer
        }
    }

    /// Runs `work`, whose waits in the server are shown as this event, if it has a name.
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    pub fn cover<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    /// Runs `work`, whose waits in the server are shown as this event, if it has a name.
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    pub fn cover<T>(&self, work: impl FnOnce() -> T) -> T {
        let _cover = cover::Cover::over(self.number());
        work()
    }
}

/// Waits of the server under another name: the server writes its own to a place that nobody reads.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
mod cover {
    use crate::pg::backend::callbacks::on_exit;
    use crate::pg::backend::local::Local;
    use pgrx::pg_sys;
    use std::ptr;
    use std::sync::atomic::AtomicU32;

    static UNSEEN: AtomicU32 = AtomicU32::new(0);
    /// The place that others read, while the server does not write to it.
    static SEEN: Local<*mut u32> = Local::new(ptr::null_mut());

    /// Guard of a wait that is shown under another name; dropped also when an error unwinds.
    pub struct Cover;

    impl Cover {
        pub fn over(number: u32) -> Self {
            static IS_REGISTERED: Local<bool> = Local::new(false);
            if !IS_REGISTERED.replace(true) {
                // A process that is terminated while it waits does not unwind.
                on_exit(|| drop(Cover));
            }
            // SAFETY: the place is this process's entry.
            unsafe {
                let place = pg_sys::my_wait_event_info;
                *place = number;
                SEEN.set(place);
                pg_sys::my_wait_event_info = UNSEEN.as_ptr();
            }
            Self
        }
    }

    impl Drop for Cover {
        fn drop(&mut self) {
            let place = SEEN.replace(ptr::null_mut());
            if !place.is_null() {
                // SAFETY: this process's entry, as it was found.
                unsafe {
                    *place = 0;
                    pg_sys::my_wait_event_info = place;
                }
            }
        }
    }
}
