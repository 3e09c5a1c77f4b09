//! Dynamic shared memory that is as small as that of a container.

use crate::report::say;
use crate::server::installation;
use std::path::Path;
use std::process::{Command, Stdio};

/// The kind of a server's dynamic shared memory.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Posix,
    SystemV,
    Mmap,
}

/// Limited dynamic shared memory. The server runs in namespaces of its own, which are new at each start: others do not see
/// that `/dev/shm` is small.
#[derive(Debug, Clone, Copy)]
pub struct ScarceMemory {
    kind: Kind,
    kilobytes: u32,
}

impl ScarceMemory {
    /// Returns a limit. `None`, with a message, where that is not permitted.
    #[must_use]
    pub fn limit(story: &str, kind: Kind, kilobytes: u32) -> Option<Self> {
        let permitted = Command::new("unshare")
            .args([
                "--mount", "--ipc", "mount", "-t", "tmpfs", "pg_mint", "/dev/shm",
            ])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !permitted {
            say(format!(
                "SKIPPED {story}: namespaces of mounts and of System V take root"
            ));
            return None;
        }
        Some(Self { kind, kilobytes })
    }

    /// Returns the line of `postgresql.conf`.
    pub(crate) const fn conf(self) -> &'static str {
        match self.kind {
            Kind::Posix => "dynamic_shared_memory_type = posix",
            Kind::SystemV => "dynamic_shared_memory_type = sysv",
            Kind::Mmap => "dynamic_shared_memory_type = mmap",
        }
    }

    /// Returns a command that runs a program within the limit, for the server of a data directory.
    pub(crate) fn wrap(self, program: &Command, data: &Path) -> Command {
        const PREPARE: &str = r#"
            set -e
            case $1 in
                Posix) mount -t tmpfs -o "size=$2k" pg_mint /dev/shm ;;
                Mmap) mount -t tmpfs -o "size=$2k,mode=0700" pg_mint "$3/pg_dynshmem"; chown --reference "$3" "$3/pg_dynshmem" ;;
                SystemV) echo $(($2 * 1024 / $(getconf PAGESIZE))) > /proc/sys/kernel/shmall ;;
            esac
            shift 3
            exec "$@""#;
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--ipc", "sh", "-c", PREPARE, "sh"])
            .arg(format!("{:?}", self.kind))
            .arg(self.kilobytes.to_string())
            .arg(data)
            .arg(program.get_program())
            .args(program.get_args())
            .stdin(Stdio::null());
        if let Some(directory) = program.get_current_dir() {
            command.current_dir(directory);
        }
        command
    }

    /// Returns the folder for the server: not in the memory that is to be small.
    pub(crate) fn temporary_directory(limit: Option<Self>) -> std::path::PathBuf {
        match limit {
            Some(_) => std::env::temp_dir(),
            None => installation::temporary_directory(),
        }
    }
}
