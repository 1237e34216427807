//! `pkgres export`

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use pkgres_registry_client::{Maker, cyclonedx, spdx};
use pkgres_resolver::Resolution;

use crate::args::{ExportArgs, Format};
use crate::commands::members::Projects;
use crate::commands::resolve::require_collections;
use crate::commands::several_projects::Batch;
use crate::context::Context;
use crate::environment::variable;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::show::{self, counted};
use crate::solve::solve;

pub(super) fn run(args: &ExportArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let created = created()?.to_string();
    let maker = Maker {
        name: "pkgres",
        version: env!("CARGO_PKG_VERSION"),
        created: &created,
    };
    let resolutions = match Projects::of(&args.members, &args.solve.manifest, context)? {
        Projects::One(manifest) => {
            if output.format() == Format::Requirements {
                require_collections(&manifest, context)?;
            }
            vec![*solve(&args.solve, &manifest, context, output)?]
        }
        Projects::Several(_) if output.format() == Format::Requirements => {
            let message = "`--format requirements` writes the file of one project";
            return Err(Failure::usage(message));
        }
        Projects::Several(batch) => {
            // Without a member, the document would look as if it had everything.
            batch.require_all(context)?;
            match solve_all(args, &batch, context, output) {
                Ok(resolutions) => resolutions,
                Err(exit) => return Ok(exit),
            }
        }
    };
    if output.format() == Format::Requirements {
        for resolution in &resolutions {
            output.data(&show::requirements_file(resolution));
        }
        return Ok(Exit::Done);
    }
    let all: Vec<&Resolution> = resolutions.iter().collect();
    let (document, name) = match output.format() {
        Format::Spdx => (spdx(&all, maker), "SPDX 2.3"),
        _ => (cyclonedx(&all, maker), "CycloneDX 1.6"),
    };
    output.json(&document);
    let releases = all.iter().flat_map(|resolution| resolution.packages());
    let releases: BTreeSet<_> = releases
        .map(|package| (&package.name, &package.version))
        .collect();
    let of = match all.len() {
        1 => String::new(),
        projects => format!(" of {}", counted(projects, "project")),
    };
    output.note(&format!(
        "Exported {}{of} as {name}",
        counted(releases.len(), "package")
    ));
    Ok(Exit::Done)
}

/// Solves several projects. If one of them fails, its errors are printed and there is no document: it would look as if it
/// had everything.
fn solve_all(
    args: &ExportArgs,
    batch: &Batch,
    context: &Context,
    output: &mut Output,
) -> std::result::Result<Vec<Resolution>, Exit> {
    let solved: Mutex<BTreeMap<PathBuf, Resolution>> = Mutex::default();
    let each = |manifest: &Path, output: &mut Output| {
        let resolution = solve(&args.solve, manifest, context, output)?;
        let mut solved = solved.lock().unwrap_or_else(PoisonError::into_inner);
        solved.insert(manifest.to_owned(), *resolution);
        Ok(Exit::Done)
    };
    let result = batch.run("Resolving", each, output);
    let exit = result.exit;
    if exit != Exit::Done {
        let summary = result.summary_of_reading("Resolved");
        if output.is_json() {
            output.json(&result.into_json());
        }
        output.note(&summary);
        return Err(exit);
    }
    let mut solved = solved.into_inner().unwrap_or_else(PoisonError::into_inner);
    let manifests = batch.manifests.iter();
    Ok(manifests
        .filter_map(|manifest| solved.remove(manifest))
        .collect())
}

/// The creation time of the document, to the second: `SOURCE_DATE_EPOCH` for reproducible builds, or else now.
fn created() -> Result<Timestamp> {
    let fixed = variable("SOURCE_DATE_EPOCH");
    let Some(fixed) = fixed else {
        let now = Timestamp::now().as_second();
        return Ok(Timestamp::from_second(now).expect("the current time is in range"));
    };
    let seconds = fixed.to_str().and_then(|text| text.parse().ok());
    seconds
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .ok_or_else(|| Failure::usage("SOURCE_DATE_EPOCH is not a number of seconds"))
}
