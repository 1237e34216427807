//! The grammar of the command line. Nothing is decided here.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::exit;

mod daily;
mod generated;
mod packages;
mod registry;
mod solving;

pub(crate) use daily::*;
pub(crate) use generated::*;
pub(crate) use packages::*;
pub(crate) use registry::*;
pub(crate) use solving::*;

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
    /// A picture of up to 500 nodes: `graph`
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

/// The grammar of all commands, with all that their help says.
pub(crate) fn whole_grammar() -> clap::Command {
    let whole = Arguments::command().after_long_help(exit::ALL_ENDS);
    whole.mut_subcommands(|command| with_ends(command, ""))
}

/// A command whose help says how it can end, and likewise what is below it.
fn with_ends(command: clap::Command, above: &str) -> clap::Command {
    let path = format!("{above}{}", command.get_name());
    let below = format!("{path} ");
    let command = match exit::help_of(&path) {
        Some(help) => command.after_long_help(help),
        None => command,
    };
    command.mut_subcommands(|command| with_ends(command, &below))
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
    Publish("publish", PublishArgs),
    /// Withdraw a release: it stays readable, and is not chosen anew
    Yank("yank", YankArgs),
    /// Keep a token for a registry
    Login("login", LoginArgs),
    /// Fetch what is locked into the cache
    Fetch("fetch", LockedArgs),
    /// Check that what is locked can be had, with the digests that are locked
    Verify("verify", LockedArgs),
    /// Write the archives of what is locked into a folder
    Vendor("vendor", VendorArgs),
    /// Show, check or empty the cache
    Cache("cache", CacheArgs),
    /// Serve a registry over HTTP
    Serve("serve", ServeArgs),
    /// Write a registry as files that any web server can serve
    ExportStatic("export-static", ExportStaticArgs),
}

#[cfg(test)]
mod tests {
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
        let all = whole_grammar();
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

    #[test]
    fn every_command_says_how_it_can_end() {
        let all = whole_grammar();
        let mut rest: Vec<(String, &clap::Command)> = all
            .get_subcommands()
            .map(|command| (command.get_name().to_owned(), command))
            .collect();
        while let Some((path, command)) = rest.pop() {
            let ends = exit::ends_of(&path).count();
            // What has commands below it does nothing by itself.
            assert_eq!(ends > 0, !command.has_subcommands(), "{path}");
            let below = command.get_subcommands();
            rest.extend(below.map(|command| (format!("{path} {}", command.get_name()), command)));
        }
    }
}
