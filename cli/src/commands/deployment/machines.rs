//! The machines of a run: named on the command line or in an inventory, and processed in parallel.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pkgres_engine::{Inventory, TargetLocation};
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Located, quoted, sentence_list};
use pkgres_manifest::{Limits, did_you_mean, most_similar};
use serde_json::{Value, json};

use crate::args::{DeploymentArgs, ValidationValue, validation_value};
use crate::commands::report_failure;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{Output, Stream};
use crate::prefixed_output::{PartMark, PartWriter, part_lines};
use crate::show::{columns, table};

/// The most machines that a hint names.
const MAX_NAMED_MACHINES: usize = 10;

/// A machine of a run.
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) location: TargetLocation,
    /// Facts besides those of the machine itself.
    pub(super) facts: Vec<(String, String)>,
    pub(super) model: Option<PathBuf>,
    pub(super) arguments: Vec<ValidationValue>,
}

/// The machines of a run, at least one.
pub(super) struct Machines {
    pub(super) all: Vec<Machine>,
    /// How many are worked on at once.
    forks: usize,
    fail_fast: bool,
    /// Whether the command line names one machine and nothing else, whose output needs no name.
    pub(super) is_single: bool,
}

/// What came of a machine.
pub(super) struct MachineResult {
    pub(super) exit: Exit,
    pub(super) state: MachineState,
    /// The numbers of the table: in order, changed or to change, failed, not looked at.
    pub(super) counts: [usize; 4],
}

/// The state of a machine after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MachineState {
    InOrder,
    Pending,
    Failed,
    Invalid,
    Interrupted,
    OutOfTime,
    NotBegun,
    NotConforming,
}

impl MachineState {
    /// That of a machine whose run ended before it had a report.
    fn of_early_end(exit: Exit) -> Self {
        match exit {
            Exit::Interrupted => Self::Interrupted,
            Exit::Invalid => Self::Invalid,
            _ => Self::Failed,
        }
    }

    /// The name in JSON.
    fn id(self) -> &'static str {
        match self {
            Self::InOrder => "in_order",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Interrupted => "interrupted",
            Self::OutOfTime => "out_of_time",
            Self::NotBegun => "not_begun",
            Self::NotConforming => "not_conforming",
        }
    }

    /// The words in the table.
    fn text(self) -> &'static str {
        match self {
            Self::InOrder => "up to date",
            Self::Pending => "to change",
            Self::OutOfTime => "out of time",
            Self::NotBegun => "not begun",
            Self::NotConforming => "not conforming",
            Self::Failed | Self::Invalid | Self::Interrupted => self.id(),
        }
    }
}

impl MachineResult {
    /// The result for a machine on which a class contradicts an interface.
    pub(super) fn not_conforming() -> Self {
        Self::nothing(Exit::Failed, MachineState::NotConforming)
    }

    fn is_good(&self) -> bool {
        matches!(self.exit, Exit::Done | Exit::Pending)
    }

    /// The result for a machine that could not be looked at.
    pub(super) fn nothing(exit: Exit, state: MachineState) -> Self {
        Self {
            exit,
            state,
            counts: [0; 4],
        }
    }
}

impl Machines {
    /// The machines that the arguments name. Two must not be the same, because one run would undo the other's changes.
    pub(super) fn read(args: &DeploymentArgs, limits: &Limits) -> Result<Self> {
        let mut machines: Vec<Machine> = args
            .targets
            .iter()
            .map(|target| Machine {
                name: target.to_string(),
                location: target.clone(),
                facts: Vec::new(),
                model: args.model.clone(),
                arguments: args.arguments.clone(),
            })
            .collect();
        if let Some(path) = &args.inventory {
            machines.extend(read_inventory(path, args, limits)?);
        }
        let pairs = machines
            .iter()
            .map(|machine| (machine.name.as_str(), identity_of(&machine.location)));
        if let Some((first, again)) = first_repeated(pairs) {
            let (same, machine) = (&machines[first], &machines[again]);
            let message = if same.name == machine.name {
                format!("{} is named twice", machine.name)
            } else {
                format!("{} and {} are the same machine", same.name, machine.name)
            };
            return Err(Failure::usage(message));
        }
        if machines.is_empty() {
            return Err(Failure::usage("the inventory has no machines"));
        }
        limit_to(&args.limit, &mut machines)?;
        Ok(Self {
            is_single: args.inventory.is_none() && machines.len() == 1,
            all: machines,
            forks: args.forks.into(),
            fail_fast: args.fail_fast,
        })
    }

