//! From packages and a model to a graph: which resources there are, how they are filled in, and what is wrong.

mod composites;
mod defaults;
mod files;
mod services;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages};
use pkgres_engine::{Deployment, EdgeKind, File, Graph, GraphOptions, Kinds};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    Limits, ObjectModel, Package, PackageManifest, PackageName, ReadOptions, Release, Version,
};

/// A package `a.NAME` 1.2.0 that requires the packages before it, with a class for each name and its parent.
fn package(name: &str, classes: &[(&str, &str)], resources: &str) -> Arc<Package> {
    let with_body = |(class, parent): &(&str, &str)| -> (String, String) {
        let extends = if parent.is_empty() {
            String::new()
        } else {
            format!("Extends: {parent}\n")
        };
        ((*class).to_owned(), extends)
    };
    let classes: Vec<(String, String)> = classes.iter().map(with_body).collect();
    package_with(name, &classes, resources)
}

/// The same, with what is in the file of each class besides its name.
fn package_with(name: &str, classes: &[(String, String)], resources: &str) -> Arc<Package> {
    let listed: Vec<String> = classes
        .iter()
        .map(|(class, _)| format!("a.{name}.{class}: {class}.yaml"))
        .collect();
    let manifest = format!(
        "FullName: a.{name}\nType: Library\nVersion: 1.2.0\nResources: r.yaml\nClasses: {{{}}}\n",
        listed.join(", ")
    );
    let options = ReadOptions::with_core(None);
    let path = format!("{name}/manifest.yaml");
    let read = PackageManifest::read(&path, manifest.as_bytes(), &options);
    let (manifest, _) = read.into_result().expect("the manifest is valid");
    let read = Package::assemble(manifest, &options, |path| {
        if path.as_str() == "r.yaml" {
            return Some(resources.as_bytes().to_vec());
        }
        let class = path
            .as_str()
            .strip_prefix("Classes/")?
            .strip_suffix(".yaml")?;
        let (_, body) = classes.iter().find(|(name, _)| *name == class)?;
        Some(format!("Name: a.{name}.{class}\n{body}").into_bytes())
    });
    let (package, _) = read.into_result().expect("the package is valid");
    Arc::new(package)
}

fn bound(packages: &[Arc<Package>]) -> BoundPackages {
    let mut releases = BTreeMap::new();
    let mut before: Vec<Release> = Vec::new();
    for package in packages {
        let release = package.release();
        let bound = BoundPackage {
            package: Some(Arc::clone(package)),
            requires: before.clone(),
        };
        releases.insert(release.clone(), bound);
        before.push(release);
    }
    BoundPackages {
        root_class: None,
        releases,
    }
}

fn texts(findings: &[Diagnostic]) -> Vec<String> {
    let shown = findings.iter().map(|finding| {
        let others = finding.labels.iter().skip(1);
        let others: String = others
            .map(|label| format!(" [{}]", label.location))
            .collect();
        format!("{finding}{others}")
    });
    shown.collect()
}

fn graph(packages: &[Arc<Package>], model: Option<&str>) -> Result<Graph, Vec<String>> {
    let limits = Limits::default();
    let model = model.map(|text| {
        let read = ObjectModel::read("model.yaml", text.as_bytes(), &limits);
        read.into_result().expect("the model is valid").0
    });
    let deployment = Deployment::new(&bound(packages), model.as_ref(), &limits);
    let (deployment, _) = deployment
        .into_result()
        .map_err(|findings| texts(&findings))?;
    let kinds = Kinds::default().with("note", |name, properties| {
        let text = properties.take_required_text("text")?;
        Ok(File::new(name).with_content(text))
    });
    let graph = deployment.graph(&kinds, GraphOptions::default());
    graph.map_err(|findings| texts(&findings))
}

fn ids(graph: &Graph) -> Vec<String> {
    graph
        .nodes()
        .iter()
        .map(|node| node.id.to_string())
        .collect()
}

fn edges(graph: &Graph) -> Vec<String> {
    let mut edges: Vec<String> = graph
        .edges()
        .map(|edge| {
            let arrow = match edge.kind {
                EdgeKind::Order => "->",
                EdgeKind::Notify => "=>",
            };
            format!("{} {arrow} {}", edge.from, edge.to)
        })
        .collect();
    edges.sort();
    edges
}

