//! Class files that the reference implementation loads, although they leave out or repeat something.

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{ClassDefinition, ClassName, ReadOptions, read_class_file};

/// The classes of a file that is listed for `requested`, and the findings about it.
fn read(requested: &[&str], text: &str) -> (Vec<ClassDefinition>, Vec<Diagnostic>) {
    let names: Vec<ClassName> = requested
        .iter()
        .map(|name| ClassName::parse(name).expect("a class name"))
        .collect();
    let names: Vec<&ClassName> = names.iter().collect();
    read_class_file("C.yaml", text.as_bytes(), &names, &ReadOptions::default())
        .into_result()
        .expect("the file can be read")
}

/// The classes of a file, each with the classes that it extends.
fn shown(requested: &[&str], text: &str) -> Vec<String> {
    let (classes, findings) = read(requested, text);
    assert_eq!(findings, []);
    let shown = classes.iter().map(|class| {
        let parents: Vec<&str> = (class.extends.iter())
            .map(|parent| parent.value.as_str())
            .collect();
        format!("{}({})", class.name.value, parents.join(" "))
    });
    shown.collect()
}

/// The only finding about a file, which is a warning.
fn warning(text: &str) -> String {
    let (_, findings) = read(&[], text);
    let [finding] = findings.as_slice() else {
        panic!("{findings:?}");
    };
    assert!(!finding.is_error(), "{finding}");
    finding.message.clone()
}

#[test]
fn an_empty_namespace_adds_nothing_to_a_name() {
    for nothing in ["", "~", "null", "''", "false"] {
        let text = format!("Namespaces: {{'=': {nothing}}}\nName: X\nExtends: :Y");
        assert_eq!(shown(&[], &text), ["X(Y)"], "{nothing}");
        let text = format!("Namespaces: {{'=': a.b, n: {nothing}}}\nName: X\nExtends: n:Y");
        assert_eq!(shown(&[], &text), ["a.b.X(Y)"], "{nothing}");
    }
    // No name can have this prefix.
    assert_eq!(shown(&[], "Namespaces: {'': a}\nName: X"), ["X()"]);
    // Neither is used.
    assert_eq!(
        shown(&[], "Namespaces: {=: a, n: 1..b}\nName: X"),
        ["a.X()"]
    );
    assert_eq!(shown(&[], "Namespaces: []\nName: X"), ["X()"]);
    // It ends what earlier documents declare.
    let text = "Namespaces: {=: a}\nName: X\n---\nNamespaces:\nName: Y";
    assert_eq!(shown(&[], text), ["a.X()", "Y()"]);
}

#[test]
fn a_class_without_a_name_is_the_one_that_the_file_is_listed_for() {
    let text = "Namespaces: {=: a}\nExtends: Y";
    assert_eq!(shown(&["a.X"], text), ["a.X(a.Y)"]);
    assert_eq!(shown(&["other.X"], text), ["other.X(a.Y)"]);
    // Also if the name is there and empty.
    assert_eq!(shown(&["a.X"], "Name:\nExtends: Y"), ["a.X(Y)"]);
    assert_eq!(shown(&["a.X"], "Name: ''\nExtends: Y"), ["a.X(Y)"]);
    // The others have names.
    let text = "Name: a.One\n---\nExtends: a.One\n---\nName: a.Two";
    let listed = ["a.One", "a.Two", "a.Three"];
    assert_eq!(
        shown(&listed, text),
        ["a.One()", "a.Two()", "a.Three(a.One)"]
    );
    // It is created for each class that is looked for.
    let text = "Properties: {}";
    assert_eq!(shown(&["a.One", "a.Two"], text), ["a.One()", "a.Two()"]);
}

#[test]
fn a_class_without_a_name_that_nobody_looks_for_is_left_out() {
    let text = "Name: a.One\n---\nUsage: Class";
    let (classes, findings) = read(&["a.One"], text);
    assert_eq!(classes.len(), 1);
    assert!(!findings[0].is_error() && findings.len() == 1);
}

