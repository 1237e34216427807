//! `pkgres info`

use std::path::Path;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    CLASS_PACKAGES, ClassName, IndexRecord, IndexedClass, MANIFEST_FILE, PackageName,
    ReleaseSource, Version, did_you_mean,
};
use pkgres_registry_client::{PackageDescription, RegistrySet};
use pkgres_resolver::Supply;
use serde_json::{Map, Value, json};

use crate::args::InfoArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::named_packages::{ecosystem_near, last_part, release_name};
use crate::output::Output;
use crate::registries::{ConfiguredRegistry, is_override, is_unconfigured, unconfigured_hint};
use crate::solve_task::shown_location;
use crate::yank_reasons::shown_reason;

/// How many characters of a description are shown.
const DESCRIPTION_CHARACTERS: usize = 2000;

/// How many packages that require one are shown.
const MAX_REQUIRING: usize = 20;

/// The releases of a package.
pub(super) struct Releases {
    source: ReleaseSource,
    /// The oldest first.
    records: Vec<IndexRecord>,
}

impl Releases {
    /// Where they come from, and the releases, the oldest first.
    pub(super) fn into_parts(self) -> (ReleaseSource, Vec<IndexRecord>) {
        (self.source, self.records)
    }

    /// The releases, the oldest first.
    pub(super) fn records(&self) -> &[IndexRecord] {
        &self.records
    }

    /// The newest release: a stable one that is not yanked, if there is one.
    pub(super) fn newest(&self) -> Option<&IndexRecord> {
        let mut usable = self.records.iter().rev().filter(|record| !record.yanked);
        let newest = usable.clone().next();
        let stable = usable.find(|record| !record.version.is_prerelease());
        stable.or(newest).or(self.records.last())
    }
}

/// The folder of the project whose registries are used, if there is one.
pub(super) fn root_of(manifest: &Path) -> Option<&Path> {
    let is_default = manifest == Path::new(MANIFEST_FILE);
    if is_default && manifest.symlink_metadata().is_err() {
        return None;
    }
    if manifest.is_dir() {
        return Some(manifest);
    }
    let parent = manifest
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    Some(parent.unwrap_or(Path::new(".")))
}

/// The releases of each package: those that the host provides, or those of its registry.
pub(super) fn releases_of(
    names: &[PackageName],
    registries: &RegistrySet,
    context: &Context,
) -> Result<Vec<Option<Releases>>> {
    let provided = context.registries.host_releases(&context.read_options)?;
    let supplies = registries.supply(names)?;
    let releases = names.iter().zip(supplies).map(|(name, supply)| {
        let hosted = provided.iter().filter(|record| record.name == *name);
        let hosted: Vec<IndexRecord> = hosted.cloned().collect();
        let (source, mut records) = match supply {
            _ if !hosted.is_empty() => (ReleaseSource::Host, hosted),
            Supply::Releases { source, records } => (source, records),
            Supply::Unknown => return None,
        };
        records.sort_by(|one, other| one.version.cmp(&other.version));
        Some(Releases { source, records })
    });
    Ok(releases.collect())
}

pub(super) fn run(args: &InfoArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let ecosystem = ecosystem_near(&args.lookup.manifest, context);
    let (name, version) = release_name(&args.name, ecosystem)?;
    let root = root_of(&args.lookup.manifest);
    let configured = context.registries.for_root(root)?;
    let ecosystem = ecosystem.or_else(|| root.map(|_| CLASS_PACKAGES));
    let options = match ecosystem {
        Some(ecosystem) => context.read_options.of_ecosystem(ecosystem.id()),
        None => context.read_options.clone(),
    };
    let registries = context.registries.open(&configured, &options)?;
    let progress = output.progress("Looking up", context.registries.activity());
    let look_up = || -> Result<_> {
        let releases = releases_of(std::slice::from_ref(&name), &registries, context)?;
        Ok((
            releases,
            registries.requiring(&name)?,
            registries.description(&name)?,
        ))
    };
    let found = look_up();
    drop(progress);
    let (mut releases, requiring, description) = found?;
    // Other ecosystems have no core library.
    let releases = releases.pop().flatten().filter(|releases| {
        releases.source != ReleaseSource::BuiltIn || registries.may_have_class_packages()
    });
    output.registry_findings(&registries.take_findings());
    let Some(releases) = releases else {
        let mut failure = unknown_package(&name, &registries, context);
        if is_unconfigured(&configured) {
            let hint = unconfigured_hint(&context.invocation);
            failure
                .findings
                .iter_mut()
                .for_each(|finding| finding.hints.push(hint.clone()));
        }
        return Err(failure);
    };
    if releases.records.is_empty() {
        return Err(no_readable_release(&name, &registries));
    }
    let Some(record) = chosen(&releases, version.as_ref()) else {
        return Err(unknown_version(&name, version.as_ref(), &releases));
    };
    let info = Info {
        releases: &releases,
        record,
        requiring: requiring.as_deref(),
        offline: (context.registries.is_offline())
            .then(|| format!("`--offline`{}", context.settings.from("offline"))),
        description: description.as_ref(),
        location: location_of(&releases.source, &configured),
    };
    if output.is_json() {
        output.json(&info.to_json());
    } else {
        output.prose(&info.to_text());
    }
    Ok(Exit::Done)
}