#[test]
fn releases_have_resources_once_and_objects_those_of_their_classes() {
    let base = package(
        "Base",
        &[("Service", "")],
        "Package: [{directory: /srv}]\n\
         Classes:\n  a.Base.Service:\n  - file: '/srv/${this.name}'\n    content: '${package.name} ${package.version}'\n",
    );
    let web = package(
        "Web",
        &[("Web", "a.Base.Service")],
        "Package:\n- file: /etc/web\n  notifies: [note:/done]\n- note: /done\n  text: x\n\
         Classes:\n  a.Web.Web:\n  - file: '/etc/${this.name}.conf'\n    content: 'port=${this.port} ${this.tls.key} ${this.db.name}'\n    after: ['file:/srv/${this.name}']\n",
    );
    let packages = [base, web];
    let graph_alone = graph(&packages, None).expect("it is valid");
    assert_eq!(
        ids(&graph_alone),
        ["directory:/srv", "file:/etc/web", "note:/done"]
    );
    assert_eq!(edges(&graph_alone), ["file:/etc/web => note:/done"]);

    let model = "- '?': {id: one, type: a.Web.Web, package: a.Web, version: 1.2.0}\n\
                 \x20 name: one\n  port: 80\n  tls: {key: k}\n  db: {'?': {id: two, type: a.Base.Service}, name: two}\n";
    let whole = graph(&packages, Some(model)).expect("it is valid");
    assert_eq!(
        ids(&whole),
        [
            "directory:/srv",
            "file:/etc/web",
            "note:/done",
            "file:/srv/one",
            "file:/etc/one.conf",
            "file:/srv/two"
        ]
    );
    assert_eq!(
        edges(&whole),
        [
            "directory:/srv -> file:/srv/one",
            "directory:/srv -> file:/srv/two",
            "file:/etc/web => note:/done",
            "file:/srv/one -> file:/etc/one.conf",
        ]
    );
    let definition = |id: &str| {
        let mut nodes = whole.nodes().iter();
        let node = nodes.find(|node| node.id.to_string() == id).expect(id);
        node.resource.definition()
    };
    // The package is the one that describes the resource, not that of the object.
    assert!(definition("file:/srv/one").contains("a.Base 1.2.0"));
    assert!(definition("file:/etc/one.conf").contains("port=80 k two"));
}

/// A mistake of a template is reported once, and one of a value names the object that has it.
#[test]
fn mistakes_of_objects_are_told_apart() {
    let class = "Properties:\n  name: {Contract: $.string()}\n";
    let resources = "Classes:\n  a.Web.Web:\n  - file: '/srv/${this.name}'\n    contnet: x\n";
    let web = package_with("Web", &[("Web".to_owned(), class.to_owned())], resources);
    let object = |name: &str| format!("- '?': {{type: a.Web.Web}}\n  name: {name}\n");
    let model = ["one", "two", "../up"].map(object).concat();
    let errors = graph(&[web], Some(&model)).expect_err("they are wrong");
    assert_eq!(
        errors,
        [
            "Web/r.yaml:4:5: error[PK0105]: unknown property `contnet`; hint: did you mean `content`?",
            "Web/r.yaml:3:11: error[PK0105]: the name of a file must be a path without `..`, not `/srv/../up` [model.yaml:5:15]",
        ]
    );
}

