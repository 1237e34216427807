//! `pkgres unpack`

use pkgres_files::{Access, Follow, NewTreeFile, RealFileSystem, read_file, write_tree};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Archive, Package, ReadOptions};
use serde_json::json;

use super::pack::require_class_package;
use crate::args::UnpackArgs;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show::counted;

pub(super) fn run(args: &UnpackArgs, output: &mut Output) -> Result<Exit> {
    if args.folder.file_name().is_none() {
        let message = format!("{} exists", Escaped::path(&args.folder));
        return Err(Diagnostic::error(Code::Usage, message)
            .hint("name a folder to create, such as `unpacked`")
            .into());
    }
    require_class_package(&args.archive, "unpack", |_| None)?;
    let options = ReadOptions::default();
    let shown = args.archive.to_string_lossy();
    let bytes = read_file(&args.archive, options.limits.archive_bytes, Follow::Links)?;
    let archive = Archive::open(&shown, bytes, &options.limits)?;
    // An archive that holds no valid package is not unpacked.
    let (package, warnings) = Package::from_archive(&shown, &archive, &options).into_result()?;
    output.findings(&warnings);
    let files = archive.files().map(|file| {
        Ok(NewTreeFile {
            path: file.path.clone(),
            bytes: archive.read(&file.path).expect("the file was listed"),
            access: if file.executable {
                Access::Program
            } else {
                Access::Data
            },
        })
    });
    write_tree(&RealFileSystem, &args.folder, files)?;
    let count = archive.files().count();
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "folder": args.folder.to_string_lossy(),
            "name": package.name(),
            "version": package.manifest.version,
            "sha256": archive.digest(),
            "files": count,
        }));
    } else {
        output.note(&format!(
            "Unpacked {} {}: {}",
            package.name(),
            package.manifest.version,
            counted(count, "file")
        ));
    }
    Ok(Exit::Done)
}
