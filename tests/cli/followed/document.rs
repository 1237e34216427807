//! The documents of the end-to-end tests: commands, and what they print.

use std::path::{Path, PathBuf};

/// A document.
pub(crate) struct Document {
    pub(crate) name: String,
    /// The folder that its commands run in.
    pub(crate) folder: PathBuf,
    /// Whether its commands write to the folder.
    pub(crate) is_writing: bool,
    pub(crate) steps: Vec<Step>,
}

/// A command line, and what the document says that it prints.
pub(crate) struct Step {
    pub(crate) line: String,
    pub(crate) output: String,
}

/// Commands that write nothing, unless they have one of the options.
const READERS: [&str; 14] = [
    "check",
    "config get",
    "config list",
    "explain",
    "graph",
    "info",
    "outdated",
    "resolve",
    "search",
    "semver",
    "spec",
    "tree",
    "why",
    "why-not",
];
const WRITING_OPTIONS: [&str; 5] = ["--baseline", "--certificate", "--output", "--witness", "-o"];

impl Step {
    /// Whether the command writes nothing, so that later ones do not need it.
    pub(crate) fn only_reads(&self) -> bool {
        let reads = |name: &str| self.line.starts_with(&format!("pkgres {name} "));
        READERS.iter().any(|name| reads(name))
            && !WRITING_OPTIONS
                .iter()
                .any(|option| self.line.contains(option))
    }
}

/// All documents of a folder whose commands run in a folder of their own, by name.
pub(crate) fn all(folder: &Path) -> Vec<Document> {
    let mut documents: Vec<Document> = super::super::entries(folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter(|path| path.with_extension("in").is_dir())
        .map(|path| read(&path))
        .collect();
    documents.sort_by(|left, right| left.name.cmp(&right.name));
    documents
}

fn read(path: &Path) -> Document {
    let text = std::fs::read_to_string(path).expect("a document");
    let mut steps: Vec<Step> = Vec::new();
    let mut is_console = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_console = !is_console && line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            steps.push(Step {
                line: for_shell(command),
                output: String::new(),
            });
        } else if let Some(step) = steps.last_mut().filter(|_| is_console) {
            step.output.push_str(line);
            step.output.push('\n');
        }
    }
    let name = path.file_stem().expect("a file has a name");
    Document {
        name: name.to_string_lossy().into_owned(),
        folder: path.with_extension("in"),
        is_writing: path.with_extension("out").is_dir(),
        steps,
    }
}

/// A line of a document for a shell, which would redirect and expand what documents take literally.
fn for_shell(line: &str) -> String {
    let mut quote = None;
    let mut text = String::new();
    for character in line.chars() {
        match quote {
            Some(open) if open == character => quote = None,
            None if matches!(character, '\'' | '"') => quote = Some(character),
            None if "<>*?()&;|$`".contains(character) => text.push('\\'),
            _ => {}
        }
        text.push(character);
    }
    text
}
