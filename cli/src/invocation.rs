//! The invocation: the command line, for the commands that hints suggest. These can be copied to a shell.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgAction, ArgMatches};
pub(crate) use pkgres_manifest::diagnostic::{quoted, quoted_word};

use crate::args::{argument_of, needs_arguments};
use crate::project_argument::{ProjectArgument, is_explicit};
use crate::read_manifest::folder_of;
use crate::settings::Settings;

/// The options that decide which releases there are or which are chosen: a suggested command repeats them.
const OPTIONS: [(&str, &str); 15] = [
    ("registries", "--registry"),
    ("provided", "--provide"),
    ("ca_files", "--ca-file"),
    ("allow_http", "--allow-http"),
    ("core_library", "--core-library"),
    ("no_core_library", "--no-core-library"),
    ("prerelease", "--prerelease"),
    ("prefer", "--prefer"),
    ("exclude_newer", "--exclude-newer"),
    ("single_version", "--single-version"),
    ("ecosystem", "--ecosystem"),
    ("ignore_classes", "--ignore-classes"),
    ("strict_uses", "--strict-uses"),
    ("target", "--target"),
    ("targets", "--target"),
];

/// The switches about the projects of a command, by id.
const FLAGS: [(&str, &str); 2] = [("workspace", "--workspace"), ("one_solve", "--one-solve")];

/// The parts of the command line that a command about the same project repeats.
#[derive(Debug, Default, Clone)]
pub(crate) struct Invocation {
    /// All words of the command line.
    words: Vec<OsString>,
    /// The name of the command, followed by that of its subcommand, if it has one.
    command: String,
    /// The value of `--directory`.
    directory: Option<PathBuf>,
    /// The value of `--config`.
    config: Option<PathBuf>,
    /// The manifests or folders that were named.
    projects: Vec<PathBuf>,
    /// The folder that a command writes to, which is named before the project, as it was typed.
    folder: Option<String>,
    /// The packages of a command that takes all packages if none is named, as they were typed.
    packages: Vec<String>,
    /// Those of [`FLAGS`] that are set, by id.
    flags: Vec<&'static str>,
    /// The options about registries and versions: their ids, and as they were typed, quoted for a shell.
    options: Vec<(&'static str, String)>,
    /// The other options, which only the same command has, with their ids.
    other_options: Vec<(String, TypedOption)>,
    /// What commands that write the lockfile need before their name, because a setting forbids them to.
    before_writing: String,
}

/// The commands that write the lockfile.
const WRITES_LOCK: [&str; 5] = ["add", "lock", "remove", "repair", "update"];

impl Invocation {
    /// The invocation of a command with these arguments.
    pub(crate) fn new(
        words: &[OsString],
        command: &str,
        matches: &ArgMatches,
        directory: Option<&Path>,
        config: Option<&Path>,
    ) -> Self {
        let projects = match command {
            // Its lockfile is in the folder of the project.
            "pin" => (matches
                .get_one::<PathBuf>("lock")
                .map(|path| folder_of(path)))
            .into_iter()
            .collect(),
            _ => ProjectArgument::of(matches)
                .map_or_else(Vec::new, |argument| argument.typed(matches)),
        };
        Self {
            words: words.to_vec(),
            command: command.to_owned(),
            directory: directory.map(Path::to_owned),
            config: config.map(Path::to_owned),
            projects,
            folder: folder_as_typed(matches),
            packages: packages_as_typed(matches),
            flags: FLAGS
                .into_iter()
                .map(|(id, _)| id)
                .filter(|id| is_explicit(matches, id))
                .collect(),
            options: OPTIONS
                .iter()
                .filter(|(id, _)| is_explicit(matches, id))
                .flat_map(|(id, option)| {
                    let typed = as_typed(matches, id, option);
                    typed.into_iter().map(|typed| (*id, typed))
                })
                .collect(),
            other_options: other_options_as_typed(matches),
            before_writing: String::new(),
        }
    }

    /// Takes the lock modes that settings set: a suggested command that writes the lockfile has to undo them.
    pub(crate) fn under(mut self, settings: &Settings) -> Self {
        let modes = [("locked", "PKGRES_LOCKED"), ("frozen", "PKGRES_FROZEN")];
        let set = modes.into_iter().filter(|(key, _)| settings.is_set(key));
        self.before_writing = set
            .map(|(_, variable)| format!("{variable}=false "))
            .collect();
        self
    }

    /// Takes the folders of the members that were named, as the projects.
    pub(crate) fn about(mut self, members: &[PathBuf]) -> Self {
        self.projects.extend(members.iter().cloned());
        self
    }

