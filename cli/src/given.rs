//! What the command line named, for hints that say what to run next: they are there to be typed as they
//! stand.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::ArgMatches;
use clap::parser::ValueSource;
use pkgres_manifest::diagnostic::Escaped;

/// The commands that take their project as an option, because the arguments are something else.
const PROJECT_IS_OPTION: [&str; 3] = ["add", "remove", "update"];

/// The commands that are about something else besides a project.
const NEEDS_ARGUMENTS: [&str; 4] = ["add", "remove", "vendor", "why"];

/// The options without which another run would be about other releases, or choose otherwise.
const OPTIONS: [(&str, &str); 10] = [
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
];

/// What a run was told that another run about the same project has to be told as well.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// The command.
    command: String,
    /// The folder that it was to run in.
    directory: Option<PathBuf>,
    /// The manifests, or their folders.
    projects: Vec<PathBuf>,
    /// Which projects those of `lock` and `update` are, and how they are solved.
    flags: Vec<&'static str>,
    /// What was said of registries and versions, as it is typed.
    options: Vec<String>,
}

static GIVEN: OnceLock<Given> = OnceLock::new();

/// Fixes what was given in this run.
pub(crate) fn install(given: Given) {
    // There is one run in a process, and it does this once.
    let _ = GIVEN.set(given);
}

/// A command about the project of this run, as it is typed: `words` are its name and, after that, its
/// switches.
pub(crate) fn command(words: &str) -> String {
    GIVEN.get_or_init(Given::default).command(words)
}

/// A command about the project of which this is the manifest: the one of this run, or one of several.
pub(crate) fn command_for(words: &str, manifest: &Path) -> String {
    let given = GIVEN.get_or_init(Given::default);
    if given.projects.len() > 1 || is_about_workspace() {
        given.with(words, &[], &[manifest])
    } else {
        given.command(words)
    }
}

/// A command about no project in particular.
pub(crate) fn command_on_all(words: &str) -> String {
    let given = GIVEN.get_or_init(Given::default);
    given.with(words, &[], &[])
}

/// A command about one project.
pub(crate) fn command_on(words: &str, project: &Path) -> String {
    let given = GIVEN.get_or_init(Given::default);
    given.with(words, &[], &[project])
}

/// The command of this run about another project, if it needs no other arguments.
pub(crate) fn this_command_on(project: &Path) -> Option<String> {
    let given = GIVEN.get_or_init(Given::default);
    let needs_more = NEEDS_ARGUMENTS.contains(&given.command.as_str());
    (!needs_more).then(|| given.with(&given.command, &[], &[project]))
}

/// Whether it is about all members of a workspace.
pub(crate) fn is_about_workspace() -> bool {
    let given = GIVEN.get_or_init(Given::default);
    given.flags.contains(&"--workspace")
}

/// Whether a project was named.
pub(crate) fn has_project() -> bool {
    !GIVEN.get_or_init(Given::default).projects.is_empty()
}

/// Whether this run is one of a command.
pub(crate) fn is(command: &str) -> bool {
    GIVEN.get_or_init(Given::default).command == command
}

impl Given {
    /// What was given to a command.
    pub(crate) fn new(command: &str, matches: &ArgMatches, directory: Option<&Path>) -> Self {
        let is_given = |id: &str| {
            matches.try_contains_id(id).is_ok()
                && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        let id = match command {
            "explain" => "subject",
            "init" => "folder",
            _ => "manifest",
        };
        let projects = is_given(id).then(|| matches.try_get_many::<PathBuf>(id).ok().flatten());
        let projects = projects.flatten();
        let flags = [("workspace", "--workspace"), ("one_solve", "--one-solve")];
        Self {
            command: command.to_owned(),
            directory: directory.map(Path::to_owned),
            projects: projects.into_iter().flatten().cloned().collect(),
            flags: flags
                .into_iter()
                .filter(|(id, _)| is_given(id))
                .map(|(_, flag)| flag)
                .collect(),
            options: OPTIONS
                .iter()
                .filter(|(id, _)| is_given(id))
                .flat_map(|(id, option)| as_typed(matches, id, option))
                .collect(),
        }
    }

    fn command(&self, words: &str) -> String {
        let projects: Vec<&Path> = self.projects.iter().map(PathBuf::as_path).collect();
        let command = words.split(' ').next().unwrap_or_default();
        let takes_projects = command == "lock" || projects.len() == 1;
        let projects = if takes_projects {
            projects.as_slice()
        } else {
            &[]
        };
        let takes_flag = |flag: &&&str| match command {
            "lock" => true,
            // How they are solved is what the workspace says.
            "update" => **flag == "--workspace",
            _ => false,
        };
        let flags: Vec<&str> = self.flags.iter().filter(takes_flag).copied().collect();
        self.with(words, &flags, projects)
    }

    fn with(&self, words: &str, flags: &[&str], projects: &[&Path]) -> String {
        let (command, switches) = words.split_once(' ').unwrap_or((words, ""));
        let mut text = "pkgres".to_owned();
        let mut word = |word: &str| {
            text.push(' ');
            text.push_str(word);
        };
        if let Some(directory) = &self.directory {
            word("-C");
            word(&quoted(directory));
        }
        word(command);
        for project in projects {
            if PROJECT_IS_OPTION.contains(&command) {
                word("--manifest-path");
            }
            word(&quoted(project));
        }
        for flag in flags.iter().filter(|flag| !switches.contains(*flag)) {
            word(flag);
        }
        let is_new = |option: &&String| !switches.contains(option.as_str());
        for option in self.options.iter().filter(is_new) {
            word(option);
        }
        if !switches.is_empty() {
            word(switches);
        }
        text
    }
}

/// An option with each of its values, or by itself if it has none.
fn as_typed(matches: &ArgMatches, id: &str, option: &str) -> Vec<String> {
    let is_switch = matches!(matches.try_get_one::<bool>(id), Ok(Some(_)));
    let values = matches.try_get_raw(id).ok().flatten();
    if is_switch {
        return vec![option.to_owned()];
    }
    values
        .into_iter()
        .flatten()
        .map(Path::new)
        .filter(|value| !has_password(value))
        .map(|value| format!("{option} {}", quoted(value)))
        .collect()
}

/// Whether an address says who asks, which is shown nowhere.
fn has_password(value: &Path) -> bool {
    let value = value.to_string_lossy();
    let Some((_, address)) = value.split_once("://") else {
        return false;
    };
    let host = address.split(['/', '?', '#']).next().unwrap_or_default();
    host.contains('@')
}

/// A path as a word for a shell.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if text.starts_with('-') {
        // It would be an option.
        Cow::Owned(format!("./{text}"))
    } else {
        text
    };
    let is_plain = |character: char| {
        character.is_alphanumeric()
            || "_./@%+:,=-\\".contains(character) && is_plain_here(character)
    };
    // Some shells take the path of a command for a word that begins with `=`.
    let is_word = !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain);
    let text = if is_word {
        text
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', "'\\''")))
    };
    Escaped::new(&text).to_string()
}

