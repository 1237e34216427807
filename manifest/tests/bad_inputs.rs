//! Findings about invalid inputs: code, location, message and hint.

use std::fmt::Write as _;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    IndexRecord, Limits, Lockfile, ObjectModel, Package, PackageManifest, ReadOptions, Spec,
    read_class_file,
};

/// The findings about each input, as text.
fn reports<'a>(
    inputs: impl IntoIterator<Item = &'a str>,
    read: impl Fn(&[u8]) -> Vec<Diagnostic>,
) -> String {
    let mut text = String::new();
    for input in inputs {
        writeln!(text, "{}", input.trim_end().escape_debug()).expect("writing to a string");
        let findings = read(input.as_bytes());
        assert!(
            findings.iter().any(Diagnostic::is_error),
            "no error is reported for {input:?}"
        );
        for finding in findings {
            assert!(!finding.labels.is_empty(), "there is no place in {finding}");
            writeln!(text, "    {finding}").expect("writing to a string");
        }
    }
    text
}

fn manifest(bytes: &[u8]) -> Vec<Diagnostic> {
    let parsed = PackageManifest::read("manifest.yaml", bytes, &ReadOptions::default());
    parsed.diagnostics().to_vec()
}

/// What the reference implementation loads all the same can be used, with a warning.
#[test]
fn careless_manifests_are_read() {
    let read = |line: &str| {
        let text = format!("FullName: a.B\nType: Library\n{line}\n");
        let parsed =
            PackageManifest::read("manifest.yaml", text.as_bytes(), &ReadOptions::default());
        let (manifest, findings) = parsed.into_result().expect(line);
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        (manifest, findings)
    };
    assert_eq!(read("Tags: [web, db, web]").0.tags, ["web", "db"]);
    for (line, warning) in [
        (
            "Tags: web",
            "3:7: warning[PK0007]: `Tags` must be a list, not a scalar",
        ),
        (
            "Tags: [{}, web]",
            "3:8: warning[PK0007]: a tag must be text, not a mapping",
        ),
        (
            "Name: [x]",
            "3:7: warning[PK0007]: `Name` must be text, not a list",
        ),
        (
            "Author: [x, y]",
            "3:9: warning[PK0007]: `Author` must be text, not a list",
        ),
        (
            "Description: {x: y}",
            "3:14: warning[PK0007]: `Description` must be text, not a mapping",
        ),
        (
            "Require: []",
            "3:10: warning[PK0007]: `Require` must be a mapping, not a list",
        ),
        (
            "Require: ''",
            "3:10: warning[PK0007]: `Require` must be a mapping, not a scalar",
        ),
        (
            "Require: false",
            "3:10: warning[PK0007]: `Require` must be a mapping, not a scalar",
        ),
        (
            "Require: 0",
            "3:10: warning[PK0007]: `Require` must be a mapping, not a scalar",
        ),
        (
            "Format: ''",
            "3:9: warning[PK0018]: `Format` is empty, which means MuranoPL/1.0",
        ),
    ] {
        let (manifest, findings) = read(line);
        assert_eq!(findings, [format!("manifest.yaml:{warning}")], "{line}");
        assert_eq!(manifest.display_name, "a.B", "{line}");
        let tags: &[&str] = if line.starts_with("Tags") {
            &["web"]
        } else {
            &[]
        };
        assert_eq!(manifest.tags, tags, "{line}");
        assert!(
            manifest
                .requirements
                .iter()
                .all(|it| it.package.as_str() == "io.murano")
        );
    }
}

#[test]
fn a_spec_that_python_takes_for_nothing_is_none() {
    for spec in ["false", "no", "[]", "{}"] {
        let text = format!("FullName: a.B\nType: Library\nRequire: {{b.C: {spec}}}\n");
        let parsed =
            PackageManifest::read("manifest.yaml", text.as_bytes(), &ReadOptions::default());
        let (manifest, findings) = parsed.into_result().expect(spec);
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].contains("3:16: warning[PK0010]"),
            "{findings:?}"
        );
        let mut requirements = manifest.requirements.iter();
        let required = requirements.find(|it| it.package.as_str() == "b.C");
        let required = required.expect("it is required");
        assert_eq!(required.spec, Spec::unspecified(), "{spec}");
    }
}

