//! Publishes releases.
//!
//! The artifact is written first, then one transaction adds the release, its documents and its change.
//! A kill in between leaves an artifact without a release, which is removed later, and never a release
//! without its artifact. The primary key of the database decides which bytes a version has, not the
//! writer that wrote its file first.

use bytes::Bytes;
use pkgres_manifest::{IndexRecord, PackageName, Version};
use pkgres_registry_client::protocol::{Change, ChangeKind, Digest};

use super::access_checks::require_owner;
use super::add_to_catalog::{self, check_categories};
use super::backend::RegistryBackend;
use crate::access::{Principal, Scope};
use crate::candidate::{self, Candidate, Details};
use crate::database::{DatabaseError, Transaction};
use crate::index::render;
use crate::problem::{Problem, ProblemCode};
use crate::store::removals::{self, Removal};
use crate::store::{changes, collections, packages, releases};

/// How often an artifact is put again that was removed before its release was added.
const ATTEMPTS: usize = 10;

/// The outcome of a publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// The release is new.
    Created(IndexRecord),
    /// The registry had the release, with the same bytes.
    Unchanged(IndexRecord),
}

/// Whether a release is published only if its requirements can be satisfied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequirementCheck {
    /// They have to be satisfiable from the registry.
    Required,
    /// They need not be: packages that require each other cannot be published otherwise.
    Skipped,
}

impl RegistryBackend {
    /// Publishes a release: everything is stored, or nothing.
    pub fn publish(
        &self,
        principal: &Principal,
        name: &PackageName,
        version: &Version,
        archive: &Bytes,
        check: RequirementCheck,
    ) -> Result<Published, Problem> {
        principal.require_for(Scope::Publish, name)?;
        let options = &self.options.read;
        let (candidate, listing) =
            candidate::check_archive(Some((name, version)), archive, options)?;
        let details = Details::Listing(&listing);
        self.publish_candidate(principal, &candidate, details, archive, check)
    }

    /// Packages of others with a similar name, as long as the package has one release, so that its
    /// publisher can still choose another name. `candidate/confusable.rs` has the rule. [Not
    /// everybody](Self::may_read) may learn their names.
    ///
    /// Compares the names that this node knows, and reads the owners of the similar ones from the
    /// database.
    pub fn similar_names(
        &self,
        principal: &Principal,
        name: &PackageName,
    ) -> Result<Vec<PackageName>, Problem> {
        let count = |transaction: &mut dyn Transaction| releases::count(transaction, name);
        if self.database.read(count)? > 1 {
            return Ok(Vec::new());
        }
        let state = self.node.state();
        let known = state.packages().iter().map(|entry| &entry.name);
        let similar = candidate::similar_names(name, known);
        if similar.is_empty() {
            return Ok(Vec::new());
        }
        self.database.read(|transaction| {
            let mut others = Vec::new();
            for other in similar {
                if !packages::owners(transaction, other)?.contains(&principal.owner) {
                    others.push(other.clone());
                }
            }
            Ok(others)
        })
    }

    /// Whether a principal may read all packages, and so learn their names.
    pub fn may_read(&self, principal: &Principal) -> bool {
        !self.options.is_private || principal.has(Scope::Read)
    }

    /// Whether a principal may learn the name of a package: that of a package of its owner, for which its token is, too.
    fn may_know(
        &self,
        transaction: &mut dyn Transaction,
        principal: &Principal,
        name: &PackageName,
    ) -> Result<bool, Problem> {
        Ok(self.may_read(principal)
            || principal.require_for(Scope::Publish, name).is_ok()
                && packages::owners(transaction, name)?.contains(&principal.owner))
    }

