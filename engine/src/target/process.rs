//! Starts processes with an empty environment in a process group of their own, and ends them after a timeout.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::is_identifier;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::command::{Command, Output};
use super::error::{TargetError, shown};
use super::mounts;
use super::pipes::{Ended, read_all, write_all};
use super::process_guard::ProcessGuard;

/// The pauses between two looks at a process: short at first, as most commands end at once.
pub(super) const PAUSES: (Duration, Duration) =
    (Duration::from_millis(1), Duration::from_millis(20));

/// Runs a program of this machine with these words, with input, variables and timeout of `command`. If this process is
/// killed meanwhile, the guard kills the program.
pub(super) fn run(
    words: &[String],
    command: &Command,
    guard: Option<&ProcessGuard>,
) -> Result<Output, TargetError> {
    if command.cancellation.is_cancelled() {
        return Err(TargetError::Cancelled);
    }
    let failed = |source| TargetError::Start {
        command: shown(command),
        source,
    };
    check_variables(command).map_err(failed)?;
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| failed(std::io::ErrorKind::InvalidInput.into()))?;
    let mut child = std::process::Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(mounts::variables(command))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    if let Some(guard) = guard {
        guard.add(child.id());
    }
    let input = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let ended = Ended::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            if let Some(pipe) = input {
                write_all(pipe, &command.input, &ended);
            }
        });
        let stdout = scope.spawn(|| read_all(stdout, &ended));
        let stderr = scope.spawn(|| read_all(stderr, &ended));
        let was_signalled = wait(&child, command);
        // Whatever the command left running has its pipes open. What has left the group goes on. Once the process has
        // been collected, another group may get the number of this one.
        signal_group(&child, Signal::KILL);
        if let Some(guard) = guard {
            guard.remove(child.id());
        }
        let status = child.wait();
        let _ = ended.set(Instant::now());
        let (stdout, is_cut) = stdout.join().unwrap_or_default();
        let (stderr, _) = stderr.join().unwrap_or_default();
        let was_signalled = was_signalled?;
        let status = status.map_err(failed)?;
        if was_signalled && status.signal().is_some() {
            return Err(TargetError::Cancelled);
        }
        Ok(Output {
            code: status.code(),
            stdout,
            stderr,
            is_cut,
        })
    })
}

/// Checks the names of the variables of a command.
pub(super) fn check_variables(command: &Command) -> std::io::Result<()> {
    let Some(name) = command.variables.keys().find(|name| !is_identifier(name)) else {
        return Ok(());
    };
    let message = format!("`{}` cannot be the name of a variable", Escaped::new(name));
    Err(std::io::Error::new(
        std::io::ErrorKind::InvalidInput,
        message,
    ))
}

/// Waits for the end of a process, and asks it to end if the command is cancelled. Returns whether it was asked. The
/// process is not collected.
fn wait(child: &Child, command: &Command) -> Result<bool, TargetError> {
    let start = Instant::now();
    let mut pause = PAUSES.0;
    let mut sent = None;
    while !has_ended(child) {
        if start.elapsed() > command.timeout {
            return Err(TargetError::Timeout {
                command: shown(command),
                timeout: command.timeout,
            });
        }
        let signal = command.cancellation.signal();
        if signal.is_some() && signal != sent {
            sent = signal;
            signal_group(child, signal.unwrap_or(Signal::KILL));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
    Ok(sent.is_some())
}

/// Whether a process has ended. It is not collected, so its number still belongs to it.
pub(super) fn has_ended(child: &Child) -> bool {
    let Some(id) = number_of(child) else {
        return true;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // An error means that there is no such process any more.
    !matches!(waitid(WaitId::Pid(id), options), Ok(None))
}

fn number_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn signal_group(child: &Child, signal: Signal) {
    if let Some(id) = number_of(child) {
        // The group may be gone already.
        let _ = kill_process_group(id, signal);
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::test_kill_process_group;

    use super::*;

    #[test]
    fn the_number_of_a_process_that_has_ended_stays_its_own_until_its_group_is_killed() {
        let mut child = std::process::Command::new("true")
            .process_group(0)
            .spawn()
            .expect("it can be started");
        wait(&child, &Command::new("true")).expect("it ends");
        let id = number_of(&child).expect("it has a number");
        test_kill_process_group(id).expect("the group is still there");
        assert!(child.wait().expect("it was started").success());
        assert!(has_ended(&child));
        test_kill_process_group(id).expect_err("the group is gone");
    }
}
