//! Index records of models as lines of JSON.
//!
//! `{"ecosystem":"opcua","name":URI,"version":"VERSION@DATE","model_version","published","require":[[URI,version,
//! model_version,published]],"classes":{"i=58":{"name","kind","extends":["nsu=URI;i=1"],"uses":[…]}},"uses":[…],"sha256",
//! "size","yanked"}`; only name and version are mandatory. NodeIds of the model itself are `i=58`, those of other
//! models `nsu=URI;i=58`. An ObjectType extends only ObjectTypes, and likewise for other kinds; the interfaces of types
//! that are not ObjectTypes are in `interfaces`. A requirement of a single release, as between models of one file, has
//! `"="` as its fifth part. `uses` of the release has the uses of nodes that are not types.
//! Unknown keys are skipped.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexRecord, IndexedClass, Limits, Requirement, Shared, read_json,
};
use serde::{Deserialize, Serialize};

use super::node_id::{ExpandedNodeId, Identifier, Namespace, package_name};
use super::nodeset::TypeKind;
use super::record::{Classes, class_name, extended_name, parts_of, release_record};
use super::release::ModelRelease;

#[derive(Deserialize, Serialize)]
struct ModelLine {
    ecosystem: String,
    name: String,
    version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    published: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    require: Vec<Vec<Option<String>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    classes: Option<Map<Type>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    uses: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    yanked: bool,
}

type Map<T> = BTreeMap<String, T>;

#[derive(Deserialize, Serialize)]
struct Type {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extends: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    interfaces: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    uses: Vec<String>,
}

/// Reads a record. The error says what is wrong with the line.
pub(super) fn read(line: &str, limits: &Limits) -> Result<IndexRecord, String> {
    let line: ModelLine = read_json(line.as_bytes()).map_err(|error| error.to_string())?;
    let name = package_name(&line.name).map_err(|error| error.to_string())?;
    let release = release_of(&line)?;
    let mut record = release_record(&name, &release);
    if line.require.len() > limits.requirements {
        return Err(format!(
            "more than the limit of {} requirements",
            limits.requirements
        ));
    }
    let mut requirements: Vec<Requirement> = Vec::with_capacity(line.require.len());
    for one in &line.require {
        let requirement = requirement(one)?;
        if requirement.package == name {
            return Err("the model requires itself".to_owned());
        }
        if requirements
            .iter()
            .any(|other| other.package == requirement.package)
        {
            return Err(format!("`{}` is required twice", requirement.package));
        }
        requirements.push(requirement);
    }
    record.requirements = Shared::from(requirements);
    if let Some(types) = &line.classes {
        let mut classes = Classes::default();
        for (identifier, one) in types {
            add_type(&mut classes, &line.name, identifier, one)?;
        }
        let uses = names(&line.name, &line.uses, None)?;
        let added = classes.add_nodes(&line.name, uses);
        added.map_err(|error| error.to_string())?;
        classes.finish(&mut record);
    }
    let digest = line.sha256.as_deref().map(ArtifactDigest::parse);
    record.digest = digest.transpose().map_err(|error| error.to_string())?;
    record.size = line.size;
    record.yanked = line.yanked;
    Ok(record)
}

fn release_of(line: &ModelLine) -> Result<ModelRelease, String> {
    let not_a_version = || {
        format!(
            "`{}` is not a version `VERSION@DATE`",
            Escaped::shortened(&line.version)
        )
    };
    let stated = ModelRelease::read(&line.version).ok_or_else(not_a_version)?;
    let published = stated.published_text();
    let model_version = match &line.model_version {
        Some(model_version) => Some(model_version.clone()),
        None => stated.model_version().map(ToString::to_string),
    };
    let release = ModelRelease::new(
        stated.version(),
        published.as_deref(),
        model_version.as_deref(),
    )
    .map_err(|error| error.to_string())?;
    if let Some(text) = &line.published {
        let other = ModelRelease::new(None, Some(text), None).map_err(|error| error.to_string())?;
        if other.published() != release.published() {
            return Err(format!(
                "`published` is {}, and the date of the version another one",
                Escaped::shortened(text)
            ));
        }
    }
    Ok(release)
}

/// The fifth part of a requirement that only one release meets.
const EXACT: &str = "=";

/// Reads a requirement: the URI, the `Version`, the `ModelVersion`, the date and [`EXACT`], of which only the first has
/// to be there.
fn requirement(parts: &[Option<String>]) -> Result<Requirement, String> {
    let part = |at: usize| parts.get(at).and_then(Option::as_deref);
    let is_exact = part(4) == Some(EXACT);
    let is_known = parts.len() <= 4 || parts.len() == 5 && (is_exact || part(4).is_none());
    let Some(uri) = part(0).filter(|_| is_known) else {
        return Err(
            "a requirement is a list of URI, version, model version, date, and `=` if no other release is accepted"
                .to_owned(),
        );
    };
    let package = package_name(uri).map_err(|error| error.to_string())?;
    let release =
        ModelRelease::new(part(1), part(3), part(2)).map_err(|error| error.to_string())?;
    Ok(Requirement {
        package,
        spec: if is_exact {
            release.to_exact_spec()
        } else {
            release.to_spec()
        },
        location: None,
    })
}

