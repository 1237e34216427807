//! Resources files: what is read from them, what is wrong with them, and how templates are filled in.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    ClassName, Limits, MetaParameters, Package, PackageManifest, PackageResources, Polling,
    Properties, PropertyErrors, PropertyValue, RateLimit, ReadOptions, ResourceDescription,
    Retries, TemplateValue, TemplateValues,
};
use proptest::prelude::*;

const WHOLE: &str = r#"
Package:
- directory: /srv/web
- file: /srv/web/index.html
  content: |
    hello
  mode: 0644
  owner: [web, 1.10, yes]
  more: {a: 1, b: [c]}
  after: [directory:/srv/web]
  before: service:web
  notifies: ["service:web two"]
  receives: {digest: {exec:render: stdout}}
  meta: {noop: true, retry: 3, delay: 500, timeout: 10000, poll: 30, limit: 0.2, burst: 5, sema: [disk:2], reset: true,
    rewatch: true, hidden: false, autoedge: false, autogroup: true, reverse: true, retryreset: true}
- exec: render
  meta: {retry: -1, poll: -1, sema: cpu}
Classes:
  a.Web:
  - file: "/etc/web-${this.name}.conf"
    content: "port=${this.port}\n"
    after: ["file:/etc/${this.name}"]
  a.None:
"#;

fn read(text: &str) -> Result<PackageResources, Vec<String>> {
    let read = PackageResources::read("r.yaml", text.as_bytes(), &ReadOptions::default());
    match read.into_result() {
        Ok((resources, findings)) => {
            assert!(findings.is_empty());
            Ok(resources)
        }
        Err(findings) => Err(findings.iter().map(shown).collect()),
    }
}

/// A finding without the name of the file.
fn shown(finding: &Diagnostic) -> String {
    assert!(!finding.labels.is_empty(), "{finding} has no place");
    let text = finding.to_string();
    text.strip_prefix("r.yaml:").unwrap_or(&text).to_owned()
}