#[test]
fn mistakes_have_places() {
    let check = |resources: &str, model: Option<&str>, expected: &[&str]| {
        let class = "Properties:\n  name: {Contract: $.string()}\n  ports: {Contract: [$.int()]}\n";
        let web = package_with("Web", &[("Web".to_owned(), class.to_owned())], resources);
        let errors = graph(&[web], model).err().unwrap_or_default();
        assert_eq!(errors, expected, "{resources}");
    };
    let of_class = |resource: &str| format!("Classes: {{a.Web.Web: [{resource}]}}");
    let object = "{'?': {id: web, type: a.Web.Web}, name: web, ports: [80]}";

    check(
        "Package: [{fil: /a}]",
        None,
        &[
            "Web/r.yaml:1:17: error[PK0105]: there is no kind of resource `fil`; hint: did you mean `file`?",
        ],
    );
    check(
        "Package: [{sysctl: web}]",
        None,
        &[
            "Web/r.yaml:1:20: error[PK0105]: there is no kind of resource `sysctl`; hint: the kinds are `directory`, `exec`, `file`, `group`, `link`, `note`, `package`, `query`, `service`, `user`",
        ],
    );
    check(
        "Package: [{file: /a, mode: 0999}, {file: b}, {file: /c, contents: x}, {directory: /d, state: gone}]",
        None,
        &[
            "Web/r.yaml:1:28: error[PK0105]: `mode` must be three or four octal digits, not `0999`; hint: write it as in 0644",
            "Web/r.yaml:1:42: error[PK0105]: the name of a file must be an absolute path, not `b`",
            "Web/r.yaml:1:57: error[PK0105]: unknown property `contents`; hint: did you mean `content`?",
            "Web/r.yaml:1:94: error[PK0105]: `state` must be `present`, `absent` or `absent-if-empty`, not `gone`",
        ],
    );
    // A value that is wrong does not hide a property that is unknown.
    check(
        "Package: [{file: /a, mode: 9999, contnt: x}, {file: /b, content: y, mode: 9, state: gone, owners: z}]",
        None,
        &[
            "Web/r.yaml:1:28: error[PK0105]: `mode` must be three or four octal digits, not `9999`; hint: write it as in 0644",
            "Web/r.yaml:1:34: error[PK0105]: unknown property `contnt`; hint: did you mean `content`?",
            "Web/r.yaml:1:85: error[PK0105]: `state` must be `present` or `absent`, not `gone`",
            "Web/r.yaml:1:91: error[PK0105]: unknown property `owners`; hint: did you mean `owner`?",
        ],
    );
    check(
        "Package: [{file: /a, copy_of: /p/../etc/shadow}, {file: /b, copy_of: c}, {file: /c, owner: 4294967295}, {directory: /d, group: 4294967295}, {user: u, home: /home/../x}]",
        None,
        &[
            "Web/r.yaml:1:31: error[PK0105]: `copy_of` must be a path without `..`, not `/p/../etc/shadow`",
            "Web/r.yaml:1:70: error[PK0105]: `copy_of` must be an absolute path, not `c`",
            "Web/r.yaml:1:92: error[PK0105]: `owner` must be less than 4294967295, not 4294967295",
            "Web/r.yaml:1:128: error[PK0105]: `group` must be less than 4294967295, not 4294967295",
            "Web/r.yaml:1:157: error[PK0105]: `home` must be a path without `..`, not `/home/../x`",
        ],
    );
    check(
        r#"Package: [{link: /a, target: ""}, {link: /b, target: "x\0"}, {exec: d, command: [x, "\0"], creates: /d}, {query: e, command: [x], environment: {A: "\0"}}]"#,
        None,
        &[
            "Web/r.yaml:1:30: error[PK0105]: `target` must be a path, not ``",
            "Web/r.yaml:1:54: error[PK0105]: `target` must be a path, not `x\\u{0}`",
            "Web/r.yaml:1:81: error[PK0105]: `command` has the character NUL: `\\u{0}`",
            "Web/r.yaml:1:144: error[PK0105]: `environment` has the character NUL: `\\u{0}`",
        ],
    );
    check(
        "Package: [{exec: a, command: [x]}, {exec: b, command: 'x y', creates: /y}, {query: c}, {link: /l}, {user: u, number: x}]",
        None,
        &[
            "Web/r.yaml:1:18: error[PK0105]: nothing says when the command has to run; hint: add `creates`, `unless`, `only_if` or `on_refresh`",
            "Web/r.yaml:1:55: error[PK0105]: `command` is a list of a program and its arguments, not a text for a shell; hint: write it as in `[systemctl, reload, web]`",
            "Web/r.yaml:1:84: error[PK0105]: the property `command` is missing",
            "Web/r.yaml:1:95: error[PK0105]: the property `target` is missing",
            "Web/r.yaml:1:118: error[PK0105]: `number` must be an integer of at least 0, not `x`",
        ],
    );
    check(
        "Package: [{file: /a, after: [file:/bb]}, {file: /b}]",
        None,
        &[
            "Web/r.yaml:1:30: error[PK0105]: `file:/a` refers to `file:/bb`, which does not exist; hint: did you mean `file:/b`?",
        ],
    );
    check(
        "Package: [{file: /a, after: [file:/b]}, {file: /b, after: [file:/a]}]",
        None,
        &[
            "Web/r.yaml:1:18: error[PK0105]: resources wait for each other in a cycle: `file:/a` -> `file:/b` -> `file:/a` [Web/r.yaml:1:48]",
        ],
    );
    // Single resources that are wrong do not hide what is wrong with the others together.
    check(
        "Package: [{fil: /x}, {file: /a, after: [file:/b]}, {file: /b, after: [file:/a, file:/c, file:/y]}, {file: /c, mode: 9, before: [file:/a]}]",
        None,
        &[
            "Web/r.yaml:1:17: error[PK0105]: there is no kind of resource `fil`; hint: did you mean `file`?",
            "Web/r.yaml:1:117: error[PK0105]: `mode` must be three or four octal digits, not `9`; hint: write it as in 0644",
            "Web/r.yaml:1:89: error[PK0105]: `file:/b` refers to `file:/y`, which does not exist; hint: did you mean `file:/a`?",
            "Web/r.yaml:1:29: error[PK0105]: resources wait for each other in a cycle: `file:/a` -> `file:/b` -> `file:/a` [Web/r.yaml:1:59]",
        ],
    );
    check(
        "Package: [{file: /a, receives: {mode: {file:/b: x}}}, {file: /b}]",
        None,
        &[
            "Web/r.yaml:1:33: error[PK0105]: the property `mode` of `file:/a` cannot receive a value; hint: it can be `content`",
            "Web/r.yaml:1:49: error[PK0105]: `file:/b` does not send a value `x`",
        ],
    );
    check(
        &of_class("{file: '/a/${this.nmae}', content: '${this.ports}'}"),
        Some(object),
        &[
            "Web/r.yaml:1:34: error[PK0106]: the object has no property `nmae`; hint: did you mean `name`? [model.yaml:1:23]",
            "Web/r.yaml:1:59: error[PK0106]: `${this.ports}` is a list, not a scalar [model.yaml:1:23]",
        ],
    );
    check(
        &of_class("{file: '/a/${this.name}', content: '${this.port}'}"),
        Some("[{'?': {id: one, type: a.Web.Web}, name: [], ports: [x], prot: 1}]"),
        &[
            "Web/r.yaml:1:34: error[PK0106]: `${this.name}` is a list, not a scalar [model.yaml:1:24]",
            "Web/r.yaml:1:59: error[PK0106]: the object has no property `port`; hint: did you mean `ports`? [model.yaml:1:24]",
            "model.yaml:1:42: error[PK0063]: `name` of the object `one` must be text, as `a.Web.Web` requires",
            "model.yaml:1:54: error[PK0063]: `ports[0]` of the object `one` must be an integer, as `a.Web.Web` requires",
            "model.yaml:1:64: warning[PK0072]: the class `a.Web.Web` has no property `prot`; hint: did you mean `ports`?",
        ],
    );
    let two =
        "[{'?': {id: one, type: a.Web.Web}, name: a}, {'?': {id: two, type: a.Web.Web}, name: b}]";
    check(
        &of_class("{file: /a, content: '${this.name}'}"),
        Some(two),
        &[
            "Web/r.yaml:1:30: error[PK0105]: the resource `file:/a` is declared twice, and differs in `content`; hint: name it by a property in which the objects differ, such as `${this.name}`",
        ],
    );
    check(
        "Package: []",
        Some("{'?': {id: web, type: a.Web.Other}}"),
        &[
            "model.yaml:1:23: error[PK0060]: no locked release defines the class `a.Web.Other`; hint: require the package of the class in the manifest, and lock again",
        ],
    );
    check(
        "Package: []",
        Some("{'?': {id: web, type: a.Web.Web, package: a.Wbe}}"),
        &[
            "model.yaml:1:23: error[PK0060]: `a.Wbe` does not define the class `a.Web.Web`, but `a.Web` does; hint: correct `package` in the header of the object",
        ],
    );
    check(
        "Package: []",
        Some("{'?': {id: web, type: a.Web.Web, package: a.Web, version: 1.0.0}}"),
        &[
            "model.yaml:1:23: error[PK0060]: the object is pinned to a.Web 1.0.0, and the lockfile has 1.2.0; hint: remove the version from the header of the object, which is then of the locked version",
        ],
    );
    check(
        "Package: []",
        Some("{'?': {id: web, type: a.Web.Web, package: a.Web, version: '>=2'}}"),
        &[
            "model.yaml:1:23: error[PK0060]: the object needs a.Web >=2, and the lockfile has 1.2.0; hint: remove the version from the header of the object, which is then of the locked version",
        ],
    );
}

