//! Which files of a package folder are not part of the package: the ignore file, and the rules that hold without one.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use pkgres_files::{FileError, Follow, entry_path, read_file};
use pkgres_manifest::LOCK_FILE;
use pkgres_manifest::diagnostic::{Diagnostic, Location, SourceText, Span};
use pkgres_manifest::document::merge_conflict;

/// Files at the top of a package folder that belong to the project, not to the package.
const OF_PROJECT: [&str; 3] = [LOCK_FILE, "pkgres.toml", IGNORE_FILE];

/// The file at the top of a package folder that says which files are not part of the package, in the syntax of
/// `.gitignore`.
pub(crate) const IGNORE_FILE: &str = ".pkgresignore";

/// The longest ignore file in bytes.
const MAX_IGNORE_FILE_BYTES: u64 = 64 * 1024;

/// What version control, file managers and editors leave in folders. An ignore file can take it in again.
const LEFTOVERS: [&str; 9] = [
    ".git",
    ".hg",
    ".svn",
    ".bzr",
    ".DS_Store",
    "Thumbs.db",
    "*~",
    ".*.swp",
    ".#*",
];

/// Why a file is not part of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NotPackedReason {
    /// It belongs to the project: the lockfile, the settings, the ignore file.
    OfProject,
    /// It is an archive that packing the folder made.
    Archive,
    /// The ignore file says so.
    Ignored,
    /// Version control, a file manager or an editor left it.
    Leftover,
    /// `pkgres vendor` wrote it.
    Vendored,
    /// pkgres needs it while it runs, and an interrupted run can leave it.
    OfPkgres,
    /// pkgres has deployed something in it.
    Deployed,
}

impl NotPackedReason {
    /// The reason in words that continue "not packed: ".
    pub fn text(self) -> &'static str {
        match self {
            Self::OfProject => "project file",
            Self::Archive => "an archive of this package",
            Self::Ignored => "ignored by .pkgresignore",
            Self::Leftover => "left by version control or an editor",
            Self::Vendored => "written by `pkgres vendor`",
            Self::OfPkgres => "a file of pkgres itself",
            Self::Deployed => "the root of a machine",
        }
    }
}

/// The rules of an ignore file, and those that hold without one.
#[derive(Debug, Clone)]
pub(crate) struct IgnoreRules {
    of_file: Gitignore,
    leftovers: Gitignore,
    /// The ignore file, if there is one.
    source: Option<Arc<SourceText>>,
}

impl IgnoreRules {
    /// Reads the ignore file of a package folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, Diagnostic> {
        let file = entry_path(folder, IGNORE_FILE);
        let rejected = |error: ignore::Error| FileError::Rejected {
            path: file.clone(),
            reason: error.to_string(),
        };
        let mut of_file = GitignoreBuilder::new(folder);
        let mut source = None;
        match read_file(&file, MAX_IGNORE_FILE_BYTES, Follow::Nothing) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                // Some editors begin files with a byte order mark. git skips it as well.
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                let text = SourceText::new(file.to_string_lossy(), text);
                // The markers would be patterns, and the rules those of both sides.
                if let Some(conflict) = merge_conflict(&text) {
                    return Err(conflict);
                }
                for line in text.text().lines() {
                    let line = without_alternatives(line);
                    of_file.add_line(None, &line).map_err(rejected)?;
                }
                source = Some(text);
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Self {
            of_file: of_file.build().map_err(rejected)?,
            source,
            ..Self::without_file()
        })
    }

    /// The rules that hold without an ignore file.
    pub(crate) fn without_file() -> Self {
        let mut leftovers = GitignoreBuilder::new("");
        for pattern in LEFTOVERS {
            let added = leftovers.add_line(None, pattern);
            added.expect("the pattern is valid");
        }
        Self {
            of_file: Gitignore::empty(),
            leftovers: leftovers.build().expect("the patterns are valid"),
            source: None,
        }
    }

    /// The place of the rule of the ignore file that excludes a file or folder.
    pub(crate) fn location_of(&self, relative: &str, is_folder: bool) -> Option<Location> {
        let source = self.source.as_ref()?;
        let matched = self.of_file.matched(relative, is_folder);
        let pattern = matched.inner()?.original();
        // The last of equal lines decides.
        let lines = source.text().split_inclusive('\n').scan(0, |end, line| {
            let start = *end;
            *end += line.len();
            Some((start, line))
        });
        let (start, _) = lines
            .filter(|(_, line)| line.trim_end() == pattern.trim_end())
            .last()?;
        let end = start + pattern.len();
        Some(Location::new(source, Span { start, end }))
    }

    /// Why a file or folder is not part of the package, if a rule says so.
    pub(crate) fn leave_out(&self, relative: &str, is_folder: bool) -> Option<NotPackedReason> {
        if OF_PROJECT.contains(&relative) {
            return Some(NotPackedReason::OfProject);
        }
        match self.of_file.matched(relative, is_folder) {
            Match::Ignore(_) => Some(NotPackedReason::Ignored),
            Match::Whitelist(_) => None,
            Match::None => {
                let is_leftover = self.leftovers.matched(relative, is_folder).is_ignore();
                is_leftover.then_some(NotPackedReason::Leftover)
            }
        }
    }
}

/// A line of an ignore file in which braces are plain characters, as they are for git. The library takes `{a,b}` for
/// alternatives.
fn without_alternatives(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut is_in_class = false;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                plain.push(character);
                plain.extend(characters.next());
                continue;
            }
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '{' | '}' if !is_in_class => plain.push('\\'),
            _ => {}
        }
        plain.push(character);
    }
    plain
}
