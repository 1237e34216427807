//! Ansible collections against what ansible-core answers, and against facts about real releases.

#![allow(
    unused_crate_dependencies,
    reason = "each test target uses some of them"
)]

mod decisions;
mod live;
mod missing_classes;
mod ranges;
mod resolve;
