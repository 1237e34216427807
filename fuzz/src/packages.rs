//! Manifests, class files and archives.

use pkgres_checks::{Baseline, ReturnSchema, check_validation};
use pkgres_manifest::diagnostic::Parsed;
use pkgres_manifest::{
    Archive, ClassName, Facts, LazyArchive, Package, PackageManifest, PackageName, PackagePath,
    PackageResources, PropertyErrors, ReadOptions, RequirementEdit, Spec, TemplateValue,
    TemplateValues, ValidatorCheck, read_class_file, read_interface_file, read_validation_file,
    write_archive,
};

use crate::property::{are_safe, checked, is_safe_line};
use crate::seeds::{files, texts};
use crate::target::Target;

/// The fuzz targets of packages.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "manifest",
        run: manifest,
        seeds: || {
            let mut seeds = files(|path| path.ends_with("manifest.yaml"));
            seeds.extend(texts(&[
                FULL_MANIFEST,
                FLOW_MANIFEST,
                "Require:\n  a.B: >1\n",
            ]));
            seeds
        },
        words: &[
            "FullName: ",
            "Require:\n",
            "  a.B: ",
            "Version: ",
            "Format: ",
            "Type: Library\n",
            "Classes:\n",
            "Tags: ",
            ">=1,<2",
            "'",
            ">-\n",
            "Heat.HOT/1.0",
            "Fullname: x\n",
        ],
        quick: 3_000,
    },
    Target {
        name: "class_file",
        run: class_file,
        seeds: || {
            let mut seeds = files(|path| path.contains("/Classes/"));
            seeds.extend(texts(&[FULL_CLASS]));
            seeds
        },
        words: &[
            "Namespaces:\n",
            "=: ",
            "Name: ",
            "Extends: ",
            "Properties:\n",
            "Methods:\n",
            "Contract: ",
            "$.class(a.B)",
            "$.string().notNull()",
            "Body:\n",
            "new(std:B)",
            "Usage: ",
            "Workflow:\n",
            "Import: ",
            "!yaql ",
        ],
        quick: 3_000,
    },
    Target {
        name: "interface_file",
        run: interface_file,
        seeds: || texts(&[FULL_INTERFACE, "Name: a.B\nFunctions: {f: {}}\n"]),
        words: &[
            "Name: ",
            "Functions:\n",
            "Arguments: ",
            "Returns: ",
            "Supported: ",
            "NotApplicable: ",
            "Deprecated: ",
            "since: 1.2",
            "removed_in: ",
            "successor: ",
            "osfamily: [a, b]",
            "{type: object, required: [a]}",
            "{$ref: '#/properties/a'}",
            "pattern: '(a+)+$'",
        ],
        quick: 2_000,
    },
    Target {
        name: "validation_file",
        run: validation_file,
        seeds: || texts(&[FULL_VALIDATION, "validators: [{package: a}]\n"]),
        words: &[
            "arguments:\n",
            "default: 1.10",
            "choices: [a, b]",
            "target_variable: V",
            "validators:\n",
            "- package: [a, {b: {version: 1}}]\n",
            "- script: {a/b: {env_vars: [a], output: a, inline: x}}\n",
            "- any: [",
            "- all: [",
            "- os_case: [{debian: []}, {ubuntu: []}]\n",
            "- argument_case: {argument_name: a, cases: {a: []}}\n",
            "- argument_set: {argument_name: a, value: b}\n",
        ],
        quick: 2_000,
    },
    Target {
        name: "resources_file",
        run: resources_file,
        seeds: || texts(&[FULL_RESOURCES]),
        words: &[
            "Package:\n",
            "Classes:\n",
            "- file: /a\n",
            "  after: [file:/a]",
            "receives: ",
            "meta: {",
            "sema: [a:2]",
            "limit: 0.2, burst: 5",
            "${this.a}",
            "${package.version}",
            "$${",
        ],
        quick: 2_000,
    },
    Target {
        name: "facts",
        run: facts,
        seeds: || {
            texts(&[
                "os: Debian\nroles: [web, db]\n",
                "{\"os\": \"a\", \"x\": null}",
            ])
        },
        words: &["os: ", "osfamily: ", "[a, b]", "1.10", "- "],
        quick: 2_000,
    },
    Target {
        name: "baseline",
        run: baseline,
        seeds: || texts(&["# x\na.B a.I f not-implemented\na.B - g deprecated\n"]),
        words: &["a.B ", " - ", "conflict", "signature-mismatch", "\n"],
        quick: 2_000,
    },
    Target {
        name: "archive",
        run: archive,
        seeds: archives,
        words: &[
            "PK\u{1}\u{2}",
            "PK\u{3}\u{4}",
            "PK\u{5}\u{6}",
            "PK\u{6}\u{6}",
            "manifest.yaml",
            "../",
            "Classes/",
            "\u{0}\u{0}",
            "\u{1}\u{0}",
            "\u{8}\u{0}",
        ],
        quick: 3_000,
    },
];

