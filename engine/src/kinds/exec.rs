//! The kind `exec`: a command, with guards that decide whether it has to run.

use std::collections::HashSet;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{Properties, PropertyErrors, PropertyValue, ResourceDescription};

use super::command_prerequisites::{program_wishes, require_startable};
use super::path_text;
use crate::resource::{
    Before, Change, Checked, Definition, Difference, Identifier, Input, Resource, ResourceError,
    ValueType, Values, Watching, Wish,
};
use crate::target::{Command, Probe, Target, TargetError, shown};

/// The guard without whose success a command does not run.
const ONLY_IF: &str = "only_if";

/// The exit codes with which shells and programs that start others say that a program could not be started.
const NOT_RUN: std::ops::RangeInclusive<i32> = 125..=127;

/// The name of the value that a command sends.
const STDOUT: &str = "stdout";

/// The condition under which a command has to run. Without one, a check could not tell whether all is in order.
#[derive(Debug, Clone)]
pub enum Guard {
    /// The command makes something at this path: it runs if there is nothing.
    Creates(PathBuf),
    /// The command runs unless this one succeeds, which must not change anything.
    Unless(Command),
    /// The command runs only if this one succeeds, which must not change anything.
    OnlyIf(Command),
    /// The command runs only after a change of a resource that notifies it.
    OnRefresh,
}

impl Guard {
    /// The guard that looks at a path.
    pub fn creates(path: impl AsRef<Path>) -> Self {
        Self::Creates(path.as_ref().to_owned())
    }

    /// Whether the command has to run as far as this guard decides.
    fn lets_run(&self, probe: &dyn Probe, input: &Input) -> Result<bool, ResourceError> {
        Ok(match self {
            Self::Creates(path) => probe.entry(path)?.is_none(),
            Self::Unless(command) => !succeeds("unless", command, probe)?,
            Self::OnlyIf(command) => succeeds(ONLY_IF, command, probe)?,
            Self::OnRefresh => input.refresh,
        })
    }

    fn definition(&self) -> Definition {
        match self {
            Self::Creates(path) => Definition::new("creates").with("path", path),
            Self::Unless(command) => {
                Definition::new("unless").with("command", command_definition(command))
            }
            Self::OnlyIf(command) => {
                Definition::new(ONLY_IF).with("command", command_definition(command))
            }
            Self::OnRefresh => Definition::new("on_refresh"),
        }
    }

    /// Whether properties can say all of it. They cannot say who a command of a guard runs as, for instance.
    fn is_describable(&self) -> bool {
        self.command().is_none_or(|command| {
            let Command {
                program: _,
                arguments: _,
                variables,
                input,
                folder,
                timeout,
                user,
                group,
                // The run sets it.
                cancellation: _,
                has_scratch,
            } = command;
            let plain = Command::new("");
            *variables == plain.variables
                && *input == plain.input
                && *folder == plain.folder
                && *timeout == plain.timeout
                && *user == plain.user
                && *group == plain.group
                && *has_scratch == plain.has_scratch
        })
    }

    fn command(&self) -> Option<&Command> {
        match self {
            Self::Unless(command) | Self::OnlyIf(command) => Some(command),
            Self::Creates(_) | Self::OnRefresh => None,
        }
    }
}

/// Everything that decides what a command does.
fn command_definition(command: &Command) -> Definition {
    let Command {
        program,
        arguments,
        variables,
        input,
        folder,
        timeout,
        user,
        group,
        // The run sets it.
        cancellation: _,
        has_scratch,
    } = command;
    Definition::new("command")
        .with("program", program)
        .with("arguments", arguments)
        .with("variables", variables)
        .with_bytes("input", input)
        .with("folder", folder)
        .with("timeout", timeout)
        .with("user", user)
        .with("group", group)
        .with("has_scratch", has_scratch)
}

