//! `pkgres export-static`

use pkgres_files::{Access, NewTreeFile, RealFileSystem, write_tree};
use pkgres_manifest::PackagePath;
use pkgres_registry_client::NetworkActivity;
use serde_json::json;

use super::serve;
use crate::args::ExportStaticArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::show::counted;

pub(super) fn run(args: &ExportStaticArgs, output: &mut Output) -> Result<Exit> {
    let runtime = serve::runtime()?;
    let registry = serve::open_existing(&args.storage, runtime.handle())?;
    let progress = output.progress("Exporting the registry", &NetworkActivity::default());
    let mut files = Vec::new();
    let state = registry.export(|path, bytes| {
        let path = PackagePath::parse(&path)
            .map_err(|error| Failure::usage(format!("{path}: {error}")))?;
        files.push((path, bytes));
        Ok::<_, Failure>(())
    })?;
    let count = files.len();
    let tree = files.into_iter().map(|(path, bytes)| {
        Ok(NewTreeFile {
            path,
            bytes: bytes.to_vec(),
            access: Access::Data,
        })
    });
    write_tree(&RealFileSystem, &args.output, tree)?;
    drop(progress);
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "serial": state.serial,
            "files": count,
            "expires": state.expires,
        }));
    } else {
        output.note(&format!(
            "Exported {} at serial {}; clients accept them until {}",
            counted(count, "file"),
            state.serial,
            state.expires
        ));
    }
    Ok(Exit::Done)
}
