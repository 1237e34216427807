//! `--format json`: stdout is one JSON document on every path, also for errors, unknown names and empty answers.

use std::path::Path;
use std::process::Command;

use pkgres_tests::answers;
use serde_json::Value;

/// Command lines that succeed, fail, find nothing or do not parse.
const LINES: &[&str] = &[
    "add org.example.Nothing@1 --manifest-path app",
    "add 1.0 --manifest-path app",
    "cache clean",
    "cache dir",
    "cache forget nothing",
    "cache list",
    "cache verify",
    "check app",
    "check nowhere",
    "completions bash",
    "config list",
    "diff app app",
    "diff app nowhere",
    "explain --list",
    "explain PK0012",
    "explain PK9999",
    "explain app",
    "explain clash",
    "export app",
    "export nowhere",
    "fetch nowhere",
    "fetch clash",
    "graph app",
    "graph clash",
    "index nowhere",
    "init app",
    "lock app --check",
    "lock clash",
    "lock nowhere",
    "login nothing",
    "man",
    "nothing",
    "outdated app",
    "outdated clash",
    "pack nowhere",
    "pin nowhere.yaml",
    "prune --target rootfs:nowhere",
    "publish nowhere",
    "remove org.example.Nothing --manifest-path app",
    "repair app",
    "repair clash",
    "repair clash --apply 9",
    "repair nowhere",
    "resolve app",
    "resolve app --max-steps 0",
    "resolve app --registry index:nowhere.ndjson",
    "resolve clash",
    "resolve nowhere",
    "schema manifest",
    "serve --data index.ndjson",
    "spec >=1 2.0.0",
    "spec >=1 <2",
    "spec 1 2.0.0",
    "tree app",
    "tree app --depth 1",
    "tree app --duplicates",
    "tree app --invert org.example.Nothing",
    "tree --bogus",
    "unpack nowhere.zip new",
    "update --manifest-path clash",
    "update org.example.Nothing --manifest-path app",
    "vendor new clash",
    "verify clash",
    "why org.example.Nothing app",
    "why org.example.Web app",
    "yank org.example.Web@1.0.0 --reason x",
];

/// The command lines of a newcomer, by command, for projects that lack something.
const BY_COMMAND: &[&str] = &[
    "add org.example.Nothing",
    "apply --target rootfs:machine",
    "cache list",
    "call org.example.Nothing status --target rootfs:machine",
    "check",
    "config get prefer",
    "config list",
    "config set nothing x",
    "diff",
    "explain",
    "export",
    "export-static new --data nowhere",
    "fetch",
    "graph",
    "index .",
    "info org.example.Nothing",
    "install new",
    "interface init --from org.example.Nothing",
    "lock",
    "lock --check",
    "login",
    "logout",
    "outdated",
    "owner list org.example.Nothing",
    "pack --output new.zip",
    "pin nowhere.yaml",
    "plan --target rootfs:machine",
    "publish",
    "remove org.example.Nothing",
    "repair",
    "resolve",
    "search nothing",
    "semver @newest",
    "spec 1",
    "token list",
    "tree",
    "tree --invert org.example.Nothing",
    "unpack nowhere.zip new-folder",
    "update",
    "update org.example.Nothing",
    "prune --target rootfs:machine",
    "validate . --target rootfs:machine",
    "vendor new-archives",
    "verify",
    "verify-certificate nowhere",
    "whoami",
    "why org.example.Nothing",
    "why-not org.example.Nothing",
    "yank org.example.Nothing@1.0.0 --reason x",
];

/// Projects that lack something: their names, and what is in their manifest, if they have one.
const PROJECTS: &[(&str, Option<&str>)] = &[
    ("empty", None),
    ("unreadable", Some("FullName: [\n")),
    ("binary", Some("\u{0}\u{1}\u{2}")),
    (
        "new",
        Some("FullName: org.example.New\nType: Library\nVersion: 1.0.0\n"),
    ),
];

