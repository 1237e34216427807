//! OPC UA information models.
//!
//! A model is a package, named by the URI of its namespace. A NodeSet2 file defines one or several models, requires
//! minimum releases of others, and has types that extend and use types of these. See [`ModelRelease`] for versions and
//! their order, and [`NodeSet`] for the data that is read from a file.
//!
//! The core model, [`http://opcfoundation.org/UA/`](https://reference.opcfoundation.org), is required like any other.

mod check;
mod document;
mod encoding;
mod node_id;
mod nodeset;
mod reader;
mod record;
mod record_line;
mod release;

pub use node_id::{Identifier, NodeId};
pub use nodeset::{
    Model, NodeSet, NodeType, NodeUse, RequiredModel, Role, TypeKind, TypeReference,
};
pub use reader::read_node_set;
pub use release::{ModelRelease, ReleaseError};

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, Parsed, Span, capped};
use pkgres_manifest::{
    ArtifactDigest, ClassName, Declarations, DeclaredType, Ecosystem, IndexRecord, Limits,
    NameError, PackageName, ReadOptions, Requirement, Shared, Spec, SpecError, Version,
    VersionError,
};

use self::encoding::in_utf8;
use crate::format::{
    DigestedRecord, Distribution, Format, FormatFile, FormatNames, NotEditable, ReleaseExtent,
    Root, RootEditor,
};
use crate::lookup::{FileTree, ReleaseLookup};
use crate::rules::Rules;

/// Names, versions, requirements and index records of models.
#[derive(Debug)]
struct Models;

/// The [`Ecosystem`] of models.
pub const ECOSYSTEM: &dyn Ecosystem = &Models;

impl Ecosystem for Models {
    fn id(&self) -> &'static str {
        "opcua"
    }

    fn package_name(&self, text: &str) -> Result<PackageName, NameError> {
        node_id::package_name(text)
    }

    fn class_name(&self, text: &str) -> Result<ClassName, NameError> {
        ClassName::native(text)
    }

    fn version(&self, text: &str) -> Result<Version, VersionError> {
        release::read_version(text)
    }

    fn spec(&self, text: &str) -> Result<Spec, SpecError> {
        release::read_spec(text)
    }

    /// As in a `RequiredModel`: this release, or one that is not older.
    fn compatible_with(&self, version: &Version) -> Spec {
        let release = ModelRelease::read(&version.to_string());
        release.unwrap_or_default().to_spec()
    }

    fn first_name(&self, class: &ClassName) -> Option<ClassName> {
        record::first_name(class)
    }

    fn has_labels(&self) -> bool {
        true
    }

    fn read_record(&self, line: &str, limits: &Limits) -> Result<IndexRecord, String> {
        record_line::read(line, limits)
    }

    fn write_record(&self, record: &IndexRecord) -> String {
        record_line::write(record)
    }
}

/// The format of NodeSet2 files, which are roots and releases.
#[derive(Debug, Clone, Copy)]
pub struct NodeSets;

