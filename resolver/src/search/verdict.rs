//! What a search answers: a selection, or a proof that there is none.

use std::collections::BTreeSet;

use crate::problem::{Fact, Goals, Nogood};
use crate::selection::Selection;
use crate::universe::PackageId;

/// Whether there is something, or a proof that there is not.
#[derive(Debug)]
pub(crate) enum Verdict<T = Selection, P = Proof> {
    Solved(T),
    Impossible(P),
}

/// What it rests on that there is no selection.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// Facts that leave no valid selection. Some may appear several times.
    pub(crate) facts: Vec<Fact>,
    /// The packages that could not have several releases in the proof, each once.
    pub(crate) single: Vec<PackageId>,
}

/// A proof together with the problem that it is about.
#[derive(Debug, Default)]
pub(crate) struct Refuted {
    pub(crate) proof: Proof,
    /// The packages that may have several releases.
    pub(crate) split: BTreeSet<PackageId>,
    /// The nogoods that the facts of the proof refer to.
    pub(crate) nogoods: Vec<Nogood>,
    /// The goals that they refer to.
    pub(crate) goals: Goals,
}

/// How good a selection is that an engine found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quality {
    /// No selection is better in the order of decisions.
    Best,
    /// It is valid, no more is known.
    Any,
}

/// A valid selection.
#[derive(Debug)]
pub(crate) struct Solution {
    pub(crate) selection: Selection,
    pub(crate) quality: Quality,
}
