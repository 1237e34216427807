//! The description of a certificate: its claim and the meaning of each variable.

use pkgres_manifest::{ClassName, PackageName, Version};
use serde_json::{Value, json};

use crate::claim::Claim;
use crate::formula::{Formula, Meaning};

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
        text.push_str(&variable(number, meaning).to_string());
    }
    text.push_str("\n]}\n");
    text
}

fn variable(number: usize, meaning: &Meaning) -> Value {
    let name = format!("x{number}");
    match meaning {
        Meaning::Release(package, version) => {
            json!({"variable": name, "means": "release", "release": release(package, version)})
        }
        Meaning::Absent(package) => {
            json!({"variable": name, "means": "absent", "package": package.to_string()})
        }
        Meaning::Binding { owner, target } => json!({
            "variable": name,
            "means": "binding",
            "owner": release(&owner.0, &owner.1),
            "release": release(&target.0, &target.1),
        }),
        Meaning::Unbound { owner, package } => json!({
            "variable": name,
            "means": "unbound",
            "owner": release(&owner.0, &owner.1),
            "package": package.to_string(),
        }),
        Meaning::Extends { class, parent } => json!({
            "variable": name,
            "means": "extends",
            "class": defined(class),
            "parent": defined(parent),
        }),
        Meaning::Inherits { class, ancestor } => json!({
            "variable": name,
            "means": "inherits",
            "class": defined(class),
            "ancestor": defined(ancestor),
        }),
    }
}

fn release(package: &PackageName, version: &Version) -> Value {
    json!({"package": package.to_string(), "version": version.to_string()})
}

fn defined((class, package, version): &(ClassName, PackageName, Option<Version>)) -> Value {
    let mut defined = json!({"class": class.to_string(), "package": package.to_string()});
    if let Some(version) = version {
        defined["version"] = json!(version.to_string());
    }
    defined
}
