//! Short constructors for index records and solutions.

use std::collections::BTreeMap;

use pkgres_manifest::{
    ClassName, IndexRecord, IndexedClass, PackageName, Requirement, Shared, Spec, Version,
};

use crate::solution::Solution;

/// A package name; the text must be valid.
pub fn package(text: &str) -> PackageName {
    PackageName::parse(text).expect("the caller writes a valid package name")
}

/// A class name; the text must be valid.
pub fn class(text: &str) -> ClassName {
    ClassName::parse(text).expect("the caller writes a valid class name")
}

/// A version; the text must be valid.
pub fn version(text: &str) -> Version {
    Version::parse(text).expect("the caller writes a valid version")
}

/// A spec; the text must be valid.
pub fn spec(text: &str) -> Spec {
    Spec::parse(text).expect("the caller writes a valid spec")
}

/// A release without requirements and classes. The methods of [`Build`] add them.
pub fn release(name: &str, number: &str) -> IndexRecord {
    let mut record = IndexRecord::new(package(name), version(number));
    record.classes = Some(Shared::new());
    record
}

/// Methods that build an index record.
pub trait Build: Sized {
    /// Requires a package.
    #[must_use]
    fn requires(self, name: &str, spec: &str) -> Self;
    /// Defines a class that is visible to other packages.
    #[must_use]
    fn defines(self, name: &str, extends: &[&str]) -> Self;
    /// Defines a class that is visible only inside the release.
    #[must_use]
    fn hides(self, name: &str, extends: &[&str]) -> Self;
    /// Defines an interface.
    #[must_use]
    fn defines_interface(self, name: &str) -> Self;
    /// Makes a class implement an interface. The class is added if it is not there.
    #[must_use]
    fn implements(self, name: &str, interface: &str) -> Self;
    /// Makes the classes unknown.
    #[must_use]
    fn opaque(self) -> Self;
    /// Yanks the release.
    #[must_use]
    fn yanked(self) -> Self;
}

impl Build for IndexRecord {
    fn requires(mut self, name: &str, spec_text: &str) -> Self {
        let requirement = Requirement {
            package: package(name),
            spec: spec(spec_text),
            location: None,
        };
        self.requirements.change(|all| all.push(requirement));
        self
    }

    fn defines(mut self, name: &str, extends: &[&str]) -> Self {
        add_class(&mut self, name, extends, false);
        self
    }

    fn hides(mut self, name: &str, extends: &[&str]) -> Self {
        add_class(&mut self, name, extends, true);
        self
    }

    fn defines_interface(self, name: &str) -> Self {
        let interfaces: Vec<ClassName> = self.interfaces.iter().cloned().collect();
        self.with_interfaces(interfaces.into_iter().chain([class(name)]))
    }

    fn implements(mut self, name: &str, interface: &str) -> Self {
        let name = class(name);
        let is_there = self
            .classes
            .iter()
            .flatten()
            .any(|class| class.name == name);
        if !is_there {
            add_class(&mut self, name.as_str(), &[], false);
        }
        self.classes.get_or_insert_default().change(|all| {
            for class in all.iter_mut().filter(|class| class.name == name) {
                class.implements.push(self::class(interface));
            }
        });
        self
    }

    fn opaque(mut self) -> Self {
        self.classes = None;
        self
    }

    fn yanked(mut self) -> Self {
        self.yanked = true;
        self
    }
}

/// Adds a class to a release. Index records keep classes in the order of names.
fn add_class(record: &mut IndexRecord, name: &str, extends: &[&str], internal: bool) {
    let classes = record.classes.get_or_insert_default();
    let added = IndexedClass {
        name: class(name),
        internal,
        extends: extends.iter().map(|parent| class(parent)).collect(),
        implements: Vec::new(),
        uses: Vec::new(),
    };
    classes.change(|all| all.push(added));
    classes.sort_by(|one, two| one.name.cmp(&two.name));
}

/// A solution from lines `REQUIRER VERSION REQUIRED VERSION`.
pub fn solution(lines: &[&str]) -> Solution {
    let bindings: BTreeMap<_, _> = lines
        .iter()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [requirer, its_version, package_name, bound] = words[..] else {
                panic!("`{line}` does not have four words");
            };
            let key = (
                package(requirer),
                version(its_version),
                package(package_name),
            );
            (key, version(bound))
        })
        .collect();
    Solution::new(bindings)
}
