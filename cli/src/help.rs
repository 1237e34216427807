//! What the help of a command shows besides its arguments: an example, the formats, the exit codes, and the options
//! shared by all commands, as one group.

mod examples;
mod groups;
#[cfg(test)]
mod hint_tests;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, Command, CommandFactory as _, ValueEnum as _};

use self::examples::{EXAMPLES, Example};
use crate::args::{Arguments, Format, GROUPS};
use crate::exit;

/// The heading of the options that many commands have.
pub(crate) const SHARED: &str = "Shared options";

/// The options under this heading, by id.
const SHARED_OPTIONS: &[&str] = &[
    "allow_http",
    "ca_files",
    "color",
    "config",
    "core_library",
    "directory",
    "ecosystem",
    "exclude_newer",
    "ignore_classes",
    "max_steps",
    "no_cache",
    "no_core_library",
    "no_progress",
    "offline",
    "prefer",
    "prerelease",
    "provided",
    "quiet",
    "registries",
    "single_version",
    "solver",
    "strict_uses",
];

/// The examples of a command; empty for one that only has subcommands. `command` is its name, followed by that of its
/// subcommand.
fn examples_of(command: &str) -> &'static [Example] {
    let declared = EXAMPLES.iter().find(|(name, _)| *name == command);
    declared.map_or(&[], |(_, examples)| examples)
}

/// The formats that a command can print. The first one is the default.
pub(crate) fn formats_of(command: &str) -> &'static [Format] {
    use Format::{
        Cyclonedx, Dot, Github, Json, Markdown, Mermaid, Png, Requirements, Spdx, Svg, Text,
    };

    match command {
        "check" | "lock" | "semver" => &[Text, Json, Github],
        "diff" => &[Text, Json, Markdown],
        "plan" => &[Text, Json, Dot, Mermaid, Svg, Png],
        "graph" => &[Dot, Json, Mermaid, Svg, Png],
        "export" => &[Cyclonedx, Json, Spdx, Requirements],
        "resolve" => &[Text, Json, Requirements],
        "completions" | "man" | "reference" => &[Text],
        _ => &[Text, Json],
    }
}

/// The output format of a run: the stated one, or the default of the command.
pub(crate) fn format_of(arguments: &Arguments) -> Format {
    let default = formats_of(arguments.command.name())[0];
    arguments.global.format.unwrap_or(default)
}

/// The grammar of all commands, with their complete help.
pub(crate) fn whole_grammar() -> Command {
    whole_grammar_of_width(None)
}

/// The same grammar, with help for a terminal of this width instead of the terminal's.
pub(crate) fn whole_grammar_of_width(width: Option<usize>) -> Command {
    let mut grammar = Arguments::command()
        .mut_args(as_shared)
        .after_help(
            "`pkgres help COMMAND` describes a command, `pkgres --help` lists more options.",
        )
        .after_long_help(exit::ALL_EXIT_CODES);
    if let Some(width) = width {
        grammar = grammar.term_width(width);
    }
    let format = grammar
        .get_arguments()
        .find(|argument| argument.get_id() == "format")
        .cloned()
        .expect("all commands have `--format`");
    let template = groups::template(&grammar, GROUPS, width);
    grammar
        .help_template(template)
        .mut_arg("format", |format| {
            format
                .hide_possible_values(true)
                .help("Output format; each command lists its own")
        })
        .mut_subcommands(|command| complete_command(command, "", &format))
}

/// A command and its subcommands. `parent` is its path so far.
fn complete_command(command: Command, parent: &str, format: &Arg) -> Command {
    let path = format!("{parent}{}", command.get_name());
    let prefix = format!("{path} ");
    let formats = formats_of(path.split(' ').next().unwrap_or_default());
    let mut command = command.mut_args(as_shared).arg(in_formats(format, formats));
    let mut examples = examples_of(&path);
    // A command that only has subcommands shows how the first of them is used.
    if let Some(below) = command.get_subcommands().next() {
        examples = examples_of(&format!("{prefix}{}", below.get_name()));
    }
    if let Some((first, _)) = examples.first() {
        command = command.after_help(format!(
            "Example: {first}\n\nMore with `--help`, shared options included."
        ));
    }
    let all = [examples_text(examples), exit::help_of(&path)];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if !all.is_empty() {
        command = command.after_long_help(all.join("\n\n"));
    }
    command.mut_subcommands(|command| complete_command(command, &prefix, format))
}