#[test]
fn all_keys_are_read() {
    let resources = read(WHOLE).expect("the file is valid");
    let ids: Vec<String> = resources
        .for_package
        .iter()
        .map(|template| template.id().value.to_string())
        .collect();
    assert_eq!(
        ids,
        [
            "directory:/srv/web",
            "file:/srv/web/index.html",
            "exec:render"
        ]
    );
    let file = resources.for_package[1].as_written();
    let keys: Vec<&str> = file.properties.keys().collect();
    assert_eq!(keys, ["content", "mode", "owner", "more"]);
    let mut properties = file.properties.clone();
    assert_eq!(properties.take_text("content"), Ok(Some("hello\n".into())));
    // Scalars are text, not numbers and booleans.
    assert_eq!(properties.take_text("mode"), Ok(Some("0644".into())));
    let owners = ["web", "1.10", "yes"].map(str::to_owned).to_vec();
    assert_eq!(properties.take_texts("owner"), Ok(Some(owners)));
    let Some(PropertyValue::Mapping(more)) = properties.take("more").map(|more| more.value) else {
        panic!("it is a mapping");
    };
    assert_eq!(more[1].0.value, "b");
    assert!(matches!(&more[1].1.value, PropertyValue::List(items) if items.len() == 1));
    properties.finish().expect("nothing is left");
    let edges = |edges: &[pkgres_manifest::diagnostic::Located<pkgres_manifest::ResourceId>]| {
        let edges = edges.iter().map(|id| id.value.to_string());
        edges.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(edges(&file.after), "directory:/srv/web");
    assert_eq!(edges(&file.before), "service:web");
    assert_eq!(edges(&file.notifies), "service:web two");
    let received = &file.receives[0];
    assert_eq!(received.property.value, "digest");
    assert_eq!(received.sender.value.to_string(), "exec:render");
    assert_eq!(received.output.value, "stdout");
    assert_eq!(
        file.meta,
        MetaParameters {
            noop: true,
            retry: Retries::Times(3),
            retry_reset: true,
            delay: Duration::from_millis(500),
            timeout: Some(Duration::from_secs(10)),
            poll: Polling::Every(Duration::from_secs(30)),
            limit: Some(RateLimit {
                per_second: 0.2,
                burst: 5
            }),
            semaphores: vec!["disk:2".parse().expect("a semaphore")],
            reset: true,
            rewatch: true,
            hidden: false,
            automatic_edges: false,
            automatic_grouping: true,
            reverse: true,
        }
    );
    let exec = &resources.for_package[2].as_written().meta;
    assert_eq!(exec.retry, Retries::Forever);
    assert_eq!(exec.poll, Polling::Once);
    assert_eq!(exec.semaphores.len(), 1);
    let class = |name: &str| ClassName::parse(name).expect("a name");
    assert_eq!(resources.of_class(&class("a.Web")).len(), 1);
    assert!(resources.of_class(&class("a.None")).is_empty());
    assert!(resources.of_class(&class("a.Other")).is_empty());
}

#[test]
fn mistakes_are_reported_at_their_places() {
    let mut text = String::new();
    for input in [
        "",
        "- file: /a",
        "Packages:\n- file: /a",
        "Package: {file: /a}",
        "Package: [file]",
        "Package: [{}]",
        "Package: [{file: }]",
        "Package: [{file: ''}]",
        "Package: [{file: [/a]}]",
        "Package: [{File: /a}]",
        "Package: [{after: 'file:/a', file: /b}]",
        "Package: [{file: /a}, {file: /b}, {file: /a}]",
        "Package: [{file: /a, content: }]",
        "Package: [{file: /a, Content: x}]",
        "Package: [{file: /a, afer: [file:/b]}]",
        "Package: [{file: /a, after: [file:/a]}]",
        "Package: [{file: /a, after: [file: /b]}]",
        "Package: [{file: /a, after: [web]}]",
        "Package: [{file: /a, after: [file:/b, file:/b]}]",
        "Package: [{file: /a, receives: content}]",
        "Package: [{file: /a, receives: exec:render.stdout}]",
        "Package: [{file: /a, receives: {content: exec:render}}]",
        "Package: [{file: /a, receives: {content: exec:render.digest}}]",
        "Package: [{file: /a, receives: {content: {render: stdout}}}]",
        "Package: [{file: /a, receives: {content: {exec:render: [stdout]}}}]",
        "Package: [{file: /a, content: x, receives: {content: {exec:render: stdout}}}]",
        "Package: [{file: /a, meta: [noop]}]",
        "Package: [{file: /a, meta: {nop: true}}]",
        "Package: [{file: /a, meta: {noop: yes}}]",
        "Package: [{file: /a, meta: {retry: -2}}]",
        "Package: [{file: /a, meta: {delay: 0.5}}]",
        "Package: [{file: /a, meta: {timeout: 0}}]",
        "Package: [{file: /a, meta: {poll: never}}]",
        "Package: [{file: /a, meta: {limit: 0.2}}]",
        "Package: [{file: /a, meta: {burst: 2}}]",
        "Package: [{file: /a, meta: {limit: .inf, burst: 0}}]",
        "Package: [{file: /a, meta: {sema: [2]}}]",
        "Package: [{file: /a, meta: {sema: ['a:0', b, b, {c: d}]}}]",
        "Classes: [a.B]",
        "Classes: {a b: [{file: /a}]}",
        "Classes: {a.B: {file: /a}}",
        "Package: [{file: '/a/${this.name}'}]",
        "Classes: {a.B: [{file: /a, content: \"${this.name\"}]}",
        "Classes: {a.B: [{file: /a, content: \"${HOME}\"}]}",
        "Classes: {a.B: [{file: /a, content: \"${that.name}\"}]}",
        "Classes: {a.B: [{file: /a, content: \"${this}\"}]}",
        "Classes: {a.B: [{file: /a, content: [x, {y: \"${ this.name }\"}]}]}",
        "Classes: {a.B: [{file: /a, content: \"${package.nam}\"}]}",
        "Classes: {a.B: [{file: /a, content: \"${package.name.x}\", after: ['file:${x}']}]}",
        "Package: [{file: /a}]\n---\nPackage: []",
        "Package:\n- file: /a\n  - x\nClasses: []\n",
    ] {
        writeln!(text, "{}", input.escape_debug()).expect("writing to a string");
        let findings = read(input).expect_err(input);
        for finding in findings {
            writeln!(text, "    {finding}").expect("writing to a string");
        }
    }
    insta::assert_snapshot!(text);
}

/// An object with some properties.
struct Object;

impl TemplateValues for Object {
    fn value(&self, path: &[&str]) -> TemplateValue<'_> {
        let text = |text: &'static str| TemplateValue::Text(Cow::Borrowed(text));
        match path {
            ["this", "name"] => text("web"),
            ["this", "port"] => text("8080"),
            ["this", "empty"] => text(""),
            ["this", "lines"] => text("a\nb"),
            ["this", "hostile"] => text("x\", more: [${this.name}] $${"),
            ["this", "ports"] => TemplateValue::NotText("a list"),
            ["this", "tls", "key"] => text("k"),
            ["this", "tls"] => TemplateValue::NotText("a mapping"),
            ["this", "tls", ..] => TemplateValue::Unknown {
                part: 2,
                known: vec!["key".to_owned()],
            },
            ["package", "name"] => text("a.Web"),
            ["package", "version"] => text("1.10.0"),
            ["package", "files"] => TemplateValue::Missing("the release has no artifact"),
            _ => TemplateValue::Unknown {
                part: 1,
                known: ["name", "port", "ports"].map(str::to_owned).to_vec(),
            },
        }
    }
}

