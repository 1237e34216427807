//! Shapes of YAML and JSON, for each reader of documents.

use std::fmt::Write as _;

use pkgres_checks::{check_classes, check_manifest, check_pinned};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    ClassName, Limits, ObjectId, ObjectModel, PackageManifest, PackageName, Pins, ReadOptions,
    Release, RequirementEdit, Spec, Version, read_class_file,
};

use crate::Shape;

const MIB: usize = 1 << 20;

/// Shows findings as a user sees them.
pub(crate) fn show(findings: &[Diagnostic]) {
    let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(shown.len() < 1_000, "findings are limited");
    let bytes: usize = shown.iter().map(String::len).sum();
    assert!(bytes < 200_000, "{bytes} bytes of findings");
}

/// Reads, checks and edits a manifest.
pub(crate) fn manifest(input: &[u8]) {
    let options = ReadOptions::default();
    match PackageManifest::read("manifest.yaml", input, &options).into_result() {
        Ok((manifest, findings)) => {
            show(&findings);
            let mut findings = manifest.unknown_key_findings();
            findings.extend(check_manifest(&manifest));
            show(&pkgres_manifest::diagnostic::capped(findings));
            let name = PackageName::parse("zz.Added").expect("a name");
            let spec = Spec::parse("1").expect("a spec");
            let edits = [
                RequirementEdit::Set(name.clone(), spec),
                RequirementEdit::Remove(name),
            ];
            if let Err(finding) = manifest.with_requirements(&edits, &options) {
                show(&[finding]);
            }
        }
        Err(findings) => show(&findings),
    }
}

/// Reads and checks a class file.
pub(crate) fn class_file(input: &[u8]) {
    let requested = ClassName::parse("org.acme.Web").expect("a name");
    let read = read_class_file("Web.yaml", input, &[&requested], &ReadOptions::default());
    match read.into_result() {
        Ok((classes, findings)) => {
            show(&findings);
            let findings = check_classes(&classes);
            show(&pkgres_manifest::diagnostic::capped(findings));
        }
        Err(findings) => show(&findings),
    }
}

/// Reads and checks a model, and pins each object.
pub(crate) fn model(input: &[u8]) {
    let limits = Limits::default();
    match ObjectModel::read("model", input, &limits).into_result() {
        Ok((model, findings)) => {
            show(&findings);
            show(&pkgres_manifest::diagnostic::capped(check_pinned(&model)));
            let package = PackageName::parse("org.acme.Pinned").expect("a name");
            let version = Version::new(1, 2, 3);
            let objects = (0..model.objects().len()).map(ObjectId);
            let pins = Pins {
                objects: objects
                    .map(|object| (object, Release::new(package.clone(), version.clone())))
                    .collect(),
                packages: [(package.clone(), [version.clone()].into())].into(),
            };
            match model.with_pins(&pins, &limits) {
                Ok(text) => assert!(!text.is_empty()),
                Err(finding) => show(&[finding]),
            }
        }
        Err(findings) => show(&findings),
    }
}

/// Repeats parts with their numbers up to a size.
pub(crate) fn many(size: usize, begin: &str, part: impl Fn(usize) -> String, end: &str) -> Vec<u8> {
    let mut text = begin.to_owned();
    let mut number = 0;
    while text.len() + end.len() < size {
        text.push_str(&part(number));
        number += 1;
    }
    text.push_str(end);
    text.into_bytes()
}

/// A shape of repeated parts, in which `#` is their number.
pub(crate) type Parts = (&'static str, &'static str, &'static str, &'static str);

