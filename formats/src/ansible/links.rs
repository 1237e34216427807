//! Finds links in the source of a collection that lead out of it.

use pkgres_manifest::diagnostic::{
    Code, Diagnostic, Escaped, Location, SourceText, Span, sentence_list,
};

use super::facts_of_files::is_in_collection;
use crate::format::FormatFile;
use crate::lookup::FileTree;

/// The most links that are named.
const MAX_SHOWN_LINKS: usize = 3;

/// The warning about links in the source of a collection that lead out of it: what they lead to is not checked, and
/// `ansible-galaxy` packs it for files and leaves it out for folders.
pub(super) fn links_to_elsewhere(
    file: &FormatFile<'_>,
    tree: &dyn FileTree,
) -> Result<Option<Diagnostic>, Diagnostic> {
    let mut links = tree.links_to_elsewhere()?;
    // A virtual environment beside the files of a collection is full of links.
    links.retain(|path| is_in_collection(path));
    if links.is_empty() {
        return Ok(None);
    }
    let count = links.len();
    links.truncate(MAX_SHOWN_LINKS);
    let mut shown: Vec<String> = links
        .iter()
        .map(|path| format!("`{}`", Escaped::shortened(path)))
        .collect();
    if count > shown.len() {
        shown.push(format!("{} other links", count - shown.len()));
    }
    let (leads, is) = if count == 1 {
        ("leads", "is")
    } else {
        ("lead", "are")
    };
    let message = format!(
        "{} {leads} out of the collection or nowhere, and {is} skipped",
        sentence_list(&shown, "and")
    );
    let place = Location::new(&SourceText::new(file.path, ""), Span::default());
    let finding = Diagnostic::warning(Code::Path, message).at(place);
    Ok(Some(
        finding.hint("replace such a link by a copy of what it leads to"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Links(&'static [&'static str]);

    impl FileTree for Links {
        fn paths(&self) -> Result<Vec<String>, Diagnostic> {
            Ok(Vec::new())
        }

        fn read(&self, _: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
            Ok(None)
        }

        fn links_to_elsewhere(&self) -> Result<Vec<String>, Diagnostic> {
            Ok(self.0.iter().map(|path| (*path).to_owned()).collect())
        }
    }

    #[test]
    fn links_out_of_a_collection_are_named() {
        let file = FormatFile {
            path: "web/galaxy.yml",
            bytes: b"",
        };
        let warned = |links| {
            let found = links_to_elsewhere(&file, &Links(links)).expect("memory can be read");
            found.map(|finding| finding.message)
        };
        assert_eq!(warned(&["venv/bin/python", "README.md"]), None);
        assert_eq!(
            warned(&["plugins/modules/a.py", "venv/bin/python"]).as_deref(),
            Some("`plugins/modules/a.py` leads out of the collection or nowhere, and is skipped")
        );
        let links = &[
            "plugins/a.py",
            "plugins/b.py",
            "roles/c",
            "roles/d",
            "roles/e",
        ];
        assert_eq!(
            warned(links).as_deref(),
            Some(
                "`plugins/a.py`, `plugins/b.py`, `roles/c` and 2 other links lead out of the collection or nowhere, and are skipped"
            )
        );
    }
}