#[test]
fn a_class_of_several_releases_has_to_be_chosen() {
    let model = "{'?': {id: web, type: a.Web.Web}}";
    let release = |version: &str| {
        let package = package("Web", &[("Web", "")], "Package: []");
        let mut package = Arc::unwrap_or_clone(package);
        package.manifest.version = Version::parse(version).expect("a version");
        Arc::new(package)
    };
    let of_package = |name: &str| {
        let mut package = Arc::unwrap_or_clone(release("1.0.0"));
        package.manifest.name.value = PackageName::parse(name).expect("a name");
        Arc::new(package)
    };
    let versions = graph(&[release("1.0.0"), release("2.0.0")], Some(model));
    assert_eq!(
        versions.err().unwrap_or_default(),
        [
            "model.yaml:1:23: error[PK0060]: several releases define the class: a.Web 1.0.0, a.Web 2.0.0; hint: `pkgres pin model.yaml --lock LOCKFILE --in-place` writes package and version into the model"
        ]
    );
    let pinned = "{'?': {id: web, type: a.Web.Web, package: a.Web, version: 2.1.0}}";
    let others = graph(&[release("1.0.0"), release("2.0.0")], Some(pinned));
    assert_eq!(
        others.err().unwrap_or_default(),
        [
            "model.yaml:1:23: error[PK0060]: the object is pinned to a.Web 2.1.0, and the lockfile has 1.0.0 and 2.0.0; hint: write the version of one of them into the header of the object"
        ]
    );
    // `pin` could not choose either.
    let packages = graph(&[of_package("a.One"), of_package("a.Two")], Some(model));
    assert_eq!(
        packages.err().unwrap_or_default(),
        [
            "model.yaml:1:23: error[PK0060]: several releases define the class: a.One 1.0.0, a.Two 1.0.0; hint: say which one with `package` in the header of the object"
        ]
    );
}

