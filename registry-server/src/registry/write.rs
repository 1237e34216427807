//! What changes a registry: publishing, yanking, owners.

use std::collections::BTreeSet;

use bytes::Bytes;
use pkgres_manifest::{IndexRecord, PackageName, Version};
use pkgres_registry_client::protocol::{Change, ChangeKind, Digest};

use super::unused::Unused;
use super::{RegistryBackend, catalog, no_such_package, no_such_version};
use crate::access::{Actor, Scope};
use crate::database::Transaction;
use crate::index::render;
use crate::problem::{Problem, ProblemCode};
use crate::publish::{self, Candidate};
use crate::store::removals::{self, Removal};
use crate::store::{self, changes, packages, releases};

/// How often an artifact is put that is removed in between.
const TRIES: usize = 10;

/// What became of a publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// The release is new.
    Created(IndexRecord),
    /// The registry had the release, with the same bytes.
    Unchanged(IndexRecord),
}

impl RegistryBackend {
    /// Publishes a release: all of it is there afterwards, or nothing.
    ///
    /// `may_be_unsatisfiable` leaves out the check that requirements can be satisfied, as it has
    /// to be for packages that require each other.
    pub fn publish(
        &self,
        actor: &Actor,
        name: &PackageName,
        version: &Version,
        archive: &Bytes,
        may_be_unsatisfiable: bool,
    ) -> Result<Published, Problem> {
        actor.require_for(Scope::Publish, name)?;
        let options = &self.settings.read;
        let candidate = publish::candidate(Some((name, version)), archive, options)?;
        self.publish_candidate(actor, &candidate, archive, may_be_unsatisfiable)
    }

    /// Packages of others that a package is easily taken for, as long as it has one release: whoever
    /// makes up a name can still take another. `publish/similar.rs` has the rule.
    ///
    /// Looks at the names that this node knows, and asks the database for the owners of those that
    /// are similar.
    pub fn similar_names(
        &self,
        actor: &Actor,
        name: &PackageName,
    ) -> Result<Vec<PackageName>, Problem> {
        let count = |transaction: &mut dyn Transaction| releases::count(transaction, name);
        if self.database.read(count)? > 1 {
            return Ok(Vec::new());
        }
        let state = self.node.state();
        let known = state.packages().iter().map(|entry| &entry.name);
        let similar = publish::similar(name, known);
        if similar.is_empty() {
            return Ok(Vec::new());
        }
        self.database.read(|transaction| {
            let mut others = Vec::new();
            for other in similar {
                if !packages::owners(transaction, other)?.contains(&actor.owner) {
                    others.push(other.clone());
                }
            }
            Ok(others)
        })
    }

    /// Publishes what was read from an archive.
    ///
    /// The artifact is put before the transaction, in which nothing waits for where artifacts are
    /// kept. If it may have been removed in between, it is put again; `sweep.rs` has the rule.
    pub(super) fn publish_candidate(
        &self,
        actor: &Actor,
        candidate: &Candidate,
        archive: &Bytes,
        may_be_unsatisfiable: bool,
    ) -> Result<Published, Problem> {
        let record = &candidate.record;
        let digest = Digest::of(archive);
        // What is there already needs no solver; the transaction looks again.
        let (known, mut removal) = self.database.read(|transaction| {
            allowed(transaction, actor, &record.name)?;
            catalog::check_categories(transaction, &candidate.listing.categories)?;
            let removal = removals::last(transaction, &digest.to_string())?;
            Ok::<_, Problem>((self.known(transaction, record, &digest)?, removal))
        })?;
        if let Some(known) = known {
            return Ok(Published::Unchanged(known));
        }
        if !may_be_unsatisfiable {
            publish::check_satisfiable(&self.node, record, &self.settings.read)?;
        }
        for _ in 0..TRIES {
            removal = self.after_removal(&digest, removal)?;
            self.blobs
                .put(&digest, archive.clone())
                .map_err(Problem::unavailable)?;
            match self.add_release(actor, candidate, &digest, removal.as_ref()) {
                Ok((record, serial)) => {
                    self.node.refresh(serial)?;
                    return Ok(Published::Created(record));
                }
                Err(Unused::Because(NotMade::Unchanged(known))) => {
                    return Ok(Published::Unchanged(*known));
                }
                Err(Unused::Because(NotMade::Removed(newer))) => removal = newer,
                Err(Unused::Problem(problem)) => return Err(problem),
            }
        }
        let cause = format!("the artifact {digest} is removed again and again");
        Err(Problem::unavailable(cause))
    }