fn chosen<'releases>(
    releases: &'releases Releases,
    version: Option<&Version>,
) -> Option<&'releases IndexRecord> {
    match version {
        None => releases.newest(),
        Some(version) => releases
            .records
            .iter()
            .find(|record| version.names_release(&record.version)),
    }
}

fn unknown_package(name: &PackageName, registries: &RegistrySet, context: &Context) -> Failure {
    let message = format!("no registry has a package `{name}`");
    let mut finding = Diagnostic::error(Code::UnknownPackage, message);
    if let Some(similar) = registries.similar(name) {
        finding = finding.hint(did_you_mean(similar));
    } else if registries.can_search() {
        let words = format!("search {}", last_part(name));
        let command = context.invocation.command(&words);
        finding = finding.hint(format!("`{command}` looks for packages"));
    }
    Failure {
        findings: vec![finding],
        exit: Exit::Failed,
    }
}

fn no_readable_release(name: &PackageName, registries: &RegistrySet) -> Failure {
    let message = format!("no release of `{name}` can be used");
    let mut finding = Diagnostic::error(Code::BrokenPackage, message);
    finding.hints = registries.unreadable(name);
    Failure {
        findings: vec![finding],
        exit: Exit::Failed,
    }
}

fn unknown_version(name: &PackageName, version: Option<&Version>, releases: &Releases) -> Failure {
    let version = version.map_or_else(String::new, ToString::to_string);
    let message = format!("there is no {name} {version}");
    let known: Vec<String> = releases
        .records
        .iter()
        .rev()
        .take(5)
        .map(|record| record.version.to_string())
        .collect();
    let finding = Diagnostic::error(Code::NoVersion, message);
    let hint = match known.as_slice() {
        [only] if releases.records.len() == 1 => {
            format!("the only version of {name} is {only}")
        }
        _ => format!("the newest versions are {}", known.join(", ")),
    };
    Failure {
        findings: vec![finding.hint(hint)],
        exit: Exit::Failed,
    }
}

/// The location of a registry; empty for other sources.
fn location_of(source: &ReleaseSource, configured: &[ConfiguredRegistry]) -> String {
    let ReleaseSource::Registry(name) = source else {
        return String::new();
    };
    let mut locations = configured.iter().map(|registry| &registry.location);
    let location = locations.find(|location| location.name == *name);
    location.map_or_else(String::new, shown_location)
}

/// What is shown of a package.
struct Info<'run> {
    releases: &'run Releases,
    record: &'run IndexRecord,
    requiring: Option<&'run [PackageName]>,
    /// What keeps the run from asking registries on the network, if anything does.
    offline: Option<String>,
    description: Option<&'run PackageDescription>,
    /// The location of its registry, with the name.
    location: String,
}

