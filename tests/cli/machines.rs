//! Runs on several machines at once.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use pkgres_tests::ssh::SshServer;
use serde_json::{Value, json};
use tempfile::TempDir;

const WEB: &str =
    "FullName: org.example.Web\nType: Application\nVersion: 1.0.0\nResources: r.yaml\n";

const RESOURCES: &str =
    "Package:\n- directory: /srv\n- file: /srv/web.conf\n  content: \"port=80\\n\"\n";

#[expect(clippy::disallowed_methods, reason = "a file of the test")]
fn write(folder: &TempDir, path: &str, text: &str) {
    let path = folder.path().join(path);
    let parent = path.parent().expect("it is in a folder");
    std::fs::create_dir_all(parent).expect("a new folder");
    std::fs::write(&path, text).expect("the file can be written");
}

/// Runs pkgres; returns its exit code and what it writes.
fn pkgres(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .current_dir(folder)
        .env("PKGRES_REGISTRY", "")
        .env("PKGRES_CACHE", folder.join("cache"))
        .env("PKGRES_STATE", folder.join("state"))
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// A folder with a locked package.
fn locked(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        write(&folder, path, text);
    }
    let (code, _, stderr) = pkgres(folder.path(), &["lock", "web", "--quiet"]);
    assert_eq!(code, Some(0), "{stderr}");
    folder
}

/// Two machines, and between them one on which a file is in the way.
fn three_machines() -> TempDir {
    let folder = locked(&[("web/manifest.yaml", WEB), ("web/r.yaml", RESOURCES)]);
    for path in ["a/tmp/x", "broken/srv", "c/tmp/x"] {
        write(&folder, path, "");
    }
    folder
}

const TARGETS: [&str; 6] = [
    "--target",
    "rootfs:a",
    "--target",
    "rootfs:broken",
    "--target",
    "rootfs:c",
];

fn with(first: &[&'static str], rest: &[&'static str]) -> Vec<&'static str> {
    [first, &TARGETS, rest].concat()
}

#[test]
fn a_failure_of_one_machine_does_not_stop_the_others() {
    let folder = three_machines();
    let arguments = with(&["apply", "web"], &["--forks", "3"]);
    let (code, stdout, stderr) = pkgres(folder.path(), &arguments);
    assert_eq!(code, Some(7), "{stderr}");
    let table = "machine        state       up to date  changes  failed  not looked at\n\
                 rootfs:a       up to date  2           2        0       0\n\
                 rootfs:broken  failed      0           0        1       1\n\
                 rootfs:c       up to date  2           2        0       0\n";
    assert!(stdout.ends_with(table), "{stdout}");
    for machine in ["rootfs:a     ", "rootfs:c     "] {
        for line in [
            "+ directory:/srv",
            "    folder: 0755",
            "+ file:/srv/web.conf",
        ] {
            let line = format!("{machine} | {line}\n");
            assert_eq!(stdout.matches(&line).count(), 1, "{line}{stdout}");
        }
    }
    let error = "rootfs:broken | error[PK0107]: directory:/srv: /srv exists, but is not a folder";
    assert!(stderr.contains(error), "{stderr}");
    for line in stderr.lines() {
        assert!(line.starts_with("rootfs:"), "{line}");
    }
    for root in ["a", "c"] {
        let written = std::fs::read(folder.path().join(root).join("srv/web.conf"));
        assert_eq!(written.expect("it was written"), b"port=80\n");
    }

    let arguments = with(&["plan", "web"], &["--format", "json"]);
    let (code, stdout, _) = pkgres(folder.path(), &arguments);
    assert_eq!(code, Some(7));
    let lines: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    let mut machines: Vec<_> = lines[..3]
        .iter()
        .map(|line| format!("{} {}", line["machine"], line["status"]))
        .collect();
    machines.sort();
    assert_eq!(
        machines,
        [
            "\"rootfs:a\" \"in_order\"",
            "\"rootfs:broken\" \"failed\"",
            "\"rootfs:c\" \"in_order\"",
        ]
    );
    assert_eq!(lines[3]["event"], "summary");
    assert_eq!(lines[3]["machines"][1]["exit_code"], 7);
    assert_eq!(lines.len(), 4);
}

#[test]
fn no_other_machine_is_begun_after_a_failure_if_that_is_wanted() {
    let folder = three_machines();
    let arguments = with(&["apply", "web"], &["--forks", "1", "--fail-fast"]);
    let (code, stdout, stderr) = pkgres(folder.path(), &arguments);
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stdout.contains("rootfs:a       up to date"), "{stdout}");
    assert!(stdout.contains("rootfs:c       not begun"), "{stdout}");
    assert!(folder.path().join("a/srv/web.conf").exists());
    assert!(!folder.path().join("c/srv").exists());
}

