//! A folder with everything that commands read and write: the folder of the document, and those of its user.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

/// The longest time that a command takes.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The folder of a document, its user and its cache.
pub(crate) struct Sandbox {
    root: TempDir,
    name: String,
    is_cached_elsewhere: bool,
}

/// A finished command.
pub(crate) struct Finished {
    /// Nothing if it was ended because it took too long.
    pub(crate) exit: Option<i32>,
    /// What it printed to both streams.
    pub(crate) output: String,
}

impl Sandbox {
    /// A sandbox with a copy of a folder. `is_cached_elsewhere` is for a document that says where the cache is.
    pub(crate) fn new(folder: &Path, is_cached_elsewhere: bool) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        for folder in ["home", "cache"] {
            std::fs::create_dir(root.path().join(folder)).expect("a new folder");
        }
        let name = folder.file_name().expect("the folder has a name");
        let name = name.to_string_lossy().into_owned();
        // It may be a link.
        std::fs::create_dir(root.path().join(&name)).expect("a new folder");
        copy(&folder.join("."), &root.path().join(&name));
        Self {
            root,
            name,
            is_cached_elsewhere,
        }
    }

    /// A copy of the whole sandbox as it is now.
    pub(crate) fn copy(&self) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        for entry in super::super::entries(self.root.path()) {
            copy(&entry, root.path());
        }
        Self {
            root,
            name: self.name.clone(),
            is_cached_elsewhere: self.is_cached_elsewhere,
        }
    }

    /// A command line of another sandbox in this one: a path of the other one in it is a path of this one.
    pub(crate) fn line_of(&self, other: &Self, line: &str) -> String {
        let path = |sandbox: &Self| sandbox.root.path().to_string_lossy().into_owned();
        line.replace(&path(other), &path(self))
    }

    /// What a line in a shell prints to stdout.
    pub(crate) fn run_for_stdout(&self, line: &str) -> String {
        self.run(&format!("exec 2>/dev/null\n{line}")).output
    }

    /// Runs a line in a shell.
    pub(crate) fn run(&self, line: &str) -> Finished {
        let root = self.root.path();
        let output = root.join("output");
        let file = create(&output);
        let binary = trycmd::cargo::cargo_bin!("pkgres");
        let folder = binary
            .parent()
            .expect("the binary is in a folder")
            .display();
        let programs = std::env::var("PATH").expect("there are programs");
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("exec 2>&1\n{line}")])
            .current_dir(root.join(&self.name))
            .env("PATH", format!("{folder}:{programs}"))
            .env("HOME", root.join("home"))
            .env_remove("XDG_CONFIG_HOME")
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C")
            .env("PKGRES_REGISTRY", "");
        if !self.is_cached_elsewhere {
            command
                .env("PKGRES_CACHE", root.join("cache"))
                .env("PKGRES_STATE", root.join("cache"))
                .env("PKGRES_CREDENTIALS", root.join("cache"));
        }
        command.stdin(Stdio::null()).stdout(file);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{} {line}: {error}", self.name));
        let start = Instant::now();
        let exit = loop {
            if let Some(status) = child.try_wait().expect("it can be asked") {
                break status.code();
            }
            if start.elapsed() > TIMEOUT {
                let _ = child.kill();
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let output = std::fs::read(&output).expect("the output can be read");
        Finished {
            exit,
            output: String::from_utf8_lossy(&output).into_owned(),
        }
    }

    /// The files of the document and of its user: their paths, sizes and times of change.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, (u64, u64, Option<SystemTime>)> {
        let root = self.root.path();
        let mut rest = vec![root.join(&self.name), root.join("home")];
        let mut files = BTreeMap::new();
        while let Some(path) = rest.pop() {
            let metadata = path.symlink_metadata().expect("the file is there");
            if metadata.is_dir() {
                rest.extend(super::super::entries(&path));
            }
            let time = metadata.modified().ok();
            files.insert(path, (metadata.ino(), metadata.len(), time));
        }
        files
    }
}

/// Copies a folder or file into a folder, with links and modes as they are.
fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(status.expect("cp starts").success(), "{}", from.display());
}

#[expect(clippy::disallowed_methods, reason = "a file of the test")]
fn create(path: &Path) -> std::fs::File {
    std::fs::File::create(path).expect("a temporary folder can be written")
}
