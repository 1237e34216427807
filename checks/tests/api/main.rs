//! Each rule about the classes of two versions: an edit that it speaks of, and the same edit undone.
//!
//! Every major difference comes with a witness, which must be right with the old version and wrong with the new one.

mod effects;
mod inheritance;
mod release;
mod rules;
mod steps;
