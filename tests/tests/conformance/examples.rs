//! The examples of the design of interfaces, status by status.

use pkgres_manifest::ConformanceStatus::{
    Conflict, Deprecated, Implemented, NotApplicable, NotImplemented, NotSupported,
    SignatureMismatch,
};

use crate::packages::{Text, bind, conformance_of_last, facts, status};

/// The interfaces of the examples.
fn interfaces(version: &str) -> Text {
    Text::new("org.example.iface", version).interfaces(&[
        (
            "org.example.iface.Pkg",
            "Functions:\n  list_installed: {}\n  upgrade_available:\n    Arguments:\n    - name: {}\n\
             \x20 salute_fireworks:\n    Supported: {os: BeOS, os_family: [linux]}\n",
        ),
        (
            "org.example.iface.Some",
            "Functions:\n  foo:\n    Returns: {type: object}\n    NotApplicable: {os: [Windows, NetBSD]}\n",
        ),
    ])
}

#[test]
fn a_missing_function_depends_on_the_platforms_that_support_it() {
    let module = Text::new("org.example.Module", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&[(
            "org.example.Module",
            "Methods:\n  list_installed: {}\n  upgrade_available:\n    Arguments: [name: {}]\n",
        )])
        .implements("org.example.Module", &["org.example.iface.Pkg"]);
    let (packages, releases) = bind(&[interfaces("1.0.0"), module]);
    let classes = conformance_of_last(&packages, &releases);
    let of =
        |function, platform| status(&classes, "org.example.Module", function, &facts(platform));
    for (platform, expected) in [
        ("os=BeOS", NotImplemented),
        ("os=beos", NotImplemented),
        ("os_family=linux", NotImplemented),
        ("osfamily=Linux", NotImplemented),
        ("os=Debian OS_Family=LINUX", NotImplemented),
        ("os=Windows", NotSupported),
        ("kernel=linux", NotSupported),
    ] {
        assert_eq!(
            of("salute_fireworks", platform),
            Some(expected),
            "{platform}"
        );
        assert_eq!(of("list_installed", platform), Some(Implemented));
        assert_eq!(of("upgrade_available", platform), Some(Implemented));
    }
    assert_eq!(of("nothing", "os=BeOS"), None);
}

#[test]
fn a_function_that_makes_no_sense_returns_its_default() {
    let modules = Text::new("org.example.Modules", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&[
            ("org.example.RedHat", "Methods: {foo: {}}\n"),
            ("org.example.Suse", ""),
        ])
        .implements("org.example.RedHat", &["org.example.iface.Some"])
        .implements("org.example.Suse", &["org.example.iface.Some"]);
    let (packages, releases) = bind(&[interfaces("1.0.0"), modules]);
    let classes = conformance_of_last(&packages, &releases);
    let of = |class, platform| status(&classes, class, "foo", &facts(platform));
    assert_eq!(of("org.example.RedHat", "os=RedHat"), Some(Implemented));
    assert_eq!(of("org.example.RedHat", "os=Windows"), Some(Conflict));
    assert_eq!(of("org.example.Suse", "os=SUSE"), Some(NotImplemented));
    assert_eq!(of("org.example.Suse", "os=windows"), Some(NotApplicable));
    assert_eq!(of("org.example.Suse", "os=NetBSD"), Some(NotApplicable));
    let function = &classes[1].interfaces[0].functions[0];
    let windows = function.capability(&facts("os=Windows"));
    assert_eq!(windows, Some(pkgres_checks::Capability::NotApplicable));
}

#[test]
fn a_fact_may_have_several_values() {
    let interface = Text::new("org.example.iface", "1.0.0").interfaces(&[(
        "org.example.iface.Web",
        "Functions:\n  tls:\n    Supported: {roles: [web, proxy]}\n",
    )]);
    let module = Text::new("org.example.Module", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&[("org.example.Module", "")])
        .implements("org.example.Module", &["org.example.iface.Web"]);
    let (packages, releases) = bind(&[interface, module]);
    let classes = conformance_of_last(&packages, &releases);
    let of = |platform| status(&classes, "org.example.Module", "tls", &facts(platform));
    assert_eq!(of("roles=db roles=Web"), Some(NotImplemented));
    assert_eq!(of("roles=db"), Some(NotSupported));
}

