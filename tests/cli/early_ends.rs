//! Runs that end before their first change, and what machine-readable output says of runs that fail.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pkgres_tests::skip;
use rustix::fs::{Mode, OFlags};
use serde_json::Value;

use crate::deployment::{WEB, folder, lock_resources};
use crate::watched::{TIME_LIMIT, Watched, pkgres, write};

/// The JSON documents of a run, each on a line.
fn lines(stdout: &[u8]) -> Vec<Value> {
    let stdout = String::from_utf8_lossy(stdout);
    let lines = stdout.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("each line is JSON")
}

/// Sends a signal to a run, which has to end soon; returns its exit code.
fn end_by(signal: &str, mut run: Child) -> Option<i32> {
    let process = run.id().to_string();
    let killed = Command::new("kill").args([signal, &process]).status();
    assert!(killed.expect("kill starts").success());
    let start = Instant::now();
    loop {
        if let Some(status) = run.try_wait().expect("it is a child") {
            return status.code();
        }
        if start.elapsed() > TIME_LIMIT {
            let _ = run.kill();
            panic!("it goes on after the signal {signal}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_run_that_waits_for_another_one_can_be_ended() {
    let folder = folder();
    let holder = Watched::start(folder.path(), &WEB);
    holder.next("converged");
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut waiting = pkgres(folder.path())
            .arg("apply")
            .args(WEB)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stderr = waiting.stderr.take().expect("it is piped");
        let mut messages = BufReader::new(stderr).lines().map_while(Result::ok);
        let first = messages.next().expect("it says that it waits");
        assert!(first.starts_with("Waiting for another"), "{first}");
        assert_eq!(end_by(signal, waiting), Some(130));
        let last = "The run on rootfs:root was interrupted before the first change";
        assert_eq!(messages.next().as_deref(), Some(last));
    }

    let waiting = pkgres(folder.path())
        .arg("apply")
        .args(WEB)
        .args(["--max-runtime", "1", "--format", "json"])
        .output()
        .expect("the program starts");
    assert_eq!(waiting.status.code(), Some(1));
    let ended = lines(&waiting.stdout);
    assert_eq!(ended[0]["event"], "ended");
    assert_eq!(ended[0]["status"], "out_of_time");
}

#[test]
fn a_run_that_waits_for_a_connection_can_be_ended() {
    if Command::new("ssh").arg("-V").output().is_err() {
        skip::without_service("`ssh` is not there");
        return;
    }
    // It accepts connections, and says nothing.
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    let address = silent.local_addr().expect("it is bound");
    let target = format!("ssh://nobody@{address}");
    let folder = folder();
    for command in ["plan", "apply"] {
        let run = pkgres(folder.path())
            .args([command, "web", "--target", &target])
            .spawn()
            .expect("the program starts");
        let _connection = silent.accept().expect("it connects");
        assert_eq!(end_by("-INT", run), Some(130), "{command}");
    }
}

#[test]
fn a_machine_that_cannot_be_looked_at_has_a_document() {
    let folder = folder();
    for command in ["plan", "apply"] {
        let run = pkgres(folder.path())
            .args([command, "web", "--target", "rootfs:root"])
            .args(["--target", "rootfs:missing", "--format", "json"])
            .output()
            .expect("the program starts");
        assert_eq!(run.status.code(), Some(2));
        let documents = lines(&run.stdout);
        let of_missing = documents
            .iter()
            .find(|document| document["machine"] == "rootfs:missing")
            .expect("there is one");
        assert_eq!(of_missing["status"], "error");
        let message = of_missing["diagnostics"][0]["message"].to_string();
        assert!(message.contains("cannot open missing"), "{message}");
        let last = documents.last().expect("there is a summary");
        assert_eq!(last["event"], "summary");
    }
}

/// Whatever is on the machine, a plan that ends with an error says so in its document.
#[test]
fn the_documents_of_plans_and_runs_have_the_errors_of_resources() {
    let folder = folder();
    lock_resources(folder.path(), "Package:\n- directory: /there\n");
    write(&folder.path().join("root/there"), "a file");
    for command in ["plan", "apply"] {
        let mut run = pkgres(folder.path());
        run.arg(command).args(WEB).args(["--format", "json"]);
        let output = run.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(7), "{command}");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let document: Value = match command {
            "plan" => serde_json::from_str(&stdout).expect("it is JSON"),
            _ => lines(&output.stdout).pop().expect("there is a last line"),
        };
        let error = &document["diagnostics"][0];
        assert_eq!(error["code"], "PK0107", "{command}: {document}");
        assert_eq!(error["labels"][0]["file"], "web/r.yaml", "{document}");
    }
}

#[test]
fn a_plan_without_what_it_would_restore_has_failed() {
    let folder = folder();
    let at = |path: &str| folder.path().join(path);
    let resources = |text: &str| lock_resources(folder.path(), text);
    write(&at("root/web.conf"), "before\n");
    resources("Package:\n- file: /web.conf\n  content: x\n  meta: {reverse: true}\n");
    let applied = pkgres(folder.path()).arg("apply").args(WEB).status();
    assert!(applied.expect("the program starts").success());
    let kept = at("root/var/lib/pkgres/state/org.example.Web/contents");
    let mut contents = std::fs::read_dir(kept).expect("there is a state");
    let content = contents.next().expect("it is kept").expect("it is ours");
    write(&content.path(), "other\n");
    resources("Package: []\n");
    let plan = pkgres(folder.path())
        .arg("plan")
        .args(WEB)
        .args(["--format", "json"])
        .output()
        .expect("the program starts");
    assert_eq!(plan.status.code(), Some(7));
    let document: Value = serde_json::from_slice(&plan.stdout).expect("it is JSON");
    assert_eq!(document["status"], "failed");
    assert_eq!(document["diagnostics"][0]["code"], "PK0090");
}

/// A run reports its changes even if its last step fails.
#[test]
fn a_run_whose_metrics_cannot_be_written_reports_its_changes() {
    let folder = folder();
    write(
        &folder.path().join("web/r.yaml"),
        "Package:\n- directory: /run.prom\n  force: true\n",
    );
    let run = pkgres(folder.path())
        .arg("apply")
        .args(WEB)
        .args(["--metrics", "root/run.prom", "--format", "json"])
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(2));
    let documents = lines(&run.stdout);
    let last = documents.last().expect("there are events");
    assert_eq!(last["event"], "ended");
    assert_eq!(last["status"], "failed");
    assert_eq!(last["changed"], 1);
    let message = last["diagnostics"][0]["message"].to_string();
    assert!(message.contains("run.prom"), "{message}");
}

