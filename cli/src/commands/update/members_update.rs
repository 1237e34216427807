//! An update of members of a workspace that are solved together.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Lockfile, PackageName, Release, Version};
use pkgres_registry_client::RegistrySet;

use super::UpdatePlan;
use crate::args::UpdateArgs;
use crate::commands::lock::{AgreedReleases, Agreement, LockOptions, agree, agree_with, stabilize};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lockfile::lock_of;
use crate::output::Output;
use crate::project::Project;

/// The packages to update in all members; if there are none, all are updated.
#[derive(Clone, Copy)]
pub(in crate::commands) struct MembersUpdate<'args> {
    pub(in crate::commands) packages: &'args [String],
    pub(in crate::commands) precise: Option<&'args str>,
}

/// What members would agree on after an update.
pub(in crate::commands) struct MovedMembers {
    /// The releases that the members have locked.
    pub(super) before: Lockfile,
    pub(in crate::commands) named: BTreeSet<PackageName>,
    pub(in crate::commands) agreement: Agreement,
}

impl<'args> MembersUpdate<'args> {
    pub(super) fn of(args: &'args UpdateArgs) -> Self {
        Self {
            packages: &args.packages,
            precise: args.precise.as_deref(),
        }
    }

    /// The command with its own arguments.
    pub(in crate::commands) fn words(self) -> String {
        let precise = self.precise.into_iter();
        let precise = precise.flat_map(|version| ["--precise", version]);
        let words = self.packages.iter().map(String::as_str).chain(precise);
        std::iter::once("update")
            .chain(words)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Solves the members together with the update.
    pub(in crate::commands) fn solve(
        self,
        manifests: &[PathBuf],
        context: &Context,
        output: &mut Output,
    ) -> Result<MovedMembers> {
        // The update starts from what the members agree on as they are locked.
        let before = agree(manifests, &LockOptions::default(), context, output)?.resolution;
        let before = lock_of(&before);
        // All members have the registries of the workspace.
        let registries = match manifests.first() {
            Some(manifest) => Project::open(manifest, context)?.open_registries(context)?,
            None => RegistrySet::new(Vec::new()),
        };
        let (packages, precise) = (self.packages, self.precise);
        let plan = UpdatePlan::new(packages, precise, &before, &[], &registries, context)?;
        let agreement = agree_with(manifests, plan.locked, plan.update, context, output)?;
        Ok(MovedMembers {
            before,
            named: plan.named,
            agreement,
        })
    }
}

/// The agreement that the next `lock` of the members would keep. Fails if it would change a package that the update names.
pub(in crate::commands) fn stabilize_update(
    moved: Agreement,
    named: &BTreeSet<PackageName>,
    manifests: &[PathBuf],
    context: &Context,
    output: &mut Output,
) -> Result<Agreement> {
    let wanted = moved.releases.clone();
    let agreement = stabilize(moved, manifests, &LockOptions::default(), context, output)?;
    let was_reverted = |name: &&PackageName| {
        let now = releases_of(&agreement.releases, name);
        releases_of(&wanted, name) != now
    };
    match named.iter().find(was_reverted) {
        Some(name) => Err(would_be_reverted(name, &wanted, &agreement.releases)),
        None => Ok(agreement),
    }
}

/// The error for an update that the next solve would undo: members agree on one release of a package if they can, and
/// locked releases are only preferred.
fn would_be_reverted(
    name: &PackageName,
    wanted: &AgreedReleases,
    agreed: &AgreedReleases,
) -> Failure {
    let split: BTreeSet<&PackageName> = wanted
        .iter()
        .map(|Release { name, .. }| name)
        .filter(|name| releases_of(wanted, name).len() > 1)
        .filter(|name| releases_of(agreed, name).len() <= 1)
        .collect();
    let split: Vec<String> = split.iter().map(|name| format!("`{name}`")).collect();
    let message = if split.is_empty() {
        format!(
            "`{name}` could change, but the next lock would change it back: other members prefer the previous version"
        )
    } else {
        format!(
            "`{name}` could only change with several releases of {}, but the members can agree on one",
            split.join(", ")
        )
    };
    let finding = Diagnostic::error(Code::LockStale, message).hint(format!(
        "require that version of {name} in a member to keep it"
    ));
    Failure {
        findings: vec![finding],
        exit: Exit::Failed,
    }
}

/// The agreed releases of a package.
fn releases_of<'agreed>(
    agreed: &'agreed AgreedReleases,
    name: &PackageName,
) -> Vec<&'agreed Version> {
    let releases = agreed
        .iter()
        .filter(|Release { name: known, .. }| known == name);
    releases.map(|Release { version, .. }| version).collect()
}
