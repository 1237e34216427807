//! Writes the proof of a search as steps of `VeriPB`.
//!
//! *Clauses.* A clause of the search is about sets of versions: "the release of one package is in this set, or that of
//! another one in that". It becomes the sum of the literals in its sets. A set of all releases but one becomes "not
//! that one", because the sum would be as long as the list of releases. If an inequality of the problem states the
//! clause already, there is no step.
//!
//! *Propagation.* A sum implies nothing about a set as long as several literals of it are open. So each clause is added
//! to the inequalities "at most one release" as well (a step `pol`): if the sets of all other packages are excluded,
//! that excludes every release outside of the set at once. With these sums, unit propagation does what the search does,
//! and each learned clause follows from its antecedents (a step `rup`). Facts that the search knew before any decision
//! are part of the steps that use them, see [`plan`].
//!
//! *Class hierarchy.* The search states a violation as one clause, which needs more than unit propagation to follow
//! from the encoding, see [`violation`].

mod clause;
mod plan;
mod violation;

use std::collections::{BTreeSet, HashSet};

use pkgres_manifest::PackageName;
use pkgres_proof_checker::Literal;
use pkgres_resolver::{ClauseOrigin, Derivation, DerivationVariable, DerivedClause};

use crate::NotCertified;
use crate::encoding::{Encoding, Group, GroupKey, OwnerRows};
use crate::formula::{Row, write_number};
use clause::{Term, Values};
use plan::Plan;

/// Writes a proof that the problem has no solution.
pub(crate) fn write(encoding: &Encoding, derivation: &Derivation) -> Result<String, NotCertified> {
    let mut writer = Writer::new(encoding, derivation)?;
    for number in 0..derivation.clauses.len() {
        let written = writer.write_clause(number)?;
        writer.clauses.push(written);
    }
    let contradiction = writer.last;
    writer.text.push_str(&format!(
        "output NONE;\nconclusion UNSAT : {contradiction};\nend pseudo-Boolean proof;\n"
    ));
    Ok(writer.text)
}

/// A clause of the search in the proof.
#[derive(Debug)]
enum WrittenClause {
    /// The inequalities that propagate what it implies.
    Rows(Vec<usize>),
    /// For each release that it is about, the inequality of the problem that states it.
    Stated(Vec<(Literal, usize)>),
    /// It is part of another step.
    Part,
}

/// The inequalities that a step follows from, each once, in the order in which they imply something.
#[derive(Debug, Default)]
struct Hints {
    rows: Vec<usize>,
    known: HashSet<usize>,
}

impl Hints {
    fn extend(&mut self, rows: impl IntoIterator<Item = usize>) {
        let known = &mut self.known;
        let new = rows.into_iter().filter(|row| known.insert(*row));
        self.rows.extend(new);
    }
}

