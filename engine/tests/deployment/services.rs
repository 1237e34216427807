//! What a service comes after.

use crate::{edges, graph, package};

/// Without the folder that says which services are enabled, a service cannot be enabled.
#[test]
fn a_service_comes_after_the_folders_that_it_needs() {
    let resources = "Package:\n- service: web\n  enabled: true\n- directory: /etc/service\n- directory: /etc/sv/web\n";
    let graph = graph(&[package("Web", &[], resources)], None).expect("it is valid");
    assert_eq!(
        edges(&graph),
        [
            "directory:/etc/service -> service:web",
            "directory:/etc/sv/web -> service:web",
        ]
    );
}

/// An instance is defined by its template, and a unit also by what is in the folder of its additions.
#[test]
fn a_service_comes_after_all_files_of_its_unit() {
    let edges_of = |resources: &str| {
        let resources = format!("Package: [{resources}]");
        let graph = graph(&[package("Web", &[], &resources)], None).expect("it is right");
        edges(&graph)
    };
    let unit = |name: &str| format!("{{file: '/etc/systemd/system/{name}'}}");
    for (service, file, is_its_own) in [
        ("tpl@5", "tpl@.service", true),
        ("tpl@5", "tpl@5.service", true),
        ("tpl@5.service", "tpl@.service", true),
        ("tpl@5", "tpl@.service.d/local.conf", true),
        ("tpl@a@b.timer", "tpl@.timer", true),
        ("tpl@5", "tpl@.timer", false),
        ("tpl@5", "tpl@6.service", false),
        ("tpl", "tpl@.service", false),
        ("web", "web.service.d/local.conf", true),
        ("web", "web.service.data", false),
        ("org.example.Web", "org.example.Web.service", true),
    ] {
        let expected: &[String] = &[format!(
            "file:/etc/systemd/system/{file} -> service:{service}"
        )];
        let expected = if is_its_own { expected } else { &[] };
        let file = unit(file);
        let resources = format!("{{service: '{service}', enabled: true}}, {file}");
        assert_eq!(edges_of(&resources), expected, "{resources}");
    }
    for (service, package) in [
        ("openvpn@office", "openvpn"),
        ("cron.service", "cron"),
        ("cron", "cron:amd64"),
    ] {
        let resources =
            format!("{{service: '{service}', enabled: true}}, {{package: '{package}'}}");
        let expected = format!("package:{package} -> service:{service}");
        assert_eq!(edges_of(&resources), [expected]);
    }
    assert_eq!(
        edges_of(
            "{service: web, enabled: true}, {file: /etc/sv/web/env/PORT}, {file: /etc/sv/webs/run}"
        ),
        ["file:/etc/sv/web/env/PORT -> service:web"]
    );
}
