//! The kind `service`: a service that must run, or must not, under systemd or runit.

mod runit;
mod systemd;

use std::any::Any;
use std::path::Path;

use pkgres_files::EntryKind;
use pkgres_manifest::ResourceDescription;
use pkgres_manifest::diagnostic::Escaped;

use crate::resource::{
    Before, Checked, Definition, Difference, Identifier, Input, Resource, ResourceError, SentValue,
    ValueType, Watching, Wish,
};
use crate::target::{Probe, TargetError};

use runit::Runit;
use systemd::Systemd;

/// The property that can receive a value.
const ENABLED: &str = "enabled";

/// The folder that is there if systemd has started the machine.
const SYSTEMD_RUNS: &str = "/run/systemd/system";

/// The folders with definitions of services for runit.
const RUNIT_DEFINITIONS: &str = "/etc/sv";

/// Programs of systemd in a root folder on which it does not run.
const SYSTEMCTL: [&str; 2] = ["/usr/bin/systemctl", "/bin/systemctl"];

/// The folders in which units for systemd are looked for.
const UNIT_FOLDERS: [&str; 3] = [
    "/etc/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// A service that must run, or must not, and must be started with the machine, or must not.
///
/// systemd handles it if systemd started the machine, or else runit if there is a definition in `/etc/sv`. In a root
/// folder where nothing runs, a service can be enabled and disabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    name: String,
    wanted: WantedState,
}

/// The wanted state of a service. A part that is `None` is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct WantedState {
    is_running: Option<bool>,
    is_enabled: Option<bool>,
}

/// A service on the machine.
#[derive(Default)]
struct ServiceState {
    /// Whether there is such a service.
    is_defined: bool,
    is_running: bool,
    is_enabled: bool,
}

impl Service {
    /// A service without a wanted state.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            wanted: WantedState::default(),
        }
    }

    /// Requires that it runs. After a change of a resource that notifies it, it is started again.
    #[must_use]
    pub fn running(mut self) -> Self {
        self.wanted.is_running = Some(true);
        self
    }

    /// Requires that it does not run.
    #[must_use]
    pub fn stopped(mut self) -> Self {
        self.wanted.is_running = Some(false);
        self
    }

    /// Requires that it is started with the machine.
    #[must_use]
    pub fn enabled(mut self) -> Self {
        self.wanted.is_enabled = Some(true);
        self
    }

    /// Requires that it is not started with the machine.
    #[must_use]
    pub fn disabled(mut self) -> Self {
        self.wanted.is_enabled = Some(false);
        self
    }

    /// Checks that the name can be one, and that something is wanted.
    fn validate(&self) -> Result<(), ResourceError> {
        self.validate_name()?;
        if self.wanted == WantedState::default() {
            let message = "a service needs `state`, `enabled` or both";
            return Err(ResourceError::Invalid(message.to_owned()));
        }
        Ok(())
    }

    /// Checks a service of which other resources say whether it is enabled.
    pub(super) fn validate_receiving(&self, receives: bool) -> Result<(), ResourceError> {
        if receives {
            self.validate_name()
        } else {
            self.validate()
        }
    }

    fn validate_name(&self) -> Result<(), ResourceError> {
        let is_plain = |other: char| other.is_ascii_alphanumeric() || "_.@:-".contains(other);
        if !self
            .name
            .starts_with(|first: char| first.is_ascii_alphanumeric())
            || !self.name.chars().all(is_plain)
        {
            let name = Escaped::shortened(&self.name);
            let message = format!("`{name}` cannot be the name of a service");
            return Err(ResourceError::Invalid(message));
        }
        Ok(())
    }

    fn supervisor(&self, probe: &dyn Probe) -> Result<Supervisor, ResourceError> {
        let is_there = |path: &str| Ok::<_, TargetError>(probe.entry(Path::new(path))?.is_some());
        if is_there(SYSTEMD_RUNS)? {
            return Ok(Supervisor::Systemd(Systemd::running(&self.name)));
        }
        let runit = Runit::find(&self.name, probe)?;
        let definitions = probe.entry(Path::new(RUNIT_DEFINITIONS))?;
        let has_systemctl = is_there(SYSTEMCTL[0])? || is_there(SYSTEMCTL[1])?;
        match runit {
            Some(runit) if runit.is_defined() || !has_systemctl => Ok(Supervisor::Runit(runit)),
            _ if has_systemctl => Ok(Supervisor::Systemd(Systemd::in_root(&self.name))),
            _ if definitions.is_some_and(|entry| entry.kind == EntryKind::Folder) => {
                let message = "the machine has services for runit, but no folder `/etc/service`";
                Err(TargetError::Unsupported(message.to_owned()).into())
            }
            _ => {
                let message = "the machine has neither runit nor systemd, which services need";
                Err(TargetError::Unsupported(message.to_owned()).into())
            }
        }
    }

    /// How the service differs, if a restart is not enough.
    fn differences(&self, state: &ServiceState) -> Vec<Difference> {
        let words = [
            (
                "state",
                state.is_running,
                self.wanted.is_running,
                ["stopped", "running"],
            ),
            (
                "start",
                state.is_enabled,
                self.wanted.is_enabled,
                ["disabled", "enabled"],
            ),
        ];
        let different = words
            .into_iter()
            .filter_map(|(property, is, wanted, words)| {
                let wanted = wanted.filter(|wanted| *wanted != is)?;
                let word = |value: bool| Some(words[usize::from(value)]);
                Some(Difference::new(property, word(is), word(wanted)))
            });
        different.collect()
    }
}

