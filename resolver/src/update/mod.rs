//! Updates: what is named moves, and as little else as possible.
//!
//! A package has one release, unless the lock has several of it side by side, or nothing, or no version
//! that was asked for by its number, would be possible otherwise: then those packages may have several, and
//! no others. First it is found out which versions the named packages can have at all, wherever the others
//! go. Then everything else that is locked has to stay. As long as that is impossible, what the proof holds
//! on to is let go. In the end each package that was let go is tried again: what can stay with all others
//! that stay, stays. So no package moves that could have stayed where it was while the same others stayed;
//! and since to let fewer packages go never makes more possible, no smaller part of what moved would have
//! been enough either.
//!
//! Where a package has several releases, each of them is the best that its requirements can be bound
//! to, and which of the locked ones these are is left open: that no smaller part could have moved is
//! proved of packages, and not of their releases. Where some of them alone are to move, an exact version
//! is asked of the requirements that are bound to these, as far as those who have them stay.

mod report;
mod updating;

pub(crate) use report::Told;
pub use report::{HeldBack, Moved, UpdateReport};
pub(crate) use updating::Updating;