#[test]
fn a_run_can_be_limited_to_machines_of_an_inventory() {
    let folder = three_machines();
    let hosts = "targets:\n- {name: first, target: 'rootfs:a'}\n- {name: second, target: 'rootfs:broken'}\n- rootfs:c\n";
    write(&folder, "hosts.yaml", hosts);
    let apply = |limit: &[&'static str]| {
        let arguments = ["apply", "web", "--inventory", "hosts.yaml"];
        pkgres(folder.path(), &[&arguments, limit].concat())
    };
    let (code, stdout, stderr) = apply(&["--limit", "first"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("first    up to date  2"), "{stdout}");
    assert!(!stdout.contains("second") && !folder.path().join("c/srv").exists());
    let (code, stdout, _) = apply(&["--limit", "first,rootfs:c"]);
    assert_eq!(code, Some(0), "{stdout}");
    assert!(folder.path().join("c/srv/web.conf").exists());

    let (code, _, stderr) = apply(&["--limit", "frist"]);
    assert_eq!(code, Some(2));
    let expected = "the inventory has no machine `frist`\nhint: did you mean `first`?";
    assert!(stderr.contains(expected), "{stderr}");
    let (code, _, stderr) = pkgres(
        folder.path(),
        &["plan", "web", "--target", "rootfs:a", "--limit", "x"],
    );
    assert_eq!(code, Some(2), "{stderr}");
}

#[test]
fn machines_come_from_a_program() {
    let folder = locked(&[
        (
            "web/manifest.yaml",
            &(WEB.to_owned() + "Classes: {org.example.Web: Web.yaml}\n"),
        ),
        (
            "web/Classes/Web.yaml",
            "Name: org.example.Web\nProperties: {port: {Contract: $.int()}}\n",
        ),
        (
            "web/r.yaml",
            "Classes:\n  org.example.Web:\n  - file: \"${this.conf}\"\n    content: \"${this.port}\"\n",
        ),
        ("one/tmp/x", ""),
    ]);
    let model = |port: u16, conf: &str| {
        format!(
            "- \"?\": {{id: one, type: org.example.Web, package: org.example.Web, version: 1.0.0}}\n  port: {port}\n  conf: {conf}\n"
        )
    };
    write(&folder, "model.yaml", &model(80, "/web.conf"));
    let Some(server) = SshServer::start() else {
        return;
    };
    let by_ssh = folder.path().join("by ssh.conf");
    write(
        &folder,
        "hosts/other.yaml",
        &model(8080, &format!("\"{}\"", by_ssh.display())),
    );
    let target = format!("ssh://{}", server.address());
    write(
        &folder,
        "hosts/list",
        &format!(
            "#!/bin/sh\ncat <<E\n{{\"targets\": [{{\"name\": \"one\", \"target\": \"rootfs:one\"}},\n\
             {{\"name\": \"two\", \"target\": \"{target}\", \"model\": \"other.yaml\"}}]}}\nE\n"
        ),
    );
    let list = folder.path().join("hosts/list");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&list, mode).expect("it was written");
    let config = server.config();
    let config = config.to_str().expect("a path that is text");
    // One of the machines is the one that tests run on.
    let state = folder.path().join("state of machines");
    let state = state.to_str().expect("a path that is text");
    let arguments = [
        "apply",
        "web",
        "--model",
        "model.yaml",
        "--inventory",
        "hosts/list",
        "--ssh-config",
        config,
        "--state",
        state,
        "--format",
        "json",
    ];
    let (code, stdout, stderr) = pkgres(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{stderr}{stdout}");
    let read = |path: &Path| std::fs::read_to_string(path).expect("it was written");
    assert_eq!(read(&folder.path().join("one/web.conf")), "80");
    assert_eq!(read(&by_ssh), "8080");
    let summary: Value =
        serde_json::from_str(stdout.lines().last().expect("a line")).expect("it is JSON");
    assert_eq!(summary["machines"][1]["target"], target);
    let common = ["status", "notes", "diagnostics"].map(|field| &summary[field]);
    assert_eq!(common, [&json!("done"), &json!([]), &json!([])]);
    for line in stdout.lines().take(stdout.lines().count() - 1) {
        let event: Value = serde_json::from_str(line).expect("it is JSON");
        assert!(
            matches!(event["machine"].as_str(), Some("one" | "two")),
            "{line}"
        );
    }

    write(&folder, "failing", "#!/bin/sh\nexit 3\n");
    let failing = folder.path().join("failing");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(failing, mode).expect("it was written");
    let (code, _, stderr) = pkgres(folder.path(), &["plan", "web", "--inventory", "failing"]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("the inventory failing failed: exit status: 3"),
        "{stderr}"
    );
    let same = [
        "plan",
        "web",
        "--target",
        "rootfs:one",
        "--target",
        "rootfs:one",
    ];
    let (code, _, stderr) = pkgres(folder.path(), &same);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("rootfs:one is named twice"), "{stderr}");
}

