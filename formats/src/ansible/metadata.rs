//! Reads the name, version and dependencies of a collection, from the `galaxy.yml` of a source folder or the
//! `MANIFEST.json` of an artifact.

use pkgres_manifest::diagnostic::{Code, Escaped, Parsed, Span};
use pkgres_manifest::document::{Mapping, Node, NodeReader, read_json, read_yaml, written_value};
use pkgres_manifest::{IndexRecord, Limits, PackageName, Version};

use super::name::{is_collection_name, is_identifier, package_name};
use super::plain_number::warn_of_dependency;
use super::range;
use super::record::{ECOSYSTEM, add_requirement, without_version};
use super::requirements_file::{guessed_source, reason_of_source};
use super::shown_metadata::CollectionAbout;

/// The file of a source folder.
pub const GALAXY_FILE: &str = "galaxy.yml";
/// The file of an artifact and of an installed collection.
pub const COLLECTION_MANIFEST: &str = "MANIFEST.json";

/// The keys of `galaxy.yml`.
const KEYS: [&str; 16] = [
    "namespace",
    "name",
    "version",
    "readme",
    "authors",
    "description",
    "license",
    "license_file",
    "tags",
    "dependencies",
    "repository",
    "documentation",
    "homepage",
    "issues",
    "build_ignore",
    "manifest",
];

/// The content of `MANIFEST.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionManifest {
    /// Name, version and requirements.
    pub record: IndexRecord,
    /// The name of the list of files, and its SHA-256 in hexadecimal.
    pub file_list: (String, String),
    /// The metadata for people.
    pub about: CollectionAbout,
}

struct MetadataReader<'document> {
    nodes: NodeReader<'document>,
}

/// Reads `galaxy.yml`.
pub fn read_galaxy_file(name: &str, bytes: &[u8], limits: &Limits) -> Parsed<IndexRecord> {
    let read = read_yaml(name, bytes, GALAXY_FILE, limits);
    let ((source, document), mut findings) = match read.into_result() {
        Ok(read) => read,
        Err(findings) => return Parsed::new(None, findings),
    };
    let mut reader = MetadataReader {
        nodes: NodeReader::new(&source, Code::Field),
    };
    let record = if let Some(document) = &document {
        reader.galaxy_file(document, limits)
    } else {
        reader.nodes.error("the file is empty", Span::default());
        None
    };
    findings.extend(reader.nodes.into_findings());
    Parsed::new(record, findings)
}

/// Reads `MANIFEST.json`.
pub fn read_collection_manifest(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
) -> Parsed<CollectionManifest> {
    let read = read_json(name, bytes, COLLECTION_MANIFEST, limits);
    let ((source, document), mut findings) = match read.into_result() {
        Ok(read) => read,
        Err(findings) => return Parsed::new(None, findings),
    };
    let mut reader = MetadataReader {
        nodes: NodeReader::new(&source, Code::Field),
    };
    let manifest = reader.manifest(&document, limits);
    findings.extend(reader.nodes.into_findings());
    Parsed::new(manifest, findings)
}

/// The name of a collection as its `galaxy.yml` or `MANIFEST.json` has it, also if the rest cannot be read.
pub(crate) fn written_collection_name(file: &str, bytes: &[u8], limits: &Limits) -> Option<String> {
    let (namespace, name) = if file == COLLECTION_MANIFEST {
        let read = read_json(file, bytes, COLLECTION_MANIFEST, limits);
        let ((_, document), _) = read.into_result().ok()?;
        let info = document
            .as_mapping()?
            .get("collection_info")?
            .as_mapping()?;
        let text = |key| Some(info.get(key)?.as_scalar()?.text.clone());
        (text("namespace")?, text("name")?)
    } else {
        let text = String::from_utf8_lossy(bytes);
        let value = |key| written_value(&text, key).map(str::to_owned);
        (value("namespace")?, value("name")?)
    };
    let full = format!("{namespace}.{name}");
    is_collection_name(&full).then_some(full)
}

/// The file that metadata is read from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Metadata {
    /// `galaxy.yml`, which people write.
    Source,
    /// `MANIFEST.json`, which a tool writes.
    Built,
}

