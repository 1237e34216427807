//! The tables of packages and their owners.

use std::collections::BTreeSet;

use pkgres_manifest::{Ecosystem, PackageName};

use super::columns::serial_value;
use crate::database::{Result, Row, Transaction, Value};

/// A row of the table of packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackageRow {
    pub(crate) name: String,
    pub(crate) generation: u64,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) updated: String,
    /// The id of the ecosystem of its releases.
    pub(crate) ecosystem: String,
}

/// The package with a name.
pub(crate) fn get(
    transaction: &mut dyn Transaction,
    name: &PackageName,
) -> Result<Option<PackageRow>> {
    let row = transaction.query_one(
        "SELECT name, generation, title, description, updated, ecosystem FROM packages WHERE name = $1",
        &[name.as_str().into()],
    )?;
    row.map(|row| package(&row)).transpose()
}

fn package(row: &Row) -> Result<PackageRow> {
    Ok(PackageRow {
        name: row.text(0)?.to_owned(),
        generation: row.integer(1)?.unsigned_abs(),
        title: row.text(2)?.to_owned(),
        description: row.text(3)?.to_owned(),
        updated: row.text(4)?.to_owned(),
        ecosystem: row.text(5)?.to_owned(),
    })
}

/// The name of the package whose name is equal or differs only in case.
pub(crate) fn same_after_folding(
    transaction: &mut dyn Transaction,
    name: &PackageName,
) -> Result<Option<String>> {
    let row = transaction.query_one(
        "SELECT name FROM packages WHERE folded = $1",
        &[folded(name).into()],
    )?;
    row.map(|row| row.text(0).map(str::to_owned)).transpose()
}

fn folded(name: &PackageName) -> String {
    name.as_str().to_ascii_lowercase()
}

/// Adds a package with its first owner.
pub(crate) fn add(
    transaction: &mut dyn Transaction,
    name: &PackageName,
    ecosystem: &dyn Ecosystem,
    owner: &str,
    updated: &str,
) -> Result<()> {
    transaction.execute(
        "INSERT INTO packages (name, folded, generation, title, description, updated, ecosystem) \
         VALUES ($1, $2, 0, '', '', $3, $4)",
        &[
            name.as_str().into(),
            folded(name).into(),
            updated.into(),
            ecosystem.id().into(),
        ],
    )?;
    add_owner(transaction, name, owner)
}

fn add_owner(transaction: &mut dyn Transaction, name: &PackageName, owner: &str) -> Result<()> {
    transaction.execute(
        "INSERT INTO owners (package, owner) VALUES ($1, $2)",
        &[name.as_str().into(), owner.into()],
    )?;
    Ok(())
}

/// Updates title and description from the newest release.
pub(crate) fn describe(
    transaction: &mut dyn Transaction,
    name: &PackageName,
    title: &str,
    description: &str,
    updated: &str,
) -> Result<()> {
    transaction.execute(
        "UPDATE packages SET title = $1, description = $2, updated = $3 WHERE name = $4",
        &[
            title.into(),
            description.into(),
            updated.into(),
            name.as_str().into(),
        ],
    )?;
    Ok(())
}

/// Records when a package changed.
pub(crate) fn touch(
    transaction: &mut dyn Transaction,
    name: &PackageName,
    updated: &str,
) -> Result<()> {
    transaction.execute(
        "UPDATE packages SET updated = $1 WHERE name = $2",
        &[updated.into(), name.as_str().into()],
    )?;
    Ok(())
}

/// The owners of a package.
pub(crate) fn owners(
    transaction: &mut dyn Transaction,
    name: &PackageName,
) -> Result<BTreeSet<String>> {
    let rows = transaction.query(
        "SELECT owner FROM owners WHERE package = $1",
        &[name.as_str().into()],
    )?;
    rows.iter()
        .map(|row| row.text(0).map(str::to_owned))
        .collect()
}

