//! Each lint on packages: a case in which it speaks, and one in which it has no reason to.

mod loading;

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_checks::{
    BoundPackage, BoundPackages, Defines, RequiredPackages, check_member_uses, check_package,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Severity};
use pkgres_manifest::{
    ClassName, Package, PackageManifest, PackageName, ReadOptions, Spec, Version,
};

/// Packages and the classes that all their versions define.
struct Known(BTreeMap<&'static str, Vec<&'static str>>);

impl RequiredPackages for Known {
    fn defines(&self, package: &PackageName, _: &Spec, class: &ClassName) -> Defines {
        match self.0.get(package.as_str()) {
            None => Defines::Unknown,
            Some(classes) if classes.contains(&class.as_str()) => Defines::Yes,
            Some(_) => Defines::No,
        }
    }

    fn classes(&self, package: &PackageName) -> Vec<ClassName> {
        let classes = self.0.get(package.as_str()).into_iter().flatten();
        classes
            .map(|class| ClassName::parse(class).expect("a class name"))
            .collect()
    }

    fn newest(&self, package: &PackageName) -> Option<Version> {
        let is_known = self.0.contains_key(package.as_str());
        is_known.then_some(Version::new(1, 2, 0))
    }
}

const HEAD: &str = "Format: MuranoPL/1.4\nType: Library\nFullName: acme.App\nVersion: 1.0.0\n";
const CORE: &str = "Require:\n  io.murano: '0'\n";
const NAMESPACES: &str = "Namespaces:\n  =: acme\n  db: acme.db\n  std: io.murano\n";

/// The package of a manifest and the only class file.
fn read(manifest: &str, class_file: &str) -> Package {
    let options = ReadOptions::default();
    let (manifest, _) = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options)
        .into_result()
        .expect("the manifest is valid");
    let package = Package::assemble(manifest, &options, |path| {
        (path.as_str() == "Classes/App.yaml").then(|| class_file.as_bytes().to_vec())
    });
    let (package, _) = package.into_result().expect("the package is valid");
    package
}

/// The codes that are found, with the lines that they are found in.
fn findings(manifest: &str, class_file: &str) -> Vec<(Code, Severity, usize)> {
    let known = Known(BTreeMap::from([
        ("io.murano", vec!["io.murano.Object"]),
        ("acme.Db", vec!["acme.db.Table"]),
        ("acme.Files", vec![]),
    ]));
    let core = PackageName::default_core_library();
    let package = read(manifest, class_file);
    check_package(&package, Some(&core), &known)
        .into_iter()
        .map(|finding| {
            let label = finding.labels.first().expect("each has a place");
            let line = label.location.position().line;
            (finding.code, finding.severity, line)
        })
        .collect()
}

/// The findings about a class file of an otherwise correct package.
fn in_class(body: &str) -> Vec<(Code, Severity, usize)> {
    let manifest = format!("{HEAD}{CORE}  acme.Db: '1'\nClasses:\n  acme.App: App.yaml\n");
    let class_file = format!("{NAMESPACES}Name: App\n{body}");
    let mut found = findings(&manifest, &class_file);
    // Not every body names a class of it.
    found.retain(|(code, ..)| *code != Code::UnusedRequirement);
    found
}

/// The findings about a manifest without classes.
fn in_manifest(rest: &str) -> Vec<(Code, Severity, usize)> {
    let mut found = findings(&format!("{HEAD}{rest}"), "");
    found.retain(|(code, ..)| *code != Code::UnusedRequirement);
    found
}

const WARNING: Severity = Severity::Warning;
const ERROR: Severity = Severity::Error;

#[test]
fn a_newer_core_library_that_is_not_accepted() {
    // Its newest version is 1.2.0, and without a requirement only 0.x is accepted.
    assert_eq!(in_manifest(""), [(Code::CoreUnpinned, WARNING, 3)]);
    assert_eq!(in_manifest(CORE), []);
    let package = read(HEAD, "");
    let unknown = Known(BTreeMap::new());
    let core = PackageName::default_core_library();
    assert_eq!(check_package(&package, Some(&core), &unknown), []);
}