/// Failures before the changes are in the metrics, too. Otherwise the file would still have those of an earlier run.
#[test]
fn metrics_tell_of_a_validation_that_fails_before_the_changes() {
    let folder = folder();
    let at = |path: &str| folder.path().join(path);
    let validation = "validators:\n- package: [no-such-package]\n";
    write(&at("web/validate.yaml"), validation);
    let manifest = std::fs::read_to_string(at("web/manifest.yaml")).expect("it is there");
    write(
        &at("web/manifest.yaml"),
        &(manifest + "Validate: validate.yaml\n"),
    );
    let locked = pkgres(folder.path()).args(["lock", "web"]).status();
    assert!(locked.expect("the program starts").success());
    let run = |options: &[&str]| {
        let mut run = pkgres(folder.path());
        run.arg("apply").args(WEB).args(options);
        let run = run.args(["--metrics", "run.prom"]).output();
        let code = run.expect("the program starts").status.code();
        let metrics = std::fs::read_to_string(at("run.prom")).expect("they were written");
        let value = |name: &str| {
            let mut lines = metrics.lines();
            let line = lines.find(|line| line.starts_with(&format!("pkgres_{name}{{")));
            let value = line.and_then(|line| line.rsplit(' ').next());
            value.map(str::to_owned)
        };
        (code, value("converged"), value("failed_validations"))
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(run(&["--no-validate"]), (Some(0), text("1"), text("0")));
    assert_eq!(run(&[]), (Some(6), text("0"), text("1")));
    // Nothing may be changed, so that the machine is not as it should be.
    write(&at("root/web.conf"), "other\n");
    let noop = run(&["--no-validate", "--noop"]);
    assert_eq!(noop, (Some(0), text("0"), text("0")));
}

#[test]
fn an_interrupted_validation_has_a_document() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo starts").success());
    // The script begins when the other end of the pipe can be opened.
    let script = format!("cat {}", pipe.display());
    let validation = format!("validators:\n- script: {{waits: {{inline: '{script}'}}}}\n");
    write(&folder.path().join("validate.yaml"), &validation);
    let mut run = pkgres(folder.path())
        .args(["validate", "validate.yaml", "--target", "local:"])
        .args(["--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let stdout = run.stdout.take().expect("it is piped");
    let start = Instant::now();
    let _held = loop {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK;
        match rustix::fs::open(&pipe, flags, Mode::empty()) {
            Ok(pipe) => break pipe,
            Err(_) => assert!(start.elapsed() < TIME_LIMIT, "no script reads it"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(end_by("-INT", run), Some(130));
    let document: Value = serde_json::from_reader(stdout).expect("a document");
    assert_eq!(document["status"], "interrupted");
    assert_eq!(document["target"], "local:");
}
