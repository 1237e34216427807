//! The commands, one file each.

mod cache;
mod check;
mod export_static;
mod index;
mod lock;
mod locked;
mod login;
mod pack;
mod pin;
mod publish;
mod resolve;
mod serve;
mod solve;
mod spec;
mod tree;
mod unpack;
mod why;
mod yank;

pub(crate) use cache::CacheArgs;
pub(crate) use locked::{LockedArgs, VendorArgs};
pub(crate) use login::LoginArgs;
pub(crate) use publish::PublishArgs;
pub(crate) use yank::YankArgs;

use serde_json::json;

use crate::args::{Arguments, Command};
use crate::exit::Exit;
use crate::output::Output;
use crate::show;

/// Runs a command. Whatever goes wrong is shown here.
pub(crate) fn run(arguments: Arguments, output: &mut Output) -> Exit {
    let result = match arguments.command {
        Command::Resolve(args) => resolve::run(&args, output),
        Command::Lock(args) => lock::run(&args, output),
        Command::Pin(args) => pin::run(&args, output),
        Command::Tree(args) => tree::run(&args, output),
        Command::Why(args) => why::run(&args, output),
        Command::Spec(args) => spec::run(&args, output),
        Command::Index(args) => index::run(&args, output),
        Command::Pack(args) => pack::run(&args, output),
        Command::Unpack(args) => unpack::run(&args, output),
        Command::Check(args) => check::run(&args, output),
        Command::Publish(args) => publish::run(&args, output),
        Command::Yank(args) => yank::run(&args, output),
        Command::Login(args) => login::run(&args, output),
        Command::Fetch(args) => locked::fetch(&args, output),
        Command::Verify(args) => locked::verify(&args, output),
        Command::Vendor(args) => locked::vendor(&args, output),
        Command::Cache(args) => cache::run(&args, output),
        Command::Serve(args) => serve::run(&args, output),
        Command::ExportStatic(args) => export_static::run(&args, output),
    };
    let exit = result.unwrap_or_else(|failure| {
        if output.is_json() {
            output.json(&json!({
                "schema_version": 1,
                "status": "error",
                "diagnostics": show::diagnostics_json(&failure.findings),
            }));
        } else {
            output.findings(&failure.findings);
        }
        failure.exit
    });
    output.finish(exit)
}
