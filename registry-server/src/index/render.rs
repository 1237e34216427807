//! Rendering the documents that a change of a package changes.

use std::collections::BTreeSet;

use pkgres_manifest::{IndexRecord, Limits, PackageName};
use pkgres_registry_client::protocol::{ClassDocument, IndexDocument};

use crate::database::{Result, Transaction};
use crate::store::documents::{self, Kind};
use crate::store::releases;

/// Renders the index document of a package, and the documents of classes that a release defines
/// as the first one of its package. Part of the transaction that changed the package.
pub(crate) fn render(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    added: Option<&IndexRecord>,
    serial: u64,
    limits: &Limits,
) -> Result<()> {
    let all = releases::all(transaction, package, limits)?;
    let mut records: Vec<IndexRecord> = all.into_iter().map(|release| release.record).collect();
    let names: BTreeSet<&str> = records
        .iter()
        .flat_map(|record| &record.requirements)
        .map(|requirement| requirement.package.as_str())
        .collect();
    let requires = names.into_iter().collect::<Vec<_>>().join("\n");
    let document = IndexDocument::render(&mut records);
    let address = package.as_str();
    documents::put(
        transaction,
        Kind::Package,
        address,
        document.bytes,
        requires,
        serial,
    )?;
    let classes = added
        .and_then(|record| record.classes.as_deref())
        .unwrap_or_default();
    for class in classes.iter().filter(|class| !class.internal) {
        if releases::define(transaction, &class.name, package)? {
            let document = ClassDocument {
                class: class.name.clone(),
                packages: releases::defining(transaction, &class.name)?,
            };
            let body = document.to_json().into_bytes();
            let name = class.name.as_str();
            documents::put(transaction, Kind::Class, name, body, String::new(), serial)?;
        }
    }
    Ok(())
}
