//! Planning the packages of an object model against registries.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{ClassName, PackageName, Version};
use pkgres_resolver::{Definers, ModelPlan, PlannedModel, Supply};

use crate::registry::RegistryError;
use crate::set::RegistrySet;

/// Finishes a plan with what registries know: what the objects of its model demand, or what is
/// wrong with the model.
pub fn finish_plan(
    plan: ModelPlan,
    registries: &RegistrySet,
) -> Result<Result<PlannedModel, Vec<Diagnostic>>, RegistryError> {
    let mut definers = BTreeMap::new();
    for class in plan.needed_classes() {
        let found = definers_of(&class, registries)?;
        definers.insert(class, found);
    }
    let plan = plan.with_definers(definers);
    let names: Vec<PackageName> = plan.needed_packages().into_iter().collect();
    let supplies = registries.supply(&names)?;
    let versions = supplies.into_iter().map(versions);
    Ok(plan.with_versions(names.into_iter().zip(versions).collect()))
}

fn definers_of(class: &ClassName, registries: &RegistrySet) -> Result<Definers, RegistryError> {
    let packages = registries.defining(class)?;
    Ok(if packages.is_empty() {
        let similar = registries.similar_class(class)?;
        Definers::Nobody { similar }
    } else {
        Definers::Packages(packages.into_iter().collect())
    })
}

fn versions(supply: Supply) -> Vec<Version> {
    match supply {
        Supply::Unknown => Vec::new(),
        Supply::Releases { records, .. } => {
            records.into_iter().map(|record| record.version).collect()
        }
    }
}
