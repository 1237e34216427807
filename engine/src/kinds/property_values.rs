//! Reads property values that several kinds have: paths, accounts, modes, commands, and whether something must be
//! absent.

use std::fmt::Display;
use std::time::Duration;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{Properties, PropertyError, PropertyErrors, VariableName};

use super::Directory;
use super::accounts::check_name;
use crate::resource::{Account, ResourceError, ValueType};
use crate::target::Command;

/// An error about a property, if a kind would reject it on the machine.
pub(super) fn valid(
    key: &str,
    checked: Result<(), ResourceError>,
    properties: &Properties,
) -> Result<(), PropertyError> {
    checked.map_err(|error| properties.invalid(key, error.to_string()))
}

/// Takes the number of a user or group.
pub(super) fn take_id(
    key: &str,
    properties: &mut Properties,
) -> Result<Option<u32>, PropertyError> {
    let Some(number) = properties.take_number(key)? else {
        return Ok(None);
    };
    // The last one means that there is none.
    let id = u32::try_from(number).ok().filter(|id| *id < u32::MAX);
    id.map(Some)
        .ok_or_else(|| not_a_number_of(key, &number, properties))
}

fn not_a_number_of(key: &str, number: &dyn Display, properties: &Properties) -> PropertyError {
    let message = format!("`{key}` must be less than {}, not {number}", u32::MAX);
    properties.invalid(key, message)
}

/// Takes the name or number of a user or group.
pub(super) fn take_account(
    key: &str,
    properties: &mut Properties,
) -> Result<Option<String>, PropertyError> {
    let account = properties.take_text(key)?;
    if let Some(account) = &account {
        check_account(key, account, properties)?;
    }
    Ok(account)
}

pub(super) fn check_account(
    key: &str,
    account: &str,
    properties: &Properties,
) -> Result<(), PropertyError> {
    match account.parse::<u32>() {
        // Systems take the last number for "leave it as it is".
        Ok(u32::MAX) => return Err(not_a_number_of(key, &account, properties)),
        Ok(_) => return Ok(()),
        Err(_) => {}
    }
    let kind = match key {
        "owner" | "user" => Account::User,
        _ => Account::Group,
    };
    valid(key, check_name(kind, account), properties)
}

/// Takes an absolute path as it is in the list of users, where it may also be empty. It does not lead out of the folder
/// that it begins with.
pub(super) fn take_place(
    key: &str,
    properties: &mut Properties,
) -> Result<Option<String>, PropertyError> {
    let place = properties.take_text(key)?;
    if let Some(place) = place.as_ref().filter(|place| !place.is_empty()) {
        check_absolute(key, &format!("`{key}`"), place, properties)?;
    }
    Ok(place)
}

/// Takes an absolute path.
pub(super) fn take_path(
    key: &str,
    properties: &mut Properties,
) -> Result<Option<String>, PropertyError> {
    let path = properties.take_text(key)?;
    if let Some(path) = &path {
        check_path(key, &format!("`{key}`"), path, properties)?;
    }
    Ok(path)
}

/// Takes the command of a resource, and how it runs.
pub(super) fn take_required_command(properties: &mut Properties) -> Result<Command, PropertyError> {
    let Some(mut command) = take_command("command", properties)? else {
        return Err(properties.invalid("command", "the property `command` is missing"));
    };
    let variables = properties.take_text_mapping("environment")?;
    for (name, value) in variables.unwrap_or_default() {
        if let Err(error) = VariableName::parse(&name) {
            return Err(properties.invalid("environment", error.to_string()));
        }
        check_no_nul("environment", &value, properties)?;
        command = command.variable(name, value);
    }
    if let Some(folder) = take_path("folder", properties)? {
        command = command.folder(folder);
    }
    if let Some(user) = take_account("user", properties)? {
        command = command.user(user);
    }
    if let Some(group) = take_account("group", properties)? {
        command = command.group(group);
    }
    if let Some(text) = properties.take_text("timeout")? {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let seconds: Option<u64> = text.parse().ok().filter(|_| is_number);
        let Some(seconds) = seconds.filter(|seconds| *seconds > 0) else {
            let text = Escaped::shortened(&text);
            let message =
                format!("`timeout` must be a whole number of seconds, at least 1, not `{text}`");
            return Err(properties.invalid("timeout", message));
        };
        command = command.timeout(Duration::from_secs(seconds));
    }
    Ok(command)
}

/// Takes `output`: the type of what a command sends.
pub(super) fn take_output(properties: &mut Properties) -> Result<Option<ValueType>, PropertyError> {
    let Some(name) = properties.take_text("output")? else {
        return Ok(None);
    };
    let output = ValueType::parse(&name);
    output.map(Some).ok_or_else(|| {
        let name = Escaped::shortened(&name);
        let message =
            format!("`output` must be `text`, `integer`, `boolean` or `list`, not `{name}`");
        properties.invalid("output", message)
    })
}

/// Takes a command: a list of its program and arguments. No shell reads it.
pub(super) fn take_command(
    key: &str,
    properties: &mut Properties,
) -> Result<Option<Command>, PropertyError> {
    let Some(words) = properties.take_texts(key)? else {
        return Ok(None);
    };
    for word in &words {
        check_no_nul(key, word, properties)?;
    }
    let mut words = words.into_iter();
    let Some(program) = words.next().filter(|program| !program.is_empty()) else {
        return Err(properties.invalid(key, format!("`{key}` names no program")));
    };
    if words.len() == 0 && program.contains(' ') {
        let message =
            format!("`{key}` is a list of a program and its arguments, not a text for a shell");
        let error = properties.invalid(key, message);
        return Err(error.hint("write it as in `[systemctl, reload, web]`"));
    }
    Ok(Some(Command::new(program).arguments(words)))
}

