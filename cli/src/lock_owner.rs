//! Roots in one folder share the lockfile there: a command for one of them must not replace the lockfile of another.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{MANIFEST_FILE, PackageName};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::invocation::quoted;
use crate::project::Project;
use crate::root_file::roots_in;

/// The hint that each root needs a folder of its own.
pub(crate) const OWN_FOLDER: &str =
    "files in one folder share `pkgres.lock`: move one of them to a folder of its own";

/// The root of a lockfile beside a project that is another root, and is still in the folder. A root that was renamed is
/// not there under its old name.
pub(crate) fn other_root<'lock>(
    project: &Project,
    roots: impl IntoIterator<Item = &'lock PackageName>,
    context: &Context,
) -> Option<&'lock PackageName> {
    let roots: Vec<&PackageName> = roots.into_iter().collect();
    if roots.is_empty() || roots.contains(&project.name()) {
        return None;
    }
    let folder = &project.folder;
    let manifest = folder.join(MANIFEST_FILE);
    let mut paths: Vec<_> = roots_in(folder, None)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    if manifest.is_file() {
        paths.push(manifest);
    }
    paths.retain(|path| path.file_name() != project.manifest.file_name());
    paths.iter().find_map(|path| {
        let other = Project::open(path, context).ok()?;
        roots.iter().copied().find(|root| *root == other.name())
    })
}

/// Fails if the lockfile beside a project is that of another root that is still there.
pub(crate) fn require_own_lock<'lock>(
    project: &Project,
    roots: impl IntoIterator<Item = &'lock PackageName>,
    context: &Context,
) -> Result<()> {
    let Some(other) = other_root(project, roots, context) else {
        return Ok(());
    };
    let path = project.lock_path();
    let message = format!(
        "{} is the lockfile of {other}, and not of {}",
        Escaped::path(&path),
        project.name()
    );
    let remove = format!(
        "if {other} needs it no longer, remove it first: `rm {}`",
        quoted(&path)
    );
    Err(Failure {
        findings: vec![
            Diagnostic::error(Code::LockStale, message)
                .hint(OWN_FOLDER)
                .hint(remove),
        ],
        exit: Exit::Failed,
    })
}