impl MetadataReader<'_> {
    fn galaxy_file(&mut self, document: &Node, limits: &Limits) -> Option<IndexRecord> {
        let mapping = self.nodes.mapping(document, GALAXY_FILE)?;
        self.nodes.warn_of_unknown_keys(mapping, &KEYS, GALAXY_FILE);
        for key in ["readme", "authors"] {
            if mapping.present(key).is_none() {
                let message =
                    format!("`{key}` is missing, and ansible-galaxy builds nothing without it");
                self.nodes.warning(message, document.span);
            }
        }
        if mapping.present("build_ignore").is_some()
            && let Some(entry) = mapping.entry("manifest")
            && !entry.value.is_null()
        {
            let message = "`manifest` and `build_ignore` exclude each other, and ansible-galaxy builds nothing with both";
            self.nodes.warning(message, entry.key_span);
        }
        self.collection(document, mapping, Metadata::Source, limits)
    }

    fn manifest(&mut self, document: &Node, limits: &Limits) -> Option<CollectionManifest> {
        let mapping = self.nodes.mapping(document, COLLECTION_MANIFEST)?;
        if let Some(format) = mapping.get("format")
            && format.as_scalar().is_none_or(|format| format.text != "1")
        {
            let message = "the format of the collection is not 1";
            self.nodes.error_of(Code::Format, message, format.span);
        }
        let info = self.child(document, mapping, "collection_info")?;
        let list = self.child(document, mapping, "file_manifest_file")?;
        let info_mapping = self.nodes.mapping(info, "`collection_info`")?;
        let record = self.collection(info, info_mapping, Metadata::Built, limits);
        let list_mapping = self.nodes.mapping(list, "`file_manifest_file`")?;
        let name = self.text(list, list_mapping, "name")?;
        let digest = self.text(list, list_mapping, "chksum_sha256")?;
        Some(CollectionManifest {
            record: record?,
            file_list: (name.0, digest.0),
            about: CollectionAbout::read(info_mapping),
        })
    }

    /// Reads namespace, name, version and dependencies.
    fn collection(
        &mut self,
        node: &Node,
        mapping: &Mapping,
        kind: Metadata,
        limits: &Limits,
    ) -> Option<IndexRecord> {
        let namespace = self.identifier(node, mapping, "namespace");
        let name = self.identifier(node, mapping, "name");
        let version = self.version(node, mapping, kind);
        let full = format!("{}.{}", namespace.as_ref()?, name?);
        let name = match PackageName::native(&full) {
            Ok(name) => name,
            Err(error) => {
                self.nodes
                    .error_of(Code::Name, error.to_string(), node.span);
                return None;
            }
        };
        let mut record = IndexRecord::new(name, version?);
        record.ecosystem = ECOSYSTEM;
        let Some(dependencies) = mapping.present("dependencies") else {
            return Some(record);
        };
        let dependencies = self.nodes.mapping(dependencies, "`dependencies`")?;
        if dependencies.entries.len() > limits.requirements {
            let location = self.nodes.location(node.span);
            let finding = Limits::exceeded("requirements", limits.requirements).at(location);
            self.nodes.report(finding);
            return None;
        }
        for entry in &dependencies.entries {
            let text = &entry.key.text;
            let package = match package_name(text) {
                Ok(package) => package,
                Err(error) => {
                    let shown = Escaped::shortened(text);
                    let message = match reason_of_source(guessed_source(text)) {
                        Some(reason) => {
                            format!("`{shown}` cannot be locked from its source: {reason}")
                        }
                        None => format!("`{shown}` is not the name of a collection: {error}"),
                    };
                    self.nodes.error_of(Code::Name, message, entry.key_span);
                    continue;
                }
            };
            if package == record.name {
                let message = format!("{package} requires itself");
                self.nodes
                    .error_of(Code::SelfRequirement, message, entry.key_span);
                continue;
            }
            let range = match entry.value.as_scalar() {
                Some(scalar) if scalar.is_null() => "*",
                Some(scalar) => &scalar.text,
                None => {
                    self.nodes.wrong_kind("a range", "text", &entry.value);
                    continue;
                }
            };
            warn_of_dependency(&mut self.nodes, text, &entry.value);
            if let Some(spec) = range::read(&mut self.nodes, range, entry.value.span) {
                let at = self.nodes.location(entry.key_span);
                record = add_requirement(record, package.clone(), spec, Some(at.clone()));
                if let Some(finding) = without_version(&record, &package, [&at]) {
                    self.nodes.report(finding);
                }
            }
        }
        Some(record)
    }

    fn version(&mut self, node: &Node, mapping: &Mapping, kind: Metadata) -> Option<Version> {
        // A collection in version control may leave its version to the tool that builds it.
        if kind == Metadata::Source && mapping.get("version").is_some_and(Node::is_null) {
            return Some(Version::ZERO);
        }
        let (text, span) = self.text(node, mapping, "version")?;
        match ECOSYSTEM.version(&text) {
            Ok(version) => Some(version),
            Err(error) => {
                let finding = self.nodes.error_of(Code::Version, error.to_string(), span);
                if let Some(nearest) = error.nearest {
                    finding.add_hint(format!("the nearest version is {nearest}"));
                }
                None
            }
        }
    }

    fn identifier(&mut self, node: &Node, mapping: &Mapping, key: &str) -> Option<String> {
        let (text, span) = self.text(node, mapping, key)?;
        if is_identifier(&text) {
            return Some(text);
        }
        let shown = Escaped::shortened(&text);
        let message = format!("`{shown}` is not an identifier of Python, which `{key}` has to be");
        self.nodes.error_of(Code::Name, message, span);
        None
    }

    /// The text and place of a scalar that has to be there.
    fn text(&mut self, node: &Node, mapping: &Mapping, key: &str) -> Option<(String, Span)> {
        let child = self.child(node, mapping, key)?;
        let scalar = self.nodes.text(child, &format!("`{key}`"))?;
        Some((scalar.text.clone(), child.span))
    }

    fn child<'node>(
        &mut self,
        node: &Node,
        mapping: &'node Mapping,
        key: &str,
    ) -> Option<&'node Node> {
        let child = mapping.present(key);
        if child.is_none() {
            self.nodes.error(format!("`{key}` is missing"), node.span);
        }
        child
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GALAXY: &str =
        "namespace: acme\nname: web\nversion: 1.2.0\nreadme: README.md\nauthors: [a]\n";

    fn findings(text: &str) -> String {
        let read = read_galaxy_file("galaxy.yml", text.as_bytes(), &Limits::default());
        read.diagnostics()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn a_galaxy_file_is_a_record() {
        let text = format!(
            "{GALAXY}dependencies:\n  acme.net: '>=1.0.0,<2'\n  acme.db: '1.10'\n  acme.any:\n"
        );
        let read = read_galaxy_file("galaxy.yml", text.as_bytes(), &Limits::default());
        let (record, findings) = read.into_result().expect("it is valid");
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(
            record.to_line(),
            r#"{"ecosystem":"ansible","name":"acme.web","version":"1.2.0","require":[["acme.net",">=1.0.0,<2"],["acme.db","1.10"],["acme.any","*"]]}"#
        );
        let location = record.requirements[1]
            .location
            .as_ref()
            .expect("it has a place");
        assert_eq!(location.to_string(), "galaxy.yml:8:3");
        let ten = Version::parse("1.10.0").expect("a version");
        assert!(record.requirements[1].spec.matches(&ten));
    }

    #[test]
    fn numbers_among_the_dependencies_are_warnings() {
        let with =
            |range: &str| findings(&format!("{GALAXY}dependencies: {{acme.net: {range}}}\n"));
        assert_eq!(
            with("1.10"),
            "galaxy.yml:6:26: warning[PK0010]: without quotes, `1.10` is the number 1.1, and `ansible-galaxy` does not \
             install the collection that it builds; hint: write `acme.net: \"1.10\"`"
        );
        assert!(with("1.2").contains("`1.2` is a number, and"));
        assert_eq!(with("'1.10'"), "");
    }

    #[test]
    fn the_files_to_build_are_listed_or_ignored() {
        let both = format!("{GALAXY}build_ignore: [x]\nmanifest:\n  directives: []\n");
        assert_eq!(
            findings(&both),
            "galaxy.yml:7:1: warning[PK0007]: `manifest` and `build_ignore` exclude each other, and ansible-galaxy builds \
             nothing with both"
        );
        for one in ["build_ignore: [x]\n", "build_ignore:\nmanifest: {}\n"] {
            assert_eq!(findings(&format!("{GALAXY}{one}")), "");
        }
    }

    #[test]
    fn findings_name_the_place() {
        insta::assert_snapshot!(findings(
            "namespace: acme\nname: web-app\nversion: 1.10\ncolor: red\ndependencies:\n  acme.net: ^1.0\n  x: '*'\n  acme.web: '*'\n"
        ));
        insta::assert_snapshot!(findings(&format!(
            "{GALAXY}dependencies:\n  acme.net: 1.x\n  x: '*'\n  acme.web: '*'\n  acme.list: [1]\n"
        )));
        insta::assert_snapshot!(findings("- 1\n"));
        insta::assert_snapshot!(findings(""));
    }

    #[test]
    fn a_manifest_has_the_digest_of_the_list_of_files() {
        let text = br#"{"collection_info":{"namespace":"acme","name":"web","version":"1.2.0","dependencies":{"acme.net":">=1.0"},
            "authors":["Ann","Bob"],"license":"MIT","tags":null,"description":"Pages","homepage":["x"],
            "repository":"https://me:secret@git.example/web.git"},
            "file_manifest_file":{"name":"FILES.json","ftype":"file","chksum_type":"sha256","chksum_sha256":"ab","format":1},"format":1}"#;
        let read = read_collection_manifest("MANIFEST.json", text, &Limits::default());
        let (manifest, findings) = read.into_result().expect("it is valid");
        assert!(findings.is_empty());
        assert_eq!(
            manifest.file_list,
            ("FILES.json".to_owned(), "ab".to_owned())
        );
        assert_eq!(manifest.record.requirements.len(), 1);
        let expected = CollectionAbout {
            authors: vec!["Ann".to_owned(), "Bob".to_owned()],
            license: vec!["MIT".to_owned()],
            description: Some("Pages".to_owned()),
            repository: Some("https://***@git.example/web.git".to_owned()),
            ..CollectionAbout::default()
        };
        assert_eq!(manifest.about, expected);
        for bad in [
            &b"[]"[..],
            b"{}",
            br#"{"collection_info":{},"file_manifest_file":{}}"#,
            br#"{"collection_info":{"namespace":"acme","name":"web","version":null},
                "file_manifest_file":{"name":"FILES.json","chksum_sha256":"ab"},"format":1}"#,
            b"{",
        ] {
            let read = read_collection_manifest("MANIFEST.json", bad, &Limits::default());
            assert!(read.value().is_none());
        }
    }
}
