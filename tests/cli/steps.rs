//! Steps of workflows and actions, run as GitHub runs them: scripts with the variables, the `PATH` and the files that
//! steps have in common. Steps that use other actions are left out, except for the action of this repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::program::write;

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A file of the repository as text.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("the file is in the repository")
}

/// A file of the repository as YAML.
pub(crate) fn read_yaml(path: &str) -> Value {
    serde_saphyr::from_str(&read(path)).expect("the file is YAML")
}

/// The block of a page that begins with a line.
pub(crate) fn recipe(page: &str, first: &str) -> String {
    let text = read(page);
    let begin = format!("```yaml\n{first}\n");
    let (_, rest) = text.split_once(&begin).expect("the page has the block");
    let (block, _) = rest.split_once("```").expect("the block ends");
    format!("{first}\n{block}")
}

/// Runs a command and returns whether it succeeded, and what it printed.
pub(crate) fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("the program starts");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (output.status.success(), text)
}

/// A script that was run.
pub(crate) struct Done {
    pub(crate) script: String,
    pub(crate) is_success: bool,
    pub(crate) text: String,
}

/// A machine that steps run on.
pub(crate) struct Machine {
    /// The folder that scripts run in.
    pub(crate) folder: PathBuf,
    /// The values of expressions such as `github.token`.
    pub(crate) expressions: BTreeMap<String, String>,
    /// Variables that all scripts have.
    pub(crate) variables: BTreeMap<String, String>,
    files: PathBuf,
}

impl Machine {
    /// A machine with a folder for scripts, and one for the files that steps write for GitHub.
    pub(crate) fn new(folder: &Path, files: &Path) -> Self {
        let mut machine = Self {
            folder: folder.to_owned(),
            expressions: BTreeMap::new(),
            variables: BTreeMap::new(),
            files: files.to_owned(),
        };
        for name in ["GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
            let path = files.join(name);
            write(&path, "");
            machine.set(name, path.to_str().expect("a path that is text"));
        }
        machine
    }

    /// Sets a variable.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Sets the value of an expression.
    pub(crate) fn express(&mut self, expression: &str, value: &str) {
        self.expressions
            .insert(expression.to_owned(), value.to_owned());
    }

    /// What steps have written to a file of GitHub.
    pub(crate) fn written(&self, name: &str) -> String {
        std::fs::read_to_string(self.files.join(name)).expect("the file is there")
    }

    /// Runs steps until one fails; then only those that always run.
    pub(crate) fn run(&self, steps: &Value) -> Vec<Done> {
        let mut done: Vec<Done> = Vec::new();
        for step in steps.as_array().expect("a list of steps") {
            let has_failed = done.iter().any(|done| !done.is_success);
            let runs = match step["if"].as_str() {
                None | Some("runner.os == 'Linux'") => !has_failed,
                Some("always()") => true,
                // The cache of GitHub, and another system.
                Some("inputs.cache == 'true'" | "runner.os == 'macOS'") => false,
                Some(other) => panic!("a test has to know the condition {other}"),
            };
            if !runs {
                continue;
            }
            if let Some(script) = step["run"].as_str() {
                done.push(self.script(script, step));
            } else if step["uses"]
                .as_str()
                .is_some_and(|name| name.starts_with("pkgres/pkgres@"))
            {
                done.extend(self.run(&read_yaml("action.yml")["runs"]["steps"]));
            }
        }
        done
    }

    fn script(&self, script: &str, step: &Value) -> Done {
        let shell: &[&str] = match step["shell"].as_str() {
            None => &["-e", "-c"],
            Some("bash") => &["--noprofile", "--norc", "-e", "-o", "pipefail", "-c"],
            Some(other) => panic!("a test has to know the shell {other}"),
        };
        let added = self.written("GITHUB_PATH");
        let before = std::env::var("PATH").expect("a PATH");
        let before = self.variables.get("PATH").unwrap_or(&before);
        let path: Vec<&str> = added.lines().chain([before.as_str()]).collect();
        let mut command = Command::new("bash");
        command
            .args(shell)
            .arg(self.filled(script))
            .current_dir(&self.folder)
            .envs(&self.variables)
            .env("PATH", path.join(":"));
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            command.env(
                name,
                self.filled(value.as_str().expect("a variable is text")),
            );
        }
        let (is_success, text) = run(&mut command);
        Done {
            script: script.to_owned(),
            is_success,
            text,
        }
    }

    /// A text with the values of its expressions.
    fn filled(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${{") {
            let (expression, after) = after.split_once("}}").expect("the expression ends");
            let value = self.expressions.get(expression.trim());
            filled.push_str(before);
            filled.push_str(value.unwrap_or_else(|| panic!("a value for {expression}")));
            rest = after;
        }
        filled + rest
    }
}
