//! Finds properties that a class inherits from unrelated classes.
//!
//! If several classes declare a property and none of them inherits another, the deployment engine does not know which
//! declaration decides, and loads no object of the class (`AmbiguousPropertyNameError`). A declaration in the class
//! itself decides.

use std::collections::{BTreeMap, HashMap, HashSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{ClassDefinition, ClassName};

/// The most classes of a package that a class can inherit. Classes with more are not checked: nobody writes them, and
/// sets of so many classes fit in one number.
const MAX_INHERITED: usize = u64::BITS as usize;

/// The most properties and parents of inherited classes that are looked at in a package, so that the work stays in
/// proportion to it if many classes extend the same large ones. Later classes are not checked.
const MAX_VISITS: usize = 1_000_000;

/// Reports the properties that classes inherit from several classes of the package of which none inherits another.
pub(crate) fn check(
    classes: &BTreeMap<ClassName, ClassDefinition>,
    findings: &mut Vec<Diagnostic>,
) {
    let mut visits_left = MAX_VISITS;
    for class in classes.values().filter(|class| class.extends.len() > 1) {
        if let Some(inherited) = inherited(classes, class, &mut visits_left) {
            check_class(class, &inherited, findings);
        }
    }
}

fn check_class(
    class: &ClassDefinition,
    inherited: &[&ClassDefinition],
    findings: &mut Vec<Diagnostic>,
) {
    let own: HashSet<&str> = (class.properties.iter())
        .map(|property| property.name.value.as_str())
        .collect();
    let ancestors = ancestors(inherited);
    let mut names = Vec::new();
    // A bit for each class that declares the property.
    let mut declaring: HashMap<&str, u64> = HashMap::new();
    for (at, parent) in inherited.iter().enumerate() {
        for property in &parent.properties {
            let name = property.name.value.as_str();
            let declaring = declaring.entry(name).or_default();
            if *declaring == 0 {
                names.push(name);
            }
            *declaring |= 1 << at;
        }
    }
    let in_set = |set: u64| (0..inherited.len()).filter(move |at| set & (1 << at) != 0);
    for name in names {
        let declaring = declaring[name];
        if declaring.count_ones() < 2 || own.contains(name) {
            continue;
        }
        let overridden = in_set(declaring).fold(0, |set, at| set | ancestors[at]);
        let mut nearest = in_set(declaring & !overridden).map(|at| &inherited[at].name.value);
        let (Some(first), Some(second)) = (nearest.next(), nearest.next()) else {
            continue;
        };
        let name = Escaped::shortened(name);
        let message = format!(
            "`{}` inherits the property `{name}` from `{first}` and from `{second}`: the engine \
             loads none of its objects",
            class.name.value
        );
        let finding = Diagnostic::warning(Code::Extends, message);
        let finding = finding.at(class.name.location.clone());
        findings.push(finding.hint(format!("declare `{name}` in `{}`, too", class.name.value)));
    }
}

/// The classes of the package that a class inherits, nearest first; `None` if these are more than [`MAX_INHERITED`], or
/// too many visits.
fn inherited<'a>(
    classes: &'a BTreeMap<ClassName, ClassDefinition>,
    class: &'a ClassDefinition,
    visits_left: &mut usize,
) -> Option<Vec<&'a ClassDefinition>> {
    let mut found = vec![class];
    let mut next = 0;
    while let Some(class) = found.get(next).copied() {
        next += 1;
        let visits = class.properties.len() + class.extends.len();
        *visits_left = visits_left.checked_sub(visits)?;
        for parent in &class.extends {
            let parent = classes.get(&parent.value);
            let parent =
                parent.filter(|parent| found.iter().all(|it| it.name.value != parent.name.value));
            found.extend(parent);
            if found.len() > MAX_INHERITED + 1 {
                return None;
            }
        }
    }
    found.remove(0);
    Some(found)
}

/// For each of some classes, the set of those among them that it inherits, with a bit for each position.
fn ancestors(classes: &[&ClassDefinition]) -> Vec<u64> {
    let positions: HashMap<&ClassName, usize> = (classes.iter().enumerate())
        .map(|(at, class)| (&class.name.value, at))
        .collect();
    let parents: Vec<Vec<usize>> = (classes.iter())
        .map(|class| {
            let parents = class.extends.iter();
            parents
                .filter_map(|parent| positions.get(&parent.value).copied())
                .collect()
        })
        .collect();
    let mut ancestors = vec![0_u64; classes.len()];
    // The farthest first, so that one pass is enough if no class is reached on ways of several lengths.
    loop {
        let before = ancestors.clone();
        for at in (0..classes.len()).rev() {
            for parent in &parents[at] {
                ancestors[at] |= 1 << parent | ancestors[*parent];
            }
        }
        if ancestors == before {
            return ancestors;
        }
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{Package, PackageManifest, ReadOptions};

    use super::*;

    /// The name, the parents and the properties of a class.
    type Written = (&'static str, &'static str, &'static str);

    /// The messages about classes.
    fn messages(classes: &[Written]) -> Vec<String> {
        let mut manifest = "FullName: a\nType: Library\nClasses:\n".to_owned();
        let mut file = String::new();
        for (name, parents, properties) in classes {
            manifest.push_str(&format!("  a.{name}: C.yaml\n"));
            file.push_str(&format!(
                "---\nName: a.{name}\nExtends: [{parents}]\nProperties:\n"
            ));
            for property in properties.split_whitespace() {
                file.push_str(&format!("  {property}: {{Contract: $}}\n"));
            }
        }
        let options = ReadOptions::with_core(None);
        let (manifest, _) = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options)
            .into_result()
            .expect("the manifest is valid");
        let package = Package::assemble(manifest, &options, |_| Some(file.clone().into_bytes()));
        let (package, _) = package.into_result().expect("the classes are right");
        let mut findings = Vec::new();
        check(
            package.classes.as_ref().expect("they are known"),
            &mut findings,
        );
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn the_nearest_declarations_of_a_property_have_to_be_one() {
        let both = [
            "`a.X` inherits the property `v` from `a.P` and from `a.Q`: the engine loads none of its objects",
        ];
        let cases: &[(&[Written], &[&str])] = &[
            (
                &[("X", "a.P, a.Q", ""), ("P", "", "v w"), ("Q", "", "v u")],
                &both,
            ),
            // The class itself decides.
            (
                &[("X", "a.P, a.Q", "v"), ("P", "", "v"), ("Q", "", "v")],
                &[],
            ),
            // P inherits Q.
            (
                &[("X", "a.P, a.Q", ""), ("P", "a.Q", "v"), ("Q", "", "v")],
                &[],
            ),
            (
                &[
                    ("X", "a.Q, a.P", ""),
                    ("P", "a.M", "v"),
                    ("M", "a.Q", ""),
                    ("Q", "", "v"),
                ],
                &[],
            ),
            // Both inherit the only declaration.
            (
                &[
                    ("X", "a.P, a.Q", ""),
                    ("P", "a.R", ""),
                    ("Q", "a.R", ""),
                    ("R", "", "v"),
                ],
                &[],
            ),
            // Farther away.
            (
                &[
                    ("X", "a.M, a.N", ""),
                    ("M", "a.P", ""),
                    ("N", "a.Q", ""),
                    ("P", "", "v"),
                    ("Q", "", "v"),
                ],
                &both,
            ),
        ];
        for (classes, expected) in cases {
            assert_eq!(messages(classes), *expected, "{classes:?}");
        }
    }
}
