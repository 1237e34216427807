//! Commands that change a project at the same time: the change of each command that succeeds is kept.
//!
//! `ROUNDS` sets how often each is tried; 200 rounds take some minutes. The commands of a round with different commands
//! follow from its number.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use pkgres_files::lock_folder;
use pkgres_tests::random::Random;
use pkgres_tests::writers::{self, WRITERS, rounds};

use crate::program::{command, pkgres, write};

/// A project that requires the packages `P0` to `P4` in the manner of `requires`, with a registry that has 1.0.0 and
/// 1.1.0 of each.
pub(crate) fn project(requires: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| write(&folder.path().join(name), text);
    let records = (0..WRITERS).flat_map(|number| {
        ["1.0.0", "1.1.0"].map(|version| {
            format!(
                r#"{{"name":"P{number}","version":"{version}","classes":{{"C{number}":{{}}}}}}"#
            ) + "\n"
        })
    });
    write("index.ndjson", &records.collect::<String>());
    write(
        "pkgres.toml",
        "no-core-library = true\n[registries.r]\nlocation = \"index:index.ndjson\"\n",
    );
    let manifest = "Type: Application\nFullName: App\nVersion: 1.0.0\nRequire:\n";
    write("manifest.yaml", &format!("{manifest}{requires}"));
    folder
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) {
    let output = pkgres(folder, arguments);
    assert!(output.status.success(), "{output:?}");
}

/// Starts the command of each writer at once. Returns the writers whose command succeeded.
pub(crate) fn at_once(folder: &Path, arguments: impl Fn(usize) -> Vec<String>) -> Vec<usize> {
    writers::at_once(|number| {
        let arguments = arguments(number);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        command(folder, &arguments)
    })
}

/// Whether nothing temporary is left, and the lockfile is up to date.
pub(crate) fn assert_clean(folder: &Path) {
    run(folder, &["lock", "--check"]);
    let names = std::fs::read_dir(folder).expect("readable");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let mut names = names.filter_map(|name| name.into_string().ok());
    assert_eq!(names.find(|name| name.starts_with(".pkgres-")), None);
}

pub(crate) fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("readable")
}

#[test]
fn every_setting_that_was_written_is_there() {
    let settings = [
        "prefer = \"oldest\"",
        "max-steps = 7",
        "offline = true",
        "prerelease = \"allow\"",
        "quiet = true",
    ];
    for _ in 0..rounds() {
        let home = tempfile::tempdir().expect("a temporary folder");
        // The folder of the settings does not exist yet.
        let file = home.path().join("config/pkgres/config.toml");
        let file = file.to_str().expect("text").to_owned();
        let done = at_once(home.path(), |number| {
            let (key, value) = settings[number].split_once(" = ").expect("a setting");
            let words = [
                "config",
                "set",
                key,
                value.trim_matches('"'),
                "--config",
                &file,
            ];
            words.map(str::to_owned).to_vec()
        });
        assert_eq!(done.len(), WRITERS);
        let text = text(home.path(), "config/pkgres/config.toml");
        for setting in settings {
            assert!(text.lines().any(|line| line == setting), "{text}");
        }
    }
}

#[test]
fn every_requirement_that_was_added_is_there() {
    for _ in 0..rounds() {
        let project = project("  P0: '*'\n");
        let folder = project.path();
        let done = at_once(folder, |number| {
            vec!["add".to_owned(), format!("P{number}@1")]
        });
        assert_eq!(done.len(), WRITERS);
        let (manifest, lock) = (text(folder, "manifest.yaml"), text(folder, "pkgres.lock"));
        for number in 0..WRITERS {
            assert!(manifest.contains(&format!("  P{number}: ")), "{manifest}");
            assert!(lock.contains(&format!("name: P{number}\n")), "{lock}");
        }
        assert_clean(folder);
        let done = at_once(folder, |number| {
            vec!["remove".to_owned(), format!("P{number}")]
        });
        assert_eq!(done.len(), WRITERS);
        assert!(!text(folder, "manifest.yaml").contains("  P"));
        assert_clean(folder);
    }
}

#[test]
fn every_package_that_was_updated_is_locked_so() {
    let requires: String = (0..WRITERS)
        .map(|number| format!("  P{number}: 1.0\n"))
        .collect();
    for _ in 0..rounds() {
        let project = project(&requires);
        let folder = project.path();
        run(folder, &["lock"]);
        let manifest = text(folder, "manifest.yaml").replace(": 1.0\n", ": 1\n");
        write(&folder.join("manifest.yaml"), &manifest);
        let done = at_once(folder, |number| {
            vec!["update".to_owned(), format!("P{number}")]
        });
        assert_eq!(done.len(), WRITERS);
        let lock = text(folder, "pkgres.lock");
        assert!(!lock.contains("version: 1.0.0"), "{lock}");
        assert_clean(folder);
    }
}

