//! Classes and the interfaces that they implement.

mod calls;
mod examples;
mod levels;
mod packages;
mod providers;
mod random;
mod reference;
mod renames;
