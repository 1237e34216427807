//! Exit codes: which result has which code, and the codes that each command can end with.

use std::cmp::Ordering;
use std::process::ExitCode;

use pkgres_manifest::diagnostic::Code;
use pkgres_resolver::Staleness;

use self::Exit::{
    Done, Failed, GaveUp, Integrity, Interrupted, Invalid, Pending, Registry, Resource, Usage,
};

/// The exit codes. They are part of the interface: scripts and CI jobs rely on them. If several apply, the most severe
/// one is used: the largest number, except that every error is more severe than 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Done = 0,
    /// No resolution, a failed check, or a stale lockfile.
    Failed = 1,
    /// Wrong usage or bad input.
    Usage = 2,
    /// An error of a registry or the network.
    Registry = 3,
    /// A digest or a registry that is not the recorded one.
    Integrity = 4,
    /// The solver gave up.
    GaveUp = 5,
    /// A machine fails its validation.
    Invalid = 6,
    /// A resource failed.
    Resource = 7,
    /// There are differences, and `--exit-code` is set.
    Pending = 10,
    /// Ctrl-C, which commands that run others wait for. Any command can end so, and the others end by the signal.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl PartialOrd for Exit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By severity: that of the numbers, except that differences hide no error.
impl Ord for Exit {
    fn cmp(&self, other: &Self) -> Ordering {
        let severity = |exit: Self| (exit != Done, exit != Pending, exit as u8);
        severity(*self).cmp(&severity(*other))
    }
}

impl Exit {
    /// The code of a command that ends with an error of a registry.
    pub(crate) fn of_registry_error(code: Code) -> Self {
        match code {
            Code::Digest | Code::Untrusted => Integrity,
            Code::Usage => Usage,
            _ => Registry,
        }
    }

    /// The code of a lock check with these findings.
    pub(crate) fn of_lock_check(stale: &[Staleness]) -> Self {
        if stale.iter().any(Staleness::is_violation) {
            Integrity
        } else if stale.is_empty() {
            Done
        } else {
            Failed
        }
    }

    /// The general meaning; a command can have a more specific one.
    fn meaning(self) -> &'static str {
        match self {
            Self::Done => "success",
            Self::Failed => "no resolution, or the lockfile is missing or out of date",
            Self::Usage => "wrong usage or invalid input",
            Self::Registry => "a registry cannot be read, or rejects the request",
            Self::Integrity => {
                "a release differs from its locked digest, or a registry from its known state"
            }
            Self::GaveUp => "no answer within `--max-steps`",
            Self::Invalid => "the machine fails the validation",
            Self::Resource => "a resource failed, or a machine cannot be reached",
            Self::Interrupted => "interrupted",
            Self::Pending => "there are differences, and `--exit-code` is set",
        }
    }
}

/// The exit codes of a command that only reads, prints or writes local files.
const LOCAL_ONLY: &[Exit] = &[Done, Usage];

/// The exit codes of a command that solves.
const SOLVING: &[Exit] = &[Done, Failed, Usage, Registry, Integrity, GaveUp];

/// The exit codes of a command that solves, and goes on without a resolution.
const BEST_EFFORT_SOLVING: &[Exit] = &[Done, Usage, Registry, Integrity, GaveUp];

/// The exit codes of a command that fetches artifacts.
const FETCHING: &[Exit] = &[Done, Failed, Usage, Registry, Integrity];

