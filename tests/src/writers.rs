//! Commands that run at the same time, again and again.

use std::process::{Child, Command, Stdio};

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

/// Starts the command of each writer at once. Returns the writers whose command succeeded.
///
/// # Panics
///
/// If a command cannot be started.
pub fn at_once(command: impl Fn(usize) -> Command) -> Vec<usize> {
    let writers: Vec<Child> = (0..WRITERS)
        .map(|number| {
            let mut command = command(number);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().expect("it starts")
        })
        .collect();
    let mut done = Vec::new();
    for (number, mut writer) in writers.into_iter().enumerate() {
        if writer.wait().expect("it ends").success() {
            done.push(number);
        }
    }
    done
}
