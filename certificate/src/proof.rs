//! Writes the proof of a search as steps of `VeriPB`.
//!
//! *Clauses.* A clause of the search is about sets of versions: "the release of one package is in this set, or that of another
//! one in that". It becomes the sum of the literals in its sets. A set of all releases but one is "not that one", as the sum
//! would be as long as the list of releases.
//!
//! *Propagation.* A sum implies nothing about a set as long as several literals of it are open. So each clause is
//! added to the inequalities "at most one release" as well (a step `pol`): if the sets of all other packages are excluded, that
//! excludes every release outside of the set at once. With it, unit propagation does what the search does, and each
//! clause that it learned follows from its antecedents (a step `rup`).
//!
//! *Class hierarchy.* What the search states as one clause for a violation follows from the encoding by more than
//! unit propagation, as it holds for sets of releases. First come the steps of inheritance that all of these releases
//! share. If that is not enough, one of the packages is looked at release by release.

use std::collections::BTreeSet;

use pkgres_manifest::{PackageName, Version};
use pkgres_proof_checker::{Constraint, Database, Literal};
use pkgres_resolver::{ClauseOrigin, Derivation, DerivationVariable, DerivedClause};

use crate::NotCertified;
use crate::encoding::{Encoding, Group, GroupKey};
use crate::formula::{Row, write_number};

/// How many steps the proof of one violation of the class hierarchy may take.
const MOST_STEPS: usize = 100_000;

/// Writes a proof that the problem has no solution.
pub(crate) fn write(encoding: &Encoding, derivation: &Derivation) -> Result<String, NotCertified> {
    let mut writer = Writer::new(encoding, derivation)?;
    for clause in &derivation.clauses {
        writer.write_clause(clause)?;
    }
    let contradiction = writer.last;
    writer.text.push_str(&format!(
        "output NONE;\nconclusion UNSAT : {contradiction};\nend pseudo-Boolean proof;\n"
    ));
    Ok(writer.text)
}

/// A clause of the search in the proof.
#[derive(Debug, Default)]
struct WrittenClause {
    /// The inequalities that propagate what it implies.
    rows: Vec<usize>,
    /// The variables that it is about.
    variables: Vec<usize>,
}

struct Writer<'proof> {
    encoding: &'proof Encoding,
    /// The literals of each variable of the derivation.
    groups: Vec<&'proof Group>,
    variables: &'proof [DerivationVariable],
    clauses: Vec<WrittenClause>,
    /// The inequalities that were derived, without sums.
    derived: Vec<Option<Row>>,
    /// The number of the last inequality.
    last: usize,
    text: String,
}

impl<'proof> Writer<'proof> {
    fn new(
        encoding: &'proof Encoding,
        derivation: &'proof Derivation,
    ) -> Result<Self, NotCertified> {
        let groups = derivation.variables.iter();
        let groups = groups.map(|variable| encoding.group(&key_of(variable)));
        let groups: Option<Vec<&Group>> = groups.collect();
        let last = encoding.formula().rows().len();
        Ok(Self {
            encoding,
            groups: groups.ok_or(NotCertified::Step("a variable has no meaning"))?,
            variables: &derivation.variables,
            clauses: Vec::new(),
            derived: Vec::new(),
            last,
            text: format!("pseudo-Boolean proof version 3.0\nf {last};\n"),
        })
    }

    fn write_clause(&mut self, clause: &DerivedClause) -> Result<(), NotCertified> {
        let mut variables: Vec<usize> = clause.literals.iter().map(|one| one.variable).collect();
        variables.sort_unstable();
        variables.dedup();
        let literals = self.literals(clause);
        let hints = self.hints(clause, &literals)?;
        match &clause.origin {
            ClauseOrigin::Hierarchy { .. } => {
                let mut steps = 0;
                self.write_violation(&literals, &variables, &mut steps)?;
            }
            _ => {
                self.rup(Row::clause(literals.iter().copied()), &hints);
            }
        }
        let row = self.last;
        let mut rows = vec![row];
        for variable in &variables {
            let group = self.groups[*variable];
            let is_restricted = group.literals().any(|one| !literals.contains(&one))
                && !is_excluding(group, &literals);
            if let Some(at_most) = group.at_most.filter(|_| is_restricted) {
                self.text.push_str("pol ");
                write_number(row, &mut self.text);
                self.text.push(' ');
                write_number(at_most, &mut self.text);
                self.text.push_str(" +;\n");
                self.derived.push(None);
                self.last += 1;
                rows.push(self.last);
            }
        }
        self.clauses.push(WrittenClause { rows, variables });
        Ok(())
    }

