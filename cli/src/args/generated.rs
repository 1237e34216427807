//! The arguments of the commands that print what is made of the code, and settings.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What a schema is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// manifest.yaml
    Manifest,
    /// Class files
    Class,
    /// pkgres.lock
    Lock,
    /// pkgres.toml and the user's settings
    Settings,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// What it is about
    #[arg(value_enum)]
    pub(crate) kind: SchemaKind,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting
    List {
        /// Show where each comes from
        #[arg(long)]
        show_origin: bool,

        /// The folder whose project's settings count
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command; the page of `pkgres` itself if none is given
    pub(crate) command: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArgs {
    /// The page
    #[arg(value_enum)]
    pub(crate) kind: ReferenceKind,
}

/// A page of the book that is made of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferenceKind {
    /// Every command
    Commands,
    /// Every setting
    Settings,
    /// Every code
    Errors,
}
