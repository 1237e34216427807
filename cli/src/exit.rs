//! How the command ends.

use std::process::ExitCode;

use self::Exit::{Done, Failed, GaveUp, Integrity, Pending, Registry, Usage};

/// The exit codes. They are part of the interface: scripts and CI jobs tell them apart. Where
/// several would do, the largest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// No solution, a check failed, or the lock is stale.
    Failed = 1,
    /// Wrong usage or bad input.
    Usage = 2,
    /// A registry or the network.
    Registry = 3,
    /// Something has another digest than recorded.
    Integrity = 4,
    /// The solver gave up.
    GaveUp = 5,
    /// There are changes, where it was asked for that this be told.
    Pending = 10,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// What it means, where a command does not say it better.
    fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "no resolution, or a lockfile that is missing or out of date",
            Self::Usage => "wrong usage or bad input",
            Self::Registry => "a registry cannot be read, or refuses what it is asked",
            Self::Integrity => {
                "a release is not what was locked, or a registry is not the one that was known"
            }
            Self::GaveUp => "no answer within `--max-steps`",
            Self::Pending => "there are differences, and `--exit-code` asks for them",
        }
    }
}

/// How a command can end that only prints or writes what it is given.
const PLAIN: &[Exit] = &[Done, Usage];

/// Likewise one that solves.
const SOLVING: &[Exit] = &[Done, Failed, Usage, Registry, Integrity, GaveUp];

/// Likewise one that gets what is locked.
const FETCHING: &[Exit] = &[Done, Failed, Usage, Registry, Integrity];

/// What an exit code means in one command.
type Meaning = (Exit, &'static str);

/// Why there is nothing to get.
const NO_LOCKFILE: Meaning = (Failed, "there is no lockfile");

/// Why there is nothing to serve.
const NOT_OPENED: Meaning = (Registry, "the registry cannot be opened, or cannot listen");

/// How each command can end, and which codes mean something special there. The help of the commands
/// and the book have it from here, the tests show each of them, and in builds with assertions no
/// command ends otherwise.
const ENDS: &[(&str, &[Exit], &[Meaning])] = &[
    ("resolve", SOLVING, &[]),
    ("lock", SOLVING, &[]),
    ("init", PLAIN, &[]),
    ("add", SOLVING, &[]),
    ("remove", SOLVING, &[]),
    ("update", SOLVING, &[]),
    (
        "outdated",
        &[Done, Failed, Usage, Registry, Integrity, GaveUp, Pending],
        &[],
    ),
    ("diff", &[Done, Usage, Pending], &[]),
    (
        "pin",
        SOLVING,
        &[(
            Failed,
            "no versions fit the model, or `--check` found errors",
        )],
    ),
    ("tree", SOLVING, &[]),
    (
        "why",
        SOLVING,
        &[(
            Failed,
            "the package is not part of the resolution, or there is none",
        )],
    ),
    (
        "explain",
        SOLVING,
        &[(Failed, "there is no resolution, and it was said why")],
    ),
    ("graph", SOLVING, &[]),
    ("export", SOLVING, &[]),
    ("schema", PLAIN, &[]),
    ("completions", PLAIN, &[]),
    ("man", PLAIN, &[]),
    ("reference", PLAIN, &[]),
    ("config list", PLAIN, &[]),
    (
        "spec",
        &[Done, Failed, Usage],
        &[(Failed, "a version does not match")],
    ),
    (
        "index",
        &[Done, Failed, Usage, Registry],
        &[
            (
                Failed,
                "something could not be read, and is not in the index",
            ),
            (Registry, "the folder cannot be indexed as a registry"),
        ],
    ),
    ("pack", PLAIN, &[]),
    ("unpack", PLAIN, &[]),
    ("check", FETCHING, &[(Failed, "there are errors")]),
    (
        "publish",
        FETCHING,
        &[(
            Failed,
            "with `--dry-run`: the registry has the release already, with other bytes",
        )],
    ),
    ("yank", &[Done, Usage, Registry], &[]),
    ("login", &[Done, Usage, Registry], &[]),
    ("fetch", FETCHING, &[NO_LOCKFILE]),
    ("verify", FETCHING, &[NO_LOCKFILE]),
    ("vendor", FETCHING, &[NO_LOCKFILE]),
    ("cache dir", PLAIN, &[]),
    ("cache list", PLAIN, &[]),
    ("cache clean", PLAIN, &[]),
    (
        "cache verify",
        &[Done, Usage, Integrity],
        &[(Integrity, "artifacts were damaged, and were removed")],
    ),
    ("cache forget", PLAIN, &[]),
    ("serve", &[Done, Usage, Registry], &[NOT_OPENED]),
    ("export-static", &[Done, Usage, Registry], &[NOT_OPENED]),
];

/// How a command can end, and what that means; `command` is its name, and after a space that of the
/// command below it, where there is one. Nothing for what is no command by itself.
pub(crate) fn ends_of(command: &str) -> impl Iterator<Item = Meaning> {
    let found = ENDS.iter().find(|(name, ..)| *name == command);
    let (_, exits, special) = found.copied().unwrap_or_default();
    exits.iter().map(move |exit| {
        let meaning = special.iter().find(|(special, _)| special == exit);
        meaning.copied().unwrap_or((*exit, exit.meaning()))
    })
}

/// What holds for all commands.
pub(crate) const ALL_ENDS: &str = "\
Exit codes:
    0  done
    1  no resolution, a check failed, or the lockfile is out of date
    2  wrong usage or bad input
    3  a registry cannot be read, or refuses what it is asked
    4  something is not what its digest says, or a registry is not the one that was known
    5  no answer within `--max-steps`
   10  there are differences, and `--exit-code` asks for them
  130  interrupted, as shells say it

The help of a command says which of them it can end with.";

/// The part of a command's help that says how it can end; nothing for what is no command by itself.
pub(crate) fn help_of(command: &str) -> Option<String> {
    let lines: Vec<String> = ends_of(command)
        .map(|(exit, meaning)| format!("{:5}  {meaning}", exit as u8))
        .collect();
    (!lines.is_empty()).then(|| format!("Exit codes:\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_ends_in_order_and_has_nothing_special_that_it_cannot_end_with() {
        for (name, exits, special) in ENDS {
            assert!(exits.is_sorted(), "{name}");
            assert!(exits.contains(&Done) && exits.contains(&Usage), "{name}");
            assert!(
                special.iter().all(|(exit, _)| exits.contains(exit)),
                "{name}"
            );
        }
    }
}
