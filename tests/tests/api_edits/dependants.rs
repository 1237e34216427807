//! Random packages that depend on a release and are right with it.

use std::fmt::Write as _;
use std::sync::Arc;

use pkgres_checks::{BoundPackage, Defines, RequiredPackages, check_member_uses, check_package};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    Argument, ArgumentUsage, ClassDefinition, ClassName, ClassUsage, Contract, Package,
    PackageManifest, PackageName, ReadOptions, Release, Rule, Spec, Version,
};
use pkgres_tests::random::Random;

use crate::corpus::Bound;

/// The class files of as many random dependants, as one text.
pub(crate) fn random_dependants(old: &Bound, count: usize, random: &mut Random) -> String {
    let classes = old
        .package
        .classes
        .iter()
        .flat_map(|classes| classes.values());
    let exported: Vec<&ClassDefinition> = classes
        .filter(|class| old.package.exports(&class.name.value))
        .collect();
    let mut text = String::new();
    for number in 0..count {
        let class = *random.pick(&exported);
        let _ = write!(text, "---\nName: dependant.C{number}\n");
        if class.usage == ClassUsage::Meta {
            text.push_str("Usage: Meta\n");
        }
        let _ = write!(
            text,
            "Extends: {}\nMethods:\n  use:\n    Body:\n    - $x: 1\n",
            class.name.value
        );
        for method in class
            .methods
            .iter()
            .filter(|it| !it.name.value.starts_with('_'))
        {
            let name = match method.name.value.as_str() {
                ".init" => "initialize",
                ".destroy" => "destroy",
                name => name,
            };
            if random.chance(60) {
                let arguments = arguments(&method.arguments, random);
                let _ = writeln!(text, "    - $x: $this.{name}({arguments})");
            }
        }
        for property in class
            .properties
            .iter()
            .filter(|it| !it.name.value.starts_with('_'))
        {
            if random.chance(40) {
                let _ = writeln!(text, "    - $x: $this.{}", property.name.value);
            }
        }
        // What ancestors need is not known here.
        if class.extends.is_empty()
            && !class
                .methods
                .iter()
                .any(|it| it.name.value.contains("init"))
        {
            let mut values = String::new();
            for property in &class.properties {
                let is_input = ["In", "InOut", "Const"].contains(&property.usage.value.as_str());
                let may_be_absent = property.has_default
                    || matches!(&property.contract.value, Contract::Rules(rules) if !rules.contains(&Rule::NotNull));
                if is_input && (!may_be_absent || random.chance(30)) {
                    let _ = write!(values, ", {} => 1", property.name.value);
                }
            }
            let _ = writeln!(text, "    - $x: new({}{values})", class.name.value);
        }
    }
    text
}

/// The arguments of a random call that is right: some by position, the others that are needed by name.
fn arguments(arguments: &[Argument], random: &mut Random) -> String {
    let standard: Vec<&Argument> = arguments
        .iter()
        .filter(|it| it.usage == ArgumentUsage::Standard)
        .collect();
    let by_position = random.between(0, standard.len());
    let mut written: Vec<String> = (0..by_position).map(|_| "1".to_owned()).collect();
    for argument in &standard[by_position..] {
        if !argument.has_default || random.chance(50) {
            written.push(format!("{} => 1", argument.name.value));
        }
    }
    written.join(", ")
}

/// The errors of dependants with a release.
pub(crate) fn errors(class_file: &str, bound: &Bound) -> Vec<Diagnostic> {
    let options = ReadOptions::default();
    let count = class_file.matches("\nName: ").count();
    let mut manifest = format!(
        "Type: Library\nFullName: dependant\nVersion: 1.0.0\nRequire:\n  {}: '>=0.0.0-0'\nClasses:\n",
        bound.release.name
    );
    for number in 0..count {
        let _ = writeln!(manifest, "  dependant.C{number}: C.yaml");
    }
    let manifest = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options);
    let (manifest, _) = manifest.into_result().expect("the manifest is valid");
    let package = Package::assemble(manifest, &options, |_| Some(class_file.as_bytes().to_vec()));
    let (package, _) = package.into_result().expect("the classes are right");
    let package = Arc::new(package);
    let core = PackageName::default_core_library();
    let mut packages = bound.packages.clone();
    let of_core = packages
        .releases
        .keys()
        .filter(|Release { name, .. }| *name == core)
        .cloned();
    let requires = of_core.chain([bound.release.clone()]).collect();
    let release = package.release();
    let dependant = BoundPackage {
        package: Some(Arc::clone(&package)),
        requires,
    };
    packages.releases.insert(release.clone(), dependant);
    let mut found = check_package(&package, Some(&core), &Only(bound));
    found.extend(check_member_uses(&packages, &release));
    found.retain(Diagnostic::is_error);
    found
}

/// A registry with the one release.
struct Only<'bound>(&'bound Bound);

impl RequiredPackages for Only<'_> {
    fn defines(&self, package: &PackageName, _: &Spec, class: &ClassName) -> Defines {
        match (
            *package == self.0.release.name,
            self.0.package.exports(class),
        ) {
            (true, true) => Defines::Yes,
            _ => Defines::No,
        }
    }

    fn classes(&self, _: &PackageName) -> Vec<ClassName> {
        Vec::new()
    }

    fn newest(&self, _: &PackageName) -> Option<Version> {
        None
    }
}
