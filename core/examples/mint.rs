//! A service that mints snowflakes with a node of its own, beside servers that mint with theirs.
//!
//! The node must be nobody else's. The file keeps a timestamp above every id that was issued, so that a service which starts
//! again after a crash repeats none, whatever its clock says.

use mint_core::clock::timestamp_text;
use mint_core::{Ceiling, ClockAnchor, Host, Lane, Layout, Micros, Page, Policy, Wait, mint};
use std::error::Error;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const NODE: u64 = 7;
const SECOND: Micros = 1_000_000;

/// The ceiling's page: a file that is replaced whole.
struct Disk(PathBuf);

impl Page for Disk {
    type Position = ();
    type Failure = io::Error;

    fn update(
        &mut self,
        decide: impl FnOnce(Micros) -> Option<Micros>,
    ) -> io::Result<(Micros, ())> {
        let found = match fs::read_to_string(&self.0) {
            Ok(text) => text.trim().parse().map_err(io::Error::other)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 1,
            Err(error) => return Err(error),
        };
        let Some(value) = decide(found) else {
            return Ok((found, ()));
        };
        let next = self.0.with_extension("next");
        let mut file = File::create(&next)?;
        writeln!(file, "{value}")?;
        file.sync_all()?;
        fs::rename(next, &self.0)?;
        Ok((value, ()))
    }

    /// The new name of the file is on disk when its folder is.
    fn flush(&mut self, (): ()) -> io::Result<()> {
        let folder = self.0.parent().ok_or(io::ErrorKind::NotFound)?;
        File::open(folder)?.sync_all()
    }

    fn set_back(&mut self, from: Micros, to: Micros) {
        eprintln!("the ceiling was set back from {to} to {from}, and is raised again");
    }
}

/// What minting needs of this process. One is enough for all threads if it is behind a lock; the lane needs none.
struct Service {
    ceiling: Ceiling,
    page: Disk,
    anchor: ClockAnchor,
    started: Instant,
}

impl Host for Service {
    type Interrupt = io::Error;

    fn now(&mut self) -> Micros {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_micros() as Micros)
    }

    fn up(&mut self) -> Micros {
        self.started.elapsed().as_micros() as Micros
    }

    fn anchor(&self) -> &ClockAnchor {
        &self.anchor
    }

    fn pause(&mut self, wait: Wait) -> io::Result<()> {
        thread::sleep(Duration::from_micros(wait.span.unsigned_abs()));
        Ok(())
    }

    fn stepped_back(&mut self, behind: Micros) {
        eprintln!("the clock is {behind} microseconds behind the last id");
    }

    fn random(&mut self) -> u64 {
        RandomState::new().hash_one(self.started)
    }

    fn ceiling(&self) -> &Ceiling {
        &self.ceiling
    }

    fn raise(&mut self, beyond: Micros) -> io::Result<()> {
        if self.ceiling.written() == 0 {
            let (value, ()) = self.page.update(|_| None)?;
            self.ceiling.attach(value);
        }
        self.ceiling.raise(beyond, SECOND, &mut self.page)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let layout: Layout = "twitter".parse()?;
    let lane = Lane::outside_table(&layout, NODE);
    let mut service = Service {
        ceiling: Ceiling::default(),
        page: Disk(std::env::temp_dir().join("pg_mint_core_example.ceiling")),
        anchor: ClockAnchor::new(),
        started: Instant::now(),
    };
    let policy = Policy {
        max_ahead: 2 * SECOND,
        max_wait: 5 * SECOND,
        max_jump: 3_600 * SECOND,
        window: SECOND / 2,
    };
    for _ in 0..5 {
        let run = mint(&lane, &layout, 1, &policy, &mut service)
            .map_err(|refusal| format!("{refusal:?}"))?;
        let id = layout.id(NODE, run.first);
        println!("{id} {}", timestamp_text(layout.decode(id)?.at));
    }
    Ok(())
}
