//! Overlays on top of a machine: changes go to a separate folder, and the machine below stays as it is.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;

use pkgres_files::{EntryKind, RootEntry, RootFolder};

use super::command::Command;
use super::error::TargetError;
use super::machine::Machine;
use super::{Probe as _, Target as _, mounts};

/// Mounts an overlay in a new mount namespace, says so, and keeps the namespace until its input ends.
const HOLD: &str = r#"
set -e
mount --make-rprivate /
mount -t tmpfs pkgres "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" pkgres "$2/root"
echo ready
read -r _ || true
"#;

/// Devices that programs write to. An overlay does not show mounts, and `/dev` mostly is one.
const DEVICES: [(&str, &str); 4] = [
    ("null", "3"),
    ("zero", "5"),
    ("random", "8"),
    ("urandom", "9"),
];

/// A machine on top of a folder: reads show the folder, and changes are kept apart from it in memory, until this is
/// dropped. Mounts below the folder are not shown.
#[derive(Debug)]
pub struct Overlay {
    holder: Child,
    machine: Arc<Machine>,
    pub(super) lower: RootFolder,
    pub(super) upper: RootFolder,
    /// What was made here, and is no change of the machine.
    made: Vec<PathBuf>,
}

/// A path that was changed on an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlayChange {
    /// The path on the machine.
    pub path: PathBuf,
    /// The entry that is there now; `None` if it was removed.
    pub now: Option<RootEntry>,
}

impl Overlay {
    /// An overlay on top of a folder, mounted at an empty folder `place` that only it sees. The paths of both must not
    /// contain `,`, `:` or `\`.
    ///
    /// # Errors
    ///
    /// The system does not let this user mount one.
    pub fn new(folder: &Path, place: &Path) -> Result<Self, TargetError> {
        let unsupported = |reason: &str| {
            TargetError::Unsupported(format!("cannot make an overlay of the root: {reason}"))
        };
        for path in [folder, place] {
            if path.to_string_lossy().contains([',', ':', '\\']) {
                return Err(unsupported("its path contains `,`, `:` or `\\`"));
            }
        }
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (folder, place) = (absolute(folder), absolute(place));
        let words = mounts::new_namespace();
        let mut holder = std::process::Command::new(&words[0])
            .args(&words[1..])
            .args(["/bin/sh", "-c", HOLD, "sh"])
            .args([&folder, &place])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| unsupported(&error.to_string()))?;
        let mut line = String::new();
        if let Some(stdout) = holder.stdout.take() {
            // An error shows as a missing line.
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        if line != "ready\n" {
            let _ = holder.kill();
            let output = holder.wait_with_output().ok();
            let words = output.and_then(|output| {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                text.lines().last().map(str::to_owned)
            });
            return Err(unsupported(words.as_deref().unwrap_or("the mount failed")));
        }
        let process = PathBuf::from(format!("/proc/{}/root", holder.id()));
        let outside = |name: &str| {
            let inside = place.join(name);
            process.join(inside.strip_prefix("/").unwrap_or(&inside))
        };
        let mut entering: Vec<String> = ["nsenter", "--mount"].map(str::to_owned).into();
        if !rustix::process::geteuid().is_root() {
            entering.push("--user".to_owned());
            entering.push("--preserve-credentials".to_owned());
        }
        entering.push(format!("--target={}", holder.id()));
        entering.push("--".to_owned());
        let made =
            Machine::entered(&outside("root"), place.join("root"), entering).and_then(|machine| {
                let lower = RootFolder::open(&folder)?;
                Ok((machine, lower, RootFolder::open(&outside("upper"))?))
            });
        match made {
            Ok((machine, lower, upper)) => Ok(Self {
                holder,
                made: make_devices(&machine),
                machine: Arc::new(machine),
                lower,
                upper,
            }),
            Err(error) => {
                let _ = holder.kill();
                let _ = holder.wait();
                Err(error)
            }
        }
    }

    /// The machine to check and change.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine, to share with threads. It can no longer be used once the overlay is gone.
    pub fn shared_machine(&self) -> Arc<Machine> {
        Arc::clone(&self.machine)
    }

    /// The changes since the overlay was made, sorted by path. A folder is listed only if it is new or has other
    /// attributes; a file that was written again with the same content is also listed.
    pub fn changes(&self) -> Result<Vec<OverlayChange>, TargetError> {
        let mut changes = Vec::new();
        let mut open = vec![PathBuf::from("/")];
        while let Some(folder) = open.pop() {
            for name in self.upper.names(&folder)? {
                let path = folder.join(name);
                if self.made.contains(&path) {
                    continue;
                }
                let Some(entry) = self.upper.entry(&path)? else {
                    continue;
                };
                if entry.kind == EntryKind::Folder {
                    open.push(path.clone());
                    let before = self.lower.entry(&path)?;
                    if before
                        .as_ref()
                        .is_some_and(|it| it.kind == EntryKind::Folder)
                    {
                        changes.extend(self.hidden_in(&path)?);
                    }
                    // Folders around a change are copied.
                    if before.is_some_and(|before| has_same_attributes(&before, &entry)) {
                        continue;
                    }
                }
                let is_removed = self.upper.is_whiteout(&path)?;
                changes.push(OverlayChange {
                    path,
                    now: (!is_removed).then_some(entry),
                });
            }
        }
        changes.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(changes)
    }
}

impl Overlay {
    /// What a folder of the machine has that one in its place hides: it was removed with the folder.
    fn hidden_in(&self, folder: &Path) -> Result<Vec<OverlayChange>, TargetError> {
        let mut hidden = Vec::new();
        // What is mounted there is not below the overlay, and not hidden by it.
        if self.device(folder)? != self.device(Path::new("/"))? {
            return Ok(hidden);
        }
        for name in self.lower.names(folder)? {
            let path = folder.join(name);
            // What was removed by itself is in the overlay.
            if self.upper.entry(&path)?.is_none() && self.machine.entry(&path)?.is_none() {
                hidden.push(OverlayChange { path, now: None });
            }
        }
        Ok(hidden)
    }

    /// The file system of a folder of the machine below; `None` if there is nothing.
    fn device(&self, folder: &Path) -> Result<Option<u64>, TargetError> {
        let Some(found) = self.lower.descriptor(folder)? else {
            return Ok(None);
        };
        // It cannot fail for what is open.
        let metadata = std::fs::File::from(found).metadata();
        Ok(metadata.ok().map(|metadata| metadata.dev()))
    }
}

/// Makes the devices that a machine lacks, as far as that is possible; returns their paths.
fn make_devices(machine: &Machine) -> Vec<PathBuf> {
    let mut made = Vec::new();
    for (name, number) in DEVICES {
        let path = format!("/dev/{name}");
        if !matches!(machine.entry(Path::new(&path)), Ok(None)) {
            continue;
        }
        let command = Command::new("mknod").arguments(["-m", "666", &path, "c", "1", number]);
        // Without it, a program that needs the device fails, and says so.
        let _ = machine.run(&command);
        if matches!(machine.entry(Path::new(&path)), Ok(Some(_))) {
            made.push(path.into());
        }
    }
    made
}

fn has_same_attributes(left: &RootEntry, right: &RootEntry) -> bool {
    let of = |entry: &RootEntry| (entry.kind, entry.mode, entry.user, entry.group);
    of(left) == of(right)
}

impl Drop for Overlay {
    fn drop(&mut self) {
        // The namespace ends with its last process, and the mounts with the namespace.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
