//! `pkgres diff`

use std::path::{Path, PathBuf};

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{LOCK_FILE, LockDiff, Lockfile};
use serde_json::json;

use crate::args::{DiffArgs, Format};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::git::{folder_in_git, git, is_revision};
use crate::lockfile::parse_lock;
use crate::manifest_file::project_above;
use crate::output::Output;
use crate::project::member_hint;
use crate::show::{self, counted};

pub(super) fn run(args: &DiffArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    // The other side says of which project a revision is meant.
    let project = args.after.as_deref().and_then(file_of);
    let above = project_above();
    let project = match &args.after {
        Some(_) => project.as_deref().and_then(Path::parent),
        None => above.as_deref(),
    };
    let before = lockfile(&args.before, project, context)?;
    let here = above.as_deref().unwrap_or(Path::new("."));
    let here = here.to_string_lossy();
    let after = match &args.after {
        Some(after) => lockfile(after, None, context)?,
        None => lockfile(&here, None, context).map_err(|mut failure| {
            if !Path::new(&*here).join(LOCK_FILE).exists()
                && let Some(finding) = failure.findings.first_mut()
            {
                finding
                    .hints
                    .push("name a second lockfile, or run in a folder with one".to_owned());
                finding.hints.extend(member_hint("diff", context));
            }
            failure
        })?,
    };
    let diff = LockDiff::between(&before, &after);
    let exit = if args.exit_code && !diff.is_empty() {
        Exit::Pending
    } else {
        Exit::Done
    };
    match output.format {
        Format::Json => output.json(&json!({
            "schema_version": 1,
            "status": if diff.is_empty() { "same" } else { "different" },
            "changes": show::changes_json(&diff),
        })),
        Format::Markdown => output.data(&show::changes_markdown(&diff)),
        _ => {
            let lines = show::changes(&diff);
            for line in &lines {
                output.changes(&format!("{} {}\n", line.mark, line.text));
            }
            output.note(&match lines.len() {
                0 => "No differences".to_owned(),
                count => counted(count, "difference"),
            });
        }
    }
    Ok(exit)
}

/// The file that an argument names as a path.
fn file_of(text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    if path.is_dir() {
        Some(path.join(LOCK_FILE))
    } else {
        path.is_file().then(|| path.to_owned())
    }
}

/// The lockfile that an argument names. Of a revision, it is that of the folder of the `project`, or else of the current
/// folder.
fn lockfile(text: &str, project: Option<&Path>, context: &Context) -> Result<Lockfile> {
    match file_of(text) {
        Some(file) => {
            let limit = context.read_options.limits.lock_bytes;
            let bytes = read_file(&file, limit, Follow::Links)?;
            parse_lock(&file, &bytes, context)
        }
        None => lockfile_of_revision(text, project, context),
    }
}

/// The lockfile of a project in a git revision, or the file of `REVISION:PATH`.
fn lockfile_of_revision(text: &str, project: Option<&Path>, context: &Context) -> Result<Lockfile> {
    let shown = Escaped::shortened(text).to_string();
    let (revision, object) = if let Some((revision, _)) = text.split_once(':') {
        (revision, text.to_owned())
    } else {
        let folder = folder_in_git(project, "lockfile")?;
        (text, format!("{text}:{folder}/{LOCK_FILE}"))
    };
    if !is_revision(revision)? {
        let message = format!("`{shown}` is neither a lockfile nor a git revision");
        return Err(Diagnostic::error(Code::Usage, message)
            .hint("a file, a folder with a pkgres.lock or a revision such as `HEAD~1` is expected")
            .into());
    }
    match git(&["show", "--end-of-options", &object])? {
        Some(bytes) => parse_lock(Path::new(&object), &bytes, context),
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