/// Runs the binary with `--format json` in a folder, away from the settings of whoever runs the test. What it answers
/// has to be as the schema of the command says.
fn run(line: &str, folder: &Path, state: &Path) -> std::process::Output {
    let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .args(line.split(' '))
        .args(["--format", "json"])
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("HOME", state)
        .env("PKGRES_CACHE", state)
        .env("PKGRES_STATE", state)
        .env("PKGRES_CREDENTIALS", state)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the program starts");
    crate::program::check_hints(&output);
    let stdout = String::from_utf8_lossy(&output.stdout);
    if let Some(command) = answers::command_of(line.split(' ')) {
        let faults = answers::faults(command, &stdout);
        assert!(faults.is_empty(), "{line}: {faults:?}");
    }
    output
}

/// Every command, in a folder without a project, with a manifest that cannot be read, and in a new project without a
/// lockfile: stdout has one document. If the command fails, it says why there, and stderr has no error.
#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn projects_that_lack_something_get_an_answer_in_json() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let state = folder.path().join("state");
    let mut wrong = Vec::new();
    let mut known: Vec<&str> = BY_COMMAND.iter().map(|line| first_word(line)).collect();
    known.extend(["completions", "init", "man", "schema", "semver", "serve"]);
    for command in commands() {
        assert!(known.contains(&&*command), "{command} has no case");
    }
    for (name, manifest) in PROJECTS {
        for line in BY_COMMAND {
            let path = folder.path().join(name).join("project");
            std::fs::create_dir_all(path.join("machine")).expect("a folder");
            if let Some(manifest) = manifest {
                crate::program::write(&path.join("manifest.yaml"), manifest);
            }
            let output = run(line, &path, &state);
            let (stdout, stderr) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            // What happens to resources is a line each; the last one is the result.
            let document = match stdout.split_once('\n') {
                Some((event, rest)) if event.starts_with("{\"event\":") => rest,
                _ => &stdout,
            };
            let parsed: Option<Value> = serde_json::from_str(document).ok();
            let is_answer = parsed.is_some_and(|document| {
                let errors = document.get("diagnostics").and_then(Value::as_array);
                let says_why = errors.is_some_and(|errors| !errors.is_empty())
                    || document.get("conflict").is_some()
                    || document.get("findings").is_some();
                document.is_object() && (output.status.success() || says_why)
            });
            if !is_answer || stderr.contains("error") {
                let status = output.status;
                wrong.push(format!("{name}: {line} ({status}): {stdout:?} {stderr:?}"));
            }
            std::fs::remove_dir_all(folder.path().join(name)).expect("the folder can be removed");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn first_word(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

/// The commands that the help lists.
fn commands() -> Vec<String> {
    let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .arg("--help")
        .env("NO_COLOR", "1")
        .output()
        .expect("the program starts");
    let help = String::from_utf8(output.stdout).expect("it is text");
    let lines = help.lines().take_while(|line| *line != "Options:");
    let named = lines.filter_map(|line| line.strip_prefix("  "));
    let named = named.filter(|line| !line.starts_with(' ')).map(first_word);
    named
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// A package that is not there is an answer of `why`, `tree --invert` and `info`, and wrong input for commands that
/// change something.
#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn unknown_packages_have_the_same_exit_code_in_json() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (project, state) = (
        folder.path().join("in/project"),
        folder.path().join("state"),
    );
    std::fs::create_dir_all(&project).expect("a folder");
    let (_, manifest) = PROJECTS[3];
    let path = project.join("manifest.yaml");
    crate::program::write(&path, manifest.unwrap_or_default());
    assert!(run("lock", &project, &state).status.success());
    for (line, exit) in [
        ("info org.example.Nothing", 1),
        ("remove org.example.Nothing", 2),
        ("tree --invert org.example.Nothing", 1),
        ("update org.example.Nothing", 2),
        ("why org.example.Nothing", 1),
        ("why-not org.example.Nothing", 1),
    ] {
        let output = run(line, &project, &state);
        assert_eq!(output.status.code(), Some(exit), "{line}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(document["status"], "error", "{line}: {document}");
        let message = document["diagnostics"][0]["message"].as_str();
        let names_it = message.is_some_and(|message| message.contains("org.example.Nothing"));
        assert!(names_it, "{line}: {document}");
        assert!(output.stderr.is_empty(), "{line}: {output:?}");
    }
}

#[test]
fn stdout_is_one_document() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli/views.in");
    let copied = Command::new("cp")
        .arg("-R")
        .args([&source, folder.path()])
        .status()
        .expect("`cp` is there");
    assert!(copied.success());
    let state = folder.path().join("state");
    let mut wrong = Vec::new();
    for line in LINES {
        let output = run(line, &folder.path().join("views.in"), &state);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let parsed: Result<Value, _> = serde_json::from_str(&stdout);
        // Documents in a format of its own have no version of ours.
        let is_document = parsed.is_ok_and(|document| {
            document.is_object()
                && (document.get("schema_version").is_none()
                    || document["status"].is_string()
                        && document["notes"].is_array()
                        && document["diagnostics"].is_array())
        });
        if !is_document {
            wrong.push(format!("{line} ({}): {stdout:?}", output.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Warnings about registries, which every command can have, are in the document, and each is reported once.
#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn warnings_and_notes_are_in_the_document() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (packages, state) = (folder.path().join("packages"), folder.path().join("state"));
    let project = packages.join("project");
    for (name, text) in [
        (
            "project",
            "FullName: org.example.App\nType: Application\nRequire: {org.example.Db: '1'}\n",
        ),
        (
            "db",
            "FullName: org.example.Db\nType: Library\nVersion: 1.0.0\n",
        ),
        ("broken", "FullName: org.example.Broken\nType: Nothing\n"),
    ] {
        std::fs::create_dir_all(packages.join(name)).expect("a folder");
        crate::program::write(&packages.join(name).join("manifest.yaml"), text);
    }
    let lines = [
        "lock",
        "add org.example.Db@* --dry-run",
        "add org.example.Db --dry-run",
        "explain",
        "fetch",
        "graph",
        "info org.example.Db --registry dir:..",
        "lock --check",
        "outdated",
        "remove org.example.Db --dry-run",
        "repair",
        "resolve",
        "search example --registry dir:..",
        "tree",
        "update --dry-run",
        "vendor archives",
        "verify",
        "why org.example.Db",
        "why-not org.example.Db@1.0.0",
        "why-not org.example.Db@2.0.0",
    ];
    for line in lines {
        let output = run(line, &project, &state);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let document: Value = serde_json::from_slice(&output.stdout).expect(line);
        let warnings = document["diagnostics"].as_array().expect(line);
        let mut warnings = warnings.iter();
        let is_it = |warning: &&Value| warning["code"] == "PK0042";
        assert!(
            warnings.any(|warning| is_it(&warning)),
            "{line}: {document}"
        );
        assert!(
            !warnings.any(|warning| is_it(&warning)),
            "{line}: {document}"
        );
        assert!(!stderr.contains("warning"), "{line}: {stderr}");
    }
    let text = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .args(["why-not", "org.example.Db@2.0.0"])
        .current_dir(&project)
        .env("HOME", &state)
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&text.stderr);
    assert_eq!(text.matches("PK0042").count(), 1, "{text}");
    crate::program::write(&project.join("pkgres.lock"), "damaged");
    let output = run("lock --dry-run", &project, &state);
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let note = document["notes"][0].as_str().unwrap_or_default();
    let built_in = document["notes"][1].as_str().unwrap_or_default();
    assert!(
        note.contains("is damaged") || built_in.contains("is damaged"),
        "{document}"
    );
}
