//! A state of the index: the names and digests of all documents, and the Merkle tree over them.

use std::sync::{Arc, OnceLock};

use pkgres_manifest::{ClassName, PackageName};
use pkgres_registry_client::protocol::{Digest, MerkleTree, NamesLine, leaf_hash};

use super::document::Document;
use crate::problem::Problem;
use crate::store::documents::{DocumentKind, DocumentRow};

/// A package of a state.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: PackageName,
    pub(crate) digest: Digest,
    /// The packages that releases of the package require, sorted.
    pub(crate) requires: Vec<PackageName>,
}

/// A state of the index. It never changes; a later state is made from it.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) serial: u64,
    /// Sorted by name.
    packages: Vec<Arc<Entry>>,
    /// Sorted by name.
    classes: Vec<(ClassName, Digest)>,
    tree: MerkleTree,
    names: OnceLock<Arc<Document>>,
}

impl State {
    /// The state of a registry without packages.
    pub(crate) fn empty() -> Self {
        Self {
            serial: 0,
            packages: Vec::new(),
            classes: Vec::new(),
            tree: MerkleTree::new(Vec::new()),
            names: OnceLock::new(),
        }
    }

    /// The state at a later serial, from the documents that were rendered since.
    pub(crate) fn after(&self, serial: u64, rendered: Vec<DocumentRow>) -> Result<Self, Problem> {
        let mut next = self.clone();
        next.serial = serial;
        next.names = OnceLock::new();
        // A few documents are inserted at their places; many are appended and sorted.
        let is_bulk = rendered.len() > 64;
        let mut gone = Vec::new();
        for listed in rendered {
            let Some(digest) = listed.digest else {
                gone.push((listed.kind, listed.name));
                continue;
            };
            match listed.kind {
                DocumentKind::Class => {
                    let class = ClassName::parse(&listed.name).map_err(Problem::internal)?;
                    let known = if is_bulk {
                        self.class_at(&class)
                    } else {
                        next.class_at(&class)
                    };
                    match known {
                        Ok(at) => next.classes[at].1 = digest,
                        Err(_) if is_bulk => next.classes.push((class, digest)),
                        Err(at) => next.classes.insert(at, (class, digest)),
                    }
                }
                DocumentKind::Package => {
                    let entry = entry(&listed, digest)?;
                    let leaf = leaf(&entry);
                    match self.at(&entry.name) {
                        Ok(at) if is_bulk => next.packages[at] = entry,
                        Err(_) if is_bulk => next.packages.push(entry),
                        _ => match next.at(&entry.name) {
                            Ok(at) => {
                                next.packages[at] = entry;
                                next.tree.replace(at, leaf);
                            }
                            Err(at) => {
                                next.packages.insert(at, entry);
                                next.tree.insert(at, leaf);
                            }
                        },
                    }
                }
            }
        }
        if is_bulk {
            next.packages.sort_by(|one, two| one.name.cmp(&two.name));
            next.classes.sort();
            let leaves = next.packages.iter().map(|entry| leaf(entry)).collect();
            next.tree = MerkleTree::new(leaves);
        }
        for (kind, name) in gone {
            next.remove(kind, &name)?;
        }
        Ok(next)
    }

    /// Removes a document. A node that starts sees removals of documents that it never had.
    fn remove(&mut self, kind: DocumentKind, name: &str) -> Result<(), Problem> {
        match kind {
            DocumentKind::Class => {
                let class = ClassName::parse(name).map_err(Problem::internal)?;
                if let Ok(at) = self.class_at(&class) {
                    self.classes.remove(at);
                }
            }
            DocumentKind::Package => {
                let package = PackageName::parse(name).map_err(Problem::internal)?;
                if let Ok(at) = self.at(&package) {
                    self.packages.remove(at);
                    self.tree.remove(at);
                }
            }
        }
        Ok(())
    }

    fn at(&self, name: &PackageName) -> Result<usize, usize> {
        self.packages.binary_search_by(|entry| entry.name.cmp(name))
    }

    /// The digest of the document of a package.
    pub(crate) fn digest(&self, name: &str) -> Option<Digest> {
        let compare = |entry: &Arc<Entry>| entry.name.as_str().cmp(name);
        let at = self.packages.binary_search_by(compare).ok()?;
        Some(self.packages[at].digest)
    }