#[test]
fn methods_can_have_their_old_key() {
    let contract =
        |key: &str| format!("{key}:\n  run:\n    Arguments: {{to: {{Contract: $.class(a.T)}}}}\n");
    let names = |text: &str| -> (Vec<String>, usize) {
        let (classes, findings) = read(&[], &format!("Name: X\n{text}"));
        assert_eq!(findings, []);
        assert_eq!(classes[0].unknown_keys, []);
        let methods = classes[0].methods.iter();
        let methods = methods.map(|method| method.name.value.clone()).collect();
        (methods, classes[0].uses.len())
    };
    let run = vec!["run".to_owned()];
    assert_eq!(names(&contract("Workflow")), (run.clone(), 1));
    let empty = format!("Methods:\n{}", contract("Workflow"));
    assert_eq!(names(&empty), (run.clone(), 1));
    let both = format!("{}Workflow: {{other: {{}}}}\n", contract("Methods"));
    assert_eq!(names(&both), (run, 1));
}

#[test]
fn what_the_engine_looks_at_later_is_a_warning() {
    insta::assert_snapshot!(
        [
            "Name: X\nProperties:\n  a:\n    Contract: $.class(n:Y)",
            "Name: X\nProperties:\n  a:\n    Contract: $.class(",
            "Name: X\nProperties:\n  a:\n    Contract: $.class(Y, null, 'x')",
            "Name: X\nMethods:\n  a:\n    Arguments: {b: {Contract: $.template()}}",
        ]
        .map(warning)
        .join("\n")
    );
}

/// Why the deployment engine does not load the classes of a file.
fn rejections(text: &str) -> Vec<String> {
    let (classes, _) = read(&[], text);
    let rejections = classes.iter().flat_map(|class| &class.rejections);
    rejections.map(|finding| finding.message.clone()).collect()
}

#[test]
fn namespaces_that_the_engine_cannot_read_are_rejected() {
    for (namespaces, expected) in [
        ("''", "`Namespaces` must be a mapping"),
        ("false", "`Namespaces` must be a mapping"),
        ("[]", "`Namespaces` must be a mapping"),
        (
            "{=: a, on: b}",
            "YAML does not read the prefix `on` as text",
        ),
        (
            "{=: a, null: b}",
            "YAML does not read the prefix `null` as text",
        ),
        ("{=: true}", "a namespace must be text"),
        ("{=: a, x: {}}", "a namespace must be text"),
        ("{=: a, x: 1.b}", "`1.b` is not a namespace"),
    ] {
        let text = format!("Namespaces: {namespaces}\nName: y.X");
        assert_eq!(rejections(&text), [expected], "{namespaces}");
    }
    for namespaces in [
        "",
        "{}",
        "{=: a, \"on\": b}",
        "{=: a, x\u{e9}: b}",
        "{=: a, x: ''}",
    ] {
        let text = format!("Namespaces: {namespaces}\nName: y.X");
        assert_eq!(rejections(&text), Vec::<String>::new(), "{namespaces}");
    }
    // Null ends the namespaces of earlier documents, but later ones cannot take it over.
    let text = "Namespaces: {=: a}\nName: X\n---\nNamespaces:\nName: Y";
    assert_eq!(rejections(text), Vec::<String>::new());
    let expected = "`Namespaces` is null, which the deployment engine cannot pass on to the next \
                    document of the file";
    assert_eq!(rejections(&format!("{text}\n---\nName: Z")), [expected]);
}

#[test]
fn zero_and_no_count_as_absent() {
    for nothing in ["0", "0.0", "no", "off"] {
        let text =
            format!("Name: X\nExtends: {nothing}\nMethods: {nothing}\nProperties: {nothing}");
        assert_eq!(shown(&[], &text), ["X()"], "{nothing}");
    }
    let text = "Name: X\nMethods: {m: {Usage: 0, Body: }}";
    assert_eq!(rejections(text), Vec::<String>::new());
}
