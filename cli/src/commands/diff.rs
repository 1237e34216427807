//! `pkgres diff`

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use pkgres_files::{Follow, is_pipe, read_file, read_file_or_pipe};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{LOCK_FILE, LockDiff, Lockfile, MANIFEST_FILE};
use serde_json::{Value, json};

use crate::args::{DiffArgs, Format};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::git::{NoRevision, folder_in_git, git, is_folder_of_revision, is_revision};
use crate::invocation::quoted;
use crate::lockfile::parse_lock;
use crate::output::Output;
use crate::project::member_hint;
use crate::read_manifest::{folder_of, locked_folders};
use crate::root::project_above;
use crate::root_file::recognize;
use crate::show::{self, counted};

pub(super) fn run(args: &DiffArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let above = project_above();
    let below = projects_below(args, above.as_deref())?;
    if !below.is_empty() {
        return compare_several(&below, args, context, output);
    }
    let here = above.as_deref().unwrap_or(Path::new("."));
    // The other side says of which project a revision is meant.
    let project_of = |other: Option<&str>| match other {
        None => Ok(LockPlace::Folder(here.to_owned())),
        Some(other) => LockPlace::of(other, here),
    };
    let before = lockfile(&args.before, &project_of(args.after.as_deref())?, context)?;
    let place = LockPlace::Folder(here.to_owned());
    let here = here.to_string_lossy();
    let after = match &args.after {
        // The lockfile in the folder was deleted.
        Some(after) if has_no_lockfile(after) && is_revision_with_lock(&args.before, &before) => {
            Lockfile::default()
        }
        Some(after) => lockfile(after, &project_of(Some(&args.before))?, context)?,
        // The lockfile was deleted.
        None if !place.is_locked() && is_revision_with_lock(&args.before, &before) => {
            Lockfile::default()
        }
        None => lockfile(&here, &place, context).map_err(|mut failure| {
            if !place.is_locked()
                && let Some(finding) = failure.findings.first_mut()
            {
                finding
                    .hints
                    .push("name a second lockfile, or run in a folder with one".to_owned());
                if !is_member(&here, context) {
                    finding.hints.extend(member_hint("diff", context));
                }
            }
            failure
        })?,
    };
    let diff = LockDiff::between(&before, &after);
    match output.format() {
        Format::Json => output.json(&json!({
            "schema_version": 1,
            "status": status(!diff.is_empty()),
            "changes": show::changes_json(&diff),
        })),
        Format::Markdown => output.data(&show::changes_markdown(&diff)),
        _ => {
            print_changes(&diff, output);
            note_count(show::changes(&diff).len(), output);
        }
    }
    Ok(exit(!diff.is_empty(), args))
}

/// Whether a side is a revision in which the project has a lockfile.
fn is_revision_with_lock(text: &str, lock: &Lockfile) -> bool {
    file_of(text).is_none() && *lock != Lockfile::default()
}

/// Whether a side is a project without a lockfile.
fn has_no_lockfile(text: &str) -> bool {
    file_of(text).is_some_and(|file| !file.exists())
}

fn is_member(folder: &str, context: &Context) -> bool {
    let workspace = context.workspace().ok().flatten();
    workspace.is_some_and(|workspace| workspace.has_member_at(Path::new(folder)))
}

fn exit(is_different: bool, args: &DiffArgs) -> Exit {
    if args.exit_code && is_different {
        Exit::Pending
    } else {
        Exit::Done
    }
}

fn status(is_different: bool) -> &'static str {
    if is_different { "different" } else { "same" }
}

fn print_changes(diff: &LockDiff, output: &mut Output) {
    for line in show::changes(diff) {
        output.changes(&format!("{} {}\n", line.mark, line.text));
    }
}

fn note_count(count: usize, output: &mut Output) {
    output.note(&match count {
        0 => "No differences".to_owned(),
        count => counted(count, "difference"),
    });
}

