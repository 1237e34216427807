//! The table of the catalog: metadata of releases that are not part of the index.
//!
//! Each release has one row, which is written with it, and which the database removes with it.

use pkgres_manifest::{PackageName, Version};

use super::columns::{from_json, searched, serial_value, version_key};
use crate::database::{Result, Row, Transaction, Value};

/// A row of the catalog, with the record and the digest of its release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CatalogRow {
    pub(crate) id: String,
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) name: String,
    /// `Application` or `Library`.
    pub(crate) kind: String,
    pub(crate) author: String,
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) is_public: bool,
    pub(crate) enabled: bool,
    pub(crate) owner: String,
    pub(crate) created: String,
    pub(crate) updated: String,
    /// The line of the index document.
    pub(crate) record: String,
    pub(crate) sha256: String,
}

/// The column that rows are sorted by; the id decides between equal values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Package,
    Name,
    Created,
}

impl CatalogRow {
    /// The value that the row is sorted by.
    fn sort_key(&self, order: Order) -> &str {
        match order {
            Order::Package => &self.package,
            Order::Name => &self.name,
            Order::Created => &self.created,
        }
    }

    /// The author and the tags in the form that searches compare.
    fn searched(&self) -> Value {
        searched(std::iter::once(&self.author).chain(&self.tags))
    }
}

/// The conditions that rows have to meet.
#[derive(Debug, Clone)]
pub(crate) struct RowFilter {
    pub(crate) package: Option<String>,
    /// A class that a release of the package defines for others.
    pub(crate) class: Option<String>,
    pub(crate) only_enabled: bool,
    pub(crate) visible: VisibleRows,
    /// Only rows of packages of this owner.
    pub(crate) owned_by: Option<String>,
}

/// The rows that can be found at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VisibleRows {
    All,
    Public,
    /// Those of packages of an owner.
    OfOwner(String),
    /// Those of packages of an owner, and public ones.
    PublicAndOfOwner(String),
}

macro_rules! columns {
    () => {
        "SELECT c.id, c.package, c.version, c.name, c.kind, c.author, c.description, c.tags, \
         c.categories, c.is_public, c.enabled, c.owner, c.created, c.updated, r.record, r.sha256 \
         FROM catalog c JOIN releases r ON r.package = c.package AND r.version = c.version "
    };
}

macro_rules! listing {
    ($column:literal, $compare:literal, $direction:literal) => {
        concat!(
            columns!(),
            "WHERE ($1 = '' OR c.package = $1) \
             AND ($2 = '' OR EXISTS (SELECT 1 FROM definitions d \
                  WHERE d.class = $2 AND d.package = c.package)) \
             AND ($3 = '' OR c.enabled = 1) \
             AND ($4 <> '' OR ($5 <> '' AND c.is_public = 1) OR EXISTS (SELECT 1 FROM owners o \
                  WHERE o.owner = $6 AND o.package = c.package)) \
             AND ($7 = '' OR EXISTS (SELECT 1 FROM owners o \
                  WHERE o.owner = $7 AND o.package = c.package)) \
             AND ($8 = '' OR (",
            $column,
            ", c.id) ",
            $compare,
            " ($9, $8)) ORDER BY ",
            $column,
            $direction,
            ", c.id",
            $direction,
            " LIMIT $10"
        )
    };
}

fn statement(order: Order, is_descending: bool) -> &'static str {
    match (order, is_descending) {
        (Order::Package, false) => listing!("c.package", ">", ""),
        (Order::Package, true) => listing!("c.package", "<", " DESC"),
        (Order::Name, false) => listing!("c.name", ">", ""),
        (Order::Name, true) => listing!("c.name", "<", " DESC"),
        (Order::Created, false) => listing!("c.created", ">", ""),
        (Order::Created, true) => listing!("c.created", "<", " DESC"),
    }
}

/// At most `limit` of the rows that meet the conditions, sorted, beginning behind `after`.
pub(crate) fn list(
    transaction: &mut dyn Transaction,
    filter: &RowFilter,
    (order, is_descending): (Order, bool),
    after: Option<&CatalogRow>,
    limit: u64,
) -> Result<Vec<CatalogRow>> {
    // In the statements, an empty text is no condition.
    let flag = |is_set: bool| Value::from(if is_set { "yes" } else { "" });
    let text = |text: &Option<String>| Value::from(text.as_deref().unwrap_or_default());
    let (sees_all, sees_public, sees_owner) = match &filter.visible {
        VisibleRows::All => (true, false, ""),
        VisibleRows::Public => (false, true, ""),
        VisibleRows::OfOwner(owner) => (false, false, owner.as_str()),
        VisibleRows::PublicAndOfOwner(owner) => (false, true, owner.as_str()),
    };
    let rows = transaction.query(
        statement(order, is_descending),
        &[
            text(&filter.package),
            text(&filter.class),
            flag(filter.only_enabled),
            flag(sees_all),
            flag(sees_public),
            sees_owner.into(),
            text(&filter.owned_by),
            after.map_or("", |row| &row.id).into(),
            after.map_or("", |row| row.sort_key(order)).into(),
            serial_value(limit),
        ],
    )?;
    rows.iter().map(catalog_row).collect()
}