/// Shapes of YAML: a name, the beginning, the repeated part and the end.
const YAML: &[Parts] = &[
    ("keys", "", "k#: v\n", ""),
    ("keys without values", "{", "k#,", "}\n"),
    ("explicit keys without values", "", "? k#\n", ""),
    ("explicit keys in brackets", "{", "? k#,", "}\n"),
    ("a long key", "", "k", ": v\n"),
    ("a long value", "k: ", "v", "\n"),
    ("a long value of words", "k: ", "v ", "\n"),
    ("a value of many lines", "k: v\n", "  v\n", ""),
    ("comments", "", "# comment\n", "k: v\n"),
    ("a long comment", "# ", "x", "\nk: v\n"),
    ("comments behind values", "", "k#: v # comment\n", ""),
    ("a list in brackets", "k: [", "a, ", "]\n"),
    ("lists in brackets", "k: [", "[a], ", "]\n"),
    ("mappings in brackets", "k: [", "{a: b}, ", "]\n"),
    ("a list in brackets on many lines", "k: [", "a,\n ", "]\n"),
    ("a list", "k:\n", "- a\n", ""),
    ("a list of mappings", "k:\n", "- a: b\n  c: d\n", ""),
    (
        "deep brackets",
        "k: [",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]], ",
        "]\n",
    ),
    (
        "deep dashes",
        "k:\n",
        "- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - a\n",
        "",
    ),
    ("one key twice", "", "k: v\n", ""),
    ("one key twice in brackets", "{", "k: v, ", "}\n"),
    ("documents", "", "---\na: b\n", ""),
    ("empty documents", "", "---\n", ""),
    ("ends of documents", "", "...\n", ""),
    ("empty lines", "", "\n", "k: v\n"),
    ("blanks", "k:", " ", "v\n"),
    ("blank lines", "", "  \n", "k: v\n"),
    ("tabs", "k:", "\t", "v\n"),
    ("carriage returns", "", "k#: v\r", ""),
    ("both line ends", "", "k#: v\r\n", ""),
    ("anchors", "", "k#: &a# v\n", ""),
    ("aliases", "", "k#: *a\n", ""),
    ("tags", "", "k#: !t v\n", ""),
    ("expressions", "", "k#: !yaql 'a'\n", ""),
    ("merge keys", "", "<<: {a#: b}\n", ""),
    ("escapes", "k: \"", "\\u00e9", "\"\n"),
    ("escaped line feeds", "k: \"", "a\\\n  b", "\"\n"),
    ("doubled quotes", "k: '", "''", "'\n"),
    ("an open quote", "k: \"", "a ", "\n"),
    ("open quotes", "", "k#: \"\n", ""),
    ("blocks of text", "", "k#: |\n  v\n", ""),
    ("folded blocks of text", "", "k#: >-\n  v\n\n  w\n", ""),
    ("a long block of text", "k: |\n", "  v\n", ""),
    ("an indented block of text", "k: |\n", "    v\n  w\n", ""),
    ("empty lines in a block of text", "k: |\n", "\n", "  v\n"),
    ("an open bracket", "{", "k#: v, ", "\n"),
    ("unquoted specs", "", "k#: >1\n", ""),
    ("unquoted specs in brackets", "{", "k#: >1, ", "}\n"),
    ("an unquoted spec after blanks", "k: ", " ", ">1\n"),
    ("colons", "k", ": ", "\n"),
    ("misspelt keys", "", "Requir#e: v\n", ""),
    (
        "long misspelt keys",
        "",
        "RequireRequireRequireRequire#: v\n",
        "",
    ),
    ("misspelt words", "", "Ful#lNam: v\n", ""),
    (
        "merge conflicts",
        "",
        "<<<<<<< a\nk#: v\n=======\nk#: w\n>>>>>>> b\n",
        "",
    ),
    ("directives", "", "%YAML 1.2\n", "---\nk: v\n"),
    ("characters of two bytes", "k: ", "\u{e9}", "\n"),
    ("keys of four bytes", "", "\u{1f600}#: v\n", ""),
    ("a control character at the end", "k: ", "a", "\u{1}\n"),
    (
        "a line separator at the end",
        "k: ",
        "\u{2014}",
        "\u{2028}\n",
    ),
    ("closing brackets", "k: v\n", "]", "\n"),
    ("opening brackets", "", "{", "\n"),
    ("dashes", "", "-", "\n"),
    ("question marks", "", "? ", "\n"),
    ("exclamation marks", "k: ", "!", "\n"),
    ("ampersands", "k: ", "&", "\n"),
    ("asterisks", "k: ", "*", "\n"),
    ("commas", "k: [", ",", "]\n"),
    ("backslashes", "k: \"", "\\\\", "\"\n"),
    (
        "an escaped quote behind backslashes",
        "k: \"",
        "\\\\",
        "\\\"\n",
    ),
    (
        "falling indentation",
        "",
        "          k#: v\n         l: w\n",
        "",
    ),
];

