//! What is known of each variable, and how it came to be known.
//!
//! The domain of a variable is a set of words: one bit a value, and one, the last, that stands for
//! "absent". Every reduction of a domain is an entry of the [`trail`].

mod domains;
mod queue;
mod sets;
mod side_list;
mod trail;
mod values;

pub(super) use sets::{Set, Term};
pub(super) use side_list::SideList;
pub(super) use trail::Reason;

use std::ops::Range;

use prefetch_index::prefetch_index;

use crate::encoding::Variable;
use crate::index::{NONE, to_u32, width};
use crate::room::Room as _;
use crate::words;
use trail::{Certainty, Entry, Level};

/// The number of a variable, in the order in which the search came across them.
pub(super) type Var = u32;

/// What is looked at of a variable at nearly every step: no more than a line of the processor's cache.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct VarState {
    /// The domain, if there are few values.
    domain: u64,
    /// How many values there are; the number itself stands for "absent".
    pub(super) values: u32,
    /// Where the [parts](Part) of a variable with many values stand.
    words: u32,
    /// The latest entry of the trail.
    head: u32,
    /// The highest level of the entries of the trail.
    latest_level: u32,
    /// The constraints of two terms in which a value depends on another variable's. If there are many
    /// values, each has a list of its own; this is where these begin.
    pub(super) owned: SideList,
    /// Those in which others depend on it.
    pub(super) targeted: SideList,
    /// Where the lists begin, one a value, of the constraints whose term is that value alone, or that
    /// it is absent; [`NONE`] as long as there are few, which stand among the others.
    pub(super) singles: u32,
    /// How many of these there are.
    pub(super) single_count: u32,
    /// How often the variable took part in conflicts.
    pub(super) conflicts: u32,
    pub(super) queued: bool,
    /// Whether a release that was looked at requires what the variable is of: the universe is told once.
    pub(super) required: bool,
    /// Whether the variable has its place in the order of decisions.
    pub(super) ordered: bool,
    /// Whether any value is gone without a decision.
    is_reduced_for_good: bool,
}

const _: () = assert!(size_of::<VarState>() == 64);

/// What else is known of a variable.
#[derive(Debug)]
pub(super) struct VarDetails {
    pub(super) variable: Variable,
    /// The values whose dependencies are known, if there are few values.
    known: u64,
    /// Those that are left without any decision, if there are few.
    certain: u64,
    /// The latest reduction that holds without any decision.
    pub(super) latest_certain: u32,
}

/// Sets of values that there are of each variable. Those of variables with many values stand one after
/// the other.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// The values that are left.
    Domain,
    /// Those whose dependencies are known.
    Known,
    /// Those that are left without any decision.
    Certain,
    /// If there are many values, those that were not seen to be gone.
    Unseen,
    /// If there are many, those that constraints wait for.
    Awaited,
}

impl Part {
    const COUNT: usize = 5;
}

impl VarState {
    #[inline]
    fn width(&self) -> usize {
        width(self.values)
    }

    /// Whether there are so few values that a set of them is one word.
    #[inline]
    pub(super) fn is_narrow(&self) -> bool {
        self.width() == 1
    }

    /// Where a part of a variable with many values stands.
    #[inline]
    fn range(&self, part: Part) -> Range<usize> {
        let width = self.width();
        let from = self.words as usize + part as usize * width;
        from..from + width
    }
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) vars: Vec<VarState>,
    details: Vec<VarDetails>,
    words: Vec<u64>,
    /// Sets that terms refer to. They stay as they are.
    sets: Vec<u64>,
    trail: Vec<Entry>,
    history: Vec<u64>,
    levels: Vec<Level>,
    pub(super) certain: Vec<Certainty>,
    queue: Vec<Var>,
    queue_head: usize,
    scratch: Vec<Entry>,
}

impl State {
    /// A state without variables, with room for those of a small problem.
    pub(super) fn new() -> Self {
        Self {
            vars: Vec::with_capacity(64),
            details: Vec::with_capacity(64),
            sets: Vec::with_capacity(512),
            trail: Vec::with_capacity(256),
            history: Vec::with_capacity(256),
            queue: Vec::with_capacity(64),
            ..Self::default()
        }
    }

    pub(super) fn add_var(&mut self, variable: Variable, values: u32) -> Var {
        let var = to_u32(self.vars.len());
        let width = width(values);
        let mut every = 0;
        let words = self.words.len();
        if width == 1 {
            words::fill(std::slice::from_mut(&mut every), values);
        } else {
            self.words.make_room(Part::COUNT * width);
            self.words.resize(words + Part::COUNT * width, 0);
            for part in [Part::Domain, Part::Certain, Part::Unseen] {
                let from = words + part as usize * width;
                words::fill(&mut self.words[from..from + width], values);
            }
        }
        self.vars.make_room(1);
        self.vars.push(VarState {
            domain: every,
            values,
            words: to_u32(words),
            head: NONE,
            latest_level: 0,
            owned: SideList::EMPTY,
            targeted: SideList::EMPTY,
            singles: NONE,
            single_count: 0,
            conflicts: 0,
            queued: false,
            required: false,
            ordered: false,
            is_reduced_for_good: false,
        });
        self.details.make_room(1);
        self.details.push(VarDetails {
            variable,
            known: 0,
            certain: every,
            latest_certain: NONE,
        });
        var
    }

    #[inline]
    pub(super) fn var(&self, var: Var) -> &VarState {
        &self.vars[var as usize]
    }

    /// Fetches what is known of a variable from memory before it is looked at.
    #[inline]
    pub(super) fn fetch(&self, var: Var) {
        prefetch_index(&self.vars, var as usize);
    }

    /// Fetches what else is known of a variable.
    #[inline]
    pub(super) fn fetch_details(&self, var: Var) {
        prefetch_index(&self.details, var as usize);
    }

    #[inline]
    pub(super) fn var_mut(&mut self, var: Var) -> &mut VarState {
        &mut self.vars[var as usize]
    }

    #[inline]
    pub(super) fn details(&self, var: Var) -> &VarDetails {
        &self.details[var as usize]
    }

    #[inline]
    pub(super) fn details_mut(&mut self, var: Var) -> &mut VarDetails {
        &mut self.details[var as usize]
    }

    /// How many words a set of values of a variable takes.
    #[inline]
    pub(super) fn width(&self, var: Var) -> usize {
        self.vars[var as usize].width()
    }

    /// A part of a variable with many values.
    #[inline]
    fn wide(&self, var: Var, part: Part) -> &[u64] {
        &self.words[self.vars[var as usize].range(part)]
    }

    #[inline]
    fn wide_mut(&mut self, var: Var, part: Part) -> &mut [u64] {
        &mut self.words[self.vars[var as usize].range(part)]
    }
}
