//! Builders of records, for programs that have releases in memory.

use jiff::Timestamp;

use super::{IndexRecord, IndexedClass};
use crate::digest::ArtifactDigest;
use crate::name::{ClassName, PackageName};
use crate::spec::Requirement;
use crate::spec::Spec;

/// Each method adds to what is there, so that a record is built in one expression.
///
/// ```
/// use pkgres_manifest::{ClassName, IndexRecord, IndexedClass, PackageName, Spec, Version};
///
/// let database = PackageName::parse("org.acme.Db")?;
/// let class = IndexedClass::new(ClassName::parse("org.acme.Web")?)
///     .extending(ClassName::parse("io.murano.Application")?);
/// let record = IndexRecord::new(PackageName::parse("org.acme.Web")?, Version::new(1, 2, 0))
///     .with_requirement(database, Spec::parse(">=1.2, <3")?)
///     .with_classes([class]);
/// assert_eq!(record.requirements.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl IndexRecord {
    /// Adds a requirement behind the others. A requirement of the same package is replaced where it is: a
    /// release requires a package once.
    #[must_use]
    pub fn with_requirement(mut self, package: PackageName, spec: Spec) -> Self {
        let new = Requirement {
            package,
            spec,
            location: None,
        };
        self.requirements.change(|requirements| {
            let mut same = requirements.iter_mut();
            match same.find(|requirement| requirement.package == new.package) {
                Some(same) => *same = new,
                None => requirements.push(new),
            }
        });
        self
    }

    /// Sets the classes. Without this call they are not known, and the release is taken to define every class
    /// that is needed; with an empty list it defines none. The first of several classes with one name counts.
    #[must_use]
    pub fn with_classes(mut self, classes: impl IntoIterator<Item = IndexedClass>) -> Self {
        let mut classes: Vec<IndexedClass> = classes.into_iter().collect();
        classes.sort_by(|one, two| one.name.cmp(&two.name));
        classes.dedup_by(|next, kept| next.name == kept.name);
        self.classes = Some(classes.into());
        self
    }

    /// Sets the interfaces that the release defines.
    #[must_use]
    pub fn with_interfaces(mut self, interfaces: impl IntoIterator<Item = ClassName>) -> Self {
        let mut interfaces: Vec<ClassName> = interfaces.into_iter().collect();
        interfaces.sort();
        interfaces.dedup();
        self.interfaces = interfaces.into();
        self
    }

    /// Sets the digest of the artifact.
    #[must_use]
    pub fn with_digest(mut self, digest: ArtifactDigest) -> Self {
        self.digest = Some(digest);
        self
    }

    /// Sets the time of publication.
    #[must_use]
    pub fn with_published(mut self, time: Timestamp) -> Self {
        self.published = Some(time.to_string());
        self
    }

    /// Marks the release as yanked: it is chosen only if it is locked, or requested exactly.
    #[must_use]
    pub fn yanked(mut self) -> Self {
        self.yanked = true;
        self
    }
}

impl IndexedClass {
    /// A class for other packages, which extends and uses nothing.
    pub fn new(name: ClassName) -> Self {
        Self {
            name,
            internal: false,
            extends: Vec::new(),
            implements: Vec::new(),
            uses: Vec::new(),
        }
    }

    /// Adds a class that this one extends.
    #[must_use]
    pub fn extending(mut self, parent: ClassName) -> Self {
        self.extends.push(parent);
        self
    }

    /// Adds an interface that this class implements.
    #[must_use]
    pub fn implementing(mut self, interface: ClassName) -> Self {
        self.implements.push(interface);
        self
    }

    /// Adds a class that this one uses without extending it.
    #[must_use]
    pub fn using(mut self, class: ClassName) -> Self {
        self.uses.push(class);
        self
    }

    /// Hides the class from other packages.
    #[must_use]
    pub fn internal(mut self) -> Self {
        self.internal = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    #[test]
    fn a_built_record_equals_the_record_of_a_line() {
        let class = |name: &str| ClassName::parse(name).expect("a name");
        let package = |name: &str| PackageName::parse(name).expect("a name");
        let spec = |text: &str| Spec::parse(text).expect("a spec");
        let built = IndexRecord::new(package("a.B"), Version::new(1, 2, 3))
            .with_requirement(package("a.D"), spec("2"))
            .with_requirement(package("a.C"), spec("1"))
            .with_requirement(package("a.D"), spec(">=3"))
            .with_classes([
                IndexedClass::new(class("a.Y")).using(class("a.D")),
                IndexedClass::new(class("a.X"))
                    .extending(class("a.C"))
                    .implementing(class("a.I")),
                IndexedClass::new(class("a.Z")).internal(),
                IndexedClass::new(class("a.X")),
            ])
            .with_interfaces([class("a.J"), class("a.I"), class("a.J")])
            .with_digest(ArtifactDigest::Archive([0xab; 32]))
            .with_published("2026-01-31T12:00:00Z".parse().expect("a time"))
            .yanked();
        let digest = "ab".repeat(32);
        let line = format!(
            r#"{{"name":"a.B","version":"1.2.3","require":[["a.D",">=3"],["a.C","1"]],"classes":{{"a.X":{{"extends":["a.C"],"implements":["a.I"]}},"a.Y":{{"uses":["a.D"]}}}},"internal":{{"a.Z":{{}}}},"interfaces":["a.I","a.J"],"sha256":"{digest}","yanked":true,"published":"2026-01-31T12:00:00Z"}}"#
        );
        assert_eq!(
            IndexRecord::parse_line(&line, &crate::Limits::default()).expect("a record"),
            built
        );
    }
}
