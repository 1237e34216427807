//! `pkgres yank`

use pkgres_manifest::{PackageName, Version};
use pkgres_registry_client::Registry as _;
use serde_json::json;

use crate::args::YankArgs;
use crate::commands::account::asking;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::registries::shown_target;

pub(super) fn run(args: &YankArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let (name, version) = release(args)?;
    let name = PackageName::parse(name).map_err(|error| Failure::usage(error.to_string()))?;
    let version = Version::parse(version).map_err(|error| Failure::usage(error.to_string()))?;
    let wanted = args.target.registry.as_deref();
    let remote = context.registries.remote_for(&name, wanted)?;
    let registry = context.registries.open_remote(remote)?;
    asking(context, output, || match &args.reason {
        Some(reason) => registry.yank(&name, &version, reason),
        None => registry.unyank(&name, &version),
    })?;
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if args.undo { "unyanked" } else { "yanked" },
            "registry": registry.name().as_str(),
            "name": name,
            "version": version,
        }));
    }
    let target = shown_target(&registry);
    output.note(&if args.undo {
        format!("{name} {version} in {target} can be chosen again")
    } else {
        format!("Yanked {name} {version} in {target}; lockfiles that have it still use it")
    });
    Ok(Exit::Done)
}

/// The name and the version, in either spelling.
fn release(args: &YankArgs) -> Result<(&str, &str)> {
    match (args.name.split_once('@'), &args.version) {
        (Some(release), None) => Ok(release),
        (None, Some(version)) => Ok((&args.name, version)),
        (Some(_), Some(_)) => Err(Failure::usage("there are two versions")),
        (None, None) => Err(Failure::usage(
            "name a version: `pkgres yank NAME VERSION --reason TEXT`",
        )),
    }
}
