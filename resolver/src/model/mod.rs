//! Object models: which packages their objects come from, and whether their contracts are met.

mod contracts;
mod plan;

pub(crate) use contracts::{AllowedVersions, ContractBreach, unmet_contract};
pub use plan::{Fallback, ModelPlan, PlannedModel, Substitution};
