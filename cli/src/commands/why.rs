//! `pkgres why`

use serde_json::{Value, json};

use crate::args::WhyArgs;
use crate::commands::names::{is_named, not_part_of, release_name};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
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
        let paths: Vec<Vec<Value>> = paths
            .iter()
            .map(|path| {
                let (name, version) = (path.root.name(), path.root.version());
                let root = json!({"package": name, "version": version, "spec": null});
                let steps = path.steps.iter().map(|step| {
                    let mut step_json = json!({
                        "package": step.package,
                        "version": step.version,
                        "spec": step.spec.written(),
                    });
                    if step.is_override {
                        step_json["override"] = json!(true);
                    }
                    step_json
                });
                std::iter::once(root).chain(steps).collect()
            })
            .collect();
        output.json(&json!({"schema_version": 1, "package": name, "paths": paths}));
    } else {
        for path in &paths {
            output.data(&format!("{}\n", path.root));
            for (depth, step) in path.steps.iter().enumerate() {
                let indent = "    ".repeat(depth + 1);
                let (package, spec, version) = (&step.package, &step.spec, &step.version);
                let note = if step.is_override { " (override)" } else { "" };
                output.data(&format!(
                    "{indent}requires {package} {spec}{note}: {version}\n"
                ));
            }
        }
    }
    if paths.is_empty() {
        output.findings(&not_part_of(&name, version.as_ref(), &resolution, context).findings);
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}
