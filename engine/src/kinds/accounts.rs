//! Reads the users and groups of a machine from `/etc/passwd` and `/etc/group`.

use std::path::Path;

use pkgres_manifest::diagnostic::Escaped;

use crate::resource::{Account, ResourceError};
use crate::target::{Command, Probe, TargetError};

/// The file with the users.
pub(super) const USERS: &str = "/etc/passwd";
/// The file with the groups.
pub(super) const GROUPS: &str = "/etc/group";

/// The most bytes of the lists of users and groups that are read.
const MAX_ACCOUNTS: u64 = 16 << 20;

/// The file that says where users and groups come from.
const NAME_SERVICES: &str = "/etc/nsswitch.conf";
/// The most bytes of this file that are read.
const MAX_NAME_SERVICES: u64 = 1 << 16;
/// The sources that are files of the machine, or have no users that commands are run as.
const OWN_SOURCES: [&str; 3] = ["files", "compat", "systemd"];

/// The longest name of a user or group.
const MAX_NAME: usize = 32;

/// A user of a machine.
pub(super) struct UserEntry {
    pub(super) name: String,
    pub(super) number: u32,
    /// The number of the primary group.
    pub(super) group: u32,
    pub(super) comment: String,
    pub(super) home: String,
    pub(super) shell: String,
}

/// A group of a machine.
pub(super) struct GroupEntry {
    pub(super) name: String,
    pub(super) number: u32,
    /// The users that it is a supplementary group of.
    pub(super) members: Vec<String>,
}

impl Account {
    /// The name of the list of all users, or of all groups, in every source of accounts.
    fn database(self) -> &'static str {
        match self {
            Self::User => "passwd",
            Self::Group => "group",
        }
    }

    /// The names and numbers in the files of a machine.
    pub(super) fn listed(self, probe: &dyn Probe) -> Result<Vec<(String, u32)>, ResourceError> {
        Ok(match self {
            Self::User => {
                let users = users(probe)?.into_iter();
                users.map(|user| (user.name, user.number)).collect()
            }
            Self::Group => {
                let groups = groups(probe)?.into_iter();
                groups.map(|group| (group.name, group.number)).collect()
            }
        })
    }
}

/// The users of a machine. Lines that are no user are left out.
pub(super) fn users(probe: &dyn Probe) -> Result<Vec<UserEntry>, ResourceError> {
    let text = read(probe, USERS)?;
    let users = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, number, group, comment, home, shell] = fields[..] else {
            return None;
        };
        Some(UserEntry {
            name: name.to_owned(),
            number: number.parse().ok()?,
            group: group.parse().ok()?,
            comment: comment.to_owned(),
            home: home.to_owned(),
            shell: shell.to_owned(),
        })
    });
    Ok(users.collect())
}

/// The groups of a machine. Lines that are no group are left out.
pub(super) fn groups(probe: &dyn Probe) -> Result<Vec<GroupEntry>, ResourceError> {
    let text = read(probe, GROUPS)?;
    let groups = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, number, members] = fields[..] else {
            return None;
        };
        let members = members.split(',').filter(|member| !member.is_empty());
        Some(GroupEntry {
            name: name.to_owned(),
            number: number.parse().ok()?,
            members: members.map(str::to_owned).collect(),
        })
    });
    Ok(groups.collect())
}

fn read(probe: &dyn Probe, file: &str) -> Result<String, ResourceError> {
    match probe.read(Path::new(file), MAX_ACCOUNTS) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(TargetError::File(error)) if error.is_not_found() => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}

/// Whether users or groups can come from somewhere else than files, such as a directory server.
pub(super) fn has_other_sources(account: Account, probe: &dyn Probe) -> bool {
    let Ok(bytes) = probe.read(Path::new(NAME_SERVICES), MAX_NAME_SERVICES) else {
        return false;
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let mut sources = lines
        .filter(|(name, _)| name.trim() == account.database())
        .flat_map(|(_, sources)| sources.split('#').next().unwrap_or("").split_whitespace());
    sources.any(|source| !OWN_SOURCES.contains(&source) && !source.starts_with('['))
}

/// The number of a user or group that the machine knows from elsewhere than its files, such as a directory server.
pub(super) fn number_elsewhere(
    probe: &dyn Probe,
    account: Account,
    name: &str,
) -> Result<Option<u32>, ResourceError> {
    if name.starts_with('-') || !has_other_sources(account, probe) {
        return Ok(None);
    }
    let command = Command::new("getent").arguments([account.database(), name]);
    // Without the program, only the files are known.
    let output = probe.query(&command)?;
    let text = output.is_success().then(|| output.text());
    let number = text.and_then(|text| text.split(':').nth(2)?.trim().parse().ok());
    Ok(number)
}

/// Why a user or group cannot be changed: it is not in the files of the machine.
pub(super) fn from_elsewhere(account: Account, name: &str) -> ResourceError {
    let name = Escaped::shortened(name);
    ResourceError::Invalid(format!(
        "the machine knows the {account} `{name}` from elsewhere than its files, so it can only be changed there: leave out this resource"
    ))
}

/// Checks that a name can be one of a user or group, and not an option of a program or a field more in a file.
pub(super) fn check_name(account: Account, name: &str) -> Result<(), ResourceError> {
    let is_name = name.len() <= MAX_NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .chars()
            .all(|other| other.is_ascii_alphanumeric() || "_.-".contains(other));
    if is_name {
        return Ok(());
    }
    let message = format!(
        "`{name}` cannot be the name of a {account}: it must begin with a letter or `_`, and have at most {MAX_NAME} letters, \
         digits, `_`, `.` and `-`"
    );
    Err(ResourceError::Invalid(message))
}

/// The number of a user or group that was received.
pub(super) fn account_number(received: i64) -> Result<u32, ResourceError> {
    received.try_into().map_err(|_| {
        let message = format!("{received} cannot be the number of a user or group");
        ResourceError::Invalid(message)
    })
}

/// Why a user or group cannot get a number that another one has.
pub(super) fn taken(account: Account, number: u32, holder: &str) -> String {
    format!(
        "the number {number} belongs to the {account} `{}`",
        Escaped::shortened(holder)
    )
}

/// Checks that a text can be a field of the list of users.
pub(super) fn check_field(property: &str, value: &str) -> Result<(), ResourceError> {
    if value.contains([':', '\n', '\0']) {
        let message = format!("the {property} of a user must not contain `:` or line breaks");
        return Err(ResourceError::Invalid(message));
    }
    Ok(())
}
