//! `pkgres semver`

mod compared_versions;
mod interfaces;
mod records;
mod registry_release;

pub(super) use compared_versions::newest_release;

use std::collections::BTreeMap;
use std::path::Path;

use pkgres_checks::{
    ApiComparison, ApiDifference, Bump, Impact, InterfaceDifference, Witness, compare_apis,
    package_interface_differences,
};
use pkgres_files::{Access, NewTreeFile, RealFileSystem, make_folder, write_tree};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Location};
use pkgres_manifest::{MANIFEST_FILE, PackagePath};
use serde_json::{Value, json};

use self::compared_versions::{Other, Source};
use crate::args::{Format, SemverArgs};
use crate::bound_release::BoundRelease;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::invocation::quoted;
use crate::output::Output;
use crate::show::{self, counted};

pub(super) fn run(args: &SemverArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if let Some(exit) = records::run(args, context, output)? {
        return Ok(exit);
    }
    let (old, new) = read_both(&args.old, &args.new, context, output)
        .map_err(|failure| with_missing_side(failure, args, context))?;
    let compared = Compared::new(old, new);
    output.findings(&compared.warnings());
    let witnesses = compared.witnesses();
    if let Some(folder) = &args.witness {
        write_witnesses(folder, witnesses.values(), output)?;
    }
    let verdict = compared.verdict(args.deny_review);
    if output.is_json() {
        output.json(&compared.document(&witnesses, verdict.is_none()));
    } else if output.format() == Format::Github {
        let findings = compared.findings(args.deny_review);
        output.annotate(&findings);
    } else {
        for difference in &compared.comparison.differences {
            output.prose(&line_of(difference));
        }
        for difference in &compared.interfaces {
            output.prose(&interfaces::line_of(difference));
        }
        match &verdict {
            Some(verdict) => output.findings(std::slice::from_ref(verdict)),
            // The differences are the result; that there are none is one as well.
            None if compared.impacts().next().is_none() => {
                output.prose(&format!("{}\n", compared.summary()));
            }
            None => output.note(&compared.summary()),
        }
    }
    Ok(match verdict {
        Some(_) => Exit::Failed,
        None => Exit::Done,
    })
}

/// A failure, with a hint if only one folder is named and this one, the other side, has no package.
fn with_missing_side(mut failure: Failure, args: &SemverArgs, context: &Context) -> Failure {
    let (old, new) = (Path::new(&args.old), Path::new(&args.new));
    let is_missing = new == Path::new(".") && !new.join(MANIFEST_FILE).exists();
    if is_missing && old.join(MANIFEST_FILE).is_file() {
        let words = format!("semver @newest {}", quoted(old));
        let command = context.invocation.command_for_none(&words);
        for finding in &mut failure.findings {
            finding.hints = vec![format!(
                "`{command}` compares it with the newest lower version in the registries"
            )];
        }
    }
    failure
}

/// Reads both sides. The one that names its package comes first, because the other one may need it.
fn read_both(
    old: &str,
    new: &str,
    context: &Context,
    output: &mut Output,
) -> Result<(BoundRelease, BoundRelease)> {
    let (old, new) = (Source::parse(old)?, Source::parse(new)?);
    let (old, new) = if new.needs_other() {
        if old.needs_other() {
            return Err(Failure::usage(
                "at least one side has to be a folder, an archive, `REVISION:FOLDER` or `NAME@VERSION`",
            ));
        }
        let read = old.read(None, context, output)?;
        let other = Other {
            path: old.path(),
            release: &read.release,
            is_new: false,
        };
        let new = new.read(Some(&other), context, output)?;
        (read, new)
    } else {
        let read = new.read(None, context, output)?;
        let other = Other {
            path: new.path(),
            release: &read.release,
            is_new: true,
        };
        let old = old.read(Some(&other), context, output)?;
        (old, read)
    };
    if old.release.name != new.release.name {
        let message = format!(
            "`{}` and `{}` are two packages, and not two versions of one",
            old.release.name, new.release.name
        );
        return Err(Failure::usage(message));
    }
    Ok((old, new))
}

/// Two versions of a package with their differences.
pub(super) struct Compared {
    old: BoundRelease,
    new: BoundRelease,
    comparison: ApiComparison,
    /// The differences of interfaces.
    interfaces: Vec<InterfaceDifference>,
    /// The version bump that was made.
    made: Bump,
}

impl Compared {
    pub(super) fn new(old: BoundRelease, new: BoundRelease) -> Self {
        let comparison = compare_apis(old.api(), new.api());
        let interfaces = package_interface_differences(&old.package, &new.package);
        let made = Bump::between(&old.release.version, &new.release.version);
        Self {
            old,
            new,
            comparison,
            interfaces,
            made,
        }
    }

