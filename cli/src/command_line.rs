//! Parses the command line into arguments and a context, with settings as defaults.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, ColorChoice, Command, FromArgMatches as _};
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Spec, Version};
use pkgres_settings::{
    DECLARED, Declared, Files, Kind, MAX_SETTINGS_BYTES, SettingValue, SettingsFile,
};

use crate::args::{Arguments, GlobalArgs, grammar_of, version_grammar};
use crate::context::Context;
use crate::environment::{settings_file, variable};
use crate::failure::{Failure, Result};
use crate::help::whole_grammar;
use crate::invocation::Invocation;
use crate::output::Output;
use crate::project_argument::{ProjectArgument, is_explicit};
use crate::project_lock::ProjectLocks;
use crate::read_manifest::folder_of;
use crate::root::project_above;
use crate::settings::{Origin, Settings};
use crate::usage_error::{failure_of, with_tip};

/// A parsed command line, without settings.
pub(crate) struct CommandLine {
    words: Vec<OsString>,
    matches: ArgMatches,
    arguments: Arguments,
}

impl CommandLine {
    /// Parses the command line of this process.
    pub(crate) fn read() -> std::result::Result<Self, clap::Error> {
        Self::parse(std::env::args_os().collect())
    }

    fn parse(words: Vec<OsString>) -> std::result::Result<Self, clap::Error> {
        // Nearly always one of the first words is the command, and there is no error.
        let mut names = words.iter().skip(1).filter_map(|word| word.to_str());
        let quick = names
            .find_map(grammar_of)
            .and_then(|grammar| grammar.try_get_matches_from(&words).ok());
        let matches = match quick {
            Some(matches) => matches,
            None if words.len() == 2 && (words[1] == "--version" || words[1] == "-V") => {
                version_grammar().try_get_matches_from(&words)?
            }
            None => whole_grammar()
                .color(color_of(&words))
                .try_get_matches_from(&words)
                .map_err(|error| with_tip(error, &words))?,
        };
        let arguments = Arguments::from_arg_matches(&matches)?;
        Ok(Self {
            words,
            matches,
            arguments,
        })
    }

    /// The name of the command, followed by that of its subcommand, if it has one.
    pub(crate) fn command(&self) -> String {
        deepest(&self.matches).0.join(" ")
    }

    /// The arguments, without settings.
    pub(crate) fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// Changes to the working directory of the run, reads its settings, and makes them the defaults of the
    /// arguments. Locks the project if the command changes it.
    pub(crate) fn with_settings(self) -> Result<(Arguments, Context, ProjectLocks)> {
        if let Some(folder) = &self.arguments.global.directory {
            std::env::set_current_dir(folder).map_err(|error| {
                let folder = folder.to_string_lossy();
                let folder = Escaped::new(&folder);
                Failure::usage(format!("--directory: {folder}: {error}"))
            })?;
        }
        let (_, deepest) = deepest(&self.matches);
        let above = ProjectArgument::above(deepest, project_above);
        let folders = match (&above, ProjectArgument::of(deepest)) {
            (Some((_, path)), _) => vec![folder_of(path)],
            (None, Some(argument)) => argument.folders(),
            (None, None) => vec![PathBuf::from(".")],
        };
        let folder = &folders[0];
        let (arguments, invocation, settings) = self.with_settings_of(folder, above)?;
        let mut output = Output::new(&arguments);
        let locks = ProjectLocks::take(&arguments.command, &folders, &settings, &mut output)?;
        let context = Context::new(&arguments.command, invocation, settings)?;
        Ok((arguments, context, locks))
    }

    /// The arguments and the context of the command line of a run for one of its projects, which may have settings of
    /// its own.
    pub(crate) fn for_project(context: &Context, folder: &Path) -> Result<(Arguments, Context)> {
        let words = context.invocation.words().to_vec();
        let line = Self::parse(words).map_err(|error| failure_of(&error))?;
        let (arguments, invocation, settings) = line.with_settings_of(folder, None)?;
        let context = Context::new(&arguments.command, invocation, settings)?;
        Ok((arguments, context))
    }

