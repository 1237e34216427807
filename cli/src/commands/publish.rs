//! `pkgres publish`

use std::path::Path;

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Archive, ArtifactDigest, Package, ReadOptions};
use pkgres_registry_client::Registry as _;
use pkgres_registry_client::http::Published;
use serde_json::json;

use crate::args::PublishArgs;
use crate::commands::pack;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;

/// How many characters of a warning of the registry are shown; two package names fit.
const WARNING_CHARACTERS: usize = 1000;

pub(super) fn run(args: &PublishArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let options = ReadOptions::default();
    let (package, findings, bytes) = read(&args.package, &options, output)?;
    output.findings(&findings);
    let (name, version) = (package.name(), &package.manifest.version);
    let digest = ArtifactDigest::of_archive(&bytes);
    let size = bytes.len();
    let registry = context
        .registries
        .open_remote(args.target.registry.as_deref())?;
    let mut warnings = Vec::new();
    let progress = output.progress(
        &format!("Publishing {name} {version}"),
        context.registries.activity(),
    );
    let status = if args.dry_run {
        let known = registry.records(std::slice::from_ref(name))?;
        let mut releases = known.into_iter().flatten().flatten();
        match releases.find(|record| record.version == *version) {
            None => "would_publish",
            Some(record) if record.digest == Some(digest) => "same",
            Some(_) => "exists",
        }
    } else {
        let answer = registry.publish(name, version, bytes, args.allow_unsatisfiable)?;
        warnings = answer.warnings;
        match answer.published {
            Published::New => "published",
            Published::Same => "same",
        }
    };
    drop(progress);
    let warnings: Vec<String> = warnings
        .iter()
        .map(|text| Escaped::within(text, WARNING_CHARACTERS).to_string())
        .collect();
    let findings: Vec<Diagnostic> = warnings
        .iter()
        .map(|text| Diagnostic::warning(Code::PublishWarning, text.as_str()))
        .collect();
    output.findings(&findings);
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": status,
            "registry": registry.name().as_str(),
            "name": name,
            "version": version,
            "sha256": digest,
            "size": size,
            "warnings": warnings,
        }));
    } else {
        output.data(&format!("{digest}  {name} {version}\n"));
    }
    let target = format!("{} ({})", registry.name(), registry.address());
    output.note(&match status {
        "would_publish" => format!("Would publish {name} {version} to {target}: {size} bytes"),
        "published" => format!("Published {name} {version} to {target}"),
        "same" => format!("{target} already has {name} {version} with the same content"),
        _ => format!("{target} already has {name} {version} with other content"),
    });
    Ok(if status == "exists" {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// Reads a package and its archive; a folder is packed.
fn read(
    path: &Path,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<(Package, Vec<Diagnostic>, Vec<u8>)> {
    if path.is_dir() {
        let packed = pack::build(path, options)?;
        pack::tell_left_out(&packed.left_out, output);
        return Ok((packed.package, packed.warnings, packed.bytes));
    }
    let shown = path.to_string_lossy();
    let bytes = read_file(path, options.limits.archive_bytes, Follow::Links)?;
    let archive = Archive::open(&shown, bytes, &options.limits)?;
    let (package, warnings) = Package::from_archive(&shown, &archive, options).into_result()?;
    Ok((package, warnings, archive.bytes().to_vec()))
}