#[test]
fn manifests() {
    let with = |line: &str| format!("FullName: a.B\nType: Library\n{line}\n");
    let inputs: Vec<String> = [
        "Version: v1.2.3",
        "Version: 1.2.3.4",
        "Version:",
        "Version: ''",
        "Version: ~",
        "Version: [1]",
        "Version: 18446744073709551616.0.0",
        "Version: 01.2.3",
        "Format: 1.5",
        "Format: MuranoPL/9.0",
        "Format: Heat.HOT/2.0",
        "Format: x",
        "Type2: 1\nType: Other",
        "Require:\n  a.C: >1",
        "Require:\n  a.C: >=1",
        "Require:\n  a.C: >=1, <2",
        "Require:\n  a.C: *",
        "Require:\n  a.C: !=1.5",
        "Require:\n  a.C: 1 - 2",
        "Require:\n  a.C: '>=1 || <0.5'",
        "Require:\n  a.C: '>=1 <2'",
        "Require:\n  a.C: 1.x",
        "Require:\n  a.C: v1",
        "Require:\n  a.C: '*.1'",
        "Require:\n  a.C: '1,'",
        "Require:\n  a.C: {min: 1}",
        "Require: [a.C]",
        "Require:\n- a.C: 1.0\n- a.D: 2",
        "Require:\n- a.C 1.0",
        "Require:\n- a.C@1.0",
        "Require:\n- a.C: '>=1'",
        "Require:\n  a.B: 1",
        "Require:\n  a.C: 1\n  A.c: 1",
        "Require:\n  a.C: 1\n  a.C: 2",
        "Require:\n  no: 1",
        "Require:\n  1: 1",
        "Require:\n  a b: 1",
        "Require:\n  http://x/y: 1",
        "Require:\n  <<: {a.C: 1}",
        "Require: &r\n  a.C: 1",
        "Tags: {web: x}",
        "Tags: *t",
        "Name: !!str x",
        "Name: !yaql x",
        "<<<<<<< HEAD\nRequire:\n  a.C: 1\n=======\nRequire:\n  a.C: 2\n>>>>>>> theirs",
        "Require:\n  a.C: 1\n=======\n  a.D: 2",
        "Classes: [x]",
        "Classes:\n  a.C:",
        "Classes:\n  a.C: ../x.yaml",
        "Classes:\n  a.C: /etc/passwd",
        "Classes:\n  a c: x.yaml",
        "Logo: ../x",
        "Name: \"a\\e[2J\"",
        "Description: \"\u{202e}x\"",
        "? [x]\n: y",
        "Classes:\n\ta.C: x",
        "Name: 'open",
    ]
    .iter()
    .map(|line| with(line))
    .chain(
        [
            "",
            "# nothing",
            "- a",
            "x",
            "FullName: a.B",
            "Type: Library",
            "FullName: a..B\nType: Library",
            "FullName: 1a\nType: Library",
            "FullName: con\nType: Library",
            "FullName: no\nType: Library",
            "FullName: [a]\nType: Library",
            "FullName: \u{441}om.x\nType: Library",
            "%YAML 1.2\n---\na: 1",
            "FullName: a.B\nType: Library\nRequire:\n  x.Y: >\n",
            "FullName: a.B\nType: Library\nRequire:\n  x.Y: >\n    1.2\n",
            "FullName: a.B\nType: Library\nRequire:\n  x.Y: |-\n    >=1\n  z.W: 1\n",
            "FullName: a.B\nType: Library\nRequire:\n  x.Y: >2\n      1\n",
            "FullName: a.B\nType: Library\nRequire:\n  x.Y: >\n    some text\n",
            "FullName: a.B\nType: Library\nRequire:\n  x.Y: >1 # a > b\n",
            "FullName: a.B\nType: Library\nRequire:\n  x.Y:\n    >=1\n",
            "FullName: a.B\nType: Library\nRequire: {x.Y: >=1}\n",
            "FullName: a.B\nType: Library\nRequire: {x.Y: >=1, <2}\n",
            "FullName: a.B\nType: Library\nRequire: {x.Y: >=1, z.W: 2}\n",
            "FullName: a.B\nType: Library\nRequire: {z.W: \"2\", x.Y: *}\n",
            "FullName: a.B\nType: Library\nRequire: {x.Y: !=1}\n",
            "FullName: a.B\nType: Library\nRequire: {x.Y:\n  >=1}\n",
            "FullName: a.B\nType: Library\n---\nFullName: a.C\nType: Library",
        ]
        .map(str::to_owned),
    )
    .collect();
    insta::assert_snapshot!(reports(inputs.iter().map(String::as_str), manifest));
}