    /// The same command about one project only.
    pub(crate) fn about_only(&self, project: &Path) -> Self {
        Self {
            projects: vec![project.to_owned()],
            flags: Vec::new(),
            ..self.clone()
        }
    }

    /// The same command about all members of the workspace.
    pub(crate) fn about_workspace(&self) -> Self {
        let mut about = self.clone();
        if !about.is_for_workspace() {
            about.flags.insert(0, "workspace");
        }
        about
    }

    /// A path of this run as it is named where the run began, before `-C`.
    pub(crate) fn where_the_run_began(&self, path: &Path) -> PathBuf {
        let folder = self.directory.as_deref();
        folder.map_or_else(|| path.to_owned(), |folder| folder.join(path))
    }

    /// All words of the command line.
    pub(crate) fn words(&self) -> &[OsString] {
        &self.words
    }

    /// The name of the command.
    pub(crate) fn command_name(&self) -> &str {
        &self.command
    }

    /// Whether the command takes all members of the workspace.
    pub(crate) fn takes_workspace(&self) -> bool {
        argument_of(&self.command, "workspace").is_some()
    }

    /// The command of this run for all members of the workspace, if it takes them, and no other arguments.
    pub(crate) fn same_command_for_workspace(&self) -> Option<String> {
        let is_complete = self.takes_workspace() && !self.has_arguments();
        is_complete.then(|| self.compose(&self.same_words(), &["workspace"], &[]))
    }

    /// Whether it is an invocation of this command.
    pub(crate) fn is(&self, command: &str) -> bool {
        self.command == command
    }

    /// Whether it names a project.
    pub(crate) fn names_project(&self) -> bool {
        !self.projects.is_empty()
    }

    /// Whether it names a project other than the current folder.
    pub(crate) fn names_other_project(&self) -> bool {
        self.projects
            .iter()
            .any(|project| project != Path::new("."))
    }

    /// Whether it has `--workspace`.
    pub(crate) fn is_for_workspace(&self) -> bool {
        self.flags.contains(&"workspace")
    }

    /// A command about the same project. `words` are the name of the command and its own arguments.
    pub(crate) fn command(&self, words: &str) -> String {
        let projects: Vec<&Path> = self.projects.iter().map(PathBuf::as_path).collect();
        let command = words.split(' ').next().unwrap_or_default();
        let flags = self.flags.iter().copied();
        let flags: Vec<&str> = flags
            .filter(|id| argument_of(command, id).is_some())
            .collect();
        self.compose(words, &flags, &projects)
    }

    /// A command about the project of a manifest, which is the one of this run or one of several.
    pub(crate) fn command_for_manifest(&self, words: &str, manifest: &Path) -> String {
        if self.projects.len() > 1 || self.is_for_workspace() {
            self.command_for(words, manifest)
        } else {
            self.command(words)
        }
    }

    /// A command about a certain project.
    pub(crate) fn command_for(&self, words: &str, project: &Path) -> String {
        self.compose(words, &[], &[project])
    }

    /// A command that names no project.
    pub(crate) fn command_for_none(&self, words: &str) -> String {
        self.compose(words, &[], &[])
    }

    /// A command that runs in the folder of the project, if this run names one.
    pub(crate) fn command_in_project(&self, words: &str) -> String {
        let [project] = self.projects.as_slice() else {
            return self.command_for_none(words);
        };
        let folder = match folder_of(project) {
            here if here == Path::new(".") => self.directory.clone(),
            folder => Some(self.where_the_run_began(&folder)),
        };
        // `--config` is relative to the folder of `-C`.
        let config = self.config.as_deref();
        Self {
            directory: folder,
            config: config
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
            ..self.clone()
        }
        .compose(words, &[], &[])
    }

    /// The command of this run about another project, unless it has other arguments as well.
    pub(crate) fn same_command_for(&self, project: &Path) -> Option<String> {
        (!self.has_arguments()).then(|| self.command_for(&self.same_words(), project))
    }

    /// The same for a run of its own beside this one. In the same folder, `vendor` would remove what this run writes.
    pub(crate) fn command_of_its_own_for(&self, project: &Path) -> Option<String> {
        let mut own = self.clone();
        if self.is("vendor")
            && let Some(folder) = &mut own.folder
            && let Some(name) = folder_of(project).file_name()
        {
            *folder = format!("{folder}-{}", quoted(Path::new(name)));
        }
        own.same_command_for(project)
    }

