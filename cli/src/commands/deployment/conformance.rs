//! Whether the classes of the locked packages implement their interfaces on the machines of a run.

use std::sync::Arc;

use pkgres_checks::{
    Baseline, BoundPackages, ClassConformance, Level, Levels, Platform, conformance,
    conformance_findings,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{ConformanceStatus, Facts, ReadOptions};

use super::machines::Machines;
use super::prepared::{Prepared, open_target};
use crate::args::{AcceptedViolationArgs, DeploymentArgs};
use crate::commands::report_failure;
use crate::commands::validate::target_failure;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::interface_baseline::read_baseline;
use crate::machine_facts::facts_of_machine;
use crate::output::Output;
use crate::signals::RunInterrupts;

/// Whether the classes fit each machine, before anything runs on any of them. A machine that cannot be looked at counts
/// as fitting: its run says why.
pub(super) fn conforming(
    machines: &Machines,
    prepared: &[Arc<Prepared>],
    args: &DeploymentArgs,
    options: &ReadOptions,
    interrupts: &RunInterrupts,
    output: &mut Output,
) -> Result<Vec<bool>> {
    let accepted = AcceptedViolations::read(&args.violations, options)?;
    let classes = prepared
        .iter()
        .map(|prepared| InterfaceClasses::of(&prepared.packages));
    let classes: Vec<_> = classes.collect();
    if classes.iter().all(InterfaceClasses::is_empty) {
        return Ok(vec![true; prepared.len()]);
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
            let errors = classes[at].errors_on(&machine.name, facts, &accepted);
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
    let fitting = fitting.into_iter().map(|fits| fits.unwrap_or(true));
    Ok(fitting.collect())
}

/// The violations of interfaces with which packages are deployed.
struct AcceptedViolations {
    levels: Levels,
    baseline: Baseline,
}

impl AcceptedViolations {
    fn read(args: &AcceptedViolationArgs, options: &ReadOptions) -> Result<Self> {
        let mut levels = Levels::default();
        for status in &args.allow {
            levels.set(*status, Level::Allow);
        }
        let baseline = args.baseline.as_ref();
        let baseline = baseline.map(|file| read_baseline(file, options));
        Ok(Self {
            levels,
            baseline: baseline.transpose()?.unwrap_or_default(),
        })
    }
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

    /// The violations on a machine that are errors in `pkgres check --interfaces`, too, and are not accepted.
    fn errors_on(
        &self,
        machine: &str,
        facts: Facts,
        accepted: &AcceptedViolations,
    ) -> Vec<Diagnostic> {
        let platform = Platform {
            name: machine.to_owned(),
            facts,
        };
        let AcceptedViolations { levels, baseline } = accepted;
        let found = conformance_findings(&self.classes, &[platform], levels, baseline);
        let errors = found.findings.into_iter().filter(Diagnostic::is_error);
        errors.map(with_way_on).collect()
    }
}

/// A violation with the options that deploy the package all the same: whoever deploys it may be unable to change it.
fn with_way_on(violation: Diagnostic) -> Diagnostic {
    let status = match violation.code {
        Code::SignatureMismatch => ConformanceStatus::SignatureMismatch,
        Code::InterfaceConflict => ConformanceStatus::Conflict,
        // A mistake in the interface itself.
        _ => return violation,
    };
    violation.hint(format!(
        "if the package belongs to others, `--allow {}` deploys it all the same, and `--baseline FILE` accepts the known violations in a file",
        status.as_str()
    ))
}
