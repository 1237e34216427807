//! `cargo bench -p pkgres-benches --bench process`: whole runs of the binary, from the start of the process to its end.
//!
//! The first table compares `pkgres resolve` with a process that only parses the lines of the same index with
//! `serde_json`: medians of CPU time and peak memory. *Cold* is without a cache, *warm* with the index in the cache. Two
//! more programs read all lines as records, and open and validate the compiled index; the goal is that opening takes a
//! tenth of the time of reading.
//!
//! The second table compares `pkgres lock --check` on an up-to-date lockfile of 1,000 packages with `uv lock --check` on
//! a project with the same graph, and the start of both programs. `UV` names the `uv` to measure if it is not in the
//! `PATH`; without one, the table is left out.
//!
//! Further tables compare whole runs of `lock` with `uv` and `cargo` on universes that all of them can resolve, see
//! [`whole`]. `SHAPES` names other universes than 1,000 and 5,000 packages of 10 versions.
//!
//! With a word as argument only the tables whose name has it are made: `index`, `locked` or `whole`.
//!
//! `SEED` makes another index, `RUNS` says how many runs a median is taken of, and `PKGRES` names a
//! binary to measure instead of the one of this workspace.

// The table is what this program is run for, and what it writes is thrown away.
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr)]

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use pkgres_benches::files;
use pkgres_benches::index::IndexShape;
use pkgres_benches::locked::{self, LockedGraph};
use pkgres_benches::process::{Repeated, binary, medians};
use pkgres_benches::table::{ProcessRow, ProcessTable};
use pkgres_benches::whole::{self, Whole};
use pkgres_files::map_file;
use pkgres_manifest::diagnostic::{Location, SourceText};
use pkgres_manifest::{IndexReader, IndexRecord, Limits};
use pkgres_resolver::CompiledIndex;

/// How many packages the lockfiles hold that are checked.
const LOCKED: usize = 1_000;

/// The argument with which this program is the peer: it goes through the lines of a file.
const SKIM: &str = "--skim";

/// The argument with which this program reads the lines of a file as records.
const READ: &str = "--read";

/// The argument with which this program opens the compiled index of a file.
const OPEN: &str = "--open";

/// The argument with which this program compiles the index of a file into another.
const COMPILE: &str = "--compile";

/// The source that the compiled index names.
const SOURCE: [u8; 32] = [0; 32];

/// How long the index is left alone before it is measured.
const SETTLED: Duration = Duration::from_secs(4);

/// How often the index is read or opened in one run, because opening takes so little.
const TIMES: u32 = 5;

/// How many packages the root of the large index requires directly.
const FEW: usize = 5;

/// A program that is measured.
struct Case {
    name: &'static str,
    program: Repeated,
    /// Whether it reads the large index, as the peer does.
    reads_index: bool,
}

