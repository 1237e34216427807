//! Services of systemd: whether a unit runs and is enabled, and the commands that change this.

use std::path::Path;

use pkgres_manifest::diagnostic::Escaped;

use super::{ServiceState, WantedState};
use crate::kinds::run_programs::Commands;
use crate::resource::{Change, Difference, ResourceError, Watching};
use crate::target::{Command, Probe, Target, TargetError};

/// The folder with a link for each unit that runs.
const RUNNING_UNITS: &str = "/run/systemd/units";

/// The folder with the units of the administrator, and with folders of links to those that are enabled.
const ENABLED_UNITS: &str = "/etc/systemd/system";

/// The targets that most enabled units are started with.
const WANTING: [&str; 4] = ["multi-user", "graphical", "sockets", "timers"];

/// A unit of a machine that systemd has started, or of a root folder in which it does not run.
pub(super) struct Systemd {
    unit: String,
    runs: bool,
}

/// The ending of units that run programs, which their names may lack.
const SERVICE: &str = ".service";

/// The endings of all other units. A name with another dot, such as `dbus-org.example.Web`, lacks its ending.
const OTHER_UNITS: [&str; 10] = [
    ".socket",
    ".target",
    ".timer",
    ".path",
    ".mount",
    ".automount",
    ".swap",
    ".slice",
    ".scope",
    ".device",
];

/// The name of the unit of a service.
pub(super) fn unit(service: &str) -> String {
    let mut endings = OTHER_UNITS.into_iter().chain([SERVICE]);
    if endings.any(|ending| service.ends_with(ending)) {
        service.to_owned()
    } else {
        format!("{service}{SERVICE}")
    }
}

/// The name of a service without the ending that it may lack.
pub(super) fn plain_name(service: &str) -> &str {
    service.strip_suffix(SERVICE).unwrap_or(service)
}

/// The names of the files that define the unit of a service: its own, and for an instance such as `getty@tty1` that of
/// the template, `getty@.service`.
pub(super) fn unit_files(service: &str) -> Vec<String> {
    let unit = unit(service);
    let template = template(&unit);
    [unit].into_iter().chain(template).collect()
}

/// The template that a unit is an instance of.
fn template(unit: &str) -> Option<String> {
    let (name, ending) = unit.rsplit_once('.')?;
    let (template, instance) = name.split_once('@')?;
    (!instance.is_empty()).then(|| format!("{template}@.{ending}"))
}

impl Systemd {
    /// A unit of a machine that systemd has started.
    pub(super) fn running(service: &str) -> Self {
        let unit = unit(service);
        Self { unit, runs: true }
    }

    /// A unit of a root folder.
    pub(super) fn in_root(service: &str) -> Self {
        let unit = unit(service);
        Self { unit, runs: false }
    }

    pub(super) fn state(
        &self,
        wanted: WantedState,
        probe: &dyn Probe,
    ) -> Result<ServiceState, ResourceError> {
        let (is_running, enablement) = if self.runs {
            self.properties(probe)?
        } else {
            (false, self.enablement(probe)?)
        };
        if !self.runs && wanted.is_running == Some(true) {
            let message = "systemd does not run on this machine, so no service can be started";
            return Err(TargetError::Unsupported(message.to_owned()).into());
        }
        let needs_unit = wanted.is_running == Some(true) || wanted.is_enabled == Some(true);
        let Some(enablement) = enablement else {
            if needs_unit {
                let unit = Escaped::new(&self.unit);
                let message = format!("the machine has no unit `{unit}`");
                return Err(ResourceError::Invalid(message));
            }
            return Ok(ServiceState::default());
        };
        let is_enabled = matches!(enablement.as_str(), "enabled" | "enabled-runtime" | "alias");
        if wanted.is_enabled == Some(true) && !is_enabled && enablement != "disabled" {
            let reason = match enablement.as_str() {
                "static" => ", as it has no section `[Install]`",
                _ => "",
            };
            let message = format!(
                "the unit `{}` is {}: it cannot be enabled{reason}",
                Escaped::new(&self.unit),
                Escaped::new(&enablement)
            );
            return Err(ResourceError::Invalid(message));
        }
        Ok(ServiceState {
            is_defined: true,
            is_running,
            is_enabled,
        })
    }

    /// Whether the unit runs, and how it is enabled; `None` if there is no such unit.
    fn properties(&self, probe: &dyn Probe) -> Result<(bool, Option<String>), ResourceError> {
        let command = systemctl("show").arguments([
            "--property=LoadState,ActiveState,UnitFileState",
            "--",
            &self.unit,
        ]);
        let output = TargetError::unless_success(&command, probe.query(&command)?)?;
        let text = output.text();
        let value = |name: &str| property(&text, name);
        let is_running = matches!(
            value("ActiveState"),
            "active" | "activating" | "reloading" | "refreshing"
        );
        let is_there = value("LoadState") != "not-found";
        // Units without a file have no state.
        let enablement = match value("UnitFileState") {
            "" => "static",
            state => state,
        };
        Ok((is_running, is_there.then(|| enablement.to_owned())))
    }

