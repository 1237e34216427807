//! Writes witnesses: packages that show how a difference breaks a dependant.

use std::fmt::Write as _;
use std::sync::Arc;

use pkgres_manifest::{CallArguments, ClassName, ClassUsage, MANIFEST_FILE, PackageName};

use super::ApiDifference;

/// The name of every witness and of its class. Only one of them is in a folder of packages.
const WITNESS: &str = "pkgres.Witness";

/// A package that is right with the old version of another package and wrong with the new one.
///
/// Both `pkgres check --members` and [`check_member_uses`](crate::check_member_uses) find this out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Witness {
    /// A name for the folder of the package, which tells what it is about.
    pub folder: String,
    /// The files of the package: paths below its folder with `/`, and texts.
    pub files: Vec<(String, String)>,
}

/// How a dependant notices a difference.
#[derive(Debug, Clone)]
pub(super) enum WitnessUse {
    /// By a class of a usage that extends the class.
    Extends { usage: ClassUsage },
    /// By a class that the class describes, as a meta class.
    Describes,
    /// By a subclass that calls a method.
    Call {
        class: ClassName,
        usage: ClassUsage,
        method: String,
        arguments: CallArguments,
    },
    /// By a subclass that reads a property.
    Read {
        class: ClassName,
        usage: ClassUsage,
        property: String,
    },
    /// By a method that creates an object with values of properties.
    Creates {
        class: ClassName,
        values: Arc<[String]>,
    },
}

impl Witness {
    pub(super) fn new(
        difference: &ApiDifference,
        noticed: &WitnessUse,
        package: &PackageName,
    ) -> Self {
        let mut folder = format!("{}-{}", difference.rule, difference.class);
        for part in [&difference.member, &difference.argument]
            .into_iter()
            .flatten()
        {
            let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
            let plain: String = part.chars().filter(|&it| is_plain(it)).take(64).collect();
            let _ = write!(folder, "-{plain}");
        }
        Self {
            folder,
            files: vec![
                (MANIFEST_FILE.to_owned(), manifest(package)),
                (
                    "Classes/Witness.yaml".to_owned(),
                    class_file(difference, noticed),
                ),
            ],
        }
    }
}

/// A manifest that accepts every version of the package.
fn manifest(package: &PackageName) -> String {
    format!(
        "Format: MuranoPL/1.4\n\
         Type: Library\n\
         FullName: {WITNESS}\n\
         Version: 1.0.0\n\
         Require:\n  {package}: '>=0.0.0-0'\n\
         Classes:\n  {WITNESS}: Witness.yaml\n"
    )
}

fn class_file(difference: &ApiDifference, noticed: &WitnessUse) -> String {
    let mut text = format!("# {}\nName: {WITNESS}\n", difference.message);
    let extends = |class: &ClassName, usage: ClassUsage| {
        let usage = match usage {
            ClassUsage::Class => "",
            ClassUsage::Meta => "Usage: Meta\n",
        };
        format!("{usage}Extends: {class}\n")
    };
    let method = |arguments: &str, expression: &str| {
        let body = yaml_quoted(expression);
        format!("Methods:\n  witness:\n{arguments}    Body:\n    - $result: {body}\n")
    };
    let given = "    Arguments:\n    - value:\n        Contract: $\n";
    text.push_str(&match noticed {
        WitnessUse::Extends { usage } => extends(&difference.class, *usage),
        WitnessUse::Describes => format!("Meta:\n- {}\n", difference.class),
        WitnessUse::Call {
            class,
            usage,
            method: name,
            arguments,
        } => {
            let values = values(arguments);
            let given = if values.is_empty() { "" } else { given };
            extends(class, *usage) + &method(given, &format!("$this.{name}({values})"))
        }
        WitnessUse::Read {
            class,
            usage,
            property,
        } => extends(class, *usage) + &method("", &format!("$this.{property}")),
        WitnessUse::Creates { class, values } => {
            let values: String = values
                .iter()
                .map(|name| format!(", {name} => $value"))
                .collect();
            let given = if values.is_empty() { "" } else { given };
            method(given, &format!("new('{class}'{values})"))
        }
    });
    text
}

/// The arguments of a call, each with the same value.
fn values(arguments: &CallArguments) -> String {
    let by_position = (0..arguments.positional).map(|_| "$value".to_owned());
    let by_name = arguments.named.iter();
    let by_name = by_name.map(|name| format!("{name} => $value"));
    let all: Vec<String> = by_position.chain(by_name).collect();
    all.join(", ")
}

/// Text as a YAML scalar in single quotes.
fn yaml_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
