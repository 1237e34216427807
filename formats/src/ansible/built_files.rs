//! The files of a source folder that `ansible-galaxy collection build` takes into the artifact.
//!
//! It leaves out what its own patterns name, and what `build_ignore` in `galaxy.yml` names. A pattern is one of
//! Python's `fnmatch`, in which `*` is any text, slashes among it, and has to match the whole path of a file or of a
//! folder around it.
//!
//! The key `manifest` of `galaxy.yml` selects files by directives instead. They are not read: with this key, all files
//! count as part of the release.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::document::{Node, Value, read_yaml};
use pkgres_manifest::{Limits, ReadOptions};

use super::metadata::GALAXY_FILE;
use crate::format::FormatFile;
use crate::lookup::{FileTree, PathKind};

/// The patterns of paths that are always left out.
const PATTERNS: [&str; 7] = [
    "MANIFEST.json",
    "FILES.json",
    "galaxy.yaml",
    ".git",
    "*.pyc",
    "*.retry",
    "tests/output",
];

/// The names of folders that are always left out.
const FOLDERS: [&str; 7] = ["CVS", ".bzr", ".hg", ".git", ".svn", "__pycache__", ".tox"];

/// The most patterns of a `build_ignore`.
const MAX_PATTERNS: usize = 1_000;

/// The files of a source folder that are a part of the release, and its `galaxy.yml`.
pub(super) struct BuiltFiles<'tree> {
    tree: &'tree dyn FileTree,
    patterns: Vec<Pattern>,
}

impl<'tree> BuiltFiles<'tree> {
    /// The files of the source folder with this `galaxy.yml`. Other folders have all of their files.
    pub(super) fn new(
        file: &FormatFile<'_>,
        tree: &'tree dyn FileTree,
        options: &ReadOptions,
    ) -> Self {
        let patterns = if file.name() == GALAXY_FILE {
            let patterns = patterns(file, &options.limits);
            patterns.iter().map(|text| Pattern::new(text)).collect()
        } else {
            Vec::new()
        };
        Self { tree, patterns }
    }

    /// Whether a file is a part of the release.
    fn has(&self, path: &str) -> bool {
        if self.patterns.is_empty() {
            return true;
        }
        let is_left_out = |path: &str| {
            let mut patterns = self.patterns.iter();
            patterns.any(|pattern| pattern.matches(path.as_bytes()))
        };
        let mut folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        let is_in_one = folders.any(|folder| {
            let name = folder.rsplit('/').next().unwrap_or(folder);
            FOLDERS.contains(&name) || is_left_out(folder)
        });
        !is_in_one && !is_left_out(path)
    }
}

impl FileTree for BuiltFiles<'_> {
    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        if self.patterns.len() > MAX_PATTERNS {
            return Err(Limits::exceeded("patterns in `build_ignore`", MAX_PATTERNS));
        }
        let mut paths = self.tree.paths()?;
        paths.retain(|path| self.has(path));
        Ok(paths)
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        self.tree.read(path, limit)
    }

    fn kind_of(&self, path: &str) -> Option<PathKind> {
        self.tree.kind_of(path)
    }

    fn linked_folders(&self) -> Result<BTreeMap<String, String>, Diagnostic> {
        let mut folders = self.tree.linked_folders()?;
        folders.retain(|path, _| self.has(path));
        Ok(folders)
    }

    fn links_to_elsewhere(&self) -> Result<Vec<String>, Diagnostic> {
        let mut links = self.tree.links_to_elsewhere()?;
        links.retain(|path| self.has(path));
        Ok(links)
    }

    fn around(&self, name: &str) -> Option<Box<dyn FileTree>> {
        self.tree.around(name)
    }
}

