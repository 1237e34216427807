//! Brings machines into the state that locked packages describe: checks what differs, changes it, and watches the result.
//!
//! A [`Resource`] is a part of a machine, such as a file with some content. Its check gets a [`Probe`], which can only
//! read, and reports that the resource is in order, or returns a [`Change`]. Only a change gets a [`Target`], which can
//! also write. So a check cannot write files, and a dry run is the same code without the last step. Commands that a
//! check runs are kept from writing where [`Probe::enforces_read_only`] holds, which it does not over ssh.
//!
//! Everything that touches a machine goes through these two traits. [`Machine`] implements them for this machine and
//! for folders with the root file system of another one, [`SshMachine`] for machines that are reached by ssh, and
//! [`Overlay`] on top of another machine. [`SimulatedMachine`] is a machine in memory for tests, whose operations can
//! fail.
//!
//! This works only on Linux, because only its system calls can keep links inside a root folder.
#![cfg(target_os = "linux")]

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod call;
mod deployment;
mod drive;
mod graph;
mod kinds;
mod objects;
mod record;
mod resource;
mod runner;
mod script;
mod state;
mod store;
mod target;
mod validator;
mod watch;

pub use call::{CallFailure, CalledFunction, FunctionCall, callable_objects};
pub use deployment::{
    DeployedArtifacts, DeployedResource, Deployment, GraphOptions, ResourceCheck, check_templates,
};
pub use drive::{Control, DriveOptions, Ending, Progress, Step, drive};
pub use graph::{EdgeKind, Graph, GraphBuilder, GraphEdge, GraphError, Node, Receipt};
pub use kinds::{
    Artifact, ArtifactSource, Directory, Exec, File, FilesOfPackage, Group, Guard, Kinds, Link,
    LockedArtifacts, Package, PackageFiles, Query, Service, User,
};
pub use pkgres_files::{EntryAttributes, EntryKind, RootEntry};
pub use record::{MetricLabels, ResourceRecord, ResourceState, RunRecord};
pub use resource::{
    Account, Awaited, Before, Change, Checked, Definition, Difference, Identifier, Input, Presence,
    Relation, Resource, ResourceError, SentValue, ValueType, Values, Watching, Wish,
};
pub use runner::{
    Action, CancelMode, Cause, Event, NodeKey, NodeStatus, Outcome, RunOptions, Runner, Status,
    SwapReport, attempt,
};
pub use state::{AppliedState, ObjectResources, StateError, StateLocation};
pub use store::{remove_unused_archives, unused_archives};
pub use target::{
    ARCHITECTURE, Cancellable, Cancellation, Command, ContentDifference, Effect, Fault,
    FileDifference, Inventory, InventoryArgument, InventoryTarget, Machine, OS, OS_FAMILY,
    OS_VERSION, Output, Overlay, OverlayChange, Probe, SimulatedFiles, SimulatedMachine,
    SshAddress, SshMachine, SshOptions, Target, TargetError, TargetLocation, TargetLocationError,
    TargetLock, read_facts,
};
pub use validator::{
    ArgumentValues, ChangedPath, CustomValidator, PreparedValidation, StepOutcome, ValidationError,
    ValidationProof, ValidationReport, ValidationStep,
};
pub use watch::SharedWatches;
