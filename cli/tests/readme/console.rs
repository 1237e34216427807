//! Console blocks: commands after `$ `, each followed by what it prints.
//!
//! Readers see a terminal. Everything else that the test needs is in Markdown comments:
//!
//! - `<!-- folder: FOLDER -->` on the first line of a page runs its commands in that folder instead of the
//!   root of the project.
//! - `<!-- folder: fresh -->` runs the commands of each section in an empty folder. A block behind a line with
//!   nothing but `` `PATH`: `` is a file of this folder.
//! - `<!-- folder: empty -->` is the same with one folder for the whole page.
//! - `<!-- exit: 0 1 -->` before a block lists the exit codes of its commands. Without it, all must be 0.
//!
//! Output is compared byte by byte, with two exceptions: the number in a line that ends with a time in
//! milliseconds is ignored, and a line `...` matches any number of lines.
//!
//! `pkgres serve … 2> FILE &` starts a server, which ends with the page. It listens on a free port, which is shown as the
//! default one.
//!
//! A shell runs the commands of a page one after the other, in a copy of the project's fixtures. Each
//! command sees the files that earlier ones have written.

use std::fs::File;
use std::io::{BufRead as _, Read as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::page::{Block, Page, comment, root};

/// The line that matches any number of lines.
const ELISION: &str = "...";

/// The placeholder that replaces times before lines are compared.
const TIME: &str = "[time]";

/// The time in lines that an update adds to a page.
const SHOWN_TIME: &str = "3";

/// A command and the lines that it prints.
#[derive(Debug, PartialEq, Eq)]
struct Example<'a> {
    command: &'a str,
    output: Vec<&'a str>,
}

/// How the examples of a page went.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Exit codes that are not those of the page.
    pub(crate) wrong_exits: Vec<String>,
    /// Output that is not that of the page.
    pub(crate) differences: Vec<String>,
    /// The page with the output that commands have now.
    pub(crate) updated: String,
}

/// Runs the examples of a page.
pub(crate) fn run(page: &Page) -> Outcome {
    let folder = page.comment("folder").unwrap_or(".");
    let mut shell = if page.has_files() {
        Shell::empty()
    } else {
        Shell::new(folder)
    };
    let mut outcome = Outcome::default();
    let mut copied = 0;
    let mut section = 0;
    for block in page.blocks() {
        let this_section = page.section_of(block.range.start);
        if page.is_fresh() && this_section != section {
            shell = Shell::empty();
            section = this_section;
        }
        if let Some(file) = block.file().filter(|_| page.has_files()) {
            shell.write(file, block.text);
        }
        if block.language != "console" {
            continue;
        }
        let place = format!("{}:{}", page.name, block.line);
        let mut updated = Vec::new();
        let examples = examples(block.text).unwrap_or_else(|error| panic!("{place}: {error}"));
        let exits =
            exits(&block, examples.len()).unwrap_or_else(|error| panic!("{place}: {error}"));
        for (example, exit) in examples.iter().zip(exits) {
            let (actual_exit, text) = shell.run(example.command);
            let place = format!("{place}: `{}`", example.command);
            if actual_exit != Some(exit) {
                let wrong = format!("{place} ends with {actual_exit:?}, not {exit}:\n{text}");
                outcome.wrong_exits.push(wrong);
            }
            let actual: Vec<&str> = text.lines().collect();
            // The output of the program ends with one line feed, unless it is empty.
            let is_whole = text.is_empty() || text.ends_with('\n');
            if !is_whole || !matches(&example.output, &actual) {
                outcome.differences.push(format!(
                    "{place} prints\n{text}\nand not\n{}",
                    example.output.join("\n")
                ));
            }
            let mut lines = vec![format!("$ {}", example.command)];
            lines.extend(update(&example.output, &actual));
            updated.push(lines.join("\n"));
        }
        outcome
            .updated
            .push_str(&page.text[copied..block.range.start]);
        outcome.updated.push_str(&updated.join("\n\n"));
        outcome.updated.push('\n');
        copied = block.range.end;
    }
    outcome.updated.push_str(&page.text[copied..]);
    outcome
}

