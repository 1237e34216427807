//! `pkgres pack`

use std::path::PathBuf;

use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::{ArtifactDigest, ReadOptions, write_archive};
use pkgres_registry_client::PackageFolder;
use serde_json::json;

use crate::args::PackArgs;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show::counted;

pub(crate) fn run(args: &PackArgs, output: &mut Output) -> Result<Exit> {
    let options = ReadOptions::default();
    let folder = PackageFolder::open(&args.folder, &options)?;
    // Only what can be read as a package is worth an archive.
    let (package, warnings) = folder.package(&options).into_result()?;
    output.findings(&warnings);
    let mut files = Vec::with_capacity(folder.files().len());
    for file in folder.files() {
        let bytes = folder.read(&file.path, options.limits.unpacked_bytes)?;
        files.push((file.path.clone(), file.executable, bytes));
    }
    let count = files.len();
    let bytes = write_archive(files, &options.limits)?;
    let name = format!("{}-{}.zip", package.name(), package.manifest.version);
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(name));
    write_file(&RealFileSystem, &path, &bytes)?;
    let digest = ArtifactDigest::of_archive(&bytes);
    let shown = path.to_string_lossy();
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "file": shown,
            "name": package.name(),
            "version": package.manifest.version,
            "sha256": digest,
            "size": bytes.len(),
            "files": count,
        }));
    } else {
        output.data(&format!("{digest}  {shown}\n"));
        output.note(&format!("Packed {}", counted(count, "file")));
    }
    Ok(Exit::Done)
}
