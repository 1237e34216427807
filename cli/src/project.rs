//! The root of a run: a package folder with its manifest and lockfile.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_files::{FileError, Follow, read_file, read_file_below};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    LOCK_FILE, Lockfile, MANIFEST_FILE, Package, PackageManifest, PackagePath, ReadOptions,
};

use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::{given, settings};

/// A root and where it lies.
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    /// The manifest.
    pub(crate) manifest: PathBuf,
    pub(crate) package: Arc<Package>,
}

/// A root of which the manifest was found, and not yet understood.
pub(crate) struct Found {
    pub(crate) folder: PathBuf,
    manifest: PathBuf,
    /// What is in the manifest.
    pub(crate) bytes: Vec<u8>,
    /// Whether that is what the file holds, and not what is to be written.
    is_written: bool,
}

impl Found {
    /// Finds the root that a path names: a manifest, or the folder of one.
    pub(crate) fn at(path: &Path, options: &ReadOptions) -> Result<Self> {
        let (folder, manifest) = if path.is_dir() {
            (path.to_owned(), path.join(MANIFEST_FILE))
        } else {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            (folder.unwrap_or(Path::new(".")).to_owned(), path.to_owned())
        };
        let limit = options.limits.manifest_bytes;
        let bytes = read_file(&manifest, limit, Follow::Links).map_err(|error| {
            let mut finding = error.to_diagnostic();
            if error.is_not_found() {
                for hint in hints_of_missing() {
                    finding = finding.hint(hint);
                }
            }
            Failure::from(finding)
        })?;
        Ok(Self {
            folder,
            manifest,
            bytes,
            is_written: true,
        })
    }

    /// The bytes of a file of the package.
    pub(crate) fn file(
        &self,
        path: &PackagePath,
        options: &ReadOptions,
    ) -> std::result::Result<Vec<u8>, FileError> {
        let limit = options.limits.class_file_bytes;
        read_file_below(&self.folder, Path::new(path.as_str()), limit)
    }

    /// Reads the package; `see` is shown each file that it has beside the manifest.
    pub(crate) fn read(
        self,
        options: &ReadOptions,
        mut see: impl FnMut(&PackagePath, &[u8]),
    ) -> Result<Project> {
        let mut name = self.manifest.to_string_lossy().into_owned();
        if !self.is_written {
            // Its lines are not those of the file.
            name.push_str(" (edited)");
        }
        let (manifest, _) = PackageManifest::read(&name, &self.bytes, options).into_result()?;
        // What else lies in the folder is of no interest here, and there can be much of it.
        let package =
            Package::assemble_from(manifest, options, |path| match self.file(path, options) {
                Ok(bytes) => {
                    see(path, &bytes);
                    Ok(Some(bytes))
                }
                Err(error) if error.is_not_found() => Ok(None),
                Err(error) => Err(error.to_diagnostic()),
            });
        let (package, _) = package.into_result()?;
        Ok(Project {
            folder: self.folder,
            manifest: self.manifest,
            package: Arc::new(package),
        })
    }

    /// Where the lockfile is, or would be.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.folder.join(LOCK_FILE)
    }
}

/// How many members of a workspace are named.
const NAMED_MEMBERS: usize = 3;

/// What can be done where there is no manifest. At the root of a workspace those of its members are meant.
fn hints_of_missing() -> Vec<String> {
    let workspace = settings::workspace(&settings::current().project);
    let workspace = workspace.ok().flatten().filter(|_| !given::has_project());
    let Some(workspace) = workspace else {
        return vec!["give the path of a manifest, or run in its folder".to_owned()];
    };
    let members = workspace.members.iter();
    let members: Vec<&PathBuf> = members
        .filter(|member| member.join(MANIFEST_FILE).is_file())
        .collect();
    if given::is_about_workspace() || members.is_empty() {
        return vec![
            "`members` in pkgres.toml names a folder that has no manifest.yaml".to_owned(),
        ];
    }
    let mut names: Vec<String> = members
        .iter()
        .take(NAMED_MEMBERS)
        .map(|member| format!("`{}`", given::quoted(member)))
        .collect();
    if let Some(rest) = members.len().checked_sub(NAMED_MEMBERS + 1) {
        names.push(format!("{} more", rest + 1));
    }
    let mut hint = format!(
        "this is a workspace, and a member is meant: {}",
        names.join(", ")
    );
    if let Some(command) = members
        .first()
        .and_then(|first| given::this_command_on(first))
    {
        hint.push_str(&format!("; as in `{command}`"));
    }
    let mut hints = vec![hint];
    for command in ["lock", "update"] {
        if given::is(command) {
            let command = given::command(&format!("{command} --workspace"));
            hints.push(format!("`{command}` is about all of them"));
        }
    }
    hints
}