/// Runs the examples of a page that begins in an empty folder in a terminal. Returns each command and what the terminal
/// shows, with exit codes that are not 0.
pub(crate) fn record(page: &Page, columns: usize) -> String {
    let mut shell = Shell::empty();
    shell.columns = Some(columns);
    let mut recording = String::new();
    for block in page.blocks() {
        if let Some(file) = block.file() {
            shell.write(file, block.text);
        }
        if block.language != "console" {
            continue;
        }
        for example in examples(block.text).expect("another test reads it as well") {
            let (exit, text) = shell.run(example.command);
            recording.push_str(&format!("$ {}\n", example.command));
            for line in text.lines() {
                recording.push_str(&without_time(line).replace(TIME, SHOWN_TIME));
                recording.push('\n');
            }
            if exit != Some(0) {
                recording.push_str(&format!("[exit {exit:?}]\n"));
            }
            recording.push('\n');
        }
    }
    recording
}

/// The examples of a block, with one empty line between them.
fn examples(block: &str) -> Result<Vec<Example<'_>>, String> {
    let mut examples: Vec<Example<'_>> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), examples.last_mut()) {
            (Some(command), before) => {
                if before.is_some_and(|before| before.output.pop() != Some("")) {
                    return Err(format!("there is no empty line before `{command}`"));
                }
                let output = Vec::new();
                examples.push(Example { command, output });
            }
            (None, Some(example)) => example.output.push(line),
            (None, None) => return Err("the first line is not a command".to_owned()),
        }
    }
    if let Some(example) = examples.iter().find(|example| {
        example
            .output
            .iter()
            .filter(|line| **line == ELISION)
            .count()
            > 1
    }) {
        return Err(format!("`{}` has two lines `{ELISION}`", example.command));
    }
    Ok(examples)
}

/// The exit codes that the commands of a block should have.
fn exits(block: &Block<'_>, count: usize) -> Result<Vec<i32>, String> {
    let Some(codes) = comment(block.line_before, "exit") else {
        return Ok(vec![0; count]);
    };
    let exits: Result<Vec<i32>, _> = codes.split(' ').map(str::parse).collect();
    let exits = exits.map_err(|_| format!("`{codes}` is not a list of exit codes"))?;
    if exits.len() == count {
        Ok(exits)
    } else {
        Err(format!(
            "`{codes}` is not an exit code for each of {count} commands"
        ))
    }
}

/// Whether a command printed what the page shows.
fn matches(expected: &[&str], actual: &[&str]) -> bool {
    let are_equal = |expected: &[&str], actual: &[&str]| {
        let actual = actual.iter().map(|line| without_time(line));
        expected.iter().map(|line| without_time(line)).eq(actual)
    };
    match around_elision(expected) {
        None => are_equal(expected, actual),
        Some((head, tail)) => {
            actual.len() >= head.len() + tail.len()
                && are_equal(head, &actual[..head.len()])
                && are_equal(tail, &actual[actual.len() - tail.len()..])
        }
    }
}

/// The output that the page should show. As many lines as before are left out. A time stays if nothing else in its
/// line has changed; others are replaced by [`SHOWN_TIME`], for those of a debug build mislead readers.
fn update(expected: &[&str], actual: &[&str]) -> Vec<String> {
    let keep_time = |line: &&str| {
        let without = without_time(line);
        match expected.iter().find(|old| without_time(old) == without) {
            Some(old) => (*old).to_owned(),
            None => without.replace(TIME, SHOWN_TIME),
        }
    };
    match around_elision(expected) {
        Some((head, tail)) if actual.len() > head.len() + tail.len() => {
            let head = actual[..head.len()].iter().map(keep_time);
            let tail = actual[actual.len() - tail.len()..].iter().map(keep_time);
            head.chain([ELISION.to_owned()]).chain(tail).collect()
        }
        _ => actual.iter().map(keep_time).collect(),
    }
}

/// The lines before and after those that are left out.
fn around_elision<'a, 'b>(lines: &'a [&'b str]) -> Option<(&'a [&'b str], &'a [&'b str])> {
    let place = lines.iter().position(|line| *line == ELISION)?;
    Some((&lines[..place], &lines[place + 1..]))
}

/// A line of output without the time that it ends with.
fn without_time(line: &str) -> String {
    match line.strip_suffix(" ms") {
        Some(rest) => {
            let rest = rest.trim_end_matches(|character: char| character.is_ascii_digit());
            format!("{rest}{TIME} ms")
        }
        None => line.to_owned(),
    }
}