#[test]
fn every_kind_is_read_with_its_properties() {
    let web = package(
        "Web",
        &[],
        "Package:\n\
         - exec: render\n  command: [sh, -c, 'echo $A']\n  environment: {A: b}\n  folder: /srv\n  user: web\n  group: web\n\
         \x20 creates: /a\n  unless: ['false']\n  only_if: ['true']\n  on_refresh: true\n\
         - query: kernel\n  command: uname\n\
         - file: /kernel\n  receives: {content: {query:kernel: stdout}}\n\
         - link: /current\n  target: /srv\n\
         - group: web\n  number: 990\n  system: true\n\
         - user: web\n  number: 990\n  group: web\n  groups: [adm]\n  home: /srv\n  shell: /bin/sh\n  comment: Web\n  system: true\n\
         - package: nginx\n  version: 1.22-1\n\
         - directory: /srv\n  mode: 0750\n  owner: web\n  group: web\n\
         - user: old\n  state: absent\n\
         - service: web\n  state: running\n  enabled: true\n",
    );
    let whole = graph(&[web], None).expect("it is valid");
    let definitions: Vec<String> = whole
        .nodes()
        .iter()
        .map(|node| format!("{}: {}", node.id, node.resource.definition()))
        .collect();
    let definitions = definitions.join("\n");
    for part in [
        "echo $A",
        "\"A\": \"b\"",
        "/srv",
        "uname",
        "990",
        "adm",
        "/bin/sh",
        "1.22-1",
        "488",
    ] {
        assert!(definitions.contains(part), "{part} is not in {definitions}");
    }
    let edges = edges(&whole);
    for edge in [
        "query:kernel -> file:/kernel",
        "group:web -> user:web",
        "user:web -> directory:/srv",
    ] {
        assert!(
            edges.iter().any(|known| known == edge),
            "{edge} is not in {edges:?}"
        );
    }
}

