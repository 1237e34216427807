//! The commands, a module each.

mod account;
mod add;
mod cache;
mod check;
mod config;
mod deployment;
mod diff;
mod error_page;
mod explain;
mod export;
mod export_static;
mod fetch;
mod graph;
mod index;
mod info;
mod init;
mod install;
mod interface;
mod lock;
mod locked_artifacts;
mod login;
mod members;
mod outdated;
mod pack;
mod pin;
mod prune;
mod publish;
mod reference;
mod repair;
mod resolve;
mod schema;
mod search;
mod semver;
mod serve;
mod several_projects;
mod spec;
mod supplied;
mod tree;
mod unpack;
mod update;
mod validate;
mod validation_steps;
mod vendor;
mod verify_certificate;
mod why;
mod why_not;
mod yank;

use clap::ValueEnum as _;
use pkgres_manifest::diagnostic::capped;
use serde_json::json;

use crate::args::{Arguments, Command, Format, LockArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::help::{format_of, formats_of};
use crate::output::Output;
use crate::show;

/// Runs a command, and reports its failure.
pub(crate) fn run(arguments: &Arguments, context: &Context, output: &mut Output) -> Exit {
    if let Err(failure) = check_format(arguments) {
        return fail(&failure, output);
    }
    let result = match &arguments.command {
        Command::Resolve(args) => resolve::run(args, context, output),
        Command::Lock(args) => lock::run(args, context, output),
        Command::Pin(args) => pin::run(args, context, output),
        Command::Init(args) => init::run(args, context, output),
        Command::Add(args) => add::add(args, context, output),
        Command::Remove(args) => add::remove(args, context, output),
        Command::Update(args) => update::run(args, context, output),
        Command::Outdated(args) => outdated::run(args, context, output),
        Command::Diff(args) => diff::run(args, context, output),
        Command::Tree(args) => tree::run(args, context, output),
        Command::Why(args) => why::run(args, context, output),
        Command::Explain(args) => explain::run(args, context, output),
        Command::Repair(args) => repair::run(args, context, output),
        Command::VerifyCertificate(args) => verify_certificate::run(args, output),
        Command::Graph(args) => graph::run(args, context, output),
        Command::Export(args) => export::run(args, context, output),
        Command::Schema(args) => Ok(schema::run(args, output)),
        Command::Completions(args) => Ok(reference::completions(args, output)),
        Command::Man(args) => reference::man(args, output),
        Command::Reference(args) => Ok(reference::reference(args, output)),
        Command::Config(args) => config::run(args, context, output),
        Command::Spec(args) => spec::run(args, output),
        Command::Index(args) => index::run(args, output),
        Command::Pack(args) => pack::run(args, context, output),
        Command::Unpack(args) => unpack::run(args, output),
        Command::Check(args) => check::run(args, context, output),
        Command::Semver(args) => semver::run(args, context, output),
        Command::Interface(args) => interface::run(args, context, output),
        Command::Validate(args) => validate::run(args, context, output),
        Command::Prune(args) => prune::run(args, output),
        Command::Plan(args) => deployment::plan(args, context, output),
        Command::Apply(args) => deployment::apply(args, context, output),
        Command::Call(args) => deployment::call(args, context, output),
        Command::Publish(args) => publish::run(args, context, output),
        Command::Yank(args) => yank::run(args, context, output),
        Command::Search(args) => search::run(args, context, output),
        Command::Info(args) => info::run(args, context, output),
        Command::WhyNot(args) => why_not::run(args, context, output),
        Command::Login(args) => login::login(args, context, output),
        Command::Logout(args) => login::logout(args.registry.wanted(), context, output),
        Command::Whoami(args) => account::whoami(args, context, output),
        Command::Owner(args) => account::owner(args, context, output),
        Command::Token(args) => account::token(args, context, output),
        Command::Fetch(args) => fetch::fetch(args, context, output),
        Command::Verify(args) => install::verify(args, context, output),
        Command::Vendor(args) => vendor::run(args, context, output),
        Command::Install(args) => install::install(args, context, output),
        Command::Cache(args) => cache::run(args, context, output),
        Command::Serve(args) => serve::run(args, output),
        Command::ExportStatic(args) => export_static::run(args, output),
    };
    match result {
        Ok(exit) => output.finish(exit),
        Err(failure) => fail(&failure, output),
    }
}

/// Reports a failure, and ends the output.
pub(crate) fn fail(failure: &Failure, output: &mut Output) -> Exit {
    report_failure(failure, output);
    output.finish(failure.exit)
}

/// Reports a failure, unless it was reported already: in JSON, as a document of its own.
pub(crate) fn report_failure(failure: &Failure, output: &mut Output) {
    if failure.findings.is_empty() {
        return;
    }
    let findings = &capped(failure.findings.clone());
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "error",
            "diagnostics": show::diagnostics_json(&output.with_folder(findings)),
        }));
    } else if output.format() == Format::Github {
        output.annotate(findings);
    } else {
        output.findings(findings);
    }
}

/// Checks that the command supports the output format.
fn check_format(arguments: &Arguments) -> Result<()> {
    let command = &arguments.command;
    let format = format_of(arguments);
    let possible = formats_of(command.name());
    let is_check = |args: &LockArgs| args.check || args.locked;
    let lacks_check = matches!(command, Command::Lock(args) if !is_check(args));
    if format == Format::Github && lacks_check {
        return Err(Failure::usage("`--format github` needs `--check` here"));
    }
    if possible.contains(&format) {
        return Ok(());
    }
    let name = |format: &Format| {
        let value = format.to_possible_value();
        value.map(|value| format!("`{}`", value.get_name()))
    };
    let possible: Vec<String> = possible.iter().filter_map(name).collect();
    Err(Failure::usage(format!(
        "this command does not support `--format {}`; it supports {}",
        name(&format).unwrap_or_default().trim_matches('`'),
        possible.join(", ")
    )))
}
