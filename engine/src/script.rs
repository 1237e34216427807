//! Runs a script on a machine without creating a file there.
//!
//! A machine is read-only while it is tested, and a file left behind would be a change. So the text of a script is
//! passed as an argument to the interpreter that its first line names. Values are variables of the process: no shell
//! reads them.

use pkgres_manifest::diagnostic::Escaped;
use thiserror::Error;

use crate::target::Command;

/// The most bytes of a script. The kernel does not take longer arguments.
const MAX_SCRIPT_BYTES: usize = 120_000;

/// Programs that take a text to run, by the beginnings of their names, and the option for it.
const INTERPRETERS: [(&str, &str); 11] = [
    ("sh", "-c"),
    ("bash", "-c"),
    ("dash", "-c"),
    ("ash", "-c"),
    ("ksh", "-c"),
    ("mksh", "-c"),
    ("zsh", "-c"),
    ("busybox", "-c"),
    ("python", "-c"),
    ("perl", "-e"),
    ("ruby", "-e"),
];

/// A script that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunnableScript {
    /// The program, and its arguments before the text.
    interpreter: Vec<String>,
    text: String,
}

/// Why a script cannot be run.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("{message}{}", .hint.map_or_else(String::new, |hint| format!(": {hint}")))]
pub(crate) struct ScriptError {
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
}

impl RunnableScript {
    /// Reads a script from the bytes of its file. Messages call it `name`.
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Result<Self, ScriptError> {
        let name = Escaped::shortened(name);
        let error = |message: String| ScriptError {
            message,
            hint: None,
        };
        if bytes.len() > MAX_SCRIPT_BYTES {
            let message = format!("the script `{name}` has more than {MAX_SCRIPT_BYTES} bytes");
            return Err(error(message));
        }
        let text = std::str::from_utf8(bytes).ok();
        let Some(text) = text.filter(|text| !text.contains('\0')) else {
            return Err(error(format!("the script `{name}` is not text")));
        };
        let words = match text.strip_prefix("#!") {
            Some(rest) => {
                let line = rest.lines().next().unwrap_or_default().trim();
                words_of(line)
            }
            None => vec!["/bin/sh".to_owned()],
        };
        let named = words.join(" ");
        let Some(interpreter) = with_option(words) else {
            let named = Escaped::shortened(&named);
            return Err(ScriptError {
                message: format!(
                    "nothing can run the script `{name}`, which begins with `#!{named}`"
                ),
                hint: Some("the first line has to name a shell, Python, Perl or Ruby"),
            });
        };
        Ok(Self {
            interpreter,
            text: text.to_owned(),
        })
    }

    /// The command that runs it, as root of the machine. The script sees `name` as its own name.
    pub(crate) fn command(&self, name: &str) -> Command {
        let (program, arguments) = self
            .interpreter
            .split_first()
            .expect("an interpreter is a program");
        Command::new(program.as_str())
            .arguments(arguments.iter().map(String::as_str))
            .argument(self.text.as_str())
            .argument(name)
            .variable("HOME", "/root")
    }
}

/// The words of the first line of a script. The kernel makes everything behind the program one argument.
fn words_of(line: &str) -> Vec<String> {
    let (program, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let rest = rest.trim();
    // With `-S`, `env` splits its argument.
    if file_name(program) == "env" {
        let rest = rest.strip_prefix("-S").unwrap_or(rest);
        let words = std::iter::once(program).chain(rest.split_whitespace());
        return words.map(str::to_owned).collect();
    }
    let words = [program, rest].into_iter().filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The words with the option for a text, if the program has one.
fn with_option(mut words: Vec<String>) -> Option<Vec<String>> {
    let mut programs = words.iter().map(|word| file_name(word));
    let program = programs.find(|word| *word != "env")?;
    // Names may have a version: `python3.11`.
    let name = program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    let option = INTERPRETERS.iter().find(|(known, _)| *known == name)?.1;
    if name == "busybox" && words.len() == 1 {
        words.push("sh".to_owned());
    }
    words.push(option.to_owned());
    Some(words)
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_interpreter() {
        for (line, expected) in [
            ("/bin/bash", Some("/bin/bash -c")),
            (" /bin/bash -e ", Some("/bin/bash -e -c")),
            ("/usr/bin/env python3", Some("/usr/bin/env python3 -c")),
            ("/usr/bin/env -S perl -w", Some("/usr/bin/env perl -w -e")),
            ("/usr/bin/python3.11", Some("/usr/bin/python3.11 -c")),
            ("/bin/busybox sh", Some("/bin/busybox sh -c")),
            ("/usr/bin/awk -f", None),
            ("/usr/bin/env", None),
            ("", None),
        ] {
            let words = with_option(words_of(line.trim()));
            assert_eq!(
                words.map(|words| words.join(" ")).as_deref(),
                expected,
                "{line}"
            );
        }
    }
}
