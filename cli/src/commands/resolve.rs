//! `pkgres resolve`

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pkgres_formats::ansible;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{RegistryName, Release};
use pkgres_registry_client::MemoryRegistry;
use pkgres_resolver::{Fallback, Locked, ResolvedOwner};

use crate::args::{Format, ResolveArgs};
use crate::commands::members::Projects;
use crate::commands::pin::{PinInput, pin, read_model};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::Project;
use crate::root_file::root_file;
use crate::show::{self, counted};
use crate::solve::{frozen_lacks, solve_project, solve_with_reasons};

pub(super) fn run(args: &ResolveArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if let Some(model) = &args.model {
        return print_model(args, model, context, output);
    }
    let projects = Projects::of(&args.members, &args.solve.manifest, context)?;
    projects.run(
        ("Resolving", "Resolved"),
        context,
        output,
        |manifest, output| resolve(args, manifest, context, output),
    )
}

/// Resolves one project.
fn resolve(
    args: &ResolveArgs,
    manifest: &Path,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let start = Instant::now();
    if output.format() == Format::Requirements {
        require_collections(manifest, context)?;
    }
    let (resolution, reasons) = solve_with_reasons(&args.solve, manifest, context, output)?;
    if output.format() == Format::Requirements {
        output.data(&show::requirements_file(&resolution));
        return Ok(Exit::Done);
    }
    if output.is_json() {
        output.json(&show::resolution_json(&resolution, &reasons, context));
        return Ok(Exit::Done);
    }
    let is_frozen = args.solve.mode.frozen;
    output.tree(&show::tree(
        &resolution,
        root_file(manifest, context.ecosystem).as_deref(),
        context.core(),
        None,
        is_frozen,
    ));
    output.shared_notes(show::notes(&resolution, &reasons, context));
    let packages = counted(resolution.len(), "package");
    output.note(&format!(
        "Resolved {packages} in {} ms",
        start.elapsed().as_millis()
    ));
    Ok(Exit::Done)
}

/// Rejects a root that is not of Ansible collections: nothing else has a requirements.yml.
pub(super) fn require_collections(manifest: &Path, context: &Context) -> Result<()> {
    let project = Project::open(manifest, context)?;
    if project.format.ecosystem() == ansible::ECOSYSTEM {
        return Ok(());
    }
    let shown = Escaped::path(&project.manifest).to_string();
    Err(Failure::usage(format!(
        "`--format requirements` is for Ansible collections, and {shown} is no root of them"
    )))
}

/// Prints an object model, pinned to the versions of the resolution.
fn print_model(
    args: &ResolveArgs,
    model: &Path,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    if args.solve.mode.frozen {
        let needs = "`--model` needs the classes of packages";
        return Err(frozen_lacks(needs, context));
    }
    let project = Project::open(&args.solve.manifest, context)?;
    let (resolution, mut registries) = solve_project(&args.solve, &project, context, output)?;
    let options = &context.read_options;
    let model = read_model(model, options)?;
    // The root is the only release of its name for the objects as well.
    let mut root = MemoryRegistry::new(RegistryName::parse("root").expect("the name is valid"));
    root.add_package(Arc::clone(project.class_package()?));
    registries.push_front(Box::new(root));
    let preferred: BTreeSet<Release> = resolution
        .owners()
        .filter_map(ResolvedOwner::release)
        .map(|(name, version)| Release::new(name.clone(), version.clone()))
        .collect();
    let input = PinInput {
        registries,
        host_releases: context.registries.host_releases(options)?,
        locked: Locked::preferring(preferred).with_artifacts(resolution.locked_artifacts().clone()),
        fallback: Fallback::Never,
    };
    let pinned = pin(model, input, context, output)?;
    let text = pinned.model.with_pins(&pinned.pins, &options.limits)?;
    if output.is_json() {
        output.json(&pinned.to_json(Some(&text)));
    } else {
        output.data(&text);
    }
    Ok(Exit::Done)
}
