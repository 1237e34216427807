//! Reading object models, and writing versions into them.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    Limits, ObjectId, ObjectModel, PackageName, Pins, Release, ValueKind, Version, VersionPin,
};

fn read(name: &str, text: &str) -> Result<ObjectModel, Vec<Diagnostic>> {
    ObjectModel::read(name, text.as_bytes(), &Limits::default())
        .into_result()
        .map(|(model, _)| model)
}

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

/// Pins every object that is not pinned to 1.2.0 of `org.acme.P`, or of its own package.
fn pin(name: &str, text: &str) -> String {
    let model = read(name, text).expect("a model");
    let mut pins = Pins::default();
    for (number, object) in model.objects().iter().enumerate() {
        let package = PackageName::parse("org.acme.P").expect("a name");
        let package = object.package.clone().unwrap_or(package);
        let version = match &object.version {
            VersionPin::Exact(version) => version.clone(),
            _ => version("1.2.0"),
        };
        pins.packages
            .entry(package.clone())
            .or_default()
            .insert(version.clone());
        pins.objects
            .insert(ObjectId(number), Release::new(package, version));
    }
    let pinned = model
        .with_pins(&pins, &Limits::default())
        .expect("it can be written");
    let again = read(name, &pinned).expect("it can be read");
    let twice = again
        .with_pins(&pins, &Limits::default())
        .expect("it can be written");
    assert_eq!(twice, pinned, "pinning twice changes nothing");
    pinned
}

#[test]
fn objects_nest_and_refer_to_each_other() {
    let model = read(
        "model.yaml",
        "
?:
  id: web
  type: org.acme.Web
database:
  ?: {id: db, type: org.acme.Db/1.2.3@org.acme.Database}
peers: [db, {other: nobody, size: 3, on: true, none: ~}]
",
    )
    .expect("a model");
    let [web, db] = model.objects() else {
        panic!("there are two objects");
    };
    assert_eq!(db.holder, Some(ObjectId(0)));
    assert_eq!(db.version, VersionPin::Exact(version("1.2.3")));
    assert_eq!(
        db.package.as_ref().map(PackageName::as_str),
        Some("org.acme.Database")
    );
    assert_eq!(web.version, VersionPin::None);
    assert_eq!(web.properties[0].1.kind, ValueKind::Object(ObjectId(1)));
    let ValueKind::List(peers) = &web.properties[1].1.kind else {
        panic!("a list");
    };
    assert_eq!(peers[0].kind, ValueKind::Reference(ObjectId(1)));
    let ValueKind::Map(entries) = &peers[1].kind else {
        panic!("a mapping");
    };
    let kinds: Vec<&ValueKind> = entries.iter().map(|(_, value)| &value.kind).collect();
    assert_eq!(
        kinds,
        [
            &ValueKind::Text("nobody".into()),
            &ValueKind::Number("3".into()),
            &ValueKind::Bool(true),
            &ValueKind::Null
        ]
    );
}

#[test]
fn versions_come_from_every_place_that_can_hold_them() {
    for (header, package, version_text) in [
        ("type: a.B", None, "none"),
        ("type: a.B@a", Some("a"), "none"),
        ("type: a.B/1.0.0", None, "1.0.0"),
        ("type: a.B/1, package: a", Some("a"), "range 1"),
        (
            "type: a.B, package: a, version: 1.0.0-rc.1",
            Some("a"),
            "1.0.0-rc.1",
        ),
        ("type: a.B, classVersion: 2.0.0", None, "2.0.0"),
        ("type: a.B/1.0.0, classVersion: 2.0.0", None, "1.0.0"),
        ("type: a.B/1.0.0, version: 1.0.0+b", None, "1.0.0"),
        ("type: a.B, version: 1.2.0, classVersion: 1", None, "1.2.0"),
        // What is written has to agree with all.
        ("type: a.B/1, version: 1.2.0", None, "1.2.0"),
        ("type: a.B/1@a, version: 1.2.0", Some("a"), "1.2.0"),
        ("type: a.B, version: 1, classVersion: 1.2.0", None, "1.2.0"),
        (
            "type: a.B/1, version: 1.2",
            None,
            "range >=1.0.0,<2.0.0, >=1.2.0,<1.3.0",
        ),
        ("type: a.B, package: ~, version: ", None, "none"),
    ] {
        let model = read("m.yaml", &format!("'?': {{{header}}}")).expect(header);
        let object = &model.objects()[0];
        assert_eq!(
            object.package.as_ref().map(PackageName::as_str),
            package,
            "{header}"
        );
        let shown = match &object.version {
            VersionPin::None => "none".to_owned(),
            VersionPin::Exact(version) => version.to_string(),
            VersionPin::Range(spec) => format!("range {spec}"),
        };
        assert_eq!(shown, version_text, "{header}");
    }
}