/// The patterns of a `galaxy.yml`, and those that always hold. There are none if it selects files by directives.
fn patterns(file: &FormatFile<'_>, limits: &Limits) -> Vec<String> {
    let mut patterns: Vec<String> = PATTERNS.map(str::to_owned).into();
    let read = read_yaml(file.path, file.bytes, GALAXY_FILE, limits);
    let Ok(((_, Some(document)), _)) = read.into_result() else {
        return patterns;
    };
    let Some(mapping) = document.as_mapping() else {
        return patterns;
    };
    if mapping.get("manifest").is_some() {
        return Vec::new();
    }
    let text = |key: &str| Some(mapping.get(key)?.as_scalar()?.text.as_str());
    if let (Some(namespace), Some(name)) = (text("namespace"), text("name")) {
        patterns.push(format!("{namespace}-{name}-*.tar.gz"));
    }
    let ignored = match mapping.present("build_ignore").map(|node| &node.value) {
        Some(Value::Sequence(items)) => items.iter().filter_map(Node::as_scalar).collect(),
        Some(Value::Scalar(scalar)) => vec![scalar],
        _ => Vec::new(),
    };
    patterns.extend(ignored.into_iter().map(|pattern| pattern.text.clone()));
    patterns
}

/// A pattern of Python's `fnmatch`.
struct Pattern(Vec<Part>);

/// A part of a pattern.
enum Part {
    /// Any text.
    Star,
    /// Any byte.
    Any,
    /// One of the bytes of a set such as `a-z_`, or a byte that is not in it.
    Set {
        set: Vec<u8>,
        is_negated: bool,
    },
    Literal(u8),
}

impl Pattern {
    fn new(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text.as_bytes();
        // If one bracket has no end, no later one has.
        let mut may_have_end = true;
        while let Some((first, behind)) = rest.split_first() {
            if *first == b'[' && may_have_end {
                if let Some((part, behind)) = Part::set(behind) {
                    parts.push(part);
                    rest = behind;
                    continue;
                }
                may_have_end = false;
            }
            parts.push(match first {
                b'*' => Part::Star,
                b'?' => Part::Any,
                literal => Part::Literal(*literal),
            });
            rest = behind;
        }
        Self(parts)
    }

    /// Whether it matches a whole path. The time is at most the product of the lengths.
    fn matches(&self, path: &[u8]) -> bool {
        let (mut in_pattern, mut in_path) = (0, 0);
        // The last `*`, and where the path continues if it takes one byte more.
        let mut star: Option<(usize, usize)> = None;
        while let Some(byte) = path.get(in_path) {
            match self.0.get(in_pattern) {
                Some(Part::Star) => {
                    star = Some((in_pattern, in_path));
                    in_pattern += 1;
                    continue;
                }
                Some(part) if part.matches(*byte) => {
                    in_pattern += 1;
                    in_path += 1;
                    continue;
                }
                _ => {}
            }
            let Some((at, taken)) = star else {
                return false;
            };
            star = Some((at, taken + 1));
            in_pattern = at + 1;
            in_path = taken + 1;
        }
        let mut rest = self.0.get(in_pattern..).unwrap_or_default().iter();
        rest.all(|part| matches!(part, Part::Star))
    }
}

impl Part {
    /// The set behind a bracket, and what follows it; `None` if the set has no end.
    fn set(text: &[u8]) -> Option<(Self, &[u8])> {
        let is_negated = text.first() == Some(&b'!');
        let text = text.get(usize::from(is_negated)..)?;
        // A bracket at the beginning is one of the bytes.
        let end = memchr::memchr(b']', text.get(1..)?)? + 1;
        let set = text[..end].to_vec();
        Some((Self::Set { set, is_negated }, &text[end + 1..]))
    }

    /// Whether it matches a byte.
    fn matches(&self, byte: u8) -> bool {
        match self {
            Self::Star => false,
            Self::Any => true,
            Self::Set { set, is_negated } => is_in_set(set, byte) != *is_negated,
            Self::Literal(literal) => *literal == byte,
        }
    }
}

