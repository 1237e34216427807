//! The arguments of the commands that print settings and generated documentation.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// The format that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// manifest.yaml
    Manifest,
    /// Class files
    Class,
    /// Interface files
    Interface,
    /// Resources files
    Resources,
    /// Validation files
    Validation,
    /// pkgres.lock
    Lock,
    /// pkgres.toml and the user's settings
    Settings,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The format
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
    /// Show all settings
    List {
        /// Show the origin of each value
        #[arg(long)]
        show_origin: bool,

        /// The folder of the project whose settings to show
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Show the value of a setting
    Get {
        /// The setting
        key: String,

        /// The folder of the project whose settings to show
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Write a setting into the settings file of the user, or of the project
    Set {
        /// The setting
        key: String,

        /// The value, or the values of a list
        #[arg(required = true, value_name = "VALUE", allow_negative_numbers = true)]
        values: Vec<String>,

        /// Write to the nearest pkgres.toml, or to a new one in this folder
        #[arg(long)]
        project: bool,
    },
    /// Remove a setting from the settings file of the user, or of the project
    Unset {
        /// The setting
        key: String,

        /// Change the nearest pkgres.toml
        #[arg(long)]
        project: bool,
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
    /// The command, such as `lock` or `interface init`; by default, `pkgres` itself
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArgs {
    /// The page
    #[arg(value_enum)]
    pub(crate) kind: ReferenceKind,
}

/// A generated page of the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferenceKind {
    /// All commands
    Commands,
    /// All settings
    Settings,
}