impl Format for NodeSets {
    fn ecosystem(&self) -> &'static dyn Ecosystem {
        ECOSYSTEM
    }

    fn rules(&self) -> Rules {
        Rules::OF_MODULES
            .with_inheritance()
            .with_dated_versions()
            .with_load_order()
    }

    fn names(&self) -> FormatNames {
        FormatNames {
            distribution: Distribution {
                release: "a model of OPC UA",
                pack: Some("a model needs no archive: its NodeSet2 file is the release"),
                publish: Some(
                    "copy the NodeSet2 file into a folder that others can read: `dir:FOLDER` is a registry, and \
                     `pkgres index FOLDER` makes an index file of it",
                ),
            },
            ..FormatNames::default()
        }
    }

    fn is_root(&self, file: &FormatFile<'_>) -> bool {
        is_xml(file.name()) && reader::begins_like_node_set(&in_utf8(file.bytes))
    }

    fn read_root(&self, file: &FormatFile<'_>, _: &dyn FileTree, _: &ReadOptions) -> Parsed<Root> {
        let text = in_utf8(file.bytes);
        let file = &with_text(file, &text);
        let (node_set, records, mut findings) = match read_records(file, true) {
            Ok(read) => read,
            Err(errors) => return Parsed::new(None, errors),
        };
        let unmet = unmet_siblings(&node_set, &records);
        if !unmet.is_empty() {
            return Parsed::new(None, unmet);
        }
        let mut records = records.into_iter();
        let Some(first) = records.next() else {
            return Parsed::failed(no_models(&node_set));
        };
        let others: Vec<IndexRecord> = records.collect();
        if !others.is_empty() {
            let model = &node_set.models[1];
            let message = format!(
                "the file defines {} models, which are resolved as one: `{}`",
                others.len() + 1,
                first.name
            );
            let place = node_set.locate(model.span);
            findings.push(Diagnostic::warning(Code::Field, message).at(place));
        }
        let root = Root {
            record: merged(first, &others),
            extent: Some(ReleaseExtent::File),
            entries: Vec::new(),
        };
        Parsed::new(Some(root), findings)
    }

    fn editor(&self, _: &FormatFile<'_>) -> Result<&dyn RootEditor, NotEditable> {
        Err(NotEditable {
            reason: "a NodeSet2 file has no ranges, only the models that it was made for",
            addition: Some(|package| {
                format!(
                    "add `<RequiredModel ModelUri=\"{package}\"/>` to the `Model`, with the `Version` and \
                     `PublicationDate` of the oldest release"
                )
            }),
        })
    }

    fn check_root(
        &self,
        file: &FormatFile<'_>,
        _: &dyn FileTree,
        known: &dyn ReleaseLookup,
        _: &ReadOptions,
    ) -> Vec<Diagnostic> {
        let text = in_utf8(file.bytes);
        let read = reader::read_with_nodes(file.path, &text);
        let ((node_set, nodes), mut findings) = match read.into_result() {
            Ok(read) => read,
            Err(errors) => return errors,
        };
        if node_set.models.is_empty() {
            findings.push(no_models(&node_set));
        }
        match node_set.records(false) {
            Ok((records, warnings)) => {
                findings.extend(warnings);
                findings.extend(unmet_siblings(&node_set, &records));
                findings.extend(node_set.check(&nodes, known));
            }
            Err(error) => findings.push(error),
        }
        capped(findings)
    }

    fn reference_place(
        &self,
        file: &FormatFile<'_>,
        _: &dyn FileTree,
        class: &ClassName,
        _: &ReadOptions,
    ) -> Option<Location> {
        let text = in_utf8(file.bytes);
        let (node_set, _) = read_node_set(file.path, &text).into_result().ok()?;
        let (uri, identifier, kind) = record::parts_of(class)?;
        let is_it = |id: &NodeId<'_>| {
            node_set.uri(id.namespace) == uri && id.identifier.to_string() == identifier
        };
        let types = node_set.types.iter();
        let span = if kind.is_some() {
            let mut extended = types.flat_map(|one| &one.extends);
            let found = extended.find(|parent| Some(parent.kind) == kind && is_it(&parent.id));
            found?.span
        } else {
            let used = types.flat_map(|one| &one.uses).chain(&node_set.uses);
            let places = used.filter(|used| is_it(&used.id)).map(|used| used.span);
            places.min_by_key(|span| span.start)?
        };
        Some(node_set.locate(span))
    }

    fn declarations(
        &self,
        file: &FormatFile<'_>,
        _: &dyn FileTree,
        _: &ReadOptions,
    ) -> Parsed<Declarations> {
        let text = in_utf8(file.bytes);
        let read = reader::read_with_members(file.path, &text);
        let ((node_set, members), findings) = match read.into_result() {
            Ok(read) => read,
            Err(errors) => return Parsed::new(None, errors),
        };
        let class_name = |id: &node_id::NodeId<'_>| {
            let namespace = node_set.uri(id.namespace);
            record::class_name(namespace, &id.identifier.to_string()).ok()
        };
        let mut declarations = Declarations::default();
        for (one, mandatory) in node_set.types.iter().zip(members) {
            let Some(name) = class_name(&one.id) else {
                continue;
            };
            let extends = one.extends.iter();
            let place = |span| node_set.locate(span);
            let mandatory = mandatory.into_iter();
            let declared = DeclaredType {
                label: (!one.browse_name.is_empty()).then(|| one.browse_name.to_string()),
                extends: extends
                    .filter_map(|parent| class_name(&parent.id))
                    .collect(),
                mandatory: mandatory.map(|(path, span)| (path, place(span))).collect(),
                location: place(one.span),
            };
            declarations.types.insert(name, declared);
        }
        Parsed::new(Some(declarations), findings)
    }

    /// `http://opcfoundation.org/UA/DI/` 1.04.0@2022-11-03 is `opcfoundation.org-UA-DI-1.04.0-2022-11-03.NodeSet2.xml`.
    fn artifact_name(&self, package: &PackageName, version: &Version) -> String {
        let uri = package.as_str();
        let path = uri.split_once("://").map_or(uri, |(_, path)| path);
        let text = format!("{path}-{version}");
        let mut name = String::with_capacity(text.len());
        for next in text.chars() {
            if next.is_ascii_alphanumeric() || matches!(next, '.' | '_') {
                name.push(next);
            } else if !name.ends_with('-') {
                name.push('-');
            }
        }
        format!("{}.NodeSet2.xml", name.trim_matches(['-', '.']))
    }

    fn is_release_name(&self, name: &str) -> bool {
        is_xml(name) && !is_piece(name)
    }

    fn is_piece_name(&self, name: &str) -> bool {
        is_xml(name) && is_piece(name)
    }

    fn release_extent(&self, file: &FormatFile<'_>) -> Option<ReleaseExtent> {
        reader::begins_like_node_set(&in_utf8(file.bytes)).then_some(ReleaseExtent::File)
    }

    fn read_releases(
        &self,
        file: &FormatFile<'_>,
        _: &dyn FileTree,
        _: &ReadOptions,
    ) -> Parsed<Vec<DigestedRecord>> {
        let text = in_utf8(file.bytes);
        match read_records(&with_text(file, &text), false) {
            Ok((node_set, mut records, findings)) => {
                let unmet = unmet_siblings(&node_set, &records);
                if !unmet.is_empty() {
                    return Parsed::new(None, unmet);
                }
                require_siblings(&node_set, &mut records);
                let digest = ArtifactDigest::of_archive(file.bytes);
                let releases = records
                    .into_iter()
                    .map(|record| DigestedRecord { record, digest });
                Parsed::new(Some(releases.collect()), findings)
            }
            // What begins with a long comment was not recognized by its root element, and may be anything.
            Err(errors) if errors.iter().any(|error| error.code == Code::Format) => {
                Parsed::new(Some(Vec::new()), Vec::new())
            }
            Err(errors) => Parsed::new(None, errors),
        }
    }

    fn written_names(&self, file: &FormatFile<'_>, _: &ReadOptions) -> Vec<String> {
        written_names(&String::from_utf8_lossy(&in_utf8(file.bytes)))
    }
}

