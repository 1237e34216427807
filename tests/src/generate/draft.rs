//! A universe under construction, with the random choices that all generators share.

use pkgres_manifest::{IndexRecord, Version};

use crate::build::{Build, class, package, release, spec};
use crate::random::Random;
use crate::universe::Universe;

/// Names that differ in one letter, so that each is a plausible typing error for another.
const NAMES: [&str; 10] = ["PA", "PB", "PC", "PD", "PE", "PF", "PG", "PH", "PK", "PM"];

/// A universe under construction. Packages are named by text.
pub(super) struct Draft {
    /// The generator of all random choices.
    pub(super) random: Random,
    /// The root.
    pub(super) root: IndexRecord,
    /// The other releases.
    pub(super) records: Vec<IndexRecord>,
    /// The core library.
    pub(super) core: Option<String>,
    names: Vec<&'static str>,
}

impl Draft {
    /// A universe with a root only. Names are dealt at random, so that the order of names does not
    /// follow the order of requirements.
    pub(super) fn new(mut random: Random) -> Self {
        let mut names = NAMES.to_vec();
        random.shuffle(&mut names);
        let root = names.pop().expect("there are ten names");
        Self {
            random,
            root: release(root, "1.0.0"),
            records: Vec::new(),
            core: None,
            names,
        }
    }

    /// A copy of a universe, to change. It must not use the names that are dealt here.
    pub(super) fn of(mut random: Random, universe: &Universe) -> Self {
        let mut names = NAMES.to_vec();
        random.shuffle(&mut names);
        Self {
            random,
            root: universe.root.clone(),
            records: universe.records.clone(),
            core: universe.core.as_ref().map(ToString::to_string),
            names,
        }
    }

    /// A name that no package has yet.
    pub(super) fn name(&mut self) -> String {
        self.names
            .pop()
            .expect("no universe has ten packages")
            .to_owned()
    }

    /// Whether a name is left to deal.
    pub(super) fn has_a_name(&self) -> bool {
        !self.names.is_empty()
    }

    /// Ascending versions of a package.
    pub(super) fn versions(&mut self, least: usize, most: usize) -> Vec<String> {
        let count = self.random.between(least, most);
        let (mut major, mut minor, mut patch) = (
            [0, 1, 1, 1][self.random.below(4)],
            self.random.below(3),
            self.random.below(2),
        );
        (0..count)
            .map(|_| {
                let version = format!("{major}.{minor}.{patch}");
                (major, minor, patch) = match self.random.weighted(&[35, 45, 20]) {
                    0 => (major + 1, 0, 0),
                    1 => (major, minor + 1, 0),
                    _ => (major, minor, patch + 1),
                };
                version
            })
            .collect()
    }

    /// A spec that at least one of the versions matches.
    pub(super) fn spec(&mut self, versions: &[String]) -> String {
        let target = self.random.pick(versions).clone();
        let components: Vec<&str> = target.split(['.', '-']).collect();
        let (major, minor) = (components[0], components[1]);
        match self.random.weighted(&[16, 14, 14, 16, 8, 6, 16, 6, 4]) {
            0 => major.to_owned(),
            1 => format!("{major}.{minor}"),
            2 => target,
            3 => format!(">={target}"),
            4 => format!("<={target}"),
            5 if versions.len() > 1 => {
                let other = versions.iter().find(|other| **other != target);
                format!("!={}", other.expect("versions differ"))
            }
            6 => "*".to_owned(),
            7 => format!("^{target}"),
            _ => format!("~{target}"),
        }
    }

    /// A spec that most versions match.
    pub(super) fn loose_spec(&mut self, versions: &[String]) -> String {
        if self.random.chance(75) {
            "*".to_owned()
        } else {
            self.spec(versions)
        }
    }

    /// The packages except the root, in the order in which they were added.
    pub(super) fn packages(&self) -> Vec<String> {
        let mut packages: Vec<String> = Vec::new();
        for record in &self.records {
            if !packages.iter().any(|known| known == record.name.as_str()) {
                packages.push(record.name.to_string());
            }
        }
        packages
    }

    /// The versions of a package in ascending order, without build metadata, as specs name them.
    pub(super) fn versions_of(&self, name: &str) -> Vec<String> {
        let mut versions: Vec<&Version> = self
            .positions(name)
            .map(|position| &self.records[position].version)
            .collect();
        versions.sort();
        let named = versions.into_iter().map(Version::without_build);
        named.map(|version| version.to_string()).collect()
    }

    /// The positions of a package's records.
    pub(super) fn positions(&self, name: &str) -> impl Iterator<Item = usize> {
        self.records
            .iter()
            .enumerate()
            .filter(move |(_, record)| record.name.as_str() == name)
            .map(|(position, _)| position)
    }

    /// The position of a package's newest record.
    pub(super) fn newest(&self, name: &str) -> usize {
        self.positions(name)
            .max_by(|one, two| self.records[*one].version.cmp(&self.records[*two].version))
            .expect("the package has records")
    }

    /// Adds a core library with a root class, and in some universes a second class.
    pub(super) fn add_core(&mut self, versions: &[&str]) {
        let core = self.name();
        let has_application = self.random.chance(60);
        for version in versions {
            let mut record = release(&core, version).defines(&format!("{core}.Object"), &[]);
            if has_application {
                record = record.defines(&format!("{core}.Application"), &[]);
            }
            self.records.push(record);
        }
        self.core = Some(core);
    }

    /// Adds the core library of most universes, which hardly ever causes a conflict.
    pub(super) fn add_quiet_core(&mut self) {
        let versions: &[&str] = if self.random.chance(50) {
            &["0.5.0"]
        } else {
            &["0.5.0", "0.6.0"]
        };
        self.add_core(versions);
    }

    /// Makes the root require a package.
    pub(super) fn root_requires(&mut self, name: &str, spec: &str) {
        self.root = self.root.clone().requires(name, spec);
    }

    /// Defines a class of the root.
    pub(super) fn root_defines(&mut self, class: &str, extends: &[&str]) {
        self.root = self.root.clone().defines(class, extends);
    }

    /// The universe, and the generator for further choices.
    pub(super) fn finish(mut self) -> (Random, Universe) {
        // The order of records has no meaning; shuffling them finds code that relies on it.
        self.random.shuffle(&mut self.records);
        let mut universe = Universe::new(self.root, self.records);
        universe.core = self.core.as_deref().map(package);
        (self.random, universe)
    }
}

/// Whether a release requires a package.
pub(super) fn requires(record: &IndexRecord, name: &str) -> bool {
    record
        .requirements
        .iter()
        .any(|requirement| requirement.package.as_str() == name)
}

/// Changes the spec of a requirement.
pub(super) fn change_spec(record: &mut IndexRecord, position: usize, text: &str) {
    record.requirements[position].spec = spec(text);
}

/// Removes a class from a release. Returns whether it was there.
pub(super) fn drop_class(record: &mut IndexRecord, name: &str) -> bool {
    let name = class(name);
    let Some(classes) = &mut record.classes else {
        return false;
    };
    let before = classes.len();
    classes.change(|all| all.retain(|other| other.name != name));
    classes.len() < before
}
