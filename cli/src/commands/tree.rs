//! `pkgres tree`

use pkgres_manifest::{PackageName, Version};
use pkgres_resolver::Resolution;
use serde_json::json;

use crate::args::TreeArgs;
use crate::commands::names::{is_named, not_part_of, release_name};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::show;
use crate::solve::solve;

pub(super) fn run(args: &TreeArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if args.depth.is_some() && output.is_json() {
        return Err(Failure::usage(
            "`--depth` cannot be used with `--format json`, which has all levels",
        ));
    }
    let inverted = args.invert.as_deref().map(release_name).transpose()?;
    let resolution = solve(&args.solve, context, output)?;
    if let Some((package, version)) = &inverted {
        let version = version.as_ref();
        let mut packages = resolution.packages().iter();
        if !packages.any(|found| found.name == *package && is_named(&found.version, version)) {
            output.findings(&not_part_of(package, version, &resolution, context).findings);
            return Ok(Exit::Failed);
        }
        return Ok(run_inverted(args, package, version, &resolution, output));
    }
    if args.duplicates {
        if output.is_json() {
            let found: Vec<serde_json::Value> = resolution
                .side_by_side()
                .iter()
                .map(|entry| requirers_json(&entry.name, None, &resolution))
                .collect();
            output.json(&json!({"schema_version": 1, "duplicates": found}));
        } else {
            output.data(&show::duplicates(&resolution, args.depth));
            if resolution.side_by_side().is_empty() {
                output.note("No package has several releases");
            }
        }
        return Ok(Exit::Done);
    }
    if output.is_json() {
        output.json(&show::resolution_json(&resolution, context));
    } else {
        output.data(&show::tree(
            &resolution,
            context.core(),
            args.depth,
            args.solve.mode.frozen,
        ));
    }
    Ok(Exit::Done)
}

/// Prints what requires a package.
fn run_inverted(
    args: &TreeArgs,
    package: &PackageName,
    version: Option<&Version>,
    resolution: &Resolution,
    output: &mut Output,
) -> Exit {
    if output.is_json() {
        let mut document = requirers_json(package, version, resolution);
        document["schema_version"] = json!(1);
        output.json(&document);
    } else {
        output.data(&show::inverted(resolution, package, version, args.depth));
    }
    Exit::Done
}

/// What requires a package, as JSON.
fn requirers_json(
    package: &PackageName,
    version: Option<&Version>,
    resolution: &Resolution,
) -> serde_json::Value {
    let requirers: Vec<serde_json::Value> = resolution
        .requirers(package)
        .into_iter()
        .filter(|requirer| is_named(&requirer.version, version))
        .map(|requirer| {
            json!({
                "package": requirer.owner.name(),
                "package_version": requirer.owner.version(),
                "spec": requirer.spec.written(),
                "version": requirer.version,
            })
        })
        .collect();
    json!({"package": package, "required_by": requirers})
}
