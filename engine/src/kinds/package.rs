//! The kind `package`: a Debian package that must be installed, or must not.

use std::any::Any;

use pkgres_manifest::ResourceDescription;
use pkgres_manifest::diagnostic::Escaped;

use super::apt::{apt, check_installation, check_removal, install, listed, run};
use crate::resource::{
    Before, Change, Checked, Definition, Difference, Identifier, Input, Resource, ResourceError,
    Watching, Wish,
};
use crate::target::{Command, OS_FAMILY, Probe, Target, TargetError};

/// The file with the state of all packages.
const STATUS: &str = "/var/lib/dpkg/status";

/// One line for each package: name, architecture, state, version.
const FORMAT: &str = "${Package}\t${Architecture}\t${db:Status-Status}\t${Version}\n";

/// The state of a package that is unpacked and configured.
const INSTALLED: &str = "installed";

/// A package of the operating system that must be installed, or must not. Several packages are installed or removed in
/// one transaction.
///
/// Neither an installation nor a removal ever removes another package: if one would, this is an error. Configuration
/// files that were changed on the machine stay as they are.
///
/// The files and services of a package are not known before it is installed, and the order must be the same before and
/// after. So a package only comes before the service of the same name; any other order needs an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    name: String,
    wanted: WantedVersion,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum WantedVersion {
    Any,
    Exactly(String),
    Nothing,
}

impl WantedVersion {
    /// Whether a package can be as both say.
    fn allows(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nothing, other) | (other, Self::Nothing) => *other == Self::Nothing,
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Exactly(version), Self::Exactly(other)) => version == other,
        }
    }
}

impl Package {
    /// A package that must be installed, in any version.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            wanted: WantedVersion::Any,
        }
    }

    /// Requires this version of the package.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.wanted = WantedVersion::Exactly(version.into());
        self
    }

    /// Requires that the package is not installed. Its configuration files stay.
    #[must_use]
    pub fn absent(mut self) -> Self {
        self.wanted = WantedVersion::Nothing;
        self
    }

    /// Checks that name and version mean nothing else to apt: not an option, and not `-` at the end, which removes.
    pub(super) fn validate(&self) -> Result<(), ResourceError> {
        let is_plain = |text: &str, more: &str| {
            text.starts_with(|first: char| first.is_ascii_alphanumeric())
                && !text.ends_with('-')
                && text
                    .chars()
                    .all(|other| other.is_ascii_alphanumeric() || more.contains(other))
        };
        if !is_plain(&self.name, "+-.:") {
            let name = Escaped::shortened(&self.name);
            let message = format!("`{name}` cannot be the name of a package");
            return Err(ResourceError::Invalid(message));
        }
        if let WantedVersion::Exactly(version) = &self.wanted
            && !is_plain(version, "+-.:~")
        {
            let version = Escaped::shortened(version);
            let message = format!("`{version}` cannot be the version of a package");
            return Err(ResourceError::Invalid(message));
        }
        Ok(())
    }

    /// The name, and the architecture if one is given.
    fn name_and_architecture(&self) -> (&str, Option<&str>) {
        match self.name.split_once(':') {
            Some((name, architecture)) => (name, Some(architecture)),
            None => (&self.name, None),
        }
    }

    /// How the package differs from what is installed.
    fn difference(&self, installed: &[InstalledPackage]) -> Option<Difference> {
        let is = installed.iter().find(|package| package.is(&self.name));
        let is = is.map(|package| package.version.clone());
        let wanted = match (&self.wanted, &is) {
            (WantedVersion::Any, None) => Some("any version".to_owned()),
            (WantedVersion::Exactly(version), is) if is.as_ref() != Some(version) => {
                Some(version.clone())
            }
            (WantedVersion::Nothing, Some(_)) => None,
            _ => return None,
        };
        Some(Difference::new(self.name.as_str(), is, wanted))
    }

    /// The package as an argument of apt.
    fn argument(&self) -> String {
        match &self.wanted {
            WantedVersion::Exactly(version) => format!("{}={version}", self.name),
            WantedVersion::Any | WantedVersion::Nothing => self.name.clone(),
        }
    }
}

