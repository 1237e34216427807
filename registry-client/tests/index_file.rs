//! Index files: what is found in them, and when errors are reported.

// These files are thrown away.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::io::Write as _;
use std::num::NonZeroUsize;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{ClassName, IndexRecord, Limits, PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{
    Answer, IndexFileRegistry, Registry as _, RegistryError, RegistrySet, drive,
};
use pkgres_resolver::{Request, Resolver};
use tempfile::NamedTempFile;

fn file(lines: &[&str]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    for line in lines {
        writeln!(file, "{line}").expect("there is room");
    }
    file
}

fn open(file: &NamedTempFile, limits: &Limits) -> Result<IndexFileRegistry, RegistryError> {
    let name = RegistryName::parse("test").expect("a name");
    IndexFileRegistry::open(name, file.path(), limits, NonZeroUsize::MIN)
}

/// The versions of a package, or `None` if there is no such package.
fn versions(registry: &IndexFileRegistry, name: &str) -> Result<Option<Vec<String>>, String> {
    let name = PackageName::parse(name).expect("a name");
    let mut answers = registry
        .records(std::slice::from_ref(&name))
        .map_err(|error| shown(&error))?;
    let records = answers.pop().expect("an answer for the name");
    let version = |record: &IndexRecord| {
        assert_eq!(record.name, name);
        record.version.to_string()
    };
    Ok(records.map(|records| records.iter().map(version).collect()))
}

/// An error with the lines and columns that it names.
fn shown(error: &RegistryError) -> String {
    placed(&error.to_diagnostic())
}

/// The message of a finding with its places.
fn placed(finding: &Diagnostic) -> String {
    let mut text = finding.message.clone();
    for label in &finding.labels {
        let place = label.location.position();
        text.push_str(&format!(" @{}:{}", place.line, place.column));
    }
    text
}

fn listed(versions: &[&str]) -> Vec<String> {
    versions.iter().map(ToString::to_string).collect()
}

#[test]
fn lines_of_a_package_are_found_wherever_and_however_they_stand() {
    let file = file(&[
        r#"{"name":"b.B","version":"2.0.0"}"#,
        r#"{"name":"a.A","version":"1.0.0"}"#,
        r#"{"name":"a.A","version":"1.1.0"}"#,
        "",
        r#" { "x": [{"name":"c.C"}], "version": "1.0.0", "name" : "b.B" }  "#,
        r#"{"name":"a\u002eA","version":"0.9.0"}"#,
        r#"{"name":"b.B","version":"1.0.0","x":[{"name":"c.C"}]}"#,
    ]);
    let registry = open(&file, &Limits::default()).expect("the index can be opened");
    assert_eq!(
        versions(&registry, "a.A"),
        Ok(Some(listed(&["0.9.0", "1.0.0", "1.1.0"])))
    );
    // The same release twice is one.
    assert_eq!(
        versions(&registry, "b.B"),
        Ok(Some(listed(&["1.0.0", "2.0.0"])))
    );
    assert_eq!(versions(&registry, "c.C"), Ok(None));
}

/// Some editors begin files with a byte order mark. Elsewhere it is foreign.
#[test]
fn a_file_may_begin_with_a_byte_order_mark() {
    let file = file(&[
        "\u{feff}{\"name\":\"a.A\",\"version\":\"1.0.0\"}",
        r#"{"name":"a.A","version":"2.0.0"}"#,
        "\u{feff}{\"name\":\"a.A\",\"version\":\"3.0.0\"}",
    ]);
    let registry = open(&file, &Limits::default()).expect("the index can be opened");
    assert_eq!(
        versions(&registry, "a.A"),
        Ok(Some(listed(&["1.0.0", "2.0.0"])))
    );
}

#[test]
fn an_error_is_reported_when_its_package_is_needed() {
    let file = file(&[
        r#"{"name":"good.One","version":"1.0.0"}"#,
        r#"{"name":"bad.Json","version":"1.0.0",}"#,
        r#"{"name":"bad.Version","version":"one"}"#,
        r#"{"name":"good.Three","version":"1.0.0"}"#,
        r#"{"name":"good.Two","version":"1.0.0"}"#,
        r#"{"name":"good.Three","version":"2.0.0","yanked":true}"#,
        r#"{"name":"bad.Names","version":"1.0.0","name":"good.Two"}"#,
        r#"{"name":"bad.Word","version":nothing}"#,
    ]);
    let registry = open(&file, &Limits::default()).expect("the index can be opened");
    assert_eq!(
        versions(&registry, "good.One"),
        Ok(Some(listed(&["1.0.0"])))
    );
    assert_eq!(
        versions(&registry, "good.Two"),
        Ok(Some(listed(&["1.0.0"])))
    );
    for (name, message, places) in [
        ("bad.Json", "trailing comma", " @2:38"),
        ("bad.Version", "not an index record", " @3:33"),
        ("bad.Names", "`name` appears twice", " @7:39"),
        ("bad.Word", "this is not JSON", " @8:31"),
    ] {
        // The line is left out, and told of once.
        for expected in [1, 0] {
            assert_eq!(versions(&registry, name), Ok(Some(Vec::new())), "{name}");
            let findings = registry.take_findings();
            assert_eq!(findings.len(), expected, "{name}: {findings:?}");
            for finding in findings {
                let text = placed(&finding);
                assert!(text.contains(message) && text.ends_with(places), "{text}");
                assert!(!finding.is_error());
            }
        }
    }
}

/// A version with two contents is no candidate. Other versions, and equal lines, are not affected.
#[test]
fn a_version_with_two_contents_is_left_out() {
    let file = file(&[
        r#"{"name":"a.Twice","version":"1.1.0"}"#,
        r#"{"name":"a.Twice","version":"2.0.0"}"#,
        r#"{"name":"b.Other","version":"1.0.0"}"#,
        r#"{"name":"a.Twice","version":"1.1.0"}"#,
        r#"{"name":"a.Twice","version":"1.1.0","yanked":true}"#,
        r#"{"name":"a.Twice","version":"2.0.0+b","require":{"b.Other":"1"}}"#,
        r#"{"name":"a.Twice","version":"1.0.0"}"#,
        r#"{"name":"a.Twice","version":"1.0.0"}"#,
        r#"{"name":"a.Twice","version":"3.0.0+b"}"#,
        r#"{"name":"a.Twice","version":"3.0.0+a"}"#,
    ]);
    let registry = open(&file, &Limits::default()).expect("the index can be opened");
    for is_first in [true, false] {
        assert_eq!(
            versions(&registry, "a.Twice"),
            Ok(Some(listed(&["1.0.0", "3.0.0+a"])))
        );
        let findings = registry.take_findings();
        let texts: Vec<String> = findings.iter().map(placed).collect();
        let expected = [
            "a.Twice 1.1.0 appears twice with different content, so it is not used @1:1 @5:1",
            "a.Twice 2.0.0 appears twice with different content, so it is not used @2:1 @6:1",
        ];
        assert_eq!(texts, if is_first { &expected[..] } else { &[] });
        assert!(!findings.iter().any(Diagnostic::is_error));
    }
}

/// An unreadable line hides its own version only, even if another line describes the same version.
#[test]
fn a_line_that_cannot_be_read_hides_its_version() {
    let mut limits = Limits::default();
    limits.index_line_bytes = 60;
    let file = file(&[
        r#"{"name":"a.A","version":"1.0.0"}"#,
        r#"{"name":"a.A","version":"1.1.0"}"#,
        r#"{"name":"a.A","version":"1.1","require":7}"#,
        r#"{"name":"b.B","version":"1.1.0"}"#,
        r#"{"name":"a.A","version":"1.2.0","classes""#,
        r#"{"name":"a.A","version":"1.2.0+b"}"#,
        r#"{"name":"a.A","version":"1.3.0","x":"......................"}"#,
        r#"{"name":"a.A","version":"1.3.0"}"#,
        r#"{"name":"a.A","version":"1.4.0"}"#,
    ]);
    let registry = open(&file, &limits).expect("the other lines are an index");
    for is_first in [true, false] {
        let found = versions(&registry, "a.A");
        assert_eq!(found, Ok(Some(listed(&["1.0.0", "1.4.0"]))));
        let findings = registry.take_findings();
        let texts = findings.iter().map(placed);
        let texts: Vec<String> = texts.filter(|text| text.contains("twice")).collect();
        let why = "appears twice, and one of its lines cannot be read, so it is not used";
        let expected = [
            format!("a.A 1.1.0 {why} @2:1 @3:1"),
            format!("a.A 1.2.0+b {why} @6:1 @5:1"),
            format!("a.A 1.3.0 {why} @8:1 @7:1"),
        ];
        assert_eq!(texts, if is_first { &expected[..] } else { &[] });
    }
    assert_eq!(versions(&registry, "b.B"), Ok(Some(listed(&["1.1.0"]))));
}

#[test]
fn a_line_without_a_package_is_left_out() {
    for (line, message) in [
        (r#"{"version":"1.0.0"}"#, "missing field `name`"),
        (
            r#"{"name":"a b","version":"1.0.0"}"#,
            "`a b` is not a package name",
        ),
        (r#"{"name":1,"version":"1.0.0"}"#, "invalid type"),
        ("nothing", "this is not JSON"),
    ] {
        let file = file(&[r#"{"name":"a.A","version":"1.0.0"}"#, line]);
        let registry = open(&file, &Limits::default()).expect("the other line is an index");
        assert_eq!(versions(&registry, "a.A"), Ok(Some(listed(&["1.0.0"]))));
        let findings = registry.take_findings();
        let text = placed(&findings[0]);
        assert!(text.contains(message) && text.contains(" @2:"), "{text}");
        assert_eq!(findings.len(), 1);
    }
    let file = file(&["nothing", "else"]);
    let error = open(&file, &Limits::default()).expect_err("there is no record");
    assert!(shown(&error).contains(" @1:"));
}

#[test]
fn a_line_of_another_ecosystem_is_reported_for_what_is_wrong() {
    for (line, message) in [
        (
            r#"{"ecosystem":"ansible","name":"a.b""#,
            "EOF while parsing",
        ),
        (r#"{"ecosystem":"ansible","name":"a.b",}"#, "trailing comma"),
        (
            r#"{"ecosystem":"ansible","name":"a.b","version":"1.0.0","require":3}"#,
            "invalid type: integer `3`",
        ),
        (
            r#"{"ecosystem":"ansible","name":"a.b","version":"1.0.0","ecosystem":"opcua"}"#,
            "two values",
        ),
    ] {
        let file = file(&[r#"{"name":"a.A","version":"1.0.0"}"#, line]);
        let registry = open(&file, &Limits::default()).expect("the other line is an index");
        assert_eq!(versions(&registry, "a.b"), Ok(Some(Vec::new())), "{line}");
        let findings = registry.take_findings();
        let text = placed(&findings[0]);
        assert!(text.contains(message) && text.contains(" @2:"), "{text}");
        assert!(!text.contains(" at line "), "{text}");
    }
}

#[test]
fn a_line_that_is_too_long_hides_itself_alone() {
    let mut limits = Limits::default();
    limits.index_line_bytes = 40;
    let long = r#"{"name":"a.A","version":"1.1.0","x":"........"}"#;
    let file = file(&[
        r#"{"name":"a.A","version":"1.0.0"}"#,
        long,
        r#"{"name":"a.A","version":"1.2.0"}"#,
    ]);
    let registry = open(&file, &limits).expect("the other lines are an index");
    let found = versions(&registry, "a.A");
    assert_eq!(found, Ok(Some(listed(&["1.0.0", "1.2.0"]))));
    let findings = registry.take_findings();
    assert_eq!(
        findings.iter().map(placed).collect::<Vec<_>>(),
        [
            "a line of an index is skipped: more than the limit of 40 bytes in line 2 of an index, about `a.A` @2:1"
        ]
    );
}

#[test]
fn a_package_of_a_line_that_is_too_long_keeps_its_name() {
    let mut limits = Limits::default();
    limits.index_line_bytes = 40;
    let long = r#"{"name":"a.A","version":"1.1.0","x":"........"}"#;
    let other = r#"{"name":"a.B","version":"1.0.0"}"#;
    let index = file(&[long, other]);
    let registry = open(&index, &limits).expect("the other line is an index");
    assert_eq!(versions(&registry, "a.A"), Ok(Some(Vec::new())));
    assert_eq!(versions(&registry, "a.C"), Ok(None));

    let index = file(&["x".repeat(60).as_str(), other]);
    let error = open(&index, &limits).expect_err("any package may be meant");
    assert_eq!(
        shown(&error),
        "more than the limit of 40 bytes in line 1 of an index @1:1"
    );
}

#[test]
fn classes_are_looked_for_where_they_are_named() {
    let file = file(&[
        r#"{"name":"b.B","version":"1.0.0","classes":{"x.C":{}}}"#,
        r#"{"name":"b.B","version":"2.0.0","classes":{}}"#,
        r#"{"name":"uses.It","version":"1.0.0","classes":{"x.D":{"extends":["x.C"]}}}"#,
        r#"{"name":"hides.It","version":"1.0.0","classes":{},"internal":{"x.C":{}}}"#,
        r#"{"name":"wrong","version":1}"#,
        r#"{"name":"unknown.Classes","version":"1.0.0"}"#,
        r#"{"name":"a.Escaped","version":"1.0.0","classes":{"x\u002eC":{}}}"#,
    ]);
    let registry = open(&file, &Limits::default()).expect("the index can be opened");
    let class = ClassName::parse("x.C").expect("a name");
    let names = registry.defining(&class).map_err(|error| shown(&error));
    let names = names.expect("the faulty line does not speak of the class");
    let names: Vec<&str> = names.iter().map(PackageName::as_str).collect();
    assert_eq!(names, ["a.Escaped", "b.B"]);
}

#[test]
fn a_file_that_changes_is_not_misread() {
    let file = file(&[
        r#"{"name":"a.A","version":"1.0.0"}"#,
        r#"{"name":"b.B","version":"1.0.0"}"#,
    ]);
    let registry = open(&file, &Limits::default()).expect("the index can be opened");
    let changed = format!("{}\n", r#"{"name":"c.C","version":"1.0.0"}"#);
    fs::write(file.path(), changed).expect("the file can be written");
    let error = |name| versions(&registry, name).expect_err("the file changed");
    assert!(error("a.A").contains("the file changed"));
    assert!(error("b.B").contains("the file became shorter"));
}

/// Packages that require the next one each, and what the registry of them says.
fn chain(length: usize) -> Vec<String> {
    let line = |at: usize| {
        let next = at + 1;
        format!(r#"{{"name":"a.P{at}","version":"1.0.0","require":[["a.P{next}","1"]]}}"#)
    };
    let last = format!(r#"{{"name":"a.P{length}","version":"1.0.0"}}"#);
    (0..length).map(line).chain([last]).collect()
}

fn chosen(registry: IndexFileRegistry, first: usize) -> usize {
    let root = format!(r#"{{"name":"a.Root","version":"1.0.0","require":[["a.P{first}","1"]]}}"#);
    let root = IndexRecord::parse_line(&root, &Limits::default()).expect("a record");
    let mut request = Request::new(root);
    request.core = None;
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let answer = drive(
        &mut Resolver::new(request),
        &registries,
        &ReadOptions::default(),
    );
    match answer.expect("the index can be read") {
        Answer::Solved(resolution) => resolution.packages().len(),
        other => panic!("there is an answer: {other:?}"),
    }
}

#[test]
fn an_index_is_compiled_when_much_of_it_is_needed() {
    let lines = chain(79);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let file = file(&lines);
    let open = || open(&file, &Limits::default()).expect("the index can be opened");
    let registry = open();
    let name = |at: usize| PackageName::parse(&format!("a.P{at}")).expect("a name");
    let is_prepared = |registry: &IndexFileRegistry, at| {
        let prepared = registry.prepared(&[name(at)]).expect("it can be asked");
        prepared.map(|index| index.package_count())
    };
    for at in 0..9 {
        assert_eq!(is_prepared(&registry, at), None, "{at}");
    }
    assert_eq!(is_prepared(&registry, 9), Some(80));
    // Whether few are needed or all of them, the answer is the same.
    for first in [0, 75] {
        assert_eq!(chosen(open(), first), 80 - first);
    }
}

#[test]
fn a_file_that_changed_is_not_compiled() {
    let lines = chain(20);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut file = file(&lines);
    let registry = open(&file, &Limits::default()).expect("the index can be opened");
    writeln!(file, r#"{{"name":"a.New","version":"1.0.0"}}"#).expect("there is room");
    let asked: Vec<PackageName> = (0..20)
        .map(|at| PackageName::parse(&format!("a.P{at}")).expect("a name"))
        .collect();
    assert!(
        registry
            .prepared(&asked)
            .expect("it can be asked")
            .is_none()
    );
}
