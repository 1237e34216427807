//! Files that are reached through links to folders.
//!
//! ansible-core keeps a link to a folder in an artifact as a link, lists it as a folder, and lists the files below only
//! where they really are. Programs find these files under both paths.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::Limits;
use pkgres_manifest::diagnostic::Diagnostic;

/// The most files and links that are reached through links. Links in linked folders multiply them.
const MAX_LINKED: u64 = 100_000;

/// The paths of files that are reached through links to folders, besides those of `files` themselves. `links` leads from
/// the path of each link to that of its folder. A link to a folder around it, or around one that was entered before, is
/// not followed: its files have a shorter path.
///
/// ```
/// use std::collections::{BTreeMap, BTreeSet};
///
/// use pkgres_formats::linked_paths;
///
/// let files = BTreeSet::from(["shared/text.py".to_owned()]);
/// let links = BTreeMap::from([("plugins/shared".to_owned(), "shared".to_owned())]);
/// let linked = linked_paths(&files, &links).expect("they are few");
/// assert_eq!(linked, ["plugins/shared/text.py"]);
/// ```
pub fn linked_paths(
    files: &BTreeSet<String>,
    links: &BTreeMap<String, String>,
) -> Result<Vec<String>, Diagnostic> {
    let mut paths = Vec::new();
    let mut steps = 0;
    let mut step = || {
        steps += 1;
        if steps > MAX_LINKED {
            return Err(Limits::exceeded("files in linked folders", MAX_LINKED));
        }
        Ok(())
    };
    // The path of a link, and the folders in which the links up to it really are, its target last.
    let mut rest: Vec<(String, Vec<&str>)> = Vec::new();
    for (link, folder) in links {
        if !is_in(link, folder) {
            let around = link.rsplit_once('/').map_or("", |(folder, _)| folder);
            rest.push((link.clone(), vec![around, folder]));
        }
    }
    while let Some((link, entered)) = rest.pop() {
        let folder = entered.last().copied().unwrap_or_default();
        let beginning = format!("{folder}/");
        let in_folder = files.range(beginning.clone()..);
        for path in in_folder.take_while(|path| path.starts_with(&beginning)) {
            step()?;
            paths.push(format!("{link}/{}", &path[beginning.len()..]));
        }
        let in_folder = links.range(beginning.clone()..);
        for (inner, target) in in_folder.take_while(|(inner, _)| inner.starts_with(&beginning)) {
            step()?;
            let is_cycle = is_in(inner, target) || entered.iter().any(|one| is_in(one, target));
            if !is_cycle {
                let mut entered = entered.clone();
                entered.push(target);
                let inner = &inner[beginning.len()..];
                rest.push((format!("{link}/{inner}"), entered));
            }
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// Whether a path is a folder, or in it.
fn is_in(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(files: &[&str], links: &[(&str, &str)]) -> Result<Vec<String>, Diagnostic> {
        let files = files.iter().map(|path| (*path).to_owned()).collect();
        let links = links
            .iter()
            .map(|(link, folder)| ((*link).to_owned(), (*folder).to_owned()));
        linked_paths(&files, &links.collect())
    }

    #[test]
    fn links_in_linked_folders_are_followed() {
        let paths = linked(
            &["a/one", "ab/no", "c/d/two"],
            &[("x", "a"), ("a/in", "c"), ("nothing", "missing")],
        );
        assert_eq!(
            paths.expect("they are few"),
            ["a/in/d/two", "x/in/d/two", "x/one"]
        );
    }

    #[test]
    fn cycles_of_links_end() {
        for (links, expected) in [
            (vec![("a/self", "a")], vec![]),
            (vec![("a/x", "b"), ("b/y", "a")], vec!["a/x/two", "b/y/one"]),
            (vec![("c/x", "a"), ("a/up", "c")], vec!["c/x/one"]),
        ] {
            let paths = linked(&["a/one", "b/two"], &links);
            assert_eq!(paths.expect("they are few"), expected, "{links:?}");
        }
    }

    #[test]
    fn links_that_multiply_are_an_error() {
        let names: Vec<(String, String)> = (0..20)
            .flat_map(|at| ["x", "y"].map(|name| (format!("f{at}/{name}"), format!("f{}", at + 1))))
            .collect();
        let links: Vec<(&str, &str)> = names
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        let error = linked(&["f20/end"], &links).expect_err("they are too many");
        assert!(error.message.contains("files in linked folders"), "{error}");
    }
}