/// Whether a character means nothing to the shells of this system. Elsewhere it separates folders.
fn is_plain_here(character: char) -> bool {
    character != '\\' || cfg!(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(directory: Option<&str>, projects: &[&str], flags: &[&'static str]) -> Given {
        Given {
            command: "tree".to_owned(),
            directory: directory.map(PathBuf::from),
            projects: projects.iter().map(PathBuf::from).collect(),
            flags: flags.to_vec(),
            options: Vec::new(),
        }
    }

    #[test]
    fn a_command_is_about_the_same_registries() {
        let grammar = crate::args::whole_grammar();
        let told = |words: &[&str], command: &str| {
            let words = ["pkgres", "tree"].iter().chain(words);
            let matches = grammar.clone().try_get_matches_from(words).expect("fits");
            let (name, matches) = matches.subcommand().expect("there is one");
            Given::new(name, matches, None).command(command)
        };
        assert_eq!(told(&["app"], "lock"), "pkgres lock app");
        let words = ["--registry", "dir:a", "--registry", "b=dir:b c"];
        assert_eq!(
            told(&words, "lock --check"),
            "pkgres lock --registry dir:a --registry 'b=dir:b c' --check"
        );
        let words = ["--no-core-library", "app", "--exclude-newer", "7 days"];
        assert_eq!(
            told(&words, "update"),
            "pkgres update --manifest-path app --no-core-library --exclude-newer '7 days'"
        );
        let words = ["--registry", "https://ann:secret@example.org/"];
        assert_eq!(told(&words, "lock"), "pkgres lock");
    }

    #[test]
    fn a_command_of_a_hint_can_be_run() {
        let grammar = crate::args::whole_grammar();
        let parse = |words: &[&str]| {
            let words = std::iter::once("pkgres").chain(words.iter().copied());
            grammar.clone().try_get_matches_from(words)
        };
        let given = [
            "tree",
            "--registry=dir:a",
            "--provide=b",
            "--ca-file=c",
            "--allow-http",
            "--prerelease=allow",
            "--prefer=oldest",
            "--exclude-newer=2026-01-31",
            "--single-version",
        ];
        for core in ["--no-core-library", "--core-library=a.Core"] {
            let matches = parse(&[&given[..], &[core]].concat()).expect("it fits");
            let (name, matches) = matches.subcommand().expect("there is one");
            let given = Given::new(name, matches, None);
            assert_eq!(given.options.len(), OPTIONS.len() - 1);
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
                let command = given.command(hint);
                let words: Vec<&str> = command.split(' ').skip(1).collect();
                if let Err(error) = parse(&words) {
                    panic!("{command}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_command_names_what_was_named() {
        let check = |given: &Given, words: &str, expected: &str| {
            assert_eq!(given.command(words), expected);
        };
        let nothing = Given::default();
        check(&nothing, "lock", "pkgres lock");
        check(&nothing, "lock --check", "pkgres lock --check");
        let one = given(Some("my folder"), &["app"], &[]);
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
        let several = given(None, &["one", "two"], &["--one-solve"]);
        check(&several, "lock", "pkgres lock one two --one-solve");
        check(&several, "tree", "pkgres tree");
        let workspace = given(None, &[], &["--workspace"]);
        check(&workspace, "lock", "pkgres lock --workspace");
        check(&workspace, "lock --workspace", "pkgres lock --workspace");
        check(&workspace, "update", "pkgres update --workspace");
        check(&workspace, "tree", "pkgres tree");
        let on = workspace.with("update", &[], &[Path::new("apps/one")]);
        assert_eq!(on, "pkgres update --manifest-path apps/one");
    }

    #[test]
    fn paths_are_words_of_a_shell() {
        let check = |path: &str, expected: &str| assert_eq!(quoted(Path::new(path)), expected);
        check("apps/one-2.0_x", "apps/one-2.0_x");
        check("\u{fc}n\u{ef}", "\u{fc}n\u{ef}");
        check("my app", "'my app'");
        check("it's", "'it'\\''s'");
        check("$(rm)", "'$(rm)'");
        check("~", "'~'");
        check("-x", "./-x");
        check("acme=dir:x", "acme=dir:x");
        check("=x", "'=x'");
        check("", "''");
    }
}