    /// The literals of a clause. Versions that are no candidates have none.
    fn literals(&self, clause: &DerivedClause) -> BTreeSet<Literal> {
        let mut literals = BTreeSet::new();
        for literal in &clause.literals {
            let group = self.groups[literal.variable];
            let mut of_set: BTreeSet<Literal> = BTreeSet::new();
            for value in &literal.values {
                let value = usize::try_from(*value).expect("positions fit");
                let one = match &self.variables[literal.variable] {
                    DerivationVariable::Package { versions, .. }
                    | DerivationVariable::Binding { versions, .. } => {
                        versions.get(value).map(|version| group.value(version))
                    }
                    DerivationVariable::Release { version, .. } => {
                        (value == 0).then(|| group.value(version))
                    }
                };
                of_set.extend(one.unwrap_or(Some(group.none)));
            }
            let mut others = group.literals().filter(|one| !of_set.contains(one));
            match (others.next(), others.next()) {
                (Some(other), None) => {
                    literals.insert(other.negated());
                }
                _ => literals.append(&mut of_set),
            }
        }
        literals
    }

    /// Whether a package can have this version if a clause fails.
    fn may_have(&self, clause: &DerivedClause, package: &PackageName, version: &Version) -> bool {
        let mut literals = clause.literals.iter();
        let owner =
            literals.find(|literal| package_of(&self.variables[literal.variable]) == package);
        let Some(owner) = owner else {
            return true;
        };
        let position = match &self.variables[owner.variable] {
            DerivationVariable::Package { versions, .. } => versions.binary_search(version).ok(),
            DerivationVariable::Release { version: this, .. } => (this == version).then_some(0),
            DerivationVariable::Binding { .. } => return true,
        };
        let position = position.and_then(|position| u32::try_from(position).ok());
        position.is_some_and(|position| !owner.values.contains(&position))
    }

    /// The numbers of the inequalities that imply a clause.
    fn hints(
        &self,
        clause: &DerivedClause,
        literals: &BTreeSet<Literal>,
    ) -> Result<Vec<usize>, NotCertified> {
        let rows = self.encoding.rows();
        let variables = clause.literals.iter().map(|literal| literal.variable);
        let variables: Vec<usize> = variables.collect();
        let packages: Vec<_> = variables
            .iter()
            .map(|variable| package_of(&self.variables[*variable]))
            .collect();
        let first = packages.first().copied();
        let mut hints: Vec<usize> = Vec::new();
        let mut groups: BTreeSet<usize> = variables.iter().copied().collect();
        match &clause.origin {
            ClauseOrigin::Root => hints.extend(&rows.roots),
            ClauseOrigin::Requirement => {
                if let [owner, target] = packages[..] {
                    let key = (owner.clone(), target.clone());
                    let of_pair = rows.requirements.get(&key).into_iter().flatten();
                    let of_owner =
                        of_pair.filter(|(version, _)| self.may_have(clause, owner, version));
                    hints.extend(of_owner.map(|(_, row)| row));
                }
            }
            ClauseOrigin::Class { owner, class } => {
                let key = (owner.clone(), class.clone());
                let of_class = rows.classes.get(&key).into_iter().flatten();
                let of_owner =
                    of_class.filter(|(version, _)| self.may_have(clause, owner, version));
                hints.extend(of_owner.map(|(_, row)| row));
            }
            ClauseOrigin::OwnCycle => {
                let of_package = first.and_then(|owner| rows.own_cycles.get(owner));
                hints.extend(of_package.into_iter().flatten());
            }
            ClauseOrigin::Bound => {
                let of_package = first.and_then(|target| rows.bound.get(target));
                hints.extend(of_package.into_iter().flatten());
            }
            ClauseOrigin::Derived(antecedents) => {
                // What is learned follows from the last antecedents first.
                for antecedent in antecedents.iter().rev() {
                    let written = self
                        .clauses
                        .get(*antecedent)
                        .ok_or(NotCertified::Step("an antecedent is missing"))?;
                    hints.extend(&written.rows);
                    groups.extend(&written.variables);
                }
            }
            ClauseOrigin::Hierarchy { .. } => {}
            ClauseOrigin::Other => return Err(NotCertified::Rule("an unknown rule")),
        }
        let at_least = groups.iter().filter_map(|at| self.groups[*at].at_least);
        hints.extend(at_least);
        // The one release that the negation of the clause has is the only one.
        let variables: BTreeSet<usize> = variables.into_iter().collect();
        let excluding = variables.into_iter().map(|at| self.groups[at]);
        let excluding = excluding.filter(|group| is_excluding(group, literals));
        hints.extend(excluding.filter_map(|group| group.at_most));
        Ok(hints)
    }

