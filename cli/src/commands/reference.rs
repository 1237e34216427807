//! Generated documentation: shell completions, man pages and pages of the guide.

use clap::Command;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{did_you_mean, most_similar};
use pkgres_settings::{DECLARED, Files, Kind, VARIABLES};

use crate::args::{CompletionsArgs, MAX_WIDTH, ManArgs, ReferenceArgs, ReferenceKind};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::help::{SHARED, whole_grammar, whole_grammar_of_width};
use crate::output::Output;

pub(super) fn completions(args: &CompletionsArgs, output: &mut Output) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole_grammar(), "pkgres", &mut script);
    output.data(&String::from_utf8_lossy(&script));
    Exit::Done
}

pub(super) fn man(args: &ManArgs, output: &mut Output) -> Result<Exit> {
    let mut command = whole_grammar();
    command.build();
    // Shells split `interface init` into words, and people quote it.
    let names = args.command.iter().flat_map(|words| words.split(' '));
    let mut title = "pkgres".to_owned();
    for name in names {
        let is_named = |subcommand: &&Command| subcommand.get_name() == name;
        let found = command.get_subcommands().find(is_named).cloned();
        let subcommand = found.ok_or_else(|| {
            let finding = Diagnostic::error(Code::Usage, format!("there is no command `{name}`"));
            let known = command.get_subcommands().map(clap::Command::get_name);
            let hint = match most_similar(name, known) {
                Some(similar) => did_you_mean(similar),
                None => "`pkgres help` lists all commands".to_owned(),
            };
            Failure::from(finding.hint(hint))
        })?;
        title = format!("{title}-{name}");
        command = subcommand.display_name(title.clone());
    }
    let mut page = Vec::new();
    // The generator leaves out the help of options that the short help hides.
    let command = command.mut_args(|option| match option.get_help().cloned() {
        Some(help) if option.get_long_help().is_none() => option.long_help(help),
        _ => option,
    });
    clap_mangen::Man::new(command)
        .source(concat!("pkgres ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .map_err(|error| Failure::usage(format!("cannot render the man page: {error}")))?;
    let page = String::from_utf8_lossy(&page);
    // These are what stands below the options in the help.
    output.data(&page.replace(".SH EXTRA\n", ".SH \"EXAMPLES AND EXIT CODES\"\n"));
    Ok(Exit::Done)
}

pub(super) fn reference(args: &ReferenceArgs, output: &mut Output) -> Exit {
    output.data(&match args.kind {
        ReferenceKind::Commands => commands(),
        ReferenceKind::Settings => settings(),
    });
    Exit::Done
}

/// The page of all commands: their help, with the options that they share once.
fn commands() -> String {
    let mut text =
        "# Commands\n\nGenerated from `pkgres help`; a test keeps this page up to date. \
                    [Shared options](#shared-options) are at the end.\n"
            .to_owned();
    let mut root = whole_grammar_of_width(Some(MAX_WIDTH));
    root.build();
    section(&mut text, &root, "pkgres", 2);
    text.push_str(&shared_options(&root));
    text
}

/// The sections of a command and its subcommands.
fn section(text: &mut String, command: &Command, path: &str, level: usize) {
    let is_shared = |argument: &clap::Arg| argument.get_help_heading() == Some(SHARED);
    let shared: Vec<String> = command
        .get_arguments()
        .filter(|argument| is_shared(argument))
        .filter_map(|argument| argument.get_long().map(|long| format!("`--{long}`")))
        .collect();
    let own = command.clone().mut_args(|argument| {
        let is_shared = is_shared(&argument);
        if is_shared {
            argument.hide(true)
        } else {
            argument
        }
    });
    let help = own.term_width(MAX_WIDTH).render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let marks = "#".repeat(level);
    text.push_str(&format!(
        "\n{marks} `{path}`\n\n```text\n{}\n```\n",
        lines.join("\n").trim_end()
    ));
    if !shared.is_empty() {
        text.push_str(&format!("\nShared options: {}.\n", shared.join(", ")));
    }
    for below in command.get_subcommands() {
        if below.is_hide_set() || below.get_name() == "help" {
            continue;
        }
        let path = format!("{path} {}", below.get_name());
        section(text, below, &path, (level + 1).min(4));
    }
}

/// The section of the options that commands share.
fn shared_options(root: &Command) -> String {
    let mut known: Vec<clap::Arg> = Vec::new();
    let commands = std::iter::once(root).chain(root.get_subcommands());
    for argument in commands.flat_map(Command::get_arguments) {
        let is_new = known
            .iter()
            .all(|other| other.get_id() != argument.get_id());
        if argument.get_help_heading() == Some(SHARED) && is_new {
            known.push(argument.clone());
        }
    }
    let known = known
        .into_iter()
        .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"));
    let mut all = Command::new("pkgres")
        .disable_help_flag(true)
        .term_width(MAX_WIDTH)
        .help_template("{all-args}")
        .args(known.into_iter().map(|argument| argument.global(false)));
    let help = all.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!(
        "\n## Shared options\n\n```text\n{}\n```\n",
        lines.join("\n").trim()
    )
}

/// An example of a project's settings.
const EXAMPLE: &str = r#"registries = ["https://packages.example.org/", "dir:vendor"]
exclude-newer = "7 days"
single-version = true

[overrides]
"org.example.Db" = ">=1.2,<3"

[workspace]
members = ["apps/*"]
"#;

/// The page of all settings: their declarations.
fn settings() -> String {
    let mut text = "\
# Settings

Generated from the declarations in the code; a test keeps this page up to date.

A flag overrides the environment variable, which overrides `pkgres.toml` of the project, which overrides the settings
file of the user, which overrides the default. `pkgres.toml` is the first one found in the manifest's folder or the
folders above it. The settings file of the user is `pkgres/config.toml` in `$XDG_CONFIG_HOME` or `~/.config`, unless
`--config` or `PKGRES_CONFIG` names another one. `pkgres config list --show-origin` shows every value and where it
comes from. A project's `pkgres.toml` can look like this:

```toml
"
    .to_owned();
    text.push_str(EXAMPLE);
    text.push_str(
        "\
```

| setting | variable | files | values | default |
|---|---|---|---|---|
",
    );
    for setting in DECLARED {
        let values = match setting.kind {
            Kind::Flag => "`true`, `false`".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::Choice(words) => format!("`{}`", words.join("`, `")),
            Kind::Text => "a string".to_owned(),
            Kind::List if setting.variable.is_none() => "a list of strings".to_owned(),
            Kind::List => "a list of strings, separated by commas in the variable".to_owned(),
            Kind::Table => "a table".to_owned(),
        };
        let files = match setting.files {
            Files::Both => "project, user",
            Files::Project => "project",
            Files::User => "user",
        };
        let variable = setting
            .variable
            .map_or_else(|| "–".to_owned(), |name| format!("`{name}`"));
        text.push_str(&format!(
            "| `{}` | {variable} | {files} | {values} | {} |\n",
            setting.key, setting.default
        ));
    }
    text.push('\n');
    for setting in DECLARED {
        text.push_str(&format!("- `{}`: {}\n", setting.key, setting.help));
    }
    text.push_str("\n## Other variables\n\n| variable | meaning |\n|---|---|\n");
    for (names, help) in VARIABLES {
        let names = names.replace(", ", "`, `");
        text.push_str(&format!("| `{names}` | {help} |\n"));
    }
    text
}
