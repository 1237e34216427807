//! Deleting releases.

use pkgres_manifest::{PackageName, Version};
use pkgres_registry_client::protocol::{Change, ChangeKind};

use super::RegistryBackend;
use super::catalog::no_such_entry;
use super::write::allowed;
use crate::access::{Actor, Scope};
use crate::index::render_removal;
use crate::problem::Problem;
use crate::store::{self, catalog, changes, packages, releases};

impl RegistryBackend {
    /// Deletes the release with an id of the catalog. The index has it no longer; its artifact is
    /// removed later, with others that no release has. A package without releases keeps its name
    /// and its owners, so that nobody else can take the name.
    pub fn delete(&self, actor: &Actor, id: &str) -> Result<(), Problem> {
        actor.require(Scope::Delete)?;
        let limits = &self.settings.read.limits;
        let serial = self.database.write(|transaction| {
            let serial = store::next_serial(transaction)?;
            let row = catalog::get(transaction, id)?.ok_or_else(no_such_entry)?;
            let name = PackageName::parse(&row.package).map_err(Problem::internal)?;
            let version = Version::parse(&row.version).map_err(Problem::internal)?;
            actor.require_for(Scope::Delete, &name)?;
            allowed(transaction, actor, &name)?;
            catalog::remove(transaction, &name, &version)?;
            releases::remove(transaction, &name, &version)?;
            let now = self.environment.now();
            if let Some(newest) = releases::all(transaction, &name, limits)?.last()
                && newest.record.version < version
                && let Some(left) = catalog::of_release(transaction, &name, &newest.record.version)?
            {
                let (title, description) = (&left.name, &left.description);
                packages::describe(transaction, &name, title, description, &now.to_string())?;
            }
            let change = Change {
                serial,
                kind: ChangeKind::Delete,
                name: name.clone(),
                version: Some(version),
                at: now,
            };
            changes::add(transaction, &change, &actor.holder)?;
            render_removal(transaction, &name, serial, limits)?;
            Ok::<_, Problem>(serial)
        })?;
        self.node.refresh(serial)?;
        Ok(())
    }
}
