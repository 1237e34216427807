//! `pkgres why`

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{PackageName, Version};
use serde_json::json;

use crate::args::WhyArgs;
use crate::commands::members::{Projects, run_batch};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::named_packages::{is_named, not_part_of, release_name, report_missing};
use crate::output::Output;
use crate::project::Project;
use crate::root_file::root_file;
use crate::show;
use crate::solve::solve;

pub(super) fn run(args: &WhyArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let projects = Projects::of(&args.members, &args.solve.manifest, context)?;
    let ecosystem = match &projects {
        // The solve reports what is wrong with the project.
        Projects::One(manifest) => Project::open(manifest, context)
            .ok()
            .map(|project| project.format.ecosystem()),
        Projects::Several(_) => None,
    };
    let (name, version) = release_name(&args.package, ecosystem)?;
    let version = version.as_ref();
    let batch = match &projects {
        Projects::One(manifest) => {
            let found = show_paths(args, manifest, &name, version, context, output)?;
            return Ok(if found { Exit::Done } else { Exit::Failed });
        }
        Projects::Several(batch) => batch,
    };
    // A package need not be in all of several projects.
    let is_found = AtomicBool::new(false);
    let words = ("Resolving", "Looked at");
    let show = |manifest: &Path, output: &mut Output| {
        if show_paths(args, manifest, &name, version, context, output)? {
            is_found.store(true, Ordering::Relaxed);
        }
        Ok(Exit::Done)
    };
    let error = || {
        let message = format!("`{}` is not in the resolution of any project", args.package);
        let tree = context.invocation.command_for_none("tree --workspace");
        let hint = format!("`{tree}` shows all packages");
        let is_found = is_found.load(Ordering::Relaxed);
        (!is_found).then(|| Diagnostic::error(Code::Usage, message).hint(hint))
    };
    Ok(run_batch(batch, words, context, output, show, error))
}

/// Shows the paths to a package in one project, and reports a package that is missing there. Returns whether there is
/// one.
fn show_paths(
    args: &WhyArgs,
    manifest: &Path,
    name: &PackageName,
    version: Option<&Version>,
    context: &Context,
    output: &mut Output,
) -> Result<bool> {
    let resolution = solve(&args.solve, manifest, context, output)?;
    let mut paths = resolution.paths_to(name);
    paths.retain(|path| {
        let last = path.steps.last();
        last.is_some_and(|last| is_named(&last.version, version))
    });
    let is_alone = !args.members.workspace && context.members.len() < 2;
    if paths.is_empty() && is_alone {
        let missing = not_part_of(name, version, &resolution, context);
        let empty = json!({"package": name, "paths": []});
        report_missing(&missing, empty, output);
        return Ok(false);
    }
    if output.is_json() {
        let paths = show::paths_json(&paths);
        output.json(&json!({"schema_version": 1, "package": name, "paths": paths}));
    } else {
        let root_file = root_file(manifest, context.ecosystem);
        output.prose(&show::paths(&paths, root_file.as_deref()));
    }
    Ok(!paths.is_empty())
}