/// Replaces the owners of a package if it still has the generation. Returns whether it has.
pub(crate) fn set_owners(
    transaction: &mut dyn Transaction,
    name: &PackageName,
    generation: u64,
    owners: &BTreeSet<String>,
    updated: &str,
) -> Result<bool> {
    let changed = transaction.execute(
        "UPDATE packages SET generation = generation + 1, updated = $1 \
         WHERE name = $2 AND generation = $3",
        &[
            updated.into(),
            name.as_str().into(),
            serial_value(generation),
        ],
    )?;
    if changed == 0 {
        return Ok(false);
    }
    transaction.execute(
        "DELETE FROM owners WHERE package = $1",
        &[name.as_str().into()],
    )?;
    for owner in owners {
        add_owner(transaction, name, owner)?;
    }
    Ok(true)
}

/// The most words of a search.
pub(crate) const MAX_WORDS: usize = 6;

/// The conditions of a search for packages. An empty text or list is no condition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    /// Texts that all have to be found, each in any of the places and in any case. At most [`MAX_WORDS`] count.
    pub(crate) words: Vec<String>,
    /// A class that a release of the package defines for others.
    pub(crate) class: String,
    /// An owner of the package.
    pub(crate) owner: String,
    /// The name after which the results begin.
    pub(crate) marker: String,
    /// The limit of results.
    pub(crate) limit: u64,
}

/// The condition that a word is in the name, title or description of a package, in the authors or tags of its public
/// releases, or in the name of a class, interface, plug-in, role or playbook.
macro_rules! contains {
    ($pattern:literal) => {
        concat!(
            " AND (folded LIKE ",
            $pattern,
            " ESCAPE '\\' OR LOWER(title) LIKE ",
            $pattern,
            " ESCAPE '\\' OR LOWER(description) LIKE ",
            $pattern,
            " ESCAPE '\\' OR EXISTS (SELECT 1 FROM definitions d WHERE d.package = p.name \
             AND LOWER(d.class) LIKE ",
            $pattern,
            " ESCAPE '\\') OR EXISTS (SELECT 1 FROM interfaces i WHERE i.package = p.name \
             AND LOWER(i.interface) LIKE ",
            $pattern,
            " ESCAPE '\\') OR EXISTS (SELECT 1 FROM catalog c WHERE c.package = p.name \
             AND c.is_public = 1 AND c.enabled = 1 AND c.searched LIKE ",
            $pattern,
            " ESCAPE '\\') OR EXISTS (SELECT 1 FROM contents n WHERE n.package = p.name AND LOWER(n.name) LIKE ",
            $pattern,
            " ESCAPE '\\') OR EXISTS (SELECT 1 FROM collections a WHERE a.package = p.name AND a.searched LIKE ",
            $pattern,
            " ESCAPE '\\'))"
        )
    };
}

/// The packages that a search finds, sorted by name.
pub(crate) fn search(
    transaction: &mut dyn Transaction,
    search: &Search,
) -> Result<Vec<PackageRow>> {
    // Both engines sort by bytes: names are ASCII, and the column has the collation "C" in PostgreSQL,
    // whatever the language of its database. A missing word has the pattern `%`, which every name has.
    let mut values: Vec<Value> = vec![
        search.marker.as_str().into(),
        search.class.as_str().into(),
        search.owner.as_str().into(),
        serial_value(search.limit),
    ];
    let words = search.words.iter().map(|word| pattern(word));
    let all = std::iter::repeat("%".to_owned());
    values.extend(words.chain(all).take(MAX_WORDS).map(Value::from));
    let rows = transaction.query(
        concat!(
            "SELECT name, generation, title, description, updated, ecosystem FROM packages p \
             WHERE name > $1 \
             AND EXISTS (SELECT 1 FROM releases r WHERE r.package = p.name) \
             AND ($2 = '' OR EXISTS (SELECT 1 FROM definitions d WHERE d.class = $2 AND d.package = p.name)) \
             AND ($3 = '' OR EXISTS (SELECT 1 FROM owners o WHERE o.owner = $3 AND o.package = p.name))",
            contains!("$5"),
            contains!("$6"),
            contains!("$7"),
            contains!("$8"),
            contains!("$9"),
            contains!("$10"),
            " ORDER BY name LIMIT $4"
        ),
        &values,
    )?;
    rows.iter().map(package).collect()
}

/// The pattern for `LIKE` that matches a text anywhere.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.to_lowercase().chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}