/// Readers of YAML 1.1 take them for ends of lines: they would read another name than this one.
#[test]
fn line_ends_of_other_readers_are_rejected() {
    for end in ["\u{85}", "\u{2028}", "\u{2029}"] {
        for hidden in [
            format!("# x{end}FullName: com.evil.Hidden"),
            format!("Description: x{end}FullName: com.evil.Hidden"),
            format!("Description: \"x{end}y\""),
            format!("Description: |\n  x{end}FullName: com.evil.Hidden"),
            format!("x{end}y: z"),
        ] {
            let text = format!("FullName: a.B\nType: Library\n{hidden}\n");
            let findings = manifest(text.as_bytes());
            assert!(findings.iter().any(Diagnostic::is_error), "{text:?}");
            let text = format!("Name: X\n{hidden}\n");
            let read = read_class_file("C.yaml", text.as_bytes(), &[], &ReadOptions::default());
            let mut findings = read.diagnostics().iter();
            assert!(findings.any(Diagnostic::is_error), "{text:?}");
            let text = format!("Objects: []\n{hidden}\n");
            let read = ObjectModel::read("model.yaml", text.as_bytes(), &Limits::default());
            let mut findings = read.diagnostics().iter();
            assert!(findings.any(Diagnostic::is_error), "{text:?}");
        }
    }
}

#[test]
fn several_problems_are_reported_at_once() {
    let text = "FullName: a b\nVersion: x\nRequire:\n  a.C: >1\n  d..e: y\nClasses: []\n";
    insta::assert_snapshot!(reports([text], manifest));
}

#[test]
fn class_files() {
    let read = |bytes: &[u8]| {
        read_class_file("C.yaml", bytes, &[], &ReadOptions::default())
            .diagnostics()
            .to_vec()
    };
    let inputs = [
        "",
        "x",
        "- a",
        "Name:",
        "Name: 1",
        "Name: a b",
        "Extends: X",
        "Name: n:X",
        "Namespaces: [a]\nName: X",
        "Namespaces: {a b: c}\nName: X",
        "Namespaces: {a: 1..b}\nName: a:X",
        "Namespaces: {=: 1..b}\nName: X",
        "Namespaces: {a: [b]}\nName: X",
        "Extends: X\n---\nExtends: Y",
        "Namespaces: {=: a, =: b}\nName: X",
        "Name: X\nExtends: {a: b}",
        "Name: X\nExtends: [[Y]]",
        "Name: X\nExtends: [~]",
        "Name: X\nExtends: 42",
        "Name: X\nExtends: [Y, Y]",
        "Name: X\nExtends: X",
        "Name: X\nExtends: a:b:c",
        "Name: X\nUsage: Bogus",
        "Name: X\nProperties: [a]",
        "Name: X\nProperties: {a: 1}",
        "Name: X\nMethods: [a]",
        "Name: X\nMethods: {a: b}",
        "Name: X\nMethods:\n  a:\n    Arguments: b",
        "Name: X\nMeta: [[Y]]",
        "Name: X\nImport: n:Y",
        "Name: !other X",
        "Name: X\nMethods: !yaql {a: b}",
    ];
    insta::assert_snapshot!(reports(inputs, read));
}

