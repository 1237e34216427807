//! `VeriPB`, the checker of others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pkgres_certificate::{Certificate, WithoutReason};
use pkgres_tests::skip;
use tempfile::TempDir;

/// The checker, and a folder for the files that it reads.
pub(crate) struct VeriPb {
    folder: TempDir,
}

impl VeriPb {
    /// The checker; `None` if it is not installed, which is reported.
    pub(crate) fn find() -> Option<Self> {
        let version = Command::new("veripb").arg("--version").output();
        if !version.is_ok_and(|output| output.status.success()) {
            skip::without_service("`veripb` is not installed");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for files");
        Some(Self { folder })
    }

    /// Whether the checker accepts the proof that a problem has no solution. `name` makes the files those of one thread.
    pub(crate) fn accepts(&self, certificate: &Certificate, name: &str) -> bool {
        let verdict = "s VERIFIED UNSATISFIABLE";
        self.concludes(&certificate.problem, &certificate.proof, name, verdict)
    }

    /// Whether the checker accepts the solution of a problem.
    pub(crate) fn accepts_solution(&self, without: &WithoutReason, name: &str) -> bool {
        let verdict = "s VERIFIED SATISFIABLE";
        self.concludes(&without.problem, &without.proof, name, verdict)
    }

    fn concludes(&self, problem: &str, proof: &str, name: &str, verdict: &str) -> bool {
        let problem = self.write(&format!("{name}.opb"), problem);
        let proof = self.write(&format!("{name}.pbp"), proof);
        let output = Command::new("veripb")
            .args(["--hide-warnings", "--opb"])
            .args([problem, proof])
            .stderr(Stdio::null())
            .output();
        let output = output.expect("it can be run");
        let printed = String::from_utf8_lossy(&output.stdout);
        output.status.success() && printed.contains(verdict)
    }

    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = Path::new(self.folder.path()).join(name);
        fs::write(&path, text).expect("a file in a folder of the test");
        path
    }
}
