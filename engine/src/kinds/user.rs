//! The kind `user`: a user that must exist, or must not.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use pkgres_manifest::{PropertyValue, ResourceDescription};

use super::accounts::{
    GROUPS, GroupEntry, USERS, UserEntry, account_number, check_field, check_name, from_elsewhere,
    groups, number_elsewhere, taken, users,
};
use super::group::removed_groups;
use super::run_programs::Commands;
use crate::resource::{
    Account, Before, Checked, Definition, Difference, Identifier, Input, NUMBER, Presence,
    Resource, ResourceError, SentValue, ValueType, Watching, Wish,
};
use crate::target::{Command, Probe};

/// The property with the groups besides the primary one.
const GROUPS_PROPERTY: &str = "groups";

/// A user that must exist, or must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    name: String,
    is_absent: bool,
    number: Option<u32>,
    group: Option<String>,
    groups: BTreeSet<String>,
    /// Whether the user must not be in other groups.
    has_only_groups: bool,
    home: Option<PathBuf>,
    shell: Option<PathBuf>,
    comment: Option<String>,
    is_system: bool,
}

impl User {
    /// A user that must exist.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            is_absent: false,
            number: None,
            group: None,
            groups: BTreeSet::new(),
            has_only_groups: false,
            home: None,
            shell: None,
            comment: None,
            is_system: false,
        }
    }

    /// Requires that the user does not exist. Files of the user stay.
    #[must_use]
    pub fn absent(mut self) -> Self {
        self.is_absent = true;
        self
    }

    /// Sets the number. Without it, a new user gets a free one.
    #[must_use]
    pub fn with_number(mut self, number: u32) -> Self {
        self.number = Some(number);
        self
    }

    /// Sets the primary group, by name or number. Without it, a new user gets the group that has the same name, which is
    /// made if it does not exist.
    #[must_use]
    pub fn with_group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Adds groups that the user must be in. The user may be in others, too.
    #[must_use]
    pub fn with_groups<Text: Into<String>>(
        mut self,
        groups: impl IntoIterator<Item = Text>,
    ) -> Self {
        self.groups.extend(groups.into_iter().map(Into::into));
        self
    }

    /// Sets the groups that the user must be in, besides the primary one. The user must not be in any others.
    #[must_use]
    pub fn with_only_groups<Text: Into<String>>(
        mut self,
        groups: impl IntoIterator<Item = Text>,
    ) -> Self {
        self.groups = groups.into_iter().map(Into::into).collect();
        self.has_only_groups = true;
        self
    }

    /// Sets the home folder, which is neither made nor moved: a [`Directory`](super::Directory) does that.
    #[must_use]
    pub fn with_home(mut self, home: impl AsRef<Path>) -> Self {
        self.home = Some(home.as_ref().to_owned());
        self
    }

    /// Sets the shell.
    #[must_use]
    pub fn with_shell(mut self, shell: impl AsRef<Path>) -> Self {
        self.shell = Some(shell.as_ref().to_owned());
        self
    }

    /// Sets the comment, which is usually the full name.
    #[must_use]
    pub fn with_comment(mut self, comment: impl Into<String>) -> Self {
        self.comment = Some(comment.into());
        self
    }

    /// Gives a new user a number from the range for system users. An existing user keeps its number.
    #[must_use]
    pub fn system(mut self) -> Self {
        self.is_system = true;
        self
    }

    fn check_names(&self) -> Result<(), ResourceError> {
        check_name(Account::User, &self.name)?;
        for group in self.group.iter().chain(&self.groups) {
            if group.parse::<u32>().is_err() {
                check_name(Account::Group, group)?;
            }
        }
        for (property, value) in self.texts() {
            check_field(property.name(), &value)?;
        }
        Ok(())
    }

    /// The properties that are texts, and their values.
    fn texts(&self) -> impl Iterator<Item = (TextProperty, String)> {
        let text_of = |path: &PathBuf| path.display().to_string();
        [
            (TextProperty::Home, self.home.as_ref().map(text_of)),
            (TextProperty::Shell, self.shell.as_ref().map(text_of)),
            (TextProperty::Comment, self.comment.clone()),
        ]
        .into_iter()
        .filter_map(|(property, value)| Some((property, value?)))
    }

    /// The message about a group that the machine does not have.
    fn missing_group(&self, groups: &[GroupEntry]) -> Option<String> {
        if self.is_absent {
            return None;
        }
        let mut wanted = self.group.iter().chain(&self.groups);
        let is_there = |wanted: &String| {
            let mut groups = groups.iter();
            groups.any(|group| group.name == *wanted || group.number.to_string() == *wanted)
        };
        let missing = wanted.find(|wanted| !is_there(wanted))?;
        Some(format!("the machine has no group `{missing}`"))
    }

    /// The command that makes the user.
    fn addition(&self, groups: &[GroupEntry]) -> Command {
        let mut command = Command::new("useradd").argument("--no-create-home");
        if self.is_system {
            command = command.argument("--system");
        }
        if let Some(number) = self.number {
            command = command.arguments(["--uid".to_owned(), number.to_string()]);
        }
        // A group of the same name would be an error otherwise.
        let own = groups.iter().find(|group| group.name == self.name);
        if let Some(group) = self.group.as_ref().or(own.map(|group| &group.name)) {
            command = command.arguments(["--gid", group]);
        }
        if !self.groups.is_empty() {
            let groups: Vec<_> = self.groups.iter().cloned().collect();
            command = command.arguments(["--groups".to_owned(), groups.join(",")]);
        }
        for (property, value) in self.texts() {
            command = command.arguments([property.option().to_owned(), value]);
        }
        command
    }

    /// The command that changes the user, and what it changes.
    fn modification(
        &self,
        current: &UserEntry,
        groups: &[GroupEntry],
    ) -> (Command, Vec<Difference>) {
        let mut changes = Modification::default();
        if let Some(number) = self.number.filter(|number| *number != current.number) {
            changes.set("--uid", NUMBER, current.number, number);
        }
        let named = |name: &String| {
            let mut groups = groups.iter();
            groups.find(|group| group.name == *name || group.number.to_string() == *name)
        };
        // The number of the primary group as it will be; a group that does not exist yet has none.
        let mut primary = Some(current.group);
        if let Some(group) = &self.group
            && named(group).is_none_or(|group| group.number != current.group)
        {
            let before = groups.iter().find(|group| group.number == current.group);
            let before =
                before.map_or_else(|| current.group.to_string(), |group| group.name.clone());
            changes.set("--gid", "group", before, group);
            primary = named(group).map(|group| group.number);
        }
        let is_in = |name: &String| {
            named(name).is_some_and(|group| {
                group.members.contains(&current.name) || Some(group.number) == primary
            })
        };
        let missing: Vec<_> = self
            .groups
            .iter()
            .filter(|name| !is_in(name))
            .cloned()
            .collect();
        let known = groups_of(&current.name, groups);
        let is_named = |group: &String| {
            let mut wanted = self.groups.iter();
            wanted.any(|name| named(name).is_some_and(|found| found.name == *group))
        };
        if self.has_only_groups && !(missing.is_empty() && known.iter().all(is_named)) {
            let groups: Vec<_> = self.groups.iter().cloned().collect();
            changes.set(
                "--groups",
                GROUPS_PROPERTY,
                known.join(","),
                groups.join(","),
            );
        } else if !missing.is_empty() {
            let wanted = [known.as_slice(), &missing].concat().join(",");
            changes.differ(GROUPS_PROPERTY, known.join(","), wanted);
            changes.pass(["--append", "--groups", &missing.join(",")]);
        }
        for (property, value) in self.texts() {
            let before = property.of(current);
            if before != value {
                changes.set(property.option(), property.name(), before, value);
            }
        }
        let command = Command::new("usermod").arguments(changes.arguments);
        (command, changes.differences)
    }
}

