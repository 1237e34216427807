//! What is not checked in the objects of a model, and what that depends on.

use std::collections::BTreeSet;

use pkgres_manifest::{
    ClassDefinition, ClassName, Contract, Exclusions, ModelValue, ObjectId, ObjectModel,
    exclusions_at, held_objects,
};

use super::Lookup;

/// The values of an object that are not checked.
#[derive(Debug, Clone, Default)]
pub(super) struct ObjectExclusions {
    pub(super) exclusions: Exclusions,
    /// The declarations of the properties that hold the object.
    pub(super) sources: Vec<ExclusionSource>,
}

/// The declaration of a property that holds an object, which may exclude values of it.
#[derive(Debug, Clone)]
pub(crate) enum ExclusionSource {
    /// The class of an object of the model declares the property.
    Own(OwnDeclaration),
    /// It may be any of the classes that these lookups lead to.
    Inherited(Vec<Lookup>),
}

/// A property that the class of an object declares itself.
#[derive(Debug, Clone)]
pub(crate) struct OwnDeclaration {
    pub(crate) holder: ObjectId,
    property: String,
    /// The place of an object in the property, and what the declaration excludes in it.
    place: Vec<usize>,
    excluded: Exclusions,
}

impl OwnDeclaration {
    /// The class of the object that has the property.
    pub(crate) fn class<'model>(&self, model: &'model ObjectModel) -> &'model ClassName {
        &model.object(self.holder).class
    }

    /// Whether another definition of that class declares the property and excludes the same.
    pub(crate) fn is_same_in(&self, definition: &ClassDefinition, model: &ObjectModel) -> bool {
        let Some(property) = definition.property(&self.property) else {
            return false;
        };
        let properties = &model.object(self.holder).properties;
        let values = properties.iter().filter(|(name, _)| *name == self.property);
        let contract = &property.contract.value;
        let excluded = values.filter_map(|(_, value)| exclusions_at(contract, value, &self.place));
        excluded.eq(std::iter::once(self.excluded.clone()))
    }
}

/// An object that holds others.
pub(super) struct Holder<'a, 'walk> {
    /// The object of the model that it is, or is written in.
    pub(super) object: ObjectId,
    /// Whether it is not that object, but one that a contract describes.
    pub(super) is_described: bool,
    /// The definition of its class.
    pub(super) own: Option<&'a ClassDefinition>,
    /// The known definitions of its class and all ancestors.
    pub(super) ancestry: Vec<&'a ClassDefinition>,
    /// All lookups that led to these.
    pub(super) lookups: &'walk [Lookup],
}

impl Holder<'_, '_> {
    /// Notes what is not checked in the objects that the values of properties hold.
    pub(super) fn exclude(
        &self,
        properties: &[(String, ModelValue)],
        exclusions: &Exclusions,
        objects: &mut [ObjectExclusions],
    ) {
        let of_holder = objects[self.object.0].sources.clone();
        for (name, value) in properties {
            let own = self.own.and_then(|own| own.property(name));
            let contracts: Vec<&Contract> = match own {
                Some(own) => vec![&own.contract.value],
                None => (self.ancestry.iter())
                    .filter_map(|definition| Some(&definition.property(name)?.contract.value))
                    .collect(),
            };
            let is_own = own.is_some() && !self.is_described;
            let nothing = Exclusions::default();
            let mut direct = BTreeSet::new();
            for held in held_objects(contracts, value, &nothing) {
                let (object, excluded) = (held.object, held.exclusions);
                let source = if is_own {
                    ExclusionSource::Own(OwnDeclaration {
                        holder: self.object,
                        property: name.clone(),
                        place: held.place,
                        excluded: excluded.clone(),
                    })
                } else {
                    ExclusionSource::Inherited(self.lookups.to_vec())
                };
                let known = &mut objects[object.0];
                known.exclusions.extend(excluded);
                known.sources.extend(of_holder.iter().cloned());
                known.sources.push(source);
                direct.insert(object);
            }
            // Also those in mappings that describe objects.
            for held in held_objects([], value, &exclusions.of(name)) {
                let known = &mut objects[held.object.0];
                known.exclusions.extend(held.exclusions);
                if !direct.contains(&held.object) {
                    known.sources.extend(of_holder.iter().cloned());
                    let source = ExclusionSource::Inherited(self.lookups.to_vec());
                    known.sources.push(source);
                }
            }
        }
    }
}
