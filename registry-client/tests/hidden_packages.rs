//! Packages of one registry that another one hides.

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