    /// How the unit is enabled in a root folder; `None` if there is no such unit.
    fn enablement(&self, probe: &dyn Probe) -> Result<Option<String>, ResourceError> {
        let command = in_root("is-enabled").arguments(["--", &self.unit]);
        let output = probe.query(&command)?;
        let state = output.text().trim().to_owned();
        // It exits with 1 for each state but those of enabled units.
        if !state.is_empty() {
            return Ok((state != "not-found").then_some(state));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("No such file or directory") {
            return Ok(None);
        }
        TargetError::unless_success(&command, output)?;
        Ok(None)
    }

    /// The paths that change when the service starts or ends.
    ///
    /// The signals of systemd on D-Bus would need a client with its own connection, which nothing else here needs.
    /// systemd also keeps a link for each unit that runs: it makes a new one when the unit starts, and removes it when
    /// the unit ends, before it answers a question about its state. So files are enough, and the watcher is the same as
    /// for all resources. The links of enabled units can be in the folder of any unit: those of usual ones are watched,
    /// and polling sees the others.
    pub(super) fn watching(&self) -> Watching {
        let links = WANTING.map(|target| {
            Path::new(ENABLED_UNITS).join(format!("{target}.target.wants/{}", self.unit))
        });
        let mut paths = vec![Path::new(ENABLED_UNITS).join(&self.unit)];
        paths.extend(links);
        if self.runs {
            let link = format!("invocation:{}", self.unit);
            paths.push(Path::new(RUNNING_UNITS).join(link));
        }
        Watching::PathsAndPolling(paths)
    }

    /// The change that makes the unit as it is wanted.
    pub(super) fn change(
        &self,
        wanted: WantedState,
        state: &ServiceState,
        is_restarted: bool,
        differences: Vec<Difference>,
    ) -> impl Change + 'static {
        let commands = self.commands(wanted, state, is_restarted);
        let is_started = wanted.is_running == Some(true);
        UnitChange {
            commands: Commands::new(differences, commands),
            started: is_started.then(|| self.unit.clone()),
        }
    }

    fn commands(
        &self,
        wanted: WantedState,
        state: &ServiceState,
        is_restarted: bool,
    ) -> Vec<Command> {
        let mut commands = Vec::new();
        let mut add = |command: Command| {
            commands.push(command.arguments(["--", &self.unit]));
        };
        if let Some(enabled) = wanted
            .is_enabled
            .filter(|wanted| *wanted != state.is_enabled)
        {
            let action = if enabled { "enable" } else { "disable" };
            add(if self.runs {
                systemctl(action)
            } else {
                in_root(action)
            });
        }
        match wanted
            .is_running
            .filter(|wanted| *wanted != state.is_running)
        {
            Some(true) => add(systemctl("start")),
            Some(false) => add(systemctl("stop")),
            None if is_restarted => add(systemctl("restart")),
            None => {}
        }
        if self.runs {
            // The files of units may have been changed just before.
            commands.insert(0, systemctl("daemon-reload"));
        }
        commands
    }
}

/// The value of a property in what `systemctl show` prints.
fn property<'text>(text: &'text str, name: &str) -> &'text str {
    let mut values = text.lines().filter_map(|line| line.split_once('='));
    values
        .find(|(known, _)| *known == name)
        .map_or("", |(_, value)| value)
}

/// Commands of systemd, after which a unit may have to run.
struct UnitChange {
    commands: Commands,
    /// The unit that has to run then.
    started: Option<String>,
}

impl Change for UnitChange {
    fn differences(&self) -> Vec<Difference> {
        self.commands.differences()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        self.commands.precheck(probe)
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        Box::new(self.commands).apply(target)?;
        let Some(unit) = self.started else {
            return Ok(());
        };
        match end_of(&unit, target)? {
            Some(message) => Err(ResourceError::Invalid(message)),
            None => Ok(()),
        }
    }
}

/// How a unit that was started has ended; `None` if it has not. systemd counts most services as started before their
/// programs have done anything.
fn end_of(unit: &str, probe: &dyn Probe) -> Result<Option<String>, ResourceError> {
    let properties = "--property=ActiveState,Result,ExecMainStatus";
    let command = systemctl("show").arguments([properties, "--", unit]);
    let output = TargetError::unless_success(&command, probe.query(&command)?)?;
    let text = output.text();
    let value = |name: &str| property(&text, name);
    if !matches!(value("ActiveState"), "failed" | "inactive") {
        return Ok(None);
    }
    let unit = Escaped::new(unit);
    let (result, status) = (value("Result"), value("ExecMainStatus"));
    Ok(Some(if result == "success" {
        format!(
            "the unit `{unit}` was started, and has ended with success: to count as running, it needs `RemainAfterExit=yes`"
        )
    } else {
        let (result, status) = (Escaped::new(result), Escaped::new(status));
        format!(
            "the unit `{unit}` was started, and ended at once ({result}, status {status}): `systemctl status {unit}` on the machine says more"
        )
    }))
}

fn systemctl(action: &str) -> Command {
    Command::new("systemctl").arguments(["--no-ask-password", "--no-pager", action])
}

fn in_root(action: &str) -> Command {
    Command::new("systemctl").arguments(["--root=/", action])
}
