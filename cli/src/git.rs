//! Reads revisions, and files in them, with the system's git.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

use crate::failure::{Failure, Result};
use crate::paths::without_detours;

/// The variables that bind git to one repository and to places in it. git sets them for hooks, and takes the current
/// folder for the top of the repository if only `GIT_DIR` is set. Of the other variables that
/// `git rev-parse --local-env-vars` lists, some allow git to read a repository at all (`safe.directory`), and some name
/// the objects that a hook of a server has to judge.
const PLACES_OF_REPOSITORY: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_CONFIG",
];

/// git for the repository of the current folder.
fn command() -> Command {
    let mut command = Command::new("git");
    for variable in PLACES_OF_REPOSITORY {
        command.env_remove(variable);
    }
    command
}

/// The output of git; `None` if it fails.
pub(crate) fn git(arguments: &[&str]) -> Result<Option<Vec<u8>>> {
    let output = command().args(arguments).output();
    let output = output.map_err(|error| not_run(&error))?;
    Ok(output.status.success().then_some(output.stdout))
}

fn not_run(error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot run git, which reads revisions: {error}"))
}

/// Why git finds no revision of a name.
pub(crate) enum NoRevision {
    /// The current folder is in no repository.
    NoRepository,
    /// git does not read the repository: its own reason, and the command that it suggests.
    Refused {
        reason: String,
        command: Option<String>,
    },
    /// The clone has only the newest commits.
    Shallow,
    /// There is no such revision.
    Unknown,
}

impl NoRevision {
    /// Asks git about the repository of the current folder.
    pub(crate) fn find() -> Result<Self> {
        let output = command()
            .args(["rev-parse", "--is-shallow-repository"])
            .env("LC_ALL", "C")
            .output()
            .map_err(|error| not_run(&error))?;
        if output.status.success() {
            let is_shallow = output.stdout.trim_ascii() == b"true";
            return Ok(if is_shallow {
                Self::Shallow
            } else {
                Self::Unknown
            });
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let shown = |line: &str| Escaped::shortened(line.trim()).to_string();
        let reason = text.lines().find_map(|line| line.strip_prefix("fatal: "));
        let Some(reason) = reason.filter(|reason| !reason.starts_with("not a git repository"))
        else {
            return Ok(Self::NoRepository);
        };
        let mut commands = text.lines().map(str::trim);
        let command = commands.find(|line| line.starts_with("git config "));
        Ok(Self::Refused {
            reason: shown(reason),
            command: command.map(shown),
        })
    }

    /// The error for a text that names no revision, with the reason; `hints` are for a folder that is in no repository,
    /// and for a name that git does not know.
    pub(crate) fn complete(self, mut finding: Diagnostic, hints: [&str; 2]) -> Diagnostic {
        let [without_repository, unknown] = hints;
        let (reason, hint) = match self {
            Self::NoRepository => (
                Some("this folder is not in a git repository".to_owned()),
                Some(without_repository.to_owned()),
            ),
            Self::Refused { reason, command } => (
                Some(format!("git says: {reason}")),
                command.map(|command| format!("`{command}` makes git read it")),
            ),
            Self::Shallow => (
                Some("this clone is shallow, and has only the newest commits".to_owned()),
                Some(
                    "`git fetch --unshallow` gets the others; in a workflow, `fetch-depth: 0` of the checkout does"
                        .to_owned(),
                ),
            ),
            Self::Unknown => (None, Some(unknown.to_owned())),
        };
        if let Some(reason) = reason {
            finding.message.push_str(&format!(": {reason}"));
        }
        match hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        }
    }
}

/// Whether a text names a commit.
pub(crate) fn is_revision(text: &str) -> Result<bool> {
    // git would parse it as an option.
    if text.starts_with('-') {
        return Ok(false);
    }
    let commit = format!("{text}^{{commit}}");
    let arguments = [
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &commit,
    ];
    Ok(git(&arguments)?.is_some())
}

/// Whether a text such as `REVISION:PATH` names a folder.
pub(crate) fn is_folder_of_revision(text: &str) -> Result<bool> {
    let kind = if text.starts_with('-') {
        None
    } else {
        git(&["cat-file", "-t", text])?
    };
    Ok(kind.is_some_and(|kind| kind.trim_ascii() == b"tree"))
}