    /// What could not be compared.
    pub(super) fn warnings(&self) -> Vec<Diagnostic> {
        let unbound = [&self.old.unbound, &self.new.unbound];
        let mut warnings: Vec<Diagnostic> = unbound.into_iter().flatten().cloned().collect();
        // Nothing has the members of what the host provides: there is nothing to do about them.
        let unknown = self.comparison.unknown_ancestors.iter();
        let unknown =
            unknown.filter(|class| !self.old.is_of_host(class) || !self.new.is_of_host(class));
        let unknown: Vec<String> = unknown.take(8).map(|class| format!("`{class}`")).collect();
        if !unknown.is_empty() {
            let message = format!(
                "the members of {} are unknown, and were not compared",
                unknown.join(", ")
            );
            let hint = "name a registry that has their packages with `--registry`";
            warnings.push(Diagnostic::warning(Code::ClassesNotRead, message).hint(hint));
        }
        warnings
    }

    /// The packages that show the major differences, by the place of the difference.
    fn witnesses(&self) -> BTreeMap<usize, Witness> {
        let differences = self.comparison.differences.iter().enumerate();
        differences
            .filter_map(|(at, difference)| Some((at, difference.witness(&self.new.release.name)?)))
            .collect()
    }

    /// The bump that the differences need.
    fn needed(&self) -> Bump {
        Bump::needed_for_all(self.impacts())
    }

    /// The impacts of all differences.
    fn impacts(&self) -> impl Iterator<Item = Impact> {
        let of_classes = self.comparison.differences.iter();
        let of_interfaces = self.interfaces.iter().map(|difference| difference.impact);
        of_classes.map(ApiDifference::impact).chain(of_interfaces)
    }

    fn count(&self, impact: Impact) -> usize {
        self.impacts().filter(|other| *other == impact).count()
    }

    /// How many differences a person has to review: none if the bump says that anything may differ.
    pub(super) fn to_review(&self) -> usize {
        match self.made {
            Bump::Major => 0,
            _ => self.count(Impact::Review),
        }
    }

    /// `2 major differences, 1 minor difference`
    fn counts(&self) -> String {
        let impacts = [Impact::Major, Impact::Review, Impact::Minor, Impact::Patch];
        let counts = impacts.map(|impact| (impact, self.count(impact)));
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(impact, count)| match impact {
                Impact::Review => counted(count, "difference") + " to review",
                _ => counted(count, &format!("{impact} difference")),
            })
            .collect();
        if counts.is_empty() {
            "no differences".to_owned()
        } else {
            counts.join(", ")
        }
    }

    fn summary(&self) -> String {
        let (name, old, new) = (
            &self.new.release.name,
            &self.old.release.version,
            &self.new.release.version,
        );
        match self.made {
            Bump::None if old == new => format!("{name} {old}: {}", self.counts()),
            Bump::None if new < old => {
                format!("{name} {old} -> {new}, a lower version: {}", self.counts())
            }
            Bump::None => format!("{name} {old} -> {new}, no bump: {}", self.counts()),
            made => format!("{name} {old} -> {new}, a {made} bump: {}", self.counts()),
        }
    }

    /// The error that the version bump is too small, or that something has to be reviewed.
    pub(super) fn verdict(&self, denies_review: bool) -> Option<Diagnostic> {
        let (name, old, new) = (
            &self.new.release.name,
            &self.old.release.version,
            &self.new.release.version,
        );
        let needed = self.needed();
        let place = self.new.package.manifest.version_location.clone();
        if self.made < needed {
            let bump = match self.made {
                Bump::None => format!("{name} {new} is no bump from {old}"),
                made => format!("{name} {new} is a {made} bump from {old}"),
            };
            let count = (self.impacts())
                .filter(|impact| Bump::needed_for(*impact) == needed)
                .count();
            let needs = if count == 1 { "needs" } else { "need" };
            let what = counted(count, "difference");
            let message = format!("{bump}, but {what} {needs} a {needed} bump");
            let least = needed.after(old);
            let finding = Diagnostic::error(Code::VersionBump, message).at(place);
            return Some(finding.hint(format!("give it the version {least}, or a higher one")));
        }
        let reviews = self.count(Impact::Review);
        if denies_review && reviews > 0 {
            let message = format!(
                "{name} {old} -> {new}: {} to review",
                counted(reviews, "difference")
            );
            return Some(Diagnostic::error(Code::VersionBump, message).at(place));
        }
        None
    }

    /// The differences that need a larger bump than the one that was made, or a review, as findings.
    pub(super) fn findings(&self, denies_review: bool) -> Vec<Diagnostic> {
        let of_classes = self.comparison.differences.iter().map(|difference| {
            let message = format!("{} ({})", difference.message, difference.rule);
            (
                difference.impact(),
                message,
                &difference.new,
                &difference.old,
            )
        });
        let of_interfaces = self.interfaces.iter().map(|difference| {
            let message = difference.message.clone();
            (difference.impact, message, &difference.new, &difference.old)
        });
        let found = of_classes
            .chain(of_interfaces)
            .filter_map(|(impact, message, new, old)| {
                let is_review = impact == Impact::Review;
                let is_beyond = Bump::needed_for(impact) > self.made;
                if !is_review && !is_beyond {
                    return None;
                }
                let finding = if is_beyond || denies_review {
                    Diagnostic::error(Code::VersionBump, message)
                } else {
                    Diagnostic::warning(Code::VersionBump, message)
                };
                let mut places = [new, old].into_iter().flatten();
                Some(match places.next() {
                    Some(place) => finding.at(place.clone()),
                    None => finding,
                })
            });
        found.chain(self.verdict(denies_review)).collect()
    }

    fn document(&self, witnesses: &BTreeMap<usize, Witness>, passed: bool) -> Value {
        let differences = self.comparison.differences.iter().enumerate();
        let differences: Vec<Value> = differences
            .map(|(at, difference)| {
                let witness = witnesses.get(&at).map(|witness| {
                    let errors = witness.errors_with(self.new.api());
                    let errors: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
                    json!({
                        "folder": witness.folder,
                        "passes_with_old": witness.errors_with(self.old.api()).is_empty(),
                        "errors_with_new": errors,
                    })
                });
                json!({
                    "rule": difference.rule.id(),
                    "impact": difference.impact().to_string(),
                    "class": difference.class,
                    "member": difference.member,
                    "argument": difference.argument,
                    "message": difference.message,
                    "old": difference.old.as_ref().map(show::place_json),
                    "new": difference.new.as_ref().map(show::place_json),
                    "inheritors": difference.inheritors,
                    "witness": witness,
                })
            })
            .collect();
        json!({
            "schema_version": 1,
            "status": if passed { "passed" } else { "failed" },
            "name": self.new.release.name,
            "old": self.old.release.version,
            "new": self.new.release.version,
            "bump": self.made.to_string(),
            "needed": self.needed().to_string(),
            "least_version": self.needed().after(&self.old.release.version),
            "differences": differences,
            "interfaces": self.interfaces.iter().map(interfaces::document).collect::<Vec<_>>(),
            "unknown_ancestors": self.comparison.unknown_ancestors,
        })
    }
}

