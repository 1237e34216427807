//! Renders the index documents that change with a package.
//!
//! A publish costs as much as the package has releases, because its index document is rendered anew.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, IndexRecord, PackageName};
use pkgres_registry_client::protocol::{ClassDocument, IndexDocument};

use crate::database::{Result, Transaction};
use crate::store::collections;
use crate::store::documents::{self, DocumentKind};
use crate::store::releases::{self, ReleaseRow};

/// Renders the index document of a package with all its releases, and the documents of the classes that the added release
/// is the first of its package to define. Part of the transaction that changes the package. Returns the length of the index
/// document, in bytes.
pub(crate) fn render(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    all: Vec<ReleaseRow>,
    added: Option<&IndexRecord>,
    serial: u64,
) -> Result<u64> {
    let mut records: Vec<IndexRecord> = all.into_iter().map(|release| release.record).collect();
    let names: BTreeSet<&str> = records
        .iter()
        .flat_map(|record| &record.requirements)
        .map(|requirement| requirement.package.as_str())
        .collect();
    let requires = names.into_iter().collect::<Vec<_>>().join("\n");
    let interfaces: BTreeSet<&ClassName> = records
        .iter()
        .flat_map(|record| &record.interfaces)
        .collect();
    for interface in interfaces {
        releases::define_interface(transaction, interface, package)?;
    }
    let document = IndexDocument::render(&mut records);
    let address = package.as_str();
    let length = document.bytes.len() as u64;
    documents::put(
        transaction,
        DocumentKind::Package,
        address,
        document.bytes,
        requires,
        serial,
    )?;
    if let Some(added) = added {
        collections::add_contents(transaction, added)?;
    }
    for class in added.into_iter().flat_map(releases::exported) {
        if releases::define(transaction, class, package)? {
            render_class(transaction, class, serial)?;
        }
    }
    Ok(length)
}

/// Renders the documents that the removal of a release changes: the index document of its package, which has the
/// releases that are left and goes with the last one, and the documents of the classes that the package no longer defines.
pub(crate) fn render_removal(
    transaction: &mut dyn Transaction,
    package: &PackageName,
    left: Vec<ReleaseRow>,
    serial: u64,
) -> Result<()> {
    let gone = releases::derive(transaction, package, &left)?;
    if left.is_empty() {
        documents::remove(transaction, DocumentKind::Package, package.as_str(), serial)?;
    } else {
        render(transaction, package, left, None, serial)?;
    }
    for class in &gone {
        render_class(transaction, class, serial)?;
    }
    Ok(())
}

fn render_class(transaction: &mut dyn Transaction, class: &ClassName, serial: u64) -> Result<()> {
    let document = ClassDocument {
        class: class.clone(),
        packages: releases::defining(transaction, class)?,
    };
    let name = class.as_str();
    if document.packages.is_empty() {
        return documents::remove(transaction, DocumentKind::Class, name, serial);
    }
    let body = document.to_json().into_bytes();
    documents::put(
        transaction,
        DocumentKind::Class,
        name,
        body,
        String::new(),
        serial,
    )
}
