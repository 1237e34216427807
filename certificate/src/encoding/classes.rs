//! Encodes that extended classes are found, and that classes within one release do not extend each other in a cycle.

use pkgres_manifest::{ClassName, PackageName};

use crate::formula::{Formula, Row};
use crate::scope::Scope;
use crate::universe::{Candidate, Universe};

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
            let row = class_row(universe, groups, (owner, candidate), class, |package| {
                let pair: (PackageName, PackageName) = (owner.clone(), package.clone());
                scope.requirements.contains(&pair)
            });
            if let Some(row) = row {
                let number = formula.add(row);
                let of_class = rows.classes.entry(key.clone()).or_default();
                of_class.insert(groups.release(owner, &candidate.version), number);
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

/// "If a release is present, a class that it extends is found." `None` if it could be found in a package that is not
/// part of the problem.
pub(crate) fn class_row(
    universe: &Universe,
    groups: &Groups,
    (owner, candidate): (&PackageName, &Candidate),
    class: &ClassName,
    is_part: impl Fn(&PackageName) -> bool,
) -> Option<Row> {
    let mut literals = vec![groups.release(owner, &candidate.version).negated()];
    for (package, _) in &candidate.requirements {
        if is_part(package) {
            let binding = groups.binding(owner, candidate, package);
            literals.extend(definers(universe, binding, package, class));
        } else if universe.of(package).iter().any(|one| one.exports(class)) {
            return None;
        }
    }
    Some(Row::clause(literals))
}