/// A difference as text: what it is, and where.
fn line_of(difference: &ApiDifference) -> String {
    let mut text = format!(
        "{}: {} ({})\n",
        difference.impact(),
        difference.message,
        difference.rule
    );
    text.push_str(&places(difference.old.as_ref(), difference.new.as_ref()));
    if !difference.inheritors.is_empty() {
        let names = difference.inheritors.iter().take(8);
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let more = difference.inheritors.len() - names.len();
        let more = match more {
            0 => String::new(),
            _ => format!(" and {more} more"),
        };
        text.push_str(&format!("  inherited by {}{more}\n", names.join(", ")));
    }
    text
}

/// The line with the places of a difference; empty if it has none.
fn places(old: Option<&Location>, new: Option<&Location>) -> String {
    let place = |location: &Location| {
        let position = location.position();
        format!(
            "{}:{}:{}",
            pkgres_manifest::diagnostic::Escaped::new(location.source().name()),
            position.line,
            position.column
        )
    };
    let places: Vec<String> = [old, new].into_iter().flatten().map(place).collect();
    if places.is_empty() {
        return String::new();
    }
    format!("  {}\n", places.join(" -> "))
}

/// Writes witnesses into folders below a folder.
fn write_witnesses<'witness>(
    folder: &Path,
    witnesses: impl Iterator<Item = &'witness Witness>,
    output: &mut Output,
) -> Result<()> {
    make_folder(&RealFileSystem, folder)?;
    let mut count = 0;
    for witness in witnesses {
        let files = witness.files.iter().map(|(path, text)| {
            Ok(NewTreeFile {
                path: PackagePath::parse(path).expect("a witness has plain paths"),
                bytes: text.clone().into_bytes(),
                access: Access::Data,
            })
        });
        write_tree(&RealFileSystem, &folder.join(&witness.folder), files)?;
        count += 1;
    }
    output.note(&format!(
        "Wrote {} to {}: `pkgres check --members` accepts each with the old version, and rejects it with the \
         new one",
        match count {
            1 => "1 witness".to_owned(),
            _ => format!("{count} witnesses"),
        },
        pkgres_manifest::diagnostic::Escaped::path(&folder)
    ));
    Ok(())
}
