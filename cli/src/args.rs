//! The grammar of the command line. Nothing is decided here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod daily;

pub(crate) use daily::*;

/// Resolve versions of class packages.
#[derive(Debug, Parser)]
#[command(
    name = "pkgres",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) shared: SharedArgs,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct SharedArgs {
    /// How results are written to stdout; not every command knows every way
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Say nothing but results and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,

    /// Show no progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,

    /// Run as if started in this folder
    #[arg(long, short = 'C', global = true, value_name = "FOLDER")]
    pub(crate) directory: Option<PathBuf>,

    /// Read this settings file in place of the user's
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// Annotations of GitHub workflows: `check`, `lock --check`
    Github,
    /// A table for pull requests: `diff`
    Markdown,
    /// A picture for Graphviz: `graph`
    Dot,
    /// A picture for Markdown: `graph`
    Mermaid,
    /// A picture: `graph`
    Svg,
    /// CycloneDX 1.6: `export`
    Cyclonedx,
    /// SPDX 2.3: `export`
    Spdx,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that can show them
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands, and what makes the grammar of one of them without that of the others.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident($word:literal, $args:ty),)*) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$about])* #[command(name = $word)] $name($args),)*
        }

        impl Command {
            /// What a command takes, if there is one of this name.
            fn grammar(word: &str) -> Option<clap::Command> {
                match word {
                    $($word => Some(<$args as Args>::augment_args(clap::Command::new($word))),)*
                    _ => None,
                }
            }
        }
    };
}

/// The grammar of a run of one command. It takes a fraction of the time to make that the grammar of all
/// commands takes. What it accepts means the same as to that one; where it does not accept something, that
/// one has to say why.
pub(crate) fn grammar_of(word: &str) -> Option<clap::Command> {
    let command = Command::grammar(word)?;
    let whole = SharedArgs::augment_args(clap::Command::new("pkgres"));
    Some(whole.subcommand_required(true).subcommand(command))
}

/// The grammar of a run that says which version this is and does nothing else.
pub(crate) fn version_alone() -> clap::Command {
    clap::Command::new("pkgres").version(env!("CARGO_PKG_VERSION"))
}

commands! {
    /// Find a consistent set of versions and print it
    Resolve("resolve", ResolveArgs),
    /// Write the lockfile, or check that it is up to date
    Lock("lock", LockArgs),
    /// Begin a package
    Init("init", InitArgs),
    /// Require packages
    Add("add", AddArgs),
    /// Do not require packages any more
    Remove("remove", RemoveArgs),
    /// Move packages to newer versions in the lockfile
    Update("update", UpdateArgs),
    /// Show which packages have newer versions, and what holds them back
    Outdated("outdated", OutdatedArgs),
    /// Show what two lockfiles differ in
    Diff("diff", DiffArgs),
    /// Write versions into an object model
    Pin("pin", PinArgs),
    /// Show the resolution as a tree
    Tree("tree", TreeArgs),
    /// Show why a package is part of the resolution
    Why("why", WhyArgs),
    /// Say why there is no resolution, or what a code means
    Explain("explain", ExplainArgs),
    /// Draw the resolution, or the conflict, as a picture
    Graph("graph", GraphArgs),
    /// Write the resolution as a bill of materials
    Export("export", ExportArgs),
    /// Print the JSON Schema of a format
    Schema("schema", SchemaArgs),
    /// Print the completions of a shell
    Completions("completions", CompletionsArgs),
    /// Print a man page
    Man("man", ManArgs),
    /// Print a page of the book that is made of the code
    #[command(hide = true)]
    Reference("reference", ReferenceArgs),
    /// Show settings
    Config("config", ConfigArgs),
    /// Show what a spec means and which versions match it
    Spec("spec", SpecArgs),
    /// Write an index of the packages in a folder
    Index("index", IndexArgs),
    /// Make an archive of a package folder
    Pack("pack", PackArgs),
    /// Unpack a package archive into a folder
    Unpack("unpack", UnpackArgs),
    /// Check manifests, class files, packages and archives
    Check("check", CheckArgs),
    /// Publish a package in a registry
    Publish("publish", crate::commands::PublishArgs),
    /// Withdraw a release: it stays readable, and is not chosen anew
    Yank("yank", crate::commands::YankArgs),
    /// Keep a token for a registry
    Login("login", crate::commands::LoginArgs),
    /// Fetch what is locked into the cache
    Fetch("fetch", crate::commands::LockedArgs),
    /// Check that what is locked can be had, with the digests that are locked
    Verify("verify", crate::commands::LockedArgs),
    /// Write the archives of what is locked into a folder
    Vendor("vendor", crate::commands::VendorArgs),
    /// Show, check or empty the cache
    Cache("cache", crate::commands::CacheArgs),
    /// Serve a registry over HTTP
    Serve("serve", ServeArgs),
    /// Write a registry as files that any web server can serve
    ExportStatic("export-static", ExportStaticArgs),
}

