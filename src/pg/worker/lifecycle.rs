//! The life of the background workers: their start, changed settings, and their end.

use crate::pg::backend::callbacks::on_exit;
use crate::pg::backend::local::Local;
use crate::pg::backend::wait::WaitEvent;
use crate::pg::catalog::privilege::SEARCH_PATH;
use crate::pg::catalog::sql;
use crate::pg::charset;
use crate::pg::machine::clock;
use crate::pg::ports::die;
use crate::pg::worker::deadline;
use crate::pg::worker::mailbox::Mailbox;
use crate::pg::worker::transaction::attempt;
use mint_core::Micros;
use pgrx::bgworkers::{BackgroundWorker, SignalWakeFlags};
use pgrx::pg_sys;

/// The wait of an idle worker.
pub static IDLE: WaitEvent = WaitEvent::new(c"MintWorkerMain");

/// The requests that this process serves.
static SERVED: Local<Option<&'static Mailbox>> = Local::new(None);

/// Makes this process end as soon as it is asked to, while it has nothing to release. The first step of a worker,
/// before it connects to a database, which can take long.
pub fn attach() {
    // SAFETY: a handler of the server's, before signals are let in.
    unsafe {
        #[cfg(not(any(feature = "pg18", feature = "pg19")))]
        pg_sys::pqsignal(libc::SIGTERM, Some(die));
        #[cfg(any(feature = "pg18", feature = "pg19"))]
        pg_sys::pqsignal_be(libc::SIGTERM, Some(die));
    }
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP);
}

/// Connects this process to the database of a name.
pub fn connect(database: &str) {
    // SAFETY: pgrx gets the text, which no other code can read: it might not be UTF-8.
    let database = unsafe { String::from_utf8_unchecked(charset::encode(database)) };
    BackgroundWorker::connect_worker_to_spi(Some(&database), None);
}

/// Makes this process, which is connected to a database, the worker that serves these requests until it ends, normally
/// or by an error. From now on names mean the server's own, and [`deadline::is_asked_to_end`] tells when to end.
/// Returns false if the requests have a worker already.
pub fn begin(requests: &'static Mailbox) -> bool {
    prepare();
    SERVED.set(Some(requests));
    on_exit(|| {
        if let Some(requests) = SERVED.get() {
            requests.leave();
        }
    });
    requests.enter() && attempt(deadline::REQUEST, serve_database_owner).is_ok()
}

/// Does the same as [`begin`], for a process that serves one request.
pub fn begin_once() -> bool {
    prepare();
    attempt(deadline::REQUEST, serve_database_owner).is_ok()
}

fn prepare() {
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGTERM);
    // SAFETY: strings and a function of this library, which live as long as the process.
    unsafe {
        pg_sys::SetConfigOption(
            c"search_path".as_ptr(),
            SEARCH_PATH.as_ptr(),
            pg_sys::GucContext::PGC_SUSET,
            pg_sys::GucSource::PGC_S_OVERRIDE,
        );
    }
}

/// Lets the owner of the database end this process, as DROP DATABASE ... WITH (FORCE) does. By default, only superusers
/// can end a process of a superuser.
fn serve_database_owner() {
    let owner = "SELECT datdba FROM pg_database WHERE oid = $1::oid";
    // SAFETY: a number that was set when the process connected.
    let database = unsafe { pg_sys::MyDatabaseId };
    if let Some(owner) = sql::ask::<pg_sys::Oid>(owner, database.into()) {
        // SAFETY: this process's own entry. The role in it says which roles can send signals.
        unsafe { (*pg_sys::MyProc).roleId = owner };
    }
}

/// Waits for at most `span` until there is a request after the one that the worker saw before its work, or the worker
/// is to end. The latch alone does not tell: a wait during the work has reset it.
pub fn idle(span: Micros, requests: &Mailbox, seen: u64) {
    if requests.last() == seen && !deadline::is_asked_to_end() {
        clock::pause(span, &IDLE);
    }
}

/// Returns whether the worker should leave its database, as another session wants it for itself: to drop, rename, move
/// or copy it. The server refuses these after five seconds if somebody else is in the database.
///
/// Such a session holds a lock on the database that keeps others from connecting to it. So a worker stays only while it
/// could connect.
pub fn is_database_wanted() -> bool {
    /// The interval of the check.
    const INTERVAL: Micros = 200_000;
    static LAST: Local<Micros> = Local::new(0);
    let now = clock::up();
    if now - LAST.get() < INTERVAL {
        return false;
    }
    LAST.set(now);
    // SAFETY: a tag of the database, as a session locks it that connects. The end of the transaction releases the lock.
    let lock = || unsafe {
        let tag = pg_sys::LOCKTAG {
            locktag_field1: pg_sys::InvalidOid.to_u32(),
            locktag_field2: pg_sys::DatabaseRelationId.to_u32(),
            locktag_field3: pg_sys::MyDatabaseId.to_u32(),
            locktag_field4: 0,
            locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
            locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
        };
        let mode = pg_sys::RowExclusiveLock.cast_signed();
        pg_sys::LockAcquire(&raw const tag, mode, false, true)
    };
    let refused = pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL;
    attempt(deadline::CLEANUP, lock).is_ok_and(|answer| answer == refused)
}

/// Reads the settings again, if they have changed. Returns whether it did. Between transactions only.
pub fn reload() -> bool {
    let has_changed = BackgroundWorker::sighup_received();
    if has_changed {
        // SAFETY: as the server's own workers do.
        unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
    }
    has_changed
}
