//! Every setting, declared once: what `pkgres config list` shows, what variables and settings files
//! are read for, and what `docs/settings.md` is made of.

/// A setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declared {
    /// What it is called in settings files, and with `--` in front on the command line.
    pub(crate) key: &'static str,
    /// The environment variable.
    pub(crate) variable: Option<&'static str>,
    /// What values it takes.
    pub(crate) kind: Kind,
    /// The value where nothing is said.
    pub(crate) default: &'static str,
    /// Which settings files may hold it.
    pub(crate) files: Files,
    /// Whether a command-line argument of this name takes the value.
    pub(crate) has_flag: bool,
    /// What it is for.
    pub(crate) help: &'static str,
}

/// What values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `true` or `false`; as a variable also `1` and `0`.
    Flag,
    /// A whole number.
    Number,
    /// One of some words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// Texts; in a variable separated by commas.
    List,
    /// A table of its own.
    Table,
}

/// Which settings files may hold a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// The project's and the user's.
    Both,
    /// The project's alone.
    Project,
    /// The user's alone: a project has no say in it.
    User,
}

const fn setting(
    key: &'static str,
    variable: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Declared {
    Declared {
        key,
        variable: Some(variable),
        kind,
        default,
        files: Files::Both,
        has_flag: true,
        help,
    }
}

const fn of_user(setting: Declared) -> Declared {
    Declared {
        files: Files::User,
        ..setting
    }
}

const fn without_flag(setting: Declared) -> Declared {
    Declared {
        has_flag: false,
        ..setting
    }
}

const fn of_project(
    key: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Declared {
    Declared {
        key,
        variable: None,
        kind,
        default,
        files: Files::Project,
        has_flag: false,
        help,
    }
}

/// All settings, by name.
pub(crate) const DECLARED: &[Declared] = &[
    without_flag(of_user(setting(
        "cache",
        "PKGRES_CACHE",
        Kind::Text,
        "the user's folder of caches",
        "The folder in which work on registries is kept for later runs. It must be the user's alone.",
    ))),
    of_user(setting(
        "color",
        "PKGRES_COLOR",
        Kind::Choice(&["auto", "always", "never"]),
        "auto",
        "When to use colours. `auto` heeds `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and `TERM=dumb`.",
    )),
    setting(
        "core-library",
        "PKGRES_CORE_LIBRARY",
        Kind::Text,
        "io.murano",
        "The core library, which every package requires.",
    ),
    setting(
        "exclude-newer",
        "PKGRES_EXCLUDE_NEWER",
        Kind::Text,
        "",
        "A date or a duration; what was published later, or less long ago, is left out.",
    ),
    setting(
        "frozen",
        "PKGRES_FROZEN",
        Kind::Flag,
        "false",
        "Take the lockfile as it is, and read neither class files nor registries.",
    ),
    setting(
        "locked",
        "PKGRES_LOCKED",
        Kind::Flag,
        "false",
        "Fail if the lockfile is missing or out of date.",
    ),
    setting(
        "max-steps",
        "PKGRES_MAX_STEPS",
        Kind::Number,
        "10000000",
        "After how many steps the solver gives up.",
    ),
    setting(
        "no-cache",
        "PKGRES_NO_CACHE",
        Kind::Flag,
        "false",
        "Read registries themselves, and keep nothing of them.",
    ),
    setting(
        "no-core-library",
        "PKGRES_NO_CORE_LIBRARY",
        Kind::Flag,
        "false",
        "There is no core library.",
    ),
    of_user(setting(
        "no-progress",
        "PKGRES_NO_PROGRESS",
        Kind::Flag,
        "false",
        "Show no progress. It is shown only on a terminal, and never where `CI` is set.",
    )),
    setting(
        "offline",
        "PKGRES_OFFLINE",
        Kind::Flag,
        "false",
        "Use nothing but what is on this machine.",
    ),
    of_project(
        "overrides",
        Kind::Table,
        "",
        "What every requirement on a package is taken to say: `\"FQN\" = \"SPEC\"`, or `\"FQN\" = { path = \"FOLDER\" }` for a package of one's own.",
    ),
    setting(
        "prefer",
        "PKGRES_PREFER",
        Kind::Choice(&["newest", "oldest"]),
        "newest",
        "Which versions are better.",
    ),
    setting(
        "prerelease",
        "PKGRES_PRERELEASE",
        Kind::Choice(&["if-necessary", "allow", "never"]),
        "if-necessary",
        "Whether prereleases are taken.",
    ),
    of_user(setting(
        "quiet",
        "PKGRES_QUIET",
        Kind::Flag,
        "false",
        "Say nothing but results and errors.",
    )),
    of_project(
        "provide",
        Kind::List,
        "",
        "Files of index records that the host supplies, as for `--provide`; the paths are relative to the settings file.",
    ),
    without_flag(setting(
        "registries",
        "PKGRES_REGISTRY",
        Kind::List,
        "the folder that contains the package folder",
        "The registries in order of preference, as for `--registry`.",
    )),
    of_project(
        "required-version",
        Kind::Text,
        "*",
        "The versions of pkgres that the project may be used with, as a spec.",
    ),
    setting(
        "single-version",
        "PKGRES_SINGLE_VERSION",
        Kind::Flag,
        "false",
        "Never choose several releases of a package.",
    ),
    of_project(
        "workspace",
        Kind::Table,
        "",
        "`members`: the folders of the packages that `pkgres lock --workspace` and `pkgres update --workspace` are about; `one-solve = true` to solve them together.",
    ),
];

/// Variables of the environment that are no settings, with what they say: where things are kept, who
/// asks, and what other programs agreed on.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    (
        "PKGRES_CONFIG",
        "The user's settings file, in place of `~/.config/pkgres/config.toml`.",
    ),
    (
        "PKGRES_STATE",
        "The folder of what was seen of the signed state of registries, in place of `~/.local/state/pkgres`. It is no cache.",
    ),
    (
        "PKGRES_CREDENTIALS",
        "The folder of the file with tokens, in place of `~/.config/pkgres`.",
    ),
    (
        "PKGRES_TOKEN_NAME",
        "The token for the registry `name`; `_` stands for `.` and `-` in the name.",
    ),
    (
        "PKGRES_CREDENTIAL_HELPER",
        "A program that gives tokens, and its arguments, with spaces in between.",
    ),
    (
        "PKGRES_DATABASE",
        "The same as `--database` of `pkgres serve` and `export-static`.",
    ),
    (
        "PKGRES_LOG",
        "What `pkgres serve` logs, as a filter of `tracing`: `warn,pkgres_registry_server=info` if it is not set.",
    ),
    (
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN",
        "Who asks the bucket of `--blobs`.",
    ),
    (
        "XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME",
        "The folders of the user, in place of `~/.cache`, `~/.config` and `~/.local/state`.",
    ),
    (
        "NETRC",
        "A file with user names and passwords for registries, in place of `~/.netrc`.",
    ),
    (
        "SOURCE_DATE_EPOCH",
        "The time that a bill of materials says it was made at.",
    ),
    (
        "NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM, CI",
        "Whether there are colours and progress, as for `color` and `no-progress`.",
    ),
];

/// The setting of a name.
pub(crate) fn declared(key: &str) -> Option<&'static Declared> {
    DECLARED.iter().find(|setting| setting.key == key)
}
