//! The kind `user`: a user that must exist, or must not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pkgres_manifest::{PropertyValue, ResourceDescription};

use super::accounts::{
    GROUPS, GroupEntry, USERS, UserEntry, account_number, check_field, check_name, groups, taken,
    users,
};
use super::commands::Commands;
use super::group::removed_groups;
use crate::resource::{
    Before, Checked, Difference, Identifier, Input, NUMBER, Presence, Resource, ResourceError,
    SentValue, ValueType, Watching, Wish,
};
use crate::target::{Command, Probe};

/// The properties that can receive a value.
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
        check_name("user", &self.name)?;
        for group in self.group.iter().chain(&self.groups) {
            if group.parse::<u32>().is_err() {
                check_name("group", group)?;
            }
        }
        for (property, value) in self.texts() {
            check_field(property, &value)?;
        }
        Ok(())
    }

    /// The properties that are texts, and their values.
    fn texts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let shown = |path: &PathBuf| path.display().to_string();
        let home = self.home.as_ref().map(shown);
        let shell = self.shell.as_ref().map(shown);
        [
            ("home", home),
            ("shell", shell),
            ("comment", self.comment.clone()),
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
            command = command.arguments([option_of(property).to_owned(), value]);
        }
        command
    }

    /// The command that changes the user, and what it changes.
    fn modification(&self, is: &UserEntry, groups: &[GroupEntry]) -> (Command, Vec<Difference>) {
        let mut arguments = Vec::new();
        let mut differences = Vec::new();
        let mut differ = |property: &str, options: &[&str], is: &str, shown: &str, wanted: &str| {
            differences.push(Difference::new(property, Some(is), Some(shown)));
            arguments.extend(options.iter().chain([&wanted]).map(ToString::to_string));
        };
        if let Some(number) = self.number.filter(|number| *number != is.number) {
            let number = number.to_string();
            differ(NUMBER, &["--uid"], &is.number.to_string(), &number, &number);
        }
        let named = |name: &String| {
            let mut groups = groups.iter();
            groups.find(|group| group.name == *name || group.number.to_string() == *name)
        };
        // The number of the primary group as it will be; a group that does not exist yet has none.
        let mut primary = Some(is.group);
        if let Some(group) = &self.group
            && named(group).is_none_or(|group| group.number != is.group)
        {
            let before = groups.iter().find(|group| group.number == is.group);
            let before = before.map_or_else(|| is.group.to_string(), |group| group.name.clone());
            differ("group", &["--gid"], &before, group, group);
            primary = named(group).map(|group| group.number);
        }
        let is_in = |name: &String| {
            named(name).is_some_and(|group| {
                group.members.contains(&is.name) || Some(group.number) == primary
            })
        };
        let missing: Vec<_> = self
            .groups
            .iter()
            .filter(|name| !is_in(name))
            .cloned()
            .collect();
        let known = groups_of(&is.name, groups);
        let is_named = |group: &String| {
            let mut wanted = self.groups.iter();
            wanted.any(|name| named(name).is_some_and(|found| found.name == *group))
        };
        if self.has_only_groups && !(missing.is_empty() && known.iter().all(is_named)) {
            let groups: Vec<_> = self.groups.iter().cloned().collect();
            let wanted = groups.join(",");
            differ("groups", &["--groups"], &known.join(","), &wanted, &wanted);
        } else if !missing.is_empty() {
            let wanted = [known.clone(), missing.clone()].concat().join(",");
            let options = ["--append", "--groups"];
            differ(
                "groups",
                &options,
                &known.join(","),
                &wanted,
                &missing.join(","),
            );
        }
        for (property, value) in self.texts() {
            let is = match property {
                "home" => &is.home,
                "shell" => &is.shell,
                _ => &is.comment,
            };
            if *is != value {
                differ(property, &[option_of(property)], is, &value, &value);
            }
        }
        (Command::new("usermod").arguments(arguments), differences)
    }
}

/// The groups that have a user as a member.
fn groups_of(user: &String, groups: &[GroupEntry]) -> Vec<String> {
    let groups = groups.iter().filter(|group| group.members.contains(user));
    groups.map(|group| group.name.clone()).collect()
}

/// The option of `useradd` and `usermod` for a property.
fn option_of(property: &str) -> &'static str {
    match property {
        "home" => "-d",
        "shell" => "-s",
        _ => "-c",
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
        let is = users.iter().find(|user| user.name == self.name);
        let (command, differences) = match (is, self.is_absent) {
            (None, true) => return Ok(Checked::in_order()),
            (Some(_), true) => {
                let difference = Difference::new("user", Some(&self.name), None::<String>);
                (Command::new("userdel"), vec![difference])
            }
            (None, false) => {
                let difference = Difference::new("user", None::<String>, Some(&self.name));
                (self.addition(&groups), vec![difference])
            }
            (Some(is), false) => self.modification(is, &groups),
        };
        if differences.is_empty() {
            return Ok(Checked::in_order());
        }
        let command = command.arguments(["--", &self.name]);
        let holder = users
            .iter()
            .find(|user| user.name != self.name && self.number == Some(user.number))
            .filter(|_| !self.is_absent);
        let is_taken = holder.map(|holder| taken("user", holder.number, &holder.name));
        let obstacle = self.missing_group(&groups).or(is_taken);
        let change = Commands::new(differences, vec![command]).with_obstacle(obstacle);
        Ok(Checked::drift(change))
    }
}

impl Resource for User {
    fn definition(&self) -> String {
        format!("{self:?}")
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        input.require_known()?;
        self.with_received(input)?.check_now(probe)
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::Paths([USERS, GROUPS].map(PathBuf::from).into())
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
        let Some(is) = users.iter().find(|user| user.name == self.name) else {
            return Ok(Some(description.with("state", "absent")));
        };
        if changed.number.is_some() {
            description = description.with("number", is.number.to_string());
        }
        if self.group.is_some() {
            description = description.with("group", is.group.to_string());
        }
        if self.has_only_groups || !changed.groups.is_empty() {
            let known = groups_of(&is.name, &groups(before.probe())?);
            let known = known.into_iter().map(PropertyValue::Text);
            description = description.with("only_groups", PropertyValue::list(known));
        }
        for (property, _) in self.texts() {
            let value = match property {
                "home" => &is.home,
                "shell" => &is.shell,
                _ => &is.comment,
            };
            description = description.with(property, value.clone());
        }
        Ok(Some(description))
    }
}