/// The examples in the long help, each with a comment above.
fn examples_text(examples: &[Example]) -> Option<String> {
    let lines: Vec<String> = examples
        .iter()
        .map(|(line, what)| format!("  # {what}\n  {line}"))
        .collect();
    (!lines.is_empty()).then(|| format!("Examples:\n{}", lines.join("\n")))
}

/// A shared option under the heading of all of them, and only in the long help unless people need it all the time.
fn as_shared(argument: Arg) -> Arg {
    let id = argument.get_id().as_str();
    if !SHARED_OPTIONS.contains(&id) {
        return argument;
    }
    let is_common = id == "registries";
    argument.help_heading(SHARED).hide_short_help(!is_common)
}

/// The argument `--format` that accepts these formats, and lists them in help and errors.
fn in_formats(format: &Arg, formats: &'static [Format]) -> Arg {
    let values = || formats.iter().filter_map(Format::to_possible_value);
    let parser = PossibleValuesParser::new(values()).map(|name| {
        Format::from_str(&name, false).expect("the parser accepts only names of formats")
    });
    let default = values().next().expect("a command has a format");
    let default = default.get_name().to_owned();
    format.clone().value_parser(parser).default_value(default)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of all commands that do something, hidden ones excluded.
    fn commands() -> Vec<String> {
        let all = whole_grammar();
        let mut rest: Vec<(String, &Command)> = all
            .get_subcommands()
            .map(|command| (command.get_name().to_owned(), command))
            .collect();
        let mut paths = Vec::new();
        while let Some((path, command)) = rest.pop() {
            let below = command.get_subcommands();
            rest.extend(below.map(|below| (format!("{path} {}", below.get_name()), below)));
            if !command.has_subcommands() && !command.is_hide_set() {
                paths.push(path);
            }
        }
        paths
    }

    /// The words of a command line with single quotes.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (at, part) in line.split('\'').enumerate() {
            if at % 2 == 1 {
                words.push(part.to_owned());
            } else {
                words.extend(part.split_whitespace().map(str::to_owned));
            }
        }
        words
    }

    #[test]
    fn every_command_has_an_example_that_parses() {
        let commands = commands();
        assert!(commands.len() > 30);
        for path in &commands {
            assert!(!examples_of(path).is_empty(), "{path} has no example");
        }
        for (path, examples) in EXAMPLES {
            assert!(commands.iter().any(|known| known == path), "{path}");
            for (line, what) in *examples {
                let start = format!("pkgres {path}");
                assert!(line.starts_with(&start), "{line} is not of `{path}`");
                assert!(!what.is_empty() && !what.ends_with('.'), "{what}");
                if let Err(error) = whole_grammar().try_get_matches_from(words(line)) {
                    panic!("{line}: {error}");
                }
            }
        }
    }

    #[test]
    fn help_lists_the_formats_of_the_command_and_shared_options_once() {
        let mut all = whole_grammar();
        all.build();
        let graph = all.find_subcommand("graph").expect("it is a command");
        let help = graph.clone().render_long_help().to_string();
        assert!(
            help.contains("- mermaid:") && !help.contains("- spdx:"),
            "{help}"
        );
        assert_eq!(help.matches("Shared options:").count(), 1, "{help}");
        let short = graph.clone().render_help().to_string();
        assert!(short.contains("Example: pkgres graph"), "{short}");
        assert!(!short.contains("--exclude-newer"), "{short}");
        assert!(short.lines().count() < 40, "{short}");
        for (command, format, is_possible) in [
            ("graph", "svg", true),
            ("tree", "svg", false),
            ("man", "json", false),
            ("cache list", "json", true),
        ] {
            let line = format!("pkgres {command} --format {format}");
            let parsed = whole_grammar().try_get_matches_from(words(&line));
            let is_invalid =
                parsed.is_err_and(|error| error.kind() == clap::error::ErrorKind::InvalidValue);
            assert_eq!(is_invalid, !is_possible, "{line}");
        }
    }
}