/// Shapes of JSON.
const JSON: &[Parts] = &[
    ("keys", "{\"k\": 1", ", \"k#\": 1", "}"),
    ("a list", "{\"k\": [1", ", 1", "]}"),
    ("objects", "{\"k\": [1", ", {\"a\": 1}", "]}"),
    (
        "deep lists",
        "{\"k\": [1",
        ", [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        "]}",
    ),
    ("opening brackets", "", "[", ""),
    ("a long key", "{\"", "k", "\": 1}"),
    ("a key of escapes", "{\"", "\\\"", "\": 1}"),
    ("a key of backslashes", "{\"", "\\\\", "\": 1}"),
    (
        "keys of escapes",
        "{\"k\": 1",
        ", \"\\\"\\\"\\\\#\": 1",
        "}",
    ),
    ("a long text", "{\"k\": \"", "v", "\"}"),
    ("a text of escapes", "{\"k\": \"", "\\u00e9", "\"}"),
    ("a long number", "{\"k\": 1", "1", "}"),
    ("blanks", "{\"k\":", " ", "1}"),
    ("line feeds", "{\"k\": [1", "\n, 1", "]}"),
    ("one key twice", "{\"k\": 1", ", \"k\": 1", "}"),
    ("an open text", "{\"k\": \"", "v", ""),
    ("an open list", "{\"k\": [1", ", 1", ""),
];

pub(crate) fn numbered(part: &str, number: usize) -> String {
    let mut text = String::with_capacity(part.len() + 8);
    for character in part.chars() {
        if character == '#' {
            write!(text, "{number}").expect("a text has room");
        } else {
            text.push(character);
        }
    }
    text
}

pub(crate) fn of_parts(
    reader: &str,
    read: fn(&[u8]),
    limit: usize,
    prefix: &'static str,
    (name, begin, part, end): Parts,
) -> Shape {
    // In comments, `#` is no number.
    let is_comment = part.starts_with("# ");
    Shape {
        name: format!("{reader}: {name}"),
        make: Box::new(move |size| {
            let begin = format!("{prefix}{begin}");
            let part = |number| {
                if is_comment {
                    part.to_owned()
                } else {
                    numbered(part, number)
                }
            };
            many(size, &begin, part, end)
        }),
        read,
        limit,
    }
}

/// All shapes of documents.
pub(crate) fn shapes() -> Vec<Shape> {
    let manifest_begin = "FullName: a.B\nType: Library\n";
    let of = |reader, read: fn(&[u8]), limit, prefix, parts: &[Parts]| -> Vec<Shape> {
        let parts = parts.iter();
        parts
            .map(|parts| of_parts(reader, read, limit, prefix, *parts))
            .collect()
    };
    let mut shapes = of("class file", class_file, MIB, "", YAML);
    shapes.extend(of(
        "class file",
        class_file,
        MIB,
        "Name: org.acme.Web\n",
        CLASSES,
    ));
    shapes.extend(of("class file", class_file, MIB, "", CLASS_DOCUMENTS));
    // One reader of YAML is enough for a quick run: all share their parser.
    if std::env::var_os("GROWTH").is_none() {
        return shapes;
    }
    let model_bytes = 16 * MIB;
    for parts in [YAML, MANIFEST] {
        shapes.extend(of("manifest", manifest, MIB, manifest_begin, parts));
    }
    for parts in [YAML, YAML_MODELS] {
        shapes.extend(of("model", model, model_bytes, "", parts));
    }
    for parts in [JSON, MODELS] {
        shapes.extend(of("model in JSON", model, model_bytes, "", parts));
    }
    shapes
}

