//! `pkgres lock` on several projects: one after the other or beside each other, with one summary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use serde_json::{Value, json};

use super::agreement::agree;
use super::proposal::Agreed;
use crate::args::LockArgs;
use crate::commands::fail_with;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::given;
use crate::output::{Output, Part};
use crate::parse::folder_of;
use crate::settings::{self, Origin, Settings};
use crate::show::{self, counted};
use crate::{members, registries};

/// Locks several projects, or checks their lockfiles: `each` does that with one, of which there may be
/// something that all agreed on.
pub(super) fn lock_all(
    args: &LockArgs,
    output: &mut Output,
    each: impl Fn(&Path, Option<&Agreed>, &mut Output) -> Result<Exit> + Sync,
) -> Result<Exit> {
    let (manifests, one_solve) = named(args)?;
    refuse_other_settings(&manifests)?;
    members::check(&registries::read_options(&args.registry)?)?;
    let agreed = if one_solve {
        match agree(args, &manifests, output)? {
            Ok(agreed) => Some(agreed),
            Err(exit) => return Ok(exit),
        }
    } else {
        None
    };
    let each = |manifest: &Path, output: &mut Output| {
        let releases = agreed.as_ref().map(|agreed| &agreed.releases);
        each(manifest, releases, output)
    };
    let results = beside_each_other(&manifests, each, output);
    let mut exit = Exit::Done;
    let mut documents = Vec::new();
    let mut failed = 0;
    for (manifest, (part, ended)) in manifests.iter().zip(results) {
        exit = exit.max(ended);
        failed += usize::from(ended != Exit::Done);
        if output.is_json() {
            let result: Value = serde_json::from_str(&part.data).unwrap_or(Value::Null);
            let manifest = manifest.to_string_lossy();
            documents.push(json!({"manifest": manifest, "exit": ended as u8, "result": result}));
            continue;
        }
        output.data(&part.data);
        let shown = manifest.to_string_lossy();
        if !part.said.is_empty() {
            output.note(&format!("{}:", Escaped::new(&shown)));
            output.say(part.said.trim_end());
        }
    }
    let together = agreed.and_then(|agreed| agreed.resolution);
    if output.is_json() {
        let mut document = json!({
            "schema_version": 1,
            "status": if exit == Exit::Done { "done" } else { "failed" },
            "projects": documents,
        });
        if let Some(together) = together {
            document["side_by_side"] = json!(show::side_by_side_json(&together));
        }
        output.json(&document);
    } else {
        let verb = if args.check || args.locked {
            "Checked"
        } else if args.dry_run {
            "Looked at"
        } else {
            "Locked"
        };
        output.notes(
            together
                .iter()
                .flat_map(|together| show::side_by_side(together)),
        );
        let projects = counted(manifests.len(), "project");
        output.note(&match failed {
            0 => format!("{verb} {projects}"),
            // What failed was looked at and checked, but not locked.
            count if verb == "Locked" => {
                let done = manifests.len() - count;
                format!("{verb} {done} of {projects}; {count} failed")
            }
            count => format!("{verb} {projects}, of which {count} failed"),
        });
    }
    Ok(exit)
}

/// The manifests, and whether they are solved together.
fn named(args: &LockArgs) -> Result<(Vec<PathBuf>, bool)> {
    if !args.workspace {
        return Ok((each_once(&args.manifest), args.one_solve));
    }
    let Some(workspace) = settings::workspace(&settings::current().project)? else {
        return Err(Failure::usage(
            "no pkgres.toml has a table `[workspace]` with `members = [\"FOLDER\"]`",
        ));
    };
    let one_solve = args.one_solve || workspace.one_solve;
    Ok((each_once(&workspace.members), one_solve))
}

/// Each project once, however it is written: two that write one lockfile would be in each other's way.
fn each_once(manifests: &[PathBuf]) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let is_new = |manifest: &&PathBuf| {
        let folder = folder_of(manifest);
        seen.insert(folder.canonicalize().unwrap_or(folder))
    };
    manifests.iter().filter(is_new).cloned().collect()
}

/// Refuses projects with settings of their own: those of a run are the ones of the first project, and
/// what they say of versions would be locked for the others as well.
fn refuse_other_settings(manifests: &[PathBuf]) -> Result<()> {
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let ours = &settings::current().project.path;
    for manifest in manifests {
        let theirs = Settings::nearest(&folder_of(manifest))?.path;
        if place(&theirs) == place(ours) {
            continue;
        }
        let shown = manifest.to_string_lossy();
        let shown = Escaped::new(&shown);
        let of = |path: &Path| {
            if path.as_os_str().is_empty() {
                return "no settings".to_owned();
            }
            format!("the settings of {}", Origin::File(path.to_owned()))
        };
        let message = format!("{shown} has {}, and this run {}", of(&theirs), of(ours));
        return Err(Diagnostic::error(Code::Usage, message)
            .hint(format!(
                "lock it by itself: `{}`",
                given::command_on("lock", manifest)
            ))
            .into());
    }
    Ok(())
}

/// Does something with each project by itself, on all processors.
fn beside_each_other(
    manifests: &[PathBuf],
    each: impl Fn(&Path, &mut Output) -> Result<Exit> + Sync,
    output: &mut Output,
) -> Vec<(Part, Exit)> {
    let manner = output.manner();
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, (Part, Exit))>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(manifest) = manifests.get(at) else {
                return;
            };
            let mut exit = Exit::Done;
            let part = Output::keep(manner, |output| {
                exit = match each(manifest, output) {
                    Ok(exit) => exit,
                    Err(failure) => fail_with(&failure, output),
                };
            });
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((at, (part, exit)));
        }
    };
    let progress = output.progress("Locking");
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        for _ in 0..threads.min(manifests.len()) {
            scope.spawn(work);
        }
    });
    drop(progress);
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