    /// The name of the command, the packages that are named, and its options: without `--dry-run`, a command that was
    /// only tried would write.
    fn same_words(&self) -> String {
        let mut words = vec![self.command.clone()];
        words.extend(self.folder.clone());
        words.extend(self.packages.iter().cloned());
        for (id, typed) in &self.other_options {
            let argument = argument_of(&self.command, id);
            // Groups of options have an id, too.
            if let Some(long) = argument.as_ref().and_then(clap::Arg::get_long) {
                words.extend(typed.words(&format!("--{long}")));
            }
        }
        words.join(" ")
    }

    /// Whether the command has arguments besides its project and a folder before it, or is a subcommand.
    fn has_arguments(&self) -> bool {
        let takes_others = needs_arguments(&self.command) && self.folder.is_none();
        takes_others || self.command.contains(' ')
    }

    /// Whether a member of the workspace can be named with `-p` after all the words of this run.
    pub(crate) fn takes_member_option(&self) -> bool {
        self.has_arguments()
            && ["member", "members"]
                .iter()
                .any(|id| argument_of(&self.command, id).is_some())
    }

    fn compose(&self, words: &str, flags: &[&str], projects: &[&Path]) -> String {
        let (command, arguments) = words.split_once(' ').unwrap_or((words, ""));
        // An option can be a part of another one, or of a value.
        let spaced = format!(" {arguments} ");
        let has = |option: &str| spaced.contains(&format!(" {option} "));
        let is_writing = WRITES_LOCK.contains(&command) && !has("--check");
        let before = if is_writing {
            &*self.before_writing
        } else {
            ""
        };
        let mut text = format!("{before}pkgres");
        let mut push = |word: &str| {
            text.push(' ');
            text.push_str(word);
        };
        if let Some(directory) = &self.directory {
            push("-C");
            push(&quoted(directory));
        }
        if let Some(config) = &self.config {
            push("--config");
            push(&quoted(config));
        }
        push(command);
        let manifest = argument_of(command, "manifest");
        let takes_several = manifest
            .as_ref()
            .is_some_and(|manifest| matches!(manifest.get_action(), ArgAction::Append));
        let option = match (&manifest, projects) {
            // Several members, for a command that takes one manifest.
            (_, [_, _, ..]) if !takes_several => {
                argument_of(command, "members").map(|_| Some("--package"))
            }
            (Some(manifest), _) => Some(manifest.get_long().map(|_| "--manifest-path")),
            // Other commands name their project in another way.
            (None, _) => Some(None),
        };
        // A folder to write to comes before the manifest.
        let is_folder_first = !arguments.is_empty() && argument_of(command, "folder").is_some();
        if is_folder_first {
            push(arguments);
        }
        for project in projects {
            match option {
                Some(option) => {
                    option.into_iter().for_each(&mut push);
                    push(&quoted(project));
                }
                None => break,
            }
        }
        for (_, flag) in FLAGS.iter().filter(|(id, _)| flags.contains(id)) {
            if !has(flag) {
                push(flag);
            }
        }
        for (id, option) in &self.options {
            if !has(option) && argument_of(command, id).is_some() {
                push(option);
            }
        }
        if !arguments.is_empty() && !is_folder_first {
            push(arguments);
        }
        text
    }
}

/// An option as it was typed.
fn as_typed(matches: &ArgMatches, id: &str, option: &str) -> Vec<String> {
    TypedOption::of(matches, id).words(option)
}

/// What was typed of an option besides its name.
#[derive(Debug, Clone)]
enum TypedOption {
    Switch,
    /// Quoted for a shell.
    Values(Vec<String>),
}

impl TypedOption {
    fn of(matches: &ArgMatches, id: &str) -> Self {
        if matches!(matches.try_get_one::<bool>(id), Ok(Some(_))) {
            return Self::Switch;
        }
        let values = matches.try_get_raw(id).ok().flatten();
        let values = values.into_iter().flatten().map(Path::new);
        Self::Values(
            values
                .map(|value| quoted(&without_credentials(value)))
                .collect(),
        )
    }

