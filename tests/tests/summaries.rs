//! Summaries and hints of conflicts: which packages a conflict is about, and what the user can do.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, Limits, ObjectModel};
use pkgres_resolver::{
    Hint, HintKind, ModelRoot, ObjectRequirement, PrereleasePolicy, Request, Root, Update,
    UpdateTarget,
};
use pkgres_tests::build::{Build, package, release, spec, version};
use pkgres_tests::solver::{Supplies, Verdict, request, run, solve};
use pkgres_tests::universe::Universe;

fn hints_of(
    root: IndexRecord,
    records: Vec<IndexRecord>,
    adapt: &dyn Fn(&mut Request),
) -> Vec<String> {
    let universe = Universe::new(root, records);
    let mut request = request(&universe);
    adapt(&mut request);
    let verdict = run(&universe, Supplies::OnDemand, request);
    let conflict = verdict.conflict().expect("there is no resolution");
    conflict.hints.iter().map(ToString::to_string).collect()
}

/// The reasons are about releases that could be chosen. Without the others, they do not conflict.
#[test]
fn a_release_that_is_excluded_inside_a_conflict_is_named() {
    let records = |old: IndexRecord| {
        let newest = release("Db", "1.1.0").requires("Log", "7");
        vec![
            old,
            newest,
            release("Log", "1.0.0"),
            release("Log", "6.0.0").yanked(),
        ]
    };
    let hints = |old: IndexRecord| {
        hints_of(
            release("R", "1").requires("Db", "1"),
            records(old),
            &|request| {
                request.options.exclude_newer =
                    Some("2026-06-01T00:00:00Z".parse().expect("a time"));
                request.options.prerelease = PrereleasePolicy::Never;
            },
        )
    };
    let way_out = "Db 1.0.0 matches but was yanked; it is chosen only if it is locked, or requested by an update";
    let yanked = hints(release("Db", "1.0.0").yanked());
    assert!(yanked.contains(&way_out.to_owned()), "{yanked:?}");
    // Log 6.0.0 exists, too.
    let versions = "the only version of Log that can be chosen is 1.0.0";
    assert!(yanked.contains(&versions.to_owned()), "{yanked:?}");
    let mut late = release("Db", "1.0.0");
    late.published = Some("2026-07-01T00:00:00Z".to_owned());
    let late = hints(late);
    let way_out = "Db 1.0.0 matches but was published too late for `exclude-newer`";
    assert!(late.contains(&way_out.to_owned()), "{late:?}");
    let prerelease = hints(release("Db", "1.2.0-rc.1"));
    let way_out = "`--prerelease allow` lets Db 1.2.0-rc.1 in";
    assert!(prerelease.contains(&way_out.to_owned()), "{prerelease:?}");
    // It leads to the same conflict.
    let useless = hints(release("Db", "1.0.0").requires("Log", "7").yanked());
    assert!(
        useless.iter().all(|hint| !hint.contains("Db 1.0.0")),
        "{useless:?}"
    );
}

/// Packages without a way out do not use up the number of hints.
#[test]
fn an_excluded_release_is_named_at_the_end_of_a_chain() {
    let hints = hints_of(
        release("R", "1").requires("A", "1"),
        vec![
            release("A", "1.0.0").requires("B", "1"),
            release("B", "1.0.0").requires("C", "1"),
            release("C", "1.0.0").requires("D", "1"),
            release("D", "1.1.0").requires("Log", "7"),
            release("D", "1.0.0").yanked(),
            release("Log", "1.0.0"),
        ],
        &|_| {},
    );
    let way_out = "D 1.0.0 matches but was yanked; it is chosen only if it is locked, or requested by an update";
    assert!(hints.contains(&way_out.to_owned()), "{hints:?}");
}

