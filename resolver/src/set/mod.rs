//! Sets of positions of versions.
//!
//! A package's versions are numbered in ascending order, and everything that the solver knows of
//! versions is a set of these positions: [`PositionSet`] where a set is a value of its own, and
//! [`bits`] where it is part of a longer list of words.

pub(crate) mod bits;
mod positions;

pub(crate) use positions::PositionSet;
