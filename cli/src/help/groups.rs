//! The commands in groups, for the help of `pkgres`. The parser would list them under a single heading, so a template
//! replaces its help; this is the list in the template.

use clap::Command;
use clap::builder::{StyledStr, Styles};

use crate::args::MAX_WIDTH;

/// The help of `pkgres`, around the commands.
const BEFORE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n";

/// The template of the help of the whole grammar, which lists the commands in groups: their headings, and the names of
/// their commands. `width` is that of the terminal, unless the parser should find out.
pub(super) fn template(
    grammar: &Command,
    groups: &[(&str, &[&str])],
    width: Option<usize>,
) -> StyledStr {
    let styles = Styles::default();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut list = list(grammar, groups, width);
    for (heading, names) in groups {
        let visible = |name: &&&str| {
            let command = grammar.find_subcommand(name);
            command.is_some_and(|command| !command.is_hide_set())
        };
        let Some(first) = names.iter().find(visible) else {
            continue;
        };
        let line = format!("  {literal}{first}{literal:#} ");
        // Where descriptions have lines of their own, names end their lines.
        let whole_line = format!("  {literal}{first}{literal:#}\n");
        let at = list.find(&line).or_else(|| list.find(&whole_line));
        if let Some(at) = at {
            list.insert_str(at, &format!("\n{header}{heading}:{header:#}\n"));
        }
    }
    let list = list.trim();
    format!("{BEFORE}{list}\n\n{header}Options:{header:#}\n{{options}}{{after-help}}").into()
}

/// The lines of all commands in the order of the groups, aligned with each other.
fn list(grammar: &Command, groups: &[(&str, &[&str])], width: Option<usize>) -> String {
    let names = groups.iter().flat_map(|(_, names)| names.iter());
    let commands = names.filter_map(|name| {
        let command = grammar.find_subcommand(name)?;
        let about = command.get_about().cloned().unwrap_or_default();
        let shown = Command::new(command.get_name().to_owned()).about(about);
        Some(shown.hide(command.is_hide_set()))
    });
    let mut all = Command::new("pkgres")
        .max_term_width(MAX_WIDTH)
        .help_template("{subcommands}")
        .subcommands(commands);
    if let Some(width) = width {
        all = all.term_width(width);
    }
    all.render_help().ansi().to_string()
}

#[cfg(test)]
mod tests {
    use super::super::whole_grammar_of_width;
    use crate::args::GROUPS;

    #[test]
    fn help_lists_every_command_once_under_a_heading() {
        for width in [60, 100] {
            let mut grammar = whole_grammar_of_width(Some(width));
            let help = grammar.render_help().to_string();
            assert!(help.lines().all(|line| line.len() <= width), "{help}");
            let at = |text: &str| {
                let mut lines = help.lines();
                lines.position(|line| line == text || line.starts_with(&format!("{text} ")))
            };
            let mut last = 0;
            for (heading, names) in GROUPS {
                let place = at(&format!("{heading}:"));
                assert!(place.is_some_and(|place| place > last), "{heading}: {help}");
                last = place.unwrap_or_default();
                for name in *names {
                    let command = grammar.find_subcommand(name).expect("it is a command");
                    if command.is_hide_set() {
                        assert_eq!(at(&format!("  {name}")), None, "{name}");
                        continue;
                    }
                    let place = at(&format!("  {name}"));
                    assert!(place.is_some_and(|place| place > last), "{name}: {help}");
                    last = place.unwrap_or_default();
                }
            }
            assert!(at("  help").is_some_and(|place| place > last), "{help}");
            let listed: usize = GROUPS.iter().map(|(_, names)| names.len()).sum();
            let commands = grammar.get_subcommands();
            let commands = commands.filter(|command| command.get_name() != "help");
            assert_eq!(listed, commands.count());
        }
    }
}
