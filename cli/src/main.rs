//! The `pkgres` command.
//!
//! `command_line` turns the words of the command line into arguments (the grammar is in `args`), `context`
//! combines them with the environment and settings files into the values that a run uses, each module of
//! `commands` is a command, and `show` renders results. Everything else is computed by the libraries.

mod args;
mod bound_release;
mod capabilities;
mod certificate;
mod command_line;
mod commands;
mod conflict_hints;
mod context;
mod early_output;
mod environment;
mod exit;
mod failure;
mod folder_in_hints;
mod git;
mod help;
mod interface_baseline;
mod invocation;
mod live_view;
mod lock_owner;
mod lockfile;
mod machine_facts;
mod missing_classes;
mod missing_manifest;
mod named_packages;
mod output;
mod paths;
mod prefixed_output;
mod progress;
mod project;
mod project_argument;
mod project_classes;
mod project_lock;
mod project_uses;
mod read_manifest;
mod read_release;
mod reference_positions;
mod registries;
mod repair_commands;
mod requirements_first;
mod root;
mod root_file;
mod settings;
mod show;
mod signals;
mod solve;
mod solve_options;
mod solve_task;
mod terminal_text;
mod ticker;
mod update_effects;
mod usage_error;
mod workspace;
mod write_together;
mod yank_reasons;

use std::process::ExitCode;

use crate::command_line::CommandLine;
use crate::exit::Exit;
use crate::output::Output;

/// Reading a registry allocates many small values on several threads, which the allocators of some systems
/// are slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match CommandLine::read() {
        Ok(command_line) => run(command_line).into(),
        Err(error) => reject(&error),
    }
}

/// Runs the command that the command line names.
fn run(command_line: CommandLine) -> Exit {
    let command = command_line.command();
    let mut output = Output::new(command_line.arguments());
    let exit = match command_line.with_settings() {
        Ok((arguments, context, _locks)) => {
            output = Output::new(&arguments);
            output.findings(&environment::misspelt_variables());
            commands::run(&arguments, &context, &mut output)
        }
        Err(failure) => {
            output.findings(&environment::misspelt_variables());
            commands::fail(&failure, &mut output)
        }
    };
    debug_assert!(
        exit == Exit::Interrupted || exit::exit_codes_of(&command).any(|(code, _)| code == exit),
        "the help of `{command}` does not list {exit:?}"
    );
    exit
}

/// Reports a command line that does not fit the grammar, or prints the requested help or version.
fn reject(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && command_line::requests_json() {
        let mut output = Output::in_format(args::Format::Json);
        return commands::fail(&usage_error::failure_of(error), &mut output).into();
    }
    if error.use_stderr() {
        usage_error::report(error, command_line::color());
        return Exit::Usage.into();
    }
    // Help and version are data: they go to stdout, and the run succeeds.
    let printed = early_output::help(error, command_line::color());
    if early_output::report_cut_short(printed) {
        Exit::Usage.into()
    } else {
        ExitCode::SUCCESS
    }
}