/// Checks that the name of a resource is a path. Only a directory can be at `/`.
pub(super) fn require_path(
    kind: &str,
    name: &str,
    properties: &Properties,
) -> Result<(), PropertyError> {
    check_path(kind, &format!("the name of a {kind}"), name, properties)?;
    if name == "/" && kind != "directory" {
        let message = format!("a {kind} cannot be at `/`");
        return Err(properties.invalid(kind, message));
    }
    Ok(())
}

/// Checks that a path is absolute, and has no `..`.
fn check_absolute(
    key: &str,
    what: &str,
    path: &str,
    properties: &Properties,
) -> Result<(), PropertyError> {
    let shown = Escaped::shortened(path);
    if !path.starts_with('/') {
        let message = format!("{what} must be an absolute path, not `{shown}`");
        return Err(properties.invalid(key, message));
    }
    if path.split('/').any(|part| part == "..") {
        let message = format!("{what} must be a path without `..`, not `{shown}`");
        return Err(properties.invalid(key, message));
    }
    Ok(())
}

/// Checks that a path is absolute, and the only way to write it: resources find each other by their paths.
fn check_path(
    key: &str,
    what: &str,
    path: &str,
    properties: &Properties,
) -> Result<(), PropertyError> {
    let shown = Escaped::shortened(path);
    check_no_nul(key, path, properties)?;
    check_absolute(key, what, path, properties)?;
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let plain: String = parts.map(|part| format!("/{part}")).collect();
    let plain = if plain.is_empty() { "/" } else { &plain };
    if plain != path {
        let message = format!("{what} is not written plainly: `{shown}`");
        let hint = format!("write it as `{}`", Escaped::shortened(plain));
        return Err(properties.invalid(key, message).hint(hint));
    }
    Ok(())
}

/// Checks that a text is one that the system takes, as a path, a word of a command or a variable: they end at a NUL.
fn check_no_nul(key: &str, text: &str, properties: &Properties) -> Result<(), PropertyError> {
    if text.contains('\0') {
        let text = Escaped::shortened(text);
        let message = format!("`{key}` has the character NUL: `{text}`");
        return Err(properties.invalid(key, message));
    }
    Ok(())
}

/// Takes `state`, and returns whether the resource must be absent. It can then have no other properties.
pub(super) fn takes_absence(
    kind: &str,
    properties: &mut Properties,
) -> Result<bool, PropertyErrors> {
    match properties.take_text("state")?.as_deref() {
        None | Some("present") => Ok(false),
        Some("absent") => {
            reject_of_present(kind, properties)?;
            Ok(true)
        }
        Some(other) => {
            let other = Escaped::shortened(other);
            let message = format!("`state` must be `present` or `absent`, not `{other}`");
            Err(properties.invalid("state", message).into())
        }
    }
}

/// Takes `state` of a folder, and sets whether it must be absent.
pub(super) fn takes_directory_absence(
    directory: &mut Directory,
    properties: &mut Properties,
) -> Result<bool, PropertyErrors> {
    let present = directory.clone();
    *directory = match properties.take_text("state")?.as_deref() {
        None | Some("present") => return Ok(false),
        Some("absent") => present.absent(),
        Some("absent-if-empty") => present.absent_if_empty(),
        Some(other) => {
            let other = Escaped::shortened(other);
            let message =
                format!("`state` must be `present`, `absent` or `absent-if-empty`, not `{other}`");
            return Err(properties.invalid("state", message).into());
        }
    };
    reject_of_present("directory", properties)?;
    Ok(true)
}

/// Rejects what can only be said about something that exists.
fn reject_of_present(kind: &str, properties: &mut Properties) -> Result<(), PropertyError> {
    let mut known = PRESENT_PROPERTIES.into_iter();
    let said = known.find(|key| properties.keys().any(|said| said == *key));
    let Some(key) = said else {
        return Ok(());
    };
    properties.take(key);
    let message = format!("`{key}` has no meaning for a {kind} that must be absent");
    Err(properties.invalid(key, message))
}

/// The properties of what exists.
const PRESENT_PROPERTIES: [&str; 16] = [
    "comment",
    "content",
    "copy_of",
    "group",
    "groups",
    "only_groups",
    "home",
    "mode",
    "number",
    "owner",
    "parents",
    "shell",
    "source",
    "system",
    "target",
    "version",
];

/// Takes `mode`: three or four octal digits.
pub(super) fn take_mode(properties: &mut Properties) -> Result<Option<u32>, PropertyError> {
    let Some(text) = properties.take_text("mode")? else {
        return Ok(None);
    };
    let mode = u32::from_str_radix(&text, 8).ok();
    let is_octal = (3..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let mode = mode.filter(|_| is_octal);
    mode.map(Some).ok_or_else(|| {
        let text = Escaped::shortened(&text);
        let message = format!("`mode` must be three or four octal digits, not `{text}`");
        properties
            .invalid("mode", message)
            .hint("write it as in 0644")
    })
}
