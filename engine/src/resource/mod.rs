//! Resources: parts of a machine that can be checked, and changed if they differ.
//!
//! A check has two answers: the resource is in order, or a [`Change`] that brings it there. It cannot report success and
//! an error at once: if it fails, it has no answer. The engine checks again after a change, so it detects a change that
//! does not reach the wanted state at once.

mod before;
mod definition;
mod forwarding;
mod identifier;
mod value;
mod watching;

pub use before::Before;
pub use definition::Definition;
pub(crate) use forwarding::forward_resource;
pub use identifier::{Account, Identifier, Relation, Wish};
pub use value::{SentValue, ValueType, Values};
pub use watching::Watching;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{ResourceDescription, ResourceId};
use thiserror::Error;

use crate::target::{Probe, Target, TargetError};

/// The property of users and groups that is their number.
pub(crate) const NUMBER: &str = "number";

/// The input of a check, besides the resource and the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Input {
    /// The values of other resources, by the property that receives them.
    pub received: Values,
    /// The values that were not sent, by the property that would receive them.
    pub awaited: BTreeMap<String, Awaited>,
    /// Whether a resource that notifies this one was changed since this one was last in order.
    pub refresh: bool,
    /// In a dry run: users and groups that come before this resource and would get another number, with all their
    /// differences. The machine itself is unchanged.
    pub foreseen: Vec<(Identifier, Difference)>,
}

impl Input {
    /// The number that a user or group would have after a change that a dry run does not make.
    pub(crate) fn foreseen_number(&self, account: &Identifier) -> Option<u32> {
        let mut foreseen = self.foreseen.iter();
        let number = foreseen
            .find(|(changed, difference)| changed == account && difference.property == NUMBER)?;
        number.1.wanted.as_ref()?.parse().ok()
    }

    /// Checks that every value that the resource receives is known; the error names one that is not.
    pub(crate) fn require_known(&self) -> Result<(), ResourceError> {
        match self.awaited.iter().next() {
            None => Ok(()),
            Some((property, awaited)) => {
                let message = format!("its {property} is not known: {awaited}");
                Err(ResourceError::Unknown(message))
            }
        }
    }
}

/// A value that a property would receive, but that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// The resource that sends it.
    pub from: ResourceId,
    /// Its name there.
    pub value: String,
    /// Whether its sender would send it once it is changed, which this run does not do.
    pub is_pending: bool,
}

impl fmt::Display for Awaited {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, value) = (&self.from, Escaped::new(&self.value));
        write!(formatter, "`{from}` has not sent `{value}`")?;
        if from.kind() == "exec" {
            formatter.write_str(", which it only does after it has run, if the text is UTF-8 and has at most 16 MiB: it runs again once its guards ask for it, such as when what it `creates` is removed")?;
        }
        Ok(())
    }
}

/// The answer of a check.
pub enum Checked {
    /// The machine is in the wanted state. The values go to the resources that receive them.
    InOrder(Values),
    /// The machine is in the wanted state, but may differ, for this reason, after changes of resources that go first.
    /// A dry run cannot know.
    Kept(String),
    /// The machine differs, and this change brings it into the wanted state.
    Drift(Box<dyn Change>),
}

impl Checked {
    /// The answer that all is in order, without values for others.
    pub fn in_order() -> Self {
        Self::InOrder(Values::new())
    }

    /// The answer that the machine differs.
    pub fn drift(change: impl Change + 'static) -> Self {
        Self::Drift(Box::new(change))
    }
}

impl fmt::Debug for Checked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InOrder(values) => formatter.debug_tuple("InOrder").field(values).finish(),
            Self::Kept(reason) => formatter.debug_tuple("Kept").field(reason).finish(),
            Self::Drift(change) => formatter
                .debug_tuple("Drift")
                .field(&change.differences())
                .finish(),
        }
    }
}

/// A change that a check found to be necessary, with what it learned on the way.
pub trait Change: Send {
    /// What differs; at least one.
    fn differences(&self) -> Vec<Difference>;

    /// Whether the machine, as it is, lets the change be made; an error is the reason why not. A dry run asks this in
    /// place of changing the machine, so that it does not promise what the change could not do. So does an attempt before
    /// a change that is not [atomic](Self::is_atomic), so that nothing is begun that cannot be ended.
    fn precheck(&self, _probe: &dyn Probe) -> Result<(), ResourceError> {
        Ok(())
    }

    /// Whether the change is either made as a whole or not at all. A change that is not may leave something behind when
    /// it fails.
    fn is_atomic(&self) -> bool {
        false
    }

    /// Why the resource may still differ right after this change was made; `None` if the differences say it.
    fn still_necessary(&self) -> Option<String> {
        None
    }

    /// Changes the machine.
    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError>;
}

