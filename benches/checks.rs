//! `cargo bench -p pkgres-benches --bench checks`: `pkgres check` and `pkgres semver` on the published packages beside
//! the project, and how their time grows with the number of classes.
//!
//! The times are medians of `RUNS` (11) whole runs of the binary, in turns. `PKGRES` names a binary to measure instead of
//! the one of this workspace, and `PKGRES_NODESETS` a folder of NodeSet2 files. The corpora of collections and models
//! contain no files, so their consecutive releases are compared by their index records, in this process.

// The table is what this program is run for, and what it writes is thrown away.
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use pkgres_benches::measure::{median, number, thread_time};
use pkgres_benches::process::{Repeated, Usage, binary, medians};
use pkgres_checks::compare_records;
use pkgres_manifest::{IndexRecord, Package, PackageManifest, PackageName, ReadOptions};
use pkgres_tests::{ansible, opcua, shared};

/// How many classes generated packages have.
const SIZES: [usize; 3] = [90, 900, 9_000];

/// The argument with which this program writes the generated collection to a folder.
const COLLECTION: &str = "--collection";

/// The name of the index beside the generated collection.
const INDEX: &str = "collections.ndjson";

/// How many modules of other collections the generated collection imports.
const MAX_IMPORTS: usize = 2_000;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let done = match arguments.as_slice() {
        [option, folder] if option == COLLECTION => prepare_collection(Path::new(folder)),
        _ => measure(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> io::Result<()> {
    let bench = Bench {
        binary: binary()?,
        runs: number("RUNS", 11),
        folder: tempfile::tempdir()?,
    };
    println!("| command | input | time | CPU time |");
    println!("|---|---|---:|---:|");
    bench.class_packages()?;
    bench.node_sets()?;
    bench.collections()?;
    println!("\n| command | classes | time | CPU time | growth of CPU time |");
    println!("|---|---:|---:|---:|---:|");
    bench.growth()?;
    println!("\n| compared by their records | pairs | classes | CPU time | per pair |");
    println!("|---|---:|---:|---:|---:|");
    if let Some(releases) = ansible::releases() {
        pairs("collections", releases.into_values().collect(), false);
    }
    if let Some(releases) = opcua::releases() {
        pairs("OPC UA models", releases, true);
    }
    Ok(())
}

/// The binary, and a folder for what it reads.
struct Bench {
    binary: PathBuf,
    runs: usize,
    folder: tempfile::TempDir,
}

impl Bench {
    /// A command, which may find errors.
    fn command<I: Into<OsString>>(&self, arguments: impl IntoIterator<Item = I>) -> Repeated {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments.into_iter().map(Into::into))
            .current_dir(self.folder.path())
            .env("PKGRES_CACHE", self.folder.path().join("cache"))
            .env("PKGRES_STATE", self.folder.path().join("state"));
        Repeated {
            may_fail: true,
            ..command.into()
        }
    }

    fn usage(&self, mut program: Repeated) -> io::Result<Usage> {
        Ok(medians([&mut program], self.runs)?[0])
    }

    fn row(&self, command: &str, on: &str, program: Repeated) -> io::Result<()> {
        println!("| `{command}` | {on} | {} |", shown(self.usage(program)?));
        Ok(())
    }

    /// The published class packages.
    fn class_packages(&self) -> io::Result<()> {
        let Some(corpus) = shared::path("corpus") else {
            return Ok(());
        };
        let mut folders = Vec::new();
        package_folders(&corpus, &mut folders)?;
        let (mut classes, mut versions) = (0, BTreeMap::<PackageName, Vec<&PathBuf>>::new());
        for folder in &folders {
            if let Some(package) = read_package(folder) {
                classes += package.classes.as_ref().map_or(0, BTreeMap::len);
                let same = versions.entry(package.name().clone()).or_default();
                same.push(folder);
            }
        }
        let on = format!("{} class packages with {classes} classes", folders.len());
        let arguments = ["check".into()]
            .into_iter()
            .chain(folders.iter().map(|folder| folder.clone().into_os_string()));
        self.row("pkgres check", &on, self.command(arguments))?;
        let Some((name, folders)) = versions.iter().find(|(_, folders)| folders.len() > 1) else {
            return Ok(());
        };
        let [old, new] = [folders[0], folders[1]].map(|folder| folder.clone().into_os_string());
        let program = self.command(["semver".into(), old, new]);
        self.row("pkgres semver", &format!("two versions of {name}"), program)
    }

    /// A collection that imports modules of all published collections, with every release allowed.
    fn collections(&self) -> io::Result<()> {
        let folder = self.folder.path().join("collection");
        // The kernel counts a large measuring process as part of what it measures.
        let prepared = Command::new(std::env::current_exe()?)
            .arg(COLLECTION)
            .arg(&folder)
            .output()?;
        let on = String::from_utf8_lossy(&prepared.stdout);
        if on.is_empty() {
            return Ok(());
        }
        let registry = format!("index:{}", folder.join(INDEX).display());
        let arguments = ["check".into(), folder.into_os_string(), "--registry".into()];
        let program = self.command(arguments.into_iter().chain([registry.into()]));
        self.row("pkgres check", on.trim(), program)
    }

    /// Real NodeSet2 files.
    fn node_sets(&self) -> io::Result<()> {
        let Some(folder) = std::env::var_os("PKGRES_NODESETS").map(PathBuf::from) else {
            eprintln!("LEFT OUT: `PKGRES_NODESETS` does not name a folder of NodeSet2 files");
            return Ok(());
        };
        let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        files.retain(|path| path.extension().is_some_and(|end| end == "xml"));
        files.sort();
        let bytes: u64 = files
            .iter()
            .map(|path| path.metadata().map_or(0, |metadata| metadata.len()))
            .sum();
        let on = format!("{} NodeSet2 files of {} MB", files.len(), bytes / 1_000_000);
        let registry = format!("dir:{}", folder.display());
        let arguments = ["check".into(), "--registry".into(), registry.into()];
        let files = files.into_iter().map(PathBuf::into_os_string);
        let program = self.command(arguments.into_iter().chain(files));
        self.row("pkgres check", &on, program)
    }

    /// Generated packages of several sizes.
    fn growth(&self) -> io::Result<()> {
        let mut programs = Vec::new();
        for classes in SIZES {
            let folders = ["1.0.0", "1.1.0"].map(|version| {
                // The folders beside a package are its registry.
                let folder = self.folder.path().join(format!("{classes}/{version}"));
                generate(&folder, version, classes).map(|()| folder.into_os_string())
            });
            let [old, new] = folders;
            let (old, new) = (old?, new?);
            programs.push((
                "pkgres check",
                classes,
                self.command(["check".into(), new.clone()]),
            ));
            programs.push((
                "pkgres semver",
                classes,
                self.command(["semver".into(), old, new]),
            ));
        }
        let usages = medians(
            programs.iter_mut().map(|(_, _, program)| program),
            self.runs,
        )?;
        let mut before: BTreeMap<&str, Duration> = BTreeMap::new();
        for ((command, classes, _), usage) in programs.iter().zip(usages) {
            let growth = before
                .insert(*command, usage.computing)
                .map_or_else(String::new, |last| {
                    format!("{:.1}x", usage.computing.as_secs_f64() / last.as_secs_f64())
                });
            println!("| `{command}` | {classes} | {} | {growth} |", shown(usage));
        }
        Ok(())
    }
}

fn shown(usage: Usage) -> String {
    format!(
        "{:.1} ms | {:.1} ms",
        usage.elapsed.as_secs_f64() * 1000.0,
        usage.computing.as_secs_f64() * 1000.0,
    )
}

/// Writes a collection that imports modules of all published collections, and their index. Prints what it is.
fn prepare_collection(folder: &Path) -> io::Result<()> {
    let Some(releases) = ansible::releases() else {
        return Ok(());
    };
    std::fs::create_dir_all(folder.join("plugins/modules"))?;
    let lines = releases.values().map(IndexRecord::to_line);
    std::fs::write(
        folder.join(INDEX),
        lines.collect::<Vec<_>>().join("\n") + "\n",
    )?;
    let classes = releases
        .values()
        .filter_map(|record| record.classes.as_ref());
    let names: BTreeSet<&str> = classes.flatten().map(|class| class.name.as_str()).collect();
    let is_module = |name: &&&str| name.contains(".plugins.module_utils.") && !name.ends_with('*');
    let modules: Vec<&str> = names
        .iter()
        .filter(is_module)
        .copied()
        .take(MAX_IMPORTS)
        .collect();
    let mut code = String::new();
    let mut required = BTreeSet::new();
    for module in &modules {
        let _ = writeln!(code, "import ansible_collections.{module}");
        let parts: Vec<&str> = module.splitn(3, '.').collect();
        required.insert(format!("{}.{}", parts[0], parts[1]));
    }
    std::fs::write(folder.join("plugins/modules/all.py"), code)?;
    let mut text = "namespace: bench\nname: all\nversion: 1.0.0\nreadme: README.md\nauthors: [Bench]\ndependencies:\n".to_owned();
    for name in &required {
        let _ = writeln!(text, "  {name}: '*'");
    }
    std::fs::write(folder.join("galaxy.yml"), text)?;
    println!(
        "a collection with {} imports from {} collections, an index of {} releases",
        modules.len(),
        required.len(),
        releases.len()
    );
    Ok(())
}

/// The folders with manifests.
fn package_folders(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.join("manifest.yaml").is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    let mut inner: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    inner.sort();
    for path in inner.iter().filter(|path| path.is_dir()) {
        package_folders(path, found)?;
    }
    Ok(())
}

/// The package in a folder, if it can be read.
fn read_package(folder: &Path) -> Option<Package> {
    let options = ReadOptions::default();
    let text = std::fs::read(folder.join("manifest.yaml")).ok()?;
    let (manifest, _) = PackageManifest::read("manifest.yaml", &text, &options)
        .into_result()
        .ok()?;
    let read = Package::assemble(manifest, &options, |path| {
        std::fs::read(folder.join(path.as_str())).ok()
    });
    Some(read.into_result().ok()?.0)
}

/// Compares the consecutive releases of each package by their index records.
fn pairs(what: &str, mut releases: Vec<IndexRecord>, inherits: bool) {
    releases.sort_by(|one, two| (&one.name, &one.version).cmp(&(&two.name, &two.version)));
    let is_pair = |pair: &&[IndexRecord]| pair[0].name == pair[1].name;
    let (mut pairs, mut classes) = (0, 0);
    for pair in releases.windows(2).filter(is_pair) {
        pairs += 1;
        classes += pair[1].classes.as_ref().map_or(0, |classes| classes.len());
    }
    let times = (0..5).map(|_| {
        let start = thread_time();
        for pair in releases.windows(2).filter(is_pair) {
            std::hint::black_box(compare_records(&pair[0], &pair[1], inherits));
        }
        thread_time().saturating_sub(start)
    });
    let time = median(times.collect());
    let milliseconds = time.as_secs_f64() * 1000.0;
    let each = milliseconds / f64::from(pairs.max(1));
    println!("| {what} | {pairs} | {classes} | {milliseconds:.1} ms | {each:.2} ms |");
}

/// Writes a package whose classes extend each other, with properties and methods. In the newer version every tenth class
/// lacks a method.
fn generate(folder: &Path, version: &str, classes: usize) -> io::Result<()> {
    std::fs::create_dir_all(folder.join("Classes"))?;
    let mut manifest = format!(
        "Format: MuranoPL/1.0\nFullName: org.bench.Large\nType: Library\nVersion: {version}\nClasses:\n"
    );
    for class in 0..classes {
        let _ = writeln!(manifest, "  org.bench.C{class}: C{class}.yaml");
        let mut text = format!("Name: org.bench.C{class}\n");
        if class > 0 {
            let _ = writeln!(text, "Extends: org.bench.C{}", class / 2);
        }
        let _ = write!(
            text,
            "Properties:\n  port{class}:\n    Contract: $.int().notNull()\n  name{class}:\n    Contract: $.string()\n    Default: web\n\
             Methods:\n  start{class}:\n    Arguments:\n    - force:\n        Contract: $.bool()\n    Body:\n    - $.port{class}\n"
        );
        if version == "1.0.0" || class % 10 != 0 {
            let _ = write!(
                text,
                "  stop{class}:\n    Body:\n    - $.start{class}(true)\n"
            );
        }
        std::fs::write(folder.join(format!("Classes/C{class}.yaml")), text)?;
    }
    std::fs::write(folder.join("manifest.yaml"), manifest)
}
