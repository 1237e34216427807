//! The arguments of the commands that look packages up.

use std::path::PathBuf;

use clap::Args;

use super::{RegistryArgs, SolveArgs};

/// The registries of a project, which need not exist.
#[derive(Debug, Clone, Args)]
pub(crate) struct LookupArgs {
    /// The manifest of the project whose registries to use, or its folder
    #[arg(
        long = "manifest-path",
        value_name = "PATH",
        default_value = "manifest.yaml"
    )]
    pub(crate) manifest: PathBuf,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The words to search for; all of them have to match, in upper or lower case
    ///
    /// A word with spaces is a phrase: write it in quotes. All registries search the names of packages, classes and
    /// interfaces; registries on the network also search titles, descriptions, authors and tags. In a mirror of static
    /// files, only the names of packages are searched. Galaxy servers are not searched: their API has no search by
    /// name.
    #[arg(required = true, value_name = "WORD")]
    pub(crate) words: Vec<String>,

    /// Show at most this many packages
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=1000),
        allow_negative_numbers = true
    )]
    pub(crate) limit: u32,

    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The package, or one release of it; by default, the newest
    #[arg(value_name = "PACKAGE[@VERSION]")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WhyNotArgs {
    /// The release; without a version, the newest
    #[arg(value_name = "PACKAGE[@VERSION]")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) solve: SolveArgs,
}
