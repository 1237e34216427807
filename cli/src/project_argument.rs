//! The argument that names the project of a command.
//!
//! Its folder decides which settings count, which folders are locked, and what the commands in hints are about, so all
//! three ask here.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;
use pkgres_manifest::MANIFEST_FILE;

use crate::read_manifest::folder_of;

/// An argument that can name a project.
#[derive(Debug, Clone, Copy)]
struct Declared {
    id: &'static str,
    /// The default, if the current folder is below a project.
    default: DefaultPath,
    /// Whether its value names the project for other commands as well.
    is_project: bool,
}

/// The default of an argument in a folder below a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DefaultPath {
    /// The same as everywhere.
    Unchanged,
    /// The folder of the project.
    Folder,
    /// The manifest in the folder of the project.
    Manifest,
}

/// The arguments that can name a project. The first one that has a value does.
const ARGUMENTS: [Declared; 8] = [
    argument("manifest_path", DefaultPath::Unchanged),
    argument("manifest", DefaultPath::Manifest),
    argument("subject", DefaultPath::Manifest),
    argument("folder", DefaultPath::Unchanged),
    argument("package", DefaultPath::Folder),
    argument("paths", DefaultPath::Folder),
    argument("new", DefaultPath::Folder),
    // A model is in the folder of a project.
    Declared {
        is_project: false,
        ..argument("model", DefaultPath::Unchanged)
    },
];

const fn argument(id: &'static str, default: DefaultPath) -> Declared {
    Declared {
        id,
        default,
        is_project: true,
    }
}

/// The argument that names the project of a run, or its projects.
#[derive(Debug)]
pub(crate) struct ProjectArgument {
    id: &'static str,
    /// Its values. The default counts if none is on the command line.
    paths: Vec<PathBuf>,
    is_project: bool,
}

impl ProjectArgument {
    /// Whether the argument with an id names a project.
    pub(crate) fn is_one(id: &str) -> bool {
        ARGUMENTS.iter().any(|declared| declared.id == id)
    }

    /// That of a command line; `None` if no argument names a project.
    pub(crate) fn of(matches: &ArgMatches) -> Option<Self> {
        ARGUMENTS.into_iter().find_map(|declared| {
            let paths = paths_of(matches, declared.id);
            (!paths.is_empty()).then_some(Self {
                id: declared.id,
                paths,
                is_project: declared.is_project,
            })
        })
    }

    /// The argument of a command in a folder below a project that names none: the id, and the value that names the
    /// project. `project_above` finds its folder.
    pub(crate) fn above(
        matches: &ArgMatches,
        project_above: impl FnOnce() -> Option<PathBuf>,
    ) -> Option<(&'static str, PathBuf)> {
        let is_set = |id| is_explicit(matches, id);
        let naming = ["member", "members", "workspace", "manifest_path"];
        if naming.into_iter().any(is_set) {
            return None;
        }
        let has_default = |id| matches!(matches.try_get_raw(id), Ok(Some(_))) && !is_set(id);
        // The package of some commands is a name, and has no default.
        let declared = (ARGUMENTS.into_iter())
            .filter(|declared| declared.default != DefaultPath::Unchanged)
            .find(|declared| has_default(declared.id))?;
        let folder = project_above()?;
        let path = match declared.default {
            DefaultPath::Manifest => folder.join(MANIFEST_FILE),
            DefaultPath::Folder | DefaultPath::Unchanged => folder,
        };
        Some((declared.id, path))
    }

    /// The folders of the projects.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.paths.iter().map(|path| folder_of(path)).collect()
    }

    /// The projects that are on the command line, as they were typed.
    pub(crate) fn typed(self, matches: &ArgMatches) -> Vec<PathBuf> {
        if self.is_project && is_explicit(matches, self.id) {
            self.paths
        } else {
            Vec::new()
        }
    }
}

/// Whether an argument is on the command line.
pub(crate) fn is_explicit(matches: &ArgMatches, id: &str) -> bool {
    matches.try_contains_id(id).is_ok()
        && matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// The paths that an argument has as its values.
fn paths_of(matches: &ArgMatches, id: &str) -> Vec<PathBuf> {
    if let Ok(Some(paths)) = matches.try_get_many::<PathBuf>(id) {
        return paths.cloned().collect();
    }
    // A side of a comparison is a path, a revision or a release.
    let side = |id| matches.try_get_one::<String>(id).ok().flatten();
    let sides = if id == "new" {
        [side("new"), side("old")]
    } else {
        [None, None]
    };
    let path = sides.into_iter().flatten().map(Path::new);
    let path = path.filter(|path| path.exists()).take(1);
    path.map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::grammar_of;

    /// The argument of a command line.
    fn argument_of(line: &str) -> Option<ProjectArgument> {
        let words: Vec<&str> = line.split(' ').collect();
        let grammar = words.iter().find_map(|word| grammar_of(word));
        let mut matches = &grammar
            .expect("a command")
            .try_get_matches_from(&words)
            .expect("it parses");
        while let Some((_, below)) = matches.subcommand() {
            matches = below;
        }
        ProjectArgument::of(matches)
    }

    #[test]
    fn the_folder_that_a_command_names_is_that_of_its_project() {
        for (line, folder) in [
            ("pkgres publish src/args", Some("src/args")),
            ("pkgres pack src/args", Some("src/args")),
            ("pkgres interface init --from C src/args", Some("src/args")),
            (
                "pkgres interface diff a.yaml src/args/b.yaml",
                Some("src/args"),
            ),
            ("pkgres semver @newest src/args", Some("src/args")),
            ("pkgres semver src/args @newest", Some("src/args")),
            ("pkgres semver HEAD", Some(".")),
            ("pkgres lock src/args src/show", Some("src/args")),
            ("pkgres add P --manifest-path src/args", Some("src/args")),
            ("pkgres repair src/args", Some("src/args")),
            ("pkgres vendor src/show src/args", Some("src/args")),
            ("pkgres pin src/args/model.yaml", Some("src/args")),
            ("pkgres check src/args", Some("src/args")),
            ("pkgres explain src/args", Some("src/args")),
            ("pkgres config list src/args", Some("src/args")),
            // These name packages, and no project.
            ("pkgres yank P@1.0.0 --reason broken", None),
            ("pkgres owner list P", None),
        ] {
            let folders = argument_of(line).map_or_else(Vec::new, |argument| argument.folders());
            let first = folders.first().map(PathBuf::as_path);
            assert_eq!(first, folder.map(Path::new), "{line}");
        }
    }
}
