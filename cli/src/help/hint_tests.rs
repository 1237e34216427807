//! Tests that every command in a message of the end-to-end tests can be parsed, and that its options exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Command;

use super::whole_grammar;

/// The documents of the end-to-end tests: those with and without a registry, and what the pages of the book show.
fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut documents = Vec::new();
    for folder in ["tests/cli", "tests/cli/server", "docs"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder of the project");
        for entry in entries {
            let path = entry.expect("an entry of it").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).expect("a document");
                documents.push((path, text));
            }
        }
    }
    documents
}

/// The texts in backticks in the lines that commands print: those of blocks, without commands.
fn quoted(document: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_output = false;
    for line in document.lines() {
        if line.starts_with("```") {
            is_output = line.starts_with("```console") || line.starts_with("```text");
        } else if is_output && !line.starts_with("$ ") {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// The words of a command line, as a shell splits it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// The long options of all commands.
fn options() -> BTreeSet<String> {
    fn add(command: &Command, options: &mut BTreeSet<String>) {
        let long = command
            .get_arguments()
            .filter_map(|option| option.get_long());
        options.extend(long.map(|long| format!("--{long}")));
        command
            .get_subcommands()
            .for_each(|command| add(command, options));
    }
    let mut grammar = whole_grammar();
    grammar.build();
    let mut options = BTreeSet::new();
    add(&grammar, &mut options);
    options
}

#[test]
fn commands_in_messages_parse_and_options_exist() {
    let options = options();
    let (mut commands, mut named) = (BTreeSet::new(), 0);
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for quoted in quoted(&text) {
            if quoted.starts_with("pkgres ") {
                // The help of any command.
                let line = quoted.replace("help COMMAND", "help lock");
                let parsed = whole_grammar().try_get_matches_from(words(&line));
                if let Err(error) = parsed {
                    use clap::error::ErrorKind::{
                        DisplayHelp, DisplayVersion, MissingRequiredArgument,
                    };
                    // A name alone is about the command.
                    let is_name = words(&line)
                        .iter()
                        .all(|word| !word.starts_with('-') && !word.contains(['@', '.']));
                    let is_right = match error.kind() {
                        DisplayHelp | DisplayVersion => true,
                        MissingRequiredArgument => is_name,
                        _ => false,
                    };
                    if !is_right {
                        wrong.push(format!("{}: `{quoted}`: {error}", path.display()));
                    }
                }
                commands.insert(quoted.to_owned());
            } else if quoted.starts_with("--") {
                for option in quoted
                    .split_whitespace()
                    .filter(|word| word.starts_with("--"))
                {
                    let option = option.split('=').next().unwrap_or_default();
                    // Some messages repeat an unknown option.
                    let is_about_unknown =
                        text.contains(&format!("unexpected argument '{option}'"));
                    assert!(
                        options.contains(option) || is_about_unknown,
                        "{}: `{quoted}` has an option that no command has",
                        path.display()
                    );
                    named += 1;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(commands.len() > 80, "{} commands", commands.len());
    assert!(named > 80, "{named} options");
}

#[test]
fn command_lines_are_split_as_by_a_shell() {
    assert_eq!(words("a 'b c'  d\"e f\" ''"), ["a", "b c", "de f", ""]);
}