    /// Makes the release of an artifact that was put when `removal` was the last one of it. Gives the
    /// record and the serial.
    fn add_release(
        &self,
        actor: &Actor,
        candidate: &Candidate,
        digest: &Digest,
        removal: Option<&Removal>,
    ) -> Result<(IndexRecord, u64), Unused<NotMade>> {
        let limits = &self.settings.read.limits;
        let listing = &candidate.listing;
        let mut record = candidate.record.clone();
        let name = &candidate.record.name;
        self.database.write(|transaction| {
            let serial = store::next_serial(transaction)?;
            allowed(transaction, actor, name)?;
            if let Some(known) = self.known(transaction, &record, digest)? {
                return Err(Unused::Because(NotMade::Unchanged(Box::new(known))));
            }
            let last = removals::last(transaction, &digest.to_string())?;
            if last.as_ref() != removal {
                return Err(Unused::Because(NotMade::Removed(last)));
            }
            let now = self.environment.now();
            record.published = Some(now.to_string());
            if packages::get(transaction, name)?.is_none() {
                packages::add(transaction, name, &actor.owner, &now.to_string())?;
            }
            releases::add(transaction, &record, &actor.holder)?;
            catalog::check_categories(transaction, &listing.categories)?;
            catalog::list(transaction, &record, listing, &actor.owner)?;
            let all = releases::all(transaction, name, limits)?;
            if all
                .last()
                .is_some_and(|newest| newest.record.version == record.version)
            {
                let (title, description) = (&candidate.title, &candidate.description);
                packages::describe(transaction, name, title, description, &now.to_string())?;
            }
            let change = Change {
                serial,
                kind: ChangeKind::Publish,
                name: name.clone(),
                version: Some(record.version.clone()),
                at: now,
            };
            changes::add(transaction, &change, &actor.holder)?;
            render(transaction, name, Some(&record), serial, limits)?;
            Ok((record, serial))
        })
    }

    /// The release of a version if it has the digest; an error if it has another one, or if
    /// another package has the name in other case.
    fn known(
        &self,
        transaction: &mut dyn Transaction,
        record: &IndexRecord,
        digest: &Digest,
    ) -> Result<Option<IndexRecord>, Problem> {
        let name = &record.name;
        let limits = &self.settings.read.limits;
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
                let detail = format!("there is a package {other}, which differs in case alone");
                Err(Problem::new(ProblemCode::NameTaken, detail))
            }
            _ => Ok(None),
        }
    }

    /// Yanks a release for a reason, or takes that back. Says whether that changed anything.
    pub fn set_yanked(
        &self,
        actor: &Actor,
        name: &PackageName,
        version: &Version,
        reason: Option<&str>,
    ) -> Result<bool, Problem> {
        actor.require_for(Scope::Yank, name)?;
        let limits = &self.settings.read.limits;
        let changed = self.database.write(|transaction| {
            let serial = store::next_serial(transaction)?;
            allowed(transaction, actor, name)?;
            let Some(mut release) = releases::get(transaction, name, version, limits)? else {
                return Err(no_such_version(transaction, name, version)?.into());
            };
            if release.record.yanked == reason.is_some() && release.yanked.as_deref() == reason {
                return Err(Unused::Because(AlreadySo));
            }
            release.record.yanked = reason.is_some();
            releases::set_yanked(transaction, &release.record, reason)?;
            let change = Change {
                serial,
                kind: if reason.is_some() {
                    ChangeKind::Yank
                } else {
                    ChangeKind::Unyank
                },
                name: name.clone(),
                version: Some(release.record.version.clone()),
                at: self.environment.now(),
            };
            changes::add(transaction, &change, &actor.holder)?;
            render(transaction, name, None, serial, limits)?;
            Ok(serial)
        });
        match changed {
            Ok(serial) => self.node.refresh(serial).map(|_| true),
            Err(Unused::Because(AlreadySo)) => Ok(false),
            Err(Unused::Problem(problem)) => Err(problem),
        }
    }

    /// Exchanges the owners of a package, if it still is at the generation; gives the next one.
    pub fn set_owners(
        &self,
        actor: &Actor,
        name: &PackageName,
        generation: u64,
        owners: &BTreeSet<String>,
    ) -> Result<u64, Problem> {
        actor.require_for(Scope::Owners, name)?;
        let now = self.environment.now().to_string();
        self.database.write(|transaction| {
            allowed(transaction, actor, name)?;
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
}

/// Refuses if a package exists and belongs to others.
pub(super) fn allowed(
    transaction: &mut dyn Transaction,
    actor: &Actor,
    name: &PackageName,
) -> Result<(), Problem> {
    if actor.is_admin() {
        return Ok(());
    }
    let owners = packages::owners(transaction, name)?;
    if owners.is_empty() || owners.contains(&actor.owner) {
        return Ok(());
    }
    let detail = format!("{name} belongs to others than {}", actor.owner);
    Err(Problem::new(ProblemCode::NotOwner, detail))
}

/// Why a release is not made though nothing is wrong.
enum NotMade {
    /// It is there already.
    Unchanged(Box<IndexRecord>),
    /// The artifact may be gone: this is the last removal of it.
    Removed(Option<Removal>),
}

/// A release is yanked for the same reason already, or is not yanked.
struct AlreadySo;
