//! Properties that a model leaves out: the class of the object may have a default for them.

use pkgres_engine::{Deployment, check_templates};
use pkgres_manifest::{Limits, ObjectModel};

use crate::{bound, graph, package_with, texts};

/// A package with a class that has defaults, and one with a class that extends it.
fn packages(content: &str) -> [std::sync::Arc<pkgres_manifest::Package>; 2] {
    let base = "Properties:\n  port: {Contract: $.int(), Default: 80}\n  version: {Contract: $.string(), Default: 1.10}\n\
                \x20 tls: {Contract: {}, Default: {key: none, names: [a]}}\n  host: {Contract: $.string(), Default: $.port}\n\
                \x20 quoted: {Contract: $.string(), Default: !yaql 'new(x)'}\n  none: {Contract: $.string(), Default: null}\n\
                \x20 title: {Contract: $.string()}\n  db: {Contract: $.class(a.Base.Service)}\n";
    let web = "Extends: a.Base.Service\nProperties:\n  port: {Contract: $.int(), Default: 8080}\n";
    let resources =
        format!("Classes:\n  a.Web.Web:\n  - file: '/etc/web'\n    content: '{content}'\n");
    let class = |name: &str, body: &str| (name.to_owned(), body.to_owned());
    let of_base = [class("Service", base), class("Other", "")];
    [
        package_with("Base", &of_base, "Package: []\n"),
        package_with("Web", &[class("Web", web)], &resources),
    ]
}

/// The content of a file for an object with these properties, or what is wrong.
fn filled(content: &str, properties: &str) -> Result<String, Vec<String>> {
    let model = format!("- '?': {{id: one, type: a.Web.Web}}\n{properties}");
    let graph = graph(&packages(content), Some(&model))?;
    let definition = graph.nodes()[0].resource.definition();
    Ok(definition)
}

#[test]
fn what_a_model_leaves_out_has_the_default_of_its_class() {
    let content = "${this.port} ${this.version} ${this.tls.key}";
    let definition = filled(content, "").expect("the class has defaults");
    // The nearest class counts, and a version is as written.
    assert!(definition.contains("8080 1.10 none"), "{definition}");
    let properties = "  port: 1\n  tls: {key: own}\n";
    let definition = filled(content, properties).expect("the model has values");
    assert!(definition.contains("1 1.10 own"), "{definition}");
    // So do objects inside of the object.
    let inside = "  db: {'?': {id: two, type: a.Base.Service}}\n";
    let definition = filled("${this.db.port}", inside).expect("the class has defaults");
    assert!(definition.contains("80"), "{definition}");
    // They are of the class that the contract names, or of one that inherits it.
    let inherits = "  db: {'?': {id: two, type: a.Web.Web}}\n";
    assert!(filled("${this.port}", inherits).is_ok());
    let other = "  db: {'?': {id: two, type: a.Base.Other}}\n";
    assert_eq!(
        filled("${this.port}", other).expect_err("it is of another class"),
        [
            "model.yaml:2:29: error[PK0063]: `db` of the object `one` must be an object of class `a.Base.Service`, and `a.Base.Other` is none"
        ]
    );
    // null is a value.
    let errors = filled("${this.port}", "  port: null\n").expect_err("it is null");
    assert!(
        errors[0].contains("`${this.port}` is null, not a scalar"),
        "{errors:?}"
    );
}

#[test]
fn defaults_that_are_no_scalars_fill_in_nothing() {
    for (path, expected) in [
        (
            "host",
            "`${this.host}` is an expression that pkgres does not evaluate, not a scalar",
        ),
        (
            "quoted",
            "`${this.quoted}` is an expression that pkgres does not evaluate",
        ),
        ("none", "`${this.none}` is null, not a scalar"),
        ("tls", "`${this.tls}` is a mapping, not a scalar"),
        ("tls.names", "`${this.tls.names}` is a list, not a scalar"),
        ("tls.kye", "did you mean `key`?"),
        ("title", "the object has no value for its property `title`"),
        ("port.x", "`x`"),
    ] {
        let errors = filled(&format!("${{this.{path}}}"), "").expect_err(path);
        assert!(errors[0].contains(expected), "{path}: {errors:?}");
    }
}

#[test]
fn templates_of_classes_without_objects_are_checked_with_ancestors_elsewhere() {
    let limits = Limits::default();
    let packages = packages("${this.port} ${this.prot}");
    let bound_packages = bound(&packages);
    let release = packages[1].release();
    let findings = check_templates(&bound_packages, &release, &limits);
    let expected = "Web/r.yaml:4:28: error[PK0106]: the object has no property `prot`; hint: did you mean `port`?; hint: the class is `a.Web.Web`";
    assert_eq!(texts(&findings), [expected]);
    // Without the ancestor, nobody knows.
    let alone = bound(&packages[1..]);
    assert!(check_templates(&alone, &release, &limits).is_empty());

    // A plan warns of them, and reports them once if an object has them.
    let deployed = Deployment::new(&bound_packages, None, &limits).into_result();
    let (_, warnings) = deployed.expect("it can be deployed");
    assert_eq!(texts(&warnings), [expected.replace("error", "warning")]);
    let model = ObjectModel::read("m.yaml", b"- '?': {id: one, type: a.Web.Web}\n", &limits);
    let (model, _) = model.into_result().expect("the model is valid");
    let deployed = Deployment::new(&bound_packages, Some(&model), &limits).into_result();
    let errors = deployed.expect_err("it cannot be filled in");
    assert_eq!(errors.len(), 1, "{:?}", texts(&errors));
}