/// An exit code, and its meaning for a command.
type Meaning = (Exit, &'static str);

const NO_LOCKFILE: Meaning = (
    Failed,
    "there is no lockfile, or it lacks a digest that the registry has",
);

const UNKNOWN: Meaning = (Failed, "the registry has no such package");

const NOT_OPENED: Meaning = (Registry, "the registry cannot be opened, or cannot listen");

/// The exit codes of each command, and which of them have a specific meaning. The help and the documentation are
/// generated from this, tests show that each code occurs, and builds with assertions reject any other code.
const EXIT_CODES: &[(&str, &[Exit], &[Meaning])] = &[
    ("resolve", SOLVING, &[]),
    ("lock", SOLVING, &[]),
    ("init", LOCAL_ONLY, &[]),
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
            "the package is not in the resolution, or there is no resolution",
        )],
    ),
    (
        "explain",
        SOLVING,
        &[(Failed, "there is no resolution; the reasons are printed")],
    ),
    (
        "repair",
        SOLVING,
        &[(
            Failed,
            "there is no resolution, and nothing was changed; the ways to repair that are printed",
        )],
    ),
    (
        "why-not",
        SOLVING,
        &[(
            Failed,
            "the version cannot be chosen, or there is no resolution; the reasons are printed",
        )],
    ),
    (
        "verify-certificate",
        &[Done, Failed, Usage],
        &[(Failed, "the certificate is rejected")],
    ),
    ("graph", SOLVING, &[]),
    ("export", SOLVING, &[]),
    ("schema", LOCAL_ONLY, &[]),
    ("completions", LOCAL_ONLY, &[]),
    ("man", LOCAL_ONLY, &[]),
    ("reference", LOCAL_ONLY, &[]),
    ("config list", LOCAL_ONLY, &[]),
    ("config get", LOCAL_ONLY, &[]),
    ("config set", LOCAL_ONLY, &[]),
    ("config unset", LOCAL_ONLY, &[]),
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
                "a package could not be read, and is not in the index",
            ),
            (Registry, "the folder cannot be indexed as a registry"),
        ],
    ),
    ("pack", LOCAL_ONLY, &[]),
    ("unpack", LOCAL_ONLY, &[]),
    ("check", SOLVING, &[(Failed, "there are errors")]),
    (
        "semver",
        SOLVING,
        &[(
            Failed,
            "the version bump is too small, or `--deny-review` found something",
        )],
    ),
    (
        "validate",
        &[Done, Failed, Usage, Invalid, Resource],
        &[
            (Failed, "`--prove` found a test that cannot be trusted"),
            (
                Usage,
                "wrong usage or invalid input: nothing was run on the machine",
            ),
            (Resource, "the machine cannot be reached"),
        ],
    ),
    (
        "prune",
        &[Done, Usage, Resource],
        &[(Resource, "the machine cannot be reached")],
    ),
    (
        "plan",
        &[
            Done, Failed, Usage, Registry, Integrity, Invalid, Resource, Pending,
        ],
        &[(Pending, "something would change, and `--exit-code` is set")],
    ),
    (
        "apply",
        &[
            Done,
            Failed,
            Usage,
            Registry,
            Integrity,
            Invalid,
            Resource,
            Pending,
            Interrupted,
        ],
        &[
            (
                Failed,
                "the lockfile is missing or out of date, or `--max-runtime` or `--lock-timeout` was too short",
            ),
            (
                Invalid,
                "the machine fails a validation, before the changes or after them",
            ),
        ],
    ),
    (
        "call",
        &[Done, Failed, Usage, Registry, Integrity, Resource],
        &[
            (
                Failed,
                "the function returned no result, or the lockfile is missing or out of date",
            ),
            (
                Resource,
                "the function failed, or the machine cannot be reached",
            ),
        ],
    ),
    ("interface init", BEST_EFFORT_SOLVING, &[]),
    ("interface diff", LOCAL_ONLY, &[]),
    (
        "publish",
        FETCHING,
        &[(
            Failed,
            "a check failed, the version bump is too small, or a dry run found other content",
        )],
    ),
    ("yank", &[Done, Usage, Registry], &[]),
    ("search", &[Done, Usage, Registry, Integrity], &[]),
    (
        "info",
        FETCHING,
        &[(Failed, "no registry has the package or the version")],
    ),
    ("login", &[Done, Usage, Registry], &[]),
    ("logout", &[Done, Usage, Registry], &[]),
    ("whoami", &[Done, Usage, Registry], &[]),
    ("owner list", &[Done, Failed, Usage, Registry], &[UNKNOWN]),
    ("owner add", &[Done, Failed, Usage, Registry], &[UNKNOWN]),
    ("owner remove", &[Done, Failed, Usage, Registry], &[UNKNOWN]),
    ("token create", &[Done, Usage, Registry], &[]),
    ("token list", &[Done, Usage, Registry], &[]),
    ("token revoke", &[Done, Usage, Registry], &[]),
    ("fetch", FETCHING, &[NO_LOCKFILE]),
    ("verify", FETCHING, &[NO_LOCKFILE]),
    ("vendor", FETCHING, &[NO_LOCKFILE]),
    ("install", FETCHING, &[NO_LOCKFILE]),
    ("cache dir", LOCAL_ONLY, &[]),
    ("cache list", LOCAL_ONLY, &[]),
    ("cache clean", LOCAL_ONLY, &[]),
    (
        "cache verify",
        &[Done, Usage, Integrity],
        &[(Integrity, "damaged artifacts were removed")],
    ),
    ("cache forget", LOCAL_ONLY, &[]),
    ("serve", &[Done, Usage, Registry], &[NOT_OPENED]),
    (
        "export-static",
        &[Done, Usage, Registry],
        &[(Registry, "the registry cannot be opened")],
    ),
];

