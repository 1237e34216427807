//! Runs apt: installs packages, asks what an installation would do, and which versions are available.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::resource::ResourceError;
use crate::target::{Command, Output, Probe, Target, TargetError};

/// The longest time that a transaction takes.
const TIMEOUT: Duration = Duration::from_hours(1);

/// What apt prints when its lists lack a package or version, or are so old that the servers have other files.
const OUTDATED: [&str; 4] = [
    "Unable to locate package",
    "has no installation candidate",
    "' was not found",
    "Failed to fetch",
];

/// The end of the line before the packages that cannot be installed.
const UNMET: &str = "have unmet dependencies:";

/// What apt says if dpkg was killed while it changed packages.
const INTERRUPTED: &str = "dpkg --configure -a";

/// A command of apt that asks nothing and keeps changed configuration files.
pub(crate) fn apt(action: &str) -> Command {
    let options = [
        "DPkg::Lock::Timeout=120",
        "Acquire::Retries=3",
        "Dpkg::Use-Pty=0",
        "Dpkg::Options::=--force-confdef",
        "Dpkg::Options::=--force-confold",
    ];
    Command::new("apt-get")
        .arguments(["--quiet", "--yes"])
        .arguments(options.iter().flat_map(|option| ["-o", option]))
        .argument(action)
        .variable("DEBIAN_FRONTEND", "noninteractive")
        .variable("DEBCONF_NONINTERACTIVE_SEEN", "true")
        .timeout(TIMEOUT)
        .with_scratch()
}

/// Runs a command of apt. First it does with the lists and the state that are there; what it lacks is brought, once each.
pub(crate) fn run(target: &dyn Target, command: &Command) -> Result<(), ResourceError> {
    let mut repairs = vec![
        (&OUTDATED[..], apt("update")),
        (&[INTERRUPTED][..], configure()),
    ];
    loop {
        let output = target.run(command)?;
        if output.is_success() {
            return Ok(());
        }
        let said = said(&output);
        let repair = repairs
            .iter()
            .position(|(signs, _)| signs.iter().any(|sign| said.contains(sign)));
        let Some(repair) = repair else {
            return Err(failure(command, output));
        };
        let (_, repair) = repairs.swap_remove(repair);
        let repair = repair.timeout(command.timeout);
        let repaired = target.run(&repair)?;
        if !repaired.is_success() {
            return Err(failure(&repair, repaired));
        }
    }
}

/// Ends what dpkg was interrupted in.
fn configure() -> Command {
    Command::new("dpkg")
        .arguments(["--force-confdef", "--force-confold", "--configure", "-a"])
        .variable("DEBIAN_FRONTEND", "noninteractive")
        .timeout(TIMEOUT)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The failure of a command of apt: of all that it says, the package that cannot be installed explains most, or else the
/// first error.
fn failure(command: &Command, mut output: Output) -> ResourceError {
    let said = said(&output);
    let text = output.text();
    let mut unmet = text.lines().skip_while(|line| !line.ends_with(UNMET));
    if let Some(first) = unmet.nth(1) {
        output.stderr = format!("unmet dependencies: {}", first.trim()).into_bytes();
    } else if let Some(line) = said.lines().find(|line| line.starts_with("E: ")) {
        output.stderr = line.as_bytes().to_vec();
    }
    match TargetError::unless_success(command, output) {
        Err(error) => error.into(),
        Ok(_) => ResourceError::Invalid("apt failed".to_owned()),
    }
}

/// Checks that nothing else goes with the packages.
pub(super) fn check_removal(probe: &dyn Probe, names: &[String]) -> Result<(), ResourceError> {
    let command = apt("remove").argument("--simulate").arguments(names);
    let output = probe.query(&command)?;
    if !output.is_success() {
        // Removing repairs what it can, and says what it cannot.
        return Ok(());
    }
    let text = output.text();
    let mut others: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("Remv ")?.split_whitespace().next())
        .filter(|other| {
            let is_other = |name: &String| name.split(':').next() != other.split(':').next();
            names.iter().all(is_other)
        })
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    others.sort_unstable();
    let message = format!(
        "other packages need {}: {}; they have to be absent as well",
        names.join(", "),
        others.join(", ")
    );
    Err(ResourceError::Invalid(message))
}

/// A command that installs packages, given as arguments of apt, and removes none.
pub(crate) fn install(options: &[&str], packages: &[String], has_versions: bool) -> Command {
    let command = apt("install")
        .arguments(options.iter().copied())
        .argument("--no-remove");
    // An installed version that is newer than the wanted one has to go.
    let command = command.arguments(has_versions.then_some("--allow-downgrades"));
    command.arguments(packages)
}

/// Checks that apt could install packages with the lists that the machine has. What they lack may come with new ones.
pub(super) fn check_installation(
    probe: &dyn Probe,
    command: &Command,
) -> Result<(), ResourceError> {
    let command = command.clone().argument("--simulate");
    let output = probe.query(&command)?;
    let said = said(&output);
    let is_repaired = OUTDATED
        .iter()
        .chain([&INTERRUPTED])
        .any(|sign| said.contains(sign));
    if output.is_success() || is_repaired {
        return Ok(());
    }
    Err(failure(&command, output))
}

/// The versions of packages in the lists of apt, each as `NAME=VERSION`; `None` if apt does not say.
pub(super) fn listed(
    probe: &dyn Probe,
    names: &[&str],
) -> Result<Option<BTreeSet<String>>, ResourceError> {
    let command = Command::new("apt-cache")
        .argument("madison")
        .arguments(names.iter().copied())
        .with_scratch();
    let output = probe.query(&command)?;
    if !output.is_success() {
        return Ok(None);
    }
    let text = output.text();
    let listed = text.lines().filter_map(|line| {
        let mut fields = line.split('|').map(str::trim);
        Some(format!("{}={}", fields.next()?, fields.next()?))
    });
    Ok(Some(listed.collect()))
}
