//! `pkgres graph`

use std::collections::BTreeMap;

use pkgres_registry_client::{Answer, ClassNode, class_graph, drive};
use pkgres_resolver::{Locked, Resolver};

use crate::args::{Format, GraphArgs};
use crate::commands::modes::{require_fitting_lock, take_frozen};
use crate::commands::solve::Problem;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::Project;
use crate::show::Picture;
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
        let resolution = take_frozen(&solve.manifest, &options)?;
        return draw(
            &Picture::of_resolution(&resolution, core.as_ref(), &BTreeMap::new()),
            Exit::Done,
            output,
        );
    }
    let project = Project::open(&solve.manifest, &options)?;
    let mut problem = Problem::of_project(&project, &solve.registry, &solve.policy, &options)?;
    if solve.mode.locked {
        require_fitting_lock(&project, &problem, &options, output)?;
    }
    if !solve.ignore_lock
        && let Some(lock) = project.lockfile(&options)?
    {
        problem.request.locked = Locked::from_lockfile(&lock);
    }
    let request = problem.request.clone();
    let progress = output.progress("Resolving");
    let answer = drive(
        &mut Resolver::new(problem.request),
        &problem.registries,
        &options,
    );
    drop(progress);
    output.findings(&problem.registries.take_findings());
    match answer? {
        Answer::Solved(resolution) => {
            let classes: BTreeMap<ClassNode, Vec<ClassNode>> = if args.classes {
                class_graph(
                    &request.roots,
                    &request.provided,
                    &resolution,
                    &problem.registries,
                )?
            } else {
                BTreeMap::new()
            };
            let picture = Picture::of_resolution(&resolution, core.as_ref(), &classes);
            draw(&picture, Exit::Done, output)
        }
        Answer::Conflict(conflict) => {
            let picture = Picture::of_conflict(&conflict);
            let exit = draw(&picture, Exit::Failed, output)?;
            output.note(&format!(
                "There is no resolution: {}; what clashes is red",
                conflict.summary
            ));
            Ok(exit)
        }
        Answer::GaveUp { steps } => Err(Failure {
            findings: vec![
                pkgres_manifest::diagnostic::Diagnostic::error(
                    pkgres_manifest::diagnostic::Code::GaveUp,
                    format!("gave up after {steps} steps without an answer"),
                )
                .hint("`--max-steps` allows more"),
            ],
            exit: Exit::GaveUp,
        }),
        Answer::Cancelled => unreachable!("an interrupt ends the whole process"),
    }
}

fn draw(picture: &Picture, exit: Exit, output: &mut Output) -> Result<Exit> {
    match output.format {
        Format::Json => output.json(&picture.to_json()),
        Format::Mermaid => output.data(&picture.to_mermaid()),
        Format::Svg => {
            let svg = picture.to_svg().map_err(Failure::usage)?;
            output.data(&svg);
        }
        _ => output.data(&picture.to_dot()),
    }
    Ok(exit)
}
