//! `pkgres resolve`

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pkgres_manifest::{PackageName, RegistryName, Version};
use pkgres_registry_client::{MemoryRegistry, RegistrySet};
use pkgres_resolver::{Fallback, Locked, Resolution, ResolvedOwner};

use crate::args::ResolveArgs;
use crate::commands::pin::{Setting, pin, read_model};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::problem::{Solved, solve_options};
use crate::project::Project;
use crate::registries;
use crate::settings;
use crate::show::{self, counted};
use crate::solve::{solve, solve_project};

pub(crate) fn run(args: &ResolveArgs, output: &mut Output) -> Result<Exit> {
    let start = Instant::now();
    let options = registries::read_options(&args.solve.registry)?;
    if args.solve.mode.frozen {
        return run_frozen(args, start, output);
    }
    let project = Project::open(&args.solve.manifest, &options)?;
    let (solved, registries) = solve_project(&args.solve, &project, &options, output)?;
    let (resolution, core) = match solved {
        Solved::Yes(resolution, core) => (resolution, core),
        Solved::No(exit) => return Ok(exit),
    };
    if let Some(model) = &args.model {
        return print_model(args, model, &project, &resolution, registries, core, output);
    }
    tell(args, &resolution, core.as_ref(), start, output);
    Ok(Exit::Done)
}

/// Prints what the lockfile holds.
fn run_frozen(args: &ResolveArgs, start: Instant, output: &mut Output) -> Result<Exit> {
    if args.model.is_some() {
        let from = settings::current().from("frozen");
        return Err(Failure::usage(format!(
            "`--model` needs the classes of packages, which `--frozen`{from} does not read"
        )));
    }
    match solve(&args.solve, output)? {
        Solved::Yes(resolution, core) => {
            tell(args, &resolution, core.as_ref(), start, output);
            Ok(Exit::Done)
        }
        Solved::No(exit) => Ok(exit),
    }
}

fn tell(
    args: &ResolveArgs,
    resolution: &Resolution,
    core: Option<&PackageName>,
    start: Instant,
    output: &mut Output,
) {
    if output.is_json() {
        output.json(&show::resolution_json(resolution));
        return;
    }
    output.data(&show::tree(resolution, core, None, args.solve.mode.frozen));
    output.notes(show::notes(resolution));
    let packages = counted(resolution.len(), "package");
    output.note(&format!(
        "Resolved {packages} in {} ms",
        start.elapsed().as_millis()
    ));
}

/// Prints a model with the versions of the resolution written into it.
fn print_model(
    args: &ResolveArgs,
    model: &Path,
    project: &Project,
    resolution: &Resolution,
    mut registries: RegistrySet,
    core: Option<PackageName>,
    output: &mut Output,
) -> Result<Exit> {
    let options = registries::read_options(&args.solve.registry)?;
    let model = read_model(model, &options)?;
    // The root is the only candidate of its name for the objects as well.
    let mut root = MemoryRegistry::new(RegistryName::parse("root").expect("the name is valid"));
    root.add_package(Arc::clone(&project.package));
    registries.prefer(Box::new(root));
    let preferred: BTreeSet<(PackageName, Version)> = resolution
        .owners()
        .filter_map(ResolvedOwner::release)
        .map(|(name, version)| (name.clone(), version.clone()))
        .collect();
    let setting = Setting {
        registries,
        core,
        provided: registries::provided(&args.solve.registry, &options)?,
        locked: Locked {
            artifacts: resolution.locked_artifacts().clone(),
            ..Locked::preferring(preferred)
        },
        solve: solve_options(&args.solve.policy)?,
        fallback: Fallback::Never,
        options,
    };
    let limits = setting.options.limits.clone();
    let pinned = match pin(model, setting, output)? {
        Ok(pinned) => pinned,
        Err(exit) => return Ok(exit),
    };
    output.data(&pinned.model.with_pins(&pinned.pins, &limits)?);
    Ok(Exit::Done)
}
