//! Generated files: the committed pages and schemas are what the binary prints, and completions and man pages can be
//! generated.
//!
//! `PKGRES_UPDATE_DOCS=1 cargo test -p pkgres --test cli generated` updates the committed files.

use std::path::{Path, PathBuf};
use std::process::Command;

use pkgres_manifest::PackageManifest;
use pkgres_tests::shared;

fn print(arguments: &[&str]) -> String {
    let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).expect("it is text")
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

#[test]
fn pages_and_schemas_are_up_to_date() {
    let pages =
        ["commands", "settings"].map(|page| (format!("{page}.md"), print(&["reference", page])));
    let schemas = [
        "manifest",
        "class",
        "interface",
        "resources",
        "validation",
        "lock",
        "settings",
    ]
    .map(|kind| (format!("schemas/{kind}.json"), print(&["schema", kind])));
    let is_update = std::env::var_os("PKGRES_UPDATE_DOCS").is_some();
    for (file, printed) in pages.into_iter().chain(schemas) {
        let path = docs().join(&file);
        if is_update {
            #[expect(clippy::disallowed_methods, reason = "a file of the project")]
            std::fs::write(&path, &printed).expect("docs can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == printed,
            "docs/{file} is out of date: PKGRES_UPDATE_DOCS=1 cargo test -p pkgres --test cli"
        );
    }
}

/// The pictures of the book, with the arguments that draw them.
const PICTURES: [(&str, &[&str]); 3] = [
    ("conflict", &["diamonds/conflict/root"]),
    ("shared", &["diamonds/shared/root", "--classes"]),
    ("side-by-side", &["diamonds/side-by-side/root"]),
];

#[test]
fn pictures_of_the_book_are_up_to_date() {
    let is_update = std::env::var_os("PKGRES_UPDATE_DOCS").is_some();
    let concepts = std::fs::read_to_string(docs().join("concepts.md")).expect("a page");
    for (name, arguments) in PICTURES {
        let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
            .args(["graph", "--format", "svg"])
            .args(arguments)
            .current_dir(docs().join("../fixtures"))
            .env("PKGRES_REGISTRY", "")
            .output()
            .expect("the program starts");
        let drawn = String::from_utf8(output.stdout).expect("it is text");
        assert!(drawn.contains("<svg"), "{name}: {drawn}");
        let path = docs().join(format!("pictures/{name}.svg"));
        if is_update {
            #[expect(clippy::disallowed_methods, reason = "a file of the project")]
            std::fs::write(&path, &drawn).expect("docs can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == drawn,
            "docs/pictures/{name}.svg is out of date: PKGRES_UPDATE_DOCS=1 cargo test -p pkgres --test cli"
        );
        assert!(
            concepts.contains(&format!("(pictures/{name}.svg)")),
            "{name}"
        );
    }
}

/// The end of the variable name that a text starts with.
fn end_of_name(text: &str) -> usize {
    let is_part = |character: char| character.is_ascii_uppercase() || character == '_';
    text.find(|character| !is_part(character))
        .unwrap_or(text.len())
}

#[test]
fn every_variable_is_documented() {
    let page = print(&["reference", "settings"]);
    let program = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = ["src", "../settings/src"].map(|folder| program.join(folder));
    let is_source = |path: &Path| path.extension().is_some_and(|ending| ending == "rs");
    let files = sources
        .iter()
        .flat_map(|folder| files_below(folder, &is_source));
    let mut count = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a file of the project");
        for rest in text.split("\"PKGRES_").skip(1) {
            let name = format!("PKGRES_{}", &rest[..end_of_name(rest)]);
            assert!(page.contains(&name), "{name} of {}", path.display());
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn completions_and_man_pages_can_be_generated() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = print(&["completions", shell]);
        assert!(
            script.contains("outdated") && script.len() > 10_000,
            "{shell}"
        );
    }
    let page = print(&["man"]);
    assert!(
        page.contains(".TH pkgres 1") && page.contains("outdated"),
        "{page}"
    );
    let page = print(&["man", "update"]);
    assert!(page.contains("\\-\\-precise"), "{page}");
}

/// A validator for a schema that the binary prints.
fn validator(kind: &str) -> jsonschema::Validator {
    let schema: serde_json::Value =
        serde_json::from_str(&print(&["schema", kind])).expect("a schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("it is a schema");
    jsonschema::validator_for(&schema).expect("it is a schema")
}

/// YAML as an editor parses it; empty if it does not parse.
fn yaml(text: &str) -> Vec<serde_json::Value> {
    // The tag of expressions in class files does not affect their shape.
    let text = text.replace("!yaql", "");
    serde_saphyr::from_multiple(&text).unwrap_or_default()
}

fn files_below(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the corpus") {
            let path = entry.expect("an entry of it").path();
            if path.is_dir() {
                folders.push(path);
            } else if is_wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn schemas_accept_real_packages() {
    let Some(corpus) = shared::path("corpus") else {
        return;
    };
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|found| found == name);
    let manifests = files_below(&corpus, &|path| named(path, "manifest.yaml"));
    let in_classes = |path: &Path| {
        path.components().any(|part| part.as_os_str() == "Classes")
            && path
                .extension()
                .is_some_and(|extension| extension == "yaml")
    };
    // Includes Heat templates of packages without classes.
    let classes = files_below(&corpus, &in_classes);
    let validations = files_below(&corpus.join("image-specs"), &|path| {
        path.extension().is_some_and(|ending| ending == "yaml")
    });
    assert!(manifests.len() > 30 && classes.len() > 50 && validations.len() > 3);
    for (kind, files) in [
        ("manifest", manifests),
        ("class", classes),
        ("validation", validations),
    ] {
        let validator = validator(kind);
        for path in files {
            let text = std::fs::read_to_string(&path).expect("a file of the corpus");
            let documents = yaml(&text);
            assert!(!documents.is_empty(), "{}", path.display());
            for document in documents {
                if let Err(error) = validator.validate(&document) {
                    panic!("{}: {error} at {}", path.display(), error.instance_path());
                }
            }
        }
    }
}

/// Unusual spellings that the reader accepts without findings.
#[test]
fn schemas_and_readers_accept_the_same() {
    let options = pkgres_manifest::ReadOptions::default();
    let manifest = validator("manifest");
    for more in [
        "Format:",
        "Format: ~",
        "Format: 1.4",
        "Version: 1.10",
        "Version: '1'",
        "Name: 7\nDescription: true\nAuthor: ~",
        "Tags: ~",
        "Tags: [a, 1, true, null]",
        "Classes: ~",
        "Classes: {c.D: 7}",
        "Classes: {c.D: true}",
        "Require:",
        "Require: {c.D: ~, e.F: 1.10, g.H: '>=1'}",
        "UI: 7\nLogo: true",
        "UI: ~\nLogo:",
        "Supplier: {Name: x}\nMeta: [1]\nTemplate: [x]\nEntryPoint: {x: 1}",
    ] {
        let text = format!("FullName: a.B\nType: Library\n{more}\n");
        let read = PackageManifest::read("m", text.as_bytes(), &options).into_result();
        let (read, findings) = read.unwrap_or_else(|errors| panic!("{more}: {errors:?}"));
        assert!(
            read.unknown_keys.is_empty() && findings.is_empty(),
            "{more}"
        );
        let document = &yaml(&text)[0];
        let error = manifest
            .validate(document)
            .err()
            .map(|error| error.to_string());
        assert_eq!(error, None, "{more}");
    }
    let class = validator("class");
    for more in [
        "Namespaces: {=: a, x: b.c}",
        "Namespaces: {x: true}",
        "Extends: ~",
        "Extends: [A, C]",
        "Usage: Meta",
        "Properties: ~",
        "Properties: {a: {}, b: {Usage: }, c: {Contract: [$.int()], More: 1}}",
        "Methods: {a: ~, b: {Arguments: [x: {Contract: $.int()}]}, c: {Arguments: }}",
        "Meta: [A]\nImport: C",
        "Meta: {A: {b: 1}, x: }\nImport: ~",
        "Namespaces: {=: a, x: b.c}\nMeta: [x:A: {b: 1}, ~, :C]\nImport: [x:A, D]",
        "Usage: Meta\nApplies: [Type, Method]\nCardinality: Many\nInherited: true",
        "Properties: {a: {Meta: A}}\nMethods: {b: {Meta: [A, C: {d: 1}]}}",
    ] {
        let text = format!("Name: B\n{more}\n");
        let read =
            pkgres_manifest::read_class_file("c", text.as_bytes(), &[], &options).into_result();
        let (_, findings) = read.unwrap_or_else(|errors| panic!("{more}: {errors:?}"));
        assert!(findings.is_empty(), "{more}");
        let error = class
            .validate(&yaml(&text)[0])
            .err()
            .map(|error| error.to_string());
        assert_eq!(error, None, "{more}");
    }
    let validation = validator("validation");
    for text in [
        "validators:",
        "arguments:\nvalidators: []",
        "validators: [{package: wget}, {package: [wget, {ntp: {version: 4.10}}, {curl: }]}]",
        "validators: [{script: a/b}, {script: {c: {env_vars: [a-b], output: d, inline: 'true'}}}, {script: {e: }}]",
        "validators: [{copy_script: a}, {all: }, {any: [{package: a}]}]",
        "validators: [{os_case: [{debian: [{package: a}]}, {redhat: }]}]",
        "arguments: {a: {default: 1.10, choices: [1.10, 2]}, b: {required: true, target_variable: B}}\nvalidators: \
         [{argument_case: {argument_name: a, cases: {1.10: [{package: a}], 2: }}}, {argument_set: {argument_name: b, value: 7}}]",
    ] {
        let read = pkgres_manifest::read_validation_file("v", text.as_bytes(), &options);
        assert!(
            read.diagnostics().is_empty(),
            "{text}: {:?}",
            read.diagnostics()
        );
        let document = &yaml(text)[0];
        let error = validation.validate(document).err();
        assert_eq!(error.map(|error| error.to_string()), None, "{text}");
    }
    let lock = validator("lock");
    let text = "lock: 1\norder: 1\nroots:\n- name: a.B\n  requires:\noverrides:\nside_by_side:\n\
        packages:\n- name: c.D\n  version: 1.0.0\n  source: x\n  requires:\ncomplete: true\n";
    let read = pkgres_manifest::Lockfile::read("l", text.as_bytes(), &options.limits);
    assert!(read.value().is_some(), "{:?}", read.diagnostics());
    assert!(lock.is_valid(&yaml(text)[0]));
}

#[test]
fn schemas_reject_invalid_files() {
    let manifest = validator("manifest");
    let right = "FullName: a.B\nType: Library\n";
    assert!(manifest.is_valid(&yaml(right)[0]));
    for wrong in [
        "Type: Library",
        "FullName: a.B",
        "FullName: a..B\nType: Library",
        "FullName: 7\nType: Library",
        "FullName: a.B\nType: Service",
        "FullName: a.B\nType: Library\nRequires: {}",
        "FullName: a.B\nType: Library\nRequire: [c.D]",
        "FullName: a.B\nType: Library\nRequire: {c.D: [1]}",
        "FullName: a.B\nType: Library\nRequire: {c d: 1}",
        "FullName: a.B\nType: Library\nClasses: {c.D: [x]}",
        "FullName: a.B\nType: Library\nVersion: [1]",
        "[]",
    ] {
        let document = &yaml(wrong)[0];
        assert!(!manifest.is_valid(document), "{wrong}");
        let options = pkgres_manifest::ReadOptions::default();
        let read = PackageManifest::read("m", wrong.as_bytes(), &options).into_result();
        let unknown = read
            .as_ref()
            .is_ok_and(|(it, _)| !it.unknown_keys.is_empty());
        assert!(read.is_err() || unknown, "{wrong}");
    }
    let class = validator("class");
    for wrong in [
        "Name: [a]",
        "Extends: 7",
        "Usage: Interface",
        "Properties: [a]",
        "Properties: {a: {Usage: Inn}}",
        "Methods: text",
        "Meta: 7",
        "Meta: [[A]]",
        "Import: [a..b]",
        "Properties: {a: {Meta: {a b: 1}}}",
        "text",
    ] {
        assert!(!class.is_valid(&yaml(wrong)[0]), "{wrong}");
    }
    let validation = validator("validation");
    for wrong in [
        "arguments: {}",
        "validators: text",
        "validators: [package]",
        "validators: [{package: a, script: b}]",
        "validators: [{packages: a}]",
        "validators: [{package: []}]",
        "validators: [{package: {a: {versoin: 1}}}]",
        "validators: [{script: {a: {env_vars: b}}}]",
        "validators: [{any: []}]",
        "validators: [{os_case: [{Debian: []}]}]",
        "validators: [{argument_case: {argument_name: a}}]",
        "validators: [{argument_set: {argument_name: a}}]",
        "arguments: {a: {description: b}}\nvalidators: []",
        "arguments: {a: {default: b, hiden: true}}\nvalidators: []",
        "arguments: {a b: {default: b}}\nvalidators: []",
    ] {
        assert!(!validation.is_valid(&yaml(wrong)[0]), "{wrong}");
        let options = pkgres_manifest::ReadOptions::default();
        let read = pkgres_manifest::read_validation_file("v", wrong.as_bytes(), &options);
        assert!(!read.diagnostics().is_empty(), "{wrong}");
    }
    let lock = validator("lock");
    let whole = "lock: 1\norder: 1\ncomplete: true\n";
    assert!(lock.is_valid(&yaml(whole)[0]));
    for wrong in [
        "lock: 1\norder: 1",
        "lock: 2\norder: 1\ncomplete: true",
        "lock: 1\norder: 1\ncomplete: true\nmore: 1",
        "lock: 1\norder: 1\npackages:\n- name: A\n  version: 1.0.0\ncomplete: true",
        "lock: 1\norder: 1\npackages:\n- name: A\n  version: 1.0.0\n  source: x\n  sha256: 12\ncomplete: true",
    ] {
        assert!(!lock.is_valid(&yaml(wrong)[0]), "{wrong}");
    }
    let settings = validator("settings");
    let toml = |text: &str| -> serde_json::Value {
        let table: toml::Table = toml::from_str(text).expect("it is TOML");
        serde_json::to_value(table).expect("TOML is JSON")
    };
    assert!(settings.is_valid(&toml("prefer = 'oldest'\n[overrides]\n\"a.B\" = '1'\n")));
    for wrong in [
        "prefre = 'oldest'",
        "prefer = 'old'",
        "max-steps = 'many'",
        "locked = 1",
        "registries = 'dir:x'",
        "overrides = 1",
        "[overrides]\na = 1",
    ] {
        assert!(!settings.is_valid(&toml(wrong)), "{wrong}");
    }
}

#[test]
fn written_lockfiles_fit_the_schema() {
    let validator = validator("lock");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli");
    let named = |path: &Path| path.to_string_lossy().ends_with("out/app/pkgres.lock");
    let locks = files_below(&folder, &named);
    assert!(!locks.is_empty());
    for path in locks {
        let text = std::fs::read_to_string(&path).expect("a lockfile");
        let document = &yaml(&text)[0];
        assert!(validator.is_valid(document), "{}", path.display());
    }
}

/// Names and versions of other ecosystems are not those of class packages.
#[test]
fn lockfiles_of_other_ecosystems_fit_the_schema() {
    let validator = validator("lock");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    for (root, registry, ecosystem) in [
        (
            "ansible/requirements.yml",
            "index:ansible/galaxy.jsonl",
            "ansible",
        ),
        ("opcua/Pump.NodeSet2.xml", "dir:opcua/registry", "opcua"),
    ] {
        let home = tempfile::tempdir().expect("a temporary folder");
        let copy = home
            .path()
            .join(Path::new(root).file_name().expect("a name"));
        #[expect(clippy::disallowed_methods, reason = "a file of a test")]
        std::fs::copy(fixtures.join(root), &copy).expect("it can be copied");
        let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
            .args(["lock", "--registry", registry])
            .arg(&copy)
            .current_dir(&fixtures)
            .env("HOME", home.path())
            .output()
            .expect("the program starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{root}: {errors}");
        let text = std::fs::read_to_string(home.path().join("pkgres.lock")).expect("a lockfile");
        let document = &yaml(&text)[0];
        assert_eq!(document["ecosystem"], ecosystem, "{text}");
        if let Err(error) = validator.validate(document) {
            panic!("{root}: {error} at {}", error.instance_path());
        }
    }
}
