//! The `pkgres` command.
//!
//! `args` is the grammar of the command line, each module of `commands` a command, and `show` says
//! how results look. Whatever else there is to compute is done by the libraries.

mod args;
mod commands;
mod exit;
mod failure;
mod network;
mod output;
mod parse;
mod progress;
mod project;
mod registries;
mod settings;
mod show;

use std::io::Write as _;
use std::process::ExitCode;

use crate::output::Output;

fn main() -> ExitCode {
    let words = match parse::words() {
        Ok(words) => words,
        Err(error) => {
            // Help and version are data, and go to stdout with success.
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            let is_cut_short = output::say_if_cut_short(printed);
            return if error.use_stderr() || is_cut_short {
                exit::Exit::Usage.into()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let before = Output::new(&words.arguments);
    match parse::with_settings(words) {
        Ok(arguments) => {
            let mut output = Output::new(&arguments);
            commands::run(arguments, &mut output).into()
        }
        Err(failure) => commands::fail(&failure, before).into(),
    }
}
