//! Whole runs of `lock` next to `uv` and `cargo`, on one universe that all three can be asked about.
//!
//! The universe, and a server on the loopback interface that shows it as an index of Cargo and one of Python,
//! are programs beside the project (`peers/universe.py` and `peers/serve.py` of the shared data). The peers
//! have run once, so that all they need is in their caches, and are asked to lock anew without the network;
//! so is pkgres, with its cache, with an empty one that it fills, and without.

// Files written here are temporary.
#![allow(clippy::disallowed_methods)]

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::locked;
use crate::process::{Repeated, run};

/// The folder of the programs that make universes and serve them, if it is there.
pub fn peers() -> Option<PathBuf> {
    let shared = std::env::var_os("PKGRES_SHARED");
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = shared.map_or_else(beside, PathBuf::from).join("peers");
    folder.join("serve.py").is_file().then_some(folder)
}

/// A program on the universe.
#[derive(Debug)]
pub struct WholeCase {
    /// Its name in the table.
    pub name: &'static str,
    /// How it is run, without network.
    pub program: Repeated,
    /// The packages that it locked.
    pub answer: String,
    /// Whether it only checks the lockfile, which another case has written before.
    pub is_check: bool,
    /// The lockfile.
    lock: PathBuf,
    /// How it is run before, if it has a cache to fill from the network.
    first: Option<Command>,
}

/// The state of the cache of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caching {
    Warm,
    /// An empty cache, which is filled.
    Empty,
    None,
}

/// A universe, its server and the programs that solve it.
#[derive(Debug)]
pub struct Whole {
    /// The programs.
    pub cases: Vec<WholeCase>,
    server: Child,
}

