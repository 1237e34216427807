//! The commands and examples of the help.

use std::process::Command;

/// A command and the lines of its examples.
pub(super) struct HelpOf {
    pub(super) command: String,
    pub(super) examples: Vec<String>,
}

/// The help of all commands without subcommands, as the program prints it.
pub(super) fn commands() -> Vec<HelpOf> {
    let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
        .args(["reference", "commands"])
        .output()
        .expect("the binary runs");
    let page = String::from_utf8(output.stdout).expect("the page is text");
    let (_, sections) = page.split_once("\n### ").expect("the page has sections");
    let (sections, _) = sections
        .split_once("\n## Shared options")
        .expect("the page ends with shared options");
    sections
        .split("\n### ")
        .flat_map(|section| section.split("\n#### "))
        .filter(|section| !section.contains("\nCommands:\n"))
        .map(help_of)
        .collect()
}

/// Reads a section of the page, which begins with the name of its command.
fn help_of(section: &str) -> HelpOf {
    let mut lines = section.lines();
    let heading = lines.next().expect("a section has a heading");
    let examples = lines
        .skip_while(|line| *line != "Examples:")
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .map(str::trim_start)
        .filter(|line| !line.starts_with("# "));
    HelpOf {
        command: heading.trim_matches('`').to_owned(),
        examples: examples.map(str::to_owned).collect(),
    }
}