impl Info<'_> {
    fn source(&self) -> String {
        match &self.releases.source {
            ReleaseSource::Host => "provided by the host".to_owned(),
            ReleaseSource::BuiltIn => "built into pkgres".to_owned(),
            ReleaseSource::Registry(name) if is_override(name) => {
                "override in pkgres.toml".to_owned()
            }
            ReleaseSource::Registry(name) => match self.location.strip_prefix("default=") {
                Some(location) => location.to_owned(),
                None => format!("registry {name}"),
            },
        }
    }

    /// The reason why a release was yanked, as the registry has it.
    fn yank_reason(&self, record: &IndexRecord) -> Option<&str> {
        let description = self.description.filter(|_| record.yanked)?;
        description.yank_reason(&record.version)
    }

    fn classes(&self) -> Option<Vec<&IndexedClass>> {
        let classes = self.record.classes.as_ref()?;
        Some(classes.iter().filter(|class| !class.internal).collect())
    }

    fn to_text(&self) -> String {
        let record = self.record;
        let mut text = format!("{} {}\n", record.name, record.version);
        for line in self.facts() {
            text.push_str(&format!("  {line}\n"));
        }
        let versions = self.releases.records.iter().rev().map(|record| {
            let yanked = if record.yanked { " (yanked)" } else { "" };
            format!("{}{yanked}", record.version)
        });
        text.push_str(&section("versions", versions));
        let requirements = record.requirements.iter();
        let requirements =
            requirements.map(|requirement| format!("{} {}", requirement.package, requirement.spec));
        text.push_str(&section("requires", requirements));
        text.push_str(&self.classes_text());
        let interfaces = record.interfaces.iter();
        text.push_str(&section("interfaces", interfaces.map(ToString::to_string)));
        text.push_str(&self.requiring_text());
        text
    }

    /// The lines about the release.
    fn facts(&self) -> Vec<String> {
        let record = self.record;
        let mut lines = Vec::new();
        if let Some(description) = self.description {
            let title = (!description.title.is_empty()).then_some(description.title.as_str());
            let paragraphs = title.into_iter().chain(description.description.lines());
            lines.extend(paragraphs.map(shown));
            if !description.owners.is_empty() {
                let owners: Vec<String> = description.owners.iter().map(|one| shown(one)).collect();
                lines.push(format!("owners: {}", owners.join(", ")));
            }
        }
        lines.push(format!("source: {}", self.source()));
        if let Some(format) = &record.format {
            lines.push(format!("format: {}", Escaped::shortened(format)));
        }
        if let Some(published) = &record.published {
            lines.push(format!("published: {published}"));
        }
        if let Some(digest) = &record.digest {
            lines.push(format!("sha256: {digest}"));
        }
        if record.yanked {
            let reason = self.yank_reason(record).map(shown_reason);
            let reason = reason.map(|reason| format!(" ({reason})"));
            let reason = reason.unwrap_or_default();
            lines.push(format!(
                "yanked{reason}: only lockfiles that have it use it"
            ));
        }
        lines
    }

    fn classes_text(&self) -> String {
        match self.classes() {
            None => "classes: unknown\n".to_owned(),
            Some(classes) if classes.is_empty() => "classes: none\n".to_owned(),
            Some(classes) => {
                let first_name = |class: &ClassName| self.record.ecosystem.first_name(class);
                let classes = classes.into_iter();
                let classes = classes.filter(|class| first_name(&class.name).is_none());
                let lines: String = classes
                    .map(|class| format!("  {}\n", self.class_text(class)))
                    .collect();
                format!("classes:\n{lines}")
            }
        }
    }

    /// The name of a class, with its label, and what it extends and implements.
    fn class_text(&self, class: &IndexedClass) -> String {
        let record = self.record;
        let label = record.label(&class.name).map(shown);
        let label = label.map_or_else(String::new, |label| format!("{label} "));
        let extends = class.extends.iter().map(|class| {
            let first_name = record.ecosystem.first_name(class);
            first_name.as_ref().unwrap_or(class).to_string()
        });
        let extends = listed(" extends ", extends);
        let implements = class.implements.iter().map(ToString::to_string);
        let implements = listed(" implements ", implements);
        format!("{label}{}{extends}{implements}", class.name)
    }

    fn requiring_text(&self) -> String {
        match (self.requiring, &self.offline) {
            (None, Some(offline)) => format!(
                "required by: unknown (with {offline}, registries on the network are not asked)\n"
            ),
            (None, None) => "required by: unknown (the registry does not report it)\n".to_owned(),
            (Some([]), _) => "required by: nothing\n".to_owned(),
            (Some(names), _) => {
                let shown = names.iter().take(MAX_REQUIRING).map(ToString::to_string);
                let more = names.len().saturating_sub(MAX_REQUIRING);
                let more = (more > 0).then(|| format!("and {more} more"));
                section("required by", shown.chain(more))
            }
        }
    }

    fn to_json(&self) -> Value {
        let record = self.record;
        let versions = self.releases.records.iter().rev().map(|record| {
            json!({
                "version": record.version,
                "yanked": record.yanked,
                "yank_reason": self.yank_reason(record),
                "published": record.published,
                "sha256": record.digest,
            })
        });
        let versions: Vec<Value> = versions.collect();
        let requires = record.requirements.iter().map(|requirement| {
            let spec = requirement.spec.to_string();
            (requirement.package.to_string(), json!(spec))
        });
        let requires: Map<String, Value> = requires.collect();
        let classes = self.classes().map(|classes| {
            let classes = classes.into_iter().map(|class| {
                json!({
                    "name": class.name,
                    "extends": class.extends,
                    "implements": class.implements,
                    "uses": class.uses,
                })
            });
            classes.collect::<Vec<Value>>()
        });
        json!({
            "schema_version": 1,
            "name": record.name,
            "version": record.version,
            "source": self.releases.source,
            "format": record.format.as_deref(),
            "yanked": record.yanked,
            "yank_reason": self.yank_reason(record),
            "published": record.published,
            "sha256": record.digest,
            "size": record.size,
            "title": self.description.map(|description| &description.title),
            "description": self.description.map(|description| &description.description),
            "owners": self.description.map(|description| &description.owners),
            "versions": versions,
            "requires": requires,
            "classes": classes,
            "interfaces": record.interfaces.iter().collect::<Vec<&ClassName>>(),
            "required_by": self.requiring,
        })
    }
}

/// A text of the registry as it can be shown.
fn shown(text: &str) -> String {
    Escaped::within(text, DESCRIPTION_CHARACTERS).to_string()
}

/// Lines under a title; empty if there are none.
fn section(title: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| format!("  {line}\n")).collect();
    if lines.is_empty() {
        lines
    } else {
        format!("{title}:\n{lines}")
    }
}

/// Names after a verb; empty if there are none.
fn listed(verb: &str, names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("{verb}{}", names.join(", "))
    }
}
