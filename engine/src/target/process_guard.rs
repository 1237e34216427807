//! A process that kills process groups of this machine once this process has ended, however it ended.
//!
//! A process that is killed by SIGKILL cannot end what it has started. So the guard, a small shell, reads from a pipe
//! which groups run. The pipe ends with this process, and the guard kills the groups that are left. It may hold a lock
//! meanwhile, so that whoever gets the lock next finds none of them running.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The program of the guard. `+N` says that a group runs, `-N` that it has ended.
const PROGRAM: &str = r#"
groups=
while read -r line; do
    group=${line#?}
    case $line in
        +*) groups="$groups $group" ;;
        -*)
            others=
            for other in $groups; do
                [ "$other" = "$group" ] || others="$others $other"
            done
            groups=$others
            ;;
    esac
done
for group in $groups; do
    kill -KILL "-$group"
done
"#;

/// A guard that runs until it is dropped.
#[derive(Debug)]
pub(super) struct ProcessGuard {
    child: Child,
    /// `None` only while it is dropped.
    input: Mutex<Option<ChildStdin>>,
}

impl ProcessGuard {
    /// Starts a guard, which keeps a file open until it has done its work.
    pub(super) fn start(held: Option<File>) -> io::Result<Self> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", PROGRAM])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(held.map_or_else(Stdio::null, Stdio::from))
            .stderr(Stdio::null())
            // Ctrl-C is not for it.
            .process_group(0)
            .spawn()?;
        let input = Mutex::new(child.stdin.take());
        Ok(Self { child, input })
    }

    /// A group runs.
    pub(super) fn add(&self, group: u32) {
        self.tell('+', group);
    }

    /// A group has ended.
    pub(super) fn remove(&self, group: u32) {
        self.tell('-', group);
    }

    fn tell(&self, what: char, group: u32) {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(input) = input.as_mut() {
            // A guard that somebody has killed is missed only if this process is killed as well.
            let _ = writeln!(input, "{what}{group}");
        }
    }
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        drop(self.input.get_mut().map(Option::take));
        let _ = self.child.wait();
    }
}
