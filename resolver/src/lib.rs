//! Finds one consistent set of versions of class packages, or says why there is none.
//!
//! A [`Request`] says what is wanted: a root, the core library, what is locked. A [`Resolver`]
//! answers it with a [`Resolution`] or a [`Conflict`]. In between it names the packages that it has
//! to know of, and is told what there is: this crate does no input or output. The crate
//! `pkgres-registry-client` has the loop that joins a resolver with registries, and the formats
//! come from `pkgres-manifest`, the only crate of the project that this one stands on.
//!
//! A resolution has one release of each package. Only where that is proved to be impossible, there
//! are several releases of as few packages as possible. The answer depends on what was provided
//! alone, not on the order in which it was, and "no solution" is always proved.
//!
//! An [`Update`] moves what it names and as little else as possible; the [`UpdateReport`] says what
//! moved and why, and what stands in the way of better versions.
//!
//! [`LockCheck`] says whether a lockfile still holds, without searching, and [`ModelPlan`] finds
//! out what the objects of a model require.
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
mod contracts;
mod explain;
mod frozen;
mod greedy;
mod hierarchy;
mod improve;
mod index;
mod lock_check;
mod model;
mod problem;
mod request;
mod resolution;
mod resolver;
mod search;
mod selection;
mod set;
mod supply;
mod tiers;
mod universe;
mod update;

pub use budget::Cancellation;
pub use explain::{Conflict, Hint, HintKind, Reason, ReasonKind, Repair};
pub use frozen::{FrozenError, frozen};
pub use index::{CompiledIndex, IndexBytesError};
pub use lock_check::{LockCheck, LockReport, Staleness};
pub use model::{Definers, Fallback, ModelPlan, ObjectPackages, PlannedModel, Substitution};
pub use request::{
    Engine, Locked, LockedArtifact, LockedObject, ModelRoot, ObjectRequirement, Owner,
    PackageUpdate, Preference, PrereleasePolicy, Request, Root, SolveOptions, Update, UpdateTarget,
};
pub use resolution::{
    ArtifactChange, BoundRequirement, ChosenPrerelease, ChosenYanked, ModelNotLockable, PathStep,
    PrereleaseReason, RequirementPath, Requirer, Resolution, ResolvedOwner, ResolvedPackage,
    ResolvedRoot, SideBySide, Stats,
};
pub use resolver::{Resolver, Step};
pub use supply::{ProvideError, Supply};
pub use update::{HeldBack, Moved, UpdateReport};
