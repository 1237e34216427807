//! Planning the packages of an object model against registries.

use pkgres_manifest::PackageName;
use pkgres_resolver::{ModelPlan, Supply};

use crate::registry::RegistryError;
use crate::set::RegistrySet;

/// Tells a plan what it needs to know of the registries.
pub fn fill_plan(plan: &mut ModelPlan, registries: &RegistrySet) -> Result<(), RegistryError> {
    for class in plan.needed_classes() {
        let packages = registries.defining(&class)?;
        if packages.is_empty()
            && let Some((similar, package)) = registries.similar_class(&class)?
        {
            plan.suggest_class(&class, similar, package);
        }
        plan.provide_definers(&class, packages);
    }
    let names: Vec<PackageName> = plan.needed_packages().into_iter().collect();
    let supplies = registries.supply(&names)?;
    for (name, supply) in names.iter().zip(supplies) {
        let versions = match supply {
            Supply::Unknown => Vec::new(),
            Supply::Releases { records, .. } => {
                records.into_iter().map(|record| record.version).collect()
            }
        };
        plan.provide_versions(name, versions);
    }
    Ok(())
}
