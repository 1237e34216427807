//! `pkgres interface`

use std::path::Path;

use pkgres_checks::{Bump, Impact, interface_differences, interface_text};
use pkgres_files::{Follow, RealFileSystem, make_folder, read_file, write_file};
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{
    ClassName, Interface, ReadOptions, Release, did_you_mean, most_similar_name,
    read_interface_file,
};
use serde_json::json;

use crate::args::{InterfaceArgs, InterfaceCommand, InterfaceDiffArgs, InterfaceInitArgs};
use crate::bound_release::BoundRelease;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::Project;
use crate::show::counted;

pub(super) fn run(args: &InterfaceArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    match &args.command {
        InterfaceCommand::Init(args) => init(args, context, output),
        InterfaceCommand::Diff(args) => diff(args, context, output),
    }
}

/// Writes an interface from a class, or from most classes of a package.
fn init(args: &InterfaceInitArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let project = Project::open(&args.package, context)?;
    let bound = BoundRelease::of_project(&project, context, output)?;
    let (release, classes) = sources(&args.from, &bound)?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => default_name(&args.from)?,
    };
    let text = interface_text(&bound.packages, &release, &classes, &name);
    let text = text.ok_or_else(|| {
        Failure::usage(format!(
            "{} {} has no classes",
            release.name, release.version
        ))
    })?;
    output.findings(bound.unbound.as_slice());
    let Some(file) = &args.output else {
        if output.is_json() {
            output.json(&json!({"schema_version": 1, "interface": name, "text": text}));
        } else {
            output.data(&text);
        }
        return Ok(Exit::Done);
    };
    if file.symlink_metadata().is_ok() {
        let message = format!("{} exists already", Escaped::path(file));
        return Err(Failure::usage(message));
    }
    // The first interface of a package is also the first file in its folder.
    if let Some(folder) = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        make_folder(&RealFileSystem, folder)?;
    }
    write_file(&RealFileSystem, file, text.as_bytes())?;
    let file = file.to_string_lossy();
    if output.is_json() {
        output.json(&json!({"schema_version": 1, "interface": name, "file": file}));
    } else {
        output.note(&format!("Wrote {file}"));
    }
    Ok(Exit::Done)
}

/// The release and the classes that a word means: a class of the package or of what it requires, or a package of these
/// with all classes that others see.
fn sources(from: &str, bound: &BoundRelease) -> Result<(Release, Vec<ClassName>)> {
    let releases = || {
        let own = bound.packages.releases.get_key_value(&bound.release);
        let others = bound.packages.releases.iter();
        let others = others.filter(|(release, _)| **release != bound.release);
        own.into_iter().chain(others)
    };
    let mut known: Vec<&str> = Vec::new();
    for (release, package) in releases() {
        let classes = package.package.iter().flat_map(|package| &package.classes);
        for class in classes.flat_map(|classes| classes.keys()) {
            if class.as_str() == from {
                return Ok((release.clone(), vec![class.clone()]));
            }
            known.push(class.as_str());
        }
    }
    for (release, package) in releases() {
        if release.name.as_str() != from {
            known.push(release.name.as_str());
            continue;
        }
        let package = package.package.as_ref();
        let classes = package.iter().flat_map(|package| &package.manifest.classes);
        let classes = classes.map(|entry| entry.name.value.clone()).collect();
        return Ok((release.clone(), classes));
    }
    let shown = Escaped::shortened(from);
    let mut failure = Failure::usage(format!(
        "`{shown}` is neither a class nor a package that {} {} has or requires",
        bound.release.name, bound.release.version
    ));
    if let Some(similar) = most_similar_name(from, known) {
        let hint = did_you_mean(similar);
        failure.findings[0].hints.push(hint);
    }
    Err(failure)
}

fn default_name(from: &str) -> Result<ClassName> {
    ClassName::parse(&format!("{from}Interface"))
        .map_err(|error| Failure::usage(format!("set a name with `--name`: {error}")))
}

/// Shows the differences between two versions of an interface.
fn diff(args: &InterfaceDiffArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let options = &context.read_options;
    let (old, new) = (read(&args.old, options)?, read(&args.new, options)?);
    if old.name.value != new.name.value {
        let message = format!(
            "`{}` and `{}` are two interfaces, and not two versions of one",
            old.name.value, new.name.value
        );
        return Err(Failure::usage(message));
    }
    let differences = interface_differences(&old, &new);
    let needed = Bump::needed_for_all(differences.iter().map(|difference| difference.impact));
    if output.is_json() {
        let listed = differences.iter().map(|difference| {
            let place = |location: &Option<pkgres_manifest::diagnostic::Location>| {
                location.as_ref().map(ToString::to_string)
            };
            json!({
                "impact": difference.impact.to_string(),
                "function": difference.function,
                "message": difference.message,
                "old": place(&difference.old),
                "new": place(&difference.new),
            })
        });
        output.json(&json!({
            "schema_version": 1,
            "interface": new.name.value,
            "needed": needed.to_string(),
            "differences": listed.collect::<Vec<_>>(),
        }));
        return Ok(Exit::Done);
    }
    for difference in &differences {
        output.prose(&format!("{difference}\n"));
    }
    let count = counted(differences.len(), "difference");
    let reviews = (differences.iter())
        .filter(|difference| difference.impact == Impact::Review)
        .count();
    let count = match reviews {
        0 => count,
        _ if reviews == differences.len() => format!("{count} to review"),
        _ => format!("{count}, {reviews} to review"),
    };
    output.note(&match needed {
        // A review decides whether that is enough.
        Bump::Patch if reviews > 0 => count,
        Bump::None => format!("{count}: callers notice nothing"),
        needed => format!("{count}: the package needs a {needed} bump"),
    });
    Ok(Exit::Done)
}

fn read(file: &Path, options: &ReadOptions) -> Result<Interface> {
    let bytes = read_file(file, options.limits.class_file_bytes, Follow::Links)?;
    // The manifest that names it is not at hand.
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let requested = stem.and_then(|stem| ClassName::parse(stem).ok());
    let read = read_interface_file(&file.to_string_lossy(), &bytes, requested.as_ref(), options);
    let (interface, _) = read.into_result().map_err(Failure::from)?;
    Ok(interface)
}
