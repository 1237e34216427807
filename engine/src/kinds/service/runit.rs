//! Services of runit.
//!
//! A service is a folder with a program `run`. `runsvdir` supervises the services that have a link in its own folder.
//! If a service has a file `down`, it is not started automatically. So a service is enabled if it has a link and no
//! file `down`.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use pkgres_files::{EntryAttributes, EntryKind};
use pkgres_manifest::diagnostic::Escaped;

use super::{RUNIT_DEFINITIONS, ServiceState, WantedState};
use crate::resource::{Change, Difference, ResourceError, Watching};
use crate::target::{Command, Probe, Target, TargetError};

/// The folders of `runsvdir`, of which the first one that is there counts.
pub(super) const FOLDERS: [&str; 3] = ["/etc/service", "/var/service", "/service"];

/// The files of a supervised service that change with its state.
const SUPERVISED: [&str; 3] = ["pid", "stat", "status"];

/// The program of a service, in its folder.
const PROGRAM: &str = "run";

/// How long `sv` waits for a service to start or stop, in seconds.
const WAIT: &str = "15";

/// The exit code of a shell that does not find a program.
const NOT_FOUND: i32 = 127;

/// The pause between two checks of whether a service is supervised. `runsvdir` usually looks for new services every
/// five seconds.
const PAUSE: Duration = Duration::from_millis(100);
/// The maximum number of pauses until a service that must run is supervised.
const MOST_PAUSES: u32 = 200;
/// The maximum number of pauses until a service that must not run is supervised. It stays stopped in any case.
const FEW_PAUSES: u32 = 80;

/// A service that runit supervises, or can supervise.
pub(super) struct Runit {
    name: String,
    /// The place of the link that makes it supervised.
    link: PathBuf,
    is_linked: bool,
    /// The folder of the service; `None` if there is no such service.
    definition: Option<PathBuf>,
}

impl Runit {
    /// A service by its name; `None` if the machine has no folder of `runsvdir`.
    pub(super) fn find(name: &str, probe: &dyn Probe) -> Result<Option<Self>, TargetError> {
        let mut folder = None;
        for candidate in FOLDERS {
            if folder.is_none() && probe.entry(Path::new(candidate))?.is_some() {
                folder = Some(Path::new(candidate));
            }
        }
        let Some(folder) = folder else {
            return Ok(None);
        };
        let link = folder.join(name);
        let entry = probe.entry(&link)?;
        let own = Path::new(RUNIT_DEFINITIONS).join(name);
        let definition = if let Some(entry) = &entry {
            let target = entry.link_target.as_ref();
            Some(target.map_or_else(|| link.clone(), |target| folder.join(target)))
        } else {
            let is_there = probe.entry(&own)?;
            let is_definition = is_there.is_some_and(|own| own.kind != EntryKind::File);
            is_definition.then_some(own)
        };
        Ok(Some(Self {
            name: name.to_owned(),
            link,
            is_linked: entry.is_some(),
            definition,
        }))
    }

    /// Whether there is such a service.
    pub(super) fn is_defined(&self) -> bool {
        self.definition.is_some()
    }

    pub(super) fn state(
        &self,
        wanted: WantedState,
        probe: &dyn Probe,
    ) -> Result<ServiceState, ResourceError> {
        let Some(definition) = &self.definition else {
            if wanted.is_running == Some(true) || wanted.is_enabled == Some(true) {
                let message = format!(
                    "the machine has no service `{}`: there is no folder {RUNIT_DEFINITIONS}/{0}",
                    Escaped::new(&self.name)
                );
                return Err(ResourceError::Invalid(message));
            }
            return Ok(ServiceState::default());
        };
        let is_down = probe.entry(&definition.join("down"))?.is_some();
        let status = self.status(wanted, probe)?;
        if status == Supervision::NotInstalled && wanted.is_running == Some(true) {
            let message = "the machine has no `sv`, so no service can be started";
            return Err(TargetError::Unsupported(message.to_owned()).into());
        }
        Ok(ServiceState {
            is_defined: true,
            is_running: status == Supervision::Running,
            is_enabled: self.is_linked && !is_down,
        })
    }

    fn status(&self, wanted: WantedState, probe: &dyn Probe) -> Result<Supervision, TargetError> {
        // Only what runs needs the program that is asked.
        if !self.is_linked && wanted.is_running != Some(true) {
            return Ok(Supervision::Unsupervised);
        }
        status(&self.link, probe)
    }

    pub(super) fn watching(&self, probe: &dyn Probe) -> Watching {
        let mut paths = vec![self.link.clone()];
        if let Some(definition) = &self.definition {
            paths.push(definition.join("down"));
            let supervise = definition.join("supervise");
            let entry = probe.entry(&supervise).ok().flatten();
            let supervise = match entry.and_then(|entry| entry.link_target) {
                Some(target) => definition.join(target),
                None => supervise,
            };
            paths.extend(SUPERVISED.map(|name| supervise.join(name)));
        }
        Watching::Paths(paths)
    }