#[test]
fn packages_share_a_machine() {
    let one = package("One", &[], "Package: [{file: /a, before: [file:/b]}]");
    let two = package("Two", &[], "Package: [{file: /b}]");
    let graph_of_both = graph(&[one, two.clone()], None).expect("it is valid");
    assert_eq!(edges(&graph_of_both), ["file:/a -> file:/b"]);

    // What is equal is one resource, and has the edges of both.
    let three = package(
        "Three",
        &[],
        "Package: [{file: /b, before: [file:/c]}, {file: /c}]",
    );
    let four = package(
        "Four",
        &[],
        "Package: [{file: /b, after: [file:/d]}, {file: /d}]",
    );
    let merged = graph(&[three.clone(), four], None).expect("it is valid");
    assert_eq!(edges(&merged), ["file:/b -> file:/c", "file:/d -> file:/b"]);

    let other = package("Two", &[], "Package: [{file: /b, mode: 0600}]");
    assert_eq!(
        graph(&[three, other], None).err().unwrap_or_default(),
        [
            "Two/r.yaml:1:18: error[PK0105]: the resource `file:/b` is declared twice, and differs in `mode` [Three/r.yaml:1:18]"
        ]
    );
}

#[test]
fn resources_that_contradict_each_other_are_found_before_a_run() {
    let check = |resources: &str, expected: &str| {
        let web = package("Web", &[], resources);
        let errors = graph(&[web], None).err().unwrap_or_default();
        assert_eq!(errors, [expected], "{resources}");
    };
    check(
        "Package: [{directory: /a, state: absent}, {file: /a/b/c}]",
        "Web/r.yaml:1:50: error[PK0105]: `file:/a/b/c` needs `directory:/a`, which must be absent [Web/r.yaml:1:23]",
    );
    check(
        "Package: [{user: web, state: absent}, {directory: /a, owner: web}]",
        "Web/r.yaml:1:51: error[PK0105]: `directory:/a` needs `user:web`, which must be absent [Web/r.yaml:1:18]",
    );
    check(
        "Package: [{group: www, state: absent}, {user: web, groups: [www]}]",
        "Web/r.yaml:1:47: error[PK0105]: `user:web` needs `group:www`, which must be absent [Web/r.yaml:1:19]",
    );
    check(
        "Package: [{directory: /a}, {link: /a, target: /b}]",
        "Web/r.yaml:1:35: error[PK0105]: `directory:/a` and `link:/a` both determine what is at one place [Web/r.yaml:1:23]",
    );
    check(
        "Package: [{file: /a}, {directory: /a/b, after: ['file:/a']}]",
        "Web/r.yaml:1:35: error[PK0105]: `directory:/a/b` is below `file:/a`, which is not a folder [Web/r.yaml:1:18]",
    );
    check(
        "Package: [{file: /a, force: true, mode: 0600}, {file: /a/b/c}]",
        "Web/r.yaml:1:55: error[PK0105]: `file:/a/b/c` is below `file:/a`, which is not a folder [Web/r.yaml:1:18]",
    );
    check(
        "Package: [{user: a, number: 1500}, {group: c, number: 1500}, {user: b, number: 1500}]",
        "Web/r.yaml:1:69: error[PK0105]: `user:a` and `user:b` have the same number, 1500 [Web/r.yaml:1:18]",
    );
    check(
        "Package: [{service: cron, enabled: false}, {service: cron.service, enabled: true}]",
        "Web/r.yaml:1:54: error[PK0105]: `service:cron` and `service:cron.service` name the same service, and want different states [Web/r.yaml:1:21]",
    );
    check(
        "Package: [{package: hello}, {package: 'hello:amd64', state: absent}]",
        "Web/r.yaml:1:39: error[PK0105]: `package:hello` and `package:hello:amd64` name the same package, and want different states [Web/r.yaml:1:21]",
    );
    check(
        "Package: [{package: 'hello:i386', version: '1'}, {package: hello, version: '2'}]",
        "Web/r.yaml:1:60: error[PK0105]: `package:hello:i386` and `package:hello` name the same package, and want different states [Web/r.yaml:1:21]",
    );
    for right in [
        "Package: [{service: cron, enabled: true}, {service: cron.service, state: running}]",
        "Package: [{service: cups.socket, enabled: true}, {service: cups, enabled: false}]",
        "Package: [{package: hello}, {package: 'hello:amd64', version: '1'}]",
        "Package: [{package: 'hello:i386', state: absent}, {package: 'hello:amd64'}]",
        "Package: [{file: /a}, {file: /ab}, {file: /a/b, state: absent}]",
        "Package: [{group: a, state: absent}, {group: b, state: absent}, {user: c, state: absent}]",
        "Package: [{file: /a, state: absent}, {link: /b, target: /c}, {file: /b/d}]",
    ] {
        graph(&[package("Web", &[], right)], None).expect("it is valid");
    }
    // An order among what goes is no contradiction.
    let web = package(
        "Web",
        &[],
        "Package: [{directory: /a, state: absent}, {file: /a/b, state: absent}]",
    );
    graph(&[web], None).expect("it is valid");
}

