//! The table of releases of Ansible collections, as clients of Galaxy see them.
//!
//! Each release of a collection has one row, which is written with it, and which the database removes with it.

use pkgres_formats::ansible::{ANSIBLE_CORE, CollectionAbout, ContentName, ECOSYSTEM};
use pkgres_manifest::{ClassName, IndexRecord, PackageName, Version};
use serde_json::{Map, Value as Json};

use super::columns::{from_json, searched, version_key};
use crate::database::{DatabaseError, Result, Row, Transaction, Value};
use crate::readme_and_licence::PackageText;

/// A release of a collection in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedCollection {
    /// The version as it was published.
    pub(crate) version: Version,
    /// The versions of ansible-core; none for any.
    pub(crate) requires_ansible: Option<String>,
    pub(crate) published: String,
    pub(crate) is_yanked: bool,
}

/// A release of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CollectionRow {
    pub(crate) listed: ListedCollection,
    /// The names of required collections with their ranges.
    pub(crate) dependencies: Map<String, Json>,
    pub(crate) about: CollectionAbout,
    pub(crate) sha256: String,
    pub(crate) size: u64,
}

/// What a release of a collection says for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CollectionTexts {
    pub(crate) about: CollectionAbout,
    pub(crate) readme: Option<PackageText>,
    pub(crate) licence: Option<PackageText>,
}

/// Adds the row of a release.
pub(crate) fn add(
    transaction: &mut dyn Transaction,
    record: &IndexRecord,
    texts: &CollectionTexts,
) -> Result<()> {
    let mut dependencies = Map::new();
    let mut core = Value::Null;
    for requirement in &record.requirements {
        let range = requirement.spec.written();
        if requirement.package.as_str() == ANSIBLE_CORE {
            core = range.into();
        } else {
            dependencies.insert(requirement.package.to_string(), range.into());
        }
    }
    let about = serde_json::to_string(&texts.about).map_err(DatabaseError::failed)?;
    let text = |text: &Option<PackageText>| match text {
        Some(text) => serde_json::to_string(text)
            .map(Value::from)
            .map_err(DatabaseError::failed),
        None => Ok(Value::Null),
    };
    transaction.execute(
        "INSERT INTO collections \
         (package, version, written, requires_ansible, dependencies, about, readme, licence, searched) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        &[
            record.name.as_str().into(),
            version_key(&record.version).into(),
            record.version.to_string().into(),
            core,
            Json::Object(dependencies).to_string().into(),
            about.into(),
            text(&texts.readme)?,
            text(&texts.licence)?,
            searched(texts.about.authors.iter().chain(&texts.about.tags)),
        ],
    )?;
    Ok(())
}

/// A part of a collection that users call by a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CollectionContent {
    /// The name as users call it, such as `acme.web.page`.
    pub(crate) name: String,
    pub(crate) class: ClassName,
}

/// The parts of a release of a collection that users call by names; none for releases of other ecosystems.
pub(crate) fn contents_of(
    record: &IndexRecord,
) -> impl Iterator<Item = (&ClassName, ContentName<'_>)> {
    let classes = record.classes.as_deref().unwrap_or_default().iter();
    classes
        .filter(|_| record.ecosystem == ECOSYSTEM)
        .filter_map(|class| {
            let content = ContentName::of_class(record.name.as_str(), class.name.as_str())?;
            Some((&class.name, content))
        })
}

/// Adds the parts of a release, by which its package is found.
pub(crate) fn add_contents(transaction: &mut dyn Transaction, record: &IndexRecord) -> Result<()> {
    for (class, content) in contents_of(record) {
        transaction.execute(
            "INSERT INTO contents (package, class, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            &[
                record.name.as_str().into(),
                class.as_str().into(),
                content.to_string().into(),
            ],
        )?;
    }
    Ok(())
}

/// Sets the parts of a package to those of its releases.
pub(crate) fn derive_contents<'record>(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    records: impl Iterator<Item = &'record IndexRecord>,
) -> Result<()> {
    transaction.execute(
        "DELETE FROM contents WHERE package = $1",
        &[package.as_str().into()],
    )?;
    for record in records {
        add_contents(transaction, record)?;
    }
    Ok(())
}