#[test]
fn index_records() {
    let read = |bytes: &[u8]| {
        let line = std::str::from_utf8(bytes).expect("the inputs are text");
        IndexRecord::parse_line(line, &Limits::default())
            .err()
            .into_iter()
            .collect()
    };
    let inputs = [
        "",
        "[]",
        "{",
        "{}",
        r#"{"name":"a.B"}"#,
        r#"{"version":"1.0.0"}"#,
        r#"{"name":"a b","version":"1.0.0"}"#,
        r#"{"name":"a.B","version":"x"}"#,
        r#"{"name":"a.B","version":1}"#,
        r#"{"name":"a.B","version":"1.0.0"} x"#,
        r#"{"name":"a.B","name":"a.C","version":"1.0.0"}"#,
        r#"{"name":"a.B","version":"1.0.0","require":[["a.C"]]}"#,
        r#"{"name":"a.B","version":"1.0.0","require":[["a.C","1","2"]]}"#,
        r#"{"name":"a.B","version":"1.0.0","require":[["a.C","x"]]}"#,
        r#"{"name":"a.B","version":"1.0.0","require":[["a.C","1"],["a.C","2"]]}"#,
        r#"{"name":"a.B","version":"1.0.0","require":{"a.B":"1"}}"#,
        r#"{"name":"a.B","version":"1.0.0","require":3}"#,
        r#"{"name":"a.B","version":"1.0.0","classes":[]}"#,
        r#"{"name":"a.B","version":"1.0.0","classes":{"a b":{}}}"#,
        r#"{"name":"a.B","version":"1.0.0","classes":{"a.C":{},"a.C":{}}}"#,
        r#"{"name":"a.B","version":"1.0.0","classes":{"a.C":{}},"internal":{"a.C":{}}}"#,
        r#"{"name":"a.B","version":"1.0.0","classes":{"a.C":{"extends":["x","x"]}}}"#,
        r#"{"name":"a.B","version":"1.0.0","sha256":"abc"}"#,
        r#"{"name":"a.B","version":"1.0.0","size":-1}"#,
        r#"{"name":"a.B","version":"1.0.0","yanked":"yes"}"#,
    ];
    insta::assert_snapshot!(reports(inputs, read));
}

#[test]
fn lockfiles() {
    let read = |bytes: &[u8]| {
        Lockfile::read("pkgres.lock", bytes, &Limits::default())
            .diagnostics()
            .to_vec()
    };
    let head = "lock: 1\norder: 1\n";
    let package = "packages:\n- name: a.B\n  version: 1.0.0\n  source: x\n";
    let inputs: Vec<String> = [
        String::new(),
        "complete: true".to_owned(),
        "lock: x".to_owned(),
        "lock: 0".to_owned(),
        "lock: 2\n".to_owned(),
        "# read by pkgres 9 and later.\nlock: 999\n".to_owned(),
        "lock: 1\norder: 2\ncomplete: true\n".to_owned(),
        "lock: 1\n".to_owned(),
        head.to_owned(),
        format!("{head}complete: true\nmore: 1\n"),
        format!("{head}complete: truely\n"),
        format!("{head}complete: true\n{head}complete: true\n"),
        format!("{head}roots:\n- name: a b\n"),
        format!("{head}roots:\n- name: b\n- name: a\ncomplete: true\n"),
        format!("{head}roots:\n- name: a\n- name: a\ncomplete: true\n"),
        format!(
            "{head}roots:\n- name: a\n  requires:\n    b:\n      spec: 1\n      version: 1.0.0\n"
        ),
        format!("{head}roots:\n- name: a\n  requires:\n    b:\n      spec: \"x\"\n"),
        format!(
            "{head}roots:\n- name: a\n  requires:\n    b:\n      spec: \"1\"\n      version: 1.0\n"
        ),
        format!("{head}side_by_side:\n- b\n- a\ncomplete: true\n"),
        format!("{head}packages:\n- name: a.B\n  source: x\n"),
        format!("{head}packages:\n- name: a.B\n  version: '1.0.0'\n"),
        format!("{head}packages:\n- name: a.B\n  version: 1.0.0\n  source: 1x\n"),
        format!("{head}{package}  sha256: ABC\ncomplete: true\n"),
        format!(
            "{head}{package}  sha256: {}\ncomplete: true\n",
            "A".repeat(64)
        ),
        format!("{head}{package}  requires:\n    a.C: x\ncomplete: true\n"),
        format!("{head}{package}  requires:\n    a.D: 1.0.0\n    a.C: 1.0.0\ncomplete: true\n"),
        format!("{head}{package}  other: 1\ncomplete: true\n"),
        format!("{head}{package}- name: a.B\n  version: 1.0.0\n  source: x\ncomplete: true\n"),
        format!("{head}{package}<<<<<<< HEAD\ncomplete: true\n"),
        // The lines of both sides of a merge.
        format!("{head}{package}  version: 1.1.0\n  source: x\ncomplete: true\n"),
        format!("{head}packages:\n- name: a.B\n- name: a.C\n  version: 1.0.0\ncomplete: true\n"),
        format!(
            "{head}{package}  requires:\n    a.C: 1.0.0\n    a.C: 1.1.0\ncomplete: true\n"
        ),
        format!(
            "{head}roots:\n- name: a\n  requires:\n    b:\n      spec: \"1\"\n      version: 1.0.0\n      version: 1.1.0\n"
        ),
        format!("{head}{package}packages:\n- name: a.C\ncomplete: true\n"),
        "\u{0}\u{0}\u{0}".to_owned(),
        "{\"lock\": 1}".to_owned(),
    ]
    .into();
    insta::assert_snapshot!(reports(inputs.iter().map(String::as_str), read));
}