/// The exit codes of a command with their meanings; empty for a command that only has subcommands. `command` is its
/// name, followed by that of its subcommand.
pub(crate) fn exit_codes_of(command: &str) -> impl Iterator<Item = Meaning> {
    let declared = EXIT_CODES.iter().find(|(name, ..)| *name == command);
    let (_, exits, special) = declared.copied().unwrap_or_default();
    exits.iter().map(move |exit| {
        let meaning = special.iter().find(|(special, _)| special == exit);
        meaning.copied().unwrap_or((*exit, exit.meaning()))
    })
}

/// The exit codes of all commands, for the help of `pkgres`.
pub(crate) const ALL_EXIT_CODES: &str = "\
Exit codes:
    0  success
    1  no resolution, a check failed, or the lockfile is out of date
    2  wrong usage or invalid input
    3  a registry cannot be read, or rejects the request
    4  content differs from its digest, or a registry from its known state
    5  no answer within `--max-steps`
    6  a machine fails its validation
    7  a resource failed, or a machine cannot be reached
   10  there are differences, and `--exit-code` is set
  130  interrupted (as shells report it)

The help of each command lists its exit codes.";

/// The exit codes in the help of a command; `None` for a command that only has subcommands.
pub(crate) fn help_of(command: &str) -> Option<String> {
    let lines: Vec<String> = exit_codes_of(command)
        .map(|(exit, meaning)| format!("{:5}  {meaning}", exit as u8))
        .collect();
    (!lines.is_empty()).then(|| format!("Exit codes:\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_hide_no_error() {
        for error in [
            Failed,
            Usage,
            Registry,
            Integrity,
            GaveUp,
            Invalid,
            Resource,
            Interrupted,
        ] {
            assert_eq!(error.max(Pending), error);
            assert_eq!(Pending.max(error), error);
        }
        assert_eq!(Pending.max(Done), Pending);
        assert_eq!(Done.max(Pending), Pending);
        assert_eq!(Usage.max(Resource), Resource);
    }

    #[test]
    fn specific_meanings_belong_to_declared_exit_codes() {
        for (name, exits, special) in EXIT_CODES {
            assert!(exits.is_sorted_by_key(|exit| *exit as u8), "{name}");
            assert!(exits.contains(&Done) && exits.contains(&Usage), "{name}");
            assert!(
                special.iter().all(|(exit, _)| exits.contains(exit)),
                "{name}"
            );
        }
    }
}