/// Where releases come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct RegistryArgs {
    /// A registry, `[NAME=]dir:FOLDER`, `index:FILE` or `https://ADDRESS`; the first that has a
    /// package wins
    ///
    /// Without it: the variable `PKGRES_REGISTRY` (several are separated by commas), then
    /// `registries` in the nearest pkgres.toml, then the folder that contains the package folder.
    #[arg(long = "registry", value_name = "REGISTRY")]
    pub(crate) registries: Vec<String>,

    /// A file of index records that the host supplies, such as plug-ins
    #[arg(long = "provide", value_name = "FILE")]
    pub(crate) provided: Vec<PathBuf>,

    /// Read index files themselves, and keep nothing of them
    ///
    /// Otherwise what is worked out about them is kept for later runs in the folder that the
    /// variable `PKGRES_CACHE` names, or `pkgres` in the user's folder of caches.
    #[arg(long)]
    pub(crate) no_cache: bool,

    #[command(flatten)]
    pub(crate) network: NetworkArgs,

    /// The core library, which every package requires
    #[arg(long, value_name = "NAME", default_value = "io.murano")]
    pub(crate) core_library: String,

    /// There is no core library
    #[arg(long, conflicts_with = "core_library")]
    pub(crate) no_core_library: bool,
}

/// How registries on the network are asked.
#[derive(Debug, Clone, Args)]
pub(crate) struct NetworkArgs {
    /// Ask no registry on the network; what is in the cache has to do
    #[arg(long)]
    pub(crate) offline: bool,

    /// Certificates of authorities to believe besides those of the system, as PEM
    #[arg(long = "ca-file", value_name = "FILE")]
    pub(crate) ca_files: Vec<PathBuf>,

    /// Let registries be asked without encryption; on this machine they always may
    #[arg(long)]
    pub(crate) allow_http: bool,
}

/// How versions are chosen.
#[derive(Debug, Clone, Args)]
pub(crate) struct SolveArgs {
    /// The manifest of the root, or its folder
    #[arg(default_value = "manifest.yaml")]
    pub(crate) manifest: PathBuf,

    #[command(flatten)]
    pub(crate) registry: RegistryArgs,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    /// Do not look at the lockfile beside the manifest
    #[arg(long)]
    pub(crate) ignore_lock: bool,

    #[command(flatten)]
    pub(crate) mode: ModeArgs,
}

