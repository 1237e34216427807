//! The loop that joins registries with the solver.

use pkgres_manifest::ReadOptions;
use pkgres_resolver::{Conflict, Resolution, Resolver, Step};

use crate::registry::RegistryError;
use crate::set::RegistrySet;

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// There is a valid resolution.
    Solved(Box<Resolution>),
    /// There is none.
    Conflict(Box<Conflict>),
    /// The solver used up its steps.
    GaveUp {
        /// The steps that were taken.
        steps: u64,
    },
    /// The solver was told to end.
    Cancelled,
}

/// Lets a solver run to the end, giving it what it asks for.
///
/// `options` say how the classes of packages are read, which only object models need.
pub fn drive(
    resolver: &mut Resolver,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<Answer, RegistryError> {
    registries.attach_to(resolver)?;
    loop {
        match advance(resolver, registries, options)? {
            Step::Solved(resolution) => return Ok(Answer::Solved(resolution)),
            Step::Conflict(conflict) => return Ok(Answer::Conflict(conflict)),
            Step::GaveUp { steps } => return Ok(Answer::GaveUp { steps }),
            Step::Cancelled => return Ok(Answer::Cancelled),
            Step::Impossible => {}
            Step::Need(_) | Step::NeedClasses(_) => unreachable!("needs were answered"),
        }
    }
}

/// Lets a solver run until it says something other than what it needs.
///
/// Unlike [`drive`] this stops when it is known that there is no resolution, before it is known
/// why.
pub fn advance(
    resolver: &mut Resolver,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<Step, RegistryError> {
    loop {
        match resolver.step() {
            Step::Need(names) => {
                if let Some((source, index)) = registries.prepared(resolver, &names)? {
                    resolver.attach(source, index);
                    continue;
                }
                let supplies = registries.supply(&names)?;
                for (name, supply) in names.iter().zip(supplies) {
                    resolver.provide(name, supply);
                }
            }
            Step::NeedClasses(releases) => {
                for (name, version) in releases {
                    let package = registries.package(&name, &version, options)?;
                    resolver.provide_classes(&name, &version, package);
                }
            }
            step => return Ok(step),
        }
    }
}