struct Writer<'proof> {
    encoding: &'proof Encoding,
    derivation: &'proof Derivation,
    plan: Plan,
    /// The literals of each variable of the derivation.
    values: Vec<Values<'proof>>,
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
        let values = derivation.variables.iter().map(|variable| {
            let group = encoding.group(&key_of(variable))?;
            Some(Values::new(variable, group))
        });
        let values: Option<Vec<Values<'_>>> = values.collect();
        let last = encoding.formula().rows().len();
        Ok(Self {
            encoding,
            derivation,
            plan: Plan::new(derivation),
            values: values.ok_or(NotCertified::Step("a variable has no meaning"))?,
            clauses: Vec::new(),
            derived: Vec::new(),
            last,
            text: format!("pseudo-Boolean proof version 3.0\nf {last};\n"),
        })
    }

    fn group(&self, variable: usize) -> &'proof Group {
        self.values[variable].group
    }

    fn package(&self, term: &Term) -> &'proof PackageName {
        self.derivation.variables[term.variable].package()
    }

    /// The sets of a clause.
    fn terms(&self, clause: &DerivedClause) -> Vec<Term> {
        let literals = clause.literals.iter();
        let terms = literals.map(|literal| self.values[literal.variable].term(literal));
        terms.collect()
    }

    fn write_clause(&mut self, number: usize) -> Result<WrittenClause, NotCertified> {
        if self.plan.is_part(number) {
            return Ok(WrittenClause::Part);
        }
        let derivation = self.derivation;
        let clause = &derivation.clauses[number];
        let terms = self.terms(clause);
        if let Some(stated) = self.stated(number, clause, &terms) {
            return Ok(stated);
        }
        let mut literals = BTreeSet::new();
        for term in &terms {
            term.add_to(&self.values[term.variable], &mut literals);
        }
        match (&clause.origin, terms.as_slice()) {
            (ClauseOrigin::Hierarchy { .. }, _) => self.write_violation(&literals, &terms)?,
            (ClauseOrigin::Implied { .. }, [term]) => {
                let hints = self.hints(number, clause, &terms)?;
                if let Some(row) = term.exclusion(&self.values[term.variable]) {
                    return Ok(WrittenClause::Rows(vec![self.rup(row, &hints)]));
                }
                self.rup(Row::clause(literals), &hints);
            }
            _ => {
                let hints = self.hints(number, clause, &terms)?;
                self.rup(Row::clause(literals), &hints);
            }
        }
        let row = self.last;
        let mut rows = vec![row];
        for term in &terms {
            // If there is one, it is in the clause.
            if term.counts(&self.values[term.variable]).1 > 1 {
                rows.extend(self.write_sum(row, term));
            }
        }
        Ok(WrittenClause::Rows(rows))
    }

    /// Adds "at most one release" to a clause, so that the clause excludes every release outside of a set at once.
    fn write_sum(&mut self, row: usize, term: &Term) -> Option<usize> {
        let at_most = self.group(term.variable).at_most?;
        self.text.push_str("pol ");
        write_number(row, &mut self.text);
        self.text.push(' ');
        write_number(at_most, &mut self.text);
        self.text.push_str(" +;\n");
        self.derived.push(None);
        self.last += 1;
        Some(self.last)
    }

    /// The inequalities of the problem that state a clause, if it needs no step.
    fn stated(
        &mut self,
        number: usize,
        clause: &DerivedClause,
        terms: &[Term],
    ) -> Option<WrittenClause> {
        let (owner, targets) = terms.split_first()?;
        if clause.origin == ClauseOrigin::Root {
            let values = &self.values[owner.variable];
            if owner.counts(values).1 == 0 {
                // It excludes versions that are no candidates.
                return Some(WrittenClause::Rows(Vec::new()));
            }
            let literals = owner.inside(values);
            let rows = self.encoding.formula().rows();
            let mut of_root = self.encoding.rows().roots.iter().copied();
            let row = of_root.find(|row| rows[*row - 1].literals == literals)?;
            let at_most = self.group(owner.variable).at_most;
            return Some(WrittenClause::Rows(
                [row].into_iter().chain(at_most).collect(),
            ));
        }
        let of_owner = self.owner_rows(clause, terms)?;
        // Rows are found by the releases of the owner, if these come first.
        let releases = owner.outside(&self.values[owner.variable]);
        let is_whole = self.plan.is_needed_whole(number);
        if is_whole && releases.len() > 1 {
            return None;
        }
        let mut allowed = BTreeSet::new();
        for target in targets {
            allowed.extend(target.inside(&self.values[target.variable]));
        }
        let mut stated = Vec::with_capacity(releases.len());
        for release in releases {
            let row = *of_owner.get(&release)?;
            let literals = &self.encoding.formula().rows()[row - 1].literals;
            let absent = release.negated();
            if !literals
                .iter()
                .all(|one| *one == absent || allowed.contains(one))
            {
                return None;
            }
            stated.push((release, row));
        }
        let [(_, row)] = stated[..] else {
            return Some(WrittenClause::Stated(stated));
        };
        let mut rows = vec![row];
        if is_whole && allowed.len() == 1 {
            let at_most = targets.iter().map(|one| self.group(one.variable).at_most);
            rows.extend(at_most.flatten());
        } else if is_whole && !allowed.is_empty() {
            for target in targets {
                if target.counts(&self.values[target.variable]).1 > 0 {
                    rows.extend(self.write_sum(row, target));
                }
            }
        }
        Some(WrittenClause::Rows(rows))
    }

    /// The inequalities for a requirement or class, by the releases that have it.
    fn owner_rows(&self, clause: &DerivedClause, terms: &[Term]) -> Option<&'proof OwnerRows> {
        let rows = self.encoding.rows();
        match (&clause.origin, terms) {
            (ClauseOrigin::Requirement, [owner, target]) => {
                let key = (self.package(owner).clone(), self.package(target).clone());
                rows.requirements.get(&key)
            }
            (ClauseOrigin::Class { owner, class }, _) => {
                rows.classes.get(&(owner.clone(), class.clone()))
            }
            _ => None,
        }
    }

    /// The releases of the owner of a requirement or class that a clause excludes; `None` if it has no set of these.
    fn excluded_owners(&self, clause: &DerivedClause, terms: &[Term]) -> Option<BTreeSet<Literal>> {
        let mut terms = terms.iter();
        let owner = match &clause.origin {
            ClauseOrigin::Class { owner, .. } => terms.find(|term| self.package(term) == owner)?,
            _ => terms.next()?,
        };
        let is_binding = matches!(
            self.derivation.variables[owner.variable],
            DerivationVariable::Binding { .. }
        );
        let excluded = (!is_binding).then(|| owner.outside(&self.values[owner.variable]))?;
        Some(excluded.into_iter().collect())
    }

    /// The numbers of the inequalities that imply a clause.
    fn hints(
        &self,
        number: usize,
        clause: &DerivedClause,
        terms: &[Term],
    ) -> Result<Vec<usize>, NotCertified> {
        let rows = self.encoding.rows();
        let first = terms.first();
        let mut hints = Hints::default();
        let mut variables: BTreeSet<usize> = terms.iter().map(|term| term.variable).collect();
        match &clause.origin {
            ClauseOrigin::Root => hints.extend(rows.roots.iter().copied()),
            ClauseOrigin::Requirement | ClauseOrigin::Class { .. } => {
                let of_owner = self.owner_rows(clause, terms).into_iter().flatten();
                let excluded = self.excluded_owners(clause, terms);
                let of_owner = of_owner.filter(|(release, _)| {
                    (excluded.as_ref()).is_none_or(|excluded| excluded.contains(release))
                });
                hints.extend(of_owner.map(|(_, row)| *row));
            }
            ClauseOrigin::OwnCycle => {
                let of_package = first.and_then(|owner| rows.own_cycles.get(self.package(owner)));
                hints.extend(of_package.into_iter().flatten().copied());
            }
            ClauseOrigin::Bound => {
                let of_package = first.and_then(|target| rows.bound.get(self.package(target)));
                hints.extend(of_package.into_iter().flatten().copied());
            }
            ClauseOrigin::Derived(_) | ClauseOrigin::Implied { .. } => {
                self.add_antecedents(number, &mut hints, &mut variables)?;
            }
            ClauseOrigin::Hierarchy { .. } => {}
            ClauseOrigin::Other => return Err(NotCertified::Rule("an unknown rule")),
        }
        let at_least = variables.iter().filter_map(|at| self.group(*at).at_least);
        hints.extend(at_least);
        // The one release that the negation of the clause has is the only one.
        let excluding = terms.iter();
        let excluding = excluding.filter(|term| term.counts(&self.values[term.variable]).1 == 1);
        hints.extend(excluding.filter_map(|term| self.group(term.variable).at_most));
        Ok(hints.rows)
    }

    /// Adds what a derived clause follows from: first what holds at level zero, in the order in which it follows.
    fn add_antecedents(
        &self,
        number: usize,
        hints: &mut Hints,
        variables: &mut BTreeSet<usize>,
    ) -> Result<(), NotCertified> {
        let derivation = self.derivation;
        let mut at_level_zero = self.plan.parts(derivation, number);
        if matches!(
            derivation.clauses[number].origin,
            ClauseOrigin::Implied { .. }
        ) {
            at_level_zero.push(number);
        }
        for part in at_level_zero {
            self.add_implied(&derivation.clauses[part], hints)?;
        }
        if let ClauseOrigin::Derived(antecedents) = &derivation.clauses[number].origin {
            // What is learned follows from the last antecedents first.
            for antecedent in antecedents.iter().rev() {
                hints.extend(self.rows_of(*antecedent, None)?);
                let literals = derivation.clauses[*antecedent].literals.iter();
                variables.extend(literals.map(|literal| literal.variable));
            }
        }
        Ok(())
    }

    /// Adds what a clause of level zero follows from.
    fn add_implied(&self, clause: &DerivedClause, hints: &mut Hints) -> Result<(), NotCertified> {
        let (ClauseOrigin::Implied { reason, by }, [implied]) =
            (&clause.origin, clause.literals.as_slice())
        else {
            return Err(NotCertified::Step("what holds before any decision"));
        };
        for antecedent in by {
            hints.extend(self.rows_of(*antecedent, None)?);
        }
        let reason_clause = &self.derivation.clauses[*reason];
        let term = self.values[implied.variable].term(implied);
        if !matches!(self.clauses[*reason], WrittenClause::Stated(_)) {
            // A release is the only one that is left.
            let others = reason_clause.literals.iter().map(|one| one.variable);
            let others = others.filter(|variable| *variable != implied.variable);
            hints.extend(others.filter_map(|variable| self.group(variable).at_least));
        }
        hints.extend(self.rows_of(*reason, Some(&term))?);
        Ok(())
    }

    /// The inequalities that state or derive a clause of an earlier position, as far as they exclude releases.
    fn rows_of(&self, clause: usize, excluding: Option<&Term>) -> Result<Vec<usize>, NotCertified> {
        let written = self.clauses.get(clause);
        let written = written.ok_or(NotCertified::Step("an antecedent is missing"))?;
        Ok(match (written, excluding) {
            (WrittenClause::Rows(rows), _) => rows.clone(),
            (WrittenClause::Stated(stated), Some(term)) => {
                let excluded = term.outside(&self.values[term.variable]);
                let excluded: BTreeSet<Literal> = excluded.into_iter().collect();
                let stated = stated
                    .iter()
                    .filter(|(release, _)| excluded.contains(release));
                stated.map(|(_, row)| *row).collect()
            }
            (WrittenClause::Stated(stated), None) => stated.iter().map(|(_, row)| *row).collect(),
            // What it follows from is named in its place.
            (WrittenClause::Part, _) => Vec::new(),
        })
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
}

fn key_of(variable: &DerivationVariable) -> GroupKey {
    match variable {
        DerivationVariable::Package { package, .. } => GroupKey::Package(package.clone()),
        DerivationVariable::Release { package, version } => {
            GroupKey::Release(package.clone(), version.clone())
        }
        DerivationVariable::Binding { owner, package, .. } => {
            GroupKey::Binding(owner.clone(), package.clone())
        }
    }
}