    /// Works on all machines at once, whatever `--forks` says: they are watched until the run ends.
    pub(super) fn all_at_once(mut self) -> Self {
        self.forks = self.all.len();
        self
    }

    /// Works on each machine. A failure of one does not keep the others from being worked on, unless `--fail-fast` is
    /// set. Ends with a table of all machines if there are several; returns the most severe exit code.
    pub(super) fn run(
        &self,
        output: &mut Output,
        is_interrupted: impl Fn() -> bool + Sync,
        work: impl Fn(usize, &Machine, &mut Output) -> Result<MachineResult> + Sync,
    ) -> Result<Exit> {
        if self.is_single {
            return Ok(work(0, &self.all[0], output)?.exit);
        }
        let has_failed = AtomicBool::new(false);
        let stops = || is_interrupted() || (self.fail_fast && has_failed.load(Ordering::Relaxed));
        let results = self.each(output, stops, |at, machine, output| {
            let result = work(at, machine, output).unwrap_or_else(|failure| {
                report_failure(&failure, output);
                MachineResult::nothing(failure.exit, MachineState::of_early_end(failure.exit))
            });
            if !result.is_good() {
                has_failed.store(true, Ordering::Relaxed);
            }
            result
        });
        let left = if is_interrupted() {
            Exit::Interrupted
        } else {
            Exit::Done
        };
        let results: Vec<MachineResult> = results
            .into_iter()
            .map(|result| {
                result.unwrap_or_else(|| MachineResult::nothing(left, MachineState::NotBegun))
            })
            .collect();
        if output.is_json() {
            output.use_line_documents();
            output.json(&self.document(&results));
        } else {
            output.data(&self.table(&results, output.data_width()));
        }
        let exits = results.iter().map(|result| result.exit);
        Ok(exits.max().unwrap_or(Exit::Done))
    }

    /// Calls a function for each machine, for some at once, until `stops` says so. The output of each has its name.
    pub(super) fn each<T: Send>(
        &self,
        output: &mut Output,
        stops: impl Fn() -> bool + Sync,
        work: impl Fn(usize, &Machine, &mut Output) -> T + Sync,
    ) -> Vec<Option<T>> {
        if self.is_single {
            return vec![Some(work(0, &self.all[0], output))];
        }
        let style = &output.style();
        let is_json = output.is_json();
        let lengths = self.all.iter().map(|machine| columns(&machine.name));
        let width = lengths.max().unwrap_or(0);
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<T>>> = self.all.iter().map(|_| Mutex::new(None)).collect();
        output.flush();
        std::thread::scope(|scope| {
            let (sender, lines) = part_lines();
            for _ in 0..self.forks.min(self.all.len()) {
                let sender = sender.clone();
                let (next, results, work, stops) = (&next, &results, &work, &stops);
                scope.spawn(move || {
                    while let Some((at, machine)) = self.next(next) {
                        if stops() {
                            return;
                        }
                        let prefix = PartMark::prefix(&machine.name, width);
                        let mark = if is_json {
                            PartMark::field(&machine.name)
                        } else {
                            prefix.clone()
                        };
                        let data = PartWriter::new(Stream::Data, mark, &sender);
                        let messages = PartWriter::new(Stream::Messages, prefix, &sender);
                        let mut output = Output::of_part(style, data, messages);
                        let result = work(at, machine, &mut output);
                        output.flush();
                        *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                    }
                });
            }
            drop(sender);
            output.part_lines(lines);
        });
        let results = results.into_iter();
        results
            .map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }

    fn next(&self, next: &AtomicUsize) -> Option<(usize, &Machine)> {
        let at = next.fetch_add(1, Ordering::Relaxed);
        Some((at, self.all.get(at)?))
    }

