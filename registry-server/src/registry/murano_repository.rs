//! Serves clients of Murano that have no solver: bundles, and the newest release that matches a spec.

use pkgres_manifest::{CLASS_PACKAGES, IndexRecord, PackageName, Spec};

use super::access_checks::no_such_package;
use super::backend::RegistryBackend;
use crate::access::{Principal, Scope};
use crate::problem::{Problem, ProblemCode};
use crate::store::{groups, releases};

impl RegistryBackend {
    /// The newest release that a spec matches and that is not yanked: a prerelease only if there is
    /// nothing else, or if the spec names one.
    pub fn release_for_spec(
        &self,
        name: &PackageName,
        spec: Option<&Spec>,
    ) -> Result<IndexRecord, Problem> {
        let limits = &self.options.read.limits;
        let mut all = self
            .database
            .read(|transaction| releases::all(transaction, name, limits))?;
        // These clients cannot use packages of other ecosystems.
        all.retain(|release| release.record.ecosystem == CLASS_PACKAGES);
        if all.is_empty() {
            return Err(no_such_package(name));
        }
        let is_match = |record: &IndexRecord| spec.is_none_or(|spec| spec.matches(&record.version));
        let has_yanked = all.iter().any(|release| is_match(&release.record));
        let matching = all
            .into_iter()
            .map(|release| release.record)
            .filter(|record| !record.yanked && is_match(record));
        let prefers_stable = !spec.is_some_and(Spec::names_prerelease);
        let best = matching.max_by(|one, two| {
            let rank = |record: &IndexRecord| !(prefers_stable && record.version.is_prerelease());
            (rank(one), &one.version).cmp(&(rank(two), &two.version))
        });
        best.ok_or_else(|| {
            let written = spec.map_or(String::new(), |spec| format!(" {}", spec.written()));
            let yanked = if has_yanked {
                " that is not yanked"
            } else {
                ""
            };
            let detail = format!("{name} has no version{written}{yanked}");
            Problem::new(ProblemCode::NoSuchVersion, detail)
        })
    }

    /// The document of a bundle.
    pub fn bundle(&self, name: &str) -> Result<String, Problem> {
        let found = self
            .database
            .read(|transaction| groups::bundle(transaction, name))?;
        found.ok_or_else(no_such_bundle)
    }

    /// Adds or replaces a bundle. Returns whether it is new.
    pub fn set_bundle(
        &self,
        principal: &Principal,
        name: &str,
        body: &str,
    ) -> Result<bool, Problem> {
        principal.require(Scope::Admin)?;
        self.database.write(|transaction| {
            let is_new = groups::bundle(transaction, name)?.is_none();
            groups::put_bundle(transaction, name, body)?;
            Ok(is_new)
        })
    }

    /// Removes a bundle.
    pub fn remove_bundle(&self, principal: &Principal, name: &str) -> Result<(), Problem> {
        principal.require(Scope::Admin)?;
        let was_there = self
            .database
            .write(|transaction| groups::remove_bundle(transaction, name))?;
        if was_there {
            return Ok(());
        }
        Err(no_such_bundle())
    }
}

fn no_such_bundle() -> Problem {
    Problem::new(
        ProblemCode::NoSuchBundle,
        "there is no bundle with this name",
    )
}