/// Whether a byte is in a set such as `a-z_`.
fn is_in_set(mut set: &[u8], byte: u8) -> bool {
    loop {
        match set {
            [] => return false,
            [first, b'-', last, rest @ ..] => {
                if (first..=last).contains(&&byte) {
                    return true;
                }
                set = rest;
            }
            [one, rest @ ..] => {
                if *one == byte {
                    return true;
                }
                set = rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of files.
    struct Paths(Vec<&'static str>);

    impl FileTree for Paths {
        fn paths(&self) -> Result<Vec<String>, Diagnostic> {
            Ok(self.0.iter().map(|path| (*path).to_owned()).collect())
        }

        fn read(&self, _: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
            Ok(None)
        }
    }

    /// The paths that are left of some.
    fn built(galaxy: &str, paths: Vec<&'static str>) -> Vec<String> {
        let file = FormatFile {
            path: "web/galaxy.yml",
            bytes: galaxy.as_bytes(),
        };
        let tree = Paths(paths);
        let built = BuiltFiles::new(&file, &tree, &ReadOptions::default());
        built.paths().expect("the paths are known")
    }

    #[test]
    fn what_is_never_packed_is_left_out() {
        let paths = vec![
            ".git/config",
            ".tox/a",
            "a/CVS/b",
            "acme-web-1.0.0.tar.gz",
            "acme-webs-1.0.0.tar.gz",
            "galaxy.yaml",
            "galaxy.yml",
            "playbooks/site.retry",
            "plugins/modules/__pycache__/a.pyc",
            "plugins/modules/a.py",
            "plugins/modules/a.pyc",
            "roles/CVS",
            "tests/output/junit/a.xml",
            "tests/outputs/a.xml",
        ];
        assert_eq!(
            built("namespace: acme\nname: web\n", paths),
            [
                "acme-webs-1.0.0.tar.gz",
                "galaxy.yml",
                "plugins/modules/a.py",
                "roles/CVS",
                "tests/outputs/a.xml",
            ]
        );
    }

    #[test]
    fn build_ignore_names_files_and_folders() {
        let paths = || vec!["a.py", "b/c.py", "b/d/e.txt", "bc/f.py", "galaxy.yml"];
        for (ignored, left) in [
            ("[]", "a.py b/c.py b/d/e.txt bc/f.py galaxy.yml"),
            ("[b]", "a.py bc/f.py galaxy.yml"),
            ("[b/]", "a.py b/c.py b/d/e.txt bc/f.py galaxy.yml"),
            ("['*.py']", "b/d/e.txt galaxy.yml"),
            ("['b*']", "a.py galaxy.yml"),
            ("['[!a].py', '?/d']", "a.py b/c.py bc/f.py galaxy.yml"),
            ("['b/*.py', '[bx-z]c']", "a.py b/d/e.txt galaxy.yml"),
        ] {
            let galaxy = format!("build_ignore: {ignored}\n");
            assert_eq!(built(&galaxy, paths()).join(" "), left, "{ignored}");
        }
    }

    #[test]
    fn patterns_match_as_in_python() {
        for (pattern, path, expected) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*b*c", "a/b/b/c", true),
            ("a*b*c", "a/b/b", false),
            ("[]]", "]", true),
            ("[!]]", "a", true),
            ("[a", "[a", true),
            ("[a-c]x", "bx", true),
            ("[a-]", "-", true),
            ("[", "[", true),
            ("[]", "[]", true),
            ("[!]", "[!]", true),
            ("[!", "[!", true),
            ("[a]*[b", "a/[b", true),
            ("[[]", "[", true),
            ("[b-a]", "b", false),
        ] {
            let found = Pattern::new(pattern).matches(path.as_bytes());
            assert_eq!(found, expected, "{pattern} {path}");
        }
        let hostile = "*a".repeat(500) + "b";
        let path = "a".repeat(4_000);
        assert!(!Pattern::new(&hostile).matches(path.as_bytes()));
    }

    /// The end of a bracket is searched for once if there is none, which a run of this length would not survive otherwise.
    #[test]
    fn a_bracket_without_an_end_is_a_literal() {
        let length = |pattern: &str| Pattern::new(pattern).0.len();
        assert_eq!(length("[a]["), 2);
        let brackets = "[".repeat(3_000_000);
        assert_eq!(length(&brackets), brackets.len());
        let pattern = Pattern::new(&format!("*{brackets}"));
        assert!(!pattern.matches("[".repeat(4_000).as_bytes()));
    }

    #[test]
    fn directives_leave_everything_in() {
        let paths = || vec![".git/config", "a.py", "galaxy.yml"];
        for manifest in ["{}", "", "{directives: [exclude a.py]}"] {
            let galaxy = format!("manifest: {manifest}\n");
            assert_eq!(built(&galaxy, paths()), paths(), "{manifest}");
        }
    }
}
