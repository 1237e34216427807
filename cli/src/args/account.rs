//! The arguments of the commands about accounts of a registry: logging in, owners and tokens.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use pkgres_registry_server::Scope;

use super::{NetworkArgs, TargetArgs};

/// The registry of a command that is about nothing else: `login ADDRESS` and `login --registry ADDRESS` mean the same.
#[derive(Debug, Args)]
pub(crate) struct AccountRegistry {
    /// The registry: its name in pkgres.toml or `PKGRES_REGISTRY`, or its address; by default, the
    /// first one on the network
    #[arg(value_name = "REGISTRY", conflicts_with = "registry_option")]
    registry: Option<String>,

    /// The same as the argument
    #[arg(
        id = "registry_option",
        long = "registry",
        value_name = "REGISTRY",
        hide = true
    )]
    option: Option<String>,
}

impl AccountRegistry {
    /// The name or address of the registry, if there is one on the command line.
    pub(crate) fn wanted(&self) -> Option<&str> {
        self.registry.as_deref().or(self.option.as_deref())
    }
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    pub(crate) registry: AccountRegistry,

    /// Read the token from a file instead of the terminal or stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// Exchange the token at this address for a short-lived one before each run, for Galaxy servers that require it,
    /// such as Red Hat's automation hub
    #[arg(long, value_name = "URL")]
    pub(crate) auth_url: Option<String>,

    /// The client id for this exchange; by default `cloud-services`
    #[arg(long, value_name = "ID", requires = "auth_url")]
    pub(crate) client_id: Option<String>,

    /// The same as `pkgres logout`
    #[arg(long, hide = true, conflicts_with = "token_file")]
    pub(crate) remove: bool,

    #[command(flatten)]
    pub(super) network: NetworkArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    #[command(flatten)]
    pub(crate) registry: AccountRegistry,
}

#[derive(Debug, Args)]
pub(crate) struct WhoamiArgs {
    #[command(flatten)]
    pub(crate) registry: AccountRegistry,

    #[command(flatten)]
    pub(super) network: NetworkArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OwnerArgs {
    #[command(subcommand)]
    pub(crate) command: OwnerCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OwnerCommand {
    /// List the owners of a package
    List(OwnerListArgs),
    /// Add owners to a package
    Add(OwnerEditArgs),
    /// Remove owners from a package
    Remove(OwnerEditArgs),
}

#[derive(Debug, Args)]
pub(crate) struct OwnerListArgs {
    /// The package
    #[arg(value_name = "PACKAGE")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OwnerEditArgs {
    /// The package
    #[arg(value_name = "PACKAGE")]
    pub(crate) name: String,

    /// The owners
    #[arg(required = true, value_name = "OWNER")]
    pub(crate) owners: Vec<String>,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token, and print it
    ///
    /// The new token permits no more, and is valid no longer, than the token that creates it. It is not shown again.
    Create(TokenCreateArgs),
    /// List tokens, without their secrets
    List(TokenListArgs),
    /// Revoke a token
    Revoke(TokenRevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TokenListArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TokenCreateArgs {
    /// What the token permits, such as `publish`; can be repeated
    #[arg(long = "scope", value_name = "SCOPE", required = true, value_parser = scopes())]
    pub(crate) scopes: Vec<String>,

    /// The owner of the token, if it is not you; needs a token with the scope `admin`
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: Option<String>,

    /// A package, or a namespace such as `org.acme.*`, to which the token is limited; can be repeated; such a token
    /// cannot have the scopes `read` and `admin`
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// A note that the list of tokens shows
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) note: String,

    /// When the token expires: a date, a time, or a duration such as `30 days`; by default after 90 days, at most
    /// after 366
    #[arg(long, value_name = "DATE|DURATION")]
    pub(crate) expires: Option<String>,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevokeArgs {
    /// The id of the token, as `pkgres token list` shows it
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// The names of all scopes.
fn scopes() -> PossibleValuesParser {
    let scopes = Scope::ALL.iter();
    let values = scopes.map(|scope| {
        let permits = match scope {
            Scope::Publish => "Publish releases",
            Scope::Yank => "Yank releases, and undo this",
            Scope::Delete => "Delete releases for good",
            Scope::Owners => "Change the owners of a package",
            Scope::Read => "Read a private registry",
            Scope::Tokens => "Create, list and revoke tokens of the same owner",
            Scope::Admin => "Everything",
            _ => return PossibleValue::new(scope.as_str()),
        };
        PossibleValue::new(scope.as_str()).help(permits)
    });
    values.collect::<Vec<_>>().into()
}
