//! The tables of releases, their requirements and their classes.

use pkgres_manifest::{CLASS_PACKAGES, ClassName, IndexRecord, Limits, PackageName, Version};
use pkgres_registry_client::protocol::Digest;

use super::collections;
use super::columns::{credential_from, credential_value, read_record, version_key};
use crate::access::Credential;
use crate::database::{DatabaseError, Result, Row, Transaction, Value};

/// A row of the table of releases.
pub(crate) struct ReleaseRow {
    pub(crate) record: IndexRecord,
    pub(crate) sha256: String,
    /// Why the release is yanked; none if it is not.
    pub(crate) yanked: Option<String>,
    /// The credential that it was published with.
    pub(crate) credential: Credential,
}

/// The release of a version.
pub(crate) fn get(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    version: &Version,
    limits: &Limits,
) -> Result<Option<ReleaseRow>> {
    let row = transaction.query_one(
        "SELECT record, sha256, yanked, token FROM releases WHERE package = $1 AND version = $2",
        &[package.as_str().into(), version_key(version).into()],
    )?;
    row.map(|row| release(&row, limits)).transpose()
}

/// All releases of a package, sorted by version.
pub(crate) fn all(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    limits: &Limits,
) -> Result<Vec<ReleaseRow>> {
    let rows = transaction.query(
        "SELECT record, sha256, yanked, token FROM releases WHERE package = $1",
        &[package.as_str().into()],
    )?;
    let mut releases: Vec<ReleaseRow> = rows
        .iter()
        .map(|row| release(row, limits))
        .collect::<Result<_>>()?;
    releases.sort_by(|one, two| one.record.version.cmp(&two.record.version));
    Ok(releases)
}

fn release(row: &Row, limits: &Limits) -> Result<ReleaseRow> {
    let record = read_record(row.text(0)?, limits)
        .map_err(|error| DatabaseError::failed(format!("a release cannot be read: {error}")))?;
    Ok(ReleaseRow {
        record,
        sha256: row.text(1)?.to_owned(),
        yanked: row.optional_text(2)?.map(str::to_owned),
        credential: credential_from(row.text(3)?),
    })
}

/// Adds a release. The record has digest, size and time.
pub(crate) fn add(
    transaction: &mut dyn Transaction,
    record: &IndexRecord,
    digest: &Digest,
    credential: &Credential,
) -> Result<()> {
    let size = i64::try_from(record.size.unwrap_or_default()).unwrap_or(i64::MAX);
    transaction.execute(
        "INSERT INTO releases (package, version, record, sha256, size, published, token) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        &[
            record.name.as_str().into(),
            version_key(&record.version).into(),
            record.to_line().into(),
            digest.to_string().into(),
            size.into(),
            record.published.clone().unwrap_or_default().into(),
            credential_value(credential),
        ],
    )?;
    add_requirements(transaction, record)
}

/// Adds what a release requires.
fn add_requirements(transaction: &mut dyn Transaction, record: &IndexRecord) -> Result<()> {
    for requirement in &record.requirements {
        transaction.execute(
            "INSERT INTO requirements (required, package) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            &[
                requirement.package.as_str().into(),
                record.name.as_str().into(),
            ],
        )?;
    }
    Ok(())
}

/// Adds that a package defines a class. Returns whether that is new.
pub(crate) fn define(
    transaction: &mut dyn Transaction,
    class: &ClassName,
    package: &PackageName,
) -> Result<bool> {
    let added = transaction.execute(
        "INSERT INTO definitions (class, package) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        &[class.as_str().into(), package.as_str().into()],
    )?;
    Ok(added > 0)
}

/// Adds that a package defines an interface.
pub(crate) fn define_interface(
    transaction: &mut dyn Transaction,
    interface: &ClassName,
    package: &PackageName,
) -> Result<()> {
    transaction.execute(
        "INSERT INTO interfaces (interface, package) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        &[interface.as_str().into(), package.as_str().into()],
    )?;
    Ok(())
}

/// The names of all interfaces that a package defines, sorted by their bytes.
pub(crate) fn interfaces(
    transaction: &mut dyn Transaction,
    package: &PackageName,
) -> Result<Vec<ClassName>> {
    class_names(
        transaction,
        "SELECT interface FROM interfaces WHERE package = $1",
        package,
    )
}

/// The names of all classes that a package defines for others, sorted by their bytes.
pub(crate) fn defined(
    transaction: &mut dyn Transaction,
    package: &PackageName,
) -> Result<Vec<ClassName>> {
    class_names(
        transaction,
        "SELECT class FROM definitions WHERE package = $1",
        package,
    )
}

