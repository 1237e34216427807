//! Commands that look at machines.

use std::path::PathBuf;

use clap::Args;
use pkgres_engine::TargetLocation;

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// The package folder or archive, or a validation file
    pub(crate) package: PathBuf,

    /// The machine: `local:`, or `rootfs:PATH` for a folder that holds the root of another one
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: TargetLocation,

    /// Bring about what is missing, instead of only testing
    #[arg(long)]
    pub(crate) reconcile: bool,

    /// The value of an argument of the validation; can be repeated
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) arguments: Vec<(String, String)>,

    /// Also reconcile on an overlay of the machine, list what would change, and fail if a test accepted it
    #[arg(long, conflicts_with = "reconcile")]
    pub(crate) prove: bool,

    /// The longest time in seconds that a script or an installation may run
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) timeout: u64,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE is expected")?;
    Ok((name.to_owned(), value.to_owned()))
}