/// The shell of a user who has just cloned the project and installed the program.
struct Shell {
    /// The copy of the project and the home of the user.
    scratch: tempfile::TempDir,
    directory: PathBuf,
    server: Option<Server>,
    /// The columns of the terminal that commands run in; none if they write into a pipe.
    columns: Option<usize>,
}

/// The address of a server by default, which pages show.
const SHOWN_ADDRESS: &str = "127.0.0.1:8642";

/// A free address as long as the one that is shown, as the columns of tables depend on that. Linux has all loopback
/// addresses; elsewhere, any free port of the usual one has to do.
fn free_address() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);

    let mut tries = std::iter::repeat_with(|| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed) + std::process::id() as usize;
        let [second, third, last] = [number / 64 % 8, number / 8 % 8, number % 8];
        format!("127.{}.{}.{}:8642", second + 1, third + 1, last + 1)
    });
    let free = tries
        .by_ref()
        .take(512)
        .find(|address| TcpListener::bind(address).is_ok());
    free.unwrap_or_else(|| "127.0.0.1:0".to_owned())
}

/// A server in the background.
struct Server {
    child: Child,
    /// Host and port.
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shell {
    /// A shell in a folder of the project.
    fn new(folder: &str) -> Self {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let project = scratch.path().join("project");
        let home = scratch.path().join("home");
        for folder in [&project, &home] {
            std::fs::create_dir(folder).expect("it is new");
        }
        let copied = Command::new("cp")
            .arg("-R")
            .args([root().join("fixtures"), project.clone()])
            .status()
            .expect("`cp` is there");
        assert!(copied.success(), "the fixtures can be copied");
        let directory = project.join(folder);
        assert!(directory.is_dir(), "{folder} is a folder of the fixtures");
        Self {
            scratch,
            directory,
            server: None,
            columns: None,
        }
    }

    /// A shell in an empty folder.
    fn empty() -> Self {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let directory = scratch.path().join("project");
        for folder in [&directory, &scratch.path().join("home")] {
            std::fs::create_dir(folder).expect("it is new");
        }
        Self {
            scratch,
            directory,
            server: None,
            columns: None,
        }
    }

    /// Writes a file that a page shows.
    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    fn write(&self, file: &str, text: &str) {
        let path = self.directory.join(file);
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).expect("it can be created");
        std::fs::write(&path, self.with_address(text)).expect("it can be written");
    }

    /// Starts a server that writes its log to a file, and returns its address as a page shows it.
    #[expect(clippy::disallowed_methods, reason = "the log of a test")]
    fn serve(&mut self, arguments: &str, log: &str) -> String {
        let log = File::create(self.directory.join(log)).expect("it can be created");
        let mut child = Command::new(env!("CARGO_BIN_EXE_pkgres"))
            .args(["serve", "--listen", &free_address()])
            .args(arguments.split_whitespace())
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        let read = std::io::BufReader::new(stdout).read_line(&mut line);
        read.expect("the address is text");
        let address = line
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned();
        let shown = line.replace(&address, SHOWN_ADDRESS);
        self.server = Some(Server { child, address });
        shown
    }

    /// Text of a page with the address of the server in place of the default one.
    fn with_address(&self, text: &str) -> String {
        match &self.server {
            Some(server) => text.replace(SHOWN_ADDRESS, &server.address),
            None => text.to_owned(),
        }
    }

    /// Runs a command. Returns its exit code, and what it printed to stdout and stderr.
    fn run(&mut self, command: &str) -> (Option<i32>, String) {
        let in_background = command.strip_suffix(" &");
        if let Some(arguments) = in_background.and_then(|it| it.strip_prefix("pkgres serve ")) {
            let (arguments, log) = arguments
                .split_once(" 2> ")
                .expect("the log would appear between commands");
            return (Some(0), self.serve(arguments, log));
        }
        let (exit, output) = self.run_in_shell(&self.with_address(command));
        let output = match &self.server {
            Some(server) => output.replace(&server.address, SHOWN_ADDRESS),
            None => output,
        };
        (exit, output)
    }

