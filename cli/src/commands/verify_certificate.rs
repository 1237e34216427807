//! `pkgres verify-certificate`

use std::collections::BTreeSet;
use std::path::Path;

use pkgres_certificate::{Accepted, Certificate, Claim, WithoutReason, verify};
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use serde_json::{Value, json};

use crate::args::VerifyCertificateArgs;
use crate::certificate::{CLAIMS, file_names, without_names};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::show::counted;

/// The largest file of a certificate that is read.
const MOST_BYTES: u64 = 1 << 30;

pub(super) fn run(args: &VerifyCertificateArgs, output: &mut Output) -> Result<Exit> {
    let mut all = Vec::new();
    for (position, name) in names(&args.folder)?.iter().enumerate() {
        let certificate = read_certificate(&args.folder, position, name)?;
        let accepted = verify(&certificate);
        all.push(accepted.map_err(|error| rejected(&format!("{name}: {error}")))?);
    }
    if output.is_json() {
        let claims: Vec<Value> = all.iter().map(document).collect();
        output.json(&json!({
            "schema_version": 1,
            "status": "accepted",
            "claims": claims,
        }));
        return Ok(Exit::Done);
    }
    for accepted in &all {
        output.prose(&text(accepted));
    }
    let sum = |count: fn(&Accepted) -> usize| all.iter().map(count).sum::<usize>();
    output.note(&format!(
        "Checked {} in {}. The .opb and .json files are trusted; the search is not",
        counted(sum(|accepted| accepted.constraints), "constraint"),
        counted(sum(|accepted| accepted.steps), "step"),
    ));
    Ok(Exit::Done)
}

/// What a certificate proves, in words.
fn text(accepted: &Accepted) -> String {
    let claim = &accepted.claim;
    let reasons = claim.claimed_reasons();
    if reasons.is_empty() {
        return format!("Proved: {}.\n", claim.sentence());
    }
    let mut text = format!("Proved: {}:\n", claim.sentence());
    for (number, reason) in (1..).zip(reasons) {
        text.push_str(&format!("  {number}. {}\n", reason.text));
    }
    text
}

fn document(accepted: &Accepted) -> Value {
    let mut document = json!({
        "claim": accepted.claim.sentence(),
        "constraints": accepted.constraints,
        "steps": accepted.steps,
    });
    let reasons = accepted.claim.claimed_reasons();
    if !reasons.is_empty() {
        document["reasons"] = reasons.iter().map(|reason| reason.text.as_str()).collect();
    }
    document
}

/// The names of the certificates in a folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    let unknown = || rejected(&format!("{CLAIMS} does not list certificates"));
    let text = read(folder, CLAIMS).map_err(|mut failure| {
        if !folder.join(CLAIMS).exists()
            && let Some(finding) = failure.findings.pop()
        {
            let hint = "`pkgres resolve --certificate FOLDER` writes a certificate";
            failure.findings.push(finding.hint(hint));
        }
        failure
    })?;
    let claims: Value = serde_json::from_str(&text).map_err(|_| unknown())?;
    if claims.get("schema_version") != Some(&json!(1)) {
        return Err(unknown());
    }
    let names = claims.get("certificates").and_then(Value::as_array);
    let names: Option<Vec<String>> = (names.ok_or_else(unknown)?.iter())
        .map(|name| {
            name.as_str()
                .filter(|name| is_name(name))
                .map(str::to_owned)
        })
        .collect();
    let names = names.filter(|names| !names.is_empty());
    let names = names.ok_or_else(unknown)?;
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        // Each takes its time.
        Some(twice) => Err(rejected(&format!("{CLAIMS} lists `{twice}` twice"))),
        None => Ok(names),
    }
}

/// Whether files of a certificate can have a name.
fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.bytes().all(is_allowed)
}

fn read_certificate(folder: &Path, position: usize, name: &str) -> Result<Certificate> {
    let [problem, names, proof] = file_names(position, name);
    let mut certificate = Certificate {
        problem: read(folder, &problem)?,
        names: read(folder, &names)?,
        proof: read(folder, &proof)?,
        without: Vec::new(),
    };
    let claim = Claim::read(&certificate.names);
    let claim = claim.map_err(|error| rejected(&format!("{names}: {error}")))?;
    for (number, _) in claim.needed() {
        let [problem, proof] = without_names(name, number);
        certificate.without.push(WithoutReason {
            number,
            problem: read(folder, &problem)?,
            proof: read(folder, &proof)?,
        });
    }
    Ok(certificate)
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
    .hint("repeat the command that wrote it with `--certificate FOLDER`; if that is rejected too, it is a defect of pkgres");
    Failure {
        findings: vec![finding],
        exit: Exit::Failed,
    }
}
