//! Versions for the objects of a model that has no resolution, so that the rest of it can be checked all the same.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::{ContractPlace, ObjectId, ObjectModel, ReadOptions, Release};
use pkgres_resolver::{
    BoundRequirement, Conflict, ContractScope, ModelRoot, ObjectRequirement, ReasonKind, Request,
    Resolution, Root,
};

use crate::drive::{Answer, solve};
use crate::registry_error::RegistryError;
use crate::set::RegistrySet;

/// Conflicts are independent of each other if they share no contract; that many are looked for.
const MOST_CONFLICTS: usize = 20;

/// The versions of the objects of a model, as far as there are any.
#[derive(Debug, Default)]
pub struct ObjectReleases {
    /// The conflicts that share no contract with each other.
    pub conflicts: Vec<Conflict>,
    /// The contracts of these conflicts.
    pub violated: BTreeSet<ContractPlace>,
    /// The releases that define the classes of the objects, in the order of the model.
    pub releases: Vec<Option<Release>>,
    /// The resolution with these releases.
    pub resolution: Option<Box<Resolution>>,
}

/// The versions of the objects of a model whose contracts on classes contradict each other, and all independent
/// conflicts, of which the first is known.
///
/// The versions meet all contracts that take part in no conflict. If there are no such versions, they are those
/// [without contracts](releases_without_contracts).
///
/// # Errors
///
/// A registry cannot be read.
pub fn releases_in_conflict(
    root: &ModelRoot,
    first: Conflict,
    request: &Request,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<ObjectReleases, RegistryError> {
    let mut violated = BTreeSet::new();
    let mut conflicts = Vec::new();
    let mut next = Some(first);
    while let Some(conflict) = next.take() {
        let known = violated.len();
        violated.extend(places(&conflict));
        conflicts.push(conflict);
        if violated.len() == known || conflicts.len() == MOST_CONFLICTS {
            break;
        }
        let root = (root.clone())
            .with_contracts(ContractScope::Classes)
            .with_violated(violated.clone());
        match solve(of_model(root, request), registries, options)? {
            Answer::Solved(resolution) => {
                return Ok(ObjectReleases {
                    conflicts,
                    violated,
                    releases: releases(&resolution).map(Some).collect(),
                    resolution: Some(resolution),
                });
            }
            Answer::Conflict(conflict) => next = Some(*conflict),
            Answer::GaveUp { .. } | Answer::Cancelled => {}
        }
    }
    let objects: Vec<_> = root.objects().iter().cloned().map(Some).collect();
    let versions =
        releases_without_contracts(root.model(), &objects, request, registries, options)?;
    Ok(ObjectReleases {
        conflicts,
        violated,
        ..versions
    })
}

/// The versions of the objects of a model by their requirements alone. An object has none if it has no requirement, or
/// if no resolution with the objects before it has a release for it.
///
/// # Errors
///
/// A registry cannot be read.
pub fn releases_without_contracts(
    model: &ObjectModel,
    objects: &[Option<ObjectRequirement>],
    request: &Request,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<ObjectReleases, RegistryError> {
    let numbers = (0..objects.len()).map(ObjectId);
    let all: Vec<ObjectId> = numbers
        .filter(|number| objects[number.0].is_some())
        .collect();
    let resolution = |numbers: &[ObjectId]| {
        let bare = Arc::new(model.without_values(numbers));
        let root = ModelRoot::new(bare, |object| {
            let requirement = &objects[numbers[object.0].0];
            requirement.clone().expect("only those are asked for")
        });
        let root = root.with_contracts(ContractScope::Classes);
        let mut request = of_model(root, request);
        request.options.single_version = false;
        Ok::<_, RegistryError>(match solve(request, registries, options)? {
            Answer::Solved(resolution) => Some(resolution),
            _ => None,
        })
    };
    let mut chosen = all;
    let mut found = resolution(&chosen)?;
    if found.is_none() {
        // Objects of one class with the same requirement are bound alike, so one of them is enough to try.
        let key = |number: &ObjectId| {
            let requirement = objects[number.0].as_ref().expect("chosen objects have one");
            let spec = requirement.spec.to_string();
            (&model.object(*number).class, &requirement.package, spec)
        };
        let mut keys = BTreeSet::new();
        let first = |number: &&ObjectId| keys.insert(key(number));
        // Few objects are expected to have no release: halves of what cannot be taken together are tried.
        let mut rest = vec![chosen.iter().filter(first).copied().collect::<Vec<_>>()];
        let mut kept = Vec::new();
        while let Some(mut part) = rest.pop() {
            let tried = [&*kept, &*part].concat();
            if resolution(&tried)?.is_some() {
                kept = tried;
            } else if part.len() > 1 {
                let half = part.split_off(part.len() / 2);
                rest.extend([half, part]);
            }
        }
        let kept: BTreeSet<_> = kept.iter().map(key).collect();
        chosen.retain(|number| kept.contains(&key(number)));
        if !chosen.is_empty() {
            found = resolution(&chosen)?;
        }
    }
    let mut versions = ObjectReleases {
        releases: vec![None; objects.len()],
        resolution: found,
        ..ObjectReleases::default()
    };
    if let Some(resolution) = &versions.resolution {
        for (number, release) in chosen.iter().zip(releases(resolution)) {
            versions.releases[number.0] = Some(release);
        }
    }
    Ok(versions)
}

fn of_model(root: ModelRoot, request: &Request) -> Request {
    Request {
        roots: vec![Root::Model(root)],
        ..request.clone()
    }
}

/// The releases of the objects of a model.
fn releases(resolution: &Resolution) -> impl Iterator<Item = Release> {
    let bound = resolution.roots()[0].requires.iter();
    bound.map(BoundRequirement::release)
}

/// The contracts of a conflict.
fn places(conflict: &Conflict) -> impl Iterator<Item = ContractPlace> {
    let reasons = conflict.reasons.iter();
    reasons.filter_map(|reason| match &reason.kind {
        ReasonKind::Contract { place, .. } | ReasonKind::Value { place, .. } => Some(place.clone()),
        _ => None,
    })
}
