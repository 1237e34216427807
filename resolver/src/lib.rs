//! Finds one consistent set of versions of class packages, or explains why there is none.
//!
//! A [`Request`] has the roots, the core library, the lock and options. A [`Resolver`] answers it with
//! a [`Resolution`] or a [`Conflict`]. To get there, it names the packages that it needs, and the
//! caller provides their releases: this crate does no input or output. The crate
//! `pkgres-registry-client` has the loop that joins a resolver with registries. The formats are in
//! `pkgres-manifest`, the only crate of the project that this one depends on.
//!
//! # Rules of a resolution
//!
//! 0. *Candidates*: a release can be chosen if it is not yanked, was published before the cut-off date, and is one of
//!    the allowed versions ([`SolveOptions::allowed_versions`]) and prereleases ([`PrereleasePolicy`]). A locked
//!    release can be chosen although it is yanked, too new or a prerelease.
//! 1. *Requirements*: each requirement of a root or of a chosen release is bound to a release that it allows.
//! 2. *Class lookup*: every class that a release extends is found in the release or in what it requires.
//! 3. *Class hierarchy*: no class inherits from itself, or from two classes of one name.
//! 4. *Tiers*: there is one release of each package. Only if this is proved to be impossible are there several releases, of
//!    as few packages as possible.
//! 5. *Preference*: the resolution is the best one in the order of decisions or, if finding that takes too many
//!    conflicts, one of which no release can be exchanged for a better candidate while all others stay. Locked versions
//!    are preferred to others, then stable ones, then newer ones, unless the request ([`Preference`]) or a requirement
//!    that names a prerelease says otherwise.
//! 6. *Contracts*: each object of a model has a version of its class that the contracts of the properties which hold it
//!    allow.
//!
//! The answer depends only on what was provided, not on the order, and "no solution" is always proved.
//!
//! # Tasks
//!
//! An [`Update`] moves the named packages and as few others as possible. The [`UpdateReport`] lists
//! what moved and why, and why better versions are impossible.
//!
//! [`LockCheck`] checks a lockfile without searching, and [`Resolution::from_lockfile`] turns it into a resolution.
//! [`find_repairs`] finds the cheapest repairs of a conflict. [`ModelPlan`] finds the requirements of the objects of a
//! model.
//!
//! # Types that can grow
//!
//! Options, errors and results are `#[non_exhaustive]`. Two kinds of types are not: structs that callers build or have to
//! know completely, and enums of which callers have to handle every case.
//!
//! ```
//! use pkgres_manifest::{IndexRecord, Limits};
//! use pkgres_resolver::{Request, Resolver, Step, Supply};
//!
//! let line = r#"{"name":"org.acme.Web","version":"1.0.0","require":[["org.acme.Db","1"]]}"#;
//! let mut request = Request::new(IndexRecord::parse_line(line, &Limits::default())?);
//! request.core = None;
//! let mut resolver = Resolver::new(request);
//!
//! let Step::Need(names) = resolver.step() else { unreachable!("nothing is known yet") };
//! assert_eq!(names[0].as_str(), "org.acme.Db");
//! resolver.provide(&names[0], Supply::Unknown)?;
//!
//! assert_eq!(resolver.step(), Step::Impossible);
//! let Step::Conflict(conflict) = resolver.step() else { unreachable!("there is no Db") };
//! assert_eq!(conflict.summary, "no registry has a package `org.acme.Db`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod class_rules;
mod contracts;
mod derivation;
mod explain;
mod frozen;
mod greedy;
mod improve;
mod index;
mod lock_check;
mod model_plan;
mod named_prereleases;
mod problem;
mod repair;
mod request;
mod resolution;
mod resolver;
mod search;
mod selection;
mod set;
mod tiers;
mod universe;
mod update;

pub use budget::Cancellation;
pub use derivation::{
    ClassFiles, ClauseOrigin, Derivation, DerivationVariable, DerivedClause, DerivedLiteral,
    Evidence,
};
pub use explain::{Conflict, Hint, HintKind, InheritingClass, Reason, ReasonKind, SuggestedChange};
pub use frozen::FrozenError;
pub use index::{CompiledIndex, IndexBytesError};
pub use lock_check::{LockCheck, LockReport, Staleness};
pub use model_plan::{
    Definers, Fallback, ModelPlan, ObjectPackages, PlannedModel, Substitution, WrongModel,
};
pub use repair::{
    Blocked, Change, Cost, Outcome, Repair, Repairs, Restriction, Trial, find_repairs,
};
pub use request::{
    ClassRules, ContractScope, Engine, Locked, LockedArtifact, LockedArtifacts, LockedObject,
    ModelRoot, ObjectRequirement, Owner, PackageUpdate, Preference, PrereleasePolicy, Request,
    Root, SolveOptions, Update, UpdateTarget,
};
pub use resolution::{
    ArtifactChange, BoundRequirement, ChosenExcluded, ChosenPrerelease, Compromise,
    ModelNotLockable, PathStep, PrereleaseReason, RequirementPath, Requirer, Resolution,
    ResolvedOwner, ResolvedPackage, ResolvedRoot, SideBySide, Stats,
};
pub use resolver::{Resolver, Step};

pub use universe::{PolicyExclusion, ProvideError, Supply};
pub use update::{HeldBack, Moved, UpdateReport};