    fn table(&self, results: &[MachineResult], columns: Option<usize>) -> String {
        let heading = [
            "machine",
            "state",
            "up to date",
            "changes",
            "failed",
            "not looked at",
        ];
        let heading = heading.map(str::to_owned);
        let mut rows = Vec::with_capacity(results.len());
        for (machine, result) in self.all.iter().zip(results) {
            let mut row = vec![machine.name.clone(), result.state.text().to_owned()];
            row.extend(result.counts.map(|count| count.to_string()));
            rows.push(row);
        }
        table(&heading, &rows, columns)
    }

    fn document(&self, results: &[MachineResult]) -> Value {
        let machines = self.all.iter().zip(results).map(|(machine, result)| {
            let [in_order, changes, failed, left] = result.counts;
            json!({
                "machine": machine.name,
                "target": machine.location.to_string(),
                "state": result.state.id(),
                "exit_code": result.exit as u8,
                "in_order": in_order,
                "changes": changes,
                "failed": failed,
                "not_looked_at": left,
            })
        });
        let is_good = results.iter().all(MachineResult::is_good);
        json!({
            "schema_version": 1,
            "status": if is_good { "done" } else { "failed" },
            "event": "summary",
            "machines": machines.collect::<Vec<_>>(),
        })
    }
}

/// The same text for all locations that are known to be one machine: a folder has many paths, and `/` is this machine.
fn identity_of(location: &TargetLocation) -> String {
    let folder = match location {
        TargetLocation::Local => Path::new("/"),
        TargetLocation::RootFolder(folder) => folder,
        _ => return location.to_string(),
    };
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    format!("folder {}", folder.display())
}

/// Leaves out the machines that are not among some names, if there are any. A name that no machine has is an error.
fn limit_to(names: &[String], machines: &mut Vec<Machine>) -> Result<()> {
    let known = || machines.iter().map(|machine| machine.name.as_str());
    if let Some(unknown) = names
        .iter()
        .find(|name| known().all(|known| known != *name))
    {
        let shown = Escaped::shortened(unknown);
        let message = format!("the inventory has no machine `{shown}`");
        let finding = Diagnostic::error(Code::Usage, message);
        return Err(match most_similar(unknown, known()) {
            Some(similar) => finding.hint(did_you_mean(similar)).into(),
            None => finding.hint(named_machines(machines)).into(),
        });
    }
    if !names.is_empty() {
        machines.retain(|machine| names.contains(&machine.name));
    }
    Ok(())
}

/// A hint with the names of machines, as far as they are few enough.
fn named_machines(machines: &[Machine]) -> String {
    let mut names: Vec<String> = machines
        .iter()
        .take(MAX_NAMED_MACHINES)
        .map(|machine| format!("`{}`", Escaped::shortened(&machine.name)))
        .collect();
    if let Some(more @ 1..) = machines.len().checked_sub(MAX_NAMED_MACHINES) {
        names.push(format!("{more} more"));
    }
    format!("it has {}", sentence_list(names, "and"))
}

/// The first item that has the name or the location of one before it, after that one.
fn first_repeated<N: Ord, L: Ord>(
    items: impl IntoIterator<Item = (N, L)>,
) -> Option<(usize, usize)> {
    let mut by_name = BTreeMap::new();
    let mut by_location = BTreeMap::new();
    for (at, (name, location)) in items.into_iter().enumerate() {
        let of_name = *by_name.entry(name).or_insert(at);
        let of_location = *by_location.entry(location).or_insert(at);
        let first = of_name.min(of_location);
        if first < at {
            return Some((first, at));
        }
    }
    None
}

/// The machines of an inventory, which is a file, or a program that prints one.
fn read_inventory(path: &Path, args: &DeploymentArgs, limits: &Limits) -> Result<Vec<Machine>> {
    let shown = path.to_string_lossy();
    let is_program = std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    let bytes = if is_program {
        printed_by(path, limits.manifest_bytes)?
    } else {
        read_file(path, limits.manifest_bytes, Follow::Links)?
    };
    let (inventory, _) = Inventory::read(&shown, &bytes, limits).into_result()?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let machines = inventory.targets.into_iter().map(|target| {
        let mut arguments = args.arguments.clone();
        for given in target.arguments {
            let text = format!("{}={}", given.name, given.value);
            let mut value = validation_value(&text).map_err(|error| {
                let finding = Diagnostic::error(Code::Field, error);
                Failure::from(finding.at(given.location.clone()))
            })?;
            value.location = Some(given.location);
            // The value of the machine replaces that for all.
            arguments
                .retain(|other| other.package != value.package || other.argument != value.argument);
            arguments.push(value);
        }
        let model = match target.model {
            Some(model) => Some(model_beside(folder, &model)?),
            None => args.model.clone(),
        };
        Ok(Machine {
            name: target.name,
            location: target.target,
            facts: target.facts,
            model,
            arguments,
        })
    });
    machines.collect()
}

