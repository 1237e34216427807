//! Two releases of another ecosystem than class packages: their classes are compared by their index records.

use std::path::Path;

use pkgres_checks::{Bump, Impact, RecordDifference, compare_records};
use pkgres_files::{Follow, read_file};
use pkgres_formats::{Format, FormatFile, ReleaseExtent};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{CLASS_PACKAGES, IndexRecord};
use serde_json::json;

use crate::args::{Format as OutputFormat, SemverArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::root::ForeignRoot;
use crate::show::{self, counted};

/// Compares two releases if one of them belongs to another ecosystem than class packages.
pub(super) fn run(
    args: &SemverArgs,
    context: &Context,
    output: &mut Output,
) -> Result<Option<Exit>> {
    let (old, new) = (read(&args.old, context)?, read(&args.new, context)?);
    let ((old, format), (new, other)) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (None, None) => return Ok(None),
        _ => {
            let message =
                "releases of other ecosystems are compared as files or folders, on both sides";
            return Err(Failure::usage(message));
        }
    };
    if format.ecosystem() != other.ecosystem() || old.name != new.name {
        let message = format!(
            "`{}` and `{}` are two packages, and not two versions of one",
            old.name, new.name
        );
        return Err(Failure::usage(message));
    }
    if args.witness.is_some() {
        let message = "--witness: only class packages have witnesses";
        return Err(Failure::usage(message));
    }
    let rules = format.rules();
    let differences = compare_records(&old, &new, rules.inheritance).ok_or_else(|| {
        let message = format!("the classes of `{}` are unknown", new.name);
        Diagnostic::error(Code::ClassesNotRead, message)
    })?;
    let compared = ComparedRecords {
        old,
        new,
        differences,
        has_semantic_versions: rules.semantic_versions,
    };
    Ok(Some(compared.report(args, output)))
}

/// The release that a file or a folder of another ecosystem is; `None` if it is none.
fn read(text: &str, context: &Context) -> Result<Option<(IndexRecord, &'static dyn Format)>> {
    let path = Path::new(text);
    if !path.exists() {
        return Ok(None);
    }
    if let Some(foreign) = ForeignRoot::find(path, context)? {
        return Ok(Some((foreign.root.record, foreign.format)));
    }
    let name = path.to_string_lossy();
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    let foreign = |format: &&'static dyn Format| {
        format.ecosystem() != CLASS_PACKAGES && format.is_release_name(&file_name)
    };
    let mut formats = pkgres_formats::ALL.iter().copied().filter(foreign);
    let Some(format) = formats.next().filter(|_| path.is_file()) else {
        return Ok(None);
    };
    let options = &context.read_options;
    let bytes = read_file(path, options.limits.archive_bytes, Follow::Links)?;
    let file = FormatFile {
        path: &name,
        bytes: &bytes,
    };
    if format.release_extent(&file) != Some(ReleaseExtent::File) {
        return Ok(None);
    }
    let (releases, _) = format.read_releases(&file, &(), options).into_result()?;
    let mut releases = releases.into_iter();
    Ok(releases.next().map(|release| (release.record, format)))
}

/// Two releases with their differences.
struct ComparedRecords {
    old: IndexRecord,
    new: IndexRecord,
    differences: Vec<RecordDifference>,
    /// Whether the step between the versions promises something.
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
        } else if output.format == OutputFormat::Github {
            output.data(&show::annotations(verdict.as_slice()));
        } else {
            for difference in &self.differences {
                let message = Escaped::new(&difference.message).to_string();
                output.data(&format!(
                    "{}: {message} ({})\n",
                    difference.rule.impact(),
                    difference.rule
                ));
            }
            if let Some(verdict) = &verdict {
                output.findings(std::slice::from_ref(verdict));
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
        let error = |message: String| Some(Diagnostic::error(Code::VersionStep, message));
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
            return error(format!("{name} {old} -> {new}: {what} {verb} a major step"));
        }
        if denies_review && review > 0 {
            let what = counted(review, "difference");
            return error(format!("{name} {old} -> {new}: {what} to review"));
        }
        None
    }
}
