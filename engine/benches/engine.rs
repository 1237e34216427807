//! Plans, and runs without changes, compared with `ninja`, `make -n` and `ansible-playbook --check` on the same files,
//! and the time until a broken file is restored.
//!
//! `cargo bench -p pkgres-engine` prints the tables. Programs that are missing are left out; `PKGRES_ANSIBLE` is the
//! folder of a Python environment with ansible-core.

// Benchmarks prepare files themselves, and print.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use pkgres_engine::{
    Control, Directory, DriveOptions, File, Graph, GraphBuilder, Machine, RunOptions, Status, Step,
    drive,
};
use pkgres_manifest::{MetaParameters, ResourceId};

/// How often each time is taken; the median counts.
const ROUNDS: usize = 5;

fn main() {
    // `cargo test --benches` only wants to know whether this compiles.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    no_op();
    ansible();
    repair();
}

/// Folders with 100 files each: every file goes after its folder, and every tenth after the file before it.
fn tree(root: &Path, count: usize) -> (Graph, Vec<String>) {
    let mut builder = GraphBuilder::new();
    let mut paths: Vec<String> = Vec::new();
    let id = |kind: &str, path: &str| ResourceId::new(kind, path).expect("it is an identity");
    for number in 0..count {
        let folder = format!("/d{}", number / 100);
        if number % 100 == 0 {
            fs::create_dir(root.join(&folder[1..])).expect("the root is there");
            let resource = Directory::new(&folder);
            builder.add(
                id("directory", &folder),
                resource,
                MetaParameters::default(),
            );
        }
        let path = format!("{folder}/f{number}");
        let content = format!("content of {number}\n");
        fs::write(root.join(&path[1..]), &content).expect("the folder is there");
        let file = File::new(&path).with_content(content);
        builder.add(id("file", &path), file, MetaParameters::default());
        if number % 10 == 9 {
            builder.order(id("file", &paths[number - 1]), id("file", &path));
        }
        paths.push(path);
    }
    (builder.build().expect("it has no cycle"), paths)
}

fn run(graph: Graph, root: &Path, noop: bool) {
    let options = DriveOptions {
        run: RunOptions {
            noop,
            ..RunOptions::default()
        },
        ..DriveOptions::default()
    };
    let machine = Arc::new(Machine::root_folder(root).expect("it is a folder"));
    let (_control, controlled) = channel();
    let ending = drive(graph, machine, &options, controlled, |_| {});
    assert_eq!(ending.status, Status::Converged);
}

