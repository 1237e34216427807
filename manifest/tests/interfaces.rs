//! Interfaces: their files, the keys of manifests about them, and facts.

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    Argument, ClassName, Facts, Interface, Limits, Package, PackageManifest, ReadOptions,
    read_interface_file,
};

fn read(text: &str) -> (Option<Interface>, Vec<String>) {
    let requested = ClassName::parse("a.I").expect("a name");
    let options = ReadOptions::default();
    let read = read_interface_file("I.yaml", text.as_bytes(), Some(&requested), &options);
    let findings = read.diagnostics().iter().map(shown).collect();
    (
        read.into_result().ok().map(|(interface, _)| interface),
        findings,
    )
}

/// A finding without the name of the file.
fn shown(finding: &Diagnostic) -> String {
    let text = finding.to_string();
    text.split_once(':')
        .map_or(text.clone(), |(_, rest)| rest.to_owned())
}

#[test]
fn all_keys_are_read() {
    let (interface, findings) = read(
        "Name: I\nNamespaces: {=: a, std: io.murano}\nDescription: x\nFunctions:\n\
         \x20 start:\n\
         \x20   Description: y\n\
         \x20   Arguments:\n\
         \x20   - name: {Contract: $.string()}\n\
         \x20   - parts: {Contract: [$.class(std:Object)], Default: [1, 1.10, yes, true, ~, a: b]}\n\
         \x20   - more: {Usage: VarArgs}\n\
         \x20   Returns: {type: object, required: [a], minProperties: 01}\n\
         \x20   Supported: {os: [B, a], OS: c, osfamily: 1.10}\n\
         \x20 stop:\n\
         \x20   NotApplicable: {os: Windows}\n\
         \x20   Deprecated: {since: 1.10, removed_in: 2, successor: start}\n\
         \x20 status:\n",
    );
    let interface = interface.expect("it is valid");
    assert_eq!(
        findings,
        [
            "12:36: warning[PK0072]: `osfamily` is another spelling of `os_family`; hint: write `os_family`"
        ]
    );
    assert_eq!(interface.name.value.as_str(), "a.I");
    let names: Vec<&str> = interface
        .functions
        .iter()
        .map(|it| it.name.value.as_str())
        .collect();
    assert_eq!(names, ["start", "stop", "status"]);
    let start = interface.function("start").expect("it is there");
    let arguments: Vec<(&str, Option<&str>)> = start
        .arguments
        .iter()
        .map(|Argument { name, default, .. }| (name.value.as_str(), default.as_deref()))
        .collect();
    assert_eq!(
        arguments,
        [
            ("name", None),
            ("parts", Some(r#"[1,"1.10","yes",true,null,{"a":"b"}]"#)),
            ("more", None)
        ]
    );
    let returns = start.returns.as_ref().expect("it has a schema");
    // What is no number in JSON is a text.
    assert_eq!(
        returns.value,
        r#"{"type":"object","required":["a"],"minProperties":"01"}"#
    );
    let supported = start.supported.as_ref().expect("it names platforms");
    assert_eq!(supported.to_string(), "os=a,b,c or os_family=1.10");
    let deprecated = interface.functions[1]
        .deprecated
        .as_ref()
        .expect("it is deprecated");
    let version =
        |version: &Option<pkgres_manifest::Version>| version.as_ref().map(ToString::to_string);
    assert_eq!(version(&deprecated.since).as_deref(), Some("1.10.0"));
    assert_eq!(version(&deprecated.removed_in).as_deref(), Some("2.0.0"));
}

#[test]
fn every_mistake_is_reported_at_its_place() {
    for (text, expected) in [
        (
            "[]",
            &["1:1: error[PK0100]: an interface must be a mapping, not a list"][..],
        ),
        ("Functions: []\n", &[]),
        (
            "Functions: [a]\n",
            &[
                "1:12: error[PK0100]: `Functions` must be a mapping, not a list; hint: write `a:` instead of a list item",
            ],
        ),
        (
            "{}\n---\n{}\n",
            &["3:1: error[PK0100]: the interface file must be a single document"],
        ),
        ("", &["1:1: error[PK0100]: the interface file is empty"]),
        (
            "Function: {}\n",
            &[
                "1:1: error[PK0100]: unknown key `Function` in an interface; hint: did you mean `Functions`?",
            ],
        ),
        (
            "Functions:\n  a-b: {}\n",
            &[
                "2:3: error[PK0100]: `a-b` cannot be the name of a function: use letters, digits and `_` only",
            ],
        ),
        (
            "Functions:\n  f: {Supported: {}}\n",
            &["2:18: error[PK0100]: `Supported` names no platform"],
        ),
        (
            "Functions:\n  f: {Supported: os}\n",
            &["2:18: error[PK0100]: `Supported` must be a mapping, not a scalar"],
        ),
        (
            "Functions:\n  f: {Supported: {os: [{}]}}\n",
            &["2:24: error[PK0100]: a value of a fact must be text, not a mapping"],
        ),
        (
            "Functions:\n  f: {Supported: {os: []}}\n",
            &["2:23: error[PK0100]: `os` has no value"],
        ),
        (
            "Functions:\n  f: {Supported: {os: 'a;b'}}\n",
            &["2:23: error[PK0100]: a value of a fact cannot have `;`"],
        ),
        (
            "Functions:\n  f: {Supported: {OS: a}, NotApplicable: {os: [B, A]}}\n",
            &["2:3: error[PK0100]: `f` is both supported and not applicable where `os` is `a`"],
        ),
        (
            "Functions:\n  f: {Deprecated: {since: 2, removed_in: 1.5}}\n",
            &["2:19: error[PK0100]: `removed_in` must be a later version than `since`"],
        ),
        (
            "Functions:\n  f: {Deprecated: {since: x}}\n",
            &[
                "2:27: error[PK0009]: `x` is not a version: unexpected character 'x' in the major version number",
            ],
        ),
        (
            "Functions:\n  f: {Deprecated: {successor: g}}\n",
            &["2:31: warning[PK0100]: the successor `g` is no function of the interface"],
        ),
        (
            "Functions:\n  f: {Deprecated: {successor: f}}\n  g: {}\n",
            &["2:31: warning[PK0100]: `f` is its own successor"],
        ),
    ] {
        let (interface, findings) = read(text);
        assert_eq!(findings, expected, "{text}");
        let is_wrong = findings.iter().any(|finding| finding.contains("error"));
        assert_eq!(interface.is_none(), is_wrong, "{text}");
    }
    let nothing = read_interface_file("i", b"Functions: {}\n", None, &ReadOptions::default());
    assert_eq!(
        nothing.diagnostics()[0].message,
        "the interface has no `Name`"
    );
}

/// The findings on a package with one class and one interface.
fn package(manifest: &str, interface: Option<&str>) -> Vec<String> {
    let text = format!("FullName: a.P\nType: Library\nClasses: {{a.C: C.yaml}}\n{manifest}");
    let options = ReadOptions::with_core(None);
    let read = PackageManifest::read("manifest.yaml", text.as_bytes(), &options);
    let manifest = match read.into_result() {
        Ok((manifest, findings)) => {
            assert!(findings.is_empty());
            manifest
        }
        Err(findings) => return findings.iter().map(ToString::to_string).collect(),
    };
    let read = Package::assemble(manifest, &options, |path| match path.as_str() {
        "Classes/C.yaml" => Some(b"Name: a.C".to_vec()),
        "Interfaces/I.yaml" => interface.map(|text| text.as_bytes().to_vec()),
        // Files of similar names are looked for, too, for hints.
        _ => None,
    });
    match read.into_result() {
        Ok((package, findings)) => {
            assert!(findings.is_empty());
            vec![package.index_record().to_line()]
        }
        Err(findings) => findings.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn manifests_list_interfaces_and_their_implementors() {
    assert_eq!(
        package(
            "Interfaces: {a.I: I.yaml}\nImplements: {a.C: [a.I, b.J]}\n",
            Some("Functions: {f: {}}\n")
        ),
        [
            r#"{"name":"a.P","version":"0.0.0","format":"MuranoPL/1.0","classes":{"a.C":{"implements":["a.I","b.J"]}},"interfaces":["a.I"]}"#
        ]
    );
    assert_eq!(
        package("Interfaces: {a.I: I.yaml}\n", Some("Name: a.Other\n")),
        [
            "Interfaces/I.yaml:1:7: error[PK0100]: the file defines `a.Other`, but the manifest lists it for `a.I`"
        ]
    );
    assert_eq!(
        package("Interfaces: {a.I: I.yaml}\n", None),
        ["manifest.yaml:4:19: error[PK0031]: the package has no file `Interfaces/I.yaml`"]
    );
    assert_eq!(
        package("Implements: {a.C: [a.I, a.I]}\n", None),
        ["manifest.yaml:4:25: error[PK0007]: `a.I` is implemented twice"]
    );
    assert_eq!(
        package("Implements: {a.C: a-b}\n", None).len(),
        1,
        "a name cannot have a hyphen"
    );
    assert_eq!(
        package("Implements: [a.C]\n", None),
        [
            "manifest.yaml:4:13: error[PK0007]: `Implements` must be a mapping, not a list; hint: write `a.C:` instead of a list item"
        ]
    );
}

#[test]
fn facts_are_values_by_key() {
    let read = |text: &str| {
        let read = Facts::read("facts", text.as_bytes(), &Limits::default());
        let findings: Vec<String> = read.diagnostics().iter().map(ToString::to_string).collect();
        read.value().map(ToString::to_string).ok_or(findings)
    };
    let right = |text: &str| Ok(text.to_owned());
    assert_eq!(
        read("OS: Debian\nosfamily: [Debian, debian]\nversion: 1.10\nnone:\n"),
        right("os=debian os_family=debian version=1.10")
    );
    assert_eq!(read("{\"os\": \"Debian\"}"), right("os=debian"));
    assert_eq!(read(""), right(""));
    assert_eq!(
        read("- os\n"),
        Err(vec![
            "facts:1:1: error[PK0007]: a file of facts must be a mapping, not a list; hint: write `os:` instead of a list item".to_owned()
        ])
    );
    assert_eq!(
        read("os: {a: b}\n"),
        Err(vec![
            "facts:1:5: error[PK0007]: a fact must be text or a list of strings, not a mapping"
                .to_owned()
        ])
    );
}
