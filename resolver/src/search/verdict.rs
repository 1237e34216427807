//! The results of a search: a solution, or a proof that there is none.

use std::collections::BTreeSet;

use crate::derivation::Derivation;
use crate::problem::{Fact, Goals, Nogood};
use crate::selection::Selection;
use crate::universe::PackageId;

/// A solution, or a proof that there is none.
#[derive(Debug)]
pub(crate) enum Verdict<T = Selection, P = Proof> {
    Solved(T),
    Impossible(P),
}

/// The premises of a proof that there is no selection.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// Facts that no valid selection satisfies. Some may appear several times.
    pub(crate) facts: Vec<Fact>,
    /// The packages for which the proof uses that they have one release, each once.
    pub(crate) single: Vec<PackageId>,
    /// How the search proved it, if that was asked for.
    pub(crate) derivation: Option<Box<Derivation>>,
}

/// A proof, with the problem that it refutes.
#[derive(Debug, Default)]
pub(crate) struct Refuted {
    pub(crate) proof: Proof,
    /// The packages that may have several releases.
    pub(crate) split: BTreeSet<PackageId>,
    /// The nogoods that the facts of the proof refer to.
    pub(crate) nogoods: Vec<Nogood>,
    /// The goals that the facts refer to.
    pub(crate) goals: Goals,
}

/// The quality of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quality {
    /// No selection is better in the order of decisions.
    Best,
    /// It is valid; no more is known.
    Any,
}

/// A valid selection.
#[derive(Debug)]
pub(crate) struct Solution {
    pub(crate) selection: Selection,
    pub(crate) quality: Quality,
}