#[test]
fn inherited_members_count_and_private_ones_do_not() {
    let base = Text::new("org.example.Base", "1.0.0").classes(&[(
        "org.example.Base",
        "Methods: {list_installed: {}, upgrade_available: {Arguments: [name: {}]}, more: {}, _own: {}, .init: {}}\n",
    )]);
    let module = Text::new("org.example.Module", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .requires("org.example.Base", "1.0.0")
        .classes(&[(
            "org.example.Module",
            "Extends: org.example.Base\nMethods: {initialize: {}, destroy: {}, upgrade_available: {}}\n",
        )])
        .implements("org.example.Module", &["org.example.iface.Pkg"]);
    let (packages, releases) = bind(&[interfaces("1.0.0"), base, module]);
    let classes = conformance_of_last(&packages, &releases);
    let of = |function| status(&classes, "org.example.Module", function, &facts("os=BeOS"));
    assert_eq!(of("list_installed"), Some(Implemented));
    // Its own method hides the inherited one.
    assert_eq!(of("upgrade_available"), Some(SignatureMismatch));
    assert_eq!(of("more"), Some(Deprecated));
    let undeclared: Vec<&str> = classes[0].undeclared.iter().map(|it| it.name).collect();
    assert_eq!(undeclared, ["more"]);
}

#[test]
fn a_function_is_deprecated_from_one_version_to_another() {
    let text = "Functions:\n  hold:\n    Deprecated: {since: 1.2, removed_in: 2.0, successor: lock}\n  lock: {}\n";
    for (version, with, without) in [
        ("1.1.0", Some(Implemented), Some(NotImplemented)),
        ("1.2.0", Some(Deprecated), Some(NotImplemented)),
        ("2.0.0", Some(Deprecated), None),
    ] {
        let interface =
            Text::new("org.example.iface", version).interfaces(&[("org.example.iface.Hold", text)]);
        let modules = Text::new("org.example.Modules", "1.0.0")
            .requires("org.example.iface", version)
            .classes(&[
                ("org.example.With", "Methods: {hold: {}, lock: {}}\n"),
                ("org.example.Without", "Methods: {lock: {}}\n"),
            ])
            .implements("org.example.With", &["org.example.iface.Hold"])
            .implements("org.example.Without", &["org.example.iface.Hold"]);
        let (packages, releases) = bind(&[interface, modules]);
        let classes = conformance_of_last(&packages, &releases);
        let of = |class| status(&classes, class, "hold", &facts("os=Debian"));
        assert_eq!(of("org.example.With"), with, "{version}");
        assert_eq!(of("org.example.Without"), without, "{version}");
    }
}

#[test]
fn a_function_of_any_of_several_interfaces_is_declared() {
    let modules = Text::new("org.example.Modules", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&[(
            "org.example.Both",
            "Methods: {list_installed: {}, upgrade_available: {Arguments: [name: {}]}, foo: {}}\n",
        )])
        .implements(
            "org.example.Both",
            &["org.example.iface.Pkg", "org.example.iface.Some"],
        );
    let (packages, releases) = bind(&[interfaces("1.0.0"), modules]);
    let classes = conformance_of_last(&packages, &releases);
    assert!(classes[0].undeclared.is_empty());
    let of = |function| status(&classes, "org.example.Both", function, &facts("os=Debian"));
    assert_eq!(of("foo"), Some(Implemented));
    assert_eq!(of("list_installed"), Some(Implemented));
}

#[test]
fn cases_say_the_same_as_the_statuses_of_platforms() {
    let interface = Text::new("org.example.iface", "1.0.0").interfaces(&[(
        "org.example.iface.All",
        "Functions:\n  plain: {}\n  some: {Supported: {os: [B, a], os_family: C}}\n\
         \x20 none: {NotApplicable: {os: X}}\n  both: {Supported: {os: a}, NotApplicable: {kernel: k}}\n",
    )]);
    let modules = Text::new("org.example.Modules", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&[
            ("org.example.Empty", ""),
            (
                "org.example.Full",
                "Methods: {plain: {}, some: {}, none: {}, both: {}}\n",
            ),
        ])
        .implements("org.example.Empty", &["org.example.iface.All"])
        .implements("org.example.Full", &["org.example.iface.All"]);
    let (packages, releases) = bind(&[interface, modules]);
    let classes = conformance_of_last(&packages, &releases);
    let cases = |class: usize| -> Vec<String> {
        let functions = classes[class].functions();
        functions
            .map(|function| {
                let cases = function.cases().into_iter().map(|(status, condition)| {
                    let condition = condition.map(|it| format!(" if {it}"));
                    format!("{status}{}", condition.unwrap_or_default())
                });
                format!(
                    "{}: {}",
                    function.name,
                    cases.collect::<Vec<_>>().join("; ")
                )
            })
            .collect()
    };
    assert_eq!(
        cases(0),
        [
            "plain: not-implemented",
            "some: not-implemented if os=a,b or os_family=c; not-supported",
            "none: not-applicable if os=x; not-implemented",
            "both: conflict if (kernel=k) and (os=a); not-applicable if kernel=k; not-implemented if os=a; not-supported",
        ]
    );
    assert_eq!(
        cases(1),
        [
            "plain: implemented",
            "some: implemented",
            "none: conflict if os=x; implemented",
            "both: conflict if kernel=k; implemented",
        ]
    );
}
