//! `pkgres why`

use pkgres_manifest::{PackageName, most_similar};
use serde_json::{Value, json};

use crate::args::WhyArgs;
use crate::commands::solve::{Solved, solve};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;

pub(crate) fn run(args: &WhyArgs, output: &mut Output) -> Result<Exit> {
    let name = PackageName::parse(&args.package)
        .map_err(|error| Failure::usage(format!("`{}`: {error}", args.package)))?;
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
        output.note(&format!("{name} is not part of the resolution"));
        let known = resolution
            .packages()
            .iter()
            .map(|package| package.name.as_str());
        if let Some(similar) = most_similar(name.as_str(), known) {
            output.note(&format!("hint: did you mean `{similar}`?"));
        }
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}