/// How far the lockfile is binding.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModeArgs {
    /// Fail if the lockfile is missing or out of date
    #[arg(long, conflicts_with = "ignore_lock")]
    pub(crate) locked: bool,

    /// Take the lockfile as it is: read no class files and no registries
    #[arg(long, conflicts_with_all = ["locked", "ignore_lock"])]
    pub(crate) frozen: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PolicyArgs {
    /// Whether prereleases are taken
    #[arg(long, value_enum, default_value_t = Prerelease::IfNecessary)]
    pub(crate) prerelease: Prerelease,

    /// Which versions are better
    #[arg(long, value_enum, default_value_t = Prefer::Newest)]
    pub(crate) prefer: Prefer,

    /// Leave out releases that were published after a date, or less than a duration ago
    ///
    /// A date such as `2026-06-01` includes that day, in UTC; a time such as `2026-06-01T12:00:00Z`
    /// is meant to the second; a duration is written `7 days`, `2w` or `P7D`. Releases without a
    /// date of publication, such as those in folders, stay, and so does what is locked.
    #[arg(long, value_name = "DATE|DURATION")]
    pub(crate) exclude_newer: Option<String>,

    /// Never choose several releases of a package
    #[arg(long)]
    pub(crate) single_version: bool,

    /// Give up after this many steps
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub(crate) max_steps: u64,

    /// Which engine searches; both find valid resolutions, and the best one where that is easy
    #[arg(long, value_enum, default_value_t = Solver::Native)]
    pub(crate) solver: Solver,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Solver {
    /// The engine of our own
    Native,
    /// The `pubgrub` crate, for comparison
    Pubgrub,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prefer {
    /// Newer ones
    Newest,
    /// Older ones, to try out whether a package works with what it says
    Oldest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prerelease {
    /// Only where no stable version fits, or where a requirement names one
    IfNecessary,
    /// Like any other version
    Allow,
    /// Not unless the lockfile holds it
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    /// Print this object model with the versions written into it, instead of the resolution
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
}

// Each switch is one of its own.
#[expect(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    /// The manifest of the root, or its folder; several are locked beside each other
    #[arg(default_value = "manifest.yaml")]
    pub(crate) manifest: Vec<PathBuf>,

    /// Lock the members of the workspace that the nearest pkgres.toml names
    #[arg(long)]
    pub(crate) workspace: bool,

    /// Solve all manifests together, so that they agree on versions
    #[arg(long, conflicts_with_all = ["check", "locked"])]
    pub(crate) one_solve: bool,

    #[command(flatten)]
    pub(crate) registry: RegistryArgs,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    /// Write nothing; fail if the lockfile is out of date
    #[arg(long)]
    pub(crate) check: bool,

    /// The same as `--check`
    #[arg(long, conflicts_with_all = ["ignore_lock", "accept_changed"])]
    pub(crate) locked: bool,

    /// Take the lockfile as it is, which leaves nothing to do
    #[arg(long, hide = true)]
    pub(crate) frozen: bool,

    /// Say what would change, and write nothing
    #[arg(long, conflicts_with_all = ["check", "locked"])]
    pub(crate) dry_run: bool,

    /// Start afresh instead of keeping the versions that are locked
    #[arg(long, conflicts_with = "check")]
    pub(crate) ignore_lock: bool,

    /// Take releases whose content is not what was locked
    #[arg(long, conflicts_with = "check")]
    pub(crate) accept_changed: bool,
}

// Each switch is one of its own.
#[expect(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// The object model, JSON or YAML; `-` is stdin
    pub(crate) model: PathBuf,

    #[command(flatten)]
    pub(crate) registry: RegistryArgs,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    /// A lockfile whose versions are preferred
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// Write nothing; check a pinned model
    #[arg(long)]
    pub(crate) check: bool,

    /// Where a pinned version is gone, take the newest of the same minor or major version
    #[arg(long, conflicts_with = "check")]
    pub(crate) fallback: bool,

    /// With `--fallback`, take an older version where there is no newer one
    #[arg(long, requires = "fallback")]
    pub(crate) allow_older: bool,

    /// Write the result to a file instead of stdout
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["check", "in_place"])]
    pub(crate) output: Option<PathBuf>,

    /// Write the result back to the file it was read from
    #[arg(long, conflicts_with = "check")]
    pub(crate) in_place: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The package
    pub(crate) package: String,

    #[command(flatten)]
    pub(crate) solve: SolveArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SpecArgs {
    /// The spec, such as `>=1.2,<2`
    #[arg(required_unless_present = "batch", allow_hyphen_values = true)]
    pub(crate) spec: Option<String>,

    /// Versions to match
    pub(crate) versions: Vec<String>,

    /// Read lines `{"spec":...,"version":...}` from stdin and write each back with its answer
    #[arg(long, conflicts_with_all = ["spec", "versions"])]
    pub(crate) batch: bool,
}

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// The folder with the packages
    pub(crate) folder: PathBuf,

    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PackArgs {
    /// The package folder
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,

    /// The archive to write; `NAME-VERSION.zip` in this folder if it is not given
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct UnpackArgs {
    /// The archive
    pub(crate) archive: PathBuf,

    /// The folder to make; it must not exist, or be empty
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Package folders, archives, manifests or class files
    #[arg(default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
}

/// Where a registry keeps its data.
#[derive(Debug, Args)]
pub(crate) struct StorageArgs {
    /// The folder for the data; made if there is none
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,

    /// A PostgreSQL database, `postgres://...`, which several servers can share
    ///
    /// With `?sslmode=verify-full` it is asked over TLS, and has to show a certificate for its host
    /// by an authority of the system, or of the file in `sslrootcert=FILE`. `verify-ca` takes any
    /// host, `require` any certificate; `prefer`, which is what happens when nothing is said, takes
    /// TLS if there is some, and `disable` does without.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "PKGRES_DATABASE",
        hide_env_values = true
    )]
    pub(crate) database: Option<String>,

    /// A bucket for archives, `s3://BUCKET[?endpoint=...&region=...]`
    ///
    /// The credentials are taken from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
    /// `AWS_SESSION_TOKEN`.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) blobs: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportStaticArgs {
    #[command(flatten)]
    pub(crate) storage: StorageArgs,

    /// The folder to make; it must not exist, or be empty
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) storage: StorageArgs,

    /// The address to listen on; port 0 takes any, and the first line on stdout says which
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8642")]
    pub(crate) listen: std::net::SocketAddr,

    /// Ask for a token for reading, too
    #[arg(long)]
    pub(crate) private: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn ids(command: &clap::Command) -> Vec<String> {
        let mut command = command.clone();
        command.build();
        let mut ids: Vec<String> = command
            .get_arguments()
            .map(|argument| format!("{argument:?}"))
            .filter(|argument| !argument.contains("\"help\"") && !argument.contains("\"version\""))
            .collect();
        ids.sort();
        ids
    }

    #[test]
    fn a_command_has_the_grammar_that_it_has_among_all() {
        let all = Arguments::command();
        let mut count = 0;
        for command in all.get_subcommands() {
            let name = command.get_name();
            let alone = grammar_of(name).expect("every command has one");
            let alone = alone.find_subcommand(name).expect("it is in it");
            assert_eq!(ids(alone), ids(command), "{name}");
            count += 1;
        }
        assert!(count > 30);
        assert!(grammar_of("help").is_none() && grammar_of("nothing").is_none());
        let shared = SharedArgs::augment_args(clap::Command::new("pkgres"));
        let shared: Vec<_> = shared
            .get_arguments()
            .map(clap::Arg::get_id)
            .cloned()
            .collect();
        let of_all: Vec<_> = all
            .get_arguments()
            .map(clap::Arg::get_id)
            .cloned()
            .collect();
        assert_eq!(shared, of_all);
    }
}