#[test]
fn errors_name_the_exceeded_limit() {
    let options = ReadOptions::default();
    let large = format!("FullName: a.B # {}", "x".repeat(1 << 20));
    let deep = format!("a: {}", "[".repeat(100));
    let deep_block: String = (0..100)
        .map(|level| format!("{}a:\n", " ".repeat(level)))
        .collect();
    let many = format!(
        "FullName: a.B\nType: Library\nTags: [{}]",
        "x,".repeat(50_000)
    );
    let requirements: String = (0..1001).map(|n| format!("  p{n}: 1\n")).collect();
    let requirements = format!("FullName: a.B\nType: Library\nRequire:\n{requirements}");
    let documents = "---\nName: X\n".repeat(20_000);
    for (text, reports) in [
        (
            large,
            "manifest.yaml:1:1: error[PK0001]: more than the limit of 1048576 bytes in a manifest",
        ),
        (
            deep,
            "manifest.yaml:1:70: error[PK0001]: more than the limit of 64 levels of nesting",
        ),
        (
            deep_block,
            "manifest.yaml:65:65: error[PK0001]: more than the limit of 64 levels of nesting",
        ),
        (
            many,
            "manifest.yaml:3:99992: error[PK0001]: more than the limit of 50000 nodes",
        ),
        (
            requirements,
            "manifest.yaml:1004:3: error[PK0001]: more than the limit of 1000 requirements",
        ),
        (
            documents,
            "manifest.yaml:25001:1: error[PK0001]: more than the limit of 50000 nodes",
        ),
    ] {
        let findings = PackageManifest::read("manifest.yaml", text.as_bytes(), &options);
        assert_eq!(findings.diagnostics()[0].to_string(), reports);
    }
    let line = format!(
        "{{\"name\":\"a.B\",\"version\":\"1.0.0\",\"x\":\"{}\"}}",
        "x".repeat(1 << 20)
    );
    let error = IndexRecord::parse_line(&line, &Limits::default()).expect_err("too long");
    assert_eq!(
        error.to_string(),
        "index record:1:1: error[PK0001]: more than the limit of 1048576 bytes in a line of an index"
    );
}

/// The limit is on how deep classes inherit, not on how many there are, and a cycle has an end.
#[test]
fn classes_that_inherit_too_deep() {
    let mut options = ReadOptions::default();
    options.limits.inheritance_depth = 3;
    let is_rejected = |extends: &dyn Fn(usize) -> String, count: usize| {
        let class = |number| format!("Name: C{number}\nExtends: {}\n", extends(number));
        let file: Vec<String> = (0..count).map(class).collect();
        let manifest = b"FullName: a.B\nType: Library\nClasses: {C0: C.yaml}\n";
        let manifest = PackageManifest::read("manifest.yaml", manifest, &options);
        let (manifest, _) = manifest.into_result().expect("a manifest");
        let file = file.join("---\n");
        let package = Package::assemble(manifest, &options, |_| Some(file.clone().into_bytes()));
        let findings = package.diagnostics();
        findings.iter().any(|finding| {
            let message = &finding.message;
            message == "more than the limit of 3 classes that extend one another in a chain"
        })
    };
    let chain = |number: usize| format!("C{}", number + 1);
    assert!(!is_rejected(&chain, 3), "C2 extends one that is not there");
    assert!(!is_rejected(&chain, 4));
    assert!(is_rejected(&chain, 5));
    let wide = |number: usize| match number {
        0 => "[C1, C2, C3, C4, C5, C6]".to_owned(),
        _ => "Other".to_owned(),
    };
    assert!(!is_rejected(&wide, 7));
    let cycle = |number: usize| format!("C{}", (number + 1) % 3);
    assert!(!is_rejected(&cycle, 3));
}
