//! Packages of one registry that another one hides.

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{ClassName, IndexRecord, Limits, PackageName, RegistryName};
use pkgres_registry_client::{
    MemoryRegistry, PackageDescription, Registry, RegistryError, RegistrySet,
};

fn memory(name: &str, lines: &[&str]) -> MemoryRegistry {
    let mut registry = MemoryRegistry::new(RegistryName::parse(name).expect("a name"));
    for line in lines {
        let record = IndexRecord::parse_line(line, &Limits::default());
        registry.add_record(record.expect("a record"));
    }
    registry
}

/// A registry that knows a title of each of its packages.
struct Titled(MemoryRegistry);

impl Registry for Titled {
    fn name(&self) -> &RegistryName {
        self.0.name()
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        self.0.records(names)
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        self.0.defining(class)
    }

    fn known_packages(&self) -> Vec<PackageName> {
        self.0.known_packages()
    }

    fn description(
        &self,
        package: &PackageName,
    ) -> Result<Option<PackageDescription>, RegistryError> {
        let description = PackageDescription {
            title: format!("{package} of {}", self.name()),
            ..PackageDescription::default()
        };
        Ok(Some(description))
    }
}

#[test]
fn packages_that_another_registry_hides_do_not_count() {
    let own = memory("own", &[r#"{"name":"a.Web","version":"1.0.0"}"#]);
    let public = memory(
        "public",
        &[
            r#"{"name":"a.Web","version":"9.0.0","require":{"a.Db":"1"},"classes":{"a.Evil":{}}}"#,
            r#"{"name":"b.Web","version":"1.0.0","require":{"a.Db":"1"},"classes":{"b.Evil":{}}}"#,
        ],
    );
    let set = RegistrySet::new(vec![Box::new(own), Box::new(Titled(public))]);
    let package = |text: &str| PackageName::parse(text).expect("a name");
    let names = |names: Vec<PackageName>| -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    };
    let requiring = set.requiring(&package("a.Db")).expect("memory can be read");
    assert_eq!(
        requiring.map(names).as_deref(),
        Some(&["b.Web".to_owned()][..])
    );
    let found = set
        .search(&["evil".to_owned()], 10)
        .expect("memory can be read");
    let found = found.into_iter().map(|found| found.name).collect();
    assert_eq!(names(found), ["b.Web"]);
    let title = |name: &str| {
        let description = set.description(&package(name)).expect("memory can be read");
        description.map(|it| it.title)
    };
    assert_eq!(title("a.Web"), None);
    assert_eq!(title("b.Web").as_deref(), Some("b.Web of public"));
    assert_eq!(title("c.Web"), None);
}

/// A registry whose answer about a package, or about any, is an error.
struct Faulty {
    registry: MemoryRegistry,
    code: Code,
    package: Option<PackageName>,
}

impl Registry for Faulty {
    fn name(&self) -> &RegistryName {
        self.registry.name()
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        let is_faulty = |package: &PackageName| names.contains(package);
        if self.package.as_ref().is_none_or(is_faulty) {
            return Err(Diagnostic::error(self.code, "it is not right").into());
        }
        self.registry.records(names)
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        self.registry.defining(class)
    }

    fn known_packages(&self) -> Vec<PackageName> {
        self.registry.known_packages()
    }
}

#[test]
fn a_package_with_a_release_twice_hides_only_itself_and_a_failing_registry_is_an_error() {
    let package = |text: &str| PackageName::parse(text).expect("a name");
    let class = ClassName::parse("c.Class").expect("a name");
    let set = |code, faulty: Option<PackageName>| {
        let first = Faulty {
            registry: memory("first", &[r#"{"name":"a.Web","version":"1.0.0"}"#]),
            code,
            package: faulty,
        };
        let line = |name: &str| {
            format!(r#"{{"name":"{name}","version":"1.0.0","classes":{{"c.Class":{{}}}}}}"#)
        };
        let lines = ["a.Web", "b.Web"].map(line);
        let second = memory("second", &[&lines[0], &lines[1]]);
        RegistrySet::new(vec![Box::new(first), Box::new(second)])
    };
    let twice = set(Code::DuplicateRelease, Some(package("a.Web")));
    let found = twice.defining(&class).expect("the other package is known");
    assert_eq!(found, [package("b.Web")]);
    let offline = set(Code::Offline, None).defining(&class);
    assert!(
        matches!(&offline, Err(RegistryError::Invalid(finding)) if finding.code == Code::Offline),
        "{offline:?}"
    );
}
