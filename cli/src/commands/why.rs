//! `pkgres why`

use serde_json::json;

use crate::args::WhyArgs;
use crate::commands::names::{is_named, not_part_of, release_name};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show;
use crate::solve::solve;

pub(super) fn run(args: &WhyArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let (name, version) = release_name(&args.package)?;
    let resolution = solve(&args.solve, context, output)?;
    let mut paths = resolution.paths_to(&name);
    paths.retain(|path| {
        let last = path.steps.last();
        last.is_some_and(|last| is_named(&last.version, version.as_ref()))
    });
    if output.is_json() {
        let paths = show::paths_json(&paths);
        output.json(&json!({"schema_version": 1, "package": name, "paths": paths}));
    } else {
        output.data(&show::paths(&paths));
    }
    if paths.is_empty() {
        output.findings(&not_part_of(&name, version.as_ref(), &resolution, context).findings);
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}