#[test]
fn a_spec_that_nothing_matches() {
    let with = |spec: &str| in_manifest(&format!("{CORE}  acme.Db: '{spec}'\n"));
    assert_eq!(with(">=2,<1"), [(Code::EmptySpec, WARNING, 7)]);
    assert_eq!(with(">=1,<2"), []);
}

#[test]
fn a_key_that_means_nothing() {
    let manifest = |key: &str| in_manifest(&format!("{CORE}{key}: x\n"));
    assert_eq!(manifest("Clases"), [(Code::UnknownKey, WARNING, 7)]);
    assert_eq!(manifest("Description"), []);
    assert_eq!(
        in_class("Propreties: {}\n"),
        [(Code::UnknownKey, WARNING, 6)]
    );
    assert_eq!(in_class("Properties: {}\n"), []);
}

#[test]
fn a_format_whose_classes_are_not_read() {
    let manifest = |format: &str| {
        let head = HEAD.replace("MuranoPL/1.4", format);
        findings(&format!("{head}{CORE}"), "")
    };
    assert_eq!(
        manifest("Cloudify.TOSCA/1.0"),
        [(Code::ClassesNotRead, WARNING, 3)]
    );
    assert_eq!(manifest("1.0"), []);
}

#[test]
fn a_requirement_that_is_not_used() {
    let manifest = format!("{HEAD}{CORE}  acme.Db: '1'\nClasses:\n  acme.App: App.yaml\n");
    let class_file = |parent: &str| format!("{NAMESPACES}Name: App\nExtends: {parent}\n");
    assert_eq!(
        findings(&manifest, &class_file("std:Object")),
        [(Code::UnusedRequirement, WARNING, 7)]
    );
    assert_eq!(findings(&manifest, &class_file("db:Table")), []);
    // A package without classes is required for something else.
    let manifest = manifest.replace("acme.Db", "acme.Files");
    assert_eq!(findings(&manifest, &class_file("std:Object")), []);
}

#[test]
fn a_class_that_is_listed_and_not_defined() {
    let manifest = format!("{HEAD}{CORE}Classes:\n  acme.App: App.yaml\n");
    let class_file = |name: &str| format!("{NAMESPACES}Name: {name}\n");
    assert_eq!(
        findings(&manifest, &class_file("Ap")),
        [(Code::ClassNotDefined, ERROR, 8)]
    );
    assert_eq!(findings(&manifest, &class_file("App")), []);
}

/// The hint names a class of the file that is listed, not of one whose name ends alike.
#[test]
fn a_file_defines_another_class() {
    let text = format!(
        "{HEAD}{CORE}Classes:\n  acme.App: App.yaml\n  acme.Mine: MyApp.yaml\n  acme.Deep: Classes/App.yaml\n"
    );
    let options = ReadOptions::default();
    for name in ["manifest.yaml", "some/folder/manifest.yaml"] {
        let manifest = PackageManifest::read(name, text.as_bytes(), &options);
        let (manifest, _) = manifest.into_result().expect("the manifest is valid");
        let package = Package::assemble(manifest, &options, |path| {
            let class = match path.as_str() {
                "Classes/App.yaml" => "Ap",
                "Classes/MyApp.yaml" => "Mine",
                _ => "Deep",
            };
            Some(format!("{NAMESPACES}Name: {class}\n").into_bytes())
        });
        let (package, _) = package.into_result().expect("the package is valid");
        let core = PackageName::default_core_library();
        let findings = check_package(&package, Some(&core), &Known(BTreeMap::new()));
        let is_not_defined = |finding: &&Diagnostic| finding.code == Code::ClassNotDefined;
        let finding = findings.iter().find(is_not_defined).expect("one is not");
        assert_eq!(finding.hints, ["the file defines `acme.Ap`"]);
    }
}

