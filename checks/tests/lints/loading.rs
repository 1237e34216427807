//! What Murano's engine does not load.

use pkgres_manifest::ReadOptions;
use pkgres_manifest::diagnostic::{Code, Severity};

use crate::{CORE, ERROR, HEAD, findings, in_class};

#[test]
fn declarations_that_the_engine_does_not_load() {
    let method = |text: &str| in_class(&format!("Methods:\n  run:\n    {text}\n"));
    for (text, is_loaded) in [
        ("Usage: Static", true),
        ("Usage: Extension", true),
        ("Usage: ''", true),
        ("Usage: Class", false),
        ("Usage: static", false),
        ("{Usage: Action, Scope: Public}", true),
        ("{Usage: Action, Scope: Session}", false),
        ("Arguments: [{a: {Contract: $, Usage: VarArgs}}]", true),
        ("Arguments: [{a: {Contract: $, Usage: Varargs}}]", false),
        ("Arguments: {a: {Contract: $}}", true),
        ("Arguments: {a: {Contract: $}, b: {Contract: $}}", false),
        ("Arguments: [{a: {Contract: $}, b: {Contract: $}}]", false),
        ("Arguments: [a]", false),
        ("Arguments: [{}]", false),
        ("Arguments: {}", false),
        ("Arguments: ''", false),
        ("Arguments: ~", true),
        ("Arguments: [{a: ~}]", false),
        ("Arguments: [{a: {Default: 1}}]", false),
        (
            "Arguments: [{a: {Contract: $, Usage: VarArgs}}, {b: {Contract: $, Usage: KwArgs}}]",
            true,
        ),
        (
            "Arguments: [{a: {Contract: $, Usage: VarArgs}}, {b: {Contract: $}}]",
            false,
        ),
        (
            "Arguments: [{a: {Contract: $, Usage: KwArgs}}, {b: {Contract: $, Usage: VarArgs}}]",
            false,
        ),
        (
            "Arguments: [{a: {Contract: $, Usage: KwArgs}}, {b: {Contract: $, Usage: KwArgs}}]",
            false,
        ),
    ] {
        let found = method(text);
        assert_eq!(found.is_empty(), is_loaded, "{text}: {found:?}");
        let mut severities = found.iter().map(|(_, severity, _)| *severity);
        assert!(severities.all(|severity| severity == ERROR), "{text}");
    }
    let found = in_class("Properties:\n  size: {Default: 1}\n");
    assert_eq!(found, [(Code::ClassFile, ERROR, 7)]);
}

#[test]
fn meta_classes_that_the_engine_does_not_load() {
    for (text, is_loaded) in [
        ("Cardinality: One", true),
        ("Cardinality: one", false),
        ("Cardinality: ~", false),
        ("Applies: All", true),
        ("Applies: [Type, Package]", true),
        ("Applies: []", true),
        ("Applies: Class", false),
        ("Applies: [All, Other]", false),
        ("Inherited: yes", true),
        ("Inherited: 'true'", false),
        ("Inherited: ~", false),
    ] {
        let found = in_class(&format!("Usage: Meta\n{text}\n"));
        let codes: Vec<Code> = found.iter().map(|(code, ..)| *code).collect();
        let expected: &[Code] = if is_loaded { &[] } else { &[Code::ClassFile] };
        assert_eq!(codes, expected, "{text}");
        // The keys of other classes mean nothing.
        assert_eq!(in_class(&format!("{text}\n")), [], "{text}");
    }
}

#[test]
fn what_meta_classes_describe() {
    let metas = "---\nName: Any\nUsage: Meta\n---\nName: Many\nUsage: Meta\nCardinality: Many\n\
                 ---\nName: OfTypes\nUsage: Meta\nApplies: Type\n---\nName: NoMeta\n";
    for (text, is_loaded) in [
        ("Meta: Any", true),
        ("Meta: [Any, Many, {Many: {}}]", true),
        ("Meta: [Any, {Any: {}}]", false),
        ("Meta: OfTypes", true),
        ("Meta: NoMeta", false),
        ("Meta: {Any: {}, Many: {}}", false),
        ("Meta: ''", false),
        ("Meta: [{}]", false),
        ("Meta: []", true),
        ("Properties: {p: {Contract: $, Meta: OfTypes}}", false),
        ("Properties: {p: {Contract: $, Meta: Any}}", true),
        ("Methods: {m: {Meta: OfTypes}}", false),
        ("Methods: {m: {Meta: [Many, Many]}}", true),
        (
            "Methods: {m: {Arguments: [{a: {Contract: $, Meta: OfTypes}}]}}",
            false,
        ),
        (
            "Methods: {m: {Arguments: [{a: {Contract: $, Meta: Any}}]}}",
            true,
        ),
        ("Import: ''", false),
        ("Import: {Any: {}}", false),
        ("Import: [NoMeta]", true),
    ] {
        let found = in_class(&format!("{text}\n{metas}"));
        let is_error = |(_, severity, _): &(Code, Severity, usize)| *severity == ERROR;
        assert_eq!(!found.iter().any(is_error), is_loaded, "{text}: {found:?}");
    }
}

#[test]
fn namespaces_that_the_engine_does_not_load() {
    for (namespaces, is_loaded) in [
        ("{=: acme, other: ''}", true),
        ("{=: acme, other: ~}", true),
        ("{=: acme, other: 1a}", false),
        ("{=: acme, other: a..b}", false),
        ("{=: acme, other: a-b}", false),
        ("{=: acme, other: a.}", false),
        ("{=: acme, '': other}", false),
        ("{=: acme, '': }", true),
    ] {
        let manifest = format!("{HEAD}{CORE}Classes:\n  acme.App: App.yaml\n");
        let class_file = format!("Namespaces: {namespaces}\nName: App\n");
        let found = findings(&manifest, &class_file);
        assert_eq!(found.is_empty(), is_loaded, "{namespaces}: {found:?}");
    }
}

#[test]
fn a_class_that_needs_itself_cannot_be_loaded() {
    let found = |body: &str| {
        let text = format!("Namespaces: {{=: org.acme}}\nName: Web\nUsage: Meta\n{body}\n");
        let options = ReadOptions::default();
        let read = pkgres_manifest::read_class_file("Web.yaml", text.as_bytes(), &[], &options);
        let (classes, _) = read.into_result().expect("the class is valid");
        let findings = pkgres_checks::check_classes(&classes);
        let messages = findings.into_iter().map(|finding| finding.message);
        messages.collect::<Vec<String>>()
    };
    let import = "`org.acme.Web` imports itself, so it cannot be loaded";
    let meta = "`org.acme.Web` is its own meta class, so it cannot be loaded";
    for (body, expected) in [
        ("Import: Web", import),
        ("Import: [Db, ':Web']", import),
        ("Meta: Web", meta),
        ("Properties: {port: {Contract: $, Meta: [Web]}}", meta),
        ("Methods: {run: {Meta: {Web: {}}}}", meta),
    ] {
        assert_eq!(found(body), [expected], "{body}");
    }
    // The engine skips an import of the name that the class has.
    for body in [
        "Import: org.acme.Web",
        "Import: ['org.acme.Web']",
        "Import: Db",
        "Meta: Db",
    ] {
        assert_eq!(found(body), Vec::<String>::new(), "{body}");
    }
}
