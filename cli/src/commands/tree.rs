//! `pkgres tree`

use pkgres_manifest::{PackageName, Version};
use pkgres_resolver::Resolution;
use serde_json::json;

use crate::args::TreeArgs;
use crate::commands::{is_named, not_part_of, release_name};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::problem::Solved;
use crate::show;
use crate::solve::solve;

pub(crate) fn run(args: &TreeArgs, output: &mut Output) -> Result<Exit> {
    if args.depth.is_some() && output.is_json() {
        return Err(Failure::usage(
            "`--depth` is for text: `--format json` has everything",
        ));
    }
    let inverted = args.invert.as_deref().map(release_name).transpose()?;
    let (resolution, core) = match solve(&args.solve, output)? {
        Solved::Yes(resolution, core) => (resolution, core),
        Solved::No(exit) => return Ok(exit),
    };
    if let Some((package, version)) = &inverted {
        let version = version.as_ref();
        let mut packages = resolution.packages().iter();
        if !packages.any(|found| found.name == *package && is_named(&found.version, version)) {
            output.findings(&not_part_of(package, version, &resolution).findings);
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
        output.json(&show::resolution_json(&resolution));
    } else {
        output.data(&show::tree(
            &resolution,
            core.as_ref(),
            args.depth,
            args.solve.mode.frozen,
        ));
    }
    Ok(Exit::Done)
}

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

fn requirers_json(
    package: &PackageName,
    version: Option<&Version>,
    resolution: &Resolution,
) -> serde_json::Value {
    let requirers: Vec<serde_json::Value> = resolution
        .requirers(package)
        .into_iter()
        .filter(|demand| is_named(&demand.version, version))
        .map(|demand| {
            json!({
                "package": demand.owner.name(),
                "package_version": demand.owner.version(),
                "spec": demand.spec.written(),
                "version": demand.version,
            })
        })
        .collect();
    json!({"package": package, "required_by": requirers})
}
