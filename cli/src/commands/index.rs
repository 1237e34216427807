//! `pkgres index`

use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{DirectoryRegistry, NetworkActivity, Registry as _};
use serde_json::json;

use crate::args::IndexArgs;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show::counted;

pub(super) fn run(args: &IndexArgs, output: &mut Output) -> Result<Exit> {
    let options = ReadOptions::default();
    let name = RegistryName::parse("default").expect("the name is valid");
    // A missing folder is bad input here, not a registry that fails.
    std::fs::read_dir(&args.folder).map_err(|error| {
        let message = format!("cannot read {}: {error}", args.folder.to_string_lossy());
        Diagnostic::error(Code::File, message)
    })?;
    let progress = output.progress("Reading packages", &NetworkActivity::default());
    let registry = DirectoryRegistry::open(name, &args.folder, &options)?;
    let names: Vec<PackageName> = registry.names().cloned().collect();
    let records = registry.records(&names);
    drop(progress);
    let findings = registry.take_findings();
    output.findings(&findings);
    let mut text = String::new();
    let mut releases = 0;
    for record in records?.into_iter().flatten().flatten() {
        text.push_str(&record.to_line());
        text.push('\n');
        releases += 1;
    }
    match &args.output {
        None => output.data(&text),
        Some(path) => {
            write_file(&RealFileSystem, path, text.as_bytes())?;
            if output.is_json() {
                output.json(&json!({
                    "schema_version": 1,
                    "file": path.to_string_lossy(),
                    "releases": releases,
                    "broken": findings.len(),
                }));
            }
            output.note(&format!("Indexed {}", counted(releases, "release")));
        }
    }
    // The index is incomplete, which scripts must notice.
    Ok(if findings.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}