impl Drop for Whole {
    fn drop(&mut self) {
        // It ends when its input does.
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

fn python() -> Command {
    Command::new(std::env::var_os("PKGRES_PYTHON").unwrap_or_else(|| "python3".into()))
}

/// The requirements of the root, as its manifest has them: names and specs.
fn requirements(universe: &Path) -> io::Result<Vec<(String, String)>> {
    let manifest = std::fs::read_to_string(universe.join("manifest.yaml"))?;
    let (_, required) = manifest.split_once("Require:\n").unwrap_or_default();
    let requirement = |line: &str| {
        let (name, spec) = line.trim().split_once(": ")?;
        Some((name.replace('.', "-"), spec.trim_matches('"').to_owned()))
    };
    Ok(required.lines().filter_map(requirement).collect())
}

/// A spec of the universe, which is `^X.Y.Z` or a list of comparisons, as Python writes it.
fn as_python(spec: &str) -> String {
    let Some(low) = spec.strip_prefix('^') else {
        return spec.to_owned();
    };
    let major: u64 = low
        .split('.')
        .next()
        .map_or(0, |major| major.parse().unwrap_or(0));
    format!(">={low},<{}.0.0", major + 1)
}

impl Whole {
    /// Makes a universe such as `1000x10`, which is 1,000 packages of 10 versions, and a project of each
    /// program in a folder.
    pub fn prepare(
        peers: &Path,
        shape: &str,
        seed: u64,
        pkgres: &Path,
        folder: &Path,
    ) -> io::Result<Self> {
        let universe = folder.join("universe");
        let made = python()
            .arg(peers.join("universe.py"))
            .arg(&universe)
            .args([shape, &seed.to_string()])
            .status()?;
        if !made.success() {
            return Err(io::Error::other("the universe cannot be made"));
        }
        let mut server = python()
            .arg(peers.join("serve.py"))
            .arg(&universe)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut base = String::new();
        let output = server.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut base)?;
        let mut whole = Self {
            cases: Vec::new(),
            server,
        };
        let (base, required) = (base.trim(), requirements(&universe)?);
        whole.add_pkgres(pkgres, &universe, folder)?;
        if let Some(uv) = locked::uv() {
            whole.add_uv(&uv, base, &required, folder)?;
        }
        whole.add_cargo(base, &required, folder)?;
        Ok(whole)
    }

    fn add_pkgres(&mut self, pkgres: &Path, universe: &Path, folder: &Path) -> io::Result<()> {
        let registry = format!("index:{}", universe.join("index.ndjson").display());
        for (name, place, caching) in [
            ("`pkgres lock`, warm", "warm", Caching::Warm),
            ("`pkgres lock`, empty cache", "first", Caching::Empty),
            ("`pkgres lock --no-cache`", "cold", Caching::None),
        ] {
            let project = folder.join(place);
            std::fs::create_dir(&project)?;
            std::fs::copy(
                universe.join("manifest.yaml"),
                project.join("manifest.yaml"),
            )?;
            let mut command = Command::new(pkgres);
            command
                .arg("lock")
                .arg(&project)
                .arg("--registry")
                .arg(&registry);
            let cache = folder.join(format!("pkgres-cache-{place}"));
            command.env("PKGRES_CACHE", &cache);
            if caching == Caching::None {
                command.arg("--no-cache");
            }
            let lock = project.join("pkgres.lock");
            self.add(name, command, lock.clone(), None);
            if caching == Caching::Empty {
                let case = self.cases.last_mut().expect("it was just added");
                case.program.writes.push(cache.clone());
            }
            if caching == Caching::Warm {
                let mut command = Command::new(pkgres);
                command.args(["lock", "--check"]).arg(&project);
                command.arg("--registry").arg(&registry);
                command.env("PKGRES_CACHE", cache);
                self.add_check("`pkgres lock --check`", command, lock);
            }
        }
        Ok(())
    }

    fn add_uv(
        &mut self,
        uv: &Path,
        base: &str,
        required: &[(String, String)],
        folder: &Path,
    ) -> io::Result<()> {
        let project = folder.join("uv-project");
        std::fs::create_dir(&project)?;
        let lines: String = required
            .iter()
            .map(|(name, spec)| format!("  \"{name}{}\",\n", as_python(spec)))
            .collect();
        std::fs::write(
            project.join("pyproject.toml"),
            format!(
                "[project]\nname = \"root\"\nversion = \"1.0.0\"\nrequires-python = \">=3.8\"\ndependencies = [\n{lines}]\n[tool.uv]\npackage = false\n"
            ),
        )?;
        let cache = folder.join("uv-lock-cache");
        let lock = |offline: bool| {
            let mut command = Command::new(uv);
            command.args(["lock", "--no-config", "--default-index"]);
            command.arg(format!("{base}/pypi/simple/"));
            command.arg("--project").arg(&project);
            command.env("UV_CACHE_DIR", &cache);
            locked::ask_no_interpreter(&mut command);
            if offline {
                command.arg("--offline");
            }
            command
        };
        let file = project.join("uv.lock");
        let name = "`uv lock --offline`, warm";
        self.add(name, lock(true), file.clone(), Some(lock(false)));
        let mut check = lock(true);
        check.arg("--check");
        self.add_check("`uv lock --check --offline`", check, file);
        Ok(())
    }

    fn add_cargo(
        &mut self,
        base: &str,
        required: &[(String, String)],
        folder: &Path,
    ) -> io::Result<()> {
        let project = folder.join("cargo-project");
        std::fs::create_dir_all(project.join("src"))?;
        std::fs::create_dir_all(project.join(".cargo"))?;
        std::fs::write(project.join("src/lib.rs"), "")?;
        let lines: String = required
            .iter()
            .map(|(name, spec)| {
                let spec = spec.replace(',', ", ");
                format!("{name} = {{ version = \"{spec}\", registry = \"peer\" }}\n")
            })
            .collect();
        std::fs::write(
            project.join("Cargo.toml"),
            format!(
                "[package]\nname = \"root\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n{lines}"
            ),
        )?;
        std::fs::write(
            project.join(".cargo/config.toml"),
            format!("[registries.peer]\nindex = \"sparse+{base}/cargo/\"\n"),
        )?;
        // What runs this program is the one itself, where `cargo` may be a program that looks for it.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let lock = |subcommand: &str, offline: bool| {
            let mut command = Command::new(&cargo);
            command.arg(subcommand).current_dir(&project);
            command.env("CARGO_HOME", folder.join("cargo-home"));
            if offline {
                command.arg("--offline");
            }
            command
        };
        let file = project.join("Cargo.lock");
        let name = "`cargo generate-lockfile --offline`, warm";
        let (first, again) = (
            lock("generate-lockfile", false),
            lock("generate-lockfile", true),
        );
        self.add(name, again, file.clone(), Some(first));
        let mut check = lock("update", true);
        check.args(["--workspace", "--locked"]);
        self.add_check("`cargo update --workspace --locked --offline`", check, file);
        Ok(())
    }

    /// Adds a program that writes a lockfile; `first` fills its cache.
    fn add(&mut self, name: &'static str, command: Command, lock: PathBuf, first: Option<Command>) {
        self.cases.push(WholeCase {
            name,
            program: Repeated {
                command,
                writes: vec![lock.clone()],
                may_fail: false,
            },
            answer: String::new(),
            is_check: false,
            lock,
            first,
        });
    }

    /// Adds a program that checks the lockfile of the one before it.
    fn add_check(&mut self, name: &'static str, command: Command, lock: PathBuf) {
        self.cases.push(WholeCase {
            name,
            program: command.into(),
            answer: String::new(),
            is_check: true,
            lock,
            first: None,
        });
    }

    /// Runs each program until its cache has all that it will have, and finds out what it locks.
    pub fn fill_caches(&mut self) -> io::Result<()> {
        for case in &mut self.cases {
            if let Some(first) = &mut case.first {
                run(first)?;
            }
            // A cache may keep what is used again only when it is.
            for _ in 0..2 {
                run(&mut case.program.command)?;
            }
            let text = std::fs::read_to_string(&case.lock)?;
            let is_package = |line: &&str| {
                let line = line
                    .trim_start_matches("- ")
                    .replace(['=', ':', '"', ' '], "");
                let is_ours = |prefix: &str| line.starts_with(&format!("name{prefix}"));
                is_ours("org.peer.p") || is_ours("org-peer-p")
            };
            let packages = text.lines().filter(is_package).count();
            case.answer = format!("{packages} packages");
        }
        Ok(())
    }
}
