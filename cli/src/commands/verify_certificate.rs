//! `pkgres verify-certificate`

use std::path::Path;

use pkgres_certificate::Claim;
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_proof_checker::{Conclusion, check};
use serde_json::json;

use crate::args::VerifyCertificateArgs;
use crate::certificate::{NAMES, PROBLEM, PROOF};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::show::counted;

/// The largest file of a certificate that is read.
const MOST_BYTES: u64 = 1 << 30;

pub(super) fn run(args: &VerifyCertificateArgs, output: &mut Output) -> Result<Exit> {
    let problem = read(&args.folder, PROBLEM)?;
    let names = read(&args.folder, NAMES)?;
    let proof = read(&args.folder, PROOF)?;
    let claim = Claim::read(&names).map_err(|error| rejected(&error.to_string()))?;
    let verified = check(&problem, &proof).map_err(|error| rejected(&error.to_string()))?;
    if verified.conclusion != Conclusion::Unsatisfiable {
        return Err(rejected(
            "the proof shows a solution, but the claim is that there is none",
        ));
    }
    let sentence = claim.sentence();
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "accepted",
            "claim": sentence,
            "constraints": verified.problem,
            "steps": verified.derived,
        }));
        return Ok(Exit::Done);
    }
    output.data(&format!("Proved: {sentence}.\n"));
    output.note(&format!(
        "The proof derives a contradiction from {} in {}. What {PROBLEM} and {NAMES} say is trusted, the search is not",
        counted(verified.problem, "constraint"),
        counted(verified.derived, "step"),
    ));
    Ok(Exit::Done)
}

fn read(folder: &Path, name: &str) -> Result<String> {
    let bytes = read_file(&folder.join(name), MOST_BYTES, Follow::Links)?;
    String::from_utf8(bytes).map_err(|_| rejected(&format!("{name} is not UTF-8")))
}

/// The failure for a certificate that is not accepted.
fn rejected(reason: &str) -> Failure {
    let finding = Diagnostic::error(
        Code::ProofRejected,
        format!("the certificate proves nothing: {reason}"),
    )
    .hint("write it again with `--certificate`; if that is rejected too, it is a defect of pkgres");
    Failure {
        findings: vec![finding],
        exit: Exit::Failed,
    }
}