/// Names are compared only so often: all of them with all others would take minutes. Whichever way the
/// classes are spread over files, each is reported as not defined.
#[test]
fn many_undefined_classes_are_reported_quickly() {
    const CLASSES: usize = 800;
    let long = "x".repeat(150);
    for files in [1, 2, CLASSES] {
        let mut manifest = format!("{HEAD}{CORE}Classes:\n");
        for number in 0..CLASSES {
            let file = number % files;
            manifest.push_str(&format!("  acme.{long}Gone{number}: {file}.yaml\n"));
        }
        let options = ReadOptions::default();
        let manifest = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options);
        let (manifest, _) = manifest.into_result().expect("the manifest is valid");
        let package = Package::assemble(manifest, &options, |path| {
            let file = path.as_str().strip_prefix("Classes/")?;
            let file: usize = file.strip_suffix(".yaml")?.parse().ok()?;
            let classes = (file..CLASSES).step_by(files);
            let classes =
                classes.map(|number| format!("{NAMESPACES}Name: {long}Come{number}\n---\n"));
            Some(classes.collect::<String>().into_bytes())
        });
        let (package, _) = package.into_result().expect("the package is valid");
        let core = PackageName::default_core_library();
        let findings = check_package(&package, Some(&core), &Known(BTreeMap::new()));
        let is_not_defined = |finding: &&Diagnostic| finding.code == Code::ClassNotDefined;
        let findings: Vec<&Diagnostic> = findings.iter().filter(is_not_defined).collect();
        assert_eq!(findings.len(), CLASSES);
        assert!(!findings[0].hints.is_empty(), "{files}");
    }
}

#[test]
fn a_parent_or_use_that_no_package_defines() {
    assert_eq!(
        in_class("Extends: db:Tabel\n"),
        [(Code::ClassUnavailable, ERROR, 6)]
    );
    assert_eq!(in_class("Extends: db:Table\n"), []);
    let used = |class: &str| {
        in_class(&format!(
            "Properties:\n  data:\n    Contract: $.class({class})\n"
        ))
    };
    assert_eq!(used("db:Tabel"), [(Code::UndefinedUse, WARNING, 8)]);
    assert_eq!(used("db:Table"), []);
}

#[test]
fn classes_of_unknown_packages_are_not_missing() {
    let manifest = |spec: &str| {
        format!("{HEAD}{CORE}  acme.Other: '{spec}'\nClasses:\n  acme.App: App.yaml\n")
    };
    let class_file = format!("{NAMESPACES}Name: App\nExtends: db:Tabel\n");
    assert_eq!(findings(&manifest("1"), &class_file), []);
    // None of its versions is taken, whatever they define.
    assert_eq!(
        findings(&manifest(">=2,<1"), &class_file),
        [
            (Code::ClassUnavailable, ERROR, 6),
            (Code::EmptySpec, WARNING, 7),
        ]
    );
}

#[test]
fn an_unknown_usage_of_a_property() {
    let with = |usage: &str| {
        in_class(&format!(
            "Properties:\n  size:\n    Usage: {usage}\n    Contract: $.int()\n"
        ))
    };
    for usage in [
        "In", "Out", "InOut", "Const", "Static", "Runtime", "Config", "", "~",
    ] {
        assert_eq!(with(usage), [], "{usage}");
    }
    for usage in ["Inn", "in", "Public"] {
        assert_eq!(with(usage), [(Code::PropertyUsage, ERROR, 8)], "{usage}");
    }
}

#[test]
fn a_function_that_contracts_do_not_have() {
    let with =
        |contract: &str| in_class(&format!("Properties:\n  size:\n    Contract: {contract}\n"));
    assert_eq!(with("$.integer()"), [(Code::Contract, WARNING, 8)]);
    assert_eq!(with("[$.strng()]"), [(Code::Contract, WARNING, 8)]);
    assert_eq!(with("$.int().check($ > 0)"), []);
    assert_eq!(with("[$.string()]"), []);
}

