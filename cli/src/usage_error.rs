//! Command lines that do not parse: adds what helps to the parser's message, and fits the message to the terminal.

use std::ffi::OsString;
use std::iter;

use clap::builder::PossibleValue;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, Command};
use pkgres_manifest::diagnostic::{Code, Diagnostic, sentence_list, without_credentials};
use pkgres_manifest::{PackageName, most_similar};

use crate::args::commands_with;
use crate::early_output;
use crate::failure::Failure;
use crate::help::whole_grammar;
use crate::invocation::quoted_word;
use crate::show::counted;

/// The most commands that a tip names.
const MAX_NAMED_COMMANDS: usize = 4;

/// Commands of other package managers, and what there is here.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["new", "create"], "'pkgres init FOLDER' creates a package"),
    (
        &["generate-lockfile", "freeze", "relock"],
        "'pkgres lock' writes the lockfile",
    ),
    (
        &["upgrade", "up", "bump"],
        "'pkgres update' updates to newer versions, 'pkgres outdated' lists them",
    ),
    (
        &["list", "ls", "deps", "dependencies"],
        "'pkgres tree' shows the packages of a project, 'pkgres search WORD' those of the registries",
    ),
    (
        &["show", "view", "describe"],
        "'pkgres info PACKAGE' shows a package",
    ),
    (
        &["find", "query"],
        "'pkgres search WORD' looks for packages",
    ),
    (
        &["audit", "scan"],
        "'pkgres export' writes a bill of materials for a scanner, 'pkgres verify' compares digests, and 'pkgres \
         outdated' lists newer versions",
    ),
    (
        &["sbom", "bom", "licenses"],
        "'pkgres export' writes a bill of materials: CycloneDX, or SPDX with '--format spdx'",
    ),
    (
        &["build", "package", "zip"],
        "'pkgres pack' makes the archive of a package",
    ),
    (
        &["test", "lint", "fmt"],
        "'pkgres check' finds mistakes in packages",
    ),
    (
        &["uninstall", "rm", "delete", "drop"],
        "'pkgres remove PACKAGE' removes a requirement",
    ),
    (
        &["sync", "restore", "pull", "download", "get"],
        "'pkgres fetch' gets the locked releases, 'pkgres lock' chooses them",
    ),
    (
        &["run", "deploy", "start", "up-to-date"],
        "'pkgres apply --target TARGET' changes a machine, 'pkgres plan' only compares it",
    ),
    (
        &["push", "upload", "release"],
        "'pkgres publish' publishes a package",
    ),
    (
        &["unpublish", "deprecate", "unyank"],
        "'pkgres yank NAME VERSION --reason TEXT' yanks a release, '--undo' undoes that",
    ),
    (&["version"], "'pkgres --version' prints the version"),
    (&["clean"], "'pkgres cache clean' empties the cache"),
    (
        &["status", "locked"],
        "'pkgres lock --check' says whether the lockfile is up to date",
    ),
    (&["server", "registry"], "'pkgres serve' runs a registry"),
];

/// Words of other programs after a command, and what there is here.
const SUBCOMMANDS_ELSEWHERE: &[(&str, &[&str], &str)] = &[
    (
        "config",
        &["show", "ls", "edit"],
        "'pkgres config list' shows all settings",
    ),
    (
        "cache",
        &["prune", "clear", "purge", "gc"],
        "'pkgres cache clean' empties the cache, 'pkgres cache verify' removes only what is damaged",
    ),
];