/// The names that a statement selects for a package, sorted by their bytes.
fn class_names(
    transaction: &mut dyn Transaction,
    statement: &'static str,
    package: &PackageName,
) -> Result<Vec<ClassName>> {
    let rows = transaction.query(statement, &[package.as_str().into()])?;
    let mut names = rows
        .iter()
        .map(|row| ClassName::parse(row.text(0)?).map_err(DatabaseError::failed))
        .collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// The versions of a package without build metadata, sorted, each with whether it is yanked.
pub(crate) fn versions(
    transaction: &mut dyn Transaction,
    package: &PackageName,
) -> Result<Vec<(Version, bool)>> {
    let rows = transaction.query(
        "SELECT version, yanked FROM releases WHERE package = $1",
        &[package.as_str().into()],
    )?;
    let mut versions = rows
        .iter()
        .map(|row| {
            let version = Version::parse(row.text(0)?).map_err(DatabaseError::failed)?;
            Ok((version, row.optional_text(1)?.is_some()))
        })
        .collect::<Result<Vec<_>>>()?;
    versions.sort();
    Ok(versions)
}

/// The packages that define a class.
pub(crate) fn defining(
    transaction: &mut dyn Transaction,
    class: &ClassName,
) -> Result<Vec<PackageName>> {
    names(
        transaction,
        "SELECT package FROM definitions WHERE class = $1",
        class.as_str(),
    )
}

/// The packages that define an interface, sorted.
pub(crate) fn defining_interface(
    transaction: &mut dyn Transaction,
    interface: &ClassName,
) -> Result<Vec<PackageName>> {
    names(
        transaction,
        "SELECT package FROM interfaces WHERE interface = $1",
        interface.as_str(),
    )
}

/// The packages with a release that requires a package, sorted.
pub(crate) fn dependants(
    transaction: &mut dyn Transaction,
    package: &PackageName,
) -> Result<Vec<PackageName>> {
    names(
        transaction,
        "SELECT package FROM requirements WHERE required = $1",
        package.as_str(),
    )
}

/// The names that a statement selects, sorted by their bytes.
fn names(
    transaction: &mut dyn Transaction,
    statement: &'static str,
    of: &str,
) -> Result<Vec<PackageName>> {
    let rows = transaction.query(statement, &[of.into()])?;
    let mut names: Vec<PackageName> = rows
        .iter()
        .map(|row| PackageName::parse(row.text(0)?).map_err(DatabaseError::failed))
        .collect::<Result<_>>()?;
    names.sort();
    Ok(names)
}

/// Sets or clears the reason for which a release is yanked.
pub(crate) fn set_yanked(
    transaction: &mut dyn Transaction,
    record: &IndexRecord,
    reason: Option<&str>,
) -> Result<()> {
    transaction.execute(
        "UPDATE releases SET record = $1, yanked = $2 WHERE package = $3 AND version = $4",
        &[
            record.to_line().into(),
            reason.map_or(Value::Null, Value::from),
            record.name.as_str().into(),
            version_key(&record.version).into(),
        ],
    )?;
    Ok(())
}

/// Removes a release, and with it its row in the catalog or among the collections. The caller then [derives](fn@derive)
/// what its package still requires and defines.
pub(crate) fn remove(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    version: &Version,
) -> Result<()> {
    transaction.execute(
        "DELETE FROM releases WHERE package = $1 AND version = $2",
        &[package.as_str().into(), version_key(version).into()],
    )?;
    Ok(())
}

/// Sets what a package requires and defines to what its releases do. Returns the classes that it no
/// longer defines.
pub(crate) fn derive(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    releases: &[ReleaseRow],
) -> Result<Vec<ClassName>> {
    let name = || Value::from(package.as_str());
    transaction.execute("DELETE FROM requirements WHERE package = $1", &[name()])?;
    let mut gone = defined(transaction, package)?;
    transaction.execute("DELETE FROM definitions WHERE package = $1", &[name()])?;
    transaction.execute("DELETE FROM interfaces WHERE package = $1", &[name()])?;
    let records = releases.iter().map(|release| &release.record);
    collections::derive_contents(transaction, package, records)?;
    for release in releases {
        add_requirements(transaction, &release.record)?;
        for interface in &release.record.interfaces {
            define_interface(transaction, interface, package)?;
        }
        for class in exported(&release.record) {
            define(transaction, class, package)?;
            gone.retain(|known| known != class);
        }
    }
    Ok(gone)
}

/// The classes that a release defines for other packages, and that packages are found by. Those of other ecosystems
/// begin with the name of their package, which says as much.
pub(crate) fn exported(record: &IndexRecord) -> impl Iterator<Item = &ClassName> {
    let classes = record.classes.as_deref().unwrap_or_default().iter();
    classes
        .filter(|_| record.ecosystem == CLASS_PACKAGES)
        .filter(|class| !class.internal)
        .map(|class| &class.name)
}

/// How many releases a package has.
pub(crate) fn count(transaction: &mut dyn Transaction, package: &PackageName) -> Result<i64> {
    let found = transaction.query_one(
        "SELECT COUNT(*) FROM releases WHERE package = $1",
        &[package.as_str().into()],
    )?;
    found.map_or(Ok(0), |row| row.integer(0))
}

/// Whether there is any release.
pub(crate) fn is_any(transaction: &mut dyn Transaction) -> Result<bool> {
    let found = transaction.query_one("SELECT size FROM releases LIMIT 1", &[])?;
    Ok(found.is_some())
}

/// Whether a release has the artifact.
pub(crate) fn has_artifact(transaction: &mut dyn Transaction, sha256: &str) -> Result<bool> {
    let found = transaction.query_one(
        "SELECT size FROM releases WHERE sha256 = $1 LIMIT 1",
        &[sha256.into()],
    )?;
    Ok(found.is_some())
}

/// The digests of the artifacts of releases, sorted, behind one: at most `count`. The first page is behind the empty
/// text.
pub(crate) fn digests_after(
    transaction: &mut dyn Transaction,
    sha256: &str,
    count: usize,
) -> Result<Vec<String>> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let rows = transaction.query(
        "SELECT DISTINCT sha256 FROM releases WHERE sha256 > $1 ORDER BY sha256 LIMIT $2",
        &[sha256.into(), count.into()],
    )?;
    rows.iter().map(|row| Ok(row.text(0)?.to_owned())).collect()
}
