//! Object models: which packages their objects come from.

mod plan;

pub use plan::{Fallback, ModelPlan, PlannedModel, Substitution};