    /// The change that makes the service as it is wanted.
    pub(super) fn change(
        self,
        wanted: WantedState,
        is_restarted: bool,
        differences: Vec<Difference>,
    ) -> impl Change + 'static {
        Supervise {
            // Without a definition, nothing differs.
            definition: self.definition.unwrap_or_else(|| self.link.clone()),
            link: self.link,
            is_linked: self.is_linked,
            wanted,
            is_restarted,
            differences,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Supervision {
    Running,
    Stopped,
    Unsupervised,
    /// Nothing can run: there is no program that supervises.
    NotInstalled,
}

/// What `sv` says about a service with a link.
fn status(link: &Path, probe: &dyn Probe) -> Result<Supervision, TargetError> {
    let command = sv("status", link);
    let output = probe.query(&command)?;
    // The part after `;` is about the service that writes the log.
    let text = output.text();
    let said = text.split(';').next().unwrap_or_default();
    if said.starts_with("run: ") {
        let ends = said.contains("want down");
        return Ok(if ends {
            Supervision::Stopped
        } else {
            Supervision::Running
        });
    }
    if said.starts_with("down: ") || said.starts_with("finish: ") {
        return Ok(Supervision::Stopped);
    }
    if said.starts_with("warning: ") || said.starts_with("fail: ") {
        return Ok(Supervision::Unsupervised);
    }
    // So it is in a root folder in which nothing runs.
    if output.code == Some(NOT_FOUND) {
        return Ok(Supervision::NotInstalled);
    }
    TargetError::unless_success(&command, output)?;
    Ok(Supervision::Unsupervised)
}

fn sv(action: &str, link: &Path) -> Command {
    let link = link.display().to_string();
    Command::new("sv").arguments(["-w", WAIT, action, &link])
}

struct Supervise {
    definition: PathBuf,
    link: PathBuf,
    is_linked: bool,
    wanted: WantedState,
    is_restarted: bool,
    differences: Vec<Difference>,
}

impl Change for Supervise {
    fn differences(&self) -> Vec<Difference> {
        self.differences.clone()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        if self.wanted.is_running != Some(true) {
            return Ok(());
        }
        // Otherwise `sv` waits, and does not say why nothing starts.
        let path = self.definition.join(PROGRAM);
        let shown = path.display();
        let message = match probe.entry(&path)? {
            None => format!("it cannot be started: there is no program {shown}"),
            Some(entry) if entry.kind == EntryKind::File && entry.mode & 0o111 == 0 => {
                format!(
                    "it cannot be started: {shown} is not executable, which `mode: 0755` makes it"
                )
            }
            Some(_) => return Ok(()),
        };
        Err(ResourceError::Invalid(message))
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        let WantedState {
            is_running,
            is_enabled,
        } = self.wanted;
        let is_linked_now =
            !self.is_linked && (is_running == Some(true) || is_enabled == Some(true));
        if is_linked_now {
            // It is started by hand, or not at all, unless it shall run both now and later.
            self.set_down(
                target,
                is_enabled != Some(true) || is_running == Some(false),
            )?;
            target.make_link(&self.link, &self.definition)?;
        }
        match is_running {
            Some(true) => {
                if self.wait(target, MOST_PAUSES)? == Supervision::Unsupervised {
                    let message = format!(
                        "no `runsvdir` supervises {}, so the service cannot be started: runit does not run on this machine",
                        self.link.display()
                    );
                    return Err(TargetError::Unsupported(message).into());
                }
                let action = if self.is_restarted {
                    "restart"
                } else {
                    "start"
                };
                self.control(target, action)?;
            }
            Some(false) => {
                let pauses = if is_linked_now { FEW_PAUSES } else { 0 };
                let status = self.wait(target, pauses)?;
                if matches!(status, Supervision::Running | Supervision::Stopped) {
                    self.control(target, "stop")?;
                }
            }
            None if self.is_restarted => self.control(target, "restart")?,
            None => {}
        }
        if let Some(enabled) = is_enabled {
            self.set_down(target, !enabled)?;
        }
        Ok(())
    }
}

impl Supervise {
    fn set_down(&self, target: &dyn Target, is_down: bool) -> Result<(), TargetError> {
        let path = self.definition.join("down");
        if !is_down {
            return target.remove(&path);
        }
        if target.entry(&path)?.is_some() {
            return Ok(());
        }
        target.write_file(&path, b"", EntryAttributes::with_mode(0o644))
    }

    /// Waits until the service is supervised.
    fn wait(&self, target: &dyn Target, pauses: u32) -> Result<Supervision, TargetError> {
        let mut left = pauses;
        loop {
            let status = status(&self.link, target)?;
            if status != Supervision::Unsupervised || left == 0 {
                return Ok(status);
            }
            left -= 1;
            thread::sleep(PAUSE);
        }
    }

    fn control(&self, target: &dyn Target, action: &str) -> Result<(), TargetError> {
        let command = sv(action, &self.link);
        TargetError::unless_success(&command, target.run(&command)?)?;
        Ok(())
    }
}