/// Murano's engine reads these otherwise than they look.
#[test]
fn a_contract_that_the_engine_reads_otherwise() {
    let with =
        |contract: &str| in_class(&format!("Properties:\n  size:\n    Contract: {contract}\n"));
    for contract in [
        "\"$.int()\"",
        "'$.class(db:Table)'",
        "|\n      $.int()",
        ">-\n      $.int()",
        "[$.int(), '$']",
        "[\"$.int()\"]",
        "{'$.string()': $}",
        "$.class(acme.db.Table)",
        "[$.class(acme.db.Table).notNull()]",
        "$.template(db:Table, acme.db.Table)",
        "$.template(db:Table).owned()",
        "$.template(db:Table).notNull().notOwned()",
        "[1]",
        "[0, 2]",
        "{k: [1]}",
        "$.strng()",
    ] {
        assert_eq!(with(contract), [(Code::Contract, WARNING, 8)], "{contract}");
        let argument = format!(
            "Methods:\n  run:\n    Arguments:\n      - size:\n          Contract: {}\n",
            contract.replace("\n ", "\n       ")
        );
        let found = in_class(&argument);
        assert_eq!(found, [(Code::Contract, WARNING, 10)], "{argument}");
    }
    for contract in [
        "$.class('acme.db.Table')",
        "$.class(db:Table, null, '1.0')",
        "$.class(db:Table).owned()",
        "$.template(db:Table, excludeProperties => ['a.b'])",
        "!yaql \"$.int()\"",
        "$.string().check(matches($, '^a$'))",
        "'server'",
        "[0]",
        "[$, 1]",
    ] {
        assert_eq!(with(contract), [], "{contract}");
    }
}

#[test]
fn an_object_of_a_class_whose_name_is_not_in_quotes() {
    let with = |class: &str| {
        in_class(&format!(
            "Methods:\n  run:\n    Body:\n      - $x: new({class}, a => 1)\n"
        ))
    };
    assert_eq!(with("acme.db.Table"), [(Code::ClassFile, WARNING, 9)]);
    for class in ["'acme.db.Table'", "db:Table", "Table", "$class"] {
        let found = with(class);
        let is_unquoted = |(code, ..): &(Code, Severity, usize)| *code == Code::ClassFile;
        assert!(!found.iter().any(is_unquoted), "{class}: {found:?}");
    }
}

/// The findings about the members that a class of a package without requirements uses.
fn members_in_class(body: &str) -> Vec<(Code, Severity, String)> {
    let manifest = format!("{HEAD}Classes:\n  acme.App: App.yaml\n");
    let class_file = format!("{NAMESPACES}Name: App\n{body}");
    let package = read(&manifest, &class_file);
    let release = package.release();
    let bound = BoundPackage {
        package: Some(Arc::new(package)),
        requires: Vec::new(),
    };
    let packages = BoundPackages {
        root_class: Some(PackageName::default_core_library().root_class()),
        releases: BTreeMap::from([(release.clone(), bound)]),
    };
    check_member_uses(&packages, &release)
        .into_iter()
        .map(|finding| (finding.code, finding.severity, finding.message))
        .collect()
}

#[test]
fn a_template_that_excludes_a_property_that_there_is_not() {
    let with = |excluded: &str| {
        members_in_class(&format!(
            "Properties:\n  host:\n    Contract: $.template(App, excludeProperties => [{excluded}])\n"
        ))
    };
    assert_eq!(with("host"), []);
    assert_eq!(with("'host.name'"), []);
    let message = "the template excludes `hots`, but `acme.App` has no property of this name";
    assert_eq!(
        with("hots"),
        [(Code::MemberUnavailable, WARNING, message.to_owned())]
    );
}

#[test]
fn a_property_of_two_unrelated_parents() {
    let with = |own: &str, of_q: &str| {
        in_class(&format!(
            "Extends: [P, Q]\n{own}---\nName: P\nExtends: R\nProperties: {{v: {{Contract: $}}}}\n---\n\
             Name: Q\n{of_q}---\nName: R\nProperties: {{v: {{Contract: $}}}}\n"
        ))
    };
    let declared = "Properties: {v: {Contract: $}}\n";
    assert_eq!(with("", declared), [(Code::Extends, WARNING, 5)]);
    assert_eq!(with(declared, declared), []);
    assert_eq!(with("", "Extends: R\n"), []);
    assert_eq!(with("", ""), []);
}

