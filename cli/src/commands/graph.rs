//! `pkgres graph`

use std::collections::BTreeMap;

use pkgres_registry_client::{ClassNode, class_graph};

use crate::args::{Format, GraphArgs};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lock_modes::take_frozen;
use crate::output::Output;
use crate::problem::Searched;
use crate::project::Project;
use crate::show::Picture;
use crate::solve::problem_with_lock;
use crate::{registries, settings};

pub(crate) fn run(args: &GraphArgs, output: &mut Output) -> Result<Exit> {
    let solve = &args.solve;
    let options = registries::read_options(&solve.registry)?;
    let core = registries::core_library(&solve.registry)?;
    if solve.mode.frozen {
        if args.classes {
            let from = settings::current().from("frozen");
            return Err(Failure::usage(format!(
                "`--classes` needs the classes of packages, which `--frozen`{from} does not read"
            )));
        }
        let resolution = take_frozen(solve, &options)?;
        return draw(
            &Picture::of_resolution(&resolution, core.as_ref(), &BTreeMap::new()),
            Exit::Done,
            output,
        );
    }
    let project = Project::open(&solve.manifest, &options)?;
    let problem = problem_with_lock(solve, &project, &options, output)?;
    let (roots, provided) = (
        problem.request.roots.clone(),
        problem.request.provided.clone(),
    );
    let (searched, registries) = problem.search(output)?;
    match searched {
        Searched::Solved(resolution) => {
            let classes: BTreeMap<ClassNode, Vec<ClassNode>> = if args.classes {
                class_graph(&roots, &provided, &resolution, &registries)?
            } else {
                BTreeMap::new()
            };
            let picture = Picture::of_resolution(&resolution, core.as_ref(), &classes);
            draw(&picture, Exit::Done, output)
        }
        Searched::Conflict(conflict) => {
            let picture = Picture::of_conflict(&conflict);
            let exit = draw(&picture, Exit::Failed, output)?;
            output.note(&format!(
                "There is no resolution: {}; what clashes is red",
                conflict.summary
            ));
            Ok(exit)
        }
        Searched::GaveUp => Ok(Exit::GaveUp),
    }
}

fn draw(picture: &Picture, exit: Exit, output: &mut Output) -> Result<Exit> {
    match output.format {
        Format::Json => output.json(&picture.to_json()),
        Format::Mermaid => output.data(&picture.to_mermaid()),
        Format::Svg => {
            let svg = picture
                .to_svg()
                .map_err(|finding| Failure::from(*finding))?;
            output.data(&svg);
        }
        _ => output.data(&picture.to_dot()),
    }
    Ok(exit)
}
