//! The `pkgres` command.
//!
//! `args` is the grammar of the command line, each module of `commands` a command, and `show` says
//! how results look. Whatever else there is to compute is done by the libraries.

mod args;
mod commands;
mod exit;
mod failure;
mod output;
mod project;
mod registries;
mod settings;
mod show;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::Arguments;
use crate::output::Output;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are data, and go to stdout with success.
            let is_error = error.use_stderr();
            let _ = error.print();
            return if is_error {
                exit::Exit::Usage.into()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let mut output = Output::new(&arguments);
    commands::run(arguments, &mut output).into()
}