/// Options of other programs, and what there is here.
const OPTIONS_ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &["-p"],
        "'pkgres -C FOLDER COMMAND' runs in the folder of a member",
    ),
    (
        &["-v", "-vv", "--verbose"],
        "'pkgres explain' shows the reasons of a conflict, 'pkgres --version' the version",
    ),
    (&["--json"], "'--format json' prints JSON"),
    (
        &["--token", "--password"],
        "others can see what is on a command line: 'pkgres login' stores a token, and PKGRES_TOKEN_NAME is the one for the \
         registry NAME",
    ),
    (
        &["--port", "--host", "--address"],
        "'--listen 127.0.0.1:8080' sets the address and the port",
    ),
    (&["-y", "--yes"], "nothing asks for confirmation"),
    (
        &["-n"],
        "'--dry-run' shows what would change, and writes nothing",
    ),
    (
        &["--upgrade", "-U", "--upgrade-package", "-P"],
        "'pkgres update' updates packages to newer versions",
    ),
    (
        &["--latest", "--aggressive", "--recursive"],
        "'pkgres update' without packages moves all of them as far as the requirements allow, 'pkgres outdated' lists \
         what holds them back",
    ),
    (
        &["--pre"],
        "'--prerelease allow' lets prereleases be chosen like other versions",
    ),
    (
        &["--outdated"],
        "'pkgres outdated' lists packages with newer versions",
    ),
    (
        &["--cwd", "--chdir", "--dir"],
        "'-C FOLDER' changes to a folder before doing anything",
    ),
    (
        &["--no-color", "--nocolor"],
        "'--color never' prints no colors, and so does the variable NO_COLOR",
    ),
    (
        &["--dev", "--optional", "--features", "--build"],
        "all requirements of a package are of one kind, and there are no features",
    ),
    (
        &["-F"],
        "there are no features, and '--format' sets the format",
    ),
    (
        &["-o", "--out"],
        "the result is on stdout, which '> FILE' writes into a file",
    ),
    (
        &["--vers"],
        "the version follows the package: 'pkgres yank PACKAGE VERSION --reason TEXT'",
    ),
    (
        &["--breaking"],
        "'pkgres add PACKAGE@VERSION' requires another version, 'pkgres outdated' lists them",
    ),
    (
        &["--path", "--git"],
        "'--registry dir:FOLDER' takes packages from the folders in a folder",
    ),
    (
        &["--bin", "--lib"],
        "'--template application', 'library' or 'plugin' says what 'pkgres init' creates",
    ),
    (
        &["--fix"],
        "'pkgres repair' finds changes that solve a conflict; other findings say how to fix them",
    ),
];

/// The tip about a token on the command line of a command that reads one.
const LOGIN_TIP: &str =
    "others can see what is on a command line: use '--token-file FILE', or pass the token on stdin";

/// What the standard library says about values, and what it means for people.
const PLAIN: &[(&str, &str)] = &[
    ("invalid digit found in string", "an integer is expected"),
    (
        "cannot parse integer from empty string",
        "a number is expected",
    ),
    (
        "number too large to fit in target type",
        "the number is too large",
    ),
    (
        "number too small to fit in target type",
        "the number is too small",
    ),
    ("number would be zero for non-zero type", "it cannot be 0"),
];

/// Adds what helps to an error about a command line: what a command or an option of another program is called here, which
/// values are possible, which commands take `--workspace`, and what a target is.
pub(crate) fn with_tip(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (argument, command) = (
        text(ContextKind::InvalidArg),
        text(ContextKind::InvalidSubcommand),
    );
    match error.kind() {
        ErrorKind::MissingRequiredArgument => {
            let missing = match error.get(ContextKind::InvalidArg) {
                Some(ContextValue::Strings(missing)) => missing.clone(),
                _ => Vec::new(),
            };
            let tips = tips_about_missing(&missing, words);
            if !tips.is_empty() {
                add_tips(&mut error, tips);
            }
        }
        ErrorKind::UnknownArgument => {
            // No value begins with a hyphen, so that nobody meant to write one.
            error.remove(ContextKind::Suggested);
            let command = command_of(words);
            if let Some(tip) = argument.and_then(|option| tip_about_option(&option, &command)) {
                // A similar option of this command is something else, and the usage of the parser has it.
                error.remove(ContextKind::SuggestedArg);
                let usage = command.clone().render_usage();
                error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
                add_tips(&mut error, vec![tip]);
            }
        }
        ErrorKind::InvalidSubcommand => {
            let is_command = command_of(words).get_name() == "pkgres";
            let written = command.unwrap_or_default();
            if let Some(tip) = tip_about(ELSEWHERE, &written).filter(|_| is_command) {
                error.remove(ContextKind::SuggestedSubcommand);
                add_tips(&mut error, vec![tip]);
            } else if let Some(tip) = tip_about_subcommand(&written, &command_of(words)) {
                error.remove(ContextKind::SuggestedSubcommand);
                add_tips(&mut error, vec![tip]);
            } else {
                suggest_subcommand(&mut error, &written, &command_of(words));
            }
        }
        _ => {}
    }
    error
}

