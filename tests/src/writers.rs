//! Commands that run at the same time, again and again.

use std::process::{Child, Command, Output, Stdio};

/// The number of commands that run at the same time.
pub const WRITERS: usize = 5;

/// How often a test is repeated: `ROUNDS`, or four times if it is not set. 200 rounds take some minutes.
///
/// # Panics
///
/// If `ROUNDS` is not a number.
pub fn rounds() -> usize {
    let wanted = std::env::var("ROUNDS").ok();
    wanted.map_or(4, |wanted| wanted.parse().expect("ROUNDS is a number"))
}

/// Starts the command of each writer at once, and returns their outputs, without what is on stdout.
///
/// # Panics
///
/// If a command cannot be started.
pub fn outputs_at_once(command: impl Fn(usize) -> Command) -> Vec<Output> {
    let start = |number| {
        let mut command = command(number);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    };
    let writers: Vec<Child> = (0..WRITERS).map(start).collect();
    let writers = writers.into_iter();
    let outputs = writers.map(|writer| writer.wait_with_output().expect("it ends"));
    outputs.collect()
}

/// Starts the command of each writer at once. Returns the writers whose command succeeded.
///
/// # Panics
///
/// If a command cannot be started.
pub fn at_once(command: impl Fn(usize) -> Command) -> Vec<usize> {
    let outputs = outputs_at_once(command).into_iter().enumerate();
    let done = outputs.filter(|(_, output)| output.status.success());
    done.map(|(number, _)| number).collect()
}