    /// The option with its name: once for each value, or alone if it is a switch.
    fn words(&self, name: &str) -> Vec<String> {
        match self {
            Self::Switch => vec![name.to_owned()],
            Self::Values(values) => values
                .iter()
                .map(|value| format!("{name} {value}"))
                .collect(),
        }
    }
}

/// The folder of `vendor` and `install`.
fn folder_as_typed(matches: &ArgMatches) -> Option<String> {
    let is_before_project = matches.try_contains_id("manifest").is_ok();
    let folder = matches.try_get_raw("folder").ok().flatten()?.next()?;
    is_before_project.then(|| quoted(Path::new(folder).components().as_path()))
}

/// The packages of `update`, and the version that one of them is moved to.
fn packages_as_typed(matches: &ArgMatches) -> Vec<String> {
    if !is_explicit(matches, "packages") || matches.try_contains_id("precise").is_err() {
        return Vec::new();
    }
    let packages = matches.try_get_raw("packages").ok().flatten();
    let packages = packages
        .into_iter()
        .flatten()
        .map(|name| quoted(Path::new(name)));
    packages
        .chain(as_typed(matches, "precise", "--precise"))
        .collect()
}

/// The options that are neither in [`OPTIONS`] nor about the project or the packages, with their ids. What they are
/// called is looked up only for a hint, because every run would have to build the grammar of its command again.
fn other_options_as_typed(matches: &ArgMatches) -> Vec<(String, TypedOption)> {
    let is_other = |id: &str| {
        !OPTIONS.iter().chain(&FLAGS).any(|(known, _)| *known == id)
            && !["folder", "member", "members", "precise"].contains(&id)
            && !ProjectArgument::is_one(id)
    };
    let ids = matches.ids().map(clap::Id::as_str);
    let typed = ids.filter(|id| is_other(id) && is_explicit(matches, id));
    typed
        .map(|id| (id.to_owned(), TypedOption::of(matches, id)))
        .collect()
}

/// A value without the credentials of its address, which must not be shown.
fn without_credentials(value: &Path) -> Cow<'_, Path> {
    let text = value.to_string_lossy();
    let Some((scheme, address)) = text.split_once("://") else {
        return Cow::Borrowed(value);
    };
    let host = address.split(['/', '?', '#']).next().unwrap_or_default();
    match host.rsplit_once('@') {
        // The address of a machine has a user, but no password.
        Some((credentials, _)) if scheme != "ssh" => {
            let rest = &address[credentials.len() + 1..];
            Cow::Owned(format!("{scheme}://{rest}").into())
        }
        _ => Cow::Borrowed(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(
        directory: Option<&str>,
        projects: &[&str],
        flags: &[&'static str],
    ) -> Invocation {
        Invocation {
            words: Vec::new(),
            command: "tree".to_owned(),
            directory: directory.map(PathBuf::from),
            config: None,
            projects: projects.iter().map(PathBuf::from).collect(),
            folder: None,
            packages: Vec::new(),
            flags: flags.to_vec(),
            options: Vec::new(),
            other_options: Vec::new(),
            before_writing: String::new(),
        }
    }

    #[test]
    fn a_suggested_command_repeats_the_options() {
        let grammar = crate::help::whole_grammar();
        let suggested = |words: &[&str], command: &str| {
            let words = ["pkgres", "tree"].iter().chain(words);
            let matches = grammar
                .clone()
                .try_get_matches_from(words)
                .expect("valid arguments");
            let (name, matches) = matches.subcommand().expect("a command");
            Invocation::new(&[], name, matches, None, None).command(command)
        };
        assert_eq!(suggested(&["app"], "lock"), "pkgres lock app");
        let words = ["--registry", "dir:a", "--registry", "b=dir:b c"];
        assert_eq!(
            suggested(&words, "lock --check"),
            "pkgres lock --registry dir:a --registry 'b=dir:b c' --check"
        );
        let words = ["--no-core-library", "app", "--exclude-newer", "7 days"];
        assert_eq!(
            suggested(&words, "update"),
            "pkgres update --manifest-path app --no-core-library --exclude-newer '7 days'"
        );
        let words = ["--registry", "dir:a", "--prefer", "oldest"];
        assert_eq!(
            suggested(&words, "lock --registry dir:ab --prefer oldest"),
            "pkgres lock --registry dir:a --registry dir:ab --prefer oldest"
        );
        let words = ["--registry", "a=https://ann:s@cret@example.org/a@b"];
        assert_eq!(
            suggested(&words, "lock"),
            "pkgres lock --registry a=https://example.org/a@b"
        );
        let words = ["pkgres", "plan", "--target", "ssh://root@web1"];
        let matches = grammar.try_get_matches_from(words);
        let matches = matches.expect("valid arguments");
        let (name, matches) = matches.subcommand().expect("a command");
        let invocation = Invocation::new(&[], name, matches, None, None);
        assert_eq!(
            invocation.command_for("plan", Path::new("app")),
            "pkgres plan app --target ssh://root@web1"
        );
    }

    #[test]
    fn a_suggested_command_can_be_run() {
        let grammar = crate::help::whole_grammar();
        let parse = |words: &[&str]| {
            let words = std::iter::once("pkgres").chain(words.iter().copied());
            grammar.clone().try_get_matches_from(words)
        };
        let arguments = [
            "tree",
            "--registry=dir:a",
            "--provide=b",
            "--ca-file=c",
            "--allow-http",
            "--prerelease=allow",
            "--prefer=oldest",
            "--exclude-newer=2026-01-31",
            "--single-version",
            "--ecosystem=murano",
            "--strict-uses",
        ];
        for core in ["--no-core-library", "--core-library=a.Core"] {
            let matches = parse(&[&arguments[..], &[core]].concat()).expect("valid arguments");
            let (name, matches) = matches.subcommand().expect("a command");
            let invocation = Invocation::new(&[], name, matches, None, None);
            // One of the options for the core library, one of those for classes, and no machines.
            assert_eq!(invocation.options.len(), OPTIONS.len() - 4);
            for hint in [
                "add a.Db",
                "lock",
                "lock --accept-changed",
                "lock --check",
                "lock --ignore-lock",
                "lock --single-version",
                "lock --workspace",
                "tree",
                "update",
            ] {
                let command = invocation.command(hint);
                let words: Vec<&str> = command.split(' ').skip(1).collect();
                if let Err(error) = parse(&words) {
                    panic!("{command}: {error}");
                }
            }
        }
    }

    #[test]
    fn the_same_command_repeats_its_own_options() {
        let grammar = crate::help::whole_grammar();
        let suggested = |line: &str| {
            let matches = grammar.clone().try_get_matches_from(line.split(' '));
            let matches = matches.expect("valid arguments");
            let (name, matches) = matches.subcommand().expect("a command");
            let invocation = Invocation::new(&[], name, matches, None, None);
            invocation.same_command_for(Path::new("app"))
        };
        for (line, expected) in [
            (
                "pkgres publish --dry-run --registry https://a.example",
                "pkgres publish app --dry-run --registry https://a.example",
            ),
            (
                "pkgres apply --noop --target rootfs:R",
                "pkgres apply app --target rootfs:R --noop",
            ),
            ("pkgres lock --dry-run", "pkgres lock app --dry-run"),
            (
                "pkgres update a.B --precise 1.0 --dry-run",
                "pkgres update --manifest-path app a.B --precise 1.0 --dry-run",
            ),
            ("pkgres tree --depth 1", "pkgres tree app --depth 1"),
        ] {
            assert_eq!(suggested(line).as_deref(), Some(expected));
        }
        assert_eq!(suggested("pkgres add a.B --dry-run"), None);
    }

    #[test]
    fn a_suggested_command_names_the_same_projects() {
        let check = |invocation: &Invocation, words: &str, expected: &str| {
            assert_eq!(invocation.command(words), expected);
        };
        let nothing = Invocation::default();
        check(&nothing, "lock", "pkgres lock");
        check(&nothing, "lock --check", "pkgres lock --check");
        let one = invocation(Some("my folder"), &["app"], &[]);
        check(
            &one,
            "lock --check",
            "pkgres -C 'my folder' lock app --check",
        );
        check(
            &one,
            "update",
            "pkgres -C 'my folder' update --manifest-path app",
        );
        let several = invocation(None, &["one", "two"], &["one_solve"]);
        check(&several, "lock", "pkgres lock one two --one-solve");
        check(&several, "tree", "pkgres tree --package one --package two");
        check(&several, "graph", "pkgres graph");
        check(&several, "add", "pkgres add");
        let workspace = invocation(None, &[], &["workspace"]);
        check(&workspace, "lock", "pkgres lock --workspace");
        check(&workspace, "lock --workspace", "pkgres lock --workspace");
        check(&workspace, "update", "pkgres update --workspace");
        check(&workspace, "tree", "pkgres tree --workspace");
        check(&workspace, "graph", "pkgres graph");
        let command = workspace.command_for("update", Path::new("apps/one"));
        assert_eq!(command, "pkgres update --manifest-path apps/one");
    }

    #[test]
    fn a_suggested_command_reads_the_same_settings() {
        let one = Invocation {
            config: Some("/etc/my settings.toml".into()),
            ..invocation(Some("shop"), &["app/manifest.yaml"], &[])
        };
        assert_eq!(
            one.command("lock"),
            "pkgres -C shop --config '/etc/my settings.toml' lock app/manifest.yaml"
        );
        assert_eq!(
            one.command_in_project("config set --project offline true"),
            "pkgres -C shop/app --config '/etc/my settings.toml' config set --project offline true"
        );
        let two = invocation(None, &["one", "two"], &[]);
        assert_eq!(two.command_in_project("config list"), "pkgres config list");
    }
}