enum Supervisor {
    Runit(Runit),
    Systemd(Systemd),
}

impl Supervisor {
    fn state(&self, wanted: WantedState, probe: &dyn Probe) -> Result<ServiceState, ResourceError> {
        match self {
            Self::Runit(runit) => runit.state(wanted, probe),
            Self::Systemd(systemd) => systemd.state(wanted, probe),
        }
    }
}

impl Service {
    /// The service with the property that it received.
    fn with_received(&self, input: &Input) -> Self {
        let mut service = self.clone();
        if let Some(SentValue::Boolean(enabled)) = input.received.get(ENABLED) {
            service.wanted.is_enabled = Some(*enabled);
        }
        service
    }

    fn check_now(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        self.validate()?;
        let supervisor = self.supervisor(probe)?;
        let state = supervisor.state(self.wanted, probe)?;
        let mut differences = self.differences(&state);
        // What is started now need not be started again.
        let is_restarted =
            input.refresh && state.is_running && self.wanted.is_running != Some(false);
        if is_restarted {
            differences.push(Difference::new("state", Some("running"), Some("restarted")));
        }
        if differences.is_empty() && !state.is_defined {
            // A package usually enables and starts the service that it brings.
            let message = "the machine does not have this service yet; once it has, it may be started or enabled";
            return Ok(Checked::Kept(message.to_owned()));
        }
        if differences.is_empty() {
            return Ok(Checked::in_order());
        }
        Ok(match supervisor {
            Supervisor::Runit(runit) => {
                Checked::drift(runit.change(self.wanted, is_restarted, differences))
            }
            Supervisor::Systemd(systemd) => {
                Checked::drift(systemd.change(self.wanted, &state, is_restarted, differences))
            }
        })
    }
}

impl Resource for Service {
    fn definition(&self) -> String {
        let Self { name, wanted } = self;
        let WantedState {
            is_running,
            is_enabled,
        } = wanted;
        Definition::new("service")
            .with("name", name)
            .with("is_running", is_running)
            .with("is_enabled", is_enabled)
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        input.require_known()?;
        self.with_received(input).check_now(probe, input)
    }

    fn receives(&self) -> &[(&str, ValueType)] {
        &[(ENABLED, ValueType::Boolean)]
    }

    fn watching(&self, probe: &dyn Probe) -> Watching {
        match self.supervisor(probe) {
            Ok(Supervisor::Runit(runit)) => runit.watching(probe),
            Ok(Supervisor::Systemd(systemd)) => systemd.watching(),
            Err(_) => {
                let definition = Path::new(RUNIT_DEFINITIONS).join(&self.name);
                Watching::UntilInOrder(vec![definition])
            }
        }
    }

    fn identifiers(&self) -> Vec<Identifier> {
        let name = systemd::plain_name(&self.name);
        vec![Identifier::Service(name.to_owned())]
    }

    fn wishes(&self) -> Vec<Wish> {
        let name = systemd::plain_name(&self.name);
        // The package `openvpn` has the template of `openvpn@office`.
        let of_template = name.split_once('@').map(|(template, _)| template);
        let packages = [Some(name), of_template].into_iter().flatten();
        let packages = packages.map(|name| Identifier::Package(name.to_owned()));

        let definition = Path::new(RUNIT_DEFINITIONS).join(&self.name);
        let files = systemd::unit_files(&self.name);
        let units = UNIT_FOLDERS.iter().flat_map(|folder| {
            let files = files.iter();
            files.flat_map(|file| {
                let additions = Path::new(folder).join(format!("{file}.d"));
                let file = Path::new(folder).join(file);
                [
                    Identifier::Path(file),
                    Identifier::Path(additions.clone()),
                    Identifier::Below(additions),
                ]
            })
        });
        let runit = [
            Identifier::Path(definition.clone()),
            Identifier::Below(definition),
        ];
        let wished = packages
            .chain(runit)
            .chain(units)
            .chain(runit::FOLDERS.map(Identifier::path));
        wished.map(Wish::after).collect()
    }

    /// Two names of one unit, such as `cron` and `cron.service`.
    fn contradicts(&self, other: &dyn Resource) -> bool {
        let other = other
            .as_any()
            .and_then(|other| other.downcast_ref::<Self>());
        let differ = |one: Option<bool>, other: Option<bool>| {
            one.zip(other).is_some_and(|(one, other)| one != other)
        };
        other.is_some_and(|other| {
            let (one, two) = (&self.wanted, &other.wanted);
            systemd::plain_name(&self.name) == systemd::plain_name(&other.name)
                && (differ(one.is_running, two.is_running)
                    || differ(one.is_enabled, two.is_enabled))
        })
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn is_refreshable(&self) -> bool {
        true
    }

    fn is_reversible(&self) -> bool {
        true
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        let probe = before.probe();
        let wanted = self.with_received(before.input()).wanted;
        let state = self.supervisor(probe)?.state(wanted, probe)?;
        let mut description = before.description("service", &self.name)?;
        if wanted.is_running.is_some() {
            let word = if state.is_running {
                "running"
            } else {
                "stopped"
            };
            description = description.with("state", word);
        }
        if wanted.is_enabled.is_some() {
            description = description.with("enabled", state.is_enabled.to_string());
        }
        Ok(Some(description))
    }
}
