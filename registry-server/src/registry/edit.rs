//! Changes published releases: yanking, owners, and deleting.

use std::collections::BTreeSet;

use pkgres_manifest::{PackageName, Version};
use pkgres_registry_client::protocol::{Change, ChangeKind};

use super::access_checks::{no_such_entry, no_such_package, no_such_version, require_owner};
use super::backend::RegistryBackend;
use super::publish::Rollback;
use crate::access::{Principal, Scope, is_owner};
use crate::database::Transaction;
use crate::index::{render, render_removal};
use crate::problem::{Problem, ProblemCode};
use crate::store::{catalog, changes, collections, packages, releases};

/// The limit of owners of a package.
const MAX_OWNERS: usize = 100;

impl RegistryBackend {
    /// Yanks a release for a reason, or undoes that. Returns whether that changed anything.
    pub fn set_yanked(
        &self,
        principal: &Principal,
        name: &PackageName,
        version: &Version,
        reason: Option<&str>,
    ) -> Result<bool, Problem> {
        principal.require_for(Scope::Yank, name)?;
        let limits = &self.options.read.limits;
        let changed = self.database.write(|transaction| {
            let serial = changes::next_serial(transaction)?;
            require_owner(transaction, principal, name)?;
            let Some(mut release) = releases::get(transaction, name, version, limits)? else {
                return Err(no_such_version(transaction, name, version)?.into());
            };
            if release.record.yanked == reason.is_some() && release.yanked.as_deref() == reason {
                return Err(Rollback::Skipped(Unchanged));
            }
            release.record.yanked = reason.is_some();
            releases::set_yanked(transaction, &release.record, reason)?;
            let now = self.environment.now();
            packages::touch(transaction, name, &now.to_string())?;
            let change = Change {
                serial,
                kind: if reason.is_some() {
                    ChangeKind::Yank
                } else {
                    ChangeKind::Unyank
                },
                name: name.clone(),
                version: Some(release.record.version.clone()),
                at: now,
            };
            changes::add(transaction, &change, &principal.credential)?;
            let all = releases::all(transaction, name, limits)?;
            render(transaction, name, all, None, serial)?;
            Ok(serial)
        });
        match changed {
            Ok(serial) => self.node.refresh_to(serial).map(|_| true),
            Err(Rollback::Skipped(Unchanged)) => Ok(false),
            Err(Rollback::Failed(problem)) => Err(problem),
        }
    }

    /// Replaces the owners of a package, if it still has the generation. Returns the next generation.
    pub fn set_owners(
        &self,
        principal: &Principal,
        name: &PackageName,
        generation: u64,
        owners: &BTreeSet<String>,
    ) -> Result<u64, Problem> {
        principal.require_for(Scope::Owners, name)?;
        // A package without owners would belong to whoever publishes it next.
        let are_owners = owners.iter().all(|owner| is_owner(owner));
        if !(1..=MAX_OWNERS).contains(&owners.len()) || !are_owners {
            let detail = format!(
                "a package has 1 to {MAX_OWNERS} owners, each of letters, digits and @ . _ - +"
            );
            return Err(Problem::new(ProblemCode::BodyInvalid, detail));
        }
        let now = self.environment.now().to_string();
        self.database.write(|transaction| {
            require_owner(transaction, principal, name)?;
            let package = packages::get(transaction, name)?.ok_or_else(|| no_such_package(name))?;
            if !packages::set_owners(transaction, name, generation, owners, &now)? {
                let detail = format!(
                    "{name} is at generation {}, not {generation}: read it again",
                    package.generation
                );
                return Err(Problem::new(ProblemCode::ConcurrentUpdate, detail));
            }
            Ok(generation + 1)
        })
    }

    /// Deletes the release with an id in the catalog. It leaves the index at once; its artifact is
    /// removed later, with others that no release has. A package without releases keeps its name and
    /// its owners, so that no other owner can take the name.
    pub fn delete(&self, principal: &Principal, id: &str) -> Result<(), Problem> {
        principal.require(Scope::Delete)?;
        let serial = self.database.write(|transaction| {
            let serial = changes::next_serial(transaction)?;
            let row = catalog::get(transaction, id)?.ok_or_else(no_such_entry)?;
            let name = PackageName::parse(&row.package).map_err(Problem::internal)?;
            let version = Version::parse(&row.version).map_err(Problem::internal)?;
            self.remove_release(transaction, principal, (&name, &version), serial)?;
            Ok::<_, Problem>(serial)
        })?;
        self.node.refresh_to(serial)?;
        Ok(())
    }

    /// Deletes a release of a collection, as [`delete`](Self::delete) does.
    pub(crate) fn delete_collection(
        &self,
        principal: &Principal,
        name: &PackageName,
        version: &Version,
    ) -> Result<(), Problem> {
        principal.require(Scope::Delete)?;
        let serial = self.database.write(|transaction| {
            let serial = changes::next_serial(transaction)?;
            if collections::get(transaction, name, version)?.is_none() {
                return Err(no_such_version(transaction, name, version)?);
            }
            self.remove_release(transaction, principal, (name, version), serial)?;
            Ok(serial)
        })?;
        self.node.refresh_to(serial)?;
        Ok(())
    }

    /// Removes a release, and describes its package by the newest release that is left.
    fn remove_release(
        &self,
        transaction: &mut dyn Transaction,
        principal: &Principal,
        (name, version): (&PackageName, &Version),
        serial: u64,
    ) -> Result<(), Problem> {
        let limits = &self.options.read.limits;
        principal.require_for(Scope::Delete, name)?;
        require_owner(transaction, principal, name)?;
        releases::remove(transaction, name, version)?;
        let now = self.environment.now();
        packages::touch(transaction, name, &now.to_string())?;
        let left = releases::all(transaction, name, limits)?;
        if let Some(newest) = left.last()
            && newest.record.version < *version
        {
            let newest = &newest.record.version;
            let described = match catalog::of_release(transaction, name, newest)? {
                Some(row) => Some((row.name, row.description)),
                None => collections::get(transaction, name, newest)?
                    .map(|row| (name.to_string(), row.about.description.unwrap_or_default())),
            };
            if let Some((title, description)) = described {
                packages::describe(transaction, name, &title, &description, &now.to_string())?;
            }
        }
        let change = Change {
            serial,
            kind: ChangeKind::Delete,
            name: name.clone(),
            version: Some(version.clone()),
            at: now,
        };
        changes::add(transaction, &change, &principal.credential)?;
        render_removal(transaction, name, left, serial)?;
        Ok(())
    }
}

/// The release is yanked for the same reason already, or is not yanked.
struct Unchanged;
