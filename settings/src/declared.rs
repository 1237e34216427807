//! The declaration of every setting. `pkgres config list`, the settings files, the environment variables, the
//! JSON Schema and `docs/settings.md` all follow from it.

/// The declaration of a setting.
#[derive(Debug, Clone, Copy)]
pub struct Declared {
    /// The name in settings files; with `--` in front, the flag.
    pub key: &'static str,
    /// The environment variable.
    pub variable: Option<&'static str>,
    /// The type of its values.
    pub kind: Kind,
    /// The default, or a description of it.
    pub default: &'static str,
    /// The settings files that may hold it.
    pub files: Files,
    /// Whether there is a flag of this name.
    pub has_flag: bool,
    /// The description in the documentation.
    pub help: &'static str,
}

/// The type of the values of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`; a variable can also be `1` or `0`.
    Flag,
    /// An integer.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any string.
    Text,
    /// A list of strings; separated by commas in a variable.
    List,
    /// A table of its own.
    Table,
}

/// The settings files that may hold a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Files {
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
pub const DECLARED: &[Declared] = &[
    without_flag(user_only(setting(
        "cache",
        "PKGRES_CACHE",
        Kind::Text,
        "the user's cache folder",
        "The folder for cached data of registries. It must not be shared with other users.",
    ))),
    user_only(setting(
        "color",
        "PKGRES_COLOR",
        Kind::Choice(&["auto", "always", "never"]),
        "auto",
        "When to use colors. `auto` respects `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and `TERM=dumb`.",
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
        "A date such as `2026-06-01`, or a duration such as `7 days`. Releases published after the date, or less than the duration ago, are excluded.",
    ),
    setting(
        "frozen",
        "PKGRES_FROZEN",
        Kind::Flag,
        "false",
        "Use the lockfile as it is, without reading class files or registries.",
    ),
    setting(
        "locked",
        "PKGRES_LOCKED",
        Kind::Flag,
        "false",
        "Fail if the lockfile is missing or out of date.",
    ),
    without_flag(setting(
        "max-download",
        "PKGRES_MAX_DOWNLOAD",
        Kind::Number,
        "4294967296",
        "The number of bytes that a registry on the network may send in a run. 0 means no limit.",
    )),
    without_flag(setting(
        "max-packages",
        "PKGRES_MAX_PACKAGES",
        Kind::Number,
        "50000",
        "The number of packages that a run may look up in a registry on the network. 0 means no limit.",
    )),
    setting(
        "max-steps",
        "PKGRES_MAX_STEPS",
        Kind::Number,
        "30000000",
        "The number of steps after which the solver gives up.",
    ),
    without_flag(setting(
        "network-min-rate",
        "PKGRES_NETWORK_MIN_RATE",
        Kind::Number,
        "1000",
        "The lowest rate at which a registry may send a response, in bytes per second, measured over 30 seconds. The response also has to begin within 30 seconds. 0 means no limit.",
    )),
    without_flag(setting(
        "network-timeout",
        "PKGRES_NETWORK_TIMEOUT",
        Kind::Number,
        "600",
        "The longest time for a response of a registry, in seconds, including redirects and retries. 0 means no limit.",
    )),
    setting(
        "no-cache",
        "PKGRES_NO_CACHE",
        Kind::Flag,
        "false",
        "Do not use the cache.",
    ),
    setting(
        "no-core-library",
        "PKGRES_NO_CORE_LIBRARY",
        Kind::Flag,
        "false",
        "Resolve without a core library.",
    ),
    user_only(setting(
        "no-progress",
        "PKGRES_NO_PROGRESS",
        Kind::Flag,
        "false",
        "Do not show progress. Progress is only shown on a terminal, and never if `CI` is set.",
    )),
    without_flag(user_only(setting(
        "no-state",
        "PKGRES_NO_STATE",
        Kind::Flag,
        "false",
        "Do not remember the signed state of registries on the network. pkgres then does not notice if a registry returns to an older state or changes its key.",
    ))),
    setting(
        "offline",
        "PKGRES_OFFLINE",
        Kind::Flag,
        "false",
        "Use the cache instead of the network.",
    ),
    project_only(
        "overrides",
        Kind::Table,
        "",
        "Replaces all requirements for a package: `\"PACKAGE\" = \"SPEC\"`, or `\"PACKAGE\" = { path = \"FOLDER\" }` for the package in a folder.",
    ),
    setting(
        "prefer",
        "PKGRES_PREFER",
        Kind::Choice(&["newest", "oldest"]),
        "newest",
        "Whether the newest or the oldest versions that fit are preferred.",
    ),
    setting(
        "prerelease",
        "PKGRES_PRERELEASE",
        Kind::Choice(&["if-necessary", "allow", "never"]),
        "if-necessary",
        "When prereleases can be chosen. `if-necessary`: if a requirement names one, or nothing else fits; `allow`: like other versions; `never`: only if the lockfile has them.",
    ),
    project_only(
        "provide",
        Kind::List,
        "",
        "What the host provides, as for `--provide`: files with index records, relative to the settings file, and versions such as `ansible-core=2.19.3`.",
    ),
    user_only(setting(
        "quiet",
        "PKGRES_QUIET",
        Kind::Flag,
        "false",
        "Print only results and errors.",
    )),
    without_flag(setting(
        "registries",
        "PKGRES_REGISTRY",
        Kind::List,
        "the folder that contains the package folder",
        "The registries, the preferred one first, as for `--registry`. A file can also have a table for each, `[registries.NAME]`, with its `location`, `namespaces`, `key`, `ca` and limits.",
    )),
    project_only(
        "required-version",
        Kind::Text,
        "*",
        "The versions of pkgres that can be used with the project, as a spec.",
    ),
    setting(
        "single-version",
        "PKGRES_SINGLE_VERSION",
        Kind::Flag,
        "false",
        "Never choose several releases of a package.",
    ),
    setting(
        "strict-uses",
        "PKGRES_STRICT_USES",
        Kind::Flag,
        "false",
        "Exclude versions that lack a used class, not only those that lack an extended one.",
    ),
    without_flag(setting(
        "validate-reconcile",
        "PKGRES_VALIDATE_RECONCILE",
        Kind::Flag,
        "false",
        "Let `pkgres apply` set up what validations find missing, as with `--reconcile`.",
    )),
    project_only(
        "workspace",
        Kind::Table,
        "",
        "`members`: the folders of the packages that `pkgres lock --workspace` and `pkgres update --workspace` process; `one-solve = true` solves them together.",
    ),
];

/// Environment variables that are not settings, with their descriptions: folders, credentials, and conventions
/// that other programs share.
pub const VARIABLES: &[(&str, &str)] = &[
    (
        "PKGRES_CONFIG",
        "The settings file of the user, instead of `~/.config/pkgres/config.toml`.",
    ),
    (
        "PKGRES_STATE",
        "The folder of the last known signed state of each registry, instead of `~/.local/state/pkgres`. It is not a cache.",
    ),
    (
        "PKGRES_CREDENTIALS",
        "The folder of the token file, instead of `~/.config/pkgres`.",
    ),
    (
        "PKGRES_TOKEN_NAME",
        "The token for the registry `name`; `.` and `-` in the name become `_`.",
    ),
    (
        "PKGRES_AUTH_URL_NAME",
        "The address that exchanges the token for one that authenticates requests, if the Galaxy server does not accept the token itself.",
    ),
    (
        "PKGRES_CLIENT_ID_NAME",
        "The client id for this exchange; by default `cloud-services`.",
    ),
    (
        "PKGRES_CREDENTIAL_HELPER",
        "A command that prints the token of a registry: a program and its arguments, separated by spaces. The last argument that it gets is the address of the registry.",
    ),
    (
        "PKGRES_DATABASE",
        "The default of `--database` for `pkgres serve` and `pkgres export-static`.",
    ),
    (
        "PKGRES_LOG",
        "The log filter of `pkgres serve`, in the syntax of `tracing`; by default, `warn,pkgres_registry_server=info`.",
    ),
    (
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN",
        "The credentials for the bucket in `--blobs`.",
    ),
    (
        "XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME",
        "The folders of the user, instead of `~/.cache`, `~/.config` and `~/.local/state`.",
    ),
    (
        "NETRC",
        "A file with user names and passwords for registries, instead of `~/.netrc`.",
    ),
    (
        "SOURCE_DATE_EPOCH",
        "The creation time of a bill of materials, in seconds since 1970.",
    ),
    (
        "NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM, CI",
        "Whether to use colors and show progress, as for `color` and `no-progress`.",
    ),
];

/// The declaration of a setting, by name.
pub fn declared(key: &str) -> Option<&'static Declared> {
    DECLARED.iter().find(|setting| setting.key == key)
}
