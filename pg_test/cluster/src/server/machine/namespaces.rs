//! Namespaces of Linux, in which a server has another view of the machine: its paths, its host name and its network.

use crate::report::say;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a server sees of the machine from its next start on.
#[derive(Default)]
pub(crate) struct Namespaces {
    /// Another host name.
    pub(crate) host: Option<String>,
    /// Whether it has a network of its own, without a way out of it.
    pub(crate) is_isolated: bool,
}

/// Mounts the first argument at the second, names the host as the third says, and runs the rest.
const ENTER: &str = "if [ \"$1\" != \"$2\" ]; then mount --bind \"$1\" \"$2\"; fi &&
    if [ -n \"$3\" ]; then hostname \"$3\"; fi && shift 3 && exec \"$@\"";

impl Namespaces {
    /// Returns a command that runs another one in the namespaces, with the folder `there` at the place `home`.
    pub(crate) fn enter(&self, command: Command, there: &Path, home: &Path) -> Command {
        let is_outside = self.host.is_none() && !self.is_isolated && there == home;
        if is_outside {
            return command;
        }
        let mut inside = Command::new("unshare");
        inside.arg("--mount");
        if self.host.is_some() {
            inside.arg("--uts");
        }
        if self.is_isolated {
            inside.arg("--net");
        }
        inside
            .args(["sh", "-c", ENTER, "sh"])
            .args([there, home])
            .arg(self.host.as_deref().unwrap_or_default())
            .arg(command.get_program())
            .args(command.get_args())
            .stdin(Stdio::null());
        if let Some(directory) = command.get_current_dir() {
            inside.current_dir(directory);
        }
        inside
    }
}

/// Returns whether this process can make namespaces. Says so where it cannot.
#[must_use]
pub fn are_permitted(story: &str) -> bool {
    let made = Command::new("unshare")
        .args(["--mount", "--uts", "--net", "true"])
        .stderr(Stdio::null())
        .status();
    let are_permitted = made.is_ok_and(|made| made.success());
    if !are_permitted {
        say(format!("SKIPPED {story}: namespaces take root"));
    }
    are_permitted
}