const FULL_MANIFEST: &str = "\
# A comment
Format: MuranoPL/1.4
Type: Application
FullName: org.acme.Web
Version: 1.10
Name: \"Web \\u00e9\"
Description: |
  Two
  lines
Author: 'A, B'
Tags: [web, 'x y']
UI: ui.yaml
Logo: logo.png
Meta: {x: [1, ~]}
Supplier:
  Name: Acme
Classes:
  org.acme.Web: Web.yaml
  org.acme.Db: sub/Db.yaml
Require:
  org.acme.Cache: '>=1.2,<3'
  org.acme.Log:
  plug-in.x: 1.10
Other: 1
";

const FULL_VALIDATION: &str = "\
arguments:
  a: {description: d, default: b, choices: [b, 1.10], target_variable: A, required: false, hidden: true}
validators:
  - package: [a, {b: {version: 1}}]
  - any:
      - script: {a/b: {env_vars: [a, c], output: a}}
      - all: [{script: {c: {inline: 'true'}}}]
  - os_case: [{redhat: []}, {centos: [{copy_script: x/y/z}]}]
  - argument_case:
      argument_name: a
      cases: {b: [{argument_set: {argument_name: a, value: 2}}], d: []}
";

const FULL_RESOURCES: &str = r#"Package:
- file: /a
  content: "x ${package.version}"
  list: [a, {b: c}]
  after: [file:/b]
  notifies: service:c
  receives: {digest: {exec:d: stdout}}
  meta: {noop: true, retry: -1, delay: 1, timeout: 1, poll: 0, limit: 0.2, burst: 5, sema: [a:2]}
Classes:
  a.B:
  - file: "/${this.a}/${this.a.b}/${this.a.b.c}"
"#;

const FULL_INTERFACE: &str = "\
Name: a.B
Namespaces: {=: a, std: io.murano}
Description: x
Functions:
  start:
    Description: x
    Arguments:
    - name: {Contract: $.string().notNull()}
    - other: {Contract: $.class(std:Object), Default: {a: [1, 2.5, true, ~]}}
    - rest: {Usage: KwArgs}
    Returns: {type: object, required: [a], properties: {a: {type: integer}}}
    Supported: {os: [Debian, b], os_family: C}
  stop:
    NotApplicable: {osfamily: Windows}
    Deprecated: {since: 1.2, removed_in: 2, successor: start}
";

const FLOW_MANIFEST: &str = "{\"FullName\": a.B, Type: Library, Require: {c.D: '*', e.F: ~}}\n";

const FULL_CLASS: &str = "\
Namespaces:
  =: org.acme
  std: io.murano
---
Name: Web
Extends:
- std:Application
- Base
Import: [std:sys]
Meta:
- std:Title: {text: x}
Properties:
  port:
    Contract: $.int().notNull().check($ > 0)
    Default: 80
  parts:
    Usage: InOut
    Contract:
    - $.class(Part).notNull()
    - 1
    - 3
  table:
    Contract:
      $.string().notNull(): {a: $.template(std:Object, exclude => [b])}
Methods:
  deploy:
    Usage: Action
    Scope: Public
    Arguments:
    - x:
        Contract: $.class(Part).owned()
        Default: null
    Body:
    - $y: new(Part, $this, name => 'z')
    - If: $.x
      Then: [Return: !yaql 'new(std:Other)']
---
Name: Part
Workflow: {go: {Body: [$a: b]}}
";

