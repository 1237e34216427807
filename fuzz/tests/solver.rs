//! The solver on [hostile universes](pkgres_fuzzing::hostile_universes).
//!
//! The short run asserts that each has the right answer or gives up after few steps. With the path of a binary in
//! `HARD`, a longer one runs that on large universes: each ends within [`TIME`] and [`MEMORY`] with the default
//! settings. It prints the table of `docs/benchmarks.md`:
//!
//! ```sh
//! cargo build --release -p pkgres
//! HARD=target/release/pkgres cargo test -p pkgres-fuzzing --test solver -- --nocapture
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pkgres_fuzzing::hostile_universes::{Answer, HostileUniverse, SHORT, WHOLE};
use pkgres_manifest::{IndexRecord, PackageName, Version};
use pkgres_resolver::{Engine, Request, Resolver, Step};
use pkgres_tests::drive::{Records, drive};
use pkgres_tests::universe::Universe;
use wait4::{ResourceUsage, Wait4 as _};

/// The time that a universe may take with the default settings.
const TIME: Duration = Duration::from_secs(30);

/// The memory that a universe may take with the default settings, in bytes.
const MEMORY: u64 = 500_000_000;

/// How many requirements of a root are in one package.
const GROUP: usize = 500;

/// The step limit of the short run.
const STEPS: u64 = 50_000;

/// Universes of the short run that cannot be answered in so few steps.
const TOO_HARD: [HostileUniverse; 2] = [
    HostileUniverse::Pigeons {
        pigeons: 20,
        holes: 19,
        tail: 0,
    },
    HostileUniverse::Parity { vertices: 40 },
];

#[test]
fn every_short_universe_has_the_right_answer_or_gives_up() {
    for hostile in SHORT {
        let Universe {
            root,
            records,
            single_version,
            ..
        } = hostile.universe();
        let mut request = Request::new(root);
        request.core = None;
        request.options.single_version = single_version;
        request.options.max_steps = STEPS;
        let answer = match drive(&mut Resolver::new(request), &mut Records::new(records)) {
            Step::Solved(_) => Answer::Solved,
            Step::Conflict(_) => Answer::Conflict,
            Step::GaveUp { steps } => {
                // The last step can be a large one.
                assert!(steps < 2 * STEPS, "{hostile}: {steps} steps");
                continue;
            }
            step => panic!("{hostile}: {step:?}"),
        };
        assert!(!TOO_HARD.contains(hostile), "{hostile}: {answer:?}");
        let expected = hostile.answer();
        assert!(
            expected == Answer::Unknown || expected == answer,
            "{hostile}: {answer:?}"
        );
    }
}

/// A step of the other engine is bounded as well. Otherwise this would take minutes.
#[test]
fn the_other_engine_gives_up_after_as_many_steps() {
    let hostile = HostileUniverse::Pigeons {
        pigeons: 12,
        holes: 11,
        tail: 0,
    };
    let Universe { root, records, .. } = hostile.universe();
    let mut request = Request::new(root);
    request.core = None;
    request.options.single_version = true;
    request.options.max_steps = 20 * STEPS;
    request.options.engine = Engine::Pubgrub;
    let step = drive(&mut Resolver::new(request), &mut Records::new(records));
    assert!(matches!(step, Step::GaveUp { .. }), "{step:?}");
}

/// What a run of the binary took.
struct Run {
    exit: Option<i32>,
    usage: ResourceUsage,
}

/// Resolves a universe with a binary in a folder.
fn run(binary: &Path, folder: &Path, universe: &Universe) -> io::Result<Run> {
    // A manifest has a limit of requirements.
    let groups: Vec<IndexRecord> = (universe.root.requirements.chunks(GROUP).enumerate())
        .map(|(number, requirements)| {
            let name = PackageName::parse(&format!("h.Group{number}")).expect("a name");
            let group = IndexRecord::new(name, Version::new(1, 0, 0));
            requirements.iter().fold(group, |group, requirement| {
                group.with_requirement(requirement.package.clone(), requirement.spec.clone())
            })
        })
        .collect();
    let required = groups.iter().map(|group| &group.name);
    let requirements: String = required.map(|name| format!("  {name}: \"*\"\n")).collect();
    let name = &universe.root.name;
    let manifest =
        format!("Type: Application\nFullName: {name}\nVersion: 1.0.0\nRequire:\n{requirements}");
    let lines = universe.records.iter().chain(&groups);
    let index: String = lines.map(|record| record.to_line() + "\n").collect();
    let app = folder.join("app");
    write_fixtures(&app, &manifest, &folder.join("index.ndjson"), &index)?;
    let mut command = Command::new(binary);
    command
        .args(["resolve", "app", "--no-cache", "--no-core-library"])
        .args(["--registry", "index:index.ndjson"])
        .args(universe.single_version.then_some("--single-version"))
        .current_dir(folder)
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let end = command.spawn()?.wait4()?;
    Ok(Run {
        exit: end.status.code(),
        usage: end.rusage,
    })
}

/// Writes the files of a universe; an interrupted write does not matter.
#[allow(clippy::disallowed_methods)]
fn write_fixtures(app: &Path, manifest: &str, index: &Path, lines: &str) -> io::Result<()> {
    std::fs::create_dir_all(app)?;
    std::fs::write(app.join("manifest.yaml"), manifest)?;
    std::fs::write(index, lines)
}

#[test]
#[allow(clippy::print_stdout)]
fn every_universe_ends_in_time() {
    let Some(binary) = std::env::var_os("HARD") else {
        return;
    };
    // Tests run in the folder of their crate.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let binary: PathBuf = workspace.join(binary);
    let binary = binary.canonicalize().expect("the binary is there");
    println!("| universe | result | time | memory |\n|---|---|---:|---:|");
    let mut wrong = Vec::new();
    for hostile in WHOLE {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let universe = hostile.universe();
        let run = run(&binary, folder.path(), &universe).expect("the binary runs");
        let expected = hostile.answer();
        let is = |answer| expected == Answer::Unknown || expected == answer;
        let (result, is_right) = match run.exit {
            Some(0) => ("solved", is(Answer::Solved)),
            Some(1) => ("no resolution", is(Answer::Conflict)),
            Some(5) => ("gave up", true),
            _ => ("failed", false),
        };
        let computing = run.usage.utime + run.usage.stime;
        let memory = run.usage.maxrss;
        println!(
            "| {hostile} | {result} | {:.1} s | {} MB |",
            computing.as_secs_f64(),
            memory / 1_000_000
        );
        // Computing time, as the machine may do something else beside.
        if !is_right || computing > TIME || memory > MEMORY {
            wrong.push(hostile.to_string());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
