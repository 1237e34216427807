//! One graph of packages as a project of `pkgres` and as a project of `uv`, each with its lockfile.

// Files written here are temporary.
#![allow(clippy::disallowed_methods)]

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use pkgres_manifest::{Limits, PackagePath, write_archive};

/// How many packages the root requires by itself; each requires those that come this much later.
const DIRECT: usize = 50;

/// A graph in which every package is reached.
#[derive(Debug, Clone, Copy)]
pub struct LockedGraph {
    /// How many packages there are.
    pub packages: usize,
}

impl LockedGraph {
    /// The requirements of a package.
    fn required(self, number: usize) -> impl Iterator<Item = usize> {
        let next = number + DIRECT;
        let both = if number.is_multiple_of(3) { 2 } else { 1 };
        (next..next + both).filter(move |other| *other < self.packages)
    }

    /// Writes a project of `pkgres` and locks it; gives the command that checks the lock.
    pub fn for_pkgres(self, pkgres: &Path, folder: &Path) -> io::Result<Command> {
        let mut index = String::new();
        for number in 0..self.packages {
            let required: Vec<String> = self
                .required(number)
                .map(|other| format!(r#"["p{other}","1"]"#))
                .collect();
            let required = required.join(",");
            let digest = format!("{number:064x}");
            let line = format!(
                r#"{{"name":"p{number}","version":"1.0.0","require":[{required}],"sha256":"{digest}"}}"#
            );
            writeln!(index, "{line}").map_err(io::Error::other)?;
        }
        let required: String = (0..DIRECT)
            .map(|number| format!("  p{number}: \"1\"\n"))
            .collect();
        let project = folder.join("pkgres");
        std::fs::create_dir(&project)?;
        std::fs::write(folder.join("index.ndjson"), index)?;
        std::fs::write(
            project.join("manifest.yaml"),
            format!("FullName: app\nType: Application\nVersion: 1.0.0\nRequire:\n{required}"),
        )?;
        let lock = || {
            let mut command = Command::new(pkgres);
            command.args(["lock", "--no-core-library", "--registry"]);
            command.arg(format!("index:{}", folder.join("index.ndjson").display()));
            command.arg(&project);
            command
        };
        succeeds(&mut lock())?;
        let mut check = lock();
        check.arg("--check");
        Ok(check)
    }

    /// Writes the same as a project of `uv`, with a folder of wheels, and locks it; gives the command
    /// that checks the lock.
    pub fn for_uv(self, uv: &Path, folder: &Path) -> io::Result<Command> {
        let wheels = folder.join("wheels");
        std::fs::create_dir(&wheels)?;
        for number in 0..self.packages {
            let required: String = self
                .required(number)
                .map(|other| format!("Requires-Dist: p{other}>=1,<2\n"))
                .collect();
            let about = format!("p{number}-1.0.0.dist-info");
            let file = |name: &str, text: String| {
                let path = PackagePath::parse(&format!("{about}/{name}"));
                path.map(|path| (path, text.into_bytes()))
                    .map_err(io::Error::other)
            };
            let files = [
                file(
                    "METADATA",
                    format!("Metadata-Version: 2.1\nName: p{number}\nVersion: 1.0.0\n{required}"),
                )?,
                file("RECORD", String::new())?,
                file(
                    "WHEEL",
                    "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_owned(),
                )?,
            ];
            let name = format!("p{number}-1.0.0-py3-none-any.whl");
            std::fs::write(wheels.join(name), archive(&files)?)?;
        }
        let required: Vec<String> = (0..DIRECT)
            .map(|number| format!("\"p{number}>=1,<2\""))
            .collect();
        let project = folder.join("uv");
        std::fs::create_dir(&project)?;
        std::fs::write(
            project.join("pyproject.toml"),
            format!(
                "[project]\nname = \"app\"\nversion = \"1.0.0\"\nrequires-python = \">=3.9\"\ndependencies = [{}]\n",
                required.join(", ")
            ),
        )?;
        let cache = folder.join("uv-cache");
        let lock = || {
            let mut command = Command::new(uv);
            command.args(["lock", "--offline", "--no-index", "--find-links"]);
            command.arg(&wheels);
            command.arg("--project").arg(&project);
            command.env("UV_CACHE_DIR", &cache);
            ask_no_interpreter(&mut command);
            command
        };
        succeeds(&mut lock())?;
        let mut check = lock();
        check.arg("--check");
        Ok(check)
    }
}

fn archive(files: &[(PackagePath, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let files = files
        .iter()
        .map(|(path, bytes)| (path.clone(), false, bytes.clone()));
    write_archive(files, &Limits::default()).map_err(|error| io::Error::other(error.message))
}

fn succeeds(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(message))
}

/// Names the interpreter that `uv` resolves for, which it would otherwise look for in each run, and take
/// several times as long.
pub(crate) fn ask_no_interpreter(command: &mut Command) {
    // What is on the search path may be a program that looks for the interpreter.
    let asked = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable, end='')"])
        .output();
    if let Ok(output) = asked
        && let Ok(python) = String::from_utf8(output.stdout)
        && !python.is_empty()
    {
        command.arg("--python").arg(python);
    }
    command.env("UV_PYTHON_DOWNLOADS", "never");
}

/// Where `uv` is: what the variable `UV` names, or the first of the search path.
pub fn uv() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("UV") {
        return Some(path.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join("uv"))
        .find(|program| program.is_file())
}
