//! Certificates for object models: no versions of their packages meet all contracts.
//!
//! # Problem
//!
//! Whether an object meets a contract depends on what its class inherits, in releases of several packages, and on class
//! files. A search learns such a violation as one clause about all these lookups, and its proof does not contain the
//! derivation of this clause.
//!
//! # Idea
//!
//! The problem states every rule for all packages that the objects can need, and [`decision`](crate::decision) finds a
//! proof anew, as it does for the reasons of a conflict. It states only contracts from class files that the search
//! read; the others did not matter to it.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, PackageName};
use pkgres_resolver::{ClassFiles, ClassRules, ModelRoot, Request};

use crate::claim::{Claim, Tiers, Verdict};
use crate::decision::{Decider, Decision, MOST_LITERALS, refutation};
use crate::encoding::Encoding;
use crate::universe::Universe;
use crate::{Certificate, NotCertified, description};

/// The most packages that the objects of a model can need, directly or not, for a certificate.
const MOST_PACKAGES: usize = 500;

/// The certificate that an object model has no resolution.
///
/// `records` are the releases that registries have; see [`packages_of_model`] for which are needed. `class_files` are
/// those of the [`Evidence`](pkgres_resolver::Evidence) of the search.
///
/// # Errors
///
/// The problem is too large, or there is a resolution as far as these records and files tell.
pub fn certify_model(
    request: &Request,
    records: &BTreeMap<PackageName, Vec<IndexRecord>>,
    class_files: &ClassFiles,
) -> Result<Certificate, NotCertified> {
    if request.options.classes != ClassRules::Inheritance {
        return Err(NotCertified::Rule(
            "contracts of objects without the rules of inheritance",
        ));
    }
    let universe = Universe::new(request, records)?;
    if universe.candidates.len() > MOST_PACKAGES {
        return Err(NotCertified::TooLarge);
    }
    let tiers = if request.options.single_version {
        Tiers::First
    } else {
        Tiers::Both
    };
    let encoding = Encoding::of_model(&universe, tiers, class_files);
    let formula = encoding.formula();
    let literals: usize = formula.rows().iter().map(|row| row.literals.len()).sum();
    if literals > MOST_LITERALS {
        return Err(NotCertified::TooLarge);
    }
    match Decider::new(formula).decide(&(0..0)) {
        Decision::Unsatisfiable(steps, count) => Ok(Certificate {
            problem: formula.to_opb(),
            names: description::write(&Claim::new(request, tiers, Verdict::None), formula),
            proof: refutation(formula.rows().len(), &steps, count),
            without: Vec::new(),
        }),
        Decision::Satisfiable(_) => Err(NotCertified::Step("the contracts of the model")),
        Decision::Unknown => Err(NotCertified::TooLarge),
    }
}

/// The packages whose releases [`certify_model`] needs and that are not among the records. Call it again with these,
/// until there are none.
pub fn packages_of_model(
    request: &Request,
    records: &BTreeMap<PackageName, Vec<IndexRecord>>,
) -> Vec<PackageName> {
    let Ok(universe) = Universe::new(request, records) else {
        return Vec::new();
    };
    if universe.candidates.len() > MOST_PACKAGES {
        return Vec::new();
    }
    let objects = universe.model.iter().flat_map(ModelRoot::objects);
    let of_objects = objects.map(|object| &object.package);
    let candidates = universe.candidates.values().flatten();
    let required = candidates.flat_map(|candidate| &candidate.requirements);
    let all = of_objects.chain(required.map(|(package, _)| package));
    let needed: BTreeSet<&PackageName> = all
        .filter(|package| !universe.candidates.contains_key(*package))
        .collect();
    needed.into_iter().cloned().collect()
}