#[test]
fn a_default_that_the_contract_rejects() {
    let with = |contract: &str, default: &str| {
        in_class(&format!(
            "Properties:\n  size:\n    Contract: {contract}\n    Default: {default}\n"
        ))
    };
    for (contract, default) in [
        ("$.int()", "abc"),
        ("$.int().notNull()", "null"),
        ("$.string()", "[a]"),
        ("[$.int(), 2]", "[1]"),
        ("{a: $.int().notNull()}", "{}"),
    ] {
        let found = with(contract, default);
        assert_eq!(found, [(Code::Contract, WARNING, 8)], "{contract}");
    }
    for (contract, default) in [
        ("$.int()", "'5'"),
        ("$.int()", "len(abc)"),
        ("$.int()", "$.other"),
        ("$.string().notNull()", "''"),
        ("$.class(std:Object)", "null"),
        ("$.class(std:Object)", "{a: 1}"),
        ("$.template(std:Object, excludeProperties => [a])", "{a: 1}"),
        ("[$.int()]", "[1, 2]"),
        ("$.check($ > 1)", "0"),
    ] {
        assert_eq!(with(contract, default), [], "{contract}");
    }
}

#[test]
fn classes_that_extend_each_other() {
    let manifest = format!("{HEAD}{CORE}Classes:\n  acme.App: App.yaml\n  acme.Two: App.yaml\n");
    let class_file = |parent: &str| {
        format!("{NAMESPACES}Name: App\nExtends: Two\n---\nName: Two\nExtends: {parent}\n")
    };
    assert_eq!(
        findings(&manifest, &class_file("App")),
        [(Code::ClassCycle, ERROR, 9)]
    );
    assert_eq!(findings(&manifest, &class_file("std:Object")), []);
}

#[test]
fn a_class_of_objects_that_extends_a_meta_class() {
    let manifest = format!("{HEAD}{CORE}Classes:\n  acme.App: App.yaml\n  acme.Two: App.yaml\n");
    let class_file = |usage: &str| {
        format!("{NAMESPACES}Name: App\nExtends: Two\n---\nName: Two\nUsage: {usage}\n")
    };
    assert_eq!(
        findings(&manifest, &class_file("Meta")),
        [(Code::Extends, ERROR, 6)]
    );
    assert_eq!(findings(&manifest, &class_file("Class")), []);
}

#[test]
fn the_root_class_of_another_package() {
    let manifest = |class: &str| format!("{HEAD}{CORE}Classes:\n  {class}: App.yaml\n");
    let class_file = |class: &str| format!("Name: {class}\n");
    assert_eq!(
        findings(
            &manifest("io.murano.Object"),
            &class_file("io.murano.Object")
        ),
        [(Code::ClassName, ERROR, 8)]
    );
    assert_eq!(
        findings(&manifest("acme.Object"), &class_file("acme.Object")),
        []
    );
}

/// Servers and editors check packages on several threads.
#[test]
fn values_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<pkgres_checks::Defines>();
    is_shared::<pkgres_checks::BoundPackage>();
    is_shared::<pkgres_checks::BoundPackages>();
    is_shared::<pkgres_checks::ModelReport>();
    is_shared::<pkgres_manifest::IndexReader>();
    is_shared::<pkgres_manifest::IndexRecord>();
    is_shared::<pkgres_manifest::Lockfile>();
    is_shared::<pkgres_manifest::ObjectModel>();
    is_shared::<pkgres_manifest::Package>();
    is_shared::<pkgres_manifest::Spec>();
    is_shared::<pkgres_manifest::diagnostic::Diagnostic>();
}

/// A package whose version 2.0.0 alone defines its class.
struct Later;

impl RequiredPackages for Later {
    fn defines(&self, package: &PackageName, spec: &Spec, _: &ClassName) -> Defines {
        let is_defined = package.as_str() == "acme.Db" && spec.matches(&Version::new(2, 0, 0));
        if is_defined {
            Defines::Yes
        } else {
            Defines::No
        }
    }

