//! Finds the packages that define a class, and the classes that extend it.
//!
//! The index has no table of extended classes: index documents are searched for their names. A search
//! has bounds, so that a page costs the same however many packages there are.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;
use pkgres_formats::ECOSYSTEMS;
use pkgres_manifest::diagnostic::{Location, SourceText};
use pkgres_manifest::{ClassName, IndexReader, IndexRecord, PackageName, Version};
use pkgres_registry_client::protocol::ClassDocument;

use super::backend::RegistryBackend;
use crate::problem::Problem;

/// A class that extends another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Extender {
    pub(crate) class: ClassName,
    pub(crate) package: PackageName,
    /// The newest release in which the class extends the other.
    pub(crate) version: Version,
}

/// The classes that extend some classes.
#[derive(Debug, Default)]
pub(crate) struct Extenders {
    /// By the extended class; each list is sorted.
    pub(crate) of: BTreeMap<ClassName, Vec<Extender>>,
    /// Whether a bound was reached before everything was searched.
    pub(crate) is_partial: bool,
}

impl RegistryBackend {
    /// The packages that define a class for others, sorted.
    pub(crate) fn definers(&self, class: &ClassName) -> Result<Vec<PackageName>, Problem> {
        match self.node.class(class)? {
            Some(document) => Ok(ClassDocument::parse(&document.body)?.packages),
            None => Ok(Vec::new()),
        }
    }

    /// Searches the releases of packages for classes that extend some classes, within bounds.
    pub(crate) fn extenders(
        &self,
        classes: &BTreeSet<ClassName>,
        packages: impl IntoIterator<Item = PackageName>,
        bounds: Bounds,
    ) -> Result<Extenders, Problem> {
        let mut search = ExtenderSearch::new(classes, bounds)?;
        for package in packages {
            if !search.continues() {
                break;
            }
            if let Some(document) = self.node.package(&package)? {
                let reader =
                    IndexReader::of_ecosystems(self.options.read.limits.clone(), ECOSYSTEMS);
                search.search(&package, &document.body, reader)?;
            }
        }
        Ok(search.finish())
    }
}

/// The bounds of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The limit of packages.
    pub(crate) packages: usize,
    /// The limit of bytes of their documents together.
    pub(crate) bytes: usize,
}

/// A search for classes that extend some classes, in one document after the other.
struct ExtenderSearch<'a> {
    classes: &'a BTreeSet<ClassName>,
    /// Finds the names of all classes in one pass over a text.
    names: AhoCorasick,
    left: Bounds,
    found: Extenders,
}

impl<'a> ExtenderSearch<'a> {
    fn new(classes: &'a BTreeSet<ClassName>, bounds: Bounds) -> Result<Self, Problem> {
        // With its quotes, a name is not found inside of longer names.
        let quoted = classes.iter().map(|class| format!("\"{class}\""));
        Ok(Self {
            classes,
            names: AhoCorasick::new(quoted).map_err(Problem::internal)?,
            left: bounds,
            found: Extenders::default(),
        })
    }

    /// Whether there is anything to search for in another package. If a bound is the only reason that
    /// there is not, the result is partial.
    fn continues(&mut self) -> bool {
        if self.classes.is_empty() {
            return false;
        }
        if self.left.packages == 0 || self.left.bytes == 0 {
            self.found.is_partial = true;
            return false;
        }
        true
    }

    /// Searches a document, or its newest releases if it is larger than the bytes that are left.
    fn search(
        &mut self,
        package: &PackageName,
        document: &[u8],
        mut reader: IndexReader,
    ) -> Result<(), Problem> {
        let whole = std::str::from_utf8(document).map_err(Problem::internal)?;
        let text = last_lines(whole, self.left.bytes);
        if text.len() < whole.len() {
            self.found.is_partial = true;
            self.left.bytes = 0;
        }
        self.left.bytes -= self.left.bytes.min(text.len());
        self.left.packages -= 1;
        let mut newest: BTreeMap<(ClassName, ClassName), Version> = BTreeMap::new();
        // Searching for a text is far cheaper than reading records.
        for line in text.lines().filter(|line| self.names.is_match(*line)) {
            let record = reader
                .read_line(line, &|span| {
                    Location::new(&SourceText::new("index document", line), span)
                })
                .map_err(Problem::internal)?;
            add_extended(&mut newest, &record, self.classes);
        }
        for ((parent, class), version) in newest {
            self.found.of.entry(parent).or_default().push(Extender {
                class,
                package: package.clone(),
                version,
            });
        }
        Ok(())
    }