/// Shapes of manifests.
const MANIFEST: &[Parts] = &[
    ("requirements", "Require:\n", "  a.B#: '1'\n", ""),
    (
        "requirements without names",
        "Require:\n",
        "  1a#: '1'\n",
        "",
    ),
    (
        "requirements without specs",
        "Require:\n",
        "  a.C#: wrong\n",
        "",
    ),
    ("requirements on itself", "Require:\n", "  a.B: '1'\n", ""),
    ("a long spec", "Require:\n  a.C: '1", ", 1", "'\n"),
    ("a long version", "Version: 1", ".1", "\n"),
    ("classes", "Classes:\n", "  a.C#: C#.yaml\n", ""),
    ("classes of one file", "Classes:\n", "  a.C#: C.yaml\n", ""),
    ("classes without names", "Classes:\n", "  a-#: C.yaml\n", ""),
    (
        "classes with bad paths",
        "Classes:\n",
        "  a.C#: ../C.yaml\n",
        "",
    ),
    ("tags", "Tags:\n", "- tag#\n", ""),
    ("tags that are none", "Tags:\n", "- {a: b}\n", ""),
    ("a description", "Description: |\n", "  word word\n", ""),
];

/// Shapes of one class.
const CLASSES: &[Parts] = &[
    ("parents", "Extends:\n", "- a.B#\n", ""),
    ("parents without names", "Extends:\n", "- 1#\n", ""),
    ("imports", "Import:\n", "- a.B#\n", ""),
    ("notes", "Meta:\n", "- a.B#: {x: y}\n", ""),
    (
        "properties",
        "Properties:\n",
        "  p#: {Contract: $.string()}\n",
        "",
    ),
    (
        "properties with classes",
        "Properties:\n",
        "  p#: {Contract: !yaql '$.class(a.B#)'}\n",
        "",
    ),
    (
        "properties with bad contracts",
        "Properties:\n",
        "  p#: {Contract: !yaql '$.class('}\n",
        "",
    ),
    (
        "properties with unknown keys",
        "Properties:\n",
        "  p#: {Contrakt: '$'}\n",
        "",
    ),
    (
        "a long contract",
        "Properties:\n  p: {Contract: !yaql '$",
        ".notNull()",
        "'}\n",
    ),
    (
        "a contract of brackets",
        "Properties:\n  p: {Contract: !yaql '$.check",
        "(",
        "'}\n",
    ),
    (
        "a contract of classes",
        "Properties:\n  p: {Contract: !yaql '$",
        ".class(a.B#)",
        "'}\n",
    ),
    (
        "a list of contracts",
        "Properties:\n  p:\n    Contract:\n",
        "    - $.class(a.B#)\n",
        "",
    ),
    (
        "a mapping of contracts",
        "Properties:\n  p:\n    Contract:\n",
        "      k#: $.int()\n",
        "",
    ),
    ("methods", "Methods:\n", "  m#: {Body: [$.a()]}\n", ""),
    (
        "methods with arguments",
        "Methods:\n",
        "  m#: {Arguments: [{a: {Contract: $}}]}\n",
        "",
    ),
    (
        "a method with arguments",
        "Methods:\n  m:\n    Arguments:\n",
        "    - a#: {Contract: $}\n",
        "",
    ),
    (
        "a body",
        "Methods:\n  m:\n    Body:\n",
        "    - $a: new(B#)\n",
        "",
    ),
    (
        "a long expression",
        "Methods:\n  m:\n    Body:\n    - ",
        "new(B#) + ",
        "1\n",
    ),
    (
        "an expression of brackets",
        "Methods:\n  m:\n    Body:\n    - new",
        "(",
        "\n",
    ),
    (
        "an expression of quotes",
        "Methods:\n  m:\n    Body:\n    - new(",
        "\\'",
        "\n",
    ),
    (
        "an expression of calls",
        "Methods:\n  m:\n    Body:\n    - ",
        "new(",
        "\n",
    ),
    ("unknown keys", "", "Propertys#: v\n", ""),
    ("namespaces", "Namespaces:\n", "  n#: a.b#\n", ""),
    (
        "namespaces without names",
        "Namespaces:\n",
        "  n-#: 1\n",
        "",
    ),
];

/// Shapes of files with many classes.
const CLASS_DOCUMENTS: &[Parts] = &[
    ("classes", "", "---\nName: a.C#\n", ""),
    ("one class many times", "", "---\nName: a.C\n", ""),
    ("classes without names", "", "---\nExtends: a.B\n", ""),
    (
        "classes in a chain",
        "",
        "---\n{Name: a.C#, Extends: a.D#}\n",
        "",
    ),
    (
        "classes with namespaces",
        "",
        "---\n{Namespaces: {=: a.b#, x: c.d}, Name: C, Extends: x:D}\n",
        "",
    ),
];