    fn classes(&self, _: &PackageName) -> Vec<ClassName> {
        vec![ClassName::parse("acme.db.Table").expect("a class name")]
    }

    fn newest(&self, _: &PackageName) -> Option<Version> {
        None
    }
}

#[test]
fn a_class_of_versions_that_are_not_allowed_is_no_misspelling() {
    let manifest = format!("{HEAD}Require:\n  acme.Db: '1'\nClasses:\n  acme.App: App.yaml\n");
    let package = read(
        &manifest,
        &format!("{NAMESPACES}Name: App\nExtends: db:Table\n"),
    );
    let findings = check_package(&package, None, &Later);
    let missing = findings.iter().find(|it| it.code == Code::ClassUnavailable);
    assert_eq!(
        missing.expect("it is missing").hints,
        ["other versions of `acme.Db` than `1` define it"]
    );
}

/// No package at all, although registries were asked.
struct Missing;

impl RequiredPackages for Missing {
    fn defines(&self, _: &PackageName, _: &Spec, _: &ClassName) -> Defines {
        Defines::Unknown
    }

    fn classes(&self, _: &PackageName) -> Vec<ClassName> {
        Vec::new()
    }

    fn newest(&self, _: &PackageName) -> Option<Version> {
        None
    }

    fn is_missing(&self, _: &PackageName, _: &Spec) -> bool {
        true
    }
}

/// What is only used excludes no version, so that the package may be of no interest here.
#[test]
fn a_missing_package_is_reported_if_a_class_may_extend_one_of_it() {
    let manifest = format!("{HEAD}Require:\n  acme.Db: '1'\nClasses:\n  acme.App: App.yaml\n");
    let found = |class: &str| {
        let package = read(&manifest, &format!("{NAMESPACES}Name: App\n{class}"));
        let findings = check_package(&package, None, &Missing).into_iter();
        findings.map(|it| it.message).collect::<Vec<_>>()
    };
    let expected = "no registry has a version of `acme.Db` that `1` allows, so what the classes extend was not checked";
    assert_eq!(found("Extends: db:Base\n"), [expected]);
    let used = "Properties:\n  table:\n    Contract: $.class(db:Table)\n";
    assert_eq!(found(used), [""; 0]);
}

/// A package whose version 1.1.0 lacks the class that 1.0.0 defines.
struct Gone;

impl RequiredPackages for Gone {
    fn defines(&self, _: &PackageName, spec: &Spec, class: &ClassName) -> Defines {
        let is_defined = class.as_str() == "acme.db.Base" || spec.matches(&Version::new(1, 0, 0));
        if is_defined {
            Defines::Yes
        } else {
            Defines::No
        }
    }

    fn classes(&self, _: &PackageName) -> Vec<ClassName> {
        Vec::new()
    }

    fn newest(&self, _: &PackageName) -> Option<Version> {
        Some(Version::new(1, 1, 0))
    }

    fn newest_matching(&self, _: &PackageName, spec: &Spec) -> Option<Version> {
        let versions = [Version::new(1, 1, 0), Version::new(1, 0, 0)];
        versions.into_iter().find(|version| spec.matches(version))
    }
}

#[test]
fn the_newest_allowed_version_has_the_classes_that_are_used() {
    let class_file = format!(
        "{NAMESPACES}Name: App\nExtends: db:Base\nProperties:\n  table:\n    Contract: $.class(db:Table)\n"
    );
    let found = |spec: &str| {
        let manifest =
            format!("{HEAD}Require:\n  acme.Db: '{spec}'\nClasses:\n  acme.App: App.yaml\n");
        check_package(&read(&manifest, &class_file), None, &Gone)
    };
    let findings = found("1");
    let [finding] = findings.as_slice() else {
        panic!("{findings:?}");
    };
    assert_eq!(finding.code, Code::RangeTooWide);
    assert_eq!(
        finding.message,
        "`acme.db.Table` is used, and 1.1.0, the newest version of `acme.Db` that `1` allows, does not define it"
    );
    assert!(found("1.0.0").is_empty());
}