/// A difference between a machine and a resource: for people, and as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The property that differs, such as `content` or `mode`.
    pub property: String,
    /// The value on the machine; `None` if there is nothing.
    pub is: Option<String>,
    /// The value that the resource wants; `None` if there must be none.
    pub wanted: Option<String>,
}

impl Difference {
    /// A difference between two values.
    pub fn new(
        property: impl Into<String>,
        is: Option<impl Into<String>>,
        wanted: Option<impl Into<String>>,
    ) -> Self {
        Self {
            property: property.into(),
            is: is.map(Into::into),
            wanted: wanted.map(Into::into),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let property = Escaped::new(&self.property);
        match (&self.is, &self.wanted) {
            (Some(is), Some(wanted)) => {
                let (is, wanted) = (Escaped::new(is), Escaped::new(wanted));
                write!(formatter, "{property}: {is} -> {wanted}")
            }
            (None, Some(wanted)) => write!(formatter, "{property}: {}", Escaped::new(wanted)),
            (Some(is), None) => write!(formatter, "{property}: remove {}", Escaped::new(is)),
            (None, None) => write!(formatter, "{property}"),
        }
    }
}

/// Why a resource could not be checked or changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// An operation on the machine failed.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The folder around what is to be made does not exist.
    #[error("the folder {folder} does not exist: add a resource `directory: {folder}`, or `parents: true`, or say `after` what makes it", folder = .0.display())]
    MissingFolder(PathBuf),
    /// The folder in which something has to be changed cannot be written.
    #[error("{source}")]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// The error.
        source: TargetError,
    },
    /// Something else is where the resource should be.
    #[error("{} exists, but is not {wanted}: remove it first", .path.display())]
    InTheWay {
        /// Where it is.
        path: PathBuf,
        /// What should be there.
        wanted: &'static str,
    },
    /// The machine lacks a user or group.
    #[error("the machine has no {account} `{}`", Escaped::shortened(.name))]
    MissingAccount {
        /// What it lacks.
        account: Account,
        /// Its name.
        name: String,
    },
    /// The machine lacks what a command needs to start.
    #[error("{message}")]
    NotStartable {
        /// What it lacks.
        message: String,
        /// The files, folders, users or groups of which one would be enough.
        needs: Vec<Identifier>,
    },
    /// The properties do not fit together, or do not fit the machine.
    #[error("{0}")]
    Invalid(String),
    /// The machine cannot be compared with the resource, because a value of another resource is not known. Everything
    /// that is known is in order.
    #[error("{0}")]
    Unknown(String),
    /// The change was made, and the resource still differs.
    #[error("it still differs after the change: {}", listed(.0))]
    StillDiffers(Vec<Difference>),
    /// The code of the resource panicked.
    #[error("the resource panicked: {}", Escaped::new(.0))]
    Panicked(String),
}

impl ResourceError {
    /// The error that a change is still necessary after it was made.
    pub(crate) fn still_differs(change: &dyn Change) -> Self {
        match change.still_necessary() {
            Some(message) => Self::Invalid(message),
            None => Self::StillDiffers(change.differences()),
        }
    }
}

pub(crate) fn listed(differences: &[Difference]) -> String {
    let texts: Vec<_> = differences.iter().map(Difference::to_string).collect();
    texts.join("; ")
}

/// Whether a resource must exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must exist.
    Present,
    /// It must not exist, and neither may anything in it.
    Absent,
    /// The resource does not say.
    Unsaid,
}

impl Presence {
    /// Present, unless it is said to be absent.
    pub(crate) fn unless(is_absent: bool) -> Self {
        if is_absent {
            Self::Absent
        } else {
            Self::Present
        }
    }
}

