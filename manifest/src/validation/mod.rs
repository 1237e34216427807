//! Validations: the conditions that a machine image must meet, as validators that can test and establish them.
//!
//! A package names its validation file under `Validate`. The format is that of Sahara's image specs: a list of
//! validators that run in order, and the arguments that they take.
//!
//! ```yaml
//! arguments:
//!   java_distro:
//!     description: The distribution of Java to install.
//!     default: openjdk
//!     choices: [openjdk, zulu]
//! validators:
//!   - package: [wget, {ntp: {version: 4.2.8}}]
//!   - os_case:
//!       - debian:
//!           - package: ca-certificates
//!   - argument_case:
//!       argument_name: java_distro
//!       cases:
//!         openjdk:
//!           - any:
//!               - package: openjdk-17-jre-headless
//!               - package: openjdk-21-jre-headless
//!         zulu:
//!           - script:
//!               java/install_zulu:
//!                 env_vars: [java_distro]
//! ```
//!
//! Names and values are checked when they are read, so a name in a value of these types can be passed to a package
//! manager or as a variable to a process unchanged. Values are read as source text, so that `2.10` never becomes 2.1.

mod operating_system;
#[cfg(feature = "packages")]
mod reader;
mod value;

#[cfg(all(test, feature = "json"))]
pub(crate) use reader::{ARGUMENT_KEYS, KINDS, VALIDATION_KEYS};
pub use value::{
    ArgumentName, ArgumentValue, OsName, SystemPackageName, SystemPackageVersion,
    ValidationValueError, VariableName,
};

use std::sync::Arc;

#[cfg(feature = "packages")]
use crate::diagnostic::Parsed;
use crate::diagnostic::{Located, Location, SourceText};
use crate::document::Node;
#[cfg(feature = "packages")]
use crate::document::decode;
use crate::package_path::PackagePath;
#[cfg(feature = "packages")]
use crate::read_options::ReadOptions;

/// The argument that has the name of the target's operating system.
pub const DISTRO_ARGUMENT: &str = "distro";

/// The variable that tells scripts whether they may only test.
pub const TEST_ONLY_VARIABLE: &str = "test_only";

/// Names of values that the engine sets, so no argument can have them. The last two are older names.
pub const RESERVED_NAMES: [&str; 4] = [
    DISTRO_ARGUMENT,
    TEST_ONLY_VARIABLE,
    "SIV_DISTRO",
    "SIV_RECONCILE",
];

/// Variables that decide which programs run and what they load, so that no argument can set them.
const HELD_VARIABLES: [&str; 8] = [
    "BASH_ENV",
    "ENV",
    "HOME",
    "IFS",
    "LC_ALL",
    "PATH",
    "PERL5OPT",
    "PYTHONSTARTUP",
];

/// The beginnings of more such variables.
const HELD_PREFIXES: [&str; 2] = ["LD_", "DYLD_"];

/// Whether no argument may set a variable, as that would change how scripts run.
#[cfg(feature = "packages")]
fn is_held(variable: &VariableName) -> bool {
    let name = variable.as_str();
    HELD_VARIABLES.contains(&name) || HELD_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The folder of a package in which scripts are looked up that are not beside the validation file.
const SCRIPTS_FOLDER: &str = "Resources";

/// A validation file: validators in order, and their arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Validation {
    /// The text that the validation was read from.
    pub source: Arc<SourceText>,
    /// The arguments in order.
    pub arguments: Vec<ValidationArgument>,
    /// The validators in order.
    pub validators: Vec<Validator>,
}

/// An argument of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationArgument {
    /// The argument's name.
    pub name: Located<ArgumentName>,
    /// Its purpose.
    pub description: Option<String>,
    /// The value if no other is given. Every argument that is not required has one.
    pub default: Option<Located<ArgumentValue>>,
    /// Whether a value must be given. Without a default it must.
    pub is_required: bool,
    /// The values that are allowed; all if empty. The default is one of them.
    pub choices: Vec<Located<ArgumentValue>>,
    /// The variable that scripts get the value in; if absent, it has the name of the argument.
    pub target_variable: Option<Located<VariableName>>,
    /// The place of the key `hidden`, which has no meaning.
    pub hidden: Option<Location>,
}

/// A validator: one thing that a target must have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Validator {
    /// The place of the validator's kind.
    pub location: Location,
    /// The check that it makes.
    pub check: ValidatorCheck,
}

/// The check of a validator.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValidatorCheck {
    /// Packages of the operating system, which are installed together.
    Packages(Vec<PackagePin>),
    /// A script that succeeds.
    Script(Script),
    /// A file in `/tmp` of the target with the content of a script, which is not run.
    CopyScript(Script),
    /// At least one validator succeeds.
    Any(Vec<Validator>),
    /// All validators succeed, in order.
    All(Vec<Validator>),
    /// The validators of the first case that has the operating system, or its family, succeed.
    OsCase(Vec<OsCase>),
    /// The validators for the value of an argument succeed.
    ArgumentCase(ArgumentCase),
    /// An argument gets a value.
    ArgumentSet {
        /// The argument.
        argument: Located<ArgumentName>,
        /// Its new value.
        value: Located<ArgumentValue>,
    },
    /// A validator of the program that embeds the libraries.
    Custom {
        /// The validator's name.
        name: Located<String>,
        /// The part of the document that says what it validates.
        value: Node,
    },
}