/// The URIs of models that are written in a text which may be no XML. If it has none, the first namespace is that of
/// the model which the file should have.
fn written_names(text: &str) -> Vec<String> {
    let tags = text.split('<').skip(1);
    let models = tags.filter_map(|tag| {
        let (name, rest) = tag.split_once(|next: char| next.is_ascii_whitespace())?;
        let is_model = name.rsplit(':').next() == Some("Model");
        let (_, value) = rest.split_once("ModelUri").filter(|_| is_model)?;
        let value = value.trim_start().strip_prefix('=')?.trim_start();
        let quote = value
            .chars()
            .next()
            .filter(|next| matches!(next, '"' | '\''))?;
        let (uri, _) = value[1..].split_once(quote)?;
        Some(uri.replace("&amp;", "&"))
    });
    let mut names: Vec<String> = models.collect();
    if names.is_empty() {
        let first = text.split_once("NamespaceUris").and_then(|(_, uris)| {
            let (_, uri) = uris.split_once("Uri>")?;
            let (uri, _) = uri.split_once("</")?;
            Some(uri.trim().replace("&amp;", "&"))
        });
        names.extend(first);
    }
    names
}

/// The models of a file with their records, and the findings.
type ReadRecords<'file> = (NodeSet<'file>, Vec<IndexRecord>, Vec<Diagnostic>);

fn read_records<'file>(
    file: &FormatFile<'file>,
    locations: bool,
) -> Result<ReadRecords<'file>, Vec<Diagnostic>> {
    let (node_set, mut findings) = read_node_set(file.path, file.bytes).into_result()?;
    match node_set.records(locations) {
        Ok((records, warnings)) => {
            findings.extend(warnings);
            Ok((node_set, records, findings))
        }
        Err(error) => {
            findings.push(error);
            Err(findings)
        }
    }
}

/// A file with its text in UTF-8.
fn with_text<'text>(file: &FormatFile<'text>, text: &'text [u8]) -> FormatFile<'text> {
    FormatFile {
        path: file.path,
        bytes: text,
    }
}