fn add_type(
    classes: &mut Classes,
    namespace: &str,
    identifier: &str,
    one: &Type,
) -> Result<(), String> {
    let kind = TypeKind::parse(&one.kind).ok_or_else(|| {
        format!(
            "`{}` is not a kind of types: ObjectType, VariableType, DataType or ReferenceType",
            Escaped::shortened(&one.kind)
        )
    })?;
    let identifier = Identifier::read(identifier)
        .ok_or_else(|| {
            format!(
                "`{}` is not an id such as `i=58`",
                Escaped::shortened(identifier)
            )
        })?
        .to_string();
    let mut extends = names(namespace, &one.extends, Some(kind))?;
    extends.extend(names(
        namespace,
        &one.interfaces,
        Some(TypeKind::ObjectType),
    )?);
    let uses = names(namespace, &one.uses, None)?;
    let added = classes.add((namespace, &identifier, kind), &one.name, extends, uses);
    added.map_err(|error| error.to_string())
}

/// The classes of NodeIds; with a kind, those that its subtypes extend.
fn names(own: &str, ids: &[String], kind: Option<TypeKind>) -> Result<Vec<ClassName>, String> {
    let names = ids.iter().map(|text| {
        let id = ExpandedNodeId::read(text)
            .ok_or_else(|| format!("`{}` is not a NodeId", Escaped::shortened(text)))?;
        let namespace = match &id.namespace {
            Namespace::Index(0) => own,
            Namespace::Index(_) => {
                let text = Escaped::shortened(text);
                return Err(format!("`{text}` has no URI: write `nsu=URI;i=58`"));
            }
            Namespace::Uri(uri) => uri,
        };
        let identifier = id.identifier.to_string();
        let name = match kind {
            Some(kind) => extended_name(namespace, &identifier, kind),
            None => class_name(namespace, &identifier),
        };
        name.map_err(|error| error.to_string())
    });
    names.collect()
}

/// Writes a record as one line.
pub(super) fn write(record: &IndexRecord) -> String {
    let own = record.name.as_str();
    let release = ModelRelease::of(&record.version).unwrap_or_default();
    let mut uses = Vec::new();
    let classes = record.classes.as_ref().map(|classes| {
        let mut types = Map::new();
        for class in classes {
            if class.internal {
                uses.extend(ids(own, &class.uses));
            } else if let Some((_, identifier, Some(kind))) = parts_of(&class.name) {
                types.insert(identifier, written_type(record, class, kind));
            }
        }
        types
    });
    let line = ModelLine {
        ecosystem: record.ecosystem.id().to_owned(),
        name: own.to_owned(),
        version: record.version.to_string(),
        model_version: release.model_version().map(ToString::to_string),
        published: release.published_text(),
        require: record
            .requirements
            .iter()
            .map(written_requirement)
            .collect(),
        classes,
        uses,
        sha256: record.digest.map(|digest| digest.to_string()),
        size: record.size,
        yanked: record.yanked,
    };
    serde_json::to_string(&line).expect("texts, numbers and booleans are valid JSON")
}

fn written_requirement(requirement: &Requirement) -> Vec<Option<String>> {
    let text = requirement.spec.written();
    let exact = text.strip_prefix(EXACT);
    let release = exact.or_else(|| text.strip_prefix(">="));
    let release = release.and_then(ModelRelease::read).unwrap_or_default();
    let mut parts = vec![
        Some(requirement.package.to_string()),
        release.version().map(str::to_owned),
        release.model_version().map(ToString::to_string),
        release.published_text(),
    ];
    if exact.is_some() {
        parts.push(Some(EXACT.to_owned()));
    }
    parts
}

/// The type whose subtypes extend a class.
fn written_type(record: &IndexRecord, extended: &IndexedClass, kind: TypeKind) -> Type {
    let own = record.name.as_str();
    let name = extended.extends.first();
    let find = |name| {
        let classes = record.classes.as_deref().unwrap_or_default();
        let at = classes
            .binary_search_by(|class| class.name.cmp(name))
            .ok()?;
        Some(&classes[at])
    };
    let class = name.and_then(find);
    let extends: &[ClassName] = class.map_or(&[], |class| &class.extends);
    let is_of_kind = |name: &&ClassName| parts_of(name).is_some_and(|parts| parts.2 == Some(kind));
    let (extends, interfaces): (Vec<&ClassName>, Vec<&ClassName>) =
        extends.iter().partition(is_of_kind);
    Type {
        name: name
            .and_then(|name| record.label(name))
            .unwrap_or_default()
            .to_owned(),
        kind: kind.as_str().to_owned(),
        extends: ids(own, extends),
        interfaces: ids(own, interfaces),
        uses: class.map(|class| ids(own, &class.uses)).unwrap_or_default(),
    }
}

/// The NodeIds of classes.
fn ids<'class>(own: &str, classes: impl IntoIterator<Item = &'class ClassName>) -> Vec<String> {
    let parts = classes.into_iter().filter_map(parts_of);
    parts
        .map(|(namespace, identifier, _)| {
            if namespace == own {
                identifier
            } else {
                format!("nsu={namespace};{identifier}")
            }
        })
        .collect()
}
