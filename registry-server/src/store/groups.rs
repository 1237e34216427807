//! The tables of groups of packages: the categories of the catalog, and bundles.

use crate::database::{Result, Row, Transaction};

/// A row of the table of categories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CategoryRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) created: String,
    pub(crate) updated: String,
}

fn category(row: &Row) -> Result<CategoryRow> {
    Ok(CategoryRow {
        id: row.text(0)?.to_owned(),
        name: row.text(1)?.to_owned(),
        created: row.text(2)?.to_owned(),
        updated: row.text(3)?.to_owned(),
    })
}

/// All categories; there are few.
pub(crate) fn categories(transaction: &mut dyn Transaction) -> Result<Vec<CategoryRow>> {
    let rows = transaction.query("SELECT id, name, created, updated FROM categories", &[])?;
    rows.iter().map(category).collect()
}

/// Adds a category. Returns whether its name was free.
pub(crate) fn add_category(transaction: &mut dyn Transaction, row: &CategoryRow) -> Result<bool> {
    let added = transaction.execute(
        "INSERT INTO categories (id, name, created, updated) VALUES ($1, $2, $3, $4) \
         ON CONFLICT DO NOTHING",
        &[
            row.id.as_str().into(),
            row.name.as_str().into(),
            row.created.as_str().into(),
            row.updated.as_str().into(),
        ],
    )?;
    Ok(added > 0)
}

/// Removes a category.
pub(crate) fn remove_category(transaction: &mut dyn Transaction, id: &str) -> Result<()> {
    transaction.execute("DELETE FROM categories WHERE id = $1", &[id.into()])?;
    Ok(())
}

/// The document of a bundle.
pub(crate) fn bundle(transaction: &mut dyn Transaction, name: &str) -> Result<Option<String>> {
    let row = transaction.query_one("SELECT body FROM bundles WHERE name = $1", &[name.into()])?;
    row.map(|row| row.text(0).map(str::to_owned)).transpose()
}

/// Adds or replaces a bundle.
pub(crate) fn put_bundle(transaction: &mut dyn Transaction, name: &str, body: &str) -> Result<()> {
    transaction.execute(
        "INSERT INTO bundles (name, body) VALUES ($1, $2) \
         ON CONFLICT (name) DO UPDATE SET body = excluded.body",
        &[name.into(), body.into()],
    )?;
    Ok(())
}

/// Removes a bundle. Returns whether there was one.
pub(crate) fn remove_bundle(transaction: &mut dyn Transaction, name: &str) -> Result<bool> {
    let removed = transaction.execute("DELETE FROM bundles WHERE name = $1", &[name.into()])?;
    Ok(removed > 0)
}