/// A package of the operating system, and perhaps the one version that it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackagePin {
    /// The package's name.
    pub name: Located<SystemPackageName>,
    /// The version; any if absent.
    pub version: Option<Located<SystemPackageVersion>>,
}

/// A script of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Script {
    /// The script's file. If the script is [inline](Self::inline), its name in messages.
    pub path: Located<PackagePath>,
    /// The arguments whose values the script gets as variables.
    pub arguments: Vec<Located<ArgumentName>>,
    /// The argument that gets what the script prints.
    pub output: Option<Located<ArgumentName>>,
    /// The script's text, if it is in the validation file.
    pub inline: Option<Located<String>>,
}

/// The validators for an operating system or a family of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OsCase {
    /// The operating system or family.
    pub os: Located<OsName>,
    /// The validators in order.
    pub validators: Vec<Validator>,
}

/// Validators that depend on the value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentCase {
    /// The argument.
    pub argument: Located<ArgumentName>,
    /// The validators for each value.
    pub cases: Vec<(Located<ArgumentValue>, Vec<Validator>)>,
}

impl Validation {
    /// The argument of a name.
    pub fn argument(&self, name: &ArgumentName) -> Option<&ValidationArgument> {
        let mut arguments = self.arguments.iter();
        arguments.find(|argument| argument.name.value == *name)
    }

    /// Calls `visit` with every validator, each before those inside of it, in the order of the text.
    pub fn visit<'validation>(&'validation self, mut visit: impl FnMut(&'validation Validator)) {
        let mut rest: Vec<&Validator> = self.validators.iter().rev().collect();
        while let Some(validator) = rest.pop() {
            visit(validator);
            let inside = validator.check.branches();
            let mut inside: Vec<&Validator> = inside.into_iter().flatten().collect();
            inside.reverse();
            rest.append(&mut inside);
        }
    }
}

impl ValidationArgument {
    /// The variable that scripts get the value in. A `-` of the argument's name becomes `_`.
    pub fn variable(&self) -> VariableName {
        match &self.target_variable {
            Some(variable) => variable.value.clone(),
            None => self.name.value.as_variable(),
        }
    }
}

impl ValidatorCheck {
    /// The lists of validators inside of this one.
    pub fn branches(&self) -> Vec<&[Validator]> {
        match self {
            Self::Any(validators) | Self::All(validators) => vec![validators],
            Self::OsCase(cases) => cases.iter().map(|case| &*case.validators).collect(),
            Self::ArgumentCase(case) => case.cases.iter().map(|(_, inside)| &**inside).collect(),
            Self::Packages(_)
            | Self::Script(_)
            | Self::CopyScript(_)
            | Self::ArgumentSet { .. }
            | Self::Custom { .. } => Vec::new(),
        }
    }
}

impl Script {
    /// The paths at which a script of a package can be: beside the validation file, and in the folder `Resources`. The
    /// first one that exists counts.
    pub fn places(&self, validation_file: &PackagePath) -> Vec<PackagePath> {
        let path = &self.path.value;
        let beside = match validation_file.as_str().rsplit_once('/') {
            Some((folder, _)) => path.below(folder),
            None => Ok(path.clone()),
        };
        // One of them can be too long to be a path.
        let places = [beside, path.below(SCRIPTS_FOLDER)];
        places.into_iter().filter_map(Result::ok).collect()
    }

    /// The last part of the script's path, which is the name of the file that `copy_script` writes.
    pub fn file_name(&self) -> &str {
        let path = self.path.value.as_str();
        path.rsplit_once('/').map_or(path, |(_, name)| name)
    }
}

/// Reads a validation file. Messages call it `name`.
///
/// ```
/// use pkgres_manifest::{ReadOptions, ValidatorCheck, read_validation_file};
///
/// let text = b"validators:\n  - package: {ntp: {version: 4.10}}\n";
/// let (validation, _) = read_validation_file("validate.yaml", text, &ReadOptions::default())
///     .into_result()
///     .expect("the validation is valid");
/// let ValidatorCheck::Packages(packages) = &validation.validators[0].check else {
///     panic!("it is about packages");
/// };
/// let version = packages[0].version.as_ref().expect("it is pinned");
/// assert_eq!(version.value.as_str(), "4.10");
/// ```
#[cfg(feature = "packages")]
pub fn read_validation_file(name: &str, bytes: &[u8], options: &ReadOptions) -> Parsed<Validation> {
    let limit = options.limits.class_file_bytes;
    match decode(name, bytes, "bytes in a validation file", limit) {
        Ok(source) => reader::parse(&source, options),
        Err(error) => Parsed::failed(error),
    }
}
