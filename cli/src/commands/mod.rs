//! The commands, one file or folder each.

mod cache;
mod check;
mod config;
mod diff;
mod explain;
mod export;
mod export_static;
mod graph;
mod index;
mod init;
mod lock;
mod locked;
mod login;
mod outdated;
mod pack;
mod pin;
mod publish;
mod reference;
mod require;
mod resolve;
mod schema;
mod serve;
mod several;
mod spec;
mod tree;
mod unpack;
mod update;
mod why;
mod yank;

use clap::ValueEnum as _;
use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, Version, most_similar_name};
use pkgres_resolver::Resolution;
use serde_json::json;

use crate::args::{Arguments, Command, Format};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::{given, show};

/// Runs a command. Whatever goes wrong is shown here.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    if let Err(failure) = check_format(arguments) {
        return fail_with(&failure, output);
    }
    let result = match &arguments.command {
        Command::Resolve(args) => resolve::run(args, output),
        Command::Lock(args) => lock::run(args, output),
        Command::Pin(args) => pin::run(args, output),
        Command::Init(args) => init::run(args, output),
        Command::Add(args) => require::add(args, output),
        Command::Remove(args) => require::remove(args, output),
        Command::Update(args) => update::run(args, output),
        Command::Outdated(args) => outdated::run(args, output),
        Command::Diff(args) => diff::run(args, output),
        Command::Tree(args) => tree::run(args, output),
        Command::Why(args) => why::run(args, output),
        Command::Explain(args) => explain::run(args, output),
        Command::Graph(args) => graph::run(args, output),
        Command::Export(args) => export::run(args, output),
        Command::Schema(args) => Ok(schema::run(args, output)),
        Command::Completions(args) => Ok(reference::completions(args, output)),
        Command::Man(args) => reference::man(args, output),
        Command::Reference(args) => Ok(reference::reference(args, output)),
        Command::Config(args) => Ok(config::run(args, output)),
        Command::Spec(args) => spec::run(args, output),
        Command::Index(args) => index::run(args, output),
        Command::Pack(args) => pack::run(args, output),
        Command::Unpack(args) => unpack::run(args, output),
        Command::Check(args) => check::run(args, output),
        Command::Publish(args) => publish::run(args, output),
        Command::Yank(args) => yank::run(args, output),
        Command::Login(args) => login::run(args, output),
        Command::Fetch(args) => locked::fetch(args, output),
        Command::Verify(args) => locked::verify(args, output),
        Command::Vendor(args) => locked::vendor(args, output),
        Command::Cache(args) => cache::run(args, output),
        Command::Serve(args) => serve::run(args, output),
        Command::ExportStatic(args) => export_static::run(args, output),
    };
    match result {
        Ok(exit) => output.finish(exit),
        Err(failure) => fail_with(&failure, output),
    }
}

/// Shows why a run cannot even begin.
pub(crate) fn fail(failure: &Failure, mut output: Output) -> Exit {
    fail_with(failure, &mut output)
}

fn fail_with(failure: &Failure, output: &mut Output) -> Exit {
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "error",
            "diagnostics": show::diagnostics_json(&failure.findings),
        }));
    } else if output.format == Format::Github {
        output.data(&show::annotations(&failure.findings));
    } else {
        output.findings(&failure.findings);
    }
    output.finish(failure.exit)
}

/// Not every command can write everything.
fn check_format(arguments: &Arguments) -> Result<()> {
    let also: &[Format] = match &arguments.command {
        Command::Check(_) => &[Format::Github],
        Command::Lock(args) if args.check || args.locked => &[Format::Github],
        Command::Diff(_) => &[Format::Markdown],
        Command::Graph(_) => &[Format::Dot, Format::Mermaid, Format::Svg],
        Command::Export(_) => &[Format::Cyclonedx, Format::Spdx],
        _ => &[],
    };
    let asked = arguments.shared.format;
    if matches!(asked, Format::Text | Format::Json) || also.contains(&asked) {
        return Ok(());
    }
    let name = |format: &Format| {
        let value = format.to_possible_value();
        value.map(|value| format!("`{}`", value.get_name()))
    };
    let possible: Vec<String> = [Format::Text, Format::Json]
        .iter()
        .chain(also)
        .filter_map(name)
        .collect();
    Err(Failure::usage(format!(
        "this command does not know `--format {}`, but {}",
        name(&asked).unwrap_or_default().trim_matches('`'),
        possible.join(", ")
    )))
}

/// A package that is named on the command line.
pub(crate) fn package_name(text: &str) -> Result<PackageName> {
    PackageName::parse(text).map_err(|error| {
        let text = Escaped::shortened(text);
        Failure::usage(format!("`{text}`: {error}"))
    })
}

/// `NAME`, or `NAME@VERSION` for one release of it.
pub(crate) fn release_name(text: &str) -> Result<(PackageName, Option<Version>)> {
    let Some((name, version)) = text.split_once('@') else {
        return Ok((package_name(text)?, None));
    };
    let name = package_name(name)?;
    let version = Version::parse(version).map_err(|error| {
        let text = Escaped::shortened(text);
        Failure::usage(format!("`{text}`: {error}"))
    })?;
    Ok((name, Some(version)))
}

/// Whether a version is the one that was named, if one was.
pub(crate) fn is_named(version: &Version, named: Option<&Version>) -> bool {
    named.is_none_or(|named| named == version)
}

/// A package, or one release of it, that was named is not there, or only as the root.
pub(crate) fn not_part_of(
    name: &PackageName,
    version: Option<&Version>,
    resolution: &Resolution,
) -> Failure {
    let releases = resolution.packages().iter();
    let there: BTreeSet<Version> = releases
        .filter(|package| package.name == *name)
        .map(|package| package.version.clone())
        .collect();
    if let Some(version) = version.filter(|_| !there.is_empty()) {
        let message = format!("`{name}` is at {}, and not at {version}", listed(&there));
        return Failure::usage(message);
    }
    let mut roots = resolution.roots().iter();
    if roots.any(|root| root.owner.name() == Some(name)) {
        let message = format!("`{name}` is what is resolved, and nothing requires it");
        let hint = format!("`{}` shows what it requires", given::command("tree"));
        return Diagnostic::error(Code::Usage, message).hint(hint).into();
    }
    let message = format!("`{name}` is not part of the resolution");
    let known = resolution.packages().iter();
    unknown(name, message, known.map(|package| package.name.as_str()))
}

/// `1.2.0, 1.3.0 and 2.0.0`
pub(crate) fn listed(versions: &BTreeSet<Version>) -> String {
    let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
    match texts.as_slice() {
        [others @ .., last] if !others.is_empty() => {
            format!("{} and {last}", others.join(", "))
        }
        _ => texts.concat(),
    }
}

/// A package is not where it was looked for, which has others.
pub(crate) fn unknown<'known>(
    name: &PackageName,
    message: String,
    known: impl Iterator<Item = &'known str>,
) -> Failure {
    let hint = match most_similar_name(name.as_str(), known) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("`{}` shows what there is", given::command("tree")),
    };
    Diagnostic::error(Code::Usage, message).hint(hint).into()
}
