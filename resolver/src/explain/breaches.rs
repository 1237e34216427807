//! What no class may inherit and what no contract allows, as reasons: what is alike is said once.

use pkgres_manifest::{ClassName, ObjectId, PackageName, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::contracts::ContractViolation;
use crate::hierarchy::{ClassAt, Violation};
use crate::problem::{Fact, NogoodCause, Problem};
use crate::universe::{ClassId, PackageId};

use super::inherited::{inheritance, paths};
use super::reason::Reason;
use super::unmet::{contract, stands, wanted};

/// What nogoods have in common that say the same of other releases.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Shape {
    /// The classes of each path, and the packages that they are of.
    Rule(bool, Vec<Vec<(ClassId, PackageId)>>),
    /// What is wanted of which object, the class that it is, and the package in which it is that.
    Contract(Box<(Wanted, ObjectId, ClassName, PackageName)>),
}

/// The object that has a property, the path to what it holds there, the class that declares it and its
/// release, and what is to be there.
type Wanted = (ObjectId, String, (ClassName, PackageName, Version), String);

/// What the nogoods among facts say together.
#[derive(Debug, Default)]
pub(super) struct Breaches {
    /// For the first of those of one shape all of them, in the order of the facts.
    alike: FxHashMap<u32, Vec<u32>>,
    /// The objects that contracts are about which are not met.
    objects: FxHashSet<ObjectId>,
}

impl Breaches {
    /// What the nogoods among some facts say.
    pub(super) fn among(problem: &Problem<'_>, facts: &[Fact]) -> Self {
        let mut first: FxHashMap<Shape, u32> = FxHashMap::default();
        let mut breaches = Self::default();
        for fact in facts {
            let Fact::Nogood(number) = fact else {
                continue;
            };
            let shape = match &problem.nogoods()[*number as usize].cause {
                NogoodCause::Rule(violation) => shape(violation),
                NogoodCause::Contract(breach) => {
                    breaches.objects.extend([breach.holder, breach.object]);
                    shape_of_contract(breach)
                }
                NogoodCause::Line => continue,
            };
            let first = *first.entry(shape).or_insert(*number);
            breaches.alike.entry(first).or_default().push(*number);
        }
        breaches
    }

    /// The nogoods of the shape of one, if it is the first of them.
    fn alike(&self, number: u32) -> &[u32] {
        self.alike
            .get(&number)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Whether a contract is about an object.
    pub(super) fn are_about(&self, object: ObjectId) -> bool {
        self.objects.contains(&object)
    }

    /// What a nogood says and all that are like it; nothing if one that is like it was first.
    pub(super) fn reason(&self, problem: &mut Problem<'_>, number: u32) -> Option<Reason> {
        let alike = self.alike(number);
        match &problem.nogoods()[number as usize].cause {
            NogoodCause::Rule(_) => inheritance(problem, alike),
            NogoodCause::Contract(_) => contract(problem, alike),
            NogoodCause::Line => None,
        }
    }
}

fn shape(violation: &Violation) -> Shape {
    let place = |at: &ClassAt| (at.class, at.release.package);
    let paths = paths(violation).into_iter();
    let paths = paths.map(|path| path.iter().map(place).collect());
    Shape::Rule(matches!(violation, Violation::Cycle(_)), paths.collect())
}

fn shape_of_contract(breach: &ContractViolation) -> Shape {
    let wanted: Wanted = (
        breach.holder,
        breach.path.clone(),
        breach.declared_by.clone(),
        wanted(breach),
    );
    let (class, package, _) = stands(breach);
    Shape::Contract(Box::new((wanted, breach.object, class, package)))
}