#[test]
fn an_object_that_is_listed_twice_is_reported() {
    let text = "- '?': {id: a, type: x.Y}\n- '?': {id: a, type: x.Y}\n";
    let read = ObjectModel::read("m.yaml", text.as_bytes(), &Limits::default());
    let (model, warnings) = read.into_result().expect("it is valid");
    assert_eq!(model.objects().len(), 1);
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "m.yaml:2:8: warning[PK0060]: the object `a` is listed twice; hint: if they are two objects, give each an `id` of its own"
        ]
    );
}

#[test]
fn an_invalid_model_is_rejected_with_its_location() {
    for (text, message) in [
        (
            "",
            "m.yaml:1:1: error[PK0060]: the object model is empty; hint: write an object with a header `?`, or a list of objects",
        ),
        (
            "[]\n---\n[]\n",
            "m.yaml:3:1: error[PK0060]: an object model must be a single document",
        ),
        (
            "a",
            "m.yaml:1:1: error[PK0060]: an object model must be an object or a list of objects, not a scalar",
        ),
        (
            "'?': x",
            "m.yaml:1:6: error[PK0060]: `?` must be a mapping, not a scalar",
        ),
        (
            "'?': {id: x}",
            "m.yaml:1:6: error[PK0060]: the object has no `type`",
        ),
        (
            "'?': {id: [x], type: a.B}",
            "m.yaml:1:11: error[PK0060]: `id` must be text, not a list",
        ),
        (
            "'?': {type: 1x}",
            "m.yaml:1:13: error[PK0060]: `type` does not name a class: each part of a name begins with a letter or `_`, not with `1`",
        ),
        (
            "'?': {type: a.B, version: x}",
            "m.yaml:1:27: error[PK0060]: `x` is not a spec: the wildcard is `*`, not `x`",
        ),
        (
            "'?': {type: a.B, version: ''}",
            "m.yaml:1:27: error[PK0060]: the version is empty; hint: leave it out for any version",
        ),
        (
            "'?': {type: a.B/1.0.0, version: 2.0.0}",
            "m.yaml:1:33: error[PK0060]: `type` has the version 1.0.0, and `version` has 2.0.0; hint: leave one out: Murano loads that of `type`",
        ),
        (
            "'?': {type: a.B, version: 1.0.0, classVersion: '2'}",
            "m.yaml:1:48: error[PK0060]: `version` has the version 1.0.0, and `classVersion` has 2; hint: leave one out: Murano loads that of `classVersion`",
        ),
        (
            "'?': {type: null}",
            "m.yaml:1:6: error[PK0060]: the object has no `type`",
        ),
        (
            "'?': {type: a.B, package: 1}",
            "m.yaml:1:27: error[PK0060]: this is not a package name: each part of a name begins with a letter or `_`, not with `1`",
        ),
        (
            "a: {'?': {id: x, type: a.B}}\nb: {'?': {id: x, type: a.C}}",
            "m.yaml:2:10: error[PK0060]: two objects have the id `x`, and differ",
        ),
        (
            "Objects: {}\nSystemData: {Packages: {a: 1.0.0}}",
            "m.yaml:2:28: error[PK0060]: expected a list of versions",
        ),
        (
            "Objects: {}\nSystemData: {Packages: {a: [x]}}",
            "m.yaml:2:29: error[PK0060]: `x` is not a version: unexpected character 'x' in the major version number",
        ),
    ] {
        let errors = read("m.yaml", text).expect_err(text);
        assert_eq!(errors[0].to_string(), message, "{text}");
    }
    let errors = read("m.json", "{\"a\": [1,}").expect_err("broken");
    assert_eq!(
        errors[0].to_string(),
        "m.json:1:10: error[PK0002]: expected value"
    );
    let unmerged = "{\n<<<<<<< HEAD\n\"a\": 1\n=======\n\"a\": 2\n>>>>>>> b\n}";
    let errors = read("m.json", unmerged).expect_err("a merge conflict");
    assert_eq!(
        errors[0].to_string(),
        "m.json:2:1: error[PK0002]: the file contains merge conflict markers; hint: resolve the conflict, and remove the \
         lines with markers"
    );
    let errors = read("m.json", "{\"a\": 1, \"a\": 2}").expect_err("twice");
    assert_eq!(
        errors[0].to_string(),
        "m.json:1:10: error[PK0004]: the key `a` appears twice"
    );
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let errors = read("m.json", &deep).expect_err("too deep");
    assert_eq!(
        errors[0].to_string(),
        "m.json:1:65: error[PK0001]: more than the limit of 64 levels of nesting"
    );
}