/// Whether the command of a guard succeeds. One that could not run, or was killed, says neither yes nor no.
fn succeeds(guard: &str, command: &Command, probe: &dyn Probe) -> Result<bool, ResourceError> {
    let output = probe.query(command)?;
    // Its failure would look as if nothing had to be done.
    if guard == ONLY_IF
        && !output.is_success()
        && let Some(line) = output.refused_write()
    {
        let line = Escaped::shortened(&line);
        let message =
            format!("the guard `{guard}` failed: it must change nothing, and tried to: {line}");
        return Err(ResourceError::Invalid(message));
    }
    match output.code {
        Some(code) if !NOT_RUN.contains(&code) => Ok(code == 0),
        _ => match TargetError::unless_success(command, output) {
            Ok(_) => Ok(true),
            Err(error) => {
                let message = format!("the guard `{guard}` failed: {error}");
                Err(ResourceError::Invalid(message))
            }
        },
    }
}

/// A command that runs if its guards allow it. After a run, it sends what it wrote as `stdout`, without the line
/// breaks at the end; if it has not run, it sends nothing.
#[derive(Debug, Clone)]
pub struct Exec {
    command: Command,
    guards: Vec<Guard>,
    /// The command that undoes the command.
    undo: Option<Command>,
    /// Whether the resource undoes its command.
    is_undone: bool,
    /// The type of what it sends.
    output: ValueType,
    /// What it wrote when it last ran.
    stdout: Arc<Mutex<Option<String>>>,
}

impl Exec {
    /// A command that runs if a guard allows it.
    pub fn new(command: Command, guard: Guard) -> Self {
        Self {
            command,
            guards: vec![guard],
            undo: None,
            is_undone: false,
            output: ValueType::Text,
            stdout: Arc::default(),
        }
    }

    /// A command with the guards that its properties state, which must be at least one.
    pub(super) fn guarded(
        command: Command,
        guards: Vec<Guard>,
        properties: &Properties,
    ) -> Result<Self, PropertyErrors> {
        let mut guards = guards.into_iter();
        let Some(first) = guards.next() else {
            let message = "nothing says when the command has to run";
            let error = properties.invalid("guard", message);
            let hint = "add `creates`, `unless`, `only_if` or `on_refresh`";
            return Err(error.hint(hint).into());
        };
        Ok(guards.fold(Self::new(command, first), Self::with_guard))
    }

    /// Adds a guard. The command runs if all guards allow it.
    #[must_use]
    pub fn with_guard(mut self, guard: Guard) -> Self {
        self.guards.push(guard);
        self
    }

    /// Sets the type of what it sends, which is a text otherwise.
    #[must_use]
    pub fn with_output(mut self, output: ValueType) -> Self {
        self.output = output;
        self
    }

    /// Sets the program and the arguments of the command that undoes this command. It runs in the same folder, with
    /// the same variables, user, group and timeout.
    #[must_use]
    pub fn with_undo(mut self, undo: Command) -> Self {
        self.undo = Some(Command {
            program: undo.program,
            arguments: undo.arguments,
            ..self.command.clone()
        });
        self
    }

    /// Makes the resource undo its command: unless the guards say that the command would have to run, the command of
    /// [`with_undo`](Self::with_undo) runs. It is an error if there is none.
    #[must_use]
    pub fn undone(mut self) -> Self {
        self.is_undone = true;
        self
    }

    /// Whether properties can express all guards: each kind of guard has one property.
    fn has_describable_guards(&self) -> bool {
        let mut kinds = HashSet::new();
        let mut guards = self.guards.iter();
        guards.all(|guard| guard.is_describable() && kinds.insert(discriminant(guard)))
    }

    /// The paths that its command makes.
    fn created(&self) -> impl Iterator<Item = &PathBuf> {
        self.guards.iter().filter_map(|guard| match guard {
            Guard::Creates(path) => Some(path),
            _ => None,
        })
    }

