//! The metrics of a run.

use std::process::{Command, Stdio};

use crate::deployment::{apply, folder};
use crate::watched::{pkgres, write};

#[test]
#[expect(clippy::disallowed_methods, reason = "a folder of the test")]
fn metrics_are_those_that_prometheus_reads() {
    let folder = folder();
    let run = |resources: &str| {
        write(&folder.path().join("web/r.yaml"), resources);
        let status = apply(folder.path(), &["--metrics", "run.prom"]).status;
        let text = std::fs::read_to_string(folder.path().join("run.prom"));
        (status.code(), text.expect("the metrics were written"))
    };
    let (code, metrics) =
        run("Package:\n- file: /web.conf\n- directory: /none/inner\n- file: /b\n  content: '\"'\n");
    assert_eq!(code, Some(7), "{metrics}");
    for line in [
        "pkgres_resources{target=\"rootfs:root\",state=\"failed\"} 1",
        "pkgres_resources{target=\"rootfs:root\",state=\"in_order\"} 2",
        "pkgres_changes_total{target=\"rootfs:root\",kind=\"file\"} 2",
        "pkgres_failures_total{target=\"rootfs:root\",kind=\"directory\"} 1",
        "pkgres_attempt_duration_seconds_count{target=\"rootfs:root\",kind=\"file\"} 2",
        "pkgres_resource_failing{target=\"rootfs:root\",resource=\"directory:/none/inner\"} 1",
        "pkgres_converged{target=\"rootfs:root\"} 0",
    ] {
        assert!(
            metrics.lines().any(|other| other == line),
            "{line}\n{metrics}"
        );
    }
    assert!(!metrics.contains("last_converged"), "{metrics}");
    check_metrics(&metrics);

    let (code, metrics) = run("Package:\n- file: /web.conf\n");
    assert_eq!(code, Some(0), "{metrics}");
    for line in [
        "pkgres_resources{target=\"rootfs:root\",state=\"in_order\"} 1",
        "pkgres_changes_total{target=\"rootfs:root\",kind=\"file\"} 0",
        "pkgres_converged{target=\"rootfs:root\"} 1",
        "pkgres_failed_validations{target=\"rootfs:root\"} 0",
    ] {
        assert!(
            metrics.lines().any(|other| other == line),
            "{line}\n{metrics}"
        );
    }
    assert!(
        metrics.contains("pkgres_last_converged_timestamp_seconds{"),
        "{metrics}"
    );
    assert!(!metrics.contains("resource_failing"), "{metrics}");
    check_metrics(&metrics);

    // A run that does not even reach the machine leaves nothing of the last one.
    std::fs::rename(folder.path().join("root"), folder.path().join("away")).expect("it is there");
    let (code, metrics) = run("Package:\n- file: /web.conf\n");
    assert_eq!(code, Some(2), "{metrics}");
    let line = "pkgres_converged{target=\"rootfs:root\"} 0";
    assert!(metrics.lines().any(|other| other == line), "{metrics}");
    assert!(!metrics.contains("last_converged"), "{metrics}");
    check_metrics(&metrics);
}

/// Lets the program that Prometheus has for it check metrics.
fn check_metrics(metrics: &str) {
    let child = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        pkgres_tests::skip::without_service("`promtool` is not there");
        return;
    };
    let mut stdin = child.stdin.take().expect("it is piped");
    std::io::Write::write_all(&mut stdin, metrics.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && words.is_empty(),
        "{words}\n{metrics}"
    );
}

#[test]
fn metrics_that_cannot_be_written_are_an_error_before_any_change() {
    let folder = folder();
    write(&folder.path().join("file"), "");
    let run = pkgres(folder.path())
        .args([
            "apply",
            "web",
            "--target",
            "rootfs:root",
            "--metrics",
            "file/run.prom",
        ])
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(2));
    assert!(!folder.path().join("root/web.conf").exists());
}

#[test]
fn no_folder_is_made_for_metrics() {
    let folder = folder();
    let run = pkgres(folder.path())
        .args(["apply", "web", "--target", "rootfs:root"])
        .args(["--metrics", "mising/run.prom"])
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(stderr.contains("there is no folder mising"), "{stderr}");
    assert!(!folder.path().join("mising").exists());
    assert!(!folder.path().join("root/web.conf").exists());
}