fn instantiate(text: &str, limits: &Limits) -> Result<ResourceDescription, Vec<String>> {
    let text = format!("Classes: {{a.Web: [{text}]}}");
    let resources = read(&text)?;
    let template = &resources.for_classes[0].resources[0];
    let filled = template.instantiate(&Object, limits).into_result();
    filled
        .map(|(resource, _)| resource)
        .map_err(|findings| findings.iter().map(shown).collect())
}

#[test]
fn values_fill_in_templates_as_data() {
    let limits = Limits::default();
    for (template, expected) in [
        ("port=${this.port}", "port=8080"),
        ("${this.port}${this.port}", "80808080"),
        ("${package.name}@${package.version}", "a.Web@1.10.0"),
        ("${this.tls.key}", "k"),
        ("[${this.empty}]", "[]"),
        ("$${this.port}", "${this.port}"),
        ("$$${this.port}", "$${this.port}"),
        ("$ $$ {} } $x", "$ $$ {} } $x"),
        ("${this.hostile}", "x\", more: [${this.name}] $${"),
    ] {
        let text = format!("{{file: /a, content: '{template}', other: ['{template}']}}");
        let mut resource = instantiate(&text, &limits).expect(template);
        let properties = &mut resource.properties;
        assert_eq!(properties.take_text("content"), Ok(Some(expected.into())));
        assert_eq!(
            properties.take_texts("other"),
            Ok(Some(vec![expected.to_owned()]))
        );
        assert_eq!(properties.clone().finish(), Ok(()), "nothing was added");
    }
    let all = "{file: '/etc/${this.name}', after: ['directory:/${this.port}'], before: ['a:${this.name}'], \
               notifies: ['b:${this.name}'], receives: {content: {'exec:${this.name}': stdout}}}";
    let resource = instantiate(all, &limits).expect("it is valid");
    assert_eq!(resource.id.value.to_string(), "file:/etc/web");
    assert_eq!(resource.after[0].value.to_string(), "directory:/8080");
    assert_eq!(resource.before[0].value.to_string(), "a:web");
    assert_eq!(resource.notifies[0].value.to_string(), "b:web");
    assert_eq!(resource.receives[0].sender.value.to_string(), "exec:web");
}