/// Replaces the subcommands that the parser suggests, which are many and can be hidden ones, by the most similar one.
fn suggest_subcommand(error: &mut clap::Error, written: &str, command: &Command) {
    let known = command.get_subcommands();
    let known = known.filter(|one| !one.is_hide_set());
    let known = known.flat_map(|one| iter::once(one.get_name()).chain(one.get_visible_aliases()));
    error.remove(ContextKind::SuggestedSubcommand);
    if let Some(similar) = most_similar(written, known) {
        let similar = ContextValue::Strings(vec![similar.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, similar);
    } else {
        // An empty list leaves a blank line.
        error.remove(ContextKind::Suggested);
    }
}

/// A tip about a word after a command: a word of another program, or a package that a command below is about.
fn tip_about_subcommand(written: &str, command: &Command) -> Option<String> {
    if command.get_name() == "owner" && PackageName::parse(written).is_ok() && written.contains('.')
    {
        return Some(format!(
            "'pkgres owner list {written}' lists the owners of a package"
        ));
    }
    let mut known = SUBCOMMANDS_ELSEWHERE.iter();
    let (_, _, tip) =
        known.find(|(name, words, _)| *name == command.get_name() && words.contains(&written))?;
    Some((*tip).to_owned())
}

fn add_tips(error: &mut clap::Error, tips: Vec<String>) {
    let tips = tips.into_iter().map(Into::into).collect();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
}

fn tip_about(table: &[(&[&str], &str)], word: &str) -> Option<String> {
    let found = table.iter().find(|(words, _)| words.contains(&word));
    found.map(|(_, tip)| (*tip).to_owned())
}

/// The command that words name, as far as they name one.
fn command_of(words: &[OsString]) -> Command {
    let mut command = whole_grammar();
    command.build();
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(below) = command.find_subcommand(word) {
            command = below.clone();
        }
    }
    command
}

/// The command `plan` as it was typed, or without arguments if they are those of another command, need quotes, or can be
/// followed by no option.
fn plan_like(words: &[OsString]) -> String {
    let typed = words.iter().skip(1);
    let typed = typed.map(|word| quoted_word(&word.to_string_lossy()));
    let typed = typed.collect::<Vec<_>>().join(" ");
    let takes_option = !typed.contains('\'') && !words.iter().any(|word| word == "--");
    if command_of(words).get_name() == "plan" && takes_option {
        format!("pkgres {typed}")
    } else {
        "pkgres plan".to_owned()
    }
}

/// What missing arguments can be.
fn tips_about_missing(missing: &[String], words: &[OsString]) -> Vec<String> {
    if missing
        .iter()
        .any(|missing| missing.starts_with("--target "))
    {
        let mut tips = vec![
            "a target is 'local:' for this machine, 'rootfs:PATH' for a folder that holds the root of another one, or \
             'ssh://USER@HOST:PORT'"
                .to_owned(),
        ];
        if matches!(command_of(words).get_name(), "plan" | "apply") {
            let plan = plan_like(words);
            tips.push(format!(
                "'{plan} --target local:' compares this machine with the resources, and changes nothing"
            ));
        }
        return tips;
    }
    let command = command_of(words);
    let tips = missing.iter().filter_map(|missing| {
        let mut arguments = command.get_arguments();
        let argument = arguments.find(|argument| argument.to_string() == *missing)?;
        let values = argument.get_possible_values();
        let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        let (last, others) = values.split_last()?;
        Some(format!(
            "'{missing}' can be {} or {last}",
            others.join(", ")
        ))
    });
    tips.collect()
}