impl Resource for Package {
    fn definition(&self) -> String {
        let Self { name, wanted } = self;
        let (state, version) = match wanted {
            WantedVersion::Any => ("present", None),
            WantedVersion::Exactly(version) => ("present", Some(version)),
            WantedVersion::Nothing => ("absent", None),
        };
        Definition::new("package")
            .with("name", name)
            .with("state", state)
            .with("version", version)
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        check(std::slice::from_ref(self), probe)
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::path(STATUS)
    }

    fn identifiers(&self) -> Vec<Identifier> {
        let (name, _) = self.name_and_architecture();
        vec![Identifier::Package(name.to_owned())]
    }

    fn wishes(&self) -> Vec<Wish> {
        if self.wanted == WantedVersion::Nothing {
            return Vec::new();
        }
        let (name, _) = self.name_and_architecture();
        vec![Wish::before(Identifier::Service(name.to_owned()))]
    }

    /// Two names of one package, such as `hello` and `hello:amd64`.
    fn contradicts(&self, other: &dyn Resource) -> bool {
        let other = other
            .as_any()
            .and_then(|other| other.downcast_ref::<Self>());
        other.is_some_and(|other| {
            let (name, architecture) = self.name_and_architecture();
            let (other_name, other_architecture) = other.name_and_architecture();
            // One without architecture is in that of the machine, which is not known here.
            let are_apart = architecture.is_some() && other_architecture.is_some();
            name == other_name && !are_apart && !self.wanted.allows(&other.wanted)
        })
    }

    fn is_reversible(&self) -> bool {
        true
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        let installed = installed(std::slice::from_ref(self), before.probe())?;
        let is = installed.iter().find(|package| package.is(&self.name));
        let description = before.description("package", &self.name)?;
        Ok(Some(match is {
            None => description.with("state", "absent"),
            Some(is) => description.with("version", is.version.clone()),
        }))
    }

    fn group(&self) -> Option<String> {
        let group = match self.wanted {
            WantedVersion::Nothing => "absent packages",
            _ => "packages",
        };
        Some(group.to_owned())
    }