#[test]
fn an_excluded_release_with_a_missing_class_is_named() {
    let root = || {
        release("R", "1")
            .defines("R.X", &["Db.K"])
            .requires("Db", "1")
    };
    let hints = |newer: IndexRecord, adapt: &dyn Fn(&mut Request)| {
        hints_of(root(), vec![release("Db", "1.0.0"), newer], adapt)
    };
    let newer = |version: &str| release("Db", version).defines("Db.K", &[]);
    assert_eq!(
        hints(newer("1.1.0").yanked(), &|_| ()),
        [
            "Db 1.1.0 defines the class Db.K but was yanked; it is chosen only if it is locked, or requested by an update"
        ]
    );
    let mut late = newer("1.1.0");
    late.published = Some("2026-07-01T00:00:00Z".to_owned());
    assert_eq!(
        hints(late, &|request| {
            request.options.exclude_newer = Some("2026-06-01T00:00:00Z".parse().expect("a time"));
        }),
        ["Db 1.1.0 defines the class Db.K but was published too late for `exclude-newer`"]
    );
    assert_eq!(
        hints(newer("1.1.0-rc.1"), &|request| {
            request.options.prerelease = PrereleasePolicy::Never;
        }),
        ["`--prerelease allow` lets Db 1.1.0-rc.1 in, which defines the class Db.K"]
    );
}

/// Programs that embed the library need to drop hints that name options of the command line.
#[test]
fn hints_that_name_options_have_their_own_kind() {
    let hints = |records: Vec<IndexRecord>, adapt: &dyn Fn(&mut Request)| {
        let root = release("R", "1").requires("Dbs", "1").requires("Db", "2");
        let universe = Universe::new(root, records);
        let mut request = request(&universe);
        adapt(&mut request);
        let Verdict::Conflict(conflict) = run(&universe, Supplies::Attached, request) else {
            panic!("there is no Db 2");
        };
        let shown = |hint: &Hint| {
            let mark = match &hint.kind {
                HintKind::Similar { unknown, similar } => {
                    format!("similar: {similar} to {unknown}")
                }
                HintKind::AlsoUnknown { package } => format!("also unknown: {package}"),
                HintKind::Option => "option".to_owned(),
                HintKind::Packages => "packages".to_owned(),
                other => panic!("{other:?}"),
            };
            let names_option = ["`--", "`exclude-newer`"]
                .iter()
                .any(|it| hint.text.contains(it));
            assert_eq!(hint.kind == HintKind::Option, names_option);
            format!("{mark}: {hint}")
        };
        conflict.hints.iter().map(shown).collect::<Vec<_>>()
    };
    let as_it_is = |_: &mut Request| ();
    assert_eq!(
        hints(vec![release("Dbs", "1")], &as_it_is),
        [
            "similar: Dbs to Db: there is a package `Dbs`",
            "option: `--registry` adds a registry that has `Db`, and `--provide FILE` declares the \
             packages of the host"
        ]
    );
    let with = |db: IndexRecord| vec![release("Dbs", "1"), db];
    assert_eq!(
        hints(with(release("Db", "1")), &as_it_is),
        [
            "packages: the only version of Db is 1.0.0",
            "packages: the conflict can be solved if R allows Db 1.0.0"
        ]
    );
    assert_eq!(
        hints(with(release("Db", "2.1.0-rc")), &|request| {
            request.options.prerelease = PrereleasePolicy::Never;
        })[0],
        "option: `--prerelease allow` lets Db 2.1.0-rc in"
    );
    assert_eq!(
        hints(with(release("Db", "2").yanked()), &as_it_is)[0],
        "packages: Db 2.0.0 matches but was yanked; it is chosen only if it is locked, or requested by an update"
    );
    let mut new = release("Db", "2");
    new.published = Some("2026-07-01T00:00:00Z".to_owned());
    assert_eq!(
        hints(with(new), &|request| {
            let cutoff = "2026-06-01T00:00:00Z".parse().expect("a time");
            request.options.exclude_newer = Some(cutoff);
        })[0],
        "option: Db 2.0.0 matches but was published too late for `exclude-newer`"
    );
    let move_db = |request: &mut Request| {
        request.host_releases = vec![release("Db", "2")];
        let target = UpdateTarget::Exactly(version("3")).into();
        let packages = BTreeMap::from([(package("Db"), target)]);
        request.update = Some(Update::from(packages));
    };
    assert_eq!(
        hints(vec![release("Dbs", "1")], &move_db),
        [
            "option: `Db` is provided by the host and cannot be updated: its versions are declared with `--provide`, or `provide` in pkgres.toml"
        ]
    );
}

