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

use prefetch_index::prefetch_index;

use crate::encoding::Variable;
use crate::index::{NONE, to_u32, width};
use crate::room::Room as _;
use crate::words;
use trail::{Certainty, Entry, Level};

/// The number of a variable, in the order in which the search came across them.
pub(super) type Var = u32;

/// What is known of a variable.
#[derive(Debug)]
pub(super) struct VarState {
    pub(super) variable: Variable,
    /// How many values there are; the number itself stands for "absent".
    pub(super) values: u32,
    pub(super) width: u32,
    /// Where the domain stands, after it the values whose dependencies are known, those that are
    /// left without any decision and, if there are many values, those that were not seen to be gone
    /// and those that constraints wait for.
    words: u32,
    /// The latest entry of the trail.
    head: u32,
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
    pub(super) queued: bool,
    /// Whether a release that was looked at requires what the variable is of: the universe is told once.
    pub(super) required: bool,
    /// Whether the variable has its place in the order of decisions.
    pub(super) ordered: bool,
    /// How often the variable took part in conflicts.
    pub(super) conflicts: u32,
    /// The latest reduction that holds without any decision.
    pub(super) certain: u32,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) vars: Vec<VarState>,
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
            words: Vec::with_capacity(256),
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
        let words = self.words.len();
        self.words.make_room(if width > 1 { 5 * width } else { 3 });
        self.words.resize(words + 2 * width, 0);
        words::fill(&mut self.words[words..words + width], values);
        self.words.extend_from_within(words..words + width);
        if width > 1 {
            self.words.extend_from_within(words..words + width);
            self.words.resize(words + 5 * width, 0);
        }
        self.vars.make_room(1);
        self.vars.push(VarState {
            variable,
            values,
            width: to_u32(width),
            words: to_u32(words),
            head: NONE,
            owned: SideList::EMPTY,
            targeted: SideList::EMPTY,
            singles: NONE,
            single_count: 0,
            queued: false,
            required: false,
            ordered: false,
            conflicts: 0,
            certain: NONE,
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

    /// Fetches the domain of a variable from memory before it is looked at.
    #[inline]
    pub(super) fn fetch_domain(&self, var: Var) {
        prefetch_index(&self.words, self.vars[var as usize].words as usize);
    }

    #[inline]
    pub(super) fn var_mut(&mut self, var: Var) -> &mut VarState {
        &mut self.vars[var as usize]
    }

    #[inline]
    pub(super) fn width(&self, var: Var) -> usize {
        self.vars[var as usize].width as usize
    }
}