#[test]
fn an_object_can_be_written_again() {
    // The order of entries and the style of texts make no difference; what is nested is written again too.
    let text = "\
a: {'?': {id: x, type: a.B}, n: 1, inner: {'?': {type: a.C}}}
b: {inner: {'?': {type: 'a.C'}}, n: 1, '?': {type: a.B, id: 'x'}}
c: x
";
    let model = read("m.yaml", text).expect("both are the same object");
    assert_eq!(model.objects().len(), 2);
    let pinned = pin("m.yaml", text);
    assert_eq!(pinned.matches("package: org.acme.P").count(), 4, "{pinned}");
    let again = read("m.yaml", &pinned).expect("they are still the same");
    assert_eq!(again.objects().len(), 2);
    for different in [
        "a: {'?': {id: x, type: a.B}, n: 1}\nb: {'?': {id: x, type: a.B}, n: '1'}",
        "a: {'?': {id: x, type: a.B}, n: 1}\nb: {'?': {id: x, type: a.B}}",
        "a: {'?': {id: x, type: a.B}}\nb: {'?': {id: x, type: a.B, version: 1.0.0}}",
        "a: {'?': {id: x, type: a.B}, n: {'?': {id: x, type: a.B}}}",
    ] {
        read("m.yaml", different).expect_err(different);
    }
}

#[test]
fn a_contract_can_name_the_class_of_an_object() {
    let text = "\
'?': {id: a, type: a.A}
one: {'?': {id: x}, inner: {'?': {type: a.B}}}
two: {'?': {id: y, type: ~}}
three: x
";
    let model = read("m.yaml", text).expect("a model");
    assert_eq!(model.objects().len(), 2);
    assert_eq!(model.objects()[1].holder, Some(ObjectId(0)));
    let values = &model.objects()[0].properties;
    let ValueKind::Untyped(inner) = &values[0].1.kind else {
        panic!("{values:?}");
    };
    assert_eq!(inner[0].1.kind, ValueKind::Object(ObjectId(1)));
    assert_eq!(values[1].1.kind, ValueKind::Untyped(Vec::new()));
    assert!(matches!(values[2].1.kind, ValueKind::UntypedReference(_)));
}

