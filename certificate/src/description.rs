//! Writes the description of a certificate: its claim, and the meaning of each variable.

use pkgres_manifest::{ClassName, PackageName, Version};
use serde_json::Value;

use crate::claim::Claim;
use crate::formula::{Formula, Meaning, write_number};

/// The description as JSON, with one line for each variable.
pub(crate) fn write(claim: &Claim, formula: &Formula) -> String {
    let mut text = format!(
        "{{\"schema_version\": 1,\n\"claim\": {},\n\"variables\": [",
        claim.to_json()
    );
    for (number, meaning) in (1..).zip(formula.meanings()) {
        if number > 1 {
            text.push(',');
        }
        text.push('\n');
        write_variable(number, meaning, &mut text);
    }
    text.push_str("\n]}\n");
    text
}

/// Appends a variable. This is most of the text, so it is written without values in between.
fn write_variable(number: usize, meaning: &Meaning, text: &mut String) {
    let mut write = |means: &str, fields: &[(&str, Field<'_>)]| {
        text.push_str("{\"variable\":\"x");
        write_number(number, text);
        text.push_str("\",\"means\":");
        write_text(means, text);
        for (name, field) in fields {
            text.push(',');
            write_text(name, text);
            text.push(':');
            field.write(text);
        }
        text.push('}');
    };
    match meaning {
        Meaning::Release(package, version) => {
            write("release", &[("release", Field::Release(package, version))]);
        }
        Meaning::Absent(package) => write("absent", &[("package", Field::Package(package))]),
        Meaning::Binding { owner, target } => write(
            "binding",
            &[
                ("owner", Field::Release(&owner.name, &owner.version)),
                ("release", Field::Release(&target.name, &target.version)),
            ],
        ),
        Meaning::Unbound { owner, package } => write(
            "unbound",
            &[
                ("owner", Field::Release(&owner.name, &owner.version)),
                ("package", Field::Package(package)),
            ],
        ),
        Meaning::ObjectBinding { object, target } => write(
            "object binding",
            &[
                ("object", Field::Text(object)),
                ("release", Field::Release(&target.name, &target.version)),
            ],
        ),
        Meaning::ObjectUnbound { object } => {
            write("object unbound", &[("object", Field::Text(object))]);
        }
        Meaning::Finds { owner, class } => write(
            "finds",
            &[
                ("owner", Field::Release(&owner.name, &owner.version)),
                ("class", Field::ClassOf(class)),
            ],
        ),
        Meaning::IsOf { object, class } => write(
            "is of",
            &[
                ("object", Field::Text(object)),
                ("class", Field::ClassOf(class)),
            ],
        ),
        Meaning::Leads { object, class, to } => write(
            "leads",
            &[
                ("object", Field::Text(object)),
                ("class", Field::ClassOf(class)),
                ("to", Field::ClassOf(to)),
            ],
        ),
        Meaning::Extends { class, parent } => write(
            "extends",
            &[
                ("class", Field::Class(class)),
                ("parent", Field::Class(parent)),
            ],
        ),
        Meaning::Inherits { class, ancestor } => write(
            "inherits",
            &[
                ("class", Field::Class(class)),
                ("ancestor", Field::Class(ancestor)),
            ],
        ),
    }
}

/// One field of the meaning of a variable.
enum Field<'meaning> {
    Text(&'meaning str),
    Package(&'meaning PackageName),
    Release(&'meaning PackageName, &'meaning Version),
    /// A class, and where it is defined.
    Class(&'meaning (ClassName, PackageName, Option<Version>)),
    /// A class of a release.
    ClassOf(&'meaning (ClassName, PackageName, Version)),
}

impl Field<'_> {
    fn write(&self, text: &mut String) {
        match self {
            Self::Text(written) => write_text(written, text),
            Self::Package(package) => write_text(package.as_str(), text),
            Self::Release(package, version) => {
                text.push_str("{\"package\":");
                write_text(package.as_str(), text);
                text.push_str(",\"version\":");
                write_text(&version.to_string(), text);
                text.push('}');
            }
            Self::Class((class, package, version)) => {
                write_class(class, package, version.as_ref(), text);
            }
            Self::ClassOf((class, package, version)) => {
                write_class(class, package, Some(version), text);
            }
        }
    }
}

/// Appends a class, and where it is defined.
fn write_class(
    class: &ClassName,
    package: &PackageName,
    version: Option<&Version>,
    text: &mut String,
) {
    text.push_str("{\"class\":");
    write_text(class.as_str(), text);
    text.push_str(",\"package\":");
    write_text(package.as_str(), text);
    if let Some(version) = version {
        text.push_str(",\"version\":");
        write_text(&version.to_string(), text);
    }
    text.push('}');
}

/// Appends a string as JSON.
fn write_text(written: &str, text: &mut String) {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
    if written.bytes().all(is_plain) {
        text.push('"');
        text.push_str(written);
        text.push('"');
    } else {
        text.push_str(&Value::from(written).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_one_line_of_json() {
        let package = PackageName::native("acme.db").expect("a name");
        let class = |version| {
            (
                ClassName::native("acme.Db").expect("a name"),
                package.clone(),
                version,
            )
        };
        let inherits = Meaning::Inherits {
            class: class(None),
            ancestor: class(Some(Version::new(1, 2, 3))),
        };
        let mut text = String::new();
        write_variable(7, &inherits, &mut text);
        assert_eq!(
            text,
            r#"{"variable":"x7","means":"inherits","class":{"class":"acme.Db","package":"acme.db"},"ancestor":{"class":"acme.Db","package":"acme.db","version":"1.2.3"}}"#
        );
    }

    #[test]
    fn every_text_is_valid_json() {
        for written in ["urn:a/b", r#"a"b\c"#, "tab\t", "é"] {
            let mut text = String::new();
            write_text(written, &mut text);
            let read: Value = serde_json::from_str(&text).expect("it is JSON");
            assert_eq!(read, Value::from(written));
        }
    }
}
