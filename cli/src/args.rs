//! The grammar of the command line, and which groups of arguments each command has.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

mod account;
mod deployment;
mod generated;
mod interfaces;
mod lookup;
mod machines;
mod packages;
mod project;
mod registry;
mod solving;

pub(crate) use account::*;
pub(crate) use deployment::*;
pub(crate) use generated::*;
pub(crate) use interfaces::*;
pub(crate) use lookup::*;
pub(crate) use machines::*;
pub(crate) use packages::*;
pub(crate) use project::*;
pub(crate) use registry::*;
pub(crate) use solving::*;

/// The widest lines of help, in columns.
pub(crate) const MAX_WIDTH: usize = 100;

/// Resolve versions of packages.
#[derive(Debug, Parser)]
#[command(
    name = "pkgres",
    version,
    max_term_width = MAX_WIDTH,
    arg_required_else_help = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

/// The arguments of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct GlobalArgs {
    /// Output format
    #[arg(long, global = true, value_enum)]
    pub(crate) format: Option<Format>,

    /// Print only results and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// When to use colors
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,

    /// Do not show progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,

    /// Change to this folder before doing anything
    #[arg(long, short = 'C', global = true, value_name = "FOLDER")]
    pub(crate) directory: Option<PathBuf>,

    /// Read this settings file instead of the user's
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    Text,
    /// A JSON document
    Json,
    /// Annotations of a GitHub workflow
    Github,
    /// A Markdown table for pull requests
    Markdown,
    /// A graph in the DOT language of Graphviz
    Dot,
    /// A Mermaid graph for Markdown
    Mermaid,
    /// A picture of up to 500 nodes
    Svg,
    /// The same picture as pixels
    Png,
    /// CycloneDX 1.6
    Cyclonedx,
    /// SPDX 2.3
    Spdx,
    /// A requirements.yml with exact versions
    Requirements,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// For each of stdout and stderr, if it is a terminal that supports them
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Declares the commands in groups by what people want to do, and a function that builds the grammar of a single one.
macro_rules! commands {
    ($($heading:literal { $($(#[$about:meta])* $variant:ident($name:literal, $args:ty),)* })*) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($($(#[$about])* #[command(name = $name)] $variant($args),)*)*
        }

        /// The groups of commands in the help: their headings, and the names of their commands.
        pub(crate) const GROUPS: &[(&str, &[&str])] = &[$(($heading, &[$($name),*])),*];

        impl Command {
            /// The name of the command.
            pub(crate) fn name(&self) -> &'static str {
                match self {
                    $($(Self::$variant(_) => $name,)*)*
                }
            }

            /// The grammar of the command of this name, if there is one.
            fn grammar(name: &str) -> Option<clap::Command> {
                match name {
                    $($($name => Some(<$args as Args>::augment_args(clap::Command::new($name))),)*)*
                    _ => None,
                }
            }
        }
    };
}

/// The grammar of the program with a single command, which takes a fraction of the time of the whole grammar to
/// build. It accepts the same arguments with the same meaning; to report an error, parse with the whole grammar.
pub(crate) fn grammar_of(name: &str) -> Option<clap::Command> {
    let command = Command::grammar(name)?;
    let whole = GlobalArgs::augment_args(clap::Command::new("pkgres"));
    Some(whole.subcommand_required(true).subcommand(command))
}

/// The grammar of `pkgres --version`, which is quick to build.
pub(crate) fn version_grammar() -> clap::Command {
    clap::Command::new("pkgres").version(env!("CARGO_PKG_VERSION"))
}

commands! {
    "Start a project" {
        /// Create a package
        Init("init", InitArgs),
        /// Add requirements to the manifest
        Add("add", AddArgs),
        /// Remove requirements from the manifest
        Remove("remove", RemoveArgs),
    }
    "Choose versions" {
        /// Resolve a project and print the versions as a tree
        Resolve("resolve", ResolveArgs),
        /// Write the lockfile, or check that it is up to date
        Lock("lock", LockArgs),
        /// Update packages in the lockfile
        Update("update", UpdateArgs),
        /// Write versions into an object model
        Pin("pin", PinArgs),
    }
    "Look at a project" {
        /// Show the resolution as a tree
        Tree("tree", TreeArgs),
        /// Show why a package is in the resolution
        Why("why", WhyArgs),
        /// Show why a version is not in the resolution
        WhyNot("why-not", WhyNotArgs),
        /// Show packages with newer versions, and what holds them back
        Outdated("outdated", OutdatedArgs),
        /// Show the differences between two lockfiles
        Diff("diff", DiffArgs),
        /// Draw the resolution, or a conflict, as a graph
        Graph("graph", GraphArgs),
        /// Export the resolution as a bill of materials (SBOM)
        Export("export", ExportArgs),
    }
    "Solve conflicts" {
        /// Explain why there is no resolution, or what an error code means
        Explain("explain", ExplainArgs),
        /// List the cheapest ways to repair a conflict, or apply one of them
        Repair("repair", RepairArgs),
        /// Check the proofs in a folder with a certificate
        VerifyCertificate("verify-certificate", VerifyCertificateArgs),
    }
    "Find packages" {
        /// Search the registries for packages
        Search("search", SearchArgs),
        /// Show a package: its versions, requirements and classes, and what requires it
        Info("info", InfoArgs),
        /// Show the normal form of a spec, and which versions match it
        Spec("spec", SpecArgs),
    }
    "Check packages" {
        /// Check packages, manifests, class files and archives
        Check("check", CheckArgs),
        /// Compare the classes of two versions, and find the version bump that the changes require
        Semver("semver", SemverArgs),
        /// Write an interface from classes, or compare two versions of one
        Interface("interface", InterfaceArgs),
    }
    "Publish packages" {
        /// Pack a package folder into an archive
        Pack("pack", PackArgs),
        /// Unpack a package archive into a folder
        Unpack("unpack", UnpackArgs),
        /// Publish a package to a registry
        Publish("publish", PublishArgs),
        /// Yank a release: it is only used by lockfiles that already contain it
        Yank("yank", YankArgs),
    }
    "Sign in to a registry" {
        /// Store a token for a registry
        Login("login", LoginArgs),
        /// Remove the stored token of a registry
        Logout("logout", LogoutArgs),
        /// Show who you are to a registry, and what your token permits
        Whoami("whoami", WhoamiArgs),
        /// Show or change the owners of a package
        Owner("owner", OwnerArgs),
        /// Create, list or revoke tokens
        Token("token", TokenArgs),
    }
    "Get locked releases" {
        /// Fetch locked releases into the cache
        Fetch("fetch", LockedArgs),
        /// Check that locked releases are available with the locked digests
        Verify("verify", VerifyArgs),
        /// Write the archives of locked releases into a folder
        Vendor("vendor", VendorArgs),
        /// Install the locked collections of Ansible into a folder
        Install("install", InstallArgs),
        /// Inspect, verify or clean the cache
        Cache("cache", CacheArgs),
    }
    "Change machines" {
        /// Show how a machine differs from the resources of the locked releases
        Plan("plan", PlanArgs),
        /// Change a machine so that it has the resources of the locked releases
        Apply("apply", ApplyArgs),
        /// Check a machine with the validation of a package, or set up what is missing
        Validate("validate", ValidateArgs),
        /// Call a function of a class on a machine, and print what it returns
        Call("call", CallArgs),
        /// Remove unpacked archives from a machine that no application uses any more
        Prune("prune", PruneArgs),
    }
    "Run a registry" {
        /// Serve a registry over HTTP
        Serve("serve", ServeArgs),
        /// Export a registry as files that any web server can serve
        ExportStatic("export-static", ExportStaticArgs),
        /// Write an index of the packages in a folder
        Index("index", IndexArgs),
    }
    "Set up pkgres" {
        /// Show or change settings
        Config("config", ConfigArgs),
        /// Print the JSON Schema of a file format
        Schema("schema", SchemaArgs),
        /// Print shell completions
        Completions("completions", CompletionsArgs),
        /// Print a man page
        Man("man", ManArgs),
        /// Print a generated page of the documentation
        #[command(hide = true)]
        Reference("reference", ReferenceArgs),
    }
}

/// The shared arguments of one command.
#[derive(Default)]
pub(crate) struct SharedArgs<'command> {
    pub(crate) registry: Option<&'command RegistryArgs>,
    /// The network arguments of a command that takes no other arguments about registries.
    pub(crate) network: Option<&'command NetworkArgs>,
    pub(crate) policy: Option<&'command PolicyArgs>,
    pub(crate) core: Option<&'command CoreArgs>,
}

impl<'command> SharedArgs<'command> {
    fn solving(registry: &'command RegistryArgs, policy: &'command PolicyArgs) -> Self {
        Self {
            policy: Some(policy),
            ..Self::registry(registry)
        }
    }

    fn registry(registry: &'command RegistryArgs) -> Self {
        Self {
            registry: Some(registry),
            core: Some(&registry.core),
            ..Self::default()
        }
    }

    fn network(network: &'command NetworkArgs) -> Self {
        Self {
            network: Some(network),
            ..Self::default()
        }
    }

    fn of_solve(args: &'command SolveArgs) -> Self {
        Self::solving(&args.registry, &args.policy)
    }

    fn of_deployment(args: &'command DeploymentArgs) -> Self {
        Self::solving(&args.registry, &args.policy)
    }

    fn of_project(args: &'command ProjectArgs) -> Self {
        Self::solving(&args.registry, &args.policy)
    }
}

/// An argument of a command, by its id, if the command has it.
pub(crate) fn argument_of(command: &str, id: &str) -> Option<clap::Arg> {
    let grammar = Command::grammar(command)?;
    let mut arguments = grammar.get_arguments();
    arguments.find(|argument| argument.get_id() == id).cloned()
}

/// Whether a command needs arguments besides its project.
pub(crate) fn needs_arguments(command: &str) -> bool {
    Command::grammar(command).is_some_and(|grammar| {
        let mut positionals = grammar.get_positionals();
        positionals.any(clap::Arg::is_required_set)
    })
}

/// The commands that have an option of this long name: their names, each followed by that of its subcommand.
pub(crate) fn commands_with(long: &str) -> Vec<String> {
    fn add(command: &clap::Command, path: &str, long: &str, found: &mut Vec<String>) {
        let is_it =
            |argument: &clap::Arg| argument.get_long() == Some(long) && !argument.is_hide_set();
        if command.get_arguments().any(is_it) {
            found.push(path.to_owned());
        }
        for below in command.get_subcommands() {
            add(below, &format!("{path} {}", below.get_name()), long, found);
        }
    }
    let all = Arguments::command();
    let mut found = Vec::new();
    for command in all.get_subcommands().filter(|it| !it.is_hide_set()) {
        add(command, command.get_name(), long, &mut found);
    }
    found
}

impl Command {
    /// The members of a workspace that are named as its projects.
    pub(crate) fn members(&self) -> &[String] {
        let args = match self {
            Self::Add(AddArgs { edit, .. }) | Self::Remove(RemoveArgs { edit, .. }) => {
                return edit.member.as_slice();
            }
            Self::Resolve(args) => &args.members,
            Self::Outdated(args) => &args.members,
            Self::Update(args) => &args.members,
            Self::Tree(args) => &args.members,
            Self::Why(args) => &args.members,
            Self::Export(args) => &args.members,
            Self::Fetch(args) => &args.members,
            Self::Verify(args) => &args.locked.members,
            Self::Install(args) => &args.locked.members,
            Self::Vendor(args) => &args.locked.members,
            _ => return &[],
        };
        &args.members
    }

    /// Whether the command is for members of the workspace, by name or all of them.
    pub(crate) fn is_for_members(&self) -> bool {
        match self {
            Self::Lock(args) => args.workspace,
            Self::Update(args) => args.members.workspace || !args.members.members.is_empty(),
            _ => !self.members().is_empty(),
        }
    }

    /// The folder for a certificate of the verdict.
    pub(crate) fn certificate(&self) -> Option<&Path> {
        let args = match self {
            Self::Resolve(args) => &args.certificate,
            Self::Lock(args) => &args.certificate,
            Self::Update(args) => &args.certificate,
            Self::Pin(args) => &args.certificate,
            Self::Explain(args) => &args.certificate,
            _ => return None,
        };
        args.certificate.as_deref()
    }

    /// The arguments that it shares with other commands. Their fields are private to this module: commands
    /// use the values in the context, which are made from them.
    pub(crate) fn shared_args(&self) -> SharedArgs<'_> {
        match self {
            Self::Resolve(args) => SharedArgs::of_solve(&args.solve),
            Self::Outdated(args) => SharedArgs::of_solve(&args.solve),
            Self::Tree(args) => SharedArgs::of_solve(&args.solve),
            Self::Why(args) => SharedArgs::of_solve(&args.solve),
            Self::Graph(args) => SharedArgs::of_solve(&args.solve),
            Self::Export(args) => SharedArgs::of_solve(&args.solve),
            Self::Add(args) => SharedArgs::of_project(&args.edit.project),
            Self::Remove(args) => SharedArgs::of_project(&args.edit.project),
            Self::Update(args) => SharedArgs::of_project(&args.project),
            Self::Lock(args) => SharedArgs::solving(&args.registry, &args.policy),
            Self::Explain(args) => SharedArgs::solving(&args.registry, &args.policy),
            Self::Repair(args) => SharedArgs::solving(&args.registry, &args.policy),
            Self::Pin(args) => SharedArgs::solving(&args.registry, &args.policy),
            Self::Check(args) => SharedArgs::solving(&args.registry, &args.policy),
            Self::Semver(args) => SharedArgs::solving(&args.registry, &args.policy),
            Self::Interface(args) => match &args.command {
                InterfaceCommand::Init(args) => SharedArgs::solving(&args.registry, &args.policy),
                InterfaceCommand::Diff(_) => SharedArgs::default(),
            },
            Self::Plan(args) => SharedArgs::of_deployment(&args.deployment),
            Self::Apply(args) => SharedArgs::of_deployment(&args.deployment),
            Self::Call(args) => SharedArgs::of_project(&args.project),
            Self::Fetch(args) => SharedArgs::registry(&args.registry),
            Self::Verify(args) => SharedArgs::registry(&args.locked.registry),
            Self::Install(args) => SharedArgs::registry(&args.locked.registry),
            Self::Vendor(args) => SharedArgs::registry(&args.locked.registry),
            Self::Publish(args) => SharedArgs::network(&args.target.network),
            Self::Yank(args) => SharedArgs::network(&args.target.network),
            Self::Login(args) => SharedArgs::network(&args.network),
            Self::Search(args) => SharedArgs::registry(&args.lookup.registry),
            Self::Info(args) => SharedArgs::registry(&args.lookup.registry),
            Self::WhyNot(args) => SharedArgs::of_solve(&args.solve),
            Self::Whoami(args) => SharedArgs::network(&args.network),
            Self::Owner(args) => SharedArgs::network(match &args.command {
                OwnerCommand::List(args) => &args.target.network,
                OwnerCommand::Add(args) | OwnerCommand::Remove(args) => &args.target.network,
            }),
            Self::Token(args) => SharedArgs::network(match &args.command {
                TokenCommand::Create(args) => &args.target.network,
                TokenCommand::List(args) => &args.target.network,
                TokenCommand::Revoke(args) => &args.target.network,
            }),
            Self::Init(args) => SharedArgs {
                core: Some(&args.core),
                ..SharedArgs::default()
            },
            Self::Diff(_)
            | Self::Schema(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Reference(_)
            | Self::Config(_)
            | Self::Logout(_)
            | Self::Spec(_)
            | Self::Index(_)
            | Self::Pack(_)
            | Self::Unpack(_)
            | Self::Validate(_)
            | Self::Prune(_)
            | Self::Cache(_)
            | Self::Serve(_)
            | Self::VerifyCertificate(_)
            | Self::ExportStatic(_) => SharedArgs::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help::whole_grammar;

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
    fn the_grammar_of_one_command_is_that_of_the_whole_grammar() {
        // The complete help changes what is shown, not what is accepted.
        let all = Arguments::command();
        let mut count = 0;
        for command in all.get_subcommands() {
            let name = command.get_name();
            let alone = grammar_of(name).expect("every command has one");
            let alone = alone.find_subcommand(name).expect("it has the command");
            assert_eq!(ids(alone), ids(command), "{name}");
            count += 1;
        }
        assert!(count > 30);
        assert!(grammar_of("help").is_none() && grammar_of("nothing").is_none());
        let global = GlobalArgs::augment_args(clap::Command::new("pkgres"));
        let global: Vec<_> = global
            .get_arguments()
            .map(clap::Arg::get_id)
            .cloned()
            .collect();
        let of_all: Vec<_> = all
            .get_arguments()
            .map(clap::Arg::get_id)
            .cloned()
            .collect();
        assert_eq!(global, of_all);
    }

    #[test]
    fn every_command_declares_its_exit_codes() {
        let all = whole_grammar();
        let mut rest: Vec<(String, &clap::Command)> = all
            .get_subcommands()
            .map(|command| (command.get_name().to_owned(), command))
            .collect();
        while let Some((path, command)) = rest.pop() {
            let exit_codes = crate::exit::exit_codes_of(&path).count();
            // A command with subcommands does nothing by itself.
            assert_eq!(exit_codes > 0, !command.has_subcommands(), "{path}");
            let below = command.get_subcommands();
            rest.extend(below.map(|command| (format!("{path} {}", command.get_name()), command)));
        }
    }
}