/// Whoever misspelt two names wants to know both at once.
#[test]
fn all_unknown_packages_that_a_root_requires_are_named() {
    let hints = |root: IndexRecord| {
        let universe = Universe::new(
            root,
            vec![release("Db", "1"), release("Web", "1").requires("No", "1")],
        );
        let conflict = solve(&universe)
            .conflict()
            .expect("there are unknown packages");
        let hints = conflict.hints.into_iter();
        let others = hints.filter(|hint| hint.kind != HintKind::Option);
        let texts: Vec<String> = others.map(|hint| hint.text).collect();
        (conflict.summary, texts)
    };
    let root = || release("R", "1").requires("Db", "1").requires("A", "1");
    let unknown = |name: &str| format!("no registry has a package `{name}`");
    let also = |names: &[&str]| -> Vec<String> {
        let names = names.iter();
        names
            .map(|name| format!("no registry has `{name}` either"))
            .collect()
    };
    assert_eq!(hints(root()), (unknown("A"), vec![]));
    assert_eq!(
        hints(root().requires("B", "2").requires("C", "1")),
        (unknown("C"), also(&["A", "B"]))
    );
    let (_, many) = hints((0..12).fold(root(), |root, number| {
        root.requires(&format!("X{number:02}"), "1")
    }));
    assert_eq!(many.len(), 11);
    assert_eq!(
        many[10],
        "no registry has 2 more packages that are required"
    );
    // Packages that others require may not be needed.
    let (summary, others) = hints(release("R", "1").requires("Web", "1").requires("A", "1"));
    assert_eq!((summary, others), (unknown("A"), vec![]));
}

/// Requirements clash in several places, which one or two packages lead to.
#[test]
fn the_summary_names_the_packages_whose_versions_all_fail() {
    let ends = ["1.0.0", "2.0.0"].map(|version| [release("Db", version), release("Log", version)]);
    let web = [
        release("Web", "1.0.0").requires("Db", "1"),
        release("Web", "2.0.0").requires("Log", "1"),
    ];
    let with = |root: IndexRecord, more: Vec<IndexRecord>| {
        let records = [ends.as_flattened(), &web, &more].concat();
        let mut universe = Universe::new(root, records);
        universe.single_version = true;
        let conflict = solve(&universe)
            .conflict()
            .expect("Web 1 requires Db 1, and Web 2 requires Log 1");
        let clashing = conflict.reasons.iter().filter(|reason| reason.clashes);
        (conflict.summary.clone(), clashing.count())
    };
    let root = || release("App", "1.0.0").requires("Web", "*");
    let (summary, clashing) = with(root().requires("Db", "2").requires("Log", "2"), vec![]);
    assert_eq!(summary, "no version of `Web` can be used");
    assert_eq!(clashing, 4);
    let auth = vec![
        release("Auth", "1.0.0")
            .requires("Db", "2")
            .requires("Log", "2"),
    ];
    let (summary, clashing) = with(root().requires("Auth", "*"), auth);
    assert_eq!(summary, "no version of `Auth` goes with one of `Web`");
    assert_eq!(clashing, 4);
    let one = release("App", "1.0.0").requires("Web", "1");
    // The obstacle of a single version is reported as usual.
    let (summary, clashing) = with(one.requires("Db", "2"), vec![]);
    assert_eq!(summary, "no version of `Db` satisfies all requirements");
    assert_eq!(clashing, 2);
}