#[test]
fn what_cannot_be_filled_in_is_an_error() {
    let mut limits = Limits::default();
    limits.resource_bytes = 40;
    let mut text = String::new();
    for template in [
        "{file: /a, content: 'port=${this.prot}'}",
        "{file: /a, content: \"\\u00e9 ${this.port}\\t${this.unlike}\"}",
        "{file: /a, content: '${this.ports}', mode: '${this.tls}'}",
        "{file: /a, content: '${this.tls.kye}'}",
        "{file: '/a/${this.empty}${this.x}'}",
        "{file: '/a/${this.lines}'}",
        "{file: /a, content: '${package.files}/site'}",
        "{file: '${this.empty}', before: ['a:${this.empty}']}",
        "{file: /a, content: '0123456789${this.hostile}${this.hostile}'}",
    ] {
        writeln!(text, "{template}").expect("writing to a string");
        let findings = instantiate(template, &limits).expect_err(template);
        for finding in findings {
            writeln!(text, "    {finding}").expect("writing to a string");
        }
    }
    insta::assert_snapshot!(text);
}

/// A kind that has all types of properties.
fn read_kind(mut properties: Properties) -> Result<(), PropertyErrors> {
    properties.take_required_text("text")?;
    properties.take_bool("flag")?;
    properties.take_number("number")?;
    properties.take_texts("list")?;
    properties.take_text_mapping("mapping")?;
    let port = properties.take_parsed::<u16>("port")?;
    if port == Some(0) {
        return Err(properties.invalid("port", "the port cannot be 0").into());
    }
    properties.finish()
}

#[test]
fn kinds_read_properties_by_type() {
    let mut text = String::new();
    for properties in [
        "text: a, flag: true, number: 7, list: [a, b], mapping: {a: b}, port: 80",
        "text: a, list: a",
        "flag: true",
        "text: [a]",
        "text: a, flag: yes",
        "text: a, number: -1",
        "text: a, number: 1.5",
        "text: a, number: 99999999999999999999",
        "text: a, list: {a: b}",
        "text: a, list: [a, [b]]",
        "text: a, mapping: [a]",
        "text: a, mapping: {a: [b]}",
        "text: a, port: 70000",
        "text: a, port: 0",
        "text: a, nubmer: 1, unlike: 2",
    ] {
        let resource = instantiate(&format!("{{kind: name, {properties}}}"), &Limits::default());
        let resource = resource.expect(properties);
        writeln!(text, "{properties}").expect("writing to a string");
        let errors = read_kind(resource.properties).err();
        for finding in errors
            .into_iter()
            .flat_map(PropertyErrors::into_diagnostics)
        {
            writeln!(text, "    {}", shown(&finding)).expect("writing to a string");
        }
    }
    insta::assert_snapshot!(text);
}

/// The findings on a package with one class and a resources file.
#[test]
fn a_resource_can_stand_for_others() {
    let text = "Package:\n- all: web\n  members:\n  - file: /a\n  - all: inner\n    members: [{file: /b}]\n";
    let resources = read(text).expect("it is valid").for_package;
    let ids: Vec<_> = resources
        .iter()
        .map(|it| it.id().value.to_string())
        .collect();
    assert_eq!(ids, ["file:/a", "file:/b", "all:inner", "all:web"]);
    let members = &resources[3].as_written().members;
    let members: Vec<_> = members.iter().map(|it| it.value.to_string()).collect();
    assert_eq!(members, ["file:/a", "all:inner"]);

    let mistakes = [
        (
            "- all: web\n",
            "2:3: error[PK0105]: `all` has no members; hint: list the resources that it stands for below `members`",
        ),
        (
            "- {all: web, members: {file: /a}}\n",
            "2:23: error[PK0105]: `members` must be a list of resources, not a mapping",
        ),
        (
            "- {all: web, members: [{file: /a}], meta: {noop: true}}\n",
            "2:37: error[PK0105]: `all` cannot have `meta`; hint: write it in each of its members",
        ),
        (
            "- {all: web, members: [{file: /a}], mode: 0644}\n",
            "2:37: error[PK0105]: unknown key `mode` in `all`",
        ),
        (
            "- {all: web, members: [{file: /a}]}\n- file: /a\n",
            "3:9: error[PK0105]: the resource `file:/a` is declared twice",
        ),
    ];
    for (resources, expected) in mistakes {
        let errors = read(&format!("Package:\n{resources}")).expect_err("it is wrong");
        assert!(errors[0].contains(expected), "{errors:?}");
    }
}

