//! Resources: what a package wants to be on a machine, such as a file with some content or a service that runs.
//!
//! A resource has an identity ([`ResourceId`]), properties that depend on its kind, and parameters that every kind
//! has ([`MetaParameters`]).

mod identity;
mod meta;

pub use identity::{ResourceId, ResourceIdError};
pub use meta::{MetaParameters, Polling, RateLimit, Retries, Semaphore, SemaphoreError};