/// Archives of a package: stored and deflated, with folders of the package.
fn archives() -> Vec<Vec<u8>> {
    let path = |text| PackagePath::parse(text).expect("a path");
    let manifest = "FullName: org.acme.Web\nType: Library\nFormat: 1.4\n\
        Classes: {org.acme.Web: Web.yaml, org.acme.Part: Web.yaml}\nUI: ui.yaml\nLogo: logo.png\n";
    let limits = ReadOptions::default().limits;
    let whole = [
        (path("Classes/Web.yaml"), false, FULL_CLASS.into()),
        (path("Resources/a/b.sh"), true, b"#!/bin/sh\n".to_vec()),
        (path("UI/ui.yaml"), false, b"Version: 2\n".repeat(20)),
        (path("logo.png"), false, Vec::new()),
        (path("manifest.yaml"), false, manifest.into()),
    ];
    let stored = [
        (path("a"), false, b"x".to_vec()),
        (path("b/c"), true, vec![0; 9]),
    ];
    vec![
        write_archive(whole, &limits).expect("an archive"),
        write_archive(stored, &limits).expect("an archive"),
    ]
}

/// An edited manifest is a manifest with the edit, and its index record reads as it is written.
fn manifest(data: &[u8]) {
    let options = ReadOptions::default();
    let Some(manifest) = checked(PackageManifest::read("m", data, &options)) else {
        return;
    };
    is_safe_line(manifest.name.value.as_str());
    is_safe_line(&manifest.version.to_string());
    is_safe_line(&manifest.display_name.replace(['\n', '\t', '\r'], " "));
    are_safe(&manifest.unknown_key_findings());
    assert!(manifest.requirements.len() <= options.limits.requirements);

    let package = |text| PackageName::parse(text).expect("a name");
    let new = package("zz.Added");
    let edits = [
        RequirementEdit::Set(new.clone(), Spec::parse(">=1,<2").expect("a spec")),
        RequirementEdit::Remove(new.clone()),
    ];
    match manifest.with_requirements(&edits[..1], &options) {
        Ok(text) => {
            let after = checked(PackageManifest::read("m", text.as_bytes(), &options));
            let after = after.expect("an edited manifest is one");
            let requires = after.requirements.iter().any(|it| it.package == new);
            assert!(requires, "the requirement was added");
            assert_eq!(after.description, manifest.description);
            let removed = after.with_requirements(&edits[1..], &options);
            if let Ok(removed) = removed {
                let again = checked(PackageManifest::read("m", removed.as_bytes(), &options));
                let again = again.expect("an edited manifest is one");
                let named = |manifest: &PackageManifest| {
                    let all = manifest.requirements.iter();
                    all.map(|it| (it.package.clone(), it.spec.clone()))
                        .filter(|(package, _)| *package != new)
                        .collect::<Vec<_>>()
                };
                assert_eq!(named(&again), named(&manifest));
            }
        }
        Err(finding) => are_safe(&[finding]),
    }
}

/// Classes are read with safe findings, and the package's index record is the same after it is written.
fn class_file(data: &[u8]) {
    let options = ReadOptions::default();
    let requested =
        ["org.acme.Web", "org.acme.Part"].map(|name| ClassName::parse(name).expect("a name"));
    let requested: Vec<&ClassName> = requested.iter().collect();
    let read = checked(read_class_file("c", data, &requested, &options));
    for class in read.into_iter().flatten() {
        for name in class.extends.iter().chain(&class.uses).chain([&class.name]) {
            is_safe_line(name.value.as_str());
        }
        for property in &class.properties {
            for class in property.contract.value.classes() {
                is_safe_line(class.as_str());
            }
        }
    }
}

/// Interfaces are read with safe findings, and what they say about returned values is checked without a panic.
fn interface_file(data: &[u8]) {
    let read = checked(read_interface_file(
        "i",
        data,
        None,
        &ReadOptions::default(),
    ));
    let facts = Facts::from_pairs([("os", "debian"), ("os_family", "c")]);
    for function in read.iter().flat_map(|interface| &interface.functions) {
        is_safe_line(&function.name.value);
        for platforms in [&function.supported, &function.not_applicable]
            .into_iter()
            .flatten()
        {
            let _ = platforms.matches(&facts);
            assert!(!platforms.to_string().is_empty());
        }
        match ReturnSchema::of(function) {
            Ok(None) => {}
            Ok(Some(schema)) => {
                for value in [
                    serde_json::json!({"a": 1}),
                    serde_json::json!("aaaaaaaaaaaaaaaaaaaaaaaa!"),
                ] {
                    for violation in schema.check(&value).err().into_iter().flatten() {
                        is_safe_line(&violation.to_string());
                    }
                }
            }
            Err(finding) => are_safe(&[*finding]),
        }
    }
}