/// The model of a machine. A missing one is an error at its place in the inventory.
fn model_beside(folder: &Path, model: &Located<String>) -> Result<PathBuf> {
    let path = folder.join(&model.value);
    match std::fs::metadata(&path) {
        Ok(_) => Ok(path),
        Err(error) => {
            let message = format!("cannot read {}: {error}", Escaped::path(&path));
            let finding = Diagnostic::error(Code::File, message);
            Err(finding.at(model.location.clone()).into())
        }
    }
}

/// What a program prints. Of what is too long, one byte more than the limit.
fn printed_by(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let shown = Escaped::path(path);
    let failed = |reason: String| Failure::usage(format!("the inventory {shown} {reason}"));
    // A name alone would be looked up in the search path.
    let program = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut child = Command::new(program)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let mut failure = failed(format!("cannot be run: {error}"));
            let hint = format!(
                "if it is no program, `chmod -x {}` makes it a file that is read",
                quoted(path)
            );
            let findings = failure.findings.into_iter();
            failure.findings = findings.map(|it| it.hint(hint.clone())).collect();
            failure
        })?;
    let mut bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let read = stdout.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| failed(format!("cannot be read: {error}")))?;
    }
    if bytes.len() as u64 > limit {
        // What is too long is an error of the inventory. The program may go on for ever.
        let _ = child.kill();
        let _ = child.wait();
        return Ok(bytes);
    }
    let status = child
        .wait()
        .map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !status.success() {
        return Err(failed(format!("failed: {status}")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::cmp::Ordering;

    use super::*;

    /// A number that counts how often it is compared.
    #[derive(PartialEq, Eq)]
    struct Counted<'count>(usize, &'count Cell<usize>);

    impl Ord for Counted<'_> {
        fn cmp(&self, other: &Self) -> Ordering {
            self.1.set(self.1.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Counted<'_> {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    #[test]
    fn a_folder_with_two_paths_is_one_machine() {
        let identity = |text: &str| identity_of(&text.parse().expect("it is a location"));
        let folder = tempfile::tempdir().expect("a folder for the test");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).expect("nothing is there");
        let [folder, link] =
            [folder.path(), &link].map(|path| format!("rootfs:{}", path.display()));
        assert_eq!(identity(&folder), identity(&link));
        assert_eq!(identity("rootfs:/"), identity("local:"));
        assert_ne!(identity("rootfs:missing"), identity("rootfs:other"));
        assert_ne!(identity("ssh://one"), identity("ssh://two"));
    }

    /// How many comparisons find that no machine is named twice.
    fn comparisons(count: usize) -> usize {
        let cell = Cell::new(0);
        let machines = (0..count).map(|at| (Counted(at, &cell), Counted(at, &cell)));
        assert_eq!(first_repeated(machines), None);
        cell.get()
    }

    #[test]
    fn a_program_that_prints_too_much_is_ended() {
        let printed = printed_by(Path::new("/usr/bin/yes"), 10);
        assert!(printed.is_ok_and(|bytes| bytes.len() == 11));
    }

    #[test]
    fn a_machine_is_not_compared_with_all_others() {
        let (few, many) = (comparisons(1_000), comparisons(10_000));
        assert!(many <= 15 * few, "{few}, then {many}");
    }

    #[test]
    fn the_first_of_two_equal_machines_is_found() {
        assert_eq!(first_repeated([("a", 1), ("b", 2), ("c", 1)]), Some((0, 2)));
        assert_eq!(first_repeated([("a", 1), ("b", 2), ("b", 1)]), Some((0, 2)));
        assert_eq!(first_repeated([("a", 1), ("b", 2), ("b", 3)]), Some((1, 2)));
    }
}