    fn finish(mut self) -> Extenders {
        for extenders in self.found.of.values_mut() {
            extenders.sort();
        }
        self.found
    }
}

/// The last whole lines of a text, up to a number of bytes.
fn last_lines(text: &str, bytes: usize) -> &str {
    let Some(from) = text.len().checked_sub(bytes) else {
        return text;
    };
    if from == 0 {
        return text;
    }
    // A line that begins exactly there fits as a whole.
    let end_of_cut = memchr::memchr(b'\n', &text.as_bytes()[from - 1..]);
    end_of_cut.map_or("", |at| &text[from + at..])
}

/// Adds what a release extends. Lines are sorted by version, so that a later line replaces an earlier
/// one.
fn add_extended(
    newest: &mut BTreeMap<(ClassName, ClassName), Version>,
    record: &IndexRecord,
    classes: &BTreeSet<ClassName>,
) {
    if record.yanked {
        return;
    }
    for class in record.classes.iter().flatten() {
        for parent in &class.extends {
            if classes.contains(parent) {
                let pair = (parent.clone(), class.name.clone());
                newest.insert(pair, record.version.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMPLE: Bounds = Bounds {
        packages: 10,
        bytes: 10_000,
    };

    fn class(name: &str) -> ClassName {
        ClassName::parse(name).expect("a name")
    }

    fn line(package: &str, version: &str, classes: &str) -> String {
        format!(r#"{{"name":"{package}","version":"{version}","classes":{{{classes}}}}}"#) + "\n"
    }

    /// The result as `parent < class of package version`, and whether it is complete.
    fn search(
        extended: &[&str],
        documents: &[(&str, &str)],
        bounds: Bounds,
    ) -> (Vec<String>, bool) {
        let extended: BTreeSet<ClassName> = extended.iter().map(|name| class(name)).collect();
        let mut search = ExtenderSearch::new(&extended, bounds).expect("a search");
        for (package, document) in documents {
            if !search.continues() {
                break;
            }
            let package = PackageName::parse(package).expect("a name");
            let reader = IndexReader::new(pkgres_manifest::Limits::default());
            search
                .search(&package, document.as_bytes(), reader)
                .expect("a document");
        }
        let found = search.finish();
        let mut lines = Vec::new();
        for (parent, extenders) in &found.of {
            for Extender {
                class,
                package,
                version,
            } in extenders
            {
                lines.push(format!("{parent} < {class} of {package} {version}"));
            }
        }
        (lines, !found.is_partial)
    }

    #[test]
    fn the_newest_release_counts_and_longer_names_do_not() {
        let web = line("b.Web", "1.0.0", r#""b.Web":{"extends":["a.Base"]}"#)
            + &line("b.Web", "2.0.0", r#""b.Web":{"extends":["a.Base"]}"#)
            + &line("b.Web", "3.0.0", r#""b.Web":{"extends":["a.BaseOther"]}"#);
        let documents = [("b.Web", web.as_str())];
        assert_eq!(
            search(&["a.Base", "a.None"], &documents, AMPLE),
            (vec!["a.Base < b.Web of b.Web 2.0.0".to_owned()], true)
        );
        assert_eq!(search(&[], &documents, AMPLE), (Vec::new(), true));
    }

    #[test]
    fn the_bounds_hold_and_are_reported() {
        let one = line("b.One", "1.0.0", r#""b.One":{"extends":["a.Base"]}"#)
            + &line("b.One", "2.0.0", r#""b.Newer":{"extends":["a.Base"]}"#);
        let two = line("b.Two", "1.0.0", r#""b.Two":{"extends":["a.Base"]}"#);
        let documents = [("b.One", one.as_str()), ("b.Two", two.as_str())];
        let found = |packages: usize, bytes: usize| {
            let (found, is_all) = search(&["a.Base"], &documents, Bounds { packages, bytes });
            (found.len(), is_all)
        };
        let all = one.len() + two.len();
        assert_eq!(found(2, all), (3, true));
        assert_eq!(found(1, all), (2, false));
        assert_eq!(found(2, one.len()), (2, false));
        assert_eq!(found(2, one.len() - 1), (1, false));
        assert_eq!(found(2, 1), (0, false));
        assert_eq!(found(2, 0), (0, false));
    }

    #[test]
    fn texts_are_cut_where_lines_begin() {
        let text = "one\ntwo\n";
        for (bytes, last) in [
            (9, text),
            (8, text),
            (7, "two\n"),
            (4, "two\n"),
            (3, ""),
            (0, ""),
        ] {
            assert_eq!(last_lines(text, bytes), last, "{bytes}");
        }
    }
}
