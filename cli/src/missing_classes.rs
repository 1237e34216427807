//! What to do about classes that a package names, but does not get: their file is not listed, or their package not
//! required.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{ClassName, Package, PackageName, PackagePath, yaml_word};
use pkgres_registry_client::PackageFolder;

use crate::context::Context;

/// The most missing classes of a package whose package the registries are searched for.
const MAX_SEARCHED: usize = 20;

/// The hint about a file in the folder of classes that defines a class, and that the manifest does not list.
pub(crate) fn unlisted_file_hint(class: &ClassName, file: &PackagePath) -> String {
    let entry = yaml_word(file.as_str());
    format!(
        "`Classes/{file}` defines it, but the manifest does not list it: add `{class}: {entry}` to `Classes`"
    )
}

/// Adds to findings about missing classes where these are. `folder` is that of the package, if it is one; `defining`
/// returns the packages that define a class.
pub(crate) fn locate_missing_classes(
    findings: &mut [Diagnostic],
    package: &Package,
    folder: Option<&Path>,
    context: &Context,
    defining: impl Fn(&ClassName) -> Vec<PackageName>,
) {
    let is_missing =
        |finding: &Diagnostic| matches!(finding.code, Code::ClassUnavailable | Code::UndefinedUse);
    let mut missing = findings.iter_mut().filter(|it| is_missing(it)).peekable();
    if missing.peek().is_none() {
        return;
    }
    let options = &context.read_options;
    let files = folder.and_then(|folder| PackageFolder::open(folder, options).ok());
    let named = named_classes(package);
    let mut known: BTreeMap<&ClassName, Option<String>> = BTreeMap::new();
    for finding in missing {
        let place = finding.labels.first().map(|label| &label.location);
        let class = place.and_then(|place| {
            let classes = named.get(place.source().name())?;
            classes.get(&place.span().start)
        });
        let Some(class) = class.copied() else {
            continue;
        };
        let is_searched = known.len() < MAX_SEARCHED;
        let hint = known.entry(class).or_insert_with(|| {
            let file = files
                .as_ref()
                .and_then(|files| files.unlisted_class_file(package, class, options));
            match file {
                Some(file) => Some(unlisted_file_hint(class, &file)),
                None if is_searched => not_required(package, folder, defining(class), context),
                None => None,
            }
        });
        if let Some(hint) = hint {
            // A class of a similar name was not meant.
            finding.hints = vec![hint.clone()];
        }
    }
}

/// The classes that a package names, by the names of files and the places in them.
fn named_classes(package: &Package) -> HashMap<&str, HashMap<usize, &ClassName>> {
    let mut named: HashMap<&str, HashMap<usize, &ClassName>> = HashMap::new();
    let classes = package.classes.iter().flat_map(BTreeMap::values);
    for class in classes.flat_map(|class| class.extends.iter().chain(&class.uses)) {
        let file = named.entry(class.location.source().name()).or_default();
        let place = class.location.span().start;
        file.entry(place).or_insert(&class.value);
    }
    named
}

/// The hint about a package that defines a class, and that the manifest does not require.
fn not_required(
    package: &Package,
    folder: Option<&Path>,
    defining: Vec<PackageName>,
    context: &Context,
) -> Option<String> {
    let stated = &package.manifest.requirements;
    let is_required = |name: &PackageName| {
        let is_core = context.core() == Some(name);
        is_core
            || stated
                .iter()
                .any(|requirement| requirement.package == *name)
    };
    // Another version of a required package has the class.
    if defining.iter().any(is_required) {
        return None;
    }
    let other = defining.into_iter().find(|name| name != package.name())?;
    let name = package.name();
    Some(match folder {
        Some(folder) => {
            let command = (context.invocation).command_for(&format!("add {other}"), folder);
            format!("{other} defines it, and {name} does not require it: `{command}`")
        }
        None => format!("{other} defines it, and {name} does not require it"),
    })
}