/// The parts of a package, sorted by name.
pub(crate) fn contents(
    transaction: &mut dyn Transaction,
    package: &PackageName,
) -> Result<Vec<CollectionContent>> {
    let rows = transaction.query(
        "SELECT name, class FROM contents WHERE package = $1",
        &[package.as_str().into()],
    )?;
    let mut contents = rows
        .iter()
        .map(|row| {
            Ok(CollectionContent {
                name: row.text(0)?.to_owned(),
                class: ClassName::native(row.text(1)?).map_err(DatabaseError::failed)?,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    contents.sort();
    Ok(contents)
}

/// The names of all collections, sorted.
pub(crate) fn names(transaction: &mut dyn Transaction) -> Result<Vec<PackageName>> {
    let rows = transaction.query("SELECT DISTINCT package FROM collections", &[])?;
    let names = rows
        .iter()
        .map(|row| PackageName::parse(row.text(0)?).map_err(DatabaseError::failed));
    let mut names = names.collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// All releases of a collection, the newest first.
pub(crate) fn all(
    transaction: &mut dyn Transaction,
    package: &PackageName,
) -> Result<Vec<ListedCollection>> {
    let rows = transaction.query(
        "SELECT c.written, c.requires_ansible, r.published, r.yanked FROM collections c \
         JOIN releases r ON r.package = c.package AND r.version = c.version WHERE c.package = $1",
        &[package.as_str().into()],
    )?;
    let mut all = rows.iter().map(listed).collect::<Result<Vec<_>>>()?;
    all.sort_by(|one, two| two.version.cmp(&one.version));
    Ok(all)
}

fn listed(row: &Row) -> Result<ListedCollection> {
    Ok(ListedCollection {
        version: Version::parse(row.text(0)?).map_err(DatabaseError::failed)?,
        requires_ansible: row.optional_text(1)?.map(str::to_owned),
        published: row.text(2)?.to_owned(),
        is_yanked: row.optional_text(3)?.is_some(),
    })
}

/// The release of a version.
pub(crate) fn get(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    version: &Version,
) -> Result<Option<CollectionRow>> {
    let row = transaction.query_one(
        "SELECT c.written, c.requires_ansible, r.published, r.yanked, c.dependencies, c.about, r.sha256, r.size \
         FROM collections c JOIN releases r ON r.package = c.package AND r.version = c.version \
         WHERE c.package = $1 AND c.version = $2",
        &[package.as_str().into(), version_key(version).into()],
    )?;
    let read = |row: Row| {
        Ok(CollectionRow {
            listed: listed(&row)?,
            dependencies: from_json(row.text(4)?)?,
            about: from_json(row.text(5)?)?,
            sha256: row.text(6)?.to_owned(),
            size: row.integer(7)?.unsigned_abs(),
        })
    };
    row.map(read).transpose()
}

/// What the release of a version says for people.
pub(crate) fn texts(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    version: &Version,
) -> Result<Option<CollectionTexts>> {
    let row = transaction.query_one(
        "SELECT about, readme, licence FROM collections WHERE package = $1 AND version = $2",
        &[package.as_str().into(), version_key(version).into()],
    )?;
    let read = |row: Row| {
        Ok(CollectionTexts {
            about: from_json(row.text(0)?)?,
            readme: row.optional_text(1)?.map(from_json).transpose()?,
            licence: row.optional_text(2)?.map(from_json).transpose()?,
        })
    };
    row.map(read).transpose()
}

/// The collection and the version of an artifact, and when it was published.
pub(crate) fn of_artifact(
    transaction: &mut dyn Transaction,
    sha256: &str,
) -> Result<Option<(PackageName, ListedCollection)>> {
    let row = transaction.query_one(
        "SELECT c.written, c.requires_ansible, r.published, r.yanked, c.package FROM collections c \
         JOIN releases r ON r.package = c.package AND r.version = c.version WHERE r.sha256 = $1",
        &[sha256.into()],
    )?;
    let read = |row: Row| {
        let name = PackageName::parse(row.text(4)?).map_err(DatabaseError::failed)?;
        Ok((name, listed(&row)?))
    };
    row.map(read).transpose()
}