/// Shapes of models.
const MODELS: &[Parts] = &[
    (
        "typed objects",
        "{\"?\": {\"id\": \"r\", \"type\": \"a.B\"}, \"p\": [1",
        ", {\"?\": {\"id\": \"i#\", \"type\": \"a.B\"}}",
        "]}",
    ),
    (
        "objects without ids",
        "{\"?\": {\"type\": \"a.B\"}, \"p\": [1",
        ", {\"?\": {\"type\": \"a.B\"}}",
        "]}",
    ),
    (
        "untyped objects",
        "{\"?\": {\"type\": \"a.B\"}, \"p\": [1",
        ", {\"?\": {\"id\": \"i#\"}}",
        "]}",
    ),
    (
        "one object many times",
        "{\"?\": {\"type\": \"a.B\"}, \"p\": [1",
        ", {\"?\": {\"id\": \"i\", \"type\": \"a.B\"}}",
        "]}",
    ),
    (
        "one object with other content",
        "{\"?\": {\"type\": \"a.B\"}, \"p\": [1",
        ", {\"?\": {\"id\": \"i\", \"type\": \"a.B\"}, \"x\": #}",
        "]}",
    ),
    (
        "one id for other classes",
        "{\"?\": {\"type\": \"a.B\"}, \"p\": [1",
        ", {\"?\": {\"id\": \"i\", \"type\": \"a.B#\"}}",
        "]}",
    ),
    (
        "references",
        "{\"?\": {\"id\": \"root\", \"type\": \"a.B\"}, \"p\": [1",
        ", \"root\"",
        "]}",
    ),
    (
        "objects with wrong types",
        "{\"?\": {\"type\": \"a.B\"}, \"p\": [1",
        ", {\"?\": {\"id\": \"i#\", \"type\": \"1\"}}",
        "]}",
    ),
    (
        "objects with wrong versions",
        "{\"?\": {\"type\": \"a.B\"}, \"p\": [1",
        ", {\"?\": {\"id\": \"i#\", \"type\": \"a.B/x\"}}",
        "]}",
    ),
    (
        "pinned objects",
        "{\"?\": {\"type\": \"a.B\"}, \"p\": [1",
        ", {\"?\": {\"id\": \"i#\", \"type\": \"a.B\", \"package\": \"a\", \"version\": \"1.0.0\"}}",
        "]}",
    ),
    (
        "properties",
        "{\"?\": {\"type\": \"a.B\"}",
        ", \"p#\": 1",
        "}",
    ),
    (
        "an environment",
        "{\"Objects\": {}, \"SystemData\": {\"Packages\": {\"a\": \"1\"",
        ", \"a.B#\": \"1.0.0\"",
        "}}}",
    ),
    (
        "versions of an environment",
        "{\"Objects\": {}, \"SystemData\": {\"Packages\": {\"a\": [\"1.0.0\"",
        ", \"#.0.0\"",
        "]}}}",
    ),
    (
        "objects of an environment",
        "{\"Objects\": [{\"?\": {\"type\": \"a.B\"}}",
        ", {\"?\": {\"id\": \"i#\", \"type\": \"a.B\"}}",
        "]}",
    ),
];

/// Shapes of models in YAML.
const YAML_MODELS: &[Parts] = &[
    (
        "typed objects",
        "'?': {type: a.B}\np:\n",
        "- '?': {id: i#, type: a.B}\n",
        "",
    ),
    (
        "typed objects in brackets",
        "{'?': {type: a.B}, p: [1",
        ", {'?': {id: i#, type: a.B}}",
        "]}\n",
    ),
    (
        "typed objects on lines",
        "'?':\n  type: a.B\np:\n",
        "- '?':\n    id: i#\n    type: a.B\n  q: w\n",
        "",
    ),
    (
        "one object many times",
        "'?': {type: a.B}\np:\n",
        "- '?': {id: i, type: a.B}\n",
        "",
    ),
];