    /// Makes the settings of a folder the defaults of the arguments. `above` is the default of the argument that names
    /// the project.
    fn with_settings_of(
        self,
        folder: &Path,
        above: Option<(&'static str, PathBuf)>,
    ) -> Result<(Arguments, Invocation, Settings)> {
        let GlobalArgs {
            directory, config, ..
        } = &self.arguments.global;
        let (path, deepest) = deepest(&self.matches);
        let invocation = Invocation::new(
            &self.words,
            &path.join(" "),
            deepest,
            directory.as_deref(),
            config.as_deref(),
        );
        let user_file = (config.clone()).or_else(|| variable("PKGRES_CONFIG").map(PathBuf::from));
        let is_written = path == ["config", "set"] || path == ["config", "unset"];
        let explicit = explicit_settings(deepest);
        let settings = Settings::read(folder, user_file.as_deref(), &explicit, is_written)?;
        let arguments = if settings.flag_defaults().next().is_some() || above.is_some() {
            let grammar = path.first().and_then(|name| grammar_of(name));
            let mut grammar =
                with_defaults(grammar.unwrap_or_else(whole_grammar), &path, &settings);
            if let Some((id, default)) = above {
                grammar = with_default(grammar, &path, id, default.into_os_string());
            }
            grammar
                .try_get_matches_from(&self.words)
                .and_then(|matches| Arguments::from_arg_matches(&matches))
                .map_err(|error| failure_of(&error))?
        } else {
            self.arguments
        };
        if needs_required_version(&path, deepest) {
            check_required_version(&settings)?;
        }
        Ok((arguments, invocation.under(&settings), settings))
    }
}

/// Gives an argument of the command at a path another default.
fn with_default(grammar: Command, path: &[String], id: &'static str, default: OsString) -> Command {
    match path {
        [] => grammar.mut_arg(id, |argument| argument.default_value(default)),
        [name, rest @ ..] => {
            grammar.mut_subcommand(name, |command| with_default(command, rest, id, default))
        }
    }
}

/// Whether a command line that does not parse requests JSON.
pub(crate) fn requests_json() -> bool {
    has_json_format(std::env::args_os())
}

fn has_json_format(words: impl Iterator<Item = OsString>) -> bool {
    last_value("--format", words).is_some_and(|format| format == "json")
}

/// The last value of an option in a command line that may not parse.
fn last_value(option: &str, words: impl Iterator<Item = OsString>) -> Option<OsString> {
    let mut words = words.take_while(|word| word != "--");
    let mut last = None;
    while let Some(word) = words.next() {
        if word == option {
            last = words.next();
        } else if let Some(word) = word.to_str()
            && let Some(value) = word
                .strip_prefix(option)
                .and_then(|rest| rest.strip_prefix('='))
        {
            last = Some(value.into());
        }
    }
    last
}

/// When to color help and usage errors, which are printed before the settings are read.
fn color_of(words: &[OsString]) -> ColorChoice {
    let choice = last_value("--color", words.iter().cloned())
        .or_else(|| variable("PKGRES_COLOR"))
        .or_else(|| color_in_settings(words));
    match choice.as_ref().and_then(|choice| choice.to_str()) {
        Some("never") => ColorChoice::Never,
        Some("always") => ColorChoice::Always,
        _ => ColorChoice::Auto,
    }
}

/// The color in the settings file of the user. If the file cannot be read, the run does not report that: it ends with an
/// error of its own.
fn color_in_settings(words: &[OsString]) -> Option<OsString> {
    let value = |option| last_value(option, words.iter().cloned());
    let named = value("--config").or_else(|| variable("PKGRES_CONFIG"));
    let path = named.map(PathBuf::from).or_else(settings_file)?;
    let folder = value("--directory").or_else(|| value("-C"));
    let path = PathBuf::from(folder.unwrap_or_default()).join(path);
    let bytes = read_file(&path, MAX_SETTINGS_BYTES, Follow::Links).ok()?;
    let file = SettingsFile::parse(&path, &bytes, Files::User).ok()?;
    match file.value("color")? {
        SettingValue::Text(choice) => Some(choice.into()),
        _ => None,
    }
}

/// When to color the usage error of a command line that does not parse.
pub(crate) fn color() -> ColorChoice {
    let words: Vec<OsString> = std::env::args_os().collect();
    color_of(&words)
}

/// Whether a command does something with the project, so that the version has to match. Others show or change settings,
/// or print texts: the way to another version needs them.
fn needs_required_version(path: &[String], matches: &ArgMatches) -> bool {
    match path.first().map_or("", String::as_str) {
        "cache" | "completions" | "config" | "man" | "schema" => false,
        "explain" => {
            // Codes and rules are no paths, and the list of them is about no project.
            let subject = matches.get_one::<PathBuf>("subject");
            !matches.get_flag("list") && subject.is_none_or(|subject| subject.exists())
        }
        _ => true,
    }
}

/// Checks the version of pkgres that the project requires.
fn check_required_version(settings: &Settings) -> Result<()> {
    let Some(required) = settings.get("required-version") else {
        return Ok(());
    };
    let Origin::File(_) = &required.origin else {
        return Ok(());
    };
    let file = &required.origin;
    let spec = Spec::parse(&required.value.to_string())
        .map_err(|error| Failure::usage(format!("{file}: required-version: {error}")))?;
    let version = env!("CARGO_PKG_VERSION");
    if Version::parse(version).is_ok_and(|version| spec.matches(&version)) {
        return Ok(());
    }
    let message = format!("{file} requires pkgres {spec}, but this is pkgres {version}");
    let finding = Diagnostic::error(Code::Usage, message)
        .hint("install a matching version of pkgres, or change `required-version`");
    Err(finding.into())
}

/// The names of the command and its subcommands, and the arguments of the last one.
fn deepest(matches: &ArgMatches) -> (Vec<String>, &ArgMatches) {
    let (mut path, mut matches) = (Vec::new(), matches);
    while let Some((name, below)) = matches.subcommand() {
        path.push(name.to_owned());
        matches = below;
    }
    (path, matches)
}

/// The id of the argument of a setting.
fn argument_id(key: &str) -> String {
    key.replace('-', "_")
}

/// The settings that the command line sets, with their values.
fn explicit_settings(matches: &ArgMatches) -> Vec<(&'static str, SettingValue)> {
    let explicit = |setting: &&Declared| is_explicit(matches, &argument_id(setting.key));
    let value = |setting: &'static Declared| {
        let raw = matches
            .try_get_raw(&argument_id(setting.key))
            .ok()
            .flatten();
        let mut texts = raw.into_iter().flatten().map(|text| text.to_string_lossy());
        let value = match setting.kind {
            Kind::Flag => SettingValue::Flag(true),
            Kind::List => SettingValue::List(texts.map(Cow::into_owned).collect()),
            kind => {
                let text = texts.next_back().unwrap_or_default().into_owned();
                // The grammar accepts what the parser of the argument accepts.
                SettingValue::parse(kind, &text).unwrap_or(SettingValue::Text(text))
            }
        };
        (setting.key, value)
    };
    DECLARED.iter().filter(explicit).map(value).collect()
}