    fn class_at(&self, class: &ClassName) -> Result<usize, usize> {
        self.classes.binary_search_by(|(known, _)| known.cmp(class))
    }

    /// A package and its place among all packages.
    pub(crate) fn package(&self, name: &PackageName) -> Option<(usize, &Arc<Entry>)> {
        let at = self.at(name).ok()?;
        Some((at, &self.packages[at]))
    }

    /// All packages, sorted by name.
    pub(crate) fn packages(&self) -> &[Arc<Entry>] {
        &self.packages
    }

    /// All classes that packages define, with the digests of their documents, sorted.
    pub(crate) fn classes(&self) -> &[(ClassName, Digest)] {
        &self.classes
    }

    /// The digest of the document of a class.
    pub(crate) fn class(&self, class: &ClassName) -> Option<&Digest> {
        let at = self.class_at(class).ok()?;
        Some(&self.classes[at].1)
    }

    /// The tree over the lines of `names.ndjson`.
    pub(crate) fn tree(&self) -> &MerkleTree {
        &self.tree
    }

    /// `names.ndjson`, which is rendered when it is first needed.
    pub(crate) fn names(&self) -> Arc<Document> {
        let render = || {
            let mut text = String::new();
            for entry in &self.packages {
                text.push_str(&line(entry));
                text.push('\n');
            }
            Arc::new(Document::new(text))
        };
        Arc::clone(self.names.get_or_init(render))
    }
}

fn entry(listed: &DocumentRow, digest: Digest) -> Result<Arc<Entry>, Problem> {
    let name = |text: &str| PackageName::parse(text).map_err(Problem::internal);
    Ok(Arc::new(Entry {
        name: name(&listed.name)?,
        digest,
        requires: listed
            .requires
            .lines()
            .map(name)
            .collect::<Result<_, _>>()?,
    }))
}

fn line(entry: &Entry) -> String {
    let line = NamesLine {
        name: entry.name.clone(),
        sha256: entry.digest,
    };
    line.to_line()
}

fn leaf(entry: &Entry) -> Digest {
    leaf_hash(line(entry).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, text: &str) -> DocumentRow {
        DocumentRow {
            kind: DocumentKind::Package,
            name: name.to_owned(),
            digest: Some(Digest::of(text.as_bytes())),
            requires: String::new(),
        }
    }

    #[test]
    fn bulk_and_single_changes_give_the_same_state() {
        let names: Vec<String> = (0..200)
            .map(|number| format!("p{}", number * 7919 % 311))
            .collect();
        let all = || names.iter().map(|name| listed(name, name));
        let bulk = State::empty().after(9, all().collect()).expect("a state");
        let mut single = State::empty();
        for (serial, one) in all().enumerate() {
            single = single.after(serial as u64, vec![one]).expect("a state");
        }
        assert_eq!(bulk.tree(), single.tree());
        assert_eq!(bulk.names().body, single.names().body);
        // Changed ones among them.
        let changed = || names.iter().map(|name| listed(name, "changed"));
        let bulk = bulk.after(10, changed().collect()).expect("a state");
        for (serial, one) in changed().enumerate() {
            single = single.after(serial as u64, vec![one]).expect("a state");
        }
        assert_eq!(bulk.tree(), single.tree());
        let lines = NamesLine::parse_all(&bulk.names().body).expect("lines");
        assert_eq!(lines.len(), 200);
        assert_eq!(bulk.tree().len(), 200);
        // Half of them gone, and some that never were.
        let removed = || {
            let gone = names.iter().step_by(2).cloned();
            gone.chain(["never".to_owned()]).map(|name| DocumentRow {
                digest: None,
                ..listed(&name, "")
            })
        };
        let bulk = bulk.after(11, removed().collect()).expect("a state");
        for one in removed() {
            single = single.after(11, vec![one]).expect("a state");
        }
        let left = names.iter().skip(1).step_by(2);
        let fresh = State::empty()
            .after(11, left.map(|name| listed(name, "changed")).collect())
            .expect("a state");
        for state in [&bulk, &single] {
            assert_eq!(state.tree(), fresh.tree());
            assert_eq!(state.names().body, fresh.names().body);
        }
    }
}