/// The error for a root without models.
fn no_models(node_set: &NodeSet<'_>) -> Diagnostic {
    let message = "the file has no `Model`, so it is not a release";
    Diagnostic::error(Code::Field, message)
        .at(node_set.locate(Span::default()))
        .hint("only NodeSet2 files with a `Model` say what they require")
}

/// Errors about models of a file that require other releases of models in the same file.
fn unmet_siblings(node_set: &NodeSet<'_>, records: &[IndexRecord]) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    for (record, model) in records.iter().zip(&node_set.models) {
        for required in &*record.requirements {
            let mut siblings = records.iter().filter(|one| one.name == required.package);
            if let Some(sibling) = siblings.find(|one| !required.spec.matches(&one.version)) {
                let message = format!(
                    "`{}` requires `{}` {}, and the file has {}",
                    record.name,
                    sibling.name,
                    required.spec.written(),
                    sibling.version
                );
                let error = Diagnostic::error(Code::NoVersion, message);
                errors.push(error.at(node_set.locate(model.span)));
            }
        }
    }
    errors
}

/// Makes the models of a file require each other as they are in the file, because whoever loads one of them loads all.
/// Each requires the next one, so that there are only as many requirements as models.
fn require_siblings(node_set: &NodeSet<'_>, records: &mut [IndexRecord]) {
    let names: Vec<PackageName> = records.iter().map(|record| record.name.clone()).collect();
    let specs = node_set
        .models
        .iter()
        .map(|model| model.release.to_exact_spec());
    let siblings: BTreeMap<&PackageName, Spec> = names.iter().zip(specs).collect();
    for (at, record) in records.iter_mut().enumerate() {
        let next = &names[(at + 1) % names.len()];
        record.requirements.change(|requirements| {
            for one in &mut *requirements {
                if let Some(spec) = siblings.get(&one.package) {
                    one.spec = spec.clone();
                }
            }
            let is_required = requirements.iter().any(|one| one.package == *next);
            if *next != record.name && !is_required {
                requirements.push(Requirement {
                    package: next.clone(),
                    spec: siblings[next].clone(),
                    location: None,
                });
            }
        });
    }
}

/// The models of a root as one: what one of them requires of another is there.
fn merged(mut first: IndexRecord, others: &[IndexRecord]) -> IndexRecord {
    if others.is_empty() {
        return first;
    }
    let is_own = |name: &PackageName| others.iter().any(|other| other.name == *name);
    let own = first.name.clone();
    first.requirements.change(|requirements| {
        for other in others {
            for one in other.requirements.iter().filter(|one| one.package != own) {
                match requirements
                    .iter_mut()
                    .find(|known| known.package == one.package)
                {
                    // The newest of the oldest releases is enough for all.
                    Some(known) => {
                        if !known.spec.set().is_subset_of(one.spec.set()) {
                            known.clone_from(one);
                        }
                    }
                    None => requirements.push(one.clone()),
                }
            }
        }
        requirements.retain(|one| !is_own(&one.package));
    });
    let records = || others.iter().chain(std::iter::once(&first));
    let mut classes: Vec<_> = records()
        .flat_map(|record| record.classes.iter().flatten())
        .cloned()
        .collect();
    classes.sort();
    let mut labels: Vec<_> = records()
        .flat_map(|record| &record.labels)
        .cloned()
        .collect();
    labels.sort();
    first.classes = Some(Shared::from(classes));
    first.labels = labels.into();
    first
}

fn is_xml(name: &str) -> bool {
    name.len() >= 4 && name.to_ascii_lowercase().ends_with(".xml")
}

/// Whether a file is called like a piece, a superset or an older form of a model, which the same folder usually has as a
/// whole, with the same version and date:
/// `Opc.Ua.NodeSet2.Services.xml`, `Opc.Ua.NodeSet2.Part8.xml`, `…_WithNames.xml`, `…-old.xml`.
fn is_piece(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let stem = name.strip_suffix(".xml").unwrap_or(&name);
    let last = stem.rsplit('.').next().unwrap_or(stem);
    let is_part = last
        .strip_prefix("part")
        .is_some_and(|number| number.starts_with(|next: char| next.is_ascii_digit()));
    let is_of_node_set = stem.contains(".nodeset2.");
    is_of_node_set && (is_part || last == "services")
        || stem.ends_with("_withnames")
        || stem.ends_with("-old")
}