/// A grammar in which settings are the defaults of the arguments of a command.
fn with_defaults(mut command: Command, path: &[String], settings: &Settings) -> Command {
    let names_core = settings
        .get("core-library")
        .is_some_and(|core| matches!(core.origin, Origin::Flag(_)));
    for setting in settings.flag_defaults() {
        // An explicit core library overrides the setting that there is none.
        let is_overridden = names_core && setting.declared.key == "no-core-library";
        let is_unset = setting.value == SettingValue::Flag(false);
        if is_overridden || is_unset {
            continue;
        }
        let id = argument_id(setting.declared.key);
        if command
            .get_arguments()
            .any(|argument| argument.get_id() == &id)
        {
            let default = OsString::from(setting.value.to_string());
            command = command.mut_arg(&id, |argument| argument.default_value(default));
        }
    }
    match path.split_first() {
        Some((name, rest)) => {
            command.mut_subcommand(name, |below| with_defaults(below, rest, settings))
        }
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_that_does_not_parse_can_ask_for_json() {
        let requests_json = |line: &str| has_json_format(line.split(' ').map(OsString::from));
        assert!(requests_json("pkgres lock --bogus --format json"));
        assert!(requests_json("pkgres --format=json bogus"));
        assert!(requests_json("pkgres lock --format text --format json"));
        assert!(!requests_json("pkgres lock --bogus"));
        assert!(!requests_json("pkgres lock --format"));
        assert!(!requests_json("pkgres lock --format=json --format text"));
        assert!(!requests_json("pkgres add -- --format json"));
    }
}
