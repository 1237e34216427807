//! From the words of the command line to arguments in which settings count as well.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, FromArgMatches as _};

use pkgres_manifest::diagnostic::{Code, Diagnostic};

use crate::args::{Arguments, grammar_of, version_alone, whole_grammar};
use crate::failure::{Failure, Result};
use crate::given::{self, Given};
use crate::settings::{self, DECLARED, Kind, Layers, Origin};

/// What the command line says by itself.
pub(crate) struct Words {
    given: Vec<OsString>,
    matches: ArgMatches,
    pub(crate) arguments: Arguments,
}

impl Words {
    /// The command that was given, and after a space the one below it, if there is one.
    pub(crate) fn command(&self) -> String {
        deepest(&self.matches).0.join(" ")
    }
}

/// Reads the command line.
pub(crate) fn words() -> std::result::Result<Words, clap::Error> {
    let words: Vec<OsString> = std::env::args_os().collect();
    // Nearly always one of the first words is the command, and nothing is wrong.
    let named = words.iter().skip(1).filter_map(|word| word.to_str());
    let mut named = named;
    let quick = named.find_map(grammar_of);
    let quick = quick.and_then(|grammar| grammar.try_get_matches_from(&words).ok());
    let matches = match quick {
        Some(matches) => matches,
        None if words.len() == 2 && (words[1] == "--version" || words[1] == "-V") => {
            version_alone().try_get_matches_from(&words)?
        }
        None => whole_grammar()
            .try_get_matches_from(&words)
            .map_err(with_tip)?,
    };
    let arguments = Arguments::from_arg_matches(&matches)?;
    Ok(Words {
        given: words,
        matches,
        arguments,
    })
}