#[test]
fn mistakes_that_need_no_machine_are_found_without_one() {
    let check = |resource: &str, expected: &str| {
        let web = package("Web", &[], &format!("Package: [{{{resource}}}]"));
        let errors = graph(&[web], None).err().unwrap_or_default();
        let messages: Vec<&str> = errors
            .iter()
            .filter_map(|error| error.split_once("]: "))
            .map(|(_, message)| message)
            .collect();
        assert_eq!(messages, [expected], "{resource}");
    };
    check(
        "file: /a/../b",
        "the name of a file must be a path without `..`, not `/a/../b`",
    );
    check(
        "file: /a/./b",
        "the name of a file is not written plainly: `/a/./b`; hint: write it as `/a/b`",
    );
    check(
        "directory: /a/",
        "the name of a directory is not written plainly: `/a/`; hint: write it as `/a`",
    );
    check(
        "link: //a, target: b",
        "the name of a link is not written plainly: `//a`; hint: write it as `/a`",
    );
    check("file: /", "a file cannot be at `/`");
    check(
        "directory: /, state: absent",
        "the folder `/` cannot be absent",
    );
    check(
        "file: /a, state: absent, content: x",
        "`content` has no meaning for a file that must be absent",
    );
    check(
        "user: web, number: -1",
        "`number` must be an integer of at least 0, not `-1`",
    );
    check(
        "user: web, number: 4294967295",
        "`number` must be less than 4294967295, not 4294967295",
    );
    check(
        "user: 'bad name'",
        "`bad name` cannot be the name of a user: it must begin with a letter or `_`, and have at most 32 letters, digits, `_`, `.` and `-`",
    );
    check(
        "user: web, comment: 'a:b'",
        "the comment of a user must not contain `:` or line breaks",
    );
    check(
        "user: web, groups: ['a b']",
        "`a b` cannot be the name of a group: it must begin with a letter or `_`, and have at most 32 letters, digits, `_`, `.` and `-`",
    );
    check(
        "file: /a, owner: 'a b'",
        "`a b` cannot be the name of a user: it must begin with a letter or `_`, and have at most 32 letters, digits, `_`, `.` and `-`",
    );
    check("service: web", "a service needs `state`, `enabled` or both");
    check(
        "service: a/b, state: running",
        "`a/b` cannot be the name of a service",
    );
    check(
        "exec: e, command: [x], creates: made",
        "`creates` must be an absolute path, not `made`",
    );
    check(
        "exec: e, command: [x], creates: /x, environment: {1B: x}",
        "`1B` is not the name of a variable: it begins with neither a letter nor `_`",
    );
    check(
        "query: q, command: [x], timeout: 0",
        "`timeout` must be a whole number of seconds, at least 1, not `0`",
    );
    check("package: -y", "`-y` cannot be the name of a package");
}
