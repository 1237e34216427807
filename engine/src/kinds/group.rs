//! The kind `group`: a group of users that must exist, or must not.

use pkgres_manifest::ResourceDescription;

use super::accounts::{
    GROUPS, account_number, check_name, from_elsewhere, groups, number_elsewhere, taken, users,
};
use super::run_programs::Commands;
use crate::resource::{
    Account, Before, Checked, Definition, Difference, Identifier, Input, NUMBER, Presence,
    Resource, ResourceError, SentValue, ValueType, Watching,
};
use crate::target::{Command, Probe};

/// A group of users that must exist, or must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    name: String,
    is_absent: bool,
    number: Option<u32>,
    is_system: bool,
}

impl Group {
    /// A group that must exist.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            is_absent: false,
            number: None,
            is_system: false,
        }
    }

    /// Requires that the group does not exist.
    #[must_use]
    pub fn absent(mut self) -> Self {
        self.is_absent = true;
        self
    }

    /// Sets its number. Without it, a new group gets a free one.
    #[must_use]
    pub fn with_number(mut self, number: u32) -> Self {
        self.number = Some(number);
        self
    }

    /// Gives a new group a number from the range for system groups. An existing group keeps its number.
    #[must_use]
    pub fn system(mut self) -> Self {
        self.is_system = true;
        self
    }
}

impl Resource for Group {
    fn definition(&self) -> String {
        let Self {
            name,
            is_absent,
            number,
            is_system,
        } = self;
        Definition::new("group")
            .with("name", name)
            .with("is_absent", is_absent)
            .with("number", number)
            .with("is_system", is_system)
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        check_name(Account::Group, &self.name)?;
        let groups = groups(probe)?;
        let is = groups.iter().find(|group| group.name == self.name);
        input.require_known()?;
        let wanted = match input.received.get(NUMBER) {
            Some(SentValue::Integer(number)) => Some(account_number(*number)?),
            _ => self.number,
        };
        if is.is_none()
            && let Some(number) = number_elsewhere(probe, Account::Group, &self.name)?
        {
            if !self.is_absent && wanted.is_none_or(|wanted| wanted == number) {
                return Ok(Checked::in_order());
            }
            return Err(from_elsewhere(Account::Group, &self.name));
        }
        let number = wanted.map(|number| number.to_string());
        let (difference, command) = match (is, self.is_absent) {
            (None, true) => return Ok(Checked::in_order()),
            (Some(_), true) => (
                Difference::new("group", Some(&self.name), None::<String>),
                Command::new("groupdel"),
            ),
            (None, false) => {
                let mut command = Command::new("groupadd");
                if self.is_system {
                    command = command.argument("--system");
                }
                if let Some(number) = &number {
                    command = command.arguments(["--gid", number]);
                }
                let difference = Difference::new("group", None::<String>, Some(&self.name));
                (difference, command)
            }
            (Some(is), false) => match &number {
                Some(number) if wanted != Some(is.number) => (
                    Difference::new(NUMBER, Some(is.number.to_string()), Some(number)),
                    Command::new("groupmod").arguments(["--gid", number]),
                ),
                _ => return Ok(Checked::in_order()),
            },
        };
        let command = command.arguments(["--", &self.name]);
        let obstacle = if let Some(is) = is.filter(|_| self.is_absent) {
            let mut users = users(probe)?.into_iter();
            let user = users.find(|user| user.group == is.number);
            user.map(|user| format!("it is the primary group of the user `{}`", user.name))
        } else {
            let holder = groups.iter().find(|group| wanted == Some(group.number));
            holder.map(|holder| taken(Account::Group, holder.number, &holder.name))
        };
        let change = Commands::new(vec![difference], vec![command]).with_obstacle(obstacle);
        Ok(Checked::drift(change))
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::path(GROUPS)
    }

    /// It makes no folders, and removes no files.
    fn may_remedy(&self, error: &ResourceError) -> bool {
        match error {
            ResourceError::MissingAccount { account, name } => {
                !self.is_absent && *account == Account::Group && *name == self.name
            }
            ResourceError::NotStartable { needs, .. } => {
                !self.is_absent
                    && needs
                        .iter()
                        .any(|needed| self.identifiers().contains(needed))
            }
            ResourceError::MissingFolder(_) | ResourceError::InTheWay { .. } => false,
            _ => true,
        }
    }

    fn presence(&self) -> Presence {
        Presence::unless(self.is_absent)
    }

    fn identifiers(&self) -> Vec<Identifier> {
        let own = Identifier::Group(self.name.clone());
        let removed = self.is_absent.then(removed_groups);
        let number = self.number.map(Identifier::GroupNumber);
        [own].into_iter().chain(removed).chain(number).collect()
    }

    fn receives(&self) -> &[(&str, ValueType)] {
        &[(NUMBER, ValueType::Integer)]
    }

    /// The members of a group are not kept.
    fn is_reversible(&self) -> bool {
        !self.is_absent
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        let description = before.description("group", &self.name)?;
        let groups = groups(before.probe())?;
        let is = groups.iter().find(|group| group.name == self.name);
        Ok(Some(match is {
            None => description.with("state", "absent"),
            Some(is) => description.with("number", is.number.to_string()),
        }))
    }
}

/// The identifier that all groups to be removed share. Users to be removed depend on it, as any of these groups can be
/// their primary group.
pub(super) fn removed_groups() -> Identifier {
    Identifier::Other("group".to_owned(), "removed".to_owned())
}
