//! Finds installed packages of the operating system, and installs missing ones.

use std::time::Duration;

use pkgres_manifest::{Facts, PackagePin};

use crate::kinds::apt;
use crate::resource::ResourceError;
use crate::target::{Command, OS_FAMILY, Probe, Target, TargetError};

/// The program that knows the packages of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackageManager {
    /// `dpkg`, with `apt-get` to install.
    Dpkg,
    /// `rpm`, with `yum` to install.
    Rpm,
}

/// An installed package.
#[derive(Debug, PartialEq, Eq)]
struct Installed<'text> {
    name: &'text str,
    architecture: &'text str,
    /// The versions that a pin can name.
    versions: [&'text str; 2],
}

impl PackageManager {
    /// The one of a machine, or why there is none.
    pub(super) fn of(facts: &Facts) -> Result<Self, String> {
        let mut families = facts.values(OS_FAMILY);
        let family = families.next();
        match family {
            Some("debian") => Ok(Self::Dpkg),
            Some("redhat") => Ok(Self::Rpm),
            Some(other) => Err(format!(
                "packages of the family `{other}` are not supported"
            )),
            None => Err("the machine does not say which operating system it has".to_owned()),
        }
    }

    /// The one command that asks about all packages of a list.
    fn query(self, pins: &[PackagePin]) -> Command {
        let names = pins.iter().map(|pin| pin.name.value.as_str());
        match self {
            Self::Dpkg => Command::new("dpkg-query")
                .arguments([
                    "--show",
                    "--showformat=${db:Status-Abbrev}\\t${Package}\\t${Architecture}\\t${Version}\\n",
                    "--",
                ])
                .arguments(names),
            Self::Rpm => Command::new("rpm")
                .arguments([
                    "--query",
                    "--queryformat=ii \\t%{NAME}\\t%{ARCH}\\t%{VERSION}\\t%{VERSION}-%{RELEASE}\\n",
                    "--",
                ])
                .arguments(names),
        }
    }

    /// The packages that are not installed as they should be, each with what is wrong.
    pub(super) fn missing<'pins>(
        self,
        pins: &'pins [PackagePin],
        probe: &dyn Probe,
        timeout: Duration,
    ) -> Result<Vec<(&'pins PackagePin, String)>, TargetError> {
        let query = self.query(pins).timeout(timeout);
        let mut output = probe.query(&query)?;
        // Both fail if they do not know one of the packages: `dpkg-query` exits with 1, and `rpm` with the number of these,
        // each of which it names. Any other failure says nothing about the packages.
        let has_answered = match self {
            Self::Dpkg => output.code == Some(1),
            Self::Rpm => !output.stdout.is_empty(),
        };
        if !has_answered {
            output = TargetError::unless_success(&query, output)?;
        }
        let text = output.text();
        let installed: Vec<Installed<'_>> = text.lines().filter_map(installed).collect();
        let missing = pins.iter().filter_map(|pin| {
            let (name, architecture) = match pin.name.value.as_str().split_once(':') {
                Some((name, architecture)) if self == Self::Dpkg => (name, Some(architecture)),
                _ => (pin.name.value.as_str(), None),
            };
            let mut found = installed.iter().filter(|installed| {
                let is_for = architecture.is_none_or(|wanted| wanted == installed.architecture);
                installed.name == name && is_for
            });
            let Some(version) = &pin.version else {
                let problem = format!("`{}` is not installed", pin.name.value);
                return found.next().is_none().then_some((pin, problem));
            };
            let version = version.value.as_str();
            let mut found = found.peekable();
            let Some(first) = found.peek().map(|installed| installed.versions[0]) else {
                return Some((pin, format!("`{}` is not installed", pin.name.value)));
            };
            let is_there = found.any(|installed| installed.versions.contains(&version));
            let name = &pin.name.value;
            let problem = format!("`{name}` is installed in version {first}, not {version}");
            (!is_there).then_some((pin, problem))
        });
        Ok(missing.collect())
    }

    /// Installs packages in one transaction.
    pub(super) fn install(
        self,
        pins: &[&PackagePin],
        target: &dyn Target,
        timeout: Duration,
    ) -> Result<(), ResourceError> {
        let separator = match self {
            Self::Dpkg => '=',
            Self::Rpm => '-',
        };
        let words = pins.iter().map(|pin| match &pin.version {
            Some(version) => format!("{}{separator}{}", pin.name.value, version.value),
            None => pin.name.value.to_string(),
        });
        match self {
            Self::Dpkg => {
                let is_pinned = pins.iter().any(|pin| pin.version.is_some());
                let words: Vec<String> = words.collect();
                // With what they recommend: specs are written for `apt-get -y install`.
                let command = apt::install(&[], &words, is_pinned);
                apt::run(target, &command.timeout(timeout))
            }
            Self::Rpm => {
                let command = Command::new("yum").arguments(["-y", "install"]);
                let command = command.arguments(words).timeout(timeout);
                TargetError::unless_success(&command, target.run(&command)?)?;
                Ok(())
            }
        }
    }
}

/// An installed package by its line; `None` if it is only known, or was removed with its configuration left.
fn installed(line: &str) -> Option<Installed<'_>> {
    let mut fields = line.split('\t');
    let status = fields.next()?;
    // What should become of it, its state, and whether it is broken.
    let is_installed = matches!(status.as_bytes(), [_, b'i'] | [_, b'i', b' ']);
    let (name, architecture, version) = (fields.next()?, fields.next()?, fields.next()?);
    is_installed.then_some(Installed {
        name,
        architecture,
        versions: [version, fields.next().unwrap_or(version)],
    })
}
