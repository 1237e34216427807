//! `pkgres lock` on several projects: one after the other or beside each other, with one summary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, ReadOptions, Version};
use pkgres_resolver::{Locked, Root};
use serde_json::{Value, json};

use crate::args::LockArgs;
use crate::commands::fail_with;
use crate::commands::lock::lock_one;
use crate::commands::solve::{Problem, Solved};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::given;
use crate::output::{Output, Part};
use crate::parse::folder_of;
use crate::project::{Project, locked_for_update};
use crate::registries;
use crate::settings::{self, Origin, Settings};
use crate::show::counted;

/// Releases that several projects agreed on.
type Agreed = BTreeSet<(PackageName, Version)>;

/// Locks several projects, or checks their lockfiles.
pub(crate) fn lock_all(args: &LockArgs, output: &mut Output) -> Result<Exit> {
    let (manifests, one_solve) = members(args)?;
    refuse_other_settings(&manifests)?;
    let agreed = if one_solve && !args.check && !args.locked {
        match agree(args, &manifests, output)? {
            Ok(agreed) => Some(agreed),
            Err(exit) => return Ok(exit),
        }
    } else {
        None
    };
    let results = beside_each_other(args, &manifests, agreed.as_ref(), output);
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
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if exit == Exit::Done { "done" } else { "failed" },
            "projects": documents,
        }));
    } else {
        let verb = if args.check || args.locked {
            "Checked"
        } else if args.dry_run {
            "Looked at"
        } else {
            "Locked"
        };
        let projects = counted(manifests.len(), "project");
        output.note(&match failed {
            0 => format!("{verb} {projects}"),
            count => format!("{verb} {projects}, of which {count} failed"),
        });
    }
    Ok(exit)
}

/// The manifests, and whether they are solved together.
fn members(args: &LockArgs) -> Result<(Vec<PathBuf>, bool)> {
    if !args.workspace {
        return Ok((each_once(&args.manifest), args.one_solve));
    }
    let project = &settings::current().project;
    let Some(toml::Value::Table(table)) = project.table.get("workspace") else {
        return Err(Failure::usage(
            "no pkgres.toml has a table `[workspace]` with `members = [\"FOLDER\"]`",
        ));
    };
    let file = project.path.to_string_lossy();
    let wrong = || {
        let file = Escaped::new(&file);
        Failure::usage(format!(
            "{file}: workspace: `members` is a list of folders, of which the last part may be `*`"
        ))
    };
    let Some(toml::Value::Array(members)) = table.get("members") else {
        return Err(wrong());
    };
    let here = std::env::current_dir().unwrap_or_default();
    let folder = project
        .folder
        .strip_prefix(&here)
        .unwrap_or(&project.folder);
    let mut manifests = Vec::new();
    for member in members {
        let member = member.as_str().ok_or_else(wrong)?;
        match member.strip_suffix('*') {
            None => manifests.push(folder.join(member)),
            Some(parent) if parent.is_empty() || parent.ends_with('/') => {
                manifests.extend(packages_in(&folder.join(parent)));
            }
            Some(_) => return Err(wrong()),
        }
    }
    if manifests.is_empty() {
        return Err(wrong());
    }
    let one_solve = table.get("one-solve").and_then(toml::Value::as_bool);
    Ok((
        each_once(&manifests),
        args.one_solve || one_solve == Some(true),
    ))
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

/// The folders of a folder that hold a package, sorted.
fn packages_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    });
    let mut found: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| folder.join(entry.file_name()))
        .filter(|path| path.join(pkgres_manifest::MANIFEST_FILE).is_file())
        .collect();
    found.sort();
    found
}

/// Solves all projects together; gives what they agree on, or how the run ends if they cannot.
fn agree(
    args: &LockArgs,
    manifests: &[PathBuf],
    output: &mut Output,
) -> Result<std::result::Result<Agreed, Exit>> {
    let options: ReadOptions = registries::read_options(&args.registry)?;
    let mut joint: Option<Problem> = None;
    let mut preferred = Agreed::new();
    for manifest in manifests {
        let project = Project::open(manifest, &options)?;
        if !args.ignore_lock
            && let Some(bytes) = project.lock_bytes(&options)?
        {
            let (locked, _) = locked_for_update(&project.lock_path(), &bytes, &options)?;
            let releases = locked.releases();
            preferred.extend(releases.map(|(name, version)| (name.clone(), version.clone())));
        }
        match &mut joint {
            None => {
                joint = Some(Problem::of_project(
                    &project,
                    &args.registry,
                    &args.policy,
                    &options,
                )?);
            }
            Some(joint) => {
                let record = project.package.index_record();
                joint.request.roots.push(Root::Package(Box::new(record)));
            }
        }
    }
    let Some(mut joint) = joint else {
        return Ok(Ok(Agreed::new()));
    };
    joint.request.locked = Locked::preferring(preferred);
    Ok(match joint.solve(output)? {
        Solved::Yes(resolution, _) => {
            let roots = resolution.roots().iter();
            let roots = roots.map(|root| (root.name.clone(), root.version.clone()));
            let packages = resolution.packages().iter();
            let packages = packages.map(|found| (found.name.clone(), found.version.clone()));
            Ok(roots.chain(packages).collect())
        }
        Solved::No(exit) => Err(exit),
    })
}

/// Locks each project by itself, on all processors.
fn beside_each_other(
    args: &LockArgs,
    manifests: &[PathBuf],
    agreed: Option<&Agreed>,
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
                exit = match lock_one(args, manifest, agreed, output) {
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