    fn grouped(&self, members: &[&dyn Resource]) -> Option<Box<dyn Resource>> {
        let mut packages: Vec<Self> = Vec::new();
        for member in members {
            let package = member.as_any()?.downcast_ref::<Self>()?;
            let known = packages.iter().find(|other| other.name == package.name);
            // apt would take one of the two versions.
            if known.is_some_and(|other| other != package) {
                return None;
            }
            packages.push(package.clone());
        }
        Some(Box::new(Packages(packages)))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// Packages that are installed or removed in one transaction.
#[derive(Debug)]
struct Packages(Vec<Package>);

impl Resource for Packages {
    fn definition(&self) -> String {
        let packages: Vec<_> = self.0.iter().map(Package::definition).collect();
        Definition::new("packages")
            .with("packages", packages)
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        check(&self.0, probe)
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::path(STATUS)
    }

    fn identifiers(&self) -> Vec<Identifier> {
        self.0.iter().flat_map(Package::identifiers).collect()
    }

    fn wishes(&self) -> Vec<Wish> {
        self.0.iter().flat_map(Package::wishes).collect()
    }
}

/// A package that is installed.
struct InstalledPackage {
    name: String,
    architecture: String,
    version: String,
}

impl InstalledPackage {
    /// Whether a name, with an architecture or without, means this package.
    fn is(&self, name: &str) -> bool {
        match name.split_once(':') {
            Some((name, architecture)) => name == self.name && architecture == self.architecture,
            None => name == self.name,
        }
    }
}

fn check(packages: &[Package], probe: &dyn Probe) -> Result<Checked, ResourceError> {
    for package in packages {
        package.validate()?;
    }
    let facts = probe.facts();
    if facts.has(OS_FAMILY) && !facts.values(OS_FAMILY).any(|family| family == "debian") {
        let family: Vec<_> = facts.values(OS_FAMILY).collect();
        let message = format!(
            "packages can be handled on Debian and what derives from it, not on the family `{}`",
            Escaped::shortened(&family.join(" "))
        );
        return Err(TargetError::Unsupported(message).into());
    }
    let installed = installed(packages, probe)?;
    let different = packages.iter().filter_map(|package| {
        let difference = package.difference(&installed)?;
        Some((package.clone(), difference))
    });
    let (packages, mut differences): (Vec<_>, Vec<_>) = different.unzip();
    if packages.is_empty() {
        return Ok(Checked::in_order());
    }
    mark_unlisted(&packages, &mut differences, probe)?;
    Ok(Checked::drift(Transaction {
        packages,
        differences,
    }))
}

/// Says of versions that the lists of apt lack that they do: new lists may have them, or the change fails.
fn mark_unlisted(
    packages: &[Package],
    differences: &mut [Difference],
    probe: &dyn Probe,
) -> Result<(), ResourceError> {
    let pinned = packages.iter().filter_map(|package| match &package.wanted {
        WantedVersion::Exactly(_) => Some(package.name.as_str()),
        WantedVersion::Any | WantedVersion::Nothing => None,
    });
    let pinned: Vec<&str> = pinned.collect();
    if pinned.is_empty() {
        return Ok(());
    }
    let Some(listed) = listed(probe, &pinned)? else {
        return Ok(());
    };
    for (package, difference) in packages.iter().zip(differences) {
        if let WantedVersion::Exactly(version) = &package.wanted {
            let name = package.name.split(':').next().unwrap_or_default();
            if !listed.contains(&format!("{name}={version}")) {
                difference.wanted = Some(format!("{version}, which is not in the lists of apt"));
            }
        }
    }
    Ok(())
}

/// Those among the packages that are installed, in any version.
fn installed(
    packages: &[Package],
    probe: &dyn Probe,
) -> Result<Vec<InstalledPackage>, ResourceError> {
    let names = packages.iter().map(|package| package.name.as_str());
    let command = Command::new("dpkg-query")
        .arguments(["--show", "--showformat", FORMAT, "--"])
        .arguments(names);
    let output = probe.query(&command)?;
    // It exits with 1 if it does not know one of them.
    if output.code != Some(1) {
        TargetError::unless_success(&command, output.clone())?;
    }
    let text = output.text();
    let installed = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, architecture, INSTALLED, version] = fields[..] else {
            return None;
        };
        Some(InstalledPackage {
            name: name.to_owned(),
            architecture: architecture.to_owned(),
            version: version.to_owned(),
        })
    });
    Ok(installed.collect())
}

/// Installs packages, or removes them: all that are wanted, or all that are not.
struct Transaction {
    packages: Vec<Package>,
    differences: Vec<Difference>,
}

impl Transaction {
    /// The packages to remove, and those to install, as arguments of apt.
    fn arguments(&self) -> [Vec<String>; 2] {
        let (removed, added): (Vec<_>, Vec<_>) = self
            .packages
            .iter()
            .partition(|package| package.wanted == WantedVersion::Nothing);
        [removed, added].map(|packages| {
            let arguments = packages.iter().map(|package| package.argument());
            arguments.collect()
        })
    }

    /// The command that installs packages, if there is one to install.
    fn installation(&self) -> Option<Command> {
        let [_, added] = self.arguments();
        let mut packages = self.packages.iter();
        let has_versions =
            packages.any(|package| matches!(package.wanted, WantedVersion::Exactly(_)));
        (!added.is_empty()).then(|| install(&["--no-install-recommends"], &added, has_versions))
    }
}

impl Change for Transaction {
    fn differences(&self) -> Vec<Difference> {
        self.differences.clone()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        let [removed, _] = self.arguments();
        if !removed.is_empty() {
            check_removal(probe, &removed)?;
        }
        match self.installation() {
            Some(command) => check_installation(probe, &command),
            None => Ok(()),
        }
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        let [removed, _] = self.arguments();
        if !removed.is_empty() {
            check_removal(target, &removed)?;
            run(target, &apt("remove").arguments(removed))?;
        }
        match self.installation() {
            Some(command) => run(target, &command),
            None => Ok(()),
        }
    }
}