/// Says of an option that only one command has which that is.
fn with_tip(mut error: clap::Error) -> clap::Error {
    let is_workspace = matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(option)) if option == "--workspace"
    );
    if is_workspace && error.kind() == ErrorKind::UnknownArgument {
        let tip = "only 'pkgres lock' and 'pkgres update' are about all members of a workspace; name one of them here";
        let tip = ContextValue::StyledStrs(vec![tip.to_owned().into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// Whether a command line that makes no sense as a whole asks for JSON.
pub(crate) fn asks_for_json() -> bool {
    is_json_asked(std::env::args_os())
}

fn is_json_asked(words: impl Iterator<Item = OsString>) -> bool {
    let mut options = words.take_while(|word| word != "--");
    let mut is_json = false;
    while let Some(word) = options.next() {
        if word == "--format" {
            is_json = options.next().is_some_and(|format| format == "json");
        } else if let Some(option) = word.to_str()
            && let Some(format) = option.strip_prefix("--format=")
        {
            is_json = format == "json";
        }
    }
    is_json
}

/// What is wrong with a command line, as a finding: the message, and each tip as a hint.
pub(crate) fn failure_of(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n");
    let message = paragraphs.next().unwrap_or_default();
    let message: Vec<&str> = message.lines().map(str::trim).collect();
    let message = message.join(" ");
    let finding = Diagnostic::error(Code::Usage, message.trim_start_matches("error: "));
    let lines = paragraphs.flat_map(str::lines).map(str::trim);
    let tips = lines.filter_map(|line| line.strip_prefix("tip: "));
    tips.fold(finding, Diagnostic::hint).into()
}

/// Reads settings, makes them the defaults of what the command line does not say, and makes them
/// known to the run. Goes to the folder that the run is to begin in.
pub(crate) fn with_settings(words: Words) -> Result<Arguments> {
    if let Some(folder) = &words.arguments.shared.directory {
        std::env::set_current_dir(folder).map_err(|error| {
            let folder = folder.to_string_lossy();
            let folder = pkgres_manifest::diagnostic::Escaped::new(&folder);
            Failure::usage(format!("--directory: {folder}: {error}"))
        })?;
    }
    let (path, deepest) = deepest(&words.matches);
    let command = path.last().map_or("", String::as_str);
    let directory = words.arguments.shared.directory.as_deref();
    given::install(Given::new(command, deepest, directory));
    let user_file = match &words.arguments.shared.config {
        Some(file) => Some(file.clone()),
        None => std::env::var_os("PKGRES_CONFIG")
            .filter(|value| !value.is_empty())
            .map(PathBuf::from),
    };
    let layers = Layers::read(&folder(deepest), user_file.as_deref(), &flags(deepest))?;
    let arguments = if layers.has_values() {
        let command = path.first().and_then(|word| grammar_of(word));
        let command = command.unwrap_or_else(whole_grammar);
        let command = with_defaults(command, &path, &layers);
        let parsed = command.try_get_matches_from(&words.given);
        let parsed = parsed.and_then(|matches| Arguments::from_arg_matches(&matches));
        parsed.map_err(|error| failure_of(&error))?
    } else {
        words.arguments
    };
    check_version(&layers)?;
    settings::install(layers);
    Ok(arguments)
}

/// A project may say which versions of pkgres it can be used with.
fn check_version(layers: &Layers) -> Result<()> {
    let Some(wanted) = layers.get("required-version") else {
        return Ok(());
    };
    let Origin::File(file) = &wanted.origin else {
        return Ok(());
    };
    let usage = |message: String| Err(Failure::usage(message));
    let shown = Origin::File(file.clone());
    let spec = match pkgres_manifest::Spec::parse(&wanted.value) {
        Ok(spec) => spec,
        Err(error) => return usage(format!("{shown}: required-version: {error}")),
    };
    let version = env!("CARGO_PKG_VERSION");
    let is_right =
        pkgres_manifest::Version::parse(version).is_ok_and(|version| spec.matches(&version));
    if is_right {
        return Ok(());
    }
    let message = format!("{shown} requires pkgres {spec}, and this is pkgres {version}");
    let finding = Diagnostic::error(Code::Usage, message)
        .hint("install a pkgres that fits, or change `required-version` if it should not matter");
    Err(finding.into())
}

/// The names of the subcommands that were given, and what was given to the last.
fn deepest(matches: &ArgMatches) -> (Vec<String>, &ArgMatches) {
    let (mut path, mut matches) = (Vec::new(), matches);
    while let Some((name, below)) = matches.subcommand() {
        path.push(name.to_owned());
        matches = below;
    }
    (path, matches)
}

/// The folder whose project's settings count.
fn folder(matches: &ArgMatches) -> PathBuf {
    let path = |id: &str| {
        let found = matches.try_get_one::<PathBuf>(id);
        found.ok().flatten().cloned()
    };
    let list = |id: &str| {
        let found = matches.try_get_many::<PathBuf>(id);
        found
            .ok()
            .flatten()
            .and_then(|mut paths| paths.next().cloned())
    };
    let named = path("manifest")
        .or_else(|| path("subject"))
        .or_else(|| path("folder"))
        .or_else(|| list("paths"))
        .or_else(|| path("model"));
    match named {
        Some(folder) if folder.is_dir() => folder,
        Some(file) => match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        },
        None => PathBuf::from("."),
    }
}

fn id(key: &str) -> String {
    key.replace('-', "_")
}

/// The settings that the command line gives.
fn flags(matches: &ArgMatches) -> Vec<&'static str> {
    let is_given = |id: &str| {
        matches.try_contains_id(id).is_ok()
            && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    DECLARED
        .iter()
        .map(|setting| setting.key)
        .filter(|key| is_given(&id(key)))
        .collect()
}

/// The grammar in which settings are the defaults of arguments.
fn with_defaults(command: Command, path: &[String], layers: &Layers) -> Command {
    let mut command = command;
    for value in &layers.values {
        let is_said = matches!(value.origin, Origin::Variable(_) | Origin::File(_));
        let names_core = layers
            .get("core-library")
            .is_some_and(|core| matches!(core.origin, Origin::Flag(_)));
        // To name a core library is to have one.
        let is_out = names_core && value.declared.key == "no-core-library";
        if !value.declared.has_flag || !is_said || is_out {
            continue;
        }
        if value.declared.kind == Kind::Flag && value.value == "false" {
            continue;
        }
        let id = id(value.declared.key);
        if command
            .get_arguments()
            .any(|argument| argument.get_id() == &id)
        {
            // The grammar lives as long as the run, and there are few settings.
            let text: &'static str = Box::leak(value.value.clone().into_boxed_str());
            command = command.mut_arg(&id, |argument| argument.default_value(text));
        }
    }
    match path.split_first() {
        Some((name, rest)) => {
            command.mut_subcommand(name, |below| with_defaults(below, rest, layers))
        }
        None => command,
    }
}

/// What a path is relative to, if it names no folder.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    let parent = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_that_makes_no_sense_can_ask_for_json() {
        let is_asked = |line: &str| is_json_asked(line.split(' ').map(OsString::from));
        assert!(is_asked("pkgres lock --bogus --format json"));
        assert!(is_asked("pkgres --format=json bogus"));
        assert!(is_asked("pkgres lock --format text --format json"));
        assert!(!is_asked("pkgres lock --bogus"));
        assert!(!is_asked("pkgres lock --format"));
        assert!(!is_asked("pkgres lock --format=json --format text"));
        assert!(!is_asked("pkgres add -- --format json"));
    }
}
