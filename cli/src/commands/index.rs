//! `pkgres index`

use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{DirectoryRegistry, NetworkActivity, Registry as _};
use serde_json::{Value, json};

use crate::args::IndexArgs;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show::{self, counted};

pub(super) fn run(args: &IndexArgs, output: &mut Output) -> Result<Exit> {
    let options = ReadOptions::default();
    let name = RegistryName::parse("default").expect("the name is valid");
    // A missing folder is bad input here, not a registry that fails.
    std::fs::read_dir(&args.folder).map_err(|error| {
        let message = format!("cannot read {}: {error}", Escaped::path(&args.folder));
        Diagnostic::error(Code::File, message)
    })?;
    let progress = output.progress("Reading packages", &NetworkActivity::default());
    let registry = DirectoryRegistry::open(name, &args.folder, &options)?;
    let names: Vec<PackageName> = registry.names().cloned().collect();
    let records = registry.records(&names);
    drop(progress);
    let mut findings = registry.take_findings();
    let mut records: Vec<IndexRecord> = records?.into_iter().flatten().flatten().collect();
    let mut text = String::new();
    records.retain(|record| {
        let line = record.to_line();
        let fits = line.len() as u64 <= options.limits.index_line_bytes;
        if fits {
            text.push_str(&line);
            text.push('\n');
        } else {
            findings.push(too_long(record, line.len(), &options));
        }
        fits
    });
    output.findings(&findings);
    if let Some(path) = &args.output {
        write_file(&RealFileSystem, path, text.as_bytes())?;
    }
    if output.is_json() {
        let mut document = json!({
            "schema_version": 1,
            "file": args.output.as_ref().map(|path| path.to_string_lossy()),
            "releases": records.len(),
            "broken": findings.len(),
            "diagnostics": show::diagnostics_json(&findings),
        });
        if args.output.is_none() {
            document["records"] = json!(records.iter().map(as_json).collect::<Vec<_>>());
        }
        output.json(&document);
    } else if args.output.is_none() {
        output.data(&text);
    }
    if args.output.is_some() || records.is_empty() {
        output.note(&format!("Indexed {}", counted(records.len(), "release")));
    }
    // The index is incomplete, which scripts must notice.
    Ok(if findings.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// The error about a release whose line no reader of the index would accept.
fn too_long(record: &IndexRecord, bytes: usize, options: &ReadOptions) -> Diagnostic {
    let (name, version) = (&record.name, &record.version);
    let limit = options.limits.index_line_bytes;
    let message = format!(
        "the index record of {name} {version} has {bytes} bytes, and the limit is {limit}: it is skipped"
    );
    Diagnostic::error(Code::Limit, message)
}

/// A record as JSON, with the keys of its line in an index file.
fn as_json(record: &IndexRecord) -> Value {
    serde_json::from_str(&record.to_line()).expect("a line of an index is JSON")
}
