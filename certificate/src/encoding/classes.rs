//! Rule 2: extended classes are found. And rule 3 inside of one release: classes do not extend each other in a circle.

use pkgres_manifest::PackageName;
use pkgres_proof_checker::Literal;

use crate::formula::{Formula, Row};
use crate::scope::Scope;
use crate::universe::Universe;

use super::groups::Groups;
use super::{RuleRows, definers};

/// Adds the inequalities for the classes of a scope.
pub(super) fn add(
    universe: &Universe,
    scope: &Scope,
    groups: &Groups,
    formula: &mut Formula,
    rows: &mut RuleRows,
) {
    for key in &scope.classes {
        let (owner, class) = key;
        for candidate in universe.of(owner) {
            let is_extended = candidate.extensions().any(|(_, parent)| parent == class);
            if !is_extended || candidate.has(class) {
                continue;
            }
            let mut literals: Vec<Literal> = Vec::new();
            let mut is_complete = true;
            for (package, _) in &candidate.requirements {
                let pair: (PackageName, PackageName) = (owner.clone(), package.clone());
                if scope.requirements.contains(&pair) {
                    let binding = groups.binding(owner, candidate, package);
                    literals.extend(definers(universe, binding, package, class));
                } else {
                    let mut candidates = universe.of(package).iter();
                    is_complete &= !candidates.any(|one| one.exports(class));
                }
            }
            // The class could be found in a package that is not part of the problem.
            if is_complete {
                literals.push(groups.release(owner, &candidate.version).negated());
                let number = formula.add(Row::clause(literals));
                rows.classes.entry(key.clone()).or_default().push(number);
            }
        }
    }
    for owner in &scope.own_cycles {
        for candidate in universe.of(owner).iter().filter(|one| one.has_cycle()) {
            let absent = groups.release(owner, &candidate.version).negated();
            let number = formula.add(Row::clause([absent]));
            rows.own_cycles
                .entry(owner.clone())
                .or_default()
                .push(number);
        }
    }
}