/// The projects to compare with a revision, or between two, in a folder above them, where no project is: those with a
/// lockfile on either side.
fn projects_below(args: &DiffArgs, above: Option<&Path>) -> Result<Vec<PathBuf>> {
    let is_project = [LOCK_FILE, MANIFEST_FILE]
        .iter()
        .any(|name| Path::new(name).exists());
    let revisions: Vec<&str> = [Some(args.before.as_str()), args.after.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    let is_file = |text: &str| text.contains(':') || file_of(text).is_some();
    if above.is_some() || is_project || revisions.iter().any(|text| is_file(text)) {
        return Ok(Vec::new());
    }
    let mut projects = BTreeSet::new();
    for revision in &revisions {
        if !is_revision(revision)? {
            return Ok(Vec::new());
        }
        let listed = git(&["ls-tree", "-r", "-z", "--name-only", revision])?.unwrap_or_default();
        for path in listed.split(|byte| *byte == 0) {
            let path = Path::new(OsStr::from_bytes(path));
            if path.file_name().is_some_and(|name| name == LOCK_FILE) {
                projects.extend(path.parent().map(Path::to_owned));
            }
        }
    }
    if args.after.is_none() {
        projects.extend(locked_folders()?);
    }
    if projects.is_empty() {
        let before = Escaped::shortened(revisions[0]);
        let message = match revisions.get(1) {
            Some(after) => {
                let after = Escaped::shortened(after);
                format!("neither `{before}` nor `{after}` has a lockfile in this folder or below")
            }
            None => format!(
                "neither `{before}` nor the working tree has a lockfile in this folder or below"
            ),
        };
        return Err(Diagnostic::error(Code::Usage, message)
            .hint("run in the folder of a project, or name files: `REVISION:PATH`")
            .into());
    }
    Ok(projects.into_iter().collect())
}

/// Compares the lockfiles of several projects between the two sides.
fn compare_several(
    projects: &[PathBuf],
    args: &DiffArgs,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let mut differences: Vec<(String, LockDiff)> = Vec::new();
    for project in projects {
        let place = LockPlace::Folder(project.clone());
        let context = &context.for_one(project);
        let before = lockfile(&args.before, &place, context)?;
        let now = project.join(LOCK_FILE);
        let after = match &args.after {
            Some(revision) => lockfile(revision, &place, context)?,
            None if now.exists() => lockfile(&now.to_string_lossy(), &place, context)?,
            // The project is gone.
            None => Lockfile::default(),
        };
        let shown = match project.to_string_lossy() {
            here if here.is_empty() => ".".to_owned(),
            below => below.into_owned(),
        };
        differences.push((shown, LockDiff::between(&before, &after)));
    }
    let is_different = differences.iter().any(|(_, diff)| !diff.is_empty());
    let changed = differences.iter().filter(|(_, diff)| !diff.is_empty());
    match output.format() {
        Format::Json => {
            let projects = differences.iter().map(|(project, diff)| {
                json!({
                    "project": project,
                    "status": status(!diff.is_empty()),
                    "changes": show::changes_json(diff),
                })
            });
            output.json(&json!({
                "schema_version": 1,
                "status": status(is_different),
                "projects": projects.collect::<Vec<Value>>(),
            }));
        }
        Format::Markdown => {
            let parts = changed.map(|(project, diff)| {
                let text = show::changes_markdown(diff);
                format!("### `{}`\n\n{text}", Escaped::new(project))
            });
            let parts: Vec<String> = parts.collect();
            if parts.is_empty() {
                output.data(&show::changes_markdown(&LockDiff::default()));
            } else {
                output.data(&parts.join("\n"));
            }
        }
        _ => {
            let mut count = 0;
            for (project, diff) in changed {
                output.data(&format!("{}:\n", Escaped::new(project)));
                print_changes(diff, output);
                count += show::changes(diff).len();
            }
            note_count(count, output);
        }
    }
    Ok(exit(is_different, args))
}

/// The file that an argument names as a path.
fn file_of(text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    if path.is_dir() {
        Some(path.join(LOCK_FILE))
    } else if path.is_file() && is_root(path) {
        Some(folder_of(path).join(LOCK_FILE))
    } else {
        (path.is_file() || is_pipe(path)).then(|| path.to_owned())
    }
}

/// Whether a file is the root of a project, and so names its lockfile.
fn is_root(path: &Path) -> bool {
    path.file_name() == Some(MANIFEST_FILE.as_ref())
        || recognize(path, None).is_ok_and(|root| root.is_some())
}

/// Where the lockfile is in a revision that is named alone.
enum LockPlace {
    /// In the folder of a project.
    Folder(PathBuf),
    /// At this path, as `REVISION:PATH` has it.
    Path(String),
}

impl LockPlace {
    /// Whether there is a lockfile in this folder now.
    fn is_locked(&self) -> bool {
        match self {
            Self::Folder(folder) => folder.join(LOCK_FILE).exists(),
            Self::Path(_) => false,
        }
    }

    /// The place of the lockfile that the other side names; `here` if that is a revision alone.
    fn of(other: &str, here: &Path) -> Result<Self> {
        if let Some(file) = file_of(other).filter(|file| !is_pipe(file)) {
            let folder = file.parent().unwrap_or(Path::new(""));
            return Ok(Self::Folder(folder.to_owned()));
        }
        if !other.contains(':') || is_pipe(Path::new(other)) {
            return Ok(Self::Folder(here.to_owned()));
        }
        let object = file_of_revision(other)?;
        let (_, path) = object.split_once(':').unwrap_or_default();
        Ok(Self::Path(path.to_owned()))
    }
}

/// The lockfile that an argument names. `place` says where that of a revision is.
fn lockfile(text: &str, place: &LockPlace, context: &Context) -> Result<Lockfile> {
    match file_of(text) {
        Some(file) => {
            let limit = context.read_options.limits.lock_bytes;
            // A pipe can be named, but is no lockfile of a folder.
            let bytes = if is_pipe(Path::new(text)) {
                read_file_or_pipe(&file, limit)?
            } else {
                read_file(&file, limit, Follow::Links)?
            };
            let lock = parse_lock(&file, &bytes, context);
            if file.file_name() == Some(LOCK_FILE.as_ref()) {
                return lock;
            }
            lock.map_err(without_commands)
        }
        None => lockfile_of_revision(text, place, context),
    }
}

/// The failure without hints: no command writes this file.
fn without_commands(mut failure: Failure) -> Failure {
    for finding in &mut failure.findings {
        finding.hints.clear();
    }
    failure
}

/// The file that `REVISION:PATH` names: the lockfile, if that is a folder.
fn file_of_revision(object: &str) -> Result<String> {
    Ok(if is_folder_of_revision(object)? {
        let slash = if object.ends_with([':', '/']) {
            ""
        } else {
            "/"
        };
        format!("{object}{slash}{LOCK_FILE}")
    } else {
        object.to_owned()
    })
}

/// The two revisions of a range as git writes it: `OLD..NEW` or `OLD...NEW`.
fn range_of(text: &str) -> Option<(&str, &str)> {
    let (old, new) = text.split_once("..")?;
    let new = new.strip_prefix('.').unwrap_or(new);
    let is_complete = !old.is_empty() && !new.is_empty() && !text.contains('/');
    is_complete.then_some((old, new))
}

/// The lockfile at a place in a git revision, or the file of `REVISION:PATH`.
fn lockfile_of_revision(text: &str, place: &LockPlace, context: &Context) -> Result<Lockfile> {
    let shown = Escaped::shortened(text).to_string();
    let (revision, object) = if let Some((revision, _)) = text.split_once(':') {
        (revision, file_of_revision(text)?)
    } else {
        let path = match place {
            LockPlace::Folder(project) => {
                let folder = folder_in_git(Some(project), "lockfile")?;
                format!("{folder}/{LOCK_FILE}")
            }
            LockPlace::Path(path) => path.clone(),
        };
        (text, format!("{text}:{path}"))
    };
    if !is_revision(revision)? {
        let message = if text == "HEAD" {
            // The default, which nobody typed.
            "there is no commit to compare with".to_owned()
        } else {
            format!("`{shown}` is neither a lockfile nor a git revision")
        };
        let range = range_of(text).map(|(old, new)| {
            let (old, new) = (quoted(Path::new(old)), quoted(Path::new(new)));
            format!("`pkgres diff {old} {new}` compares two revisions")
        });
        let unknown = match &range {
            Some(range) => range,
            None if text == "HEAD" => {
                "commit the lockfile first, or name two: `pkgres diff OLD NEW`"
            }
            None => {
                "a file, a folder with a pkgres.lock or a revision such as `HEAD~1` is expected"
            }
        };
        let without_repository =
            "`pkgres diff OLD NEW` compares two lockfiles, or folders with one";
        let hints = [without_repository, unknown];
        let finding = Diagnostic::error(Code::Usage, message);
        let finding = NoRevision::find()?.complete(finding, hints);
        return Err(finding.into());
    }
    match git(&["show", "--end-of-options", &object])? {
        Some(bytes) => {
            let lock = parse_lock(Path::new(&object), &bytes, context);
            lock.map_err(without_commands)
        }
        None if text.contains(':') => {
            let message = format!("there is no file `{shown}`");
            Err(Diagnostic::error(Code::Usage, message)
                .hint("`git ls-tree -r REVISION` lists the files of a revision")
                .into())
        }
        // Before the first lockfile nothing was locked.
        None => Ok(Lockfile::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_git_are_two_revisions() {
        for (text, range) in [
            ("v1..v2", Some(("v1", "v2"))),
            ("main...HEAD~1", Some(("main", "HEAD~1"))),
            ("v1..", None),
            ("v1.2", None),
            ("../pkgres.lock", None),
        ] {
            assert_eq!(range_of(text), range, "{text}");
        }
    }
}