    /// Writes a step that follows by unit propagation; returns its number.
    fn rup(&mut self, row: Row, hints: &[usize]) -> usize {
        self.text.push_str("rup ");
        row.write(&mut self.text);
        self.text.push(':');
        for hint in hints {
            self.text.push(' ');
            write_number(*hint, &mut self.text);
        }
        self.text.push_str(";\n");
        self.derived.push(Some(row));
        self.last += 1;
        self.last
    }

    /// Whether an inequality follows from others by unit propagation.
    fn follows(&self, row: &Row, from: &[usize]) -> bool {
        let known = self.encoding.formula().rows();
        let mut database = Database::default();
        for number in from {
            let row = known.get(*number - 1).or_else(|| {
                let derived = self.derived.get(*number - 1 - known.len());
                derived.and_then(Option::as_ref)
            });
            if let Some(constraint) = row.and_then(constraint) {
                database.add(constraint);
            }
        }
        constraint(row).is_some_and(|row| database.follows(&row, None))
    }

    /// Writes that literals follow from the rules of the class hierarchy: without them, these are violated.
    fn write_violation(
        &mut self,
        literals: &BTreeSet<Literal>,
        variables: &[usize],
        steps: &mut usize,
    ) -> Result<(), NotCertified> {
        *steps += 1;
        if *steps > MOST_STEPS {
            return Err(NotCertified::Step(
                "a violation of the class hierarchy takes too many steps",
            ));
        }
        let encoding = self.encoding;
        // What requirements are bound to is present, and exactly one value of each variable.
        let mut present: BTreeSet<usize> = BTreeSet::new();
        for variable in variables {
            let group = self.groups[*variable];
            present.extend(group.at_least.into_iter().chain(group.at_most));
            let bound = encoding
                .rows()
                .bound
                .get(package_of(&self.variables[*variable]));
            present.extend(bound.into_iter().flatten());
        }
        // Steps of inheritance that all remaining releases share.
        let mut hints = Vec::new();
        for edge in &encoding.hierarchy().edges {
            let mut is_about = variables.iter();
            if !is_about.any(|variable| owner_of(&self.variables[*variable], &edge.owner)) {
                continue;
            }
            let mut from = edge.rows.clone();
            from.extend(&present);
            let row = Row::clause(literals.iter().copied().chain([edge.literal]));
            if self.follows(&row, &from) {
                hints.push(self.rup(row, &from));
            }
        }
        hints.extend(&encoding.hierarchy().chains);
        hints.extend(&present);
        let row = Row::clause(literals.iter().copied());
        if self.follows(&row, &hints) {
            self.rup(row, &hints);
            return Ok(());
        }
        // Otherwise, the releases of one package one by one.
        let open = variables.iter().find_map(|variable| {
            let group = self.groups[*variable];
            let open = group.literals().filter(|one| !literals.contains(one));
            let open: Vec<Literal> = open.collect();
            let is_decided = group
                .literals()
                .any(|one| literals.contains(&one.negated()));
            (open.len() > 1 && !is_decided).then_some((group, open))
        });
        let (group, open) = open.ok_or(NotCertified::Step("a violation of the class hierarchy"))?;
        let mut hints = Vec::new();
        for value in open {
            let mut with_value = literals.clone();
            with_value.insert(value.negated());
            self.write_violation(&with_value, variables, steps)?;
            hints.push(self.last);
        }
        hints.extend(group.at_least);
        self.rup(row, &hints);
        Ok(())
    }
}

/// Whether literals exclude one of a group.
fn is_excluding(group: &Group, literals: &BTreeSet<Literal>) -> bool {
    let mut of_group = group.literals();
    of_group.any(|one| literals.contains(&one.negated()))
}

/// The inequality of a row.
fn constraint(row: &Row) -> Option<Constraint> {
    let degree = i128::try_from(row.degree).ok()?;
    Constraint::new(row.literals.iter().map(|literal| (1, *literal)), degree)
}

fn key_of(variable: &DerivationVariable) -> GroupKey {
    match variable {
        DerivationVariable::Package { package, .. } => GroupKey::Package(package.clone()),
        DerivationVariable::Release { package, version } => {
            GroupKey::Release(package.clone(), version.clone())
        }
        DerivationVariable::Binding { owner, package, .. } => {
            GroupKey::Binding(owner.0.clone(), owner.1.clone(), package.clone())
        }
    }
}

fn package_of(variable: &DerivationVariable) -> &PackageName {
    match variable {
        DerivationVariable::Package { package, .. }
        | DerivationVariable::Release { package, .. }
        | DerivationVariable::Binding { package, .. } => package,
    }
}

/// Whether a variable is about releases of a package, as owners of classes.
fn owner_of(variable: &DerivationVariable, package: &PackageName) -> bool {
    let is_bound_by =
        matches!(variable, DerivationVariable::Binding { owner, .. } if owner.0 == *package);
    is_bound_by || package_of(variable) == package
}