fn package(manifest: &str, resources: Option<&str>) -> Vec<String> {
    let text = format!("FullName: a.P\nType: Library\n{manifest}");
    let options = ReadOptions::with_core(None);
    let read = PackageManifest::read("manifest.yaml", text.as_bytes(), &options);
    let (manifest, mut findings) = match read.into_result() {
        Ok(read) => read,
        Err(findings) => return findings.iter().map(ToString::to_string).collect(),
    };
    let read = Package::assemble(manifest, &options, |path| match path.as_str() {
        "Classes/C.yaml" => Some(b"Name: a.C".to_vec()),
        "parts/r.yaml" => resources.map(|text| text.as_bytes().to_vec()),
        other => panic!("{other} is not listed"),
    });
    if let Some(package) = read.value() {
        assert_eq!(package.resources.is_some(), resources.is_some());
    }
    findings.extend(read.diagnostics().to_vec());
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_manifest_names_its_resources_file() {
    const CLASS: &str = "Classes: {a.C: C.yaml}\nResources: parts/r.yaml\n";
    let none: [&str; 0] = [];
    assert_eq!(package("Classes: {a.C: C.yaml}\n", None), none);
    assert_eq!(package(CLASS, Some("Classes: {a.C: [{file: /a}]}")), none);
    assert_eq!(
        package(CLASS, Some("Classes: {a.c: [{file: /a}], b.D: []}")),
        [
            "parts/r.yaml:1:11: error[PK0105]: the package has no class `a.c`; hint: did you mean `a.C`?",
            "parts/r.yaml:1:30: error[PK0105]: the package has no class `b.D`"
        ]
    );
    assert_eq!(
        package(CLASS, None),
        ["manifest.yaml:4:12: error[PK0031]: the package has no file `parts/r.yaml`"]
    );
    assert_eq!(
        package("Resources: ../r.yaml\n", None),
        [
            "manifest.yaml:3:12: error[PK0019]: `../r.yaml` is not a path inside a package: `.` and `..` are not allowed"
        ]
    );
    assert_eq!(
        package("Format: Heat.HOT/1.0\nResources: r.yaml\n", None),
        [
            "manifest.yaml:4:1: warning[PK0072]: `Resources` has no meaning in a package of format Heat.HOT"
        ]
    );
}

proptest! {
    /// Whatever is left out, doubled or replaced: reading ends with a value or with findings that have places.
    #[test]
    fn damaged_files_do_not_panic(
        edits in proptest::collection::vec((0..WHOLE.len(), 0..8_usize, "[-{}\\[\\]:,$ \n\"'a&*|>#]{0,3}"), 0..4)
    ) {
        let mut text = WHOLE.to_owned();
        for (at, length, new) in edits {
            let start = text.floor_char_boundary(at.min(text.len()));
            let end = text.floor_char_boundary((start + length).min(text.len()));
            text.replace_range(start..end, &new);
        }
        if let Ok(resources) = read(&text) {
            let of_classes = resources.for_classes.iter().flat_map(|class| &class.resources);
            for template in resources.for_package.iter().chain(of_classes) {
                let filled = template.instantiate(&Object, &Limits::default());
                for finding in filled.diagnostics() {
                    shown(finding);
                }
            }
        }
    }

    /// What fills in a template is copied as it is.
    #[test]
    fn any_text_is_data(value in ".{0,20}") {
        struct Any(String);
        impl TemplateValues for Any {
            fn value(&self, _: &[&str]) -> TemplateValue<'_> {
                TemplateValue::Text(Cow::Borrowed(&self.0))
            }
        }
        let resources = read("Classes: {a.B: [{file: /a, content: 'x${this.y}z'}]}").expect("it is valid");
        let template = &resources.for_classes[0].resources[0];
        let expected = format!("x{value}z");
        let filled = template.instantiate(&Any(value), &Limits::default()).into_result();
        let (mut resource, _) = filled.expect("every text can be content");
        prop_assert_eq!(resource.properties.take_text("content"), Ok(Some(expected)));
    }
}
