//! Object models: which packages their objects come from.

mod fallback;
mod plan;

pub use fallback::{Fallback, Substitution};
pub use plan::{Definers, ModelPlan, ObjectPackages, PlannedModel};