    /// Publishes a release candidate.
    ///
    /// The artifact is put before the transaction, because no transaction waits for the store of
    /// artifacts. If it may have been removed in between, it is put again; `sweep.rs` has the rule.
    pub(super) fn publish_candidate(
        &self,
        principal: &Principal,
        candidate: &Candidate,
        details: Details<'_>,
        archive: &Bytes,
        check: RequirementCheck,
    ) -> Result<Published, Problem> {
        let record = &candidate.record;
        let digest = candidate.digest;
        // A release that exists needs no solver. The transaction checks that again.
        let (known, mut removal) = self.database.read(|transaction| {
            require_owner(transaction, principal, &record.name)?;
            if let Details::Listing(listing) = details {
                check_categories(transaction, &listing.categories)?;
            }
            let removal = removals::last(transaction, &digest.to_string())?;
            Ok::<_, Problem>((
                self.known(transaction, principal, record, &digest)?,
                removal,
            ))
        })?;
        if let Some(known) = known {
            self.restore_artifact(&digest, archive)?;
            return Ok(Published::Unchanged(known));
        }
        if check == RequirementCheck::Required {
            let checked = candidate::check_satisfiable(&self.node, record, &self.options.read);
            checked.map_err(|problem| {
                if problem.code != ProblemCode::Unsatisfiable || self.may_read(principal) {
                    return problem;
                }
                // The reason names packages that the release does not require itself.
                let detail = format!(
                    "the requirements of {} {} cannot be satisfied from the registry; the reason is shown only to \
                     tokens with the scope `read`",
                    record.name, record.version
                );
                Problem::new(ProblemCode::Unsatisfiable, detail)
            })?;
        }
        for _ in 0..ATTEMPTS {
            removal = self.after_removal(&digest, removal)?;
            self.blobs
                .put(&digest, archive.clone())
                .map_err(Problem::unavailable)?;
            match self.add_release(principal, candidate, details, removal.as_ref()) {
                Ok((record, serial)) => {
                    tracing::info!(
                        name = record.name.as_str(),
                        version = %record.version,
                        owner = &*principal.owner,
                        token = principal.credential.token(),
                        "published a release"
                    );
                    self.node.refresh_to(serial)?;
                    return Ok(Published::Created(record));
                }
                Err(Rollback::Skipped(NotPublished::Unchanged(known))) => {
                    return Ok(Published::Unchanged(*known));
                }
                Err(Rollback::Skipped(NotPublished::Removed(newer))) => removal = newer,
                Err(Rollback::Failed(problem)) => return Err(problem),
            }
        }
        let cause = format!("the artifact {digest} is removed again and again");
        Err(Problem::unavailable(cause))
    }

    /// Stores the artifact of a release again if it was lost, such as by a restore of an older backup, or is damaged.
    fn restore_artifact(&self, digest: &Digest, archive: &Bytes) -> Result<(), Problem> {
        let restored = self.blobs.restore(digest, archive.clone());
        if restored.map_err(Problem::unavailable)? {
            tracing::warn!(%digest, "an artifact was missing or damaged, and was stored again");
        }
        Ok(())
    }