    /// Whether all guards say that the command has to run.
    fn has_to_run(&self, probe: &dyn Probe, input: &Input) -> Result<bool, ResourceError> {
        for guard in &self.guards {
            if !guard.lets_run(probe, input)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The guards that are commands, as a message names them.
    fn asking_guards(&self) -> String {
        let names = self.guards.iter().filter_map(|guard| match guard {
            Guard::Unless(_) => Some("`unless`"),
            Guard::OnlyIf(_) => Some("`only_if`"),
            Guard::Creates(_) | Guard::OnRefresh => None,
        });
        names.collect::<Vec<_>>().join(" and ")
    }

    /// The check of a resource that undoes its command.
    fn check_undone(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        let Some(undo) = &self.undo else {
            let message = "there is no command that undoes it";
            return Err(ResourceError::Invalid(message.to_owned()));
        };
        if self.has_to_run(probe, input)? {
            return Ok(Checked::in_order());
        }
        Ok(Checked::drift(RunCommand {
            command: undo.clone(),
            undoes: true,
            creates: Vec::new(),
            asked_by: self.asking_guards(),
            stdout: Arc::default(),
        }))
    }
}

impl Resource for Exec {
    fn definition(&self) -> String {
        let Self {
            command,
            guards,
            undo,
            is_undone,
            output,
            // What the last run wrote.
            stdout: _,
        } = self;
        let guards: Vec<_> = guards.iter().map(Guard::definition).collect();
        Definition::new("exec")
            .with("command", command_definition(command))
            .with("guards", guards)
            .with("undo", undo.as_ref().map(command_definition))
            .with("is_undone", is_undone)
            .with("output", output.name())
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        if self.is_undone {
            return self.check_undone(probe, input);
        }
        if !self.has_to_run(probe, input)? {
            let stdout = self.stdout.lock().unwrap_or_else(PoisonError::into_inner);
            let value = stdout.as_ref().map(|stdout| sent(self.output, stdout));
            return Ok(Checked::InOrder(value.transpose()?.unwrap_or_default()));
        }
        Ok(Checked::drift(RunCommand {
            command: self.command.clone(),
            undoes: false,
            creates: self.created().cloned().collect(),
            asked_by: self.asking_guards(),
            stdout: Arc::clone(&self.stdout),
        }))
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        let mut paths = Vec::new();
        for guard in &self.guards {
            match guard {
                Guard::Creates(path) => paths.push(path.clone()),
                Guard::Unless(_) | Guard::OnlyIf(_) => return Watching::Polling,
                Guard::OnRefresh => {}
            }
        }
        if paths.is_empty() {
            Watching::Nothing
        } else {
            Watching::Paths(paths)
        }
    }

    fn identifiers(&self) -> Vec<Identifier> {
        self.created().map(Identifier::path).collect()
    }

    fn wishes(&self) -> Vec<Wish> {
        let guards = self.guards.iter().filter_map(Guard::command);
        let mut wishes: Vec<_> = std::iter::once(&self.command)
            .chain(guards)
            .flat_map(program_wishes)
            .collect();
        for guard in &self.guards {
            if let Guard::Creates(path) = guard {
                wishes.extend(Wish::around(path));
            }
        }
        wishes
    }

    fn sends(&self) -> &[(&str, ValueType)] {
        sends(self.output)
    }

    fn is_refreshable(&self) -> bool {
        let is_on_refresh = |guard: &Guard| matches!(guard, Guard::OnRefresh);
        self.guards.iter().any(is_on_refresh)
    }

    /// It needs a command that takes it back, and guards that show whether that is necessary.
    fn is_reversible(&self) -> bool {
        self.undo.is_some()
            && !self.is_undone
            && !self.is_refreshable()
            && self.has_describable_guards()
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        let Some(undo) = &self.undo else {
            return Ok(None);
        };
        let command = &self.command;
        let variables = command.variables.iter();
        let variables =
            variables.map(|(name, value)| (name.clone(), PropertyValue::Text(value.clone())));
        let mut description = before
            .description("exec", before.id().name())?
            .with("command", words(command))
            .with("undo", words(undo))
            .with("state", "undone")
            .with("environment", PropertyValue::mapping(variables))
            .with("folder", path_text(&command.folder)?)
            .with("timeout", command.timeout.as_secs().max(1).to_string());
        if let Some(user) = &command.user {
            description = description.with("user", user.clone());
        }
        if let Some(group) = &command.group {
            description = description.with("group", group.clone());
        }
        for guard in &self.guards {
            description = match guard {
                Guard::Creates(path) => description.with("creates", path_text(path)?),
                Guard::Unless(command) => description.with("unless", words(command)),
                Guard::OnlyIf(command) => description.with("only_if", words(command)),
                Guard::OnRefresh => description,
            };
        }
        Ok(Some(description))
    }
}

/// A command as the value of a property.
fn words(command: &Command) -> PropertyValue {
    PropertyValue::list(command.words().map(PropertyValue::from))
}

struct RunCommand {
    command: Command,
    /// Whether it undoes the command of the resource.
    undoes: bool,
    /// The paths at which something has to be afterwards.
    creates: Vec<PathBuf>,
    /// The guards that say whether it has to run, besides those that need no command.
    asked_by: String,
    stdout: Arc<Mutex<Option<String>>>,
}

impl Change for RunCommand {
    fn differences(&self) -> Vec<Difference> {
        let runs = |property| Difference::new(property, None::<String>, Some(shown(&self.command)));
        if self.undoes {
            let state = Difference::new("state", Some("done"), Some("undone"));
            vec![state, runs("undo")]
        } else {
            vec![runs("command")]
        }
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        require_startable(&self.command, probe)
    }

    fn still_necessary(&self) -> Option<String> {
        let (command, guards) = (shown(&self.command), &self.asked_by);
        (!guards.is_empty())
            .then(|| format!("`{command}` succeeded, and would run again according to {guards}"))
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        let output = target.run(&self.command)?;
        let output = TargetError::unless_success(&self.command, output)?;
        let mut stdout = self.stdout.lock().unwrap_or_else(PoisonError::into_inner);
        // What is no text, or only the beginning of one, cannot be sent.
        let whole = (!output.is_cut).then_some(output.stdout);
        *stdout = whole
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .map(without_end);
        for path in &self.creates {
            if target.entry(path)?.is_none() {
                let (command, path) = (shown(&self.command), path.display());
                let message = format!("`{command}` succeeded, and did not make {path}");
                return Err(ResourceError::Invalid(message));
            }
        }
        Ok(())
    }
}

/// A command that changes nothing, and sends what it writes as `stdout`, without the line breaks at the end. It is run
/// for each check.
#[derive(Debug, Clone)]
pub struct Query {
    command: Command,
    /// The type of what it sends.
    output: ValueType,
}

impl Query {
    /// A command that only reads.
    pub fn new(command: Command) -> Self {
        Self {
            command,
            output: ValueType::Text,
        }
    }

    /// Sets the type of what it sends, which is a text otherwise.
    #[must_use]
    pub fn with_output(mut self, output: ValueType) -> Self {
        self.output = output;
        self
    }
}

impl Resource for Query {
    fn definition(&self) -> String {
        let Self { command, output } = self;
        Definition::new("query")
            .with("command", command_definition(command))
            .with("output", output.name())
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        let output = probe.query(&self.command)?;
        let output = TargetError::unless_success(&self.command, output)?;
        let output = TargetError::unless_cut(&self.command, output)?;
        let Ok(text) = String::from_utf8(output.stdout) else {
            let message = format!("what `{}` writes is not UTF-8", self.command);
            return Err(ResourceError::Invalid(message));
        };
        let values = sent(self.output, &without_end(text))?;
        Ok(Checked::InOrder(values))
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::Polling
    }

    fn wishes(&self) -> Vec<Wish> {
        program_wishes(&self.command)
    }

    fn sends(&self) -> &[(&str, ValueType)] {
        sends(self.output)
    }
}

/// The values that a command which wrote a text sends.
fn sent(output: ValueType, stdout: &str) -> Result<Values, ResourceError> {
    let value = output.read(stdout).map_err(|reason| {
        let message = format!("the output of the command is not what it sends: {reason}");
        ResourceError::Invalid(message)
    })?;
    Ok(Values::from([(STDOUT.to_owned(), value)]))
}

/// The name and the type of what a command sends.
fn sends(output: ValueType) -> &'static [(&'static str, ValueType)] {
    match output {
        ValueType::Text => &[(STDOUT, ValueType::Text)],
        ValueType::Integer => &[(STDOUT, ValueType::Integer)],
        ValueType::Boolean => &[(STDOUT, ValueType::Boolean)],
        ValueType::List => &[(STDOUT, ValueType::List)],
    }
}

fn without_end(mut text: String) -> String {
    text.truncate(text.trim_end_matches('\n').len());
    text
}
