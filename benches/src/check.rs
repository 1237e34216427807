//! Whether an answer is one: what any solver says is checked against the universe.

use std::fmt;

use crate::universe::{Dependency, Release, Universe};

/// An answer: packages, each with the version that was chosen.
pub type Answer = Vec<(usize, u32)>;

/// The error in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// There is no such release.
    Unknown(usize, u32),
    /// A package has several releases.
    Twice(usize),
    /// A package that is required, by another one or by the root, is not there.
    NotClosed(Option<usize>, usize),
    /// A package is there in a version that is not allowed, by another one or by the root.
    Inconsistent(Option<usize>, usize),
    /// A class that a package extends is not defined by the other package's release.
    NoClass(usize, usize),
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |owner: &Option<usize>| owner.map_or("root".to_owned(), |at| format!("p{at}"));
        match self {
            Self::Unknown(package, version) => write!(formatter, "no p{package} {version}"),
            Self::Twice(package) => write!(formatter, "p{package} is there twice"),
            Self::NotClosed(owner, target) => {
                write!(formatter, "{} requires p{target}: not there", name(owner))
            }
            Self::Inconsistent(owner, target) => {
                write!(formatter, "{} excludes this p{target}", name(owner))
            }
            Self::NoClass(owner, target) => {
                write!(formatter, "p{owner} extends a class that p{target} has not")
            }
        }
    }
}

/// Whether an answer holds what a root requires and all that is required in turn, one release of
/// each package, and nothing that excludes each other.
pub fn check(universe: &Universe, root: usize, answer: &[(usize, u32)]) -> Result<(), Flaw> {
    let mut chosen: Vec<Option<&Release>> = vec![None; universe.packages.len()];
    for (package, version) in answer {
        let releases = &universe.packages[*package];
        let at = releases.binary_search_by_key(version, |release| release.version);
        let at = at.map_err(|_| Flaw::Unknown(*package, *version))?;
        if chosen[*package].replace(&releases[at]).is_some() {
            return Err(Flaw::Twice(*package));
        }
    }
    let fits = |owner: Option<usize>, (target, range): &Dependency| match chosen[*target] {
        None => Err(Flaw::NotClosed(owner, *target)),
        Some(release) if range.contains(release.version) => Ok(()),
        Some(_) => Err(Flaw::Inconsistent(owner, *target)),
    };
    for dependency in &universe.roots[root] {
        fits(None, dependency)?;
    }
    for (owner, release) in chosen.iter().enumerate() {
        let Some(release) = release else { continue };
        for dependency in &release.dependencies {
            fits(Some(owner), dependency)?;
        }
        for (target, class) in &release.extends {
            let target_release = chosen[*target].ok_or(Flaw::NotClosed(Some(owner), *target))?;
            if !target_release.defines(*class) {
                return Err(Flaw::NoClass(owner, *target));
            }
        }
    }
    Ok(())
}
