//! Changing what the catalog says of a release.

use pkgres_manifest::PackageName;

use super::{CatalogEntry, categories, no_such_entry};
use crate::access::{Actor, Scope};
use crate::problem::Problem;
use crate::registry::RegistryBackend;
use crate::registry::write::allowed;
use crate::store::catalog::{self, CatalogRow};

/// Something that changes a row, or says why it cannot.
type Changes<'a> = &'a dyn Fn(&mut CatalogRow) -> Result<(), Problem>;

impl RegistryBackend {
    /// Changes what the catalog says of a release: all that is asked for, or nothing. The index
    /// stays as it is.
    pub(crate) fn change_entry(
        &self,
        actor: &Actor,
        id: &str,
        changes: Changes<'_>,
    ) -> Result<CatalogEntry, Problem> {
        let row = self.database.write(|transaction| {
            let mut row = catalog::get(transaction, id)?.ok_or_else(no_such_entry)?;
            let name = PackageName::parse(&row.package).map_err(Problem::internal)?;
            actor.require_for(Scope::Publish, &name)?;
            allowed(transaction, actor, &name)?;
            changes(&mut row)?;
            categories::check(transaction, &row.categories)?;
            row.updated = self.environment.now().to_string();
            catalog::change(transaction, &row)?;
            Ok::<_, Problem>(row)
        })?;
        self.entry(row)
    }
}
