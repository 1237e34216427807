//! Categories of the catalog.

use crate::database::{Result, Row, Transaction};

/// A category as it is kept.
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
pub(crate) fn all(transaction: &mut dyn Transaction) -> Result<Vec<CategoryRow>> {
    let rows = transaction.query("SELECT id, name, created, updated FROM categories", &[])?;
    rows.iter().map(category).collect()
}

/// Adds a category; says whether its name was free.
pub(crate) fn add(transaction: &mut dyn Transaction, row: &CategoryRow) -> Result<bool> {
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
pub(crate) fn remove(transaction: &mut dyn Transaction, id: &str) -> Result<()> {
    transaction.execute("DELETE FROM categories WHERE id = $1", &[id.into()])?;
    Ok(())
}