/// A folder as git takes it after `REVISION:`, relative to the current one. `what` says what of it is read, for the error
/// if it is elsewhere.
pub(crate) fn folder_in_git(folder: Option<&Path>, what: &str) -> Result<String> {
    let is_here = |folder: &Path| folder.as_os_str().is_empty() || folder == Path::new(".");
    let folder = folder.filter(|folder| !is_here(folder));
    let Some(folder) = folder else {
        return Ok(".".to_owned());
    };
    let shown = folder.to_string_lossy();
    if folder.is_relative() && !is_linked(folder) {
        return Ok(format!("./{shown}"));
    }
    path_in_repository(folder)?.ok_or_else(|| {
        let message = format!(
            "{}: a revision has only {what}s of the repository of the current folder",
            Escaped::shortened(&shown)
        );
        let hint = format!("write `REVISION:PATH` for the {what} at a path of the repository");
        Diagnostic::error(Code::Usage, message).hint(hint).into()
    })
}

/// Whether a path leads through links, which git does not follow.
fn is_linked(folder: &Path) -> bool {
    let current = std::env::current_dir().and_then(|folder| folder.canonicalize());
    let is_plain = current.ok().zip(folder.canonicalize().ok());
    is_plain.is_some_and(|(current, target)| target != without_detours(&current.join(folder)))
}

/// The path of a folder from the current one as git takes it, if both are in one repository.
fn path_in_repository(folder: &Path) -> Result<Option<String>> {
    let Ok(folder) = folder.canonicalize() else {
        return Ok(None);
    };
    let lines = |answer: Option<Vec<u8>>| {
        let text = String::from_utf8_lossy(&answer?).into_owned();
        let (repository, path) = text.split_once('\n')?;
        Some((
            repository.to_owned(),
            path.trim_end_matches(['\n', '/']).to_owned(),
        ))
    };
    let there = folder.to_string_lossy();
    let there = git(&[
        "-C",
        &there,
        "rev-parse",
        "--show-toplevel",
        "--show-prefix",
    ])?;
    let here = git(&["rev-parse", "--show-toplevel", "--show-cdup"])?;
    // Without a repository here, there is no revision either, which is reported.
    let Some((own, up)) = lines(here) else {
        return Ok(Some(".".to_owned()));
    };
    Ok(lines(there).and_then(|(repository, down)| {
        let parts = [".", &up, &down]
            .into_iter()
            .filter(|part| !part.is_empty());
        (repository == own).then(|| parts.collect::<Vec<_>>().join("/"))
    }))
}

/// The files of a revision, which one git process reads.
pub(crate) struct RevisionFiles {
    git: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// The revision and the folder, as `REVISION:FOLDER`.
    folder: String,
}

impl RevisionFiles {
    /// The files below a folder, which is given as `REVISION:FOLDER`.
    pub(crate) fn below(folder: String) -> Result<Self> {
        let spawned = command()
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut git = spawned.map_err(|error| not_run(&error))?;
        let (requests, answers) = (git.stdin.take(), git.stdout.take());
        let (Some(requests), Some(answers)) = (requests, answers) else {
            return Err(Failure::usage("cannot talk to git"));
        };
        Ok(Self {
            git,
            requests,
            answers: BufReader::new(answers),
            folder,
        })
    }

    /// The name of a file in messages.
    pub(crate) fn shown(&self, path: &str) -> String {
        format!("{}/{path}", self.folder)
    }

    /// The bytes of a file, at most one more than `limit`; `None` if there is no such file.
    pub(crate) fn read(&mut self, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        let shown = self.shown(path);
        let failed = |error: std::io::Error| {
            let shown = Escaped::shortened(&shown).to_string();
            Diagnostic::error(Code::File, format!("cannot read {shown} with git: {error}"))
        };
        // A request is a line.
        if shown.contains('\n') {
            return Ok(None);
        }
        writeln!(self.requests, "{shown}").map_err(failed)?;
        self.requests.flush().map_err(failed)?;
        let mut head = String::new();
        self.answers.read_line(&mut head).map_err(failed)?;
        let mut words = head.trim_end().rsplit(' ');
        let (size, kind) = (words.next(), words.next());
        let Some(size) = size.and_then(|size| size.parse::<u64>().ok()) else {
            // `NAME missing`
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let wanted = size.min(limit.saturating_add(1));
        let mut answer = (&mut self.answers).take(wanted);
        answer.read_to_end(&mut bytes).map_err(failed)?;
        // The rest, and the end of the line after it.
        let mut rest = (&mut self.answers).take(size - wanted + 1);
        std::io::copy(&mut rest, &mut std::io::sink()).map_err(failed)?;
        Ok((kind == Some("blob")).then_some(bytes))
    }
}

impl Drop for RevisionFiles {
    fn drop(&mut self) {
        // It waits for requests, and holds nothing that has to be kept.
        let _ = self.git.kill();
        let _ = self.git.wait();
    }
}
