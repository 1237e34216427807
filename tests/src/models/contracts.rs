//! Whether a solution meets the contracts of a model, stated as directly as possible.

use pkgres_manifest::{Spec, Version};

use super::{Model, ONLY, Property, object_name};
use crate::build::version;
use crate::reference::{Class, Classes, Rules};
use crate::solution::Solution;
use crate::universe::Universe;

impl Model {
    /// Whether the contract of every property allows the object that it holds. The solution must be valid
    /// for the model [as packages](Self::as_packages).
    ///
    /// # Panics
    ///
    /// If it is not.
    pub fn meets_contracts(&self, packages: &Universe, solution: &Solution) -> bool {
        let rules = Rules::default();
        let classes = Classes::of(packages, solution, &rules).expect("it is valid");
        let class_of = |object: usize| -> Class {
            let package = &self.objects[object].package;
            let key = (object_name(object), version(ONLY), package.clone());
            let release = (package.clone(), solution.bindings[&key].clone());
            (self.objects[object].class.clone(), release)
        };
        (self.objects.iter().enumerate()).all(|(number, object)| {
            let Some((holder, property)) = &object.held else {
                return true;
            };
            let declared = self.declared(&classes, class_of(*holder), property);
            let Some((declaring, property)) = declared else {
                return true;
            };
            let Some(allowed) = Allowed::by(&classes, &declaring, property) else {
                return true;
            };
            let family = classes.family(class_of(number));
            match family.iter().find(|(name, _)| *name == property.class) {
                Some((_, release)) => allowed.allows(&release.1),
                // A class that is not known could be the wanted one.
                None => !family.iter().all(|(_, release)| classes.are_known(release)),
            }
        })
    }

    /// The declaration of a property by a class or its nearest ancestor, if that is known.
    fn declared(
        &self,
        classes: &Classes<'_>,
        class: Class,
        name: &str,
    ) -> Option<(Class, &Property)> {
        for class in classes.family(class) {
            let mut declared = self.properties.get(&class).into_iter().flatten();
            if let Some(property) = declared.find(|property| property.name == name) {
                return Some((class, property));
            }
            // A class that is not known could declare it.
            if !classes.are_known(&class.1) {
                return None;
            }
        }
        None
    }
}

/// The versions of a class that a contract allows.
enum Allowed {
    Spec(Spec),
    MajorOf(Version),
}

impl Allowed {
    /// The versions that the contract of a property allows; `None` if its class is not found.
    fn by(classes: &Classes<'_>, (_, release): &Class, property: &Property) -> Option<Self> {
        if let Some(spec) = &property.spec {
            return Some(Self::Spec(spec.clone()));
        }
        let provider = classes.provider(release, &property.class)?;
        if provider == *release {
            return Some(Self::MajorOf(provider.1));
        }
        classes.required(release, &provider.0).map(Self::Spec)
    }

    fn allows(&self, version: &Version) -> bool {
        match self {
            Self::Spec(spec) => spec.matches(version),
            Self::MajorOf(own) => version.major() == own.major(),
        }
    }
}