/// A tip about an option that the command lacks: which commands have it, or what replaces an option of another program.
fn tip_about_option(option: &str, command: &Command) -> Option<String> {
    let mut positionals = command.get_positionals();
    let project =
        positionals.find(|argument| matches!(argument.get_id().as_str(), "manifest" | "paths"));
    if option == "--manifest-path" && project.is_some() {
        let positionals = command.get_positionals().map(ToString::to_string);
        let positionals: Vec<String> = positionals.collect();
        return Some(format!(
            "the manifest or its folder is an argument here: 'pkgres {} {}'",
            command.get_name(),
            positionals.join(" ")
        ));
    }
    let commands = option
        .strip_prefix("--")
        .map_or_else(Vec::new, commands_with);
    if option == "--workspace" {
        let commands = commands.join("', 'pkgres ");
        return Some(format!(
            "'pkgres {commands}' take all members of a workspace; name one member here"
        ));
    }
    if commands.is_empty() {
        let has = |name: &str| {
            let mut arguments = command.get_arguments();
            arguments.any(|argument| argument.get_long() == Some(name))
        };
        if has("token-file") && ["--token", "--password"].contains(&option) {
            return Some(LOGIN_TIP.to_owned());
        }
        let tip = tip_about(OPTIONS_ELSEWHERE, option)?;
        // The command may lack what replaces the option.
        let replacement = tip.strip_prefix("'--").map(|rest| {
            let end = rest.find([' ', '\'']).unwrap_or(rest.len());
            &rest[..end]
        });
        return match replacement.filter(|name| !has(name)) {
            Some(name) => owners_of(&format!("--{name}"), &commands_with(name)),
            None => Some(tip),
        };
    }
    owners_of(option, &commands)
}

/// A tip about an option that other commands have.
fn owners_of(option: &str, commands: &[String]) -> Option<String> {
    if commands.is_empty() {
        return None;
    }
    let shown = commands.iter().take(MAX_NAMED_COMMANDS);
    let mut named: Vec<String> = shown.map(|name| format!("'pkgres {name}'")).collect();
    let more = commands.len() - named.len();
    if more > 0 {
        named.push(counted(more, "other command"));
    }
    let verb = if named.len() == 1 { "has" } else { "have" };
    Some(format!("{} {verb} '{option}'", sentence_list(named, "and")))
}

/// A text of the parser with plain words for what the standard library says about values.
fn in_plain_words(text: &str) -> String {
    let mut plain = text.to_owned();
    for (words, replacement) in PLAIN {
        plain = plain.replace(&format!(": {words}"), &format!(": {replacement}"));
    }
    plain
}

/// Writes the error to stderr.
pub(crate) fn report(error: &clap::Error, color: ColorChoice) {
    early_output::usage_error(&shown(&error.render().ansi().to_string()), color);
}

/// The text of an error as it is shown. It repeats words of the command line, which can have any characters, and
/// passwords in addresses.
fn shown(text: &str) -> String {
    in_plain_words(&without_credentials(text))
}

