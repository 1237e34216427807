//! The solver.
mod conflict;
mod encoding;
mod engine;
mod greedy;
mod hierarchy;
mod improve;
mod index;
mod lock_check;
mod model;
mod request;
mod resolution;
mod resolver;
mod second_tier;
mod selection;
mod universe;
mod word_set;

pub use conflict::{Conflict, Reason, ReasonKind};
pub use engine::Engine;
pub use index::CompiledIndex;
pub use lock_check::{LockCheck, LockReport, Staleness};
pub use model::{Fallback, ModelPlan, PlannedModel, Substitution};
pub use request::{
    Bindings, Locked, ModelRoot, ObjectDemand, PrereleasePolicy, Request, Root, SolveOptions,
};
pub use resolution::{
    BoundRequirement, ChosenPrerelease, Demand, PathStep, PrereleaseReason, Resolution,
    ResolvedPackage, ResolvedRoot, SideBySide, Stats,
};
pub use resolver::{Resolver, Step, Supply};
