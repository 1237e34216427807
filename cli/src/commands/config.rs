//! `pkgres config`

use serde_json::{Value, json};

use crate::args::{ConfigArgs, ConfigCommand};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Output;
use crate::settings::{Effective, Kind, Origin};

pub(super) fn run(args: &ConfigArgs, context: &Context, output: &mut Output) -> Exit {
    let ConfigCommand::List { show_origin, .. } = args.command;
    let settings = &context.settings;
    if output.is_json() {
        let values: Vec<Value> = settings.values.iter().map(to_json).collect();
        output.json(&json!({"schema_version": 1, "settings": values}));
        return Exit::Done;
    }
    for effective in &settings.values {
        let value = value(effective);
        let key = effective.declared.key;
        let line = match &effective.origin {
            origin if show_origin => format!("{key} = {value} ({origin})\n"),
            _ => format!("{key} = {value}\n"),
        };
        output.data(&line);
    }
    for (key, table) in &settings.project.table {
        if let toml::Value::Table(table) = table {
            for (name, value) in table {
                let origin = Origin::File(settings.project.path.clone());
                let value = without_credentials(&value.to_string());
                output.data(&if show_origin {
                    format!("{key}.\"{name}\" = {value} ({origin})\n")
                } else {
                    format!("{key}.\"{name}\" = {value}\n")
                });
            }
        }
    }
    Exit::Done
}

/// A value as a settings file has it.
fn value(effective: &Effective) -> String {
    let text = without_credentials(&effective.value);
    match (effective.declared.kind, &effective.origin) {
        (_, Origin::Flag(_)) => "set on the command line".to_owned(),
        // A default can be a description instead of a value.
        (Kind::Flag | Kind::Number, _) | (Kind::List, Origin::Default) => text,
        (Kind::List, _) => {
            let items: Vec<String> = text
                .split(',')
                .map(|item| format!("{:?}", item.trim()))
                .collect();
            format!("[{}]", items.join(", "))
        }
        (_, Origin::Default) if effective.declared.key == "cache" => text,
        _ => format!("{text:?}"),
    }
}

fn to_json(effective: &Effective) -> Value {
    let origin = match &effective.origin {
        Origin::Flag(_) => "flag",
        Origin::Variable(_) => "variable",
        Origin::File(_) => "file",
        Origin::Default => "default",
    };
    json!({
        "key": effective.declared.key,
        "value": without_credentials(&effective.value),
        "origin": origin,
        "from": effective.origin.to_string(),
    })
}

/// A text without the user names and passwords of the addresses in it.
fn without_credentials(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        result.push_str(before);
        let end = after
            .find(['/', '?', '#', ',', ' ', '"'])
            .unwrap_or(after.len());
        rest = match after[..end].rfind('@') {
            Some(sign) => {
                result.push_str("***");
                &after[sign..]
            }
            None => after,
        };
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn credentials_are_not_shown() {
        for (text, shown) in [
            ("https://me:secret@host/x", "https://***@host/x"),
            ("a=https://token@host,dir:x@y", "a=https://***@host,dir:x@y"),
            ("https://host/a@b", "https://host/a@b"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_credentials(text), shown);
        }
    }
}