/// How to run something in a member, if there are any.
pub(crate) fn hint_of_member(command: &str) -> Option<String> {
    let workspace = settings::workspace(&settings::current().project).ok()??;
    let member = given::quoted(workspace.members.first()?);
    Some(format!(
        "this is a workspace: `pkgres -C {member} {command}` is about a member"
    ))
}

impl Project {
    /// Reads the root that a path names: a manifest, or the folder of one.
    pub(crate) fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        Found::at(path, options)?.read(options, |_, _| {})
    }

    /// The same root with another manifest, which need not be on the disk.
    pub(crate) fn with_manifest(&self, text: &str, options: &ReadOptions) -> Result<Self> {
        let found = Found {
            folder: self.folder.clone(),
            manifest: self.manifest.clone(),
            bytes: text.as_bytes().to_vec(),
            is_written: false,
        };
        found.read(options, |_, _| {})
    }

    /// Where the lockfile is, or would be.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.folder.join(LOCK_FILE)
    }

    /// The bytes of the lockfile, if there is one.
    pub(crate) fn lock_bytes(&self, options: &ReadOptions) -> Result<Option<Vec<u8>>> {
        read_lock_bytes(&self.lock_path(), options)
    }

    /// Likewise of one that is to be replaced, whatever is in it; and what there is to say about it.
    pub(crate) fn lock_to_replace(
        &self,
        options: &ReadOptions,
    ) -> Result<(Option<Vec<u8>>, Option<&'static str>)> {
        let path = self.lock_path();
        match read_file(&path, options.limits.lock_bytes, Follow::Nothing) {
            Ok(bytes) => Ok((Some(bytes), None)),
            Err(error) if error.is_too_large() => {
                let note =
                    "The lockfile is too large to be read: what its releases held is not compared";
                Ok((None, Some(note)))
            }
            Err(_) => Ok((self.lock_bytes(options)?, None)),
        }
    }

    /// The lockfile, which `--locked` wants to be there. One that is damaged or an unresolved merge
    /// does not fit.
    pub(crate) fn existing_lockfile(&self, options: &ReadOptions) -> Result<Lockfile> {
        let Some(bytes) = self.lock_bytes(options)? else {
            return Err(lock_missing_in_mode("locked"));
        };
        parse_lock(&self.lock_path(), &bytes, options).map_err(|mut failure| {
            failure.exit = Exit::Failed;
            failure
        })
    }

    /// The lockfile, if there is one. It must be whole.
    pub(crate) fn lockfile(&self, options: &ReadOptions) -> Result<Option<Lockfile>> {
        match self.lock_bytes(options)? {
            Some(bytes) => parse_lock(&self.lock_path(), &bytes, options).map(Some),
            None => Ok(None),
        }
    }
}

/// The bytes of a lockfile, if there is one. Links are not followed: what is read here is what
/// `lock` would replace.
pub(crate) fn read_lock_bytes(path: &Path, options: &ReadOptions) -> Result<Option<Vec<u8>>> {
    match read_file(path, options.limits.lock_bytes, Follow::Nothing) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => {
            let mut finding = error.to_diagnostic();
            if error.is_too_large() {
                let command = given::command("lock --ignore-lock");
                finding = finding.hint(format!("`{command}` writes it anew"));
            }
            Err(finding.into())
        }
    }
}

/// Reads a lockfile that must be whole and not an unresolved merge.
pub(crate) fn parse_lock(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Lockfile> {
    let shown = path.to_string_lossy();
    let (lock, _) = Lockfile::read(&shown, bytes, &options.limits)
        .into_result()
        .map_err(with_commands)?;
    let problems = lock.merge_problems();
    if problems.is_empty() {
        return Ok(lock);
    }
    let findings: Vec<Diagnostic> = problems
        .into_iter()
        .map(|problem| {
            Diagnostic::error(Code::LockConflict, format!("{shown}: {problem}"))
                .hint(format!("`{}` mends it", given::command("lock")))
        })
        .collect();
    Err(findings.into())
}

/// Findings about a lockfile, of which the reader does not know how its project was named.
pub(crate) fn with_commands(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let hints = findings.iter_mut().flat_map(|finding| &mut finding.hints);
    for hint in hints {
        if let Some(rest) = hint.strip_prefix("`pkgres lock`") {
            *hint = format!("`{}`{rest}", given::command("lock"));
        }
    }
    findings
}

/// There is no lockfile; `rest` says where or what for.
pub(crate) fn lock_missing(rest: &str) -> Failure {
    let message = format!("there is no {LOCK_FILE} {rest}");
    Failure {
        findings: vec![
            Diagnostic::error(Code::LockMissing, message)
                .hint(format!("`{}` writes it", given::command("lock"))),
        ],
        exit: Exit::Failed,
    }
}

/// Likewise where a mode wants one.
pub(crate) fn lock_missing_in_mode(mode: &str) -> Failure {
    let from = settings::current().from(mode);
    lock_missing(&format!("beside the manifest and `--{mode}` is set{from}"))
}