/// Validations are read and checked with safe findings, and every name in them can be handed to a program as it is.
fn validation_file(data: &[u8]) {
    let read = checked(read_validation_file("v", data, &ReadOptions::default()));
    if let Some(validation) = &read {
        are_safe(&check_validation(validation, |_| false));
        for argument in &validation.arguments {
            is_safe_line(argument.variable().as_str());
        }
        validation.visit(|validator| match &validator.check {
            ValidatorCheck::Packages(packages) => {
                for package in packages {
                    assert!(!package.name.value.as_str().starts_with('-'));
                    is_safe_line(package.name.value.as_str());
                }
            }
            ValidatorCheck::Script(script) | ValidatorCheck::CopyScript(script) => {
                is_safe_line(script.file_name());
            }
            _ => {}
        });
    }
}

/// The values that the templates of resources name: the path itself, a list, or nothing.
struct PathValues;

impl TemplateValues for PathValues {
    fn value(&self, path: &[&str]) -> TemplateValue<'_> {
        match path.len() {
            2 => TemplateValue::Text(path.join("${").into()),
            3 => TemplateValue::NotText("a list"),
            part => TemplateValue::Unknown {
                part,
                known: path.iter().map(|part| (*part).to_owned()).collect(),
            },
        }
    }
}

/// Resources are read with safe findings, and so their templates are filled in.
fn resources_file(data: &[u8]) {
    let options = ReadOptions::default();
    let resources = checked(PackageResources::read("r", data, &options)).unwrap_or_default();
    let of_classes = (resources.for_classes.iter()).flat_map(|class| &class.resources);
    for template in resources.for_package.iter().chain(of_classes) {
        is_safe_line(&template.id().value.to_string());
        if let Some(resource) = checked(template.instantiate(&PathValues, &options.limits)) {
            is_safe_line(&resource.id.value.to_string());
            let errors = resource.properties.finish().err();
            for error in errors.iter().flat_map(PropertyErrors::iter) {
                is_safe_line(&error.to_string());
            }
        }
    }
}

/// Facts are read with safe findings.
fn facts(data: &[u8]) {
    checked(Facts::read("f", data, &ReadOptions::default().limits));
}

/// Baselines are read as they are written.
fn baseline(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    match Baseline::read("b", text) {
        Ok(baseline) => assert_eq!(Baseline::read("b", &baseline.to_text()), Ok(baseline)),
        Err(findings) => are_safe(&findings),
    }
}

/// Both readers of archives agree, and files that are written again have the same content.
fn archive(data: &[u8]) {
    let options = ReadOptions::default();
    let limits = &options.limits;
    let archive = match Archive::open("a", data, limits) {
        Ok(archive) => archive,
        Err(finding) => return are_safe(&[finding]),
    };
    let lazy = LazyArchive::open("a", data, limits).expect("it was checked more strictly");
    let mut files = Vec::new();
    for file in archive.files() {
        is_safe_line(file.path.as_str());
        let content = archive.read(&file.path).expect("the file is listed");
        assert_eq!(content.len() as u64, file.size);
        let again = lazy.read_start(&file.path, u64::MAX);
        assert_eq!(again, Ok(Some(content.clone())));
        files.push((file.path.clone(), file.executable, content));
    }
    let written = write_archive(files.clone(), limits).expect("the files of an archive make one");
    let written = Archive::open("w", written, limits).expect("an archive that was written opens");
    let again: Vec<_> = written
        .files()
        .map(|file| {
            let content = written.read(&file.path).expect("the file is listed");
            (file.path.clone(), file.executable, content)
        })
        .collect();
    assert_eq!(again, files);

    let package: Parsed<Package> = Package::from_archive("a", &archive, &options);
    if let Some(package) = checked(package) {
        let record = package.index_record();
        let line = record.to_line();
        let again = pkgres_manifest::IndexRecord::parse_line(&line, limits);
        let again = again.expect("the record of a package reads as it is written");
        assert_eq!(again.to_line(), line);
    }
}
