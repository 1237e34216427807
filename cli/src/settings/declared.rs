//! The declaration of every setting. `pkgres config list`, the settings files, the environment variables, the
//! JSON Schema and `docs/settings.md` all follow from it.

/// The declaration of a setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declared {
    /// The name in settings files; with `--` in front, the flag.
    pub(crate) key: &'static str,
    /// The environment variable.
    pub(crate) variable: Option<&'static str>,
    /// The type of its values.
    pub(crate) kind: Kind,
    /// The default, or a description of it.
    pub(crate) default: &'static str,
    /// The settings files that may hold it.
    pub(crate) files: Files,
    /// Whether there is a flag of this name.
    pub(crate) has_flag: bool,
    /// The description in the documentation.
    pub(crate) help: &'static str,
}

/// The type of the values of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `true` or `false`; a variable can also be `1` or `0`.
    Flag,
    /// A whole number.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// A list of texts; separated by commas in a variable.
    List,
    /// A table of its own.
    Table,
}

/// The settings files that may hold a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// The file of the project and the file of the user.
    Both,
    /// The file of the project only.
    Project,
    /// The file of the user only: a project must not decide it.
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

const fn user_only(setting: Declared) -> Declared {
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

const fn project_only(
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
    without_flag(user_only(setting(
        "cache",
        "PKGRES_CACHE",
        Kind::Text,
        "the user's folder of caches",
        "The folder in which work on registries is kept for later runs. It must be the user's alone.",
    ))),
    user_only(setting(
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
    user_only(setting(
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
    project_only(
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
    user_only(setting(
        "quiet",
        "PKGRES_QUIET",
        Kind::Flag,
        "false",
        "Say nothing but results and errors.",
    )),
    project_only(
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
    project_only(
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
    project_only(
        "workspace",
        Kind::Table,
        "",
        "`members`: the folders of the packages that `pkgres lock --workspace` and `pkgres update --workspace` are about; `one-solve = true` to solve them together.",
    ),
];

/// Environment variables that are not settings, with their descriptions: folders, credentials, and conventions
/// that other programs share.
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

/// The declaration of a setting, by name.
pub(crate) fn declared(key: &str) -> Option<&'static Declared> {
    DECLARED.iter().find(|setting| setting.key == key)
}