/// sshd is stopped while a command runs: the connection stays open, and nothing answers any more.
#[test]
fn a_run_on_a_machine_that_hangs_ends_when_its_time_is_up() {
    let Some(server) = SshServer::start() else {
        return;
    };
    let begun = tempfile::tempdir().expect("a temporary folder");
    let file = begun.path().join("begun");
    let file = file.display();
    // Nothing ends a command whose connection is lost, so that it ends with the folder.
    let resources = format!(
        "Package:\n- exec: long\n  command: [sh, -c, ': > {file}; while [ -e {file} ]; do sleep 0.1; done']\n  \
         creates: {file}.never\n"
    );
    let folder = locked(&[("web/manifest.yaml", WEB), ("web/r.yaml", &resources)]);
    let target = format!("ssh://{}", server.address());
    let config = server.config();
    let state = folder.path().join("state of machine");
    let arguments = [
        "apply",
        "web",
        "--max-runtime",
        "5",
        "--target",
        &target,
        "--ssh-config",
        config.to_str().expect("a path that is text"),
        "--state",
        state.to_str().expect("a path that is text"),
    ];
    let (code, _, stderr) = std::thread::scope(|scope| {
        let run = scope.spawn(|| pkgres(folder.path(), &arguments));
        while !begun.path().join("begun").exists() && !run.is_finished() {
            std::thread::yield_now();
        }
        server.stop_connections();
        run.join().expect("it does not panic")
    });
    assert_eq!(code, Some(7), "{stderr}");
    let over = format!("The run on {target} ended because its time was up");
    assert!(stderr.contains(&over), "{stderr}");
    let error =
        format!("the connection to {target} failed: it did not answer until the run was over");
    assert!(stderr.contains(&error), "{stderr}");
    assert!(
        stderr.contains("run it again once the machine answers"),
        "{stderr}"
    );
}

#[test]
fn a_machine_on_which_a_class_contradicts_an_interface_is_left_alone() {
    let folder = locked(&[
        (
            "web/manifest.yaml",
            &(WEB.to_owned()
                + "Classes: {org.example.Web: Web.yaml}\nInterfaces: {org.example.Service: Service.yaml}\n\
                   Implements: {org.example.Web: org.example.Service}\n"),
        ),
        (
            "web/Classes/Web.yaml",
            "Name: org.example.Web\nMethods: {lock: {}}\n",
        ),
        (
            "web/Interfaces/Service.yaml",
            "Name: org.example.Service\nFunctions: {lock: {NotApplicable: {os: Plan9}}}\n",
        ),
        ("web/r.yaml", RESOURCES),
        ("one/tmp/x", ""),
        ("two/tmp/x", ""),
        (
            "hosts.yaml",
            "targets:\n- {name: one, target: 'rootfs:one', facts: {os: Plan9}}\n- {name: two, target: 'rootfs:two'}\n",
        ),
    ]);
    let (code, stdout, stderr) = pkgres(
        folder.path(),
        &["apply", "web", "--inventory", "hosts.yaml"],
    );
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("one | error[PK0104]"), "{stderr}");
    assert!(!stderr.contains("two | error"), "{stderr}");
    assert!(stdout.contains("\none      not conforming  0"), "{stdout}");
    assert!(stdout.contains("\ntwo      up to date      2"), "{stdout}");
    assert!(!folder.path().join("one/srv").exists());
    assert!(folder.path().join("two/srv/web.conf").exists());

    // Who cannot change the package accepts the violation, or all that are known.
    assert!(stderr.contains("`--allow conflict` deploys it"), "{stderr}");
    let plan = |options: &[&str]| {
        let arguments = [&["plan", "web", "--inventory", "hosts.yaml"], options].concat();
        pkgres(folder.path(), &arguments)
    };
    let (code, _, stderr) = plan(&["--allow", "signature-mismatch"]);
    assert_eq!(code, Some(1), "{stderr}");
    let (code, _, stderr) = plan(&["--allow", "conflict"]);
    assert_eq!(code, Some(0), "{stderr}");

    // It is known in a project that requires the package, before its deployment.
    write(&folder, "plan9.yaml", "os: Plan9\n");
    write(
        &folder,
        "app/manifest.yaml",
        "FullName: org.example.App\nType: Application\nVersion: 1.0.0\nRequire: {org.example.Web: 1}\n",
    );
    let check = |options: &[&str]| {
        let usual = ["check", "app", "--interfaces", "--facts", "plan9.yaml"];
        pkgres(folder.path(), &[&usual, options].concat())
    };
    let (code, _, stderr) = check(&[]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("warning[PK0104]"), "{stderr}");
    let (code, _, stderr) = check(&["--baseline", "known.txt", "--write-baseline"]);
    assert_eq!(code, Some(0), "{stderr}");
    let (_, _, stderr) = check(&["--baseline", "known.txt"]);
    assert!(!stderr.contains("PK0104"), "{stderr}");
    let (code, _, stderr) = plan(&["--baseline", "known.txt"]);
    assert_eq!(code, Some(0), "{stderr}");
}