/// A part of a machine that can be checked, and changed if it differs.
///
/// Other crates can implement it just as well:
///
/// ```
/// use std::path::Path;
/// use pkgres_engine::{
///     Change, Checked, Definition, Difference, EntryAttributes, Input, Machine, Probe, Resource,
///     ResourceError, Target, Watching,
/// };
///
/// /// The name of a host.
/// #[derive(Debug, Clone)]
/// struct HostName(String);
///
/// const FILE: &str = "/etc/hostname";
///
/// impl Resource for HostName {
///     fn definition(&self) -> String {
///         Definition::new("host name").with("name", &self.0).into_text()
///     }
///
///     fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
///         let is = match probe.entry(Path::new(FILE))? {
///             Some(_) => Some(String::from_utf8_lossy(&probe.read(Path::new(FILE), 256)?).into_owned()),
///             None => None,
///         };
///         if is.as_deref().map(str::trim) == Some(&self.0) {
///             return Ok(Checked::in_order());
///         }
///         Ok(Checked::drift(Rename { is, wanted: self.0.clone() }))
///     }
///
///     fn watching(&self, _: &dyn Probe) -> Watching {
///         Watching::path(FILE)
///     }
/// }
///
/// struct Rename {
///     is: Option<String>,
///     wanted: String,
/// }
///
/// impl Change for Rename {
///     fn differences(&self) -> Vec<Difference> {
///         vec![Difference::new("name", self.is.clone(), Some(self.wanted.clone()))]
///     }
///
///     fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
///         let text = format!("{}\n", self.wanted);
///         Ok(target.write_file(Path::new(FILE), text.as_bytes(), EntryAttributes::with_mode(0o644))?)
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join("etc"))?;
/// let machine = Machine::root_folder(folder.path())?;
/// let name = HostName("web-1".to_owned());
/// let Checked::Drift(change) = name.check(&machine, &Input::default())? else {
///     panic!("there is no such file yet");
/// };
/// assert_eq!(change.differences()[0].to_string(), "name: web-1");
/// change.apply(&machine)?;
/// assert!(matches!(name.check(&machine, &Input::default())?, Checked::InOrder(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Resource: Send + Sync {
    /// Everything that decides what the resource does, as text: two resources with the same text are the same. When a
    /// new graph replaces another, resources that stay the same keep their state. [`Definition`] writes it.
    fn definition(&self) -> String;

    /// Compares the machine with what the resource wants. It must not depend on anything but its arguments, and must
    /// work without having been watched.
    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError>;

    /// What to watch, so that the resource is checked again when it may have changed. It may be too much, never too
    /// little. It is asked for once, before the first check, and may depend on the machine; after
    /// [`Watching::UntilInOrder`], it is asked for again.
    fn watching(&self, _probe: &dyn Probe) -> Watching {
        Watching::Nothing
    }

    /// What the resource is, for others that look for it.
    fn identifiers(&self) -> Vec<Identifier> {
        Vec::new()
    }

    /// The other resources that it has an order with, if they are there.
    fn wishes(&self) -> Vec<Wish> {
        Vec::new()
    }

    /// The names and types of the values that it sends.
    fn sends(&self) -> &[(&str, ValueType)] {
        &[]
    }

    /// The properties that can receive a value, with their types.
    fn receives(&self) -> &[(&str, ValueType)] {
        &[]
    }

    /// Whether it wants what it [is](Self::identifiers) to exist. So resources that contradict each other are found
    /// before anything is changed.
    fn presence(&self) -> Presence {
        Presence::Unsaid
    }

    /// Whether it and a resource of another name cannot both be in order, although each by itself can be: both
    /// [are](Self::identifiers) the same service, for instance.
    fn contradicts(&self, _other: &dyn Resource) -> bool {
        false
    }

    /// Whether it is a plain file, so that nothing can be below its path.
    fn is_plain_file(&self) -> bool {
        false
    }

    /// Whether its change may make a folder. By default, it may.
    fn may_make_folder(&self, folder: &Path) -> bool {
        let _ = folder;
        true
    }

    /// Whether its change may make it possible to write in a folder. By default, it may.
    fn may_open_folder(&self, folder: &Path) -> bool {
        let _ = folder;
        true
    }

    /// Whether its change may remove the reason why a resource after it cannot be brought into order. By default, it may,
    /// unless it cannot [make](Self::may_make_folder) or [open](Self::may_open_folder) the folder in question.
    fn may_remedy(&self, error: &ResourceError) -> bool {
        match error {
            ResourceError::MissingFolder(folder) => self.may_make_folder(folder),
            ResourceError::NotWritable { folder, .. } => self.may_open_folder(folder),
            _ => true,
        }
    }

    /// Whether a notification matters to it.
    fn is_refreshable(&self) -> bool {
        false
    }

    /// Whether what was there before its first change can be restored, as the parameter `reverse` asks for.
    fn is_reversible(&self) -> bool {
        false
    }

    /// The resource that restores what is there now, in so far as this one is going to change it; `None` if there is
    /// nothing to restore. It is asked for before the first change, and only if
    /// [`is_reversible`](Self::is_reversible) says so. The description is kept on the machine, and read by the
    /// [`Kinds`](crate::Kinds) when the resource is gone from the graph.
    fn reversed(
        &self,
        _before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        Ok(None)
    }

    /// What it has in common with the resources that it can be grouped with; `None` if it is never grouped.
    fn group(&self) -> Option<String> {
        None
    }

    /// One resource in place of several with the same [`group`](Self::group), this one among them. `None` if they do not
    /// fit together. Its differences have the names of the members that differ as properties.
    fn grouped(&self, _members: &[&dyn Resource]) -> Option<Box<dyn Resource>> {
        None
    }

    /// This resource as a value of its own type, for those that know the type: [`grouped`](Self::grouped) and
    /// [`contradicts`](Self::contradicts), for instance.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}