/// The groups that have a user as a member.
fn groups_of(user: &String, groups: &[GroupEntry]) -> Vec<String> {
    let groups = groups.iter().filter(|group| group.members.contains(user));
    groups.map(|group| group.name.clone()).collect()
}

/// The arguments of `usermod`, and what they change.
#[derive(Default)]
struct Modification {
    arguments: Vec<String>,
    differences: Vec<Difference>,
}

impl Modification {
    /// Sets a property to a value that an option takes.
    fn set(&mut self, option: &str, property: &str, before: impl Display, wanted: impl Display) {
        let wanted = wanted.to_string();
        self.pass([option, &wanted]);
        self.differ(property, before.to_string(), wanted);
    }

    fn differ(&mut self, property: &str, before: String, wanted: String) {
        let difference = Difference::new(property, Some(before), Some(wanted));
        self.differences.push(difference);
    }

    fn pass<const COUNT: usize>(&mut self, arguments: [&str; COUNT]) {
        self.arguments.extend(arguments.map(str::to_owned));
    }
}

/// A property of a user that is a text.
#[derive(Clone, Copy)]
enum TextProperty {
    Home,
    Shell,
    Comment,
}

impl TextProperty {
    fn name(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Shell => "shell",
            Self::Comment => "comment",
        }
    }

    /// The option of `useradd` and `usermod` that sets it.
    fn option(self) -> &'static str {
        match self {
            Self::Home => "-d",
            Self::Shell => "-s",
            Self::Comment => "-c",
        }
    }

    /// Its value for a user of the machine.
    fn of(self, user: &UserEntry) -> &str {
        match self {
            Self::Home => &user.home,
            Self::Shell => &user.shell,
            Self::Comment => &user.comment,
        }
    }
}

impl User {
    /// The user with the properties that it received.
    fn with_received(&self, input: &Input) -> Result<Self, ResourceError> {
        let mut user = self.clone();
        if let Some(SentValue::Integer(number)) = input.received.get(NUMBER) {
            user.number = Some(account_number(*number)?);
        }
        if let Some(SentValue::List(groups)) = input.received.get(GROUPS_PROPERTY) {
            user.groups = groups.iter().cloned().collect();
        }
        Ok(user)
    }