#[test]
fn members_with_settings_of_their_own_are_locked_as_well() {
    let workspace = tempfile::tempdir().expect("a temporary folder");
    let folder = workspace.path();
    let settings = "no-core-library = true\n";
    let table = "[workspace]\nmembers = [\"one\", \"own\"]\n";
    write(&folder.join("pkgres.toml"), &format!("{settings}{table}"));
    write(&folder.join("own/pkgres.toml"), settings);
    for member in ["one", "own"] {
        let manifest = format!("Type: Application\nFullName: {member}\nVersion: 1.0.0\n");
        write(&folder.join(member).join("manifest.yaml"), &manifest);
    }
    let lock = lock_folder(&folder.join("own"), || ()).expect("no other process has it");
    let mut command = command(folder, &["lock", "--workspace"]);
    let mut run = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(run.stderr.take().expect("a pipe")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert!(first.starts_with("Waiting for another pkgres"), "{first}");
    assert!(!folder.join("own/pkgres.lock").exists());
    drop(lock);
    assert!(run.wait().expect("it ends").success());
    assert!(folder.join("own/pkgres.lock").exists());
}

#[test]
fn equal_lockfiles_and_models_do_not_fail() {
    let model = r#"{"a": {"?": {"id": "a", "type": "C0"}}, "b": {"?": {"id": "b", "type": "C1"}}}"#;
    for _ in 0..rounds() {
        let project = project("  P0: 1\n  P1: 1\n");
        let folder = project.path();
        let done = at_once(folder, |_| vec!["lock".to_owned()]);
        assert_eq!(done.len(), WRITERS);
        assert_clean(folder);
        write(&folder.join("model.json"), model);
        let in_place = ["pin", "model.json", "--in-place"];
        let done = at_once(folder, |_| in_place.map(str::to_owned).to_vec());
        assert_eq!(done.len(), WRITERS);
        run(folder, &["pin", "model.json", "--check"]);
    }
}

/// A command that changes a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Requires a package that was not required.
    Add,
    /// Requires newer versions of a package.
    AddNewer,
    Remove,
    Update,
    Lock,
    /// Pins a model with a class of the package to the locked version.
    Pin,
    /// Writes a setting.
    Set,
}

const CHANGES: [Change; 7] = [
    Change::Add,
    Change::AddNewer,
    Change::Remove,
    Change::Update,
    Change::Lock,
    Change::Pin,
    Change::Set,
];

impl Change {
    /// The command for a package with this number.
    fn command(self, number: usize) -> Vec<String> {
        let line = match self {
            Self::Add => format!("add P{number}@1.0"),
            Self::AddNewer => format!("add P{number}@1.1"),
            Self::Remove => format!("remove P{number}"),
            Self::Update => format!("update P{number}"),
            Self::Lock => "lock".to_owned(),
            Self::Pin => format!("pin model{number}.json --lock pkgres.lock --in-place"),
            Self::Set => format!("config set {} --project", SETTINGS[number]),
        };
        line.split(' ').map(str::to_owned).collect()
    }

    /// The locked version of its package in the end; `None` if it is not required.
    fn locked(self) -> Option<&'static str> {
        match self {
            Self::AddNewer | Self::Update => Some("1.1.0"),
            Self::Remove => None,
            Self::Add | Self::Lock | Self::Pin | Self::Set => Some("1.0.0"),
        }
    }
}

/// Settings that do not change which versions are chosen, with their values.
const SETTINGS: [&str; WRITERS] = [
    "max-steps 100000",
    "max-packages 1000",
    "network-timeout 60",
    "prerelease never",
    "single-version true",
];

/// The locked version of each package.
fn locked(lock: &str) -> Vec<Option<&str>> {
    let version = |number: usize| {
        let name = format!("- name: P{number}");
        let mut lines = lock.lines().skip_while(|line| *line != name);
        lines.nth(1)?.strip_prefix("  version: ")
    };
    (0..WRITERS).map(version).collect()
}

#[test]
fn different_commands_at_once_all_change_the_project() {
    for round in 0..rounds() {
        let mut random = Random::new(round as u64);
        let changes: Vec<Change> = (0..WRITERS).map(|_| *random.pick(&CHANGES)).collect();
        let required = |spec: &str| -> String {
            let numbers = (0..WRITERS).filter(|number| changes[*number] != Change::Add);
            numbers
                .map(|number| format!("  P{number}: {spec}\n"))
                .collect()
        };
        let project = project(&required("1.0"));
        let folder = project.path();
        run(folder, &["lock"]);
        let manifest = text(folder, "manifest.yaml");
        let manifest = manifest.replace(&required("1.0"), &required("1"));
        write(&folder.join("manifest.yaml"), &manifest);
        for number in 0..WRITERS {
            let model = format!(r#"{{"?": {{"id": "a", "type": "C{number}"}}}}"#);
            write(&folder.join(format!("model{number}.json")), &model);
        }

        let done = at_once(folder, |number| changes[number].command(number));
        let shown = format!("round {round}: {changes:?}");
        assert_eq!(done.len(), WRITERS, "{shown}: only {done:?} ended well");

        let lock = text(folder, "pkgres.lock");
        let expected: Vec<_> = changes.iter().map(|change| change.locked()).collect();
        assert_eq!(locked(&lock), expected, "{shown}");
        let manifest = text(folder, "manifest.yaml");
        let settings = text(folder, "pkgres.toml");
        for (number, change) in changes.iter().enumerate() {
            let entry = format!("  P{number}: ");
            let is_required = manifest.contains(&entry);
            assert_eq!(
                is_required,
                *change != Change::Remove,
                "{shown}: {manifest}"
            );
            match change {
                Change::Pin => {
                    let model = text(folder, &format!("model{number}.json"));
                    assert!(model.contains(r#""version": "1.0.0""#), "{shown}: {model}");
                }
                Change::Set => {
                    let (key, value) = SETTINGS[number].split_once(' ').expect("a setting");
                    let is_set = settings.lines().any(|line| {
                        let written = line.split_once(" = ");
                        written.is_some_and(|(at, is)| at == key && is.trim_matches('"') == value)
                    });
                    assert!(is_set, "{shown}: {settings}");
                }
                _ => {}
            }
        }
        assert_clean(folder);
    }
}
