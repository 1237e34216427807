//! Collects effects.

use std::collections::HashMap;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassDefinition, ClassName, PackageName};

use super::{Reliance, UpdateEffect};
use crate::api::ApiDifference;
use crate::api::rules::{ApiRule, Impact};

/// The effects that were found. Those that differ only in their places are one.
#[derive(Default)]
pub(super) struct FoundEffects {
    effects: Vec<UpdateEffect>,
    /// Their positions.
    known: HashMap<(ClassName, Reliance, ApiRule, String), usize>,
}

impl FoundEffects {
    pub(super) fn add(
        &mut self,
        difference: &ApiDifference,
        package: &PackageName,
        class: &ClassDefinition,
        (reliance, impact): (Reliance, Impact),
        place: &Location,
    ) {
        let class = &class.name.value;
        let message = difference.message.clone();
        let key = (class.clone(), reliance, difference.rule, message);
        let at = *self.known.entry(key).or_insert_with(|| {
            self.effects.push(UpdateEffect {
                difference: difference.clone(),
                package: package.clone(),
                class: class.clone(),
                reliance,
                impact,
                places: Vec::new(),
            });
            self.effects.len() - 1
        });
        let effect = &mut self.effects[at];
        effect.impact = effect.impact.max(impact);
        effect.places.push(place.clone());
    }

    /// The effects, the gravest first.
    pub(super) fn into_sorted(mut self) -> Vec<UpdateEffect> {
        for effect in &mut self.effects {
            // All are in the file of the class.
            effect.places.sort_by_key(Location::span);
            effect.places.dedup();
        }
        self.effects.sort_by_cached_key(|effect| {
            let place = effect.places.first();
            let start = place.map(|it| (it.source().name().to_owned(), it.span().start));
            (std::cmp::Reverse(effect.impact), start)
        });
        self.effects
    }
}