    fn check_now(&self, probe: &dyn Probe) -> Result<Checked, ResourceError> {
        self.check_names()?;
        let users = users(probe)?;
        let groups = groups(probe)?;
        let current = users.iter().find(|user| user.name == self.name);
        if current.is_none()
            && let Some(number) = number_elsewhere(probe, Account::User, &self.name)?
        {
            let plain = Self {
                number: self.number.filter(|wanted| *wanted == number),
                is_system: self.is_system,
                ..Self::new(&self.name)
            };
            if *self == plain {
                return Ok(Checked::in_order());
            }
            return Err(from_elsewhere(Account::User, &self.name));
        }
        let (command, differences) = match (current, self.is_absent) {
            (None, true) => return Ok(Checked::in_order()),
            (Some(_), true) => {
                let difference = Difference::new("user", Some(&self.name), None::<String>);
                (Command::new("userdel"), vec![difference])
            }
            (None, false) => {
                let difference = Difference::new("user", None::<String>, Some(&self.name));
                (self.addition(&groups), vec![difference])
            }
            (Some(current), false) => self.modification(current, &groups),
        };
        if differences.is_empty() {
            return Ok(Checked::in_order());
        }
        let command = command.arguments(["--", &self.name]);
        let holder = users
            .iter()
            .find(|user| user.name != self.name && self.number == Some(user.number))
            .filter(|_| !self.is_absent);
        let is_taken = holder.map(|holder| taken(Account::User, holder.number, &holder.name));
        let obstacle = self.missing_group(&groups).or(is_taken);
        let change = Commands::new(differences, vec![command]).with_obstacle(obstacle);
        Ok(Checked::drift(change))
    }
}

impl Resource for User {
    fn definition(&self) -> String {
        let Self {
            name,
            is_absent,
            number,
            group,
            groups,
            has_only_groups,
            home,
            shell,
            comment,
            is_system,
        } = self;
        Definition::new("user")
            .with("name", name)
            .with("is_absent", is_absent)
            .with("number", number)
            .with("group", group)
            .with("groups", groups)
            .with("has_only_groups", has_only_groups)
            .with("home", home)
            .with("shell", shell)
            .with("comment", comment)
            .with("is_system", is_system)
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        input.require_known()?;
        self.with_received(input)?.check_now(probe)
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::Paths([USERS, GROUPS].map(PathBuf::from).into())
    }

    /// It makes no folders, and removes no files.
    fn may_remedy(&self, error: &ResourceError) -> bool {
        match error {
            ResourceError::MissingAccount { name, .. } => {
                // A group of the same name may come with it.
                !self.is_absent && *name == self.name
            }
            ResourceError::NotStartable { needs, .. } => {
                let own = [
                    Identifier::User(self.name.clone()),
                    Identifier::Group(self.name.clone()),
                ];
                !self.is_absent && needs.iter().any(|needed| own.contains(needed))
            }
            ResourceError::MissingFolder(_) | ResourceError::InTheWay { .. } => false,
            _ => true,
        }
    }

    fn presence(&self) -> Presence {
        Presence::unless(self.is_absent)
    }

    fn identifiers(&self) -> Vec<Identifier> {
        let own = Identifier::User(self.name.clone());
        let number = self.number.map(Identifier::UserNumber);
        [own].into_iter().chain(number).collect()
    }

    fn wishes(&self) -> Vec<Wish> {
        let own = Identifier::Group(self.group.clone().unwrap_or_else(|| self.name.clone()));
        if self.is_absent {
            // A group cannot be removed while it is the primary group of a user.
            return vec![
                Wish::before(own),
                Wish::before_if_possible(removed_groups()),
            ];
        }
        let groups = self.groups.iter().cloned().map(Identifier::Group);
        let shell = self.shell.iter().map(Identifier::path);
        let all = std::iter::once(own).chain(groups).chain(shell);
        all.map(Wish::after).collect()
    }

    fn receives(&self) -> &[(&str, ValueType)] {
        &[
            (NUMBER, ValueType::Integer),
            (GROUPS_PROPERTY, ValueType::List),
        ]
    }

    /// The password of a user is not kept.
    fn is_reversible(&self) -> bool {
        !self.is_absent
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        let changed = self.with_received(before.input())?;
        let mut description = before.description("user", &self.name)?;
        let users = users(before.probe())?;
        let Some(current) = users.iter().find(|user| user.name == self.name) else {
            return Ok(Some(description.with("state", "absent")));
        };
        if changed.number.is_some() {
            description = description.with("number", current.number.to_string());
        }
        if self.group.is_some() {
            description = description.with("group", current.group.to_string());
        }
        if self.has_only_groups || !changed.groups.is_empty() {
            let known = groups_of(&current.name, &groups(before.probe())?);
            let known = known.into_iter().map(PropertyValue::Text);
            description = description.with("only_groups", PropertyValue::list(known));
        }
        for (property, _) in self.texts() {
            description = description.with(property.name(), property.of(current));
        }
        Ok(Some(description))
    }
}