/// The row with an id.
pub(crate) fn get(transaction: &mut dyn Transaction, id: &str) -> Result<Option<CatalogRow>> {
    let row = transaction.query_one(concat!(columns!(), "WHERE c.id = $1"), &[id.into()])?;
    row.map(|row| catalog_row(&row)).transpose()
}

fn catalog_row(row: &Row) -> Result<CatalogRow> {
    let text = |column: usize| row.text(column).map(str::to_owned);
    Ok(CatalogRow {
        id: text(0)?,
        package: text(1)?,
        version: text(2)?,
        name: text(3)?,
        kind: text(4)?,
        author: text(5)?,
        description: text(6)?,
        tags: from_json(row.text(7)?)?,
        categories: from_json(row.text(8)?)?,
        is_public: row.integer(9)? != 0,
        enabled: row.integer(10)? != 0,
        owner: text(11)?,
        created: text(12)?,
        updated: text(13)?,
        record: text(14)?,
        sha256: text(15)?,
    })
}

fn json(texts: &[String]) -> Value {
    serde_json::Value::from(texts).to_string().into()
}

/// Adds the row of a release. The record and the digest are read from the release.
pub(crate) fn add(transaction: &mut dyn Transaction, row: &CatalogRow) -> Result<()> {
    transaction.execute(
        "INSERT INTO catalog (id, package, version, name, kind, author, description, tags, \
         categories, searched, is_public, enabled, owner, created, updated) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        &[
            row.id.as_str().into(),
            row.package.as_str().into(),
            row.version.as_str().into(),
            row.name.as_str().into(),
            row.kind.as_str().into(),
            row.author.as_str().into(),
            row.description.as_str().into(),
            json(&row.tags),
            json(&row.categories),
            row.searched(),
            i64::from(row.is_public).into(),
            i64::from(row.enabled).into(),
            row.owner.as_str().into(),
            row.created.as_str().into(),
            row.updated.as_str().into(),
        ],
    )?;
    Ok(())
}

/// Updates the columns of a row that can change.
pub(crate) fn update(transaction: &mut dyn Transaction, row: &CatalogRow) -> Result<()> {
    transaction.execute(
        "UPDATE catalog SET name = $1, description = $2, tags = $3, categories = $4, \
         searched = $5, is_public = $6, enabled = $7, updated = $8 WHERE id = $9",
        &[
            row.name.as_str().into(),
            row.description.as_str().into(),
            json(&row.tags),
            json(&row.categories),
            row.searched(),
            i64::from(row.is_public).into(),
            i64::from(row.enabled).into(),
            row.updated.as_str().into(),
            row.id.as_str().into(),
        ],
    )?;
    Ok(())
}

/// A release that has categories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CategorizedRelease {
    pub(crate) id: String,
    pub(crate) package: String,
    pub(crate) name: String,
    pub(crate) is_public: bool,
}

/// The categories of every row that has some, sorted by name.
pub(crate) fn categorized(
    transaction: &mut dyn Transaction,
) -> Result<Vec<(Vec<String>, CategorizedRelease)>> {
    let rows = transaction.query(
        "SELECT categories, id, package, name, is_public FROM catalog WHERE categories <> '[]' \
         ORDER BY name, id",
        &[],
    )?;
    rows.iter()
        .map(|row| {
            let text = |column: usize| row.text(column).map(str::to_owned);
            let release = CategorizedRelease {
                id: text(1)?,
                package: text(2)?,
                name: text(3)?,
                is_public: row.integer(4)? != 0,
            };
            Ok((from_json(row.text(0)?)?, release))
        })
        .collect()
}

/// The row of a release.
pub(crate) fn of_release(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    version: &Version,
) -> Result<Option<CatalogRow>> {
    let row = transaction.query_one(
        concat!(columns!(), "WHERE c.package = $1 AND c.version = $2"),
        &[package.as_str().into(), version_key(version).into()],
    )?;
    row.map(|row| catalog_row(&row)).transpose()
}
