//! Bundles, and the releases that stand for a name and a spec.

use pkgres_manifest::{IndexRecord, PackageName, Spec};

use super::{RegistryBackend, no_such_package};
use crate::access::{Actor, Scope};
use crate::problem::{Problem, ProblemCode};
use crate::store::{bundles, releases};

impl RegistryBackend {
    /// The release that stands for a name and a spec: the newest one inside the spec that is not
    /// yanked, a prerelease only if there is nothing else or the spec names one.
    pub fn chosen(&self, name: &PackageName, spec: Option<&Spec>) -> Result<IndexRecord, Problem> {
        let limits = &self.settings.read.limits;
        let all = self
            .database
            .read(|transaction| releases::all(transaction, name, limits))?;
        if all.is_empty() {
            return Err(no_such_package(name));
        }
        let fitting = all
            .into_iter()
            .map(|release| release.record)
            .filter(|record| {
                !record.yanked && spec.is_none_or(|spec| spec.matches(&record.version))
            });
        let prefers_stable = !spec.is_some_and(Spec::names_prerelease);
        let best = fitting.max_by(|one, two| {
            let rank = |record: &IndexRecord| !(prefers_stable && record.version.is_prerelease());
            (rank(one), &one.version).cmp(&(rank(two), &two.version))
        });
        best.ok_or_else(|| {
            let written = spec.map_or("that is not yanked", Spec::written);
            let detail = format!("{name} has no version {written}");
            Problem::new(ProblemCode::NoSuchVersion, detail)
        })
    }

    /// The document of a bundle.
    pub fn bundle(&self, name: &str) -> Result<String, Problem> {
        let found = self
            .database
            .read(|transaction| bundles::get(transaction, name))?;
        found.ok_or_else(no_such_bundle)
    }

    /// Puts a bundle in place of the one before it.
    pub fn set_bundle(&self, actor: &Actor, name: &str, body: &str) -> Result<(), Problem> {
        actor.require(Scope::Admin)?;
        Ok(self
            .database
            .write(|transaction| bundles::put(transaction, name, body))?)
    }

    /// Removes a bundle.
    pub fn remove_bundle(&self, actor: &Actor, name: &str) -> Result<(), Problem> {
        actor.require(Scope::Admin)?;
        let was_there = self
            .database
            .write(|transaction| bundles::remove(transaction, name))?;
        if was_there {
            return Ok(());
        }
        Err(no_such_bundle())
    }
}

fn no_such_bundle() -> Problem {
    Problem::new(ProblemCode::NoSuchBundle, "there is no bundle of this name")
}
