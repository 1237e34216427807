//! `pkgres info`

use std::path::Path;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    CLASS_PACKAGES, ClassName, IndexRecord, IndexedClass, MANIFEST_FILE, PackageName,
    ReleaseSource, Version, did_you_mean, most_similar_name,
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
use crate::registries::{ConfiguredRegistry, is_unconfigured, unconfigured_hint};
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
    let provided = context.registries.provided(&context.read_options)?;
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
    let releases = releases_of(std::slice::from_ref(&name), &registries, context);
    let requiring = registries.requiring(&name);
    let description = registries.description(&name);
    drop(progress);
    // Other ecosystems have no core library.
    let releases = releases?.pop().flatten().filter(|releases| {
        releases.source != ReleaseSource::BuiltIn || registries.may_have_class_packages()
    });
    let (requiring, description) = (requiring?, description?);
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

/// The most packages that are compared with a name that no registry has.
const MAX_COMPARED: usize = 100;

/// The package with the most similar name that a search finds: by the last part of the name, and by the one before.
fn found_similar(name: &PackageName, registries: &RegistrySet) -> Option<String> {
    let parts = name.as_str().rsplit('.').take(2);
    let mut names = Vec::new();
    for part in parts {
        // An error was reported when the package was looked up.
        let found = registries.search(&[part.to_owned()], MAX_COMPARED);
        names.extend(found.into_iter().flatten().map(|found| found.name));
    }
    let names = names.iter().map(PackageName::as_str);
    most_similar_name(name.as_str(), names).map(str::to_owned)
}

fn unknown_package(name: &PackageName, registries: &RegistrySet, context: &Context) -> Failure {
    let message = format!("no registry has a package `{name}`");
    let mut finding = Diagnostic::error(Code::UnknownPackage, message);
    let similar = registries.similar(name).map(|similar| similar.to_string());
    if let Some(similar) = similar.or_else(|| found_similar(name, registries)) {
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
    description: Option<&'run PackageDescription>,
    /// The location of its registry, with the name.
    location: String,
}

impl Info<'_> {
    fn source(&self) -> String {
        match &self.releases.source {
            ReleaseSource::Host => "provided by the host".to_owned(),
            ReleaseSource::BuiltIn => "built into pkgres".to_owned(),
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
        let mut line = |line: String| {
            text.push_str("  ");
            text.push_str(&line);
            text.push('\n');
        };
        if let Some(description) = self.description {
            if !description.title.is_empty() {
                line(shown(&description.title));
            }
            for paragraph in description.description.lines() {
                line(shown(paragraph));
            }
            if !description.owners.is_empty() {
                let owners: Vec<String> = description.owners.iter().map(|one| shown(one)).collect();
                line(format!("owners: {}", owners.join(", ")));
            }
        }
        line(format!("source: {}", self.source()));
        if let Some(format) = &record.format {
            line(format!("format: {}", Escaped::shortened(format)));
        }
        if let Some(published) = &record.published {
            line(format!("published: {published}"));
        }
        if let Some(digest) = &record.digest {
            line(format!("sha256: {digest}"));
        }
        if record.yanked {
            let reason = self.yank_reason(record).map(shown_reason);
            let reason = reason.map(|reason| format!(" ({reason})"));
            let reason = reason.unwrap_or_default();
            line(format!(
                "yanked{reason}: only lockfiles that have it use it"
            ));
        }
        text.push_str("versions:\n");
        for record in self.releases.records.iter().rev() {
            let yanked = if record.yanked { " (yanked)" } else { "" };
            text.push_str(&format!("  {}{yanked}\n", record.version));
        }
        if !record.requirements.is_empty() {
            text.push_str("requires:\n");
        }
        for requirement in &record.requirements {
            text.push_str(&format!("  {} {}\n", requirement.package, requirement.spec));
        }
        match self.classes() {
            None => text.push_str("classes: unknown\n"),
            Some(classes) if classes.is_empty() => text.push_str("classes: none\n"),
            Some(classes) => {
                text.push_str("classes:\n");
                let first_name = |class: &ClassName| record.ecosystem.first_name(class);
                for class in classes {
                    if first_name(&class.name).is_some() {
                        continue;
                    }
                    let label = record
                        .label(&class.name)
                        .map(|label| format!("{} ", shown(label)));
                    let label = label.unwrap_or_default();
                    let extends = class.extends.iter();
                    let extends: Vec<String> = extends
                        .map(|class| first_name(class).as_ref().unwrap_or(class).to_string())
                        .collect();
                    let extends = match extends.as_slice() {
                        [] => String::new(),
                        extends => format!(" extends {}", extends.join(", ")),
                    };
                    let implements: Vec<&str> =
                        class.implements.iter().map(ClassName::as_str).collect();
                    let implements = match implements.as_slice() {
                        [] => String::new(),
                        implements => format!(" implements {}", implements.join(", ")),
                    };
                    text.push_str(&format!("  {label}{}{extends}{implements}\n", class.name));
                }
            }
        }
        if !record.interfaces.is_empty() {
            text.push_str("interfaces:\n");
        }
        for interface in &record.interfaces {
            text.push_str(&format!("  {interface}\n"));
        }
        match self.requiring {
            None => text.push_str("required by: unknown (the registry does not report it)\n"),
            Some([]) => text.push_str("required by: nothing\n"),
            Some(names) => {
                text.push_str("required by:\n");
                for name in names.iter().take(MAX_REQUIRING) {
                    text.push_str(&format!("  {name}\n"));
                }
                if let Some(more) = names.len().checked_sub(MAX_REQUIRING + 1) {
                    text.push_str(&format!("  and {} more\n", more + 1));
                }
            }
        }
        text
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
