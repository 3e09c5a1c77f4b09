//! Clocks that a test sets, for a server that preloads this library. A step of the wall clock leaves the others alone, as a real
//! one does. Passing time moves the wall clock and the time since boot.
//!
//! PostgreSQL reads the clock in signal handlers too, which interrupt any call, `malloc` as well. So nothing here allocates
//! or takes a lock, as libfaketime does, which corrupts the memory of such a server.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::hint::spin_loop;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

#[cfg(target_arch = "x86_64")]
const SYS_CLOCK_GETTIME: c_long = 228;
#[cfg(target_arch = "aarch64")]
const SYS_CLOCK_GETTIME: c_long = 113;
const CLOCK_REALTIME: c_int = 0;
const CLOCK_REALTIME_COARSE: c_int = 5;
const CLOCK_BOOTTIME: c_int = 7;
const O_RDONLY_O_CLOEXEC: c_int = 0o2_000_000;
const PROT_READ: c_int = 1;
const MAP_SHARED: c_int = 1;

const NANOSECONDS: i64 = 1_000_000_000;

#[repr(C)]
pub struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

#[repr(C)]
pub struct Timeval {
    seconds: i64,
    microseconds: i64,
}

/// The nanoseconds added to a clock, and their complement. See `FakeClock::set`, which writes them one after the other.
#[repr(C)]
struct Offset {
    nanoseconds: AtomicI64,
    complement: AtomicI64,
}

/// Content of the file that `MINT_CLOCK` names: what to add to the wall clock, and to that and the time since boot.
type Offsets = [Offset; 2];

/// The mapped file, from the first call on.
static OFFSETS: AtomicPtr<Offsets> = AtomicPtr::new(null_mut());

/// The offsets of a process without a file.
static NONE: Offsets = [const {
    Offset {
        nanoseconds: AtomicI64::new(0),
        complement: AtomicI64::new(!0),
    }
}; 2];

unsafe extern "C" {
    fn abort() -> !;
    fn close(file: c_int) -> c_int;
    fn getenv(name: *const c_char) -> *const c_char;
    fn mmap(
        at: *mut c_void,
        length: usize,
        rights: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
}

/// Maps the file. A call that interrupts another maps it once more, to the same content.
fn map() -> *mut Offsets {
    // SAFETY: the arguments are strings that end in a zero, and the mapping is never removed.
    unsafe {
        let path = getenv(c"MINT_CLOCK".as_ptr());
        if path.is_null() {
            return (&raw const NONE).cast_mut();
        }
        let file = open(path, O_RDONLY_O_CLOEXEC);
        let mapped = mmap(
            null_mut(),
            size_of::<Offsets>(),
            PROT_READ,
            MAP_SHARED,
            file,
            0,
        );
        if file < 0 || mapped.addr() == usize::MAX {
            abort();
        }
        close(file);
        mapped.cast()
    }
}

/// Returns what to add to the wall clock, and to the time since boot, in nanoseconds.
fn offsets() -> [i64; 2] {
    let mut offsets = OFFSETS.load(Ordering::Acquire);
    if offsets.is_null() {
        offsets = map();
        OFFSETS.store(offsets, Ordering::Release);
    }
    // SAFETY: it is mapped, or static.
    let [wall, both] = unsafe { &*offsets };
    let both = both.read();
    [wall.read() + both, both]
}

impl Offset {
    fn read(&self) -> i64 {
        loop {
            // The one that is written last is read first: if they fit, neither was half written.
            let complement = self.complement.load(Ordering::Acquire);
            let nanoseconds = self.nanoseconds.load(Ordering::Acquire);
            if nanoseconds == !complement {
                return nanoseconds;
            }
            spin_loop();
        }
    }
}

/// # Safety
/// The caller keeps the contract of the function of libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, now: *mut Timespec) -> c_int {
    // SAFETY: the caller's, and the kernel has written where it returned 0.
    unsafe {
        let result = syscall(SYS_CLOCK_GETTIME, clock, now);
        let place = match clock {
            CLOCK_REALTIME | CLOCK_REALTIME_COARSE => 0,
            CLOCK_BOOTTIME => 1,
            _ => 2,
        };
        if result == 0
            && let Some(offset) = offsets().get(place)
        {
            let sum = (*now).nanoseconds + offset;
            (*now).seconds += sum.div_euclid(NANOSECONDS);
            (*now).nanoseconds = sum.rem_euclid(NANOSECONDS);
        }
        result as c_int
    }
}

/// Returns the time of the wall clock.
fn now() -> Timespec {
    let mut now = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: it is a place for the time.
    unsafe { clock_gettime(CLOCK_REALTIME, &raw mut now) };
    now
}

/// # Safety
/// The caller keeps the contract of the function of libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut Timeval, _zone: *mut c_void) -> c_int {
    let now = now();
    if !time.is_null() {
        // SAFETY: the caller's.
        unsafe {
            *time = Timeval {
                seconds: now.seconds,
                microseconds: now.nanoseconds / 1_000,
            };
        }
    }
    0
}

/// # Safety
/// The caller keeps the contract of the function of libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(time: *mut i64) -> i64 {
    let seconds = now().seconds;
    if !time.is_null() {
        // SAFETY: the caller's.
        unsafe { *time = seconds };
    }
    seconds
}
