//! Two releases of an ecosystem other than class packages: their classes are compared by their index records, and by what
//! their files declare.

use std::cmp::Reverse;
use std::path::Path;

use pkgres_checks::{Bump, Impact, RecordDifference, compare_declarations, compare_records};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{IndexRecord, PackageName};
use serde_json::json;

use super::places;
use super::registry_release::{NamedRelease, Released};
use crate::args::{Format as OutputFormat, SemverArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::named_packages::ecosystem_near;
use crate::output::Output;
use crate::read_manifest::folder_of;
use crate::read_release::{ReadRelease, read_path};
use crate::show::{self, counted};

/// Compares two releases if one of them belongs to an ecosystem other than class packages.
pub(super) fn run(
    args: &SemverArgs,
    context: &Context,
    output: &mut Output,
) -> Result<Option<Exit>> {
    let Some((old, new)) = read_both(&args.old, &args.new, context, output)? else {
        return Ok(None);
    };
    let format = old.format;
    let (old_name, new_name) = (&old.record.name, &new.record.name);
    if format.ecosystem() != new.format.ecosystem() || old_name != new_name {
        let message =
            format!("`{old_name}` and `{new_name}` are two packages, and not two versions of one");
        return Err(Failure::usage(message));
    }
    if args.witness.is_some() {
        let message = "--witness: only class packages have witnesses";
        return Err(Failure::usage(message));
    }
    let rules = format.rules();
    let found = compare_records(&old.record, &new.record, rules.inheritance);
    let mut differences = found.ok_or_else(|| {
        let message = format!("the classes of `{new_name}` are unknown");
        Diagnostic::error(Code::ClassesNotRead, message)
    })?;
    output.findings(&old.findings);
    output.findings(&new.findings);
    differences.extend(compare_declarations(&old.declarations, &new.declarations));
    // Both lists are in order.
    differences.sort_by_key(|difference| Reverse(difference.rule.impact()));
    let compared = ComparedRecords {
        old: old.record,
        new: new.record,
        differences,
        has_semantic_versions: rules.semantic_versions,
    };
    Ok(Some(compared.report(args, output)))
}

/// Reads both sides; `None` if they are class packages.
fn read_both(
    old: &str,
    new: &str,
    context: &Context,
    output: &mut Output,
) -> Result<Option<(ReadRelease, ReadRelease)>> {
    let read = |text| read_path(Path::new(text), context);
    let mut released = |text: &str, other: &ReadRelease, path: &str, is_new: bool| {
        let Some(named) = NamedRelease::parse(text, Some(other.format.ecosystem())) else {
            let message = "a release of another ecosystem is compared with a file, a folder or \
                           `NAME@VERSION` of a registry";
            return Err(Failure::usage(message));
        };
        let package = named.name().unwrap_or(&other.record.name);
        let folder = folder_of(Path::new(path));
        let found = Released::find(package, Some(&folder), Some(other.format), context)?;
        let found = found.ok_or_else(|| no_release(package))?;
        let below = (!is_new).then_some(&other.record.version);
        found.read(&named, below, output)
    };
    match (read(old)?, read(new)?) {
        (Some(old), Some(new)) => Ok(Some((old, new))),
        (Some(read), None) => {
            let new = released(new, &read, old, true)?;
            Ok(Some((read, new)))
        }
        (None, Some(read)) => {
            let old = released(old, &read, new, false)?;
            Ok(Some((old, read)))
        }
        (None, None) => {
            let ecosystem = ecosystem_near(Path::new("."), context);
            let parse = |text| NamedRelease::parse(text, ecosystem);
            let (Some(old), Some(new)) = (parse(old), parse(new)) else {
                return Ok(None);
            };
            let Some(package) = old.name().or(new.name()) else {
                return Ok(None);
            };
            if [&old, &new]
                .iter()
                .any(|side| side.name().is_some_and(|name| name != package))
            {
                return Ok(None);
            }
            let found = Released::find(package, None, None, context)?;
            let Some(found) = found else {
                if PackageName::is_name(package.as_str()) {
                    return Ok(None);
                }
                return Err(no_release(package).into());
            };
            let new = found.read(&new, None, output)?;
            let old = found.read(&old, Some(&new.record.version), output)?;
            Ok(Some((old, new)))
        }
    }
}

/// The error for a package that no registry has.
fn no_release(package: &PackageName) -> Diagnostic {
    let message = format!("no registry has a release of `{package}`");
    Diagnostic::error(Code::UnknownPackage, message)
}

/// Two releases with their differences.
struct ComparedRecords {
    old: IndexRecord,
    new: IndexRecord,
    differences: Vec<RecordDifference>,
    /// Whether the bump between the versions promises something.
    has_semantic_versions: bool,
}

impl ComparedRecords {
    fn report(&self, args: &SemverArgs, output: &mut Output) -> Exit {
        let verdict = self.verdict(args.deny_review);
        let passed = verdict.is_none();
        let title = format!(
            "{} {} -> {}",
            self.new.name, self.old.version, self.new.version
        );
        if output.is_json() {
            let differences = self.differences.iter().map(|difference| {
                json!({
                    "rule": difference.rule.id(),
                    "impact": difference.rule.impact().to_string(),
                    "class": difference.class,
                    "message": difference.message,
                    "old": difference.old.as_ref().map(show::place_json),
                    "new": difference.new.as_ref().map(show::place_json),
                })
            });
            output.json(&json!({
                "schema_version": 1,
                "status": if passed { "passed" } else { "failed" },
                "ecosystem": self.new.ecosystem.id(),
                "name": self.new.name,
                "old": self.old.version,
                "new": self.new.version,
                "differences": differences.collect::<Vec<_>>(),
            }));
        } else if output.format() == OutputFormat::Github {
            output.annotate(verdict.as_slice());
        } else {
            for difference in &self.differences {
                let message = Escaped::new(&difference.message).to_string();
                output.prose(&format!(
                    "{}: {message} ({})\n",
                    difference.rule.impact(),
                    difference.rule
                ));
                output.prose(&places(difference.old.as_ref(), difference.new.as_ref()));
            }
            if let Some(verdict) = &verdict {
                output.findings(std::slice::from_ref(verdict));
            } else if self.differences.is_empty() {
                // That there are none is the result.
                output.prose(&format!("{title}: no differences\n"));
            } else {
                let count = counted(self.differences.len(), "difference");
                output.note(&format!("{title}: {count}"));
            }
        }
        if passed { Exit::Done } else { Exit::Failed }
    }

    /// The error that the versions say something else than the differences.
    fn verdict(&self, denies_review: bool) -> Option<Diagnostic> {
        let (name, old, new) = (&self.new.name, &self.old.version, &self.new.version);
        let error = |message: String| Some(Diagnostic::error(Code::VersionBump, message));
        if old == new && !self.differences.is_empty() {
            let count = counted(self.differences.len(), "difference");
            return error(format!("{name} {new} has two contents, with {count}"));
        }
        let count = |impact: Impact| {
            let differences = self.differences.iter();
            differences
                .filter(|difference| difference.rule.impact() == impact)
                .count()
        };
        let (major, review) = (count(Impact::Major), count(Impact::Review));
        if self.has_semantic_versions && major > 0 && Bump::between(old, new) < Bump::Major {
            let what = counted(major, "difference");
            let verb = if major == 1 { "needs" } else { "need" };
            return error(format!("{name} {old} -> {new}: {what} {verb} a major bump"));
        }
        if denies_review && review > 0 {
            let what = counted(review, "difference");
            return error(format!("{name} {old} -> {new}: {what} to review"));
        }
        None
    }
}