    fn run_in_shell(&self, command: &str) -> (Option<i32>, String) {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let programs = Path::new(env!("CARGO_BIN_EXE_pkgres"))
            .parent()
            .expect("a program is in a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [programs.to_owned()].into_iter();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path)));
        let mut shell = match self.columns {
            None => Command::new("sh"),
            Some(_) => Command::new("script"),
        };
        match self.columns {
            None => shell.args(["-c", command]),
            Some(columns) => shell
                .args(["--quiet", "--return", "--command"])
                .arg(format!("stty rows 50 cols {columns}; {command}"))
                .arg("/dev/null"),
        };
        let mut child = shell
            .current_dir(&self.directory)
            .env_clear()
            .env("PATH", path.expect("it was one before"))
            .env("HOME", self.scratch.path().join("home"))
            .env("NO_COLOR", "1")
            // A spinner appears or not, as the machine is slow or fast.
            .env("PKGRES_NO_PROGRESS", "1")
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stdout(writer.try_clone().expect("a pipe can be shared"))
            .stderr(writer)
            .spawn()
            .expect("the shell is there");
        // It has the end of the pipe that the output ends with.
        drop(shell);
        let mut output = String::new();
        reader.read_to_string(&mut output).expect("output is UTF-8");
        let status = child.wait().expect("it was started");
        // A terminal adds carriage returns.
        (status.code(), output.replace("\r\n", "\n"))
    }
}

#[test]
fn blocks_are_split_into_examples() {
    let block = "$ first\na\n\nb\n\n$ second\n\n$ third\nc\n";
    let found = examples(block).expect("it is well-formed");
    let example = |command, output| Example { command, output };
    assert_eq!(
        found,
        [
            example("first", vec!["a", "", "b"]),
            example("second", vec![]),
            example("third", vec!["c"])
        ]
    );
    for wrong in [
        "no command\n",
        "$ first\na\n$ second\n",
        "$ a\n...\nb\n...\n",
    ] {
        assert!(examples(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn every_byte_is_compared_except_for_times() {
    let same: [(&[&str], &[&str]); 4] = [
        (&["a", "in 3 ms"], &["a", "in 471 ms"]),
        (&["a", "...", "d"], &["a", "b", "c", "d"]),
        (&["a", "..."], &["a"]),
        (&[], &[]),
    ];
    for (expected, actual) in same {
        assert!(matches(expected, actual), "{expected:?} {actual:?}");
        assert_eq!(update(expected, expected), expected);
    }
    let different: [(&[&str], &[&str]); 10] = [
        (&["a"], &["a "]),
        (&["a"], &["a", ""]),
        (&["a"], &["a", "b"]),
        (&["a", "b"], &["a"]),
        (&["2 in 3 ms"], &["3 in 3 ms"]),
        (&["for 3 s"], &["for 4 s"]),
        (&["a", "...", "d"], &["a", "b", "c"]),
        (&["a", "...", "a"], &["a"]),
        (&["[..]"], &["a"]),
        (&[], &["a"]),
    ];
    for (expected, actual) in different {
        assert!(!matches(expected, actual), "{expected:?} {actual:?}");
        assert!(matches(
            &update(expected, actual)
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
            actual
        ));
    }
    assert_eq!(
        update(&["x", "2 in 4 ms"], &["y", "2 in 9 ms", "5 in 9 ms"]),
        ["y", "2 in 4 ms", "5 in 3 ms"]
    );
    assert_eq!(
        update(&["a", "...", "d"], &["x", "b", "c", "y"]),
        ["x", "...", "y"]
    );
}

#[test]
fn pages_that_are_wrong_are_seen_and_mended() {
    let page = |text: &str| Page {
        name: "page".to_owned(),
        text: text.to_owned(),
    };
    let wrong = page(
        "<!-- folder: fixtures/book -->\nbefore\n<!-- exit: 0 1 -->\n```console\n$ ls app\nold\n\n\
         $ echo new > app/more; ls app; exit 3\n```\nafter\n",
    );
    let outcome = run(&wrong);
    assert_eq!(outcome.differences.len(), 2);
    assert_eq!(outcome.wrong_exits.len(), 1);
    let right = "<!-- folder: fixtures/book -->\nbefore\n<!-- exit: 0 1 -->\n```console\n$ ls app\nmanifest.yaml\n\
         pkgres.lock\n\n$ echo new > app/more; ls app; exit 3\nmanifest.yaml\nmore\npkgres.lock\n```\nafter\n";
    assert_eq!(outcome.updated, right);
    let again = run(&page(right));
    assert!(again.differences.is_empty(), "{:?}", again.differences);
    assert_eq!(again.updated, right);
}
