//! Shapes of archives and packages.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_checks::{
    Baseline, BoundPackage, BoundPackages, Defines, Levels, Platform, RequiredPackages,
    check_package, conformance, conformance_findings, inherited_conformance,
};
use pkgres_manifest::diagnostic::{Diagnostic, capped};
use pkgres_manifest::{
    Archive, ClassName, Facts, Package, PackageManifest, PackageName, PackagePath, ReadOptions,
    Release, Spec, Version, class_cycles, write_archive,
};

use crate::Shape;
use crate::documents::{many, show};

const MIB: usize = 1 << 20;

/// A registry with one package that has a few classes.
struct Registry;

impl RequiredPackages for Registry {
    fn defines(&self, _: &PackageName, _: &Spec, class: &ClassName) -> Defines {
        if class.as_str().starts_with("io.murano.") {
            Defines::Yes
        } else {
            Defines::No
        }
    }

    fn classes(&self, _: &PackageName) -> Vec<ClassName> {
        let classes = [
            "io.murano.Object",
            "io.murano.Application",
            "io.murano.Other",
        ];
        classes
            .map(|name| ClassName::parse(name).expect("a name"))
            .into()
    }

    fn newest(&self, _: &PackageName) -> Option<Version> {
        Some(Version::new(1, 0, 0))
    }
}

/// Prints findings, which are limited for each file: a package can have many files.
pub(crate) fn print(findings: &[Diagnostic]) {
    for finding in findings {
        assert!(!finding.to_string().is_empty());
    }
}

/// Reads and checks an archive, and writes its index record.
fn archive(input: &[u8]) {
    let options = ReadOptions::default();
    let archive = match Archive::open("a.zip", input, &options.limits) {
        Ok(archive) => archive,
        Err(finding) => return show(&[finding]),
    };
    match Package::from_archive("a.zip", &archive, &options).into_result() {
        Ok((package, findings)) => {
            show(&findings);
            check(&package);
        }
        Err(findings) => show(&findings),
    }
}

fn check(package: &Package) {
    let core = PackageName::default_core_library();
    print(&capped(check_package(package, Some(&core), &Registry)));
    let record = package.index_record();
    assert!(!record.to_line().is_empty());
    assert!(package.classes_by_file().len() <= package.manifest.classes.len());
    for cycle in package.classes.iter().flat_map(class_cycles) {
        assert!(!cycle.classes.is_empty());
    }
}

/// A package that is bound to no other one.
pub(crate) fn alone(package: Package) -> (BoundPackages, Release) {
    let release = package.release();
    let mut packages = BoundPackages::default();
    let bound = BoundPackage {
        package: Some(Arc::new(package)),
        requires: Vec::new(),
    };
    packages.releases.insert(release.clone(), bound);
    (packages, release)
}

/// Compares the classes of a package with the interfaces that they implement.
pub(crate) fn check_conformance(package: Package) {
    let (packages, release) = alone(package);
    let mut classes = conformance(&packages, &release);
    classes.extend(inherited_conformance(&packages, &release));
    let platform = Platform {
        name: "a".to_owned(),
        facts: Facts::from_pairs([("os", "a")]),
    };
    let (levels, baseline) = (Levels::default(), Baseline::default());
    print(&conformance_findings(&classes, &[platform], &levels, &baseline).findings);
}

/// Reads and checks a package of text.
pub(crate) fn package(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    if let Some(package) = assemble(text) {
        check(&package);
        if !package.interfaces.is_empty() {
            check_conformance(package);
        }
    }
}

/// Reads a package of text: a manifest, a line `===`, the one class file that serves every path, and perhaps another such
/// line and the one interface.
pub(crate) fn assemble(text: &str) -> Option<Package> {
    let options = ReadOptions::default();
    let (manifest, class) = text.split_once("===\n").expect("two files");
    let (class, interface) = class.split_once("===\n").unwrap_or((class, ""));
    let manifest = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options);
    let manifest = match manifest.into_result() {
        Ok((manifest, _)) => manifest,
        Err(findings) => {
            print(&findings);
            return None;
        }
    };
    let read = Package::assemble(manifest, &options, |path| {
        if path.as_str().starts_with("Interfaces/") {
            return Some(interface.into());
        }
        let number: String = path.as_str().chars().filter(char::is_ascii_digit).collect();
        Some(class.replace('#', &number).into_bytes())
    });
    match read.into_result() {
        Ok((package, findings)) => {
            print(&findings);
            Some(package)
        }
        Err(findings) => {
            print(&findings);
            None
        }
    }
}

/// An archive of files with numbers in their paths.
fn files(size: usize, bytes_per_file: usize, path: fn(usize) -> String) -> Vec<u8> {
    // An entry has about so many bytes beside its path and content.
    let count = (size / (bytes_per_file + 130)).min(9_999);
    let files: BTreeMap<PackagePath, Vec<u8>> = (0..count)
        .map(|number| {
            let path = PackagePath::parse(&path(number)).expect("a path");
            (path, vec![b'x'; bytes_per_file])
        })
        .collect();
    let files = files
        .into_iter()
        .map(|(path, content)| (path, false, content));
    write_archive(files, &ReadOptions::default().limits).expect("an archive")
}

