//! `pkgres graph`

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_registry_client::{ClassNode, class_graph};

use crate::args::{Format, GraphArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::Project;
use crate::show::{Graph, conflict_document};
use crate::solve::{frozen_lacks, read_frozen, task_with_lock};
use crate::solve_task::Searched;

pub(super) fn run(args: &GraphArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let solve = &args.solve;
    if solve.mode.frozen {
        if args.classes {
            let needs = "`--classes` needs the classes of packages";
            return Err(frozen_lacks(needs, context));
        }
        let resolution = read_frozen(solve, &solve.manifest, context)?;
        return draw(
            &Graph::of_resolution(&resolution, &BTreeMap::new()),
            Exit::Done,
            output,
        );
    }
    let project = Project::open(&solve.manifest, context)?;
    let task = task_with_lock(solve, &project, context, output)?;
    let (roots, provided) = (
        task.request.roots.clone(),
        task.request.host_releases.clone(),
    );
    let (searched, registries) = task.search(context, output)?;
    match searched {
        Searched::Solved(resolution) => {
            let classes: BTreeMap<ClassNode, Vec<ClassNode>> = if args.classes {
                class_graph(&roots, &provided, &resolution, &registries)?
            } else {
                BTreeMap::new()
            };
            let graph = Graph::of_resolution(&resolution, &classes);
            draw(&graph, Exit::Done, output)
        }
        Searched::Conflict(conflict) => {
            let graph = Graph::of_conflict(&conflict);
            if output.is_json() {
                let mut document = conflict_document(&conflict);
                let drawn = graph.to_json();
                document["nodes"] = drawn["nodes"].clone();
                document["edges"] = drawn["edges"].clone();
                output.json(&document);
                return Ok(Exit::Failed);
            }
            let exit = draw(&graph, Exit::Failed, output)?;
            output.note(&format!(
                "There is no resolution: {}; the conflict is drawn in red",
                conflict.summary
            ));
            Ok(exit)
        }
    }
}

pub(super) fn draw(graph: &Graph, exit: Exit, output: &mut Output) -> Result<Exit> {
    match output.format() {
        Format::Json => output.json(&graph.to_json()),
        Format::Mermaid => output.data(&graph.to_mermaid()),
        Format::Svg => {
            let svg = graph.to_svg().map_err(|finding| Failure::from(*finding))?;
            output.data(&svg);
        }
        Format::Png => {
            if output.is_on_terminal() {
                let finding = Diagnostic::error(Code::Usage, "a PNG is not text for a terminal");
                return Err(finding
                    .hint("redirect it: add `> graph.png` to the command")
                    .into());
            }
            let png = graph.to_png().map_err(|finding| Failure::from(*finding))?;
            output.bytes(&png);
        }
        _ => output.data(&graph.to_dot()),
    }
    Ok(exit)
}