fn median(mut take: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<_> = (0..ROUNDS).map(|_| take()).collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The time of a command in a folder; `None` if it is missing or fails.
fn command(program: &Path, arguments: &[&str], folder: &Path) -> Option<Duration> {
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.ok()?.success().then(|| start.elapsed())
}

fn shown(time: Option<Duration>) -> String {
    time.map_or_else(
        || "-".to_owned(),
        |time| format!("{:.1} ms", time.as_secs_f64() * 1e3),
    )
}

fn no_op() {
    println!("| files | plan | apply | ninja | make -n | apply relative to ninja |");
    println!("|---:|---:|---:|---:|---:|---:|");
    for count in [1_000, 10_000, 100_000] {
        let root = tempfile::tempdir().expect("a folder for the benchmark");
        let (graph, paths) = tree(root.path(), count);
        let plan = median(|| timed(|| run(graph.clone(), root.path(), true)));
        let apply = median(|| timed(|| run(graph.clone(), root.path(), false)));
        // Building the logs of the others starts a process for each file, which takes minutes for more.
        if count > 10_000 {
            let (plan, apply) = (shown(Some(plan)), shown(Some(apply)));
            println!("| {count} | {plan} | {apply} | | | |");
            continue;
        }
        same_graph(root.path(), &paths);
        let ninja = Path::new("ninja");
        // The first run builds the log.
        let _ = command(ninja, &[], root.path());
        let ninja = command(ninja, &[], root.path())
            .map(|_| median(|| command(ninja, &[], root.path()).unwrap_or_default()));
        let make = Path::new("make");
        let make = command(make, &["-n"], root.path())
            .map(|_| median(|| command(make, &["-n"], root.path()).unwrap_or_default()));
        let ratio = ninja.map_or_else(
            || "-".to_owned(),
            |ninja| format!("{:.2}", apply.as_secs_f64() / ninja.as_secs_f64()),
        );
        println!(
            "| {count} | {} | {} | {} | {} | {ratio} |",
            shown(Some(plan)),
            shown(Some(apply)),
            shown(ninja),
            shown(make),
        );
    }
}

/// Writes the same graph for ninja and make: a stamp for each file, made from the file.
fn same_graph(root: &Path, paths: &[String]) {
    let mut ninja = "rule touch\n  command = touch $out\n".to_owned();
    let mut make = "all:".to_owned();
    for path in paths {
        let _ = write!(make, " {}.stamp", &path[1..]);
    }
    make.push('\n');
    for (number, path) in paths.iter().enumerate() {
        let path = &path[1..];
        let before = if number % 10 == 9 {
            format!(" {}.stamp", &paths[number - 1][1..])
        } else {
            String::new()
        };
        let _ = writeln!(ninja, "build {path}.stamp: touch {path}{before}");
        let _ = writeln!(make, "{path}.stamp: {path}{before}\n\ttouch {path}.stamp");
    }
    fs::write(root.join("build.ninja"), ninja).expect("the root is there");
    fs::write(root.join("Makefile"), make).expect("the root is there");
}

fn ansible() {
    let Some(environment) = std::env::var_os("PKGRES_ANSIBLE").map(PathBuf::from) else {
        println!("\nansible-playbook is left out: PKGRES_ANSIBLE is not set");
        return;
    };
    let root = tempfile::tempdir().expect("a folder for the benchmark");
    let (graph, paths) = tree(root.path(), 200);
    let plan = median(|| timed(|| run(graph.clone(), root.path(), true)));
    let mut playbook =
        "- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n".to_owned();
    for (number, path) in paths.iter().enumerate() {
        let path = root.path().join(&path[1..]);
        let _ = writeln!(
            playbook,
            "  - copy: {{dest: {}, content: \"content of {number}\\n\"}}",
            path.display()
        );
    }
    fs::write(root.path().join("play.yaml"), playbook).expect("the root is there");
    let program = environment.join("bin/ansible-playbook");
    let interpreter = environment.join("bin/python");
    let interpreter = format!("ansible_python_interpreter={}", interpreter.display());
    let check = [
        "-i",
        "localhost,",
        "-e",
        &interpreter,
        "--check",
        "play.yaml",
    ];
    let Some(ansible) = command(&program, &check, root.path()) else {
        println!("\nansible-playbook failed");
        return;
    };
    println!(
        "\n200 files: plan {}, `ansible-playbook --check` {}: {:.0}x",
        shown(Some(plan)),
        shown(Some(ansible)),
        ansible.as_secs_f64() / plan.as_secs_f64()
    );
}

fn repair() {
    let root = tempfile::tempdir().expect("a folder for the benchmark");
    let (graph, paths) = tree(root.path(), 100);
    let machine = Arc::new(Machine::root_folder(root.path()).expect("it is a folder"));
    let options = DriveOptions {
        run: RunOptions {
            watch: true,
            ..RunOptions::default()
        },
        ..DriveOptions::default()
    };
    let (control, controlled) = channel();
    let (sender, steps) = channel();
    let thread = std::thread::spawn(move || {
        drive(graph, machine, &options, controlled, |progress| {
            if matches!(progress.step, Step::Converged | Step::Changed(..)) {
                let _ = sender.send(matches!(progress.step, Step::Changed(..)));
            }
        })
    });
    let wait = |changed: bool| while steps.recv().is_ok_and(|step| step != changed) {};
    wait(false);
    let mut times: Vec<_> = (0..200)
        .map(|round| {
            let file = root.path().join(&paths[round % paths.len()][1..]);
            let start = Instant::now();
            fs::write(file, "broken").expect("it is there");
            wait(true);
            let time = start.elapsed();
            wait(false);
            time
        })
        .collect();
    times.sort_unstable();
    println!(
        "\na broken file is restored after {} (median of 200; at most {})",
        shown(Some(times[100])),
        shown(times.last().copied())
    );
    let _ = control.send(Control::Interrupt);
    let _ = thread.join();
}