    /// Adds the release of an artifact that was put when `removal` was its last removal. Returns the
    /// record and the serial.
    fn add_release(
        &self,
        principal: &Principal,
        candidate: &Candidate,
        details: Details<'_>,
        removal: Option<&Removal>,
    ) -> Result<(IndexRecord, u64), Rollback<NotPublished>> {
        let limits = &self.options.read.limits;
        let mut record = candidate.record.clone();
        let name = &candidate.record.name;
        self.database.write(|transaction| {
            let serial = changes::next_serial(transaction)?;
            require_owner(transaction, principal, name)?;
            let digest = candidate.digest;
            if let Some(known) = self.known(transaction, principal, &record, &digest)? {
                return Err(Rollback::Skipped(NotPublished::Unchanged(Box::new(known))));
            }
            let last = removals::last(transaction, &digest.to_string())?;
            if last.as_ref() != removal {
                return Err(Rollback::Skipped(NotPublished::Removed(last)));
            }
            let now = self.environment.now();
            record.published = Some(now.to_string());
            if packages::get(transaction, name)?.is_none() {
                let ecosystem = record.ecosystem;
                packages::add(
                    transaction,
                    name,
                    ecosystem,
                    &principal.owner,
                    &now.to_string(),
                )?;
            }
            releases::add(transaction, &record, &digest, &principal.credential)?;
            match details {
                Details::Listing(listing) => {
                    check_categories(transaction, &listing.categories)?;
                    add_to_catalog::add(transaction, &record, &digest, listing, &principal.owner)?;
                }
                Details::Collection(texts) => collections::add(transaction, &record, texts)?,
            }
            let all = releases::all(transaction, name, limits)?;
            if all
                .last()
                .is_some_and(|newest| newest.record.version == record.version)
            {
                let (title, description) = (&candidate.title, &candidate.description);
                packages::describe(transaction, name, title, description, &now.to_string())?;
            } else {
                packages::touch(transaction, name, &now.to_string())?;
            }
            let change = Change {
                serial,
                kind: ChangeKind::Publish,
                name: name.clone(),
                version: Some(record.version.clone()),
                at: now,
            };
            changes::add(transaction, &change, &principal.credential)?;
            let length = render(transaction, name, all, Some(&record), serial)?;
            if length > self.options.document_bytes / 8 * 7 {
                let detail = format!(
                    "clients could not read the releases of {name} any more: with this one, their records have {length} \
                     bytes; an owner can delete releases, or publish under another name"
                );
                return Err(Rollback::Failed(Problem::new(ProblemCode::PackageInvalid, detail)));
            }
            Ok((record, serial))
        })
    }

    /// The release of a version, if it exists with the digest. An error if it has a different digest, or if
    /// another package has the same name in other case or in another ecosystem.
    fn known(
        &self,
        transaction: &mut dyn Transaction,
        principal: &Principal,
        record: &IndexRecord,
        digest: &Digest,
    ) -> Result<Option<IndexRecord>, Problem> {
        let name = &record.name;
        let limits = &self.options.read.limits;
        if let Some(package) = packages::get(transaction, name)?
            && package.ecosystem != record.ecosystem.id()
        {
            let detail = format!(
                "there is a package {name} of the ecosystem `{}`: packages of all ecosystems share their names",
                package.ecosystem
            );
            return Err(Problem::new(ProblemCode::NameTaken, detail));
        }
        if let Some(known) = releases::get(transaction, name, &record.version, limits)? {
            if known.sha256 == digest.to_string() {
                return Ok(Some(known.record));
            }
            let detail = format!(
                "{name} {} was published with other bytes: sha256 {}",
                known.record.version, known.sha256
            );
            return Err(Problem::new(ProblemCode::VersionExists, detail));
        }
        match packages::same_after_folding(transaction, name)? {
            Some(other) if other != name.as_str() => {
                let is_known = match PackageName::native(&other) {
                    Ok(other) => self.may_know(transaction, principal, &other)?,
                    Err(_) => false,
                };
                let detail = if is_known {
                    format!("there is a package {other}, which differs only in case")
                } else {
                    "there is a package whose name differs only in case".to_owned()
                };
                Err(Problem::new(ProblemCode::NameTaken, detail))
            }
            _ => Ok(None),
        }
    }
}

/// The reason why a transaction that took a serial is rolled back, which frees the serial.
pub(super) enum Rollback<Reason> {
    /// There is nothing to write.
    Skipped(Reason),
    /// The transaction failed.
    Failed(Problem),
}

impl<Reason> From<Problem> for Rollback<Reason> {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

impl<Reason> From<DatabaseError> for Rollback<Reason> {
    fn from(error: DatabaseError) -> Self {
        Self::Failed(error.into())
    }
}

/// The reason why a release is not added.
enum NotPublished {
    /// It exists already.
    Unchanged(Box<IndexRecord>),
    /// The artifact may be gone: this is its last removal.
    Removed(Option<Removal>),
}