#[test]
fn json_keeps_its_shape() {
    assert_eq!(
        pin("m.json", r#"{"?": {"id": "a", "type": "x.Y"}, "n": 1.10}"#),
        r#"{"?": {"id": "a", "type": "x.Y", "package": "org.acme.P", "version": "1.2.0"}, "n": 1.10}"#
    );
    assert_eq!(
        pin(
            "m.json",
            "{\n    \"?\": {\n        \"type\": \"x.Y\",\n        \"id\": \"a\"\n    },\n    \"s\": \"\\ud83d\\ude00\"\n}\n"
        ),
        "{\n    \"?\": {\n        \"type\": \"x.Y\",\n        \"package\": \"org.acme.P\",\n        \"version\": \"1.2.0\",\n        \"id\": \"a\"\n    },\n    \"s\": \"\\ud83d\\ude00\"\n}\n"
    );
    assert_eq!(
        pin(
            "m.json",
            r#"{"?":{"type":"x.Y","package":null,"version":"1"}}"#
        ),
        r#"{"?":{"type":"x.Y","package":"org.acme.P","version":"1.2.0"}}"#
    );
    let pinned = r#"{"?":{"type":"x.Y/1.0.0@p"}}"#;
    assert_eq!(pin("m.json", pinned), pinned);
    assert_eq!(
        pin("m.json", r#"{"?":{"type":"x.Y/1.0.0"}}"#),
        r#"{"?":{"type":"x.Y/1.0.0", "package": "org.acme.P"}}"#
    );
    assert_eq!(
        pin("m.json", r#"{"?":{"type":"x.Y/1","version":"1.2.0"}}"#),
        r#"{"?":{"type":"x.Y/1.2.0", "package": "org.acme.P","version":"1.2.0"}}"#
    );
    assert_eq!(
        pin(
            "m.json",
            r#"{"?":{"type":"x.Y","version":"1","classVersion":"1.2.0"}}"#
        ),
        r#"{"?":{"type":"x.Y", "package": "org.acme.P","version":"1","classVersion":"1.2.0"}}"#
    );
    // What is in the type counts, so that the version replaces a range there.
    for (range, package) in [("1", "@org.acme.P"), (">=1.1", "@org.acme.P"), ("1.2", "")] {
        let expected = match package {
            "" => r#"{"?":{"type":"x.Y/1.2.0", "package": "org.acme.P"}}"#.to_owned(),
            package => format!(r#"{{"?":{{"type":"x.Y/1.2.0{package}"}}}}"#),
        };
        let text = format!(r#"{{"?":{{"type":"x.Y/{range}{package}"}}}}"#);
        assert_eq!(pin("m.json", &text), expected, "{text}");
    }
}

#[test]
fn yaml_keeps_its_comments_and_indentation() {
    assert_eq!(
        pin(
            "m.yaml",
            "# a model\n?:\n    type: x.Y   # the class\n    id: a\nlist:\n- ?:\n    id: b\n    type: x.Z\n    version:\n"
        ),
        "# a model\n?:\n    type: x.Y   # the class\n    package: org.acme.P\n    version: 1.2.0\n    id: a\nlist:\n- ?:\n    id: b\n    type: x.Z\n    package: org.acme.P\n    version: 1.2.0\n"
    );
    assert_eq!(
        pin("m.yaml", "'?': {type: x.Y, id: a}  # short\n"),
        "'?': {type: x.Y, package: org.acme.P, version: 1.2.0, id: a}  # short\n"
    );
    assert_eq!(
        pin("m.yaml", "- ?: \r\n    type: x.Y\r\n"),
        "- ?: \r\n    type: x.Y\r\n    package: org.acme.P\r\n    version: 1.2.0\r\n"
    );
}

#[test]
fn an_environment_keeps_its_table_of_versions() {
    let before = r#"{"Objects": {"?": {"type": "x.E"}}, "ObjectsCopy": {"?": {"type": "x.E"}}, "Attributes": []}"#;
    let after = r#"{"Objects": {"?": {"type": "x.E", "package": "org.acme.P", "version": "1.2.0"}}, "ObjectsCopy": {"?": {"type": "x.E"}}, "Attributes": [], "SystemData": {"Packages": {"org.acme.P": ["1.2.0"]}}}"#;
    assert_eq!(pin("m.json", before), after);
    let model = read("m.json", after).expect("an environment");
    assert!(model.is_environment());
    let table: BTreeMap<PackageName, BTreeSet<Version>> = [(
        PackageName::parse("org.acme.P").expect("a name"),
        [version("1.2.0")].into_iter().collect(),
    )]
    .into();
    assert_eq!(model.previous_versions(), &table);
    for (before, after) in [
        (
            "Objects:\n  ?:\n    type: x.E\nSystemData:\n  Packages:\n    old.P:\n    - 1.0.0\n  Other: 1\nlast: 2\n",
            "Objects:\n  ?:\n    type: x.E\n    package: org.acme.P\n    version: 1.2.0\nSystemData:\n  Packages: {\"org.acme.P\": [\"1.2.0\"]}\n  Other: 1\nlast: 2\n",
        ),
        (
            "Objects:\n  ?:\n    type: x.E\nSystemData:\n  Other: 1\n\nlast: 2\n",
            "Objects:\n  ?:\n    type: x.E\n    package: org.acme.P\n    version: 1.2.0\nSystemData:\n  Other: 1\n  Packages: {\"org.acme.P\": [\"1.2.0\"]}\n\nlast: 2\n",
        ),
        (
            "Objects:\n  ?:\n    type: x.E\n",
            "Objects:\n  ?:\n    type: x.E\n    package: org.acme.P\n    version: 1.2.0\nSystemData: {Packages: {\"org.acme.P\": [\"1.2.0\"]}}\n",
        ),
        (
            "SystemData:\nObjects:\n  ?: {type: x.E}",
            "SystemData: {Packages: {\"org.acme.P\": [\"1.2.0\"]}}\nObjects:\n  ?: {type: x.E, package: org.acme.P, version: 1.2.0}",
        ),
    ] {
        assert_eq!(pin("m.yaml", before), after);
    }
}

/// A value that cannot hold a table of packages is not replaced.
#[test]
fn other_values_are_not_overwritten() {
    let pins = |model: &ObjectModel| {
        let release = Release::new(
            PackageName::parse("org.acme.P").expect("a name"),
            version("1.2.0"),
        );
        Pins {
            packages: BTreeMap::from([(release.name.clone(), BTreeSet::from([version("1.2.0")]))]),
            objects: (0..model.objects().len())
                .map(|number| (ObjectId(number), release.clone()))
                .collect(),
        }
    };
    let object = "Objects: {?: {id: a, type: org.acme.A}}\n";
    for data in ["a note", "[a, list]", "'~'"] {
        let model = read("m.yaml", &format!("{object}SystemData: {data}\n")).expect("a model");
        let error = model
            .with_pins(&pins(&model), &Limits::default())
            .expect_err(data);
        assert!(
            error
                .to_string()
                .contains("without changing something else"),
            "{error}"
        );
    }
    for data in [
        "",
        "SystemData:\n",
        "SystemData: {}\n",
        "SystemData: {other: [1]}\n",
    ] {
        let model = read("m.yaml", &format!("{object}{data}")).expect("a model");
        let pinned = model
            .with_pins(&pins(&model), &Limits::default())
            .expect(data);
        assert!(
            pinned.contains("Packages: {\"org.acme.P\": [\"1.2.0\"]}"),
            "{pinned}"
        );
    }
}

/// Versions make a model longer, so that it can exceed a limit that it met without them.
#[test]
fn the_limit_that_versions_exceed_is_named() {
    let text = "Objects:\n- ?:\n    id: a\n    type: org.acme.A\n";
    let model = read("m.yaml", text).expect("a model");
    let release = Release::new(
        PackageName::parse("org.acme.P").expect("a name"),
        version("1.2.0"),
    );
    let pins = Pins {
        objects: BTreeMap::from([(ObjectId(0), release)]),
        packages: BTreeMap::new(),
    };
    let pinned = model.with_pins(&pins, &Limits::default());
    let bytes = pinned.expect("it can be written").len() as u64;
    let error = |limits: Limits| {
        let error = model.with_pins(&pins, &limits).expect_err("too much");
        error.to_string()
    };
    let mut limits = Limits::default();
    limits.model_bytes = bytes - 1;
    let named = format!(
        "m.yaml:1:1: error[PK0001]: with its versions, the model has more than the limit of {} bytes in an object model",
        bytes - 1
    );
    assert_eq!(error(limits), named);
    let mut limits = Limits::default();
    limits.model_nodes = 12;
    let named = "m.yaml:1:1: error[PK0001]: with its versions, the model has more than the limit of 12 nodes";
    assert_eq!(error(limits), named);
}