/// All shapes of packages.
pub(crate) fn shapes() -> Vec<Shape> {
    let shape = |name: &str, read: fn(&[u8]), make: Box<dyn Fn(usize) -> Vec<u8>>| Shape {
        name: name.to_owned(),
        make,
        read,
        limit: MIB,
    };
    let of_package = |name: &str, class: &'static str, entry: &'static str| {
        let make = move |size| {
            let begin = "FullName: a.B\nType: Library\nClasses:\n";
            let end = format!("===\n{class}");
            many(
                size,
                begin,
                |number| entry.replace('#', &number.to_string()),
                &end,
            )
        };
        shape(&format!("package: {name}"), package, Box::new(make))
    };
    let implementing = |size: usize| {
        // A manifest has at most 50,000 nodes.
        let (count, long) = (size / 200, "c".repeat(80));
        let mut text =
            "FullName: a.B\nType: Library\nInterfaces: {a.I: I.yaml}\nClasses:\n".to_owned();
        for number in 0..count {
            text.push_str(&format!("  a.C{long}{number}: C{number}.yaml\n"));
        }
        text.push_str("Implements:\n");
        for number in 0..count {
            text.push_str(&format!("  a.C{long}{number}: a.I\n"));
        }
        text.push_str(
            "===\n{Methods: {f0: {Arguments: [x: {}]}, f1: {}, hold: {}, other: {}}}\n\
             ===\nFunctions: {f0: {Arguments: [x: {}]}, f1: {Arguments: [y: {}]}, lock: {}, \
             f3: {Supported: {os: a}}, f4: {NotApplicable: {os: a}}}\n",
        );
        text.into_bytes()
    };
    vec![
        shape(
            "package: classes that implement an interface",
            package,
            Box::new(implementing),
        ),
        shape(
            "archive: empty files",
            archive,
            Box::new(|size| files(size, 0, |it| format!("f{it}"))),
        ),
        shape(
            "archive: small files",
            archive,
            Box::new(|size| files(size, 100, |it| format!("a/b/f{it}"))),
        ),
        shape(
            "archive: folders",
            archive,
            Box::new(|size| files(size, 0, |it| format!("d{it}/f"))),
        ),
        shape(
            "archive: deep folders",
            archive,
            Box::new(|size| {
                files(size, 0, |it| {
                    format!("d{}/{}f{it}", it / 50, "e/".repeat(it % 25))
                })
            }),
        ),
        shape(
            "archive: long names",
            archive,
            Box::new(|size| {
                files(size * 130 / 1_030, 0, |it| {
                    format!("{}{it}", "long/".repeat(20))
                })
            }),
        ),
        shape(
            "archive: names that differ in case",
            archive,
            Box::new(|size| files(size, 0, |it| format!("\u{e9}{it}"))),
        ),
        shape(
            "archive: bytes before the directory",
            archive,
            Box::new(|size| {
                let mut bytes = vec![b'P'; size];
                bytes.extend(files(1_000, 0, |it| format!("f{it}")));
                bytes
            }),
        ),
        shape(
            "archive: many ends",
            archive,
            Box::new(|size| b"PK\x05\x06".repeat(size / 4)),
        ),
        shape(
            "archive: many entries",
            archive,
            Box::new(|size| b"PK\x01\x02".repeat(size / 4)),
        ),
        of_package(
            "classes of files",
            "{Name: a.Cccccccccccccccc#, Extends: io.murano.Object}\n",
            "  a.Cccccccccccccccc#: Folder/Cccccccccccccccc#.yaml\n",
        ),
        of_package(
            "classes of one file",
            "Name: a.Cccccccccccccccc0\n",
            "  a.Cccccccccccccccc#: Folder/Cccccccccccccccc.yaml\n",
        ),
        of_package(
            "classes that are not there",
            "Name: a.D#\n",
            "  a.Cccccccccccccccc#: Folder/Cccccccccccccccc#.yaml\n",
        ),
        of_package(
            "classes with unknown parents",
            "{Name: a.Cccccccccccccccc#, Extends: a.Cx#}\n",
            "  a.Cccccccccccccccc#: Folder/Cccccccccccccccc#.yaml\n",
        ),
        of_package(
            "classes with misspelt parents",
            "{Name: a.Cccccccccccccccc#, Extends: io.murano.Objekt}\n",
            "  a.Cccccccccccccccc#: Folder/Cccccccccccccccc#.yaml\n",
        ),
        of_package("classes with bad paths", "Name: a.C\n", "  a.C#: C#\n"),
        shape(
            "package: a deep hierarchy with two parents everywhere",
            package,
            Box::new(|size| {
                // A class has about so many bytes in both files.
                let count = size / 100;
                let mut manifest = "FullName: a.B\nType: Library\nClasses:\n".to_owned();
                let mut classes = String::new();
                for number in 0..count {
                    let [parent, next] = [number + 1, number + 2];
                    manifest.push_str(&format!("  a.C{number}: C.yaml\n"));
                    classes.push_str(&format!("---\nName: a.C{number}\n"));
                    if next < count {
                        classes.push_str(&format!("Extends: [a.C{parent}, a.C{next}]\n"));
                    }
                    classes.push_str(&format!("Properties: {{p{number}: {{Contract: $}}}}\n"));
                }
                format!("{manifest}===\n{classes}").into_bytes()
            }),
        ),
    ]
}