/// The requirement that excludes the other versions of a package is part of the conflict.
#[test]
fn the_summary_names_a_package_whose_allowed_versions_all_fail() {
    let root = release("App", "1.0.0")
        .requires("Web", "<3")
        .requires("Db", "1")
        .requires("Log", "1");
    let records = vec![
        release("Web", "1.0.0").requires("Db", "2"),
        release("Web", "2.0.0").requires("Log", "2"),
        release("Web", "3.0.0"),
        release("Db", "1.0.0"),
        release("Db", "2.0.0"),
        release("Log", "1.0.0"),
        release("Log", "2.0.0"),
    ];
    let mut universe = Universe::new(root, records);
    universe.single_version = true;
    let conflict = solve(&universe).conflict().expect("Web 3 is not allowed");
    assert_eq!(conflict.summary, "no allowed version of `Web` can be used");
    assert!(conflict.reasons.iter().all(|reason| reason.clashes));
}

/// Two releases that are never chosen together require different versions of `AA`; the requirements of
/// the root always apply.
#[test]
fn the_summary_ignores_requirements_of_alternatives() {
    let root = release("App", "1.0.0")
        .requires("X", "*")
        .requires("Y", "2");
    let records = vec![
        release("X", "1.0.0").requires("AA", "1"),
        release("X", "2.0.0").requires("B", "*"),
        release("B", "1.0.0").requires("AA", "2"),
        release("AA", "1.0.0").requires("Y", "1"),
        release("AA", "2.0.0").requires("Y", "1"),
        release("Y", "1.0.0"),
        release("Y", "2.0.0"),
    ];
    let mut universe = Universe::new(root, records);
    universe.single_version = true;
    let conflict = solve(&universe).conflict().expect("each AA wants Y 1");
    assert_eq!(
        conflict.summary,
        "no version of `Y` satisfies all requirements"
    );
}

#[test]
fn a_hint_lists_all_policies_that_exclude_a_version() {
    let hint_for_all = |mut records: Vec<IndexRecord>, policy, exclude_newer: Option<&str>| {
        let root = release("App", "1.0.0").requires("Db", "2");
        records.push(release("Db", "1.0.0"));
        let universe = Universe::new(root, records);
        let mut request = request(&universe);
        request.options.prerelease = policy;
        let time = exclude_newer.map(|time| time.parse().expect("a time"));
        request.options.exclude_newer = time;
        let verdict = run(&universe, Supplies::OnDemand, request);
        let conflict = verdict.conflict().expect("Db 2 may not be chosen");
        conflict.hints[0].text.clone()
    };
    let hint = |record, policy, exclude_newer| hint_for_all(vec![record], policy, exclude_newer);
    let (yanked, mut late) = (release("Db", "2.0.0").yanked(), release("Db", "2.0.0"));
    late.published = Some("2026-07-01T00:00:00Z".to_owned());
    let both = IndexRecord {
        yanked: true,
        ..late.clone()
    };
    let early = Some("2026-06-01T00:00:00Z");
    let usual = PrereleasePolicy::IfNecessary;
    assert_eq!(
        hint(yanked, usual, None),
        "Db 2.0.0 matches but was yanked; it is chosen only if it is locked, or requested by an update"
    );
    assert_eq!(
        hint(late.clone(), usual, early),
        "Db 2.0.0 matches but was published too late for `exclude-newer`"
    );
    assert_eq!(
        hint(both.clone(), usual, early),
        "Db 2.0.0 matches but was yanked, and was published too late for `exclude-newer`"
    );
    // Of several versions, the hint names one with the fewest obstacles.
    let newer = IndexRecord {
        version: version("2.1.0"),
        ..both.clone()
    };
    assert_eq!(
        hint_for_all(vec![late, newer], usual, early),
        "Db 2.0.0 matches but was published too late for `exclude-newer`"
    );
    assert_eq!(
        hint(both, usual, None),
        "Db 2.0.0 matches but was yanked; it is chosen only if it is locked, or requested by an update"
    );
    // Of several versions with one obstacle, the hint names one that an option lets in.
    let newer_but_yanked = || release("Db", "2.2.0").yanked();
    assert_eq!(
        hint_for_all(
            vec![release("Db", "2.1.0-rc.1"), newer_but_yanked()],
            PrereleasePolicy::Never,
            None
        ),
        "`--prerelease allow` lets Db 2.1.0-rc.1 in"
    );
    let mut late = release("Db", "2.0.0");
    late.published = Some("2026-07-01T00:00:00Z".to_owned());
    assert_eq!(
        hint_for_all(vec![late, newer_but_yanked()], usual, early),
        "Db 2.0.0 matches but was published too late for `exclude-newer`"
    );
    let mut early_one = release("Db", "2.1.0-rc.1");
    assert_eq!(
        hint(early_one.clone(), PrereleasePolicy::Never, early),
        "`--prerelease allow` lets Db 2.1.0-rc.1 in"
    );
    early_one.published = Some("2026-07-01T00:00:00Z".to_owned());
    assert_eq!(
        hint(early_one, PrereleasePolicy::Never, early),
        "Db 2.1.0-rc.1 matches but was published too late for `exclude-newer`, and is a prerelease, which `--prerelease never` refuses"
    );
}

