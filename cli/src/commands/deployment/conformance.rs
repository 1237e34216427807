//! Whether the classes of the locked packages implement their interfaces on the machines of a run.

use std::sync::Arc;

use pkgres_checks::{
    Baseline, BoundPackages, ClassConformance, Levels, Platform, conformance, conformance_findings,
};
use pkgres_manifest::Facts;
use pkgres_manifest::diagnostic::Diagnostic;

use super::machines::Machines;
use super::prepared::{Prepared, open_target};
use crate::args::DeploymentArgs;
use crate::commands::report_failure;
use crate::commands::validate::target_failure;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::machine_facts::facts_of_machine;
use crate::output::Output;
use crate::signals::RunInterrupts;

/// Whether the classes fit each machine, before anything runs on any of them. A machine that cannot be looked at counts
/// as fitting: its run says why.
pub(super) fn conforming(
    machines: &Machines,
    prepared: &[Arc<Prepared>],
    args: &DeploymentArgs,
    interrupts: &RunInterrupts,
    output: &mut Output,
) -> Vec<bool> {
    let classes = prepared
        .iter()
        .map(|prepared| InterfaceClasses::of(&prepared.packages));
    let classes: Vec<_> = classes.collect();
    if classes.iter().all(InterfaceClasses::is_empty) {
        return vec![true; prepared.len()];
    }
    let fitting = machines.each(
        output,
        || interrupts.cancellation.is_cancelled(),
        |at, machine, output| {
            let target = open_target(machine, args, &interrupts.cancellation);
            let facts = target.and_then(|target| {
                facts_of_machine(&*target, &machine.facts).map_err(target_failure)
            });
            let Ok(facts) = facts else {
                return true;
            };
            let errors = classes[at].errors_on(&machine.name, facts);
            if errors.is_empty() {
                return true;
            }
            let failure = Failure {
                findings: errors,
                exit: Exit::Failed,
            };
            report_failure(&failure, output);
            false
        },
    );
    fitting
        .into_iter()
        .map(|fits| fits.unwrap_or(true))
        .collect()
}

/// The classes of all releases that implement interfaces.
struct InterfaceClasses<'packages> {
    classes: Vec<ClassConformance<'packages>>,
}

impl<'packages> InterfaceClasses<'packages> {
    /// The classes of the locked packages.
    fn of(packages: &'packages BoundPackages) -> Self {
        let releases = packages.releases.keys();
        let classes = releases.flat_map(|release| conformance(packages, release));
        let classes = classes.filter(|class| !class.interfaces.is_empty());
        Self {
            classes: classes.collect(),
        }
    }

    /// Whether no class implements an interface.
    fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The violations on a machine that are errors in `pkgres check --interfaces`, too.
    fn errors_on(&self, machine: &str, facts: Facts) -> Vec<Diagnostic> {
        let platform = Platform {
            name: machine.to_owned(),
            facts,
        };
        let (levels, baseline) = (Levels::default(), Baseline::default());
        let found = conformance_findings(&self.classes, &[platform], &levels, &baseline);
        let errors = found.findings.into_iter().filter(Diagnostic::is_error);
        errors.collect()
    }
}
