//! `pkgres tree`

use std::path::Path;

use pkgres_manifest::{PackageName, Version};
use serde_json::json;

use crate::args::TreeArgs;
use crate::commands::members::Projects;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::named_packages::{ecosystem_near, is_named, not_part_of, release_name, report_missing};
use crate::output::Output;
use crate::root_file::root_file;
use crate::show;
use crate::solve::solve_with_reasons;

pub(super) fn run(args: &TreeArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if args.depth.is_some() && output.is_json() {
        return Err(Failure::usage(
            "`--depth` cannot be used with `--format json`, which has all levels",
        ));
    }
    let projects = Projects::of(&args.members, &args.solve.manifest, context)?;
    let ecosystem = match &projects {
        Projects::One(manifest) => ecosystem_near(manifest, context),
        Projects::Several(_) => None,
    };
    let inverted = args.invert.as_deref();
    let inverted = inverted
        .map(|text| release_name(text, ecosystem))
        .transpose()?;
    let words = ("Resolving", "Looked at");
    projects.run(words, context, output, |manifest, output| {
        show_tree(args, manifest, inverted.as_ref(), context, output)
    })
}

/// Shows the tree of one project.
fn show_tree(
    args: &TreeArgs,
    manifest: &Path,
    inverted: Option<&(PackageName, Option<Version>)>,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let root_file = root_file(manifest, context.ecosystem);
    let root_file = root_file.as_deref();
    let (resolution, reasons) = solve_with_reasons(&args.solve, manifest, context, output)?;
    if let Some((package, version)) = inverted {
        let version = version.as_ref();
        let mut packages = resolution.packages().iter();
        if !packages.any(|it| it.name == *package && is_named(&it.version, version)) {
            let missing = not_part_of(package, version, &resolution, context);
            let empty = json!({"package": package, "required_by": []});
            report_missing(&missing, empty, output);
            return Ok(Exit::Failed);
        }
        if output.is_json() {
            let mut document = show::requirers_json(&resolution, package, version);
            document["schema_version"] = json!(1);
            output.json(&document);
        } else {
            output.tree(&show::inverted(
                &resolution,
                root_file,
                package,
                version,
                args.depth,
            ));
        }
        return Ok(Exit::Done);
    }
    if args.duplicates {
        if output.is_json() {
            let duplicates = show::duplicates_json(&resolution);
            output.json(&json!({"schema_version": 1, "duplicates": duplicates}));
        } else {
            output.tree(&show::duplicates(&resolution, root_file, args.depth));
            if resolution.side_by_side().is_empty() {
                output.note("No package has several releases");
            }
        }
        return Ok(Exit::Done);
    }
    if output.is_json() {
        output.json(&show::resolution_json(&resolution, &reasons, context));
    } else {
        output.tree(&show::tree(
            &resolution,
            root_file,
            context.core(),
            args.depth,
            args.solve.mode.frozen,
        ));
    }
    Ok(Exit::Done)
}