/// The available versions for a requirement without candidates are listed, wherever the requirement is
/// among the reasons.
#[test]
fn a_hint_lists_the_available_versions() {
    let root = release("App", "1.0.0")
        .requires("A", "*")
        .requires("E", "1");
    let records = vec![
        release("A", "1.0.0").requires("E", "2"),
        release("A", "2.0.0").requires("C", "*"),
        release("C", "1.0.0").requires("B", "1"),
        release("E", "1.0.0").requires("B", "2"),
        release("B", "1.0.0"),
        release("B", "2.0.0"),
    ];
    let mut universe = Universe::new(root, records);
    universe.single_version = true;
    let conflict = solve(&universe).conflict().expect("there is no E 2");
    assert_eq!(conflict.summary, "no version of `E` can be used");
    assert_eq!(conflict.hints[0].text, "the only version of E is 1.0.0");
}

/// The first hint about a model with one object of class `X` for each spec, taken from releases of
/// package `X` inside the spec.
fn hint_for_objects(text: &str, specs: &[&str], records: Vec<IndexRecord>) -> String {
    let model = ObjectModel::read("model.json", text.as_bytes(), &Limits::default());
    let (model, _) = model.into_result().expect("a model");
    let mut specs = specs.iter();
    let root = ModelRoot::new(Arc::new(model), |_| ObjectRequirement {
        package: package("X"),
        spec: spec(specs.next().expect("there is one for each object")),
    });
    let universe = Universe::new(release("App", "1.0.0"), records);
    let mut request = request(&universe);
    request.roots = vec![Root::Model(root)];
    request.options.single_version = true;
    let verdict = run(&universe, Supplies::OnDemand, request);
    let conflict = verdict.conflict().expect("no version fits");
    conflict.hints[0].text.clone()
}

#[test]
fn a_hint_names_an_excluded_release_only_if_it_defines_the_class_of_the_object() {
    let object = r#"{"?": {"type": "X", "id": "x"}}"#;
    let hint = |newest: IndexRecord| {
        let records = vec![release("X", "1.0.0").defines("X", &[]), newest.yanked()];
        hint_for_objects(object, &["2"], records)
    };
    assert_eq!(
        hint(release("X", "2.0.0").defines("X", &[])),
        "X 2.0.0 matches but was yanked; it is chosen only if it is locked, or requested by an update"
    );
    assert_eq!(
        hint(release("X", "2.0.0")),
        "the only version of X that can be chosen is 1.0.0"
    );
}

#[test]
fn a_hint_names_an_excluded_release_that_matches_all_objects() {
    let objects = r#"{"?": {"type": "X", "id": "x"}, "in": {"?": {"type": "X", "id": "y"}}}"#;
    let x = |version| release("X", version).defines("X", &[]);
    let records = vec![
        x("1.0.0"),
        x("2.0.0").yanked(),
        x("3.0.0"),
        x("4.0.0").yanked(),
    ];
    assert_eq!(
        hint_for_objects(objects, &["<3", ">=2"], records),
        "X 2.0.0 matches all of these but was yanked; it is chosen only if it is locked, or requested by an update"
    );
}
