//! `pkgres why`

use serde_json::{Value, json};

use crate::args::WhyArgs;
use crate::commands::solve::{Solved, solve};
use crate::commands::{not_part_of, package_name};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;

pub(crate) fn run(args: &WhyArgs, output: &mut Output) -> Result<Exit> {
    let name = package_name(&args.package)?;
    let resolution = match solve(&args.solve, output)? {
        Solved::Yes(resolution, _) => resolution,
        Solved::No(exit) => return Ok(exit),
    };
    let paths = resolution.paths_to(&name);
    if output.is_json() {
        let paths: Vec<Vec<Value>> = paths
            .iter()
            .map(|path| {
                path.iter()
                    .map(|step| {
                        json!({
                            "package": step.package,
                            "version": step.version,
                            "spec": step.spec.as_ref().map(pkgres_manifest::Spec::written),
                        })
                    })
                    .collect()
            })
            .collect();
        output.json(&json!({"schema_version": 1, "package": name, "paths": paths}));
    } else {
        for path in &paths {
            for (depth, step) in path.iter().enumerate() {
                let indent = "    ".repeat(depth);
                let line = match &step.spec {
                    None => format!("{} {}", step.package, step.version),
                    Some(spec) => {
                        format!("{indent}requires {} {spec}: {}", step.package, step.version)
                    }
                };
                output.data(&format!("{line}\n"));
            }
        }
    }
    if paths.is_empty() {
        output.findings(&not_part_of(&name, &resolution).findings);
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}