/// The error as a finding, with its tips as hints.
pub(crate) fn failure_of(error: &clap::Error) -> Failure {
    let text = shown(&error.to_string());
    let mut paragraphs = text.split("\n\n");
    let message = paragraphs.next().unwrap_or_default();
    let message: Vec<&str> = message.lines().map(str::trim).collect();
    let message = message.join(" ");
    let finding = Diagnostic::error(Code::Usage, message.trim_start_matches("error: "));
    let lines = paragraphs.flat_map(str::lines).map(str::trim);
    let tips = lines.filter_map(|line| line.strip_prefix("tip: "));
    tips.fold(finding, Diagnostic::hint).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message for a command line that does not parse.
    fn message(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = whole_grammar()
            .try_get_matches_from(&words)
            .expect_err(line);
        shown(&with_tip(error, &words).to_string())
    }

    #[test]
    fn a_tip_names_the_commands_that_have_an_option() {
        let tip = |option| tip_about_option(option, &command_of(&["pkgres".into()]));
        assert_eq!(tip("--diff").as_deref(), Some("'pkgres plan' has '--diff'"));
        let nested = "'pkgres config list' has '--show-origin'";
        assert_eq!(tip("--show-origin").as_deref(), Some(nested));
        let many = tip("--registry").expect("commands have it");
        assert!(
            many.ends_with(" other commands have '--registry'"),
            "{many}"
        );
        assert_eq!(tip("--bogus"), None);
        assert_eq!(tip("-z"), None);
    }

    #[test]
    fn words_of_other_programs_are_no_words_here() {
        let grammar = whole_grammar();
        for (words, _) in ELSEWHERE {
            for word in *words {
                assert!(grammar.find_subcommand(word).is_none(), "{word}");
                let message = message(&format!("pkgres {word}"));
                assert_eq!(message.matches("  tip: ").count(), 1, "{message}");
            }
        }
        for (command, words, tip) in SUBCOMMANDS_ELSEWHERE {
            for word in *words {
                let message = message(&format!("pkgres {command} {word}"));
                assert!(message.contains(tip), "{message}");
            }
        }
        let message_of_owner = message("pkgres owner org.acme.Db");
        assert!(
            message_of_owner.contains("'pkgres owner list org.acme.Db'"),
            "{message_of_owner}"
        );
        for (options, tip) in OPTIONS_ELSEWHERE {
            for option in *options {
                let message = message(&format!("pkgres serve {option}"));
                let is_elsewhere = [" has '--", " have '--"]
                    .iter()
                    .any(|has| message.contains(has));
                assert!(message.contains(tip) || is_elsewhere, "{message}");
            }
        }
    }

    #[test]
    fn options_of_other_programs_do_not_become_values_or_similar_options() {
        for line in [
            "pkgres lock --upgrade",
            "pkgres lock -U",
            "pkgres tree --outdated",
            "pkgres add --dev a",
            "pkgres tree -e all",
            "pkgres add -n a",
        ] {
            let message = message(line);
            assert!(!message.contains("as a value"), "{message}");
            assert!(!message.contains("a similar"), "{message}");
            let usage = message.split("Usage: ").nth(1).unwrap_or_default();
            assert!(!usage.starts_with("pkgres lock --"), "{message}");
        }
    }

    #[test]
    fn a_manifest_that_is_an_argument_is_no_option() {
        for (line, tip) in [
            (
                "pkgres tree --manifest-path web",
                "'pkgres tree [MANIFEST]'",
            ),
            (
                "pkgres why org.example.Db --manifest-path=web",
                "'pkgres why <PACKAGE[@VERSION]> [MANIFEST]'",
            ),
            ("pkgres check --manifest-path web", "'pkgres check [PATHS]"),
        ] {
            let message = message(line);
            assert!(message.contains(tip), "{message}");
        }
        let elsewhere = message("pkgres serve --manifest-path web");
        assert!(elsewhere.contains("have '--manifest-path'"), "{elsewhere}");
    }

    #[test]
    fn commands_in_tips_exist() {
        let grammar = whole_grammar();
        let tips = ELSEWHERE.iter().chain(OPTIONS_ELSEWHERE);
        for (_, tip) in tips {
            for command in tip.split("'pkgres ").skip(1) {
                let name = command.split([' ', '\'']).next().unwrap_or_default();
                let is_option = name.starts_with('-');
                assert!(
                    is_option || grammar.find_subcommand(name).is_some(),
                    "{tip}"
                );
            }
        }
    }

    #[test]
    fn errors_say_what_a_value_can_be() {
        let shells = message("pkgres completions");
        assert!(shells.contains("'<SHELL>' can be bash, "), "{shells}");
        let scopes = message("pkgres token create");
        assert!(scopes.contains("can be publish, "), "{scopes}");
        let number = message("pkgres tree --depth x");
        assert!(number.contains(": an integer is expected"), "{number}");
        let target = message("pkgres plan --target ssh://me:secret@host");
        assert!(target.contains("'ssh://***@host'"), "{target}");
        assert!(!target.contains("secret"), "{target}");
    }

    #[test]
    fn a_tip_names_no_option_that_the_command_lacks() {
        for (line, tip) in [
            ("pkgres login --token x", "'--token-file FILE'"),
            ("pkgres publish --token x", "'pkgres login' stores a token"),
            ("pkgres publish -n", "'--dry-run' shows"),
            ("pkgres tree -n", "have '--dry-run'"),
        ] {
            let message = message(line);
            assert!(message.contains(tip), "{message}");
        }
    }

    #[test]
    fn a_tip_repeats_the_options_of_plan() {
        for (line, tip) in [
            ("pkgres plan web", "'pkgres plan web --target local:'"),
            ("pkgres plan -q", "'pkgres plan -q --target local:'"),
            (
                "pkgres plan --format json --model model.yaml web",
                "'pkgres plan --format json --model model.yaml web --target local:'",
            ),
            ("pkgres plan -- web", "'pkgres plan --target local:'"),
            ("pkgres apply web", "'pkgres plan --target local:'"),
        ] {
            let message = message(line);
            assert!(message.contains(tip), "{message}");
            let command = tip.trim_matches('\'').split(' ');
            assert!(whole_grammar().try_get_matches_from(command).is_ok());
        }
    }

    #[test]
    fn subcommands_of_other_commands_get_no_tip_about_commands() {
        let nested = message("pkgres token new");
        assert!(!nested.contains("pkgres init"), "{nested}");
    }
}
