//! Lock modes: `--locked`, which wants a lockfile that fits, and `--frozen`, which takes it as it is.

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{LOCK_FILE, MANIFEST_FILE, PackageManifest, ReadOptions, Version};
use pkgres_registry_client::check_lock;
use pkgres_resolver::{LockCheck, Resolution, frozen};

use crate::args::{SolveArgs, WriteArgs};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::parse::folder_of;
use crate::problem::Problem;
use crate::project::{Project, lock_missing_in_mode, parse_lock, read_lock_bytes};
use crate::{given, settings, show};

/// Fails if there is no lockfile, or one that is out of date.
pub(crate) fn require_fitting_lock(
    project: &Project,
    problem: &Problem,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<()> {
    let lock = project.existing_lockfile(options)?;
    let check = LockCheck::new(problem.request.clone(), lock);
    let progress = output.progress("Checking the lockfile");
    let report = check_lock(check, &problem.registries);
    drop(progress);
    let report = report?;
    output.findings(&problem.registries.take_findings());
    match show::staleness_failure(&report.stale) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// Refuses to leave a lockfile aside that a mode binds to. On the command line the two exclude each
/// other; the mode can also come from a setting.
pub(crate) fn refuse_ignored_lock(args: &SolveArgs, mode: &str) -> Result<()> {
    if !args.ignore_lock {
        return Ok(());
    }
    let from = settings::current().from(mode);
    Err(Failure::usage(format!(
        "`--ignore-lock` does not go with `--{mode}`{from}"
    )))
}

/// What the lockfile holds, as it stands. The manifest is read for the version of the root alone,
/// and need not be there.
pub(crate) fn take_frozen(args: &SolveArgs, options: &ReadOptions) -> Result<Resolution> {
    refuse_ignored_lock(args, "frozen")?;
    let manifest = args.manifest.as_path();
    let folder = folder_of(manifest);
    let path = folder.join(LOCK_FILE);
    let Some(bytes) = read_lock_bytes(&path, options)? else {
        return Err(lock_missing_in_mode("frozen"));
    };
    let lock = parse_lock(&path, &bytes, options)?;
    let manifest = if manifest.is_dir() {
        manifest.join(MANIFEST_FILE)
    } else {
        manifest.to_owned()
    };
    let manifest = read_file(&manifest, options.limits.manifest_bytes, Follow::Links).ok();
    let manifest = manifest.and_then(|bytes| {
        PackageManifest::read("manifest", &bytes, options)
            .into_result()
            .ok()
    });
    let (root, version) = match (manifest, lock.roots.len()) {
        (Some((manifest, _)), _) => (manifest.name.value, manifest.version),
        (None, 1) => {
            let name = lock.roots.keys().next().expect("there is one");
            (name.clone(), Version::ZERO)
        }
        (None, _) => {
            return Err(Failure::usage(
                "the lockfile is about several packages: the manifest of one has to be named",
            ));
        }
    };
    frozen(&lock, &root, &version).map_err(|error| Failure {
        findings: vec![
            Diagnostic::error(Code::LockStale, error.to_string())
                .hint(format!("`{}` brings it up to date", given::command("lock"))),
        ],
        exit: Exit::Failed,
    })
}

/// Refuses to change the lockfile where a mode says that it stays.
pub(crate) fn refuse_modes(command: &str, write: &WriteArgs) -> Result<()> {
    for (is_set, key) in [(write.locked, "locked"), (write.frozen, "frozen")] {
        if is_set {
            let from = settings::current().from(key);
            return Err(Failure::usage(format!(
                "`pkgres {command}` is there to change the lockfile, and `--{key}` is set{from}"
            )));
        }
    }
    Ok(())
}
