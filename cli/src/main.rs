//! The `pkgres` command.
//!
//! `args` is the grammar of the command line, each module of `commands` a command, and `show` says
//! how results look. Whatever else there is to compute is done by the libraries.

mod args;
mod commands;
mod compatible;
mod credentials;
mod cutoff;
mod earlier_lock;
mod environment;
mod exit;
mod failure;
mod given;
mod lock_modes;
mod members;
mod network;
mod output;
mod parse;
mod place;
mod problem;
mod progress;
mod project;
mod registries;
mod remote;
mod settings;
mod show;
mod solve;

use std::io::Write as _;
use std::process::ExitCode;

use crate::output::Output;

/// Reading registries is many small values on several threads, which the allocators of some systems are
/// slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words = match parse::words() {
        Ok(words) => words,
        Err(error) if error.use_stderr() && parse::asks_for_json() => {
            let output = Output::in_format(args::Format::Json);
            return commands::fail(&parse::failure_of(&error), output).into();
        }
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
    let command = words.command();
    let before = Output::new(&words.arguments);
    let exit = match parse::with_settings(words) {
        Ok(arguments) => commands::run(&arguments, &mut Output::new(&arguments)),
        Err(failure) => commands::fail(&failure, before),
    };
    debug_assert!(
        exit::ends_of(&command).any(|(end, _)| end == exit),
        "`{command}` does not say that it can end with {exit:?}"
    );
    exit.into()
}