impl Case {
    fn new(name: &'static str, command: Command, reads_index: bool) -> Self {
        Self {
            name,
            program: command.into(),
            reads_index,
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let result = match arguments.as_slice() {
        [word, path] if word == SKIM => skim(Path::new(path)),
        [word, path] if word == READ => read_records(Path::new(path)),
        [word, from, to] if word == COMPILE => compile(Path::new(from), Path::new(to)),
        [word, path] if word == OPEN => open_compiled(Path::new(path)),
        words => {
            // Cargo says `--bench`.
            let mut words = words.iter().filter_map(|word| word.to_str());
            measure(
                words
                    .find(|word| !word.starts_with('-'))
                    .unwrap_or_default(),
            )
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// What is left of reading an index if nothing is wanted of it but that every line is JSON.
fn skim(path: &Path) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 18, File::open(path)?);
    let mut line = String::new();
    let mut lines = 0_usize;
    while input.read_line(&mut line)? > 0 {
        serde_json::from_str::<serde::de::IgnoredAny>(&line)?;
        lines += 1;
        line.clear();
    }
    println!("{lines}");
    Ok(())
}

/// The records of an index.
fn records(path: &Path) -> io::Result<Vec<IndexRecord>> {
    let mut reader = IndexReader::new(Limits::default());
    let text = std::fs::read_to_string(path)?;
    let nowhere = |span| Location::new(&SourceText::new("index", ""), span);
    let read = |line| reader.read_line(line, &nowhere);
    let records = text.lines().map(read).collect::<Result<_, _>>();
    records.map_err(|error| io::Error::other(error.message))
}

fn read_records(path: &Path) -> io::Result<()> {
    for _ in 0..TIMES {
        println!("{}", records(path)?.len());
    }
    Ok(())
}

fn compile(from: &Path, to: &Path) -> io::Result<()> {
    let bytes = CompiledIndex::compile(&records(from)?).to_bytes(&SOURCE);
    std::fs::write(
        to,
        bytes.expect("records of an index are not written in manifests"),
    )
}

fn open_compiled(path: &Path) -> io::Result<()> {
    for _ in 0..TIMES {
        let bytes = map_file(path, u64::MAX).map_err(io::Error::other)?;
        let index = CompiledIndex::from_bytes(bytes, &SOURCE).map_err(io::Error::other)?;
        println!("{}", index.release_count());
    }
    Ok(())
}

/// Writes an index again with the version of each record before its name, as others may write it.
fn reorder(from: &Path, to: &Path) -> io::Result<()> {
    let mut output = BufWriter::new(File::create(to)?);
    for line in BufReader::new(File::open(from)?).lines() {
        let line = line?;
        let mut parts = line.trim_start_matches('{').splitn(3, ',');
        let mut part = || parts.next().expect("records have more than two keys");
        let (name, version, rest) = (part(), part(), part());
        writeln!(output, "{{{version},{name},{rest}")?;
    }
    output.flush()
}

/// Makes the tables whose name has a word in it.
fn measure(word: &str) -> io::Result<()> {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let (seed, runs) = (number("SEED", 1), number("RUNS", 21));
    let runs = usize::try_from(runs).expect("a small number");
    let pkgres = binary()?;
    let folder = tempfile::tempdir()?;
    if "index".contains(word) {
        measure_index(&pkgres, folder.path(), seed, runs)?;
    }
    if "locked".contains(word) {
        measure_locked(&pkgres, folder.path(), runs)?;
    }
    if "whole".contains(word) {
        measure_whole(&pkgres, folder.path(), seed, runs)?;
    }
    Ok(())
}

/// Whole runs on a large index, next to a program that only goes through its lines.
fn measure_index(pkgres: &Path, folder: &Path, seed: u64, runs: usize) -> io::Result<()> {
    let this = std::env::current_exe()?;
    let shape = IndexShape {
        packages: 10_000,
        versions: 10,
    };
    let index = folder.join("index.ndjson");
    let mut output = BufWriter::new(File::create(&index)?);
    shape.write(seed, &mut output)?;
    output.flush()?;
    drop(output);
    let bytes = std::fs::metadata(&index)?.len();
    let reordered = folder.join("reordered.ndjson");
    reorder(&index, &reordered)?;
    let root = |families: usize| {
        let root = folder.join(format!("root-{families}"));
        std::fs::create_dir(&root)?;
        std::fs::write(root.join("manifest.yaml"), shape.root_manifest(families))?;
        io::Result::Ok(root)
    };
    let cache = folder.join("cache");
    let resolve = |root: &Path, registry: &str, location: &Path| {
        let mut command = Command::new(pkgres);
        let mut registry = OsString::from(registry);
        registry.push(location);
        command.arg("resolve").arg(root);
        command.arg("--registry").arg(registry);
        command.env("PKGRES_CACHE", &cache);
        command
    };
    let with_index = |root: &Path, index: &Path| {
        let mut command = resolve(root, "index:", index);
        command.arg("--no-core-library");
        command
    };
    let cold = |root: &Path, index: &Path| {
        let mut command = with_index(root, index);
        command.arg("--no-cache");
        command
    };
    let compiled = folder.join("compiled");
    let this_with = |word: &str, path: &Path| {
        let mut command = Command::new(&this);
        command.arg(word).arg(path);
        command
    };
    let (real, real_registry) = files::real_package();
    // Not in this process, which has to stay small.
    let made = Command::new(&this)
        .arg(COMPILE)
        .arg(&index)
        .arg(&compiled)
        .status()?;
    if !made.success() {
        return Err(io::Error::other("the index cannot be compiled"));
    }
    let peer = this_with(SKIM, &index);
    let mut start = Command::new(pkgres);
    start.arg("--version");
    let (none, few, many) = (root(0)?, root(FEW)?, root(shape.families())?);
    let mut cases = [
        Case::new("`--version`", start, false),
        Case::new(
            "a real package",
            resolve(&real, "dir:", &real_registry),
            false,
        ),
        Case::new("cold, nothing is required", cold(&none, &index), true),
        Case::new("cold, 5 are required", cold(&few, &index), true),
        Case::new("the same, names not first", cold(&few, &reordered), true),
        Case::new("cold, 500 are required", cold(&many, &index), true),
        Case::new("warm, nothing is required", with_index(&none, &index), true),
        Case::new("warm, 5 are required", with_index(&few, &index), true),
        Case::new("warm, 500 are required", with_index(&many, &index), true),
        Case::new("5 x all lines as records", this_with(READ, &index), true),
        Case::new("5 x opening it compiled", this_with(OPEN, &compiled), true),
        Case::new("index, `serde_json` alone", peer, true),
    ];
    eprintln!(
        "{} packages of {} versions, {:.1} MB; {runs} runs each",
        shape.packages,
        shape.versions,
        as_megabytes(bytes)
    );
    // A large index is compiled when it is seen again, and trusted to be the same as before only
    // if it was left alone for a while.
    std::thread::sleep(SETTLED);
    for _ in 0..2 {
        last_words(&mut with_index(&few, &index))?;
    }
    let results = cases
        .iter_mut()
        .map(|case| last_words(&mut case.program.command))
        .collect::<io::Result<Vec<String>>>()?;
    let usages = medians(cases.iter_mut().map(|case| &mut case.program), runs)?;
    let peer = usages.last().expect("the peer is a case").computing;
    let rows = cases.iter().zip(results).zip(usages);
    let rows = rows.map(|((case, result), usage)| ProcessRow {
        case: case.name.to_owned(),
        result,
        usage,
        ratio: case
            .reads_index
            .then(|| usage.computing.as_secs_f64() / peer.as_secs_f64()),
    });
    let table = ProcessTable {
        ratio: "CPU time relative to `serde_json`",
        rows: rows.collect(),
    };
    println!("{table}");
    Ok(())
}

/// A lockfile that is up to date, next to that of another program.
fn measure_locked(pkgres: &Path, folder: &Path, runs: usize) -> io::Result<()> {
    let Some(uv) = locked::uv() else {
        eprintln!("the table of `lock --check` is left out: `uv` is not installed");
        return Ok(());
    };
    let graph = LockedGraph { packages: LOCKED };
    let mut check = graph.for_pkgres(pkgres, folder)?;
    check.env("PKGRES_CACHE", folder.join("cache"));
    let version = |program: &Path| {
        let mut command = Command::new(program);
        command.arg("--version");
        command
    };
    let mut cases = [
        Case::new("`pkgres --version`", version(pkgres), false),
        Case::new("`uv --version`", version(&uv), false),
        Case::new("`pkgres lock --check`", check, true),
        Case::new(
            "`uv lock --check` (a folder of wheels)",
            graph.for_uv(&uv, folder)?,
            true,
        ),
    ];
    std::thread::sleep(SETTLED);
    for case in &mut cases {
        last_words(&mut case.program.command)?;
        last_words(&mut case.program.command)?;
    }
    let results = cases
        .iter_mut()
        .map(|case| last_words(&mut case.program.command))
        .collect::<io::Result<Vec<String>>>()?;
    let usages = medians(cases.iter_mut().map(|case| &mut case.program), runs)?;
    let peers = [usages[1].elapsed, usages[3].elapsed];
    let rows = cases.iter().zip(results).zip(usages).enumerate();
    let rows = rows.map(|(at, ((case, result), usage))| ProcessRow {
        case: case.name.to_owned(),
        result,
        usage,
        ratio: Some(usage.elapsed.as_secs_f64() / peers[at / 2].as_secs_f64()),
    });
    let table = ProcessTable {
        ratio: "time relative to uv",
        rows: rows.collect(),
    };
    println!("{table}");
    Ok(())
}

/// Whole runs of `lock`, next to the same of other programs.
fn measure_whole(pkgres: &Path, folder: &Path, seed: u64, runs: usize) -> io::Result<()> {
    let Some(peers) = whole::peers() else {
        eprintln!("the tables of `lock` are left out: the peers are not beside the project");
        return Ok(());
    };
    let shapes = std::env::var("SHAPES").unwrap_or_else(|_| "1000x10 5000x10".to_owned());
    for shape in shapes.split_whitespace() {
        let folder = folder.join(shape);
        std::fs::create_dir(&folder)?;
        let mut whole = Whole::prepare(&peers, shape, seed, pkgres, &folder)?;
        std::thread::sleep(SETTLED);
        whole.fill_caches()?;
        let usages = medians(whole.cases.iter_mut().map(|case| &mut case.program), runs)?;
        // Nothing where there is no `uv`.
        let of_peer = |is_check: bool| {
            let mut cases = whole.cases.iter().zip(&usages);
            let found =
                cases.find(|(case, _)| case.name.starts_with("`uv") && case.is_check == is_check);
            found.map(|(_, usage)| usage.elapsed.as_secs_f64())
        };
        let rows = whole.cases.iter().zip(&usages);
        let rows = rows.map(|(case, usage)| ProcessRow {
            case: case.name.to_owned(),
            result: case.answer.clone(),
            usage: *usage,
            ratio: of_peer(case.is_check).map(|peer| usage.elapsed.as_secs_f64() / peer),
        });
        let table = ProcessTable {
            ratio: "time relative to uv",
            rows: rows.collect(),
        };
        println!("{shape}\n\n{table}");
    }
    Ok(())
}

/// Runs a program once; the last line of its output.
fn last_words(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(io::Error::other(stderr.into_owned()));
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut lines = stdout.lines().chain(stderr.lines());
    let words = lines.next_back().unwrap_or_default();
    // The time in it is not the one of the median.
    let (words, _) = words.split_once(" in ").unwrap_or((words, ""));
    Ok(words.to_owned())
}

#[allow(clippy::cast_precision_loss)]
fn as_megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
