//! Properties that hold for every version, spec, record and lockfile.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{
    ArtifactDigest, Bindings, ClassName, IndexRecord, IndexedClass, Limits, LockedCapability,
    LockedConformance, LockedImplementation, LockedPackage, LockedRequirement, Lockfile,
    PackageName, RegistryName, Release, ReleaseSource, Requirement, Spec, Version, VersionSet,
};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..4_u64, 1 => Just(u64::MAX), 1 => any::<u64>()]
}

fn prerelease() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        1 => "-(0|1|alpha|rc)(\\.(0|1|x)){0,2}",
    ]
}

fn version_text() -> impl Strategy<Value = String> {
    (
        number(),
        number(),
        number(),
        prerelease(),
        prop_oneof![Just(""), Just("+b5")],
    )
        .prop_map(|(major, minor, patch, pre, build)| {
            format!("{major}.{minor}.{patch}{pre}{build}")
        })
}

fn version() -> impl Strategy<Value = Version> {
    version_text().prop_map(|text| Version::parse(&text).expect("the text is a version"))
}

fn clause() -> impl Strategy<Value = String> {
    let operator = prop_oneof![
        Just(""),
        Just("="),
        Just("=="),
        Just("!="),
        Just(">"),
        Just(">="),
        Just("<"),
        Just("<="),
        Just("^"),
        Just("~"),
        Just("~="),
    ];
    let operand = prop_oneof![
        number().prop_map(|major| major.to_string()),
        (number(), number()).prop_map(|(major, minor)| format!("{major}.{minor}")),
        (number(), number(), number(), prerelease())
            .prop_map(|(major, minor, patch, pre)| format!("{major}.{minor}.{patch}{pre}")),
    ];
    (operator, operand).prop_map(|(operator, operand)| format!("{operator}{operand}"))
}

fn spec() -> impl Strategy<Value = Spec> {
    vec(clause(), 1..5)
        .prop_map(|clauses| Spec::parse(&clauses.join(",")).expect("the clauses are well-formed"))
}

/// A spec with as many clauses, or bytes, as one can have: what a bound is made of, and holes in it.
fn longest_spec() -> impl Strategy<Value = Spec> {
    let largest = u64::MAX;
    let bound = prop_oneof![
        Just("1".to_owned()),
        Just("*".to_owned()),
        Just(">0".to_owned()),
        Just("^1.0.0-rc".to_owned()),
        Just("~1.0.0-LONG".to_owned()),
        Just("^1.0.0-LONG".to_owned()),
        Just(">=1.0.0-LONG".to_owned()),
        Just(">1.0.0-LONG".to_owned()),
        Just("<=1.0.0-LONG".to_owned()),
        Just(format!("~={largest}.{largest}.7")),
        Just(format!(">1,<={largest}.{largest}.{largest}")),
    ];
    let hole = prop_oneof![
        (0..200_u64).prop_map(|patch| format!("!=1.0.{patch}")),
        (0..200_u64).prop_map(|minor| format!("!=1.{minor}")),
        (0..200_u64).prop_map(|minor| format!("!=1.{minor}.0-x.{minor}")),
        (0..9_u64).prop_map(|major| format!("!={major}")),
        (0..9_u64).prop_map(move |patch| format!("!={largest}.{largest}.{patch}")),
    ];
    (bound, vec(hole, 99)).prop_map(|(bound, mut holes)| {
        let others = bound.matches(',').count();
        holes.truncate(holes.len() - others);
        let text = format!("{bound},{}", holes.join(","));
        let room = pkgres_manifest::MAX_SPEC_BYTES - (text.len() - "LONG".len());
        let text = text.replace("LONG", &"l".repeat(room));
        Spec::parse(&text).expect("it is within the limits")
    })
}

/// A spec of any origin, with white space and with versions that no manifest can have.
fn any_spec() -> impl Strategy<Value = Spec> {
    let bounds = spec().prop_map(|spec| {
        let intervals = spec.set().intervals().iter();
        let bounds = intervals.flat_map(|interval| [Some(&interval.from), interval.until.as_ref()]);
        let mut specs = bounds.flatten().map(Spec::exactly);
        specs.next_back().unwrap_or_else(Spec::unspecified)
    });
    let spaced =
        (vec(clause(), 1..5), "[ \t]{0,2}", "[ \t]{0,2}").prop_map(|(clauses, before, after)| {
            let text = clauses.join(&format!("{after},{before}"));
            Spec::parse(&format!("{before}{text}{after}")).expect("the clauses are well-formed")
        });
    let constant = prop_oneof![
        Just(Spec::any()),
        Just(Spec::unspecified()),
        "[ \t]{0,2}".prop_map(|text| Spec::parse(&text).expect("nothing is a spec")),
        Just(Spec::parse(">=0.0.0-0,<2").expect("a spec")),
        Just(Spec::parse("*").expect("a spec")),
    ];
    prop_oneof![
        4 => spec(),
        4 => spaced,
        2 => version().prop_map(|version| Spec::exactly(&version)),
        2 => bounds,
        2 => constant,
        2 => spec().prop_map(|spec| Spec::parse(&spec.normal_form()).expect("a normal form is a spec")),
        1 => longest_spec(),
    ]
}

fn name() -> impl Strategy<Value = PackageName> {
    "[a-c](\\.[A-C]){0,2}".prop_map(|text| PackageName::parse(&text).expect("a name"))
}

fn class() -> impl Strategy<Value = ClassName> {
    "[a-c]\\.[A-E]".prop_map(|text| ClassName::parse(&text).expect("a name"))
}

fn source() -> impl Strategy<Value = ReleaseSource> {
    prop_oneof![
        Just(ReleaseSource::Host),
        Just(ReleaseSource::BuiltIn),
        "[a-z][a-z0-9._-]{0,5}".prop_filter_map("`host` is taken", |text| {
            RegistryName::parse(&text).ok().map(ReleaseSource::Registry)
        }),
    ]
}

fn digest() -> impl Strategy<Value = ArtifactDigest> {
    (any::<[u8; 32]>(), any::<bool>()).prop_map(|(bytes, tree)| {
        if tree {
            ArtifactDigest::Tree(bytes)
        } else {
            ArtifactDigest::Archive(bytes)
        }
    })
}

fn release() -> impl Strategy<Value = Release> {
    (name(), version()).prop_map(|(name, version)| Release::new(name, version))
}

fn lockfile() -> impl Strategy<Value = Lockfile> {
    let requirement = (spec(), version()).prop_map(|(spec, version)| LockedRequirement {
        spec: Spec::parse(&spec.normal_form()).expect("a normal form is a spec"),
        version,
    });
    let package = (
        source(),
        proptest::option::of(digest()),
        btree_map(name(), version(), 0..4),
    )
        .prop_map(|(source, digest, requires)| LockedPackage {
            source,
            digest,
            requires: requires.into_iter().collect(),
        });
    let implementation =
        (class(), name(), version(), class()).prop_map(|(class, package, version, interface)| {
            LockedImplementation {
                class,
                package,
                version,
                interface,
            }
        });
    let capability = "(conflict if os=[a-z, ]{1,6}; )?(implemented|not-supported)"
        .prop_map(|text| LockedCapability::parse(&text).expect("it is a capability"));
    let conformance = (
        proptest::option::of(release()),
        btree_map("[a-z_]{1,5}", capability, 0..3),
    )
        .prop_map(|(defined_by, functions)| LockedConformance {
            defined_by,
            functions,
        });
    let overriding =
        spec().prop_map(|spec| Spec::parse(&spec.normal_form()).expect("a normal form is a spec"));
    (
        btree_map(name(), btree_map(name(), requirement, 0..4), 0..3),
        btree_map(name(), overriding, 0..3),
        btree_set(name(), 0..3),
        btree_map(release(), package, 0..5),
        btree_map(implementation, conformance, 0..3),
    )
        .prop_map(
            |(roots, overrides, side_by_side, packages, capabilities)| Lockfile {
                ecosystem: pkgres_manifest::CLASS_PACKAGES,
                roots,
                overrides,
                side_by_side,
                packages,
                capabilities,
            },
        )
}

fn record() -> impl Strategy<Value = IndexRecord> {
    let requirements = btree_map(
        "r[a-e]".prop_map(|text| PackageName::parse(&text).expect("a name")),
        spec(),
        0..4,
    );
    let edges = (
        btree_set(class(), 0..3),
        btree_set(class(), 0..2),
        btree_set(class(), 0..3),
        any::<bool>(),
    );
    let classes = proptest::option::of(btree_map(class(), edges, 0..4));
    (
        name(),
        version(),
        requirements,
        classes,
        btree_set(class(), 0..3),
        proptest::option::of(digest()),
        any::<bool>(),
        any::<Option<u64>>(),
    )
        .prop_map(
            |(name, version, requirements, classes, interfaces, digest, yanked, size)| {
                IndexRecord {
                    ecosystem: pkgres_manifest::CLASS_PACKAGES,
                    format: Some("MuranoPL/1.0".into()),
                    requirements: requirements
                        .into_iter()
                        .map(|(package, spec)| Requirement {
                            package,
                            spec,
                            location: None,
                        })
                        .collect(),
                    classes: classes.map(|classes| {
                        let indexed = classes.into_iter().map(
                            |(name, (extends, implements, uses, internal))| IndexedClass {
                                name,
                                internal,
                                extends: extends.into_iter().collect(),
                                implements: implements.into_iter().collect(),
                                uses: uses.into_iter().collect(),
                            },
                        );
                        indexed.collect()
                    }),
                    interfaces: interfaces.into_iter().collect(),
                    digest,
                    size,
                    yanked,
                    published: None,
                    ..IndexRecord::new(name, version)
                }
            },
        )
}

/// The meaning of a clause without intervals: comparisons with prereleases.
fn matches_directly(clause: &str, version: &Version) -> Option<bool> {
    let at = clause.find(|character: char| character.is_ascii_digit())?;
    let (operator, operand) = clause.split_at(at);
    let numbers = operand.split('-').next()?.split('.').count();
    if numbers != 3 {
        return None;
    }
    let operand = Version::parse(operand).ok()?;
    let same_triple = (version.major(), version.minor(), version.patch())
        == (operand.major(), operand.minor(), operand.patch());
    let is_its_prerelease = same_triple && version.is_prerelease() && !operand.is_prerelease();
    Some(match operator {
        "" | "=" | "==" => *version == operand,
        "!=" => *version != operand && !is_its_prerelease,
        ">" => *version > operand,
        ">=" => *version >= operand,
        "<" => *version < operand && !is_its_prerelease,
        "<=" => *version <= operand,
        _ => return None,
    })
}

proptest! {
    #[test]
    fn versions_are_read_as_written(text in version_text()) {
        let version = Version::parse(&text).expect("the text is a version");
        prop_assert_eq!(version.to_string(), text);
    }

    #[test]
    fn clauses_are_comparisons(clause in clause(), version in version()) {
        if let Some(expected) = matches_directly(&clause, &version) {
            let spec = Spec::parse(&clause).expect("well-formed");
            prop_assert_eq!(spec.matches(&version), expected, "{} {}", clause, version);
        }
    }

    #[test]
    fn a_comma_is_and(one in clause(), two in clause(), version in version()) {
        let parse = |text: &str| Spec::parse(text).expect("well-formed");
        let both = parse(&format!("{one} , {two}"));
        prop_assert_eq!(both.matches(&version), parse(&one).matches(&version) && parse(&two).matches(&version));
    }

    #[test]
    fn the_normal_form_means_the_same(spec in spec()) {
        let normal = spec.normal_form();
        let again = Spec::parse(&normal).expect("a normal form is a spec");
        prop_assert_eq!(again.set(), spec.set(), "{} became {}", spec, normal);
        prop_assert_eq!(again.normal_form(), normal);
    }

    #[test]
    fn the_text_of_a_spec_determines_its_versions(spec in any_spec()) {
        let again = Spec::parse(spec.written()).expect("the text of a spec is a spec");
        prop_assert_eq!(again.set(), spec.set(), "{}", spec);
        prop_assert_eq!(again.names_prerelease(), spec.names_prerelease(), "{}", spec);
        prop_assert_eq!(again, spec);
    }

    #[test]
    fn every_written_spec_can_be_read(spec in longest_spec()) {
        let normal = spec.normal_form();
        let again = Spec::parse(&normal);
        prop_assert_eq!(again.map(|spec| spec.normal_form()), Ok(normal));
        let name = PackageName::parse("a.B").expect("a name");
        let bound = LockedRequirement { spec: spec.clone(), version: Version::new(1, 0, 0) };
        let lock = Lockfile {
            ecosystem: pkgres_manifest::CLASS_PACKAGES,
            roots: BTreeMap::from([(name.clone(), BTreeMap::from([(name.clone(), bound)]))]),
            overrides: BTreeMap::from([(name, spec)]),
            ..Lockfile::default()
        };
        let text = lock.to_text();
        let again = Lockfile::read("pkgres.lock", text.as_bytes(), &Limits::default());
        prop_assert_eq!(again.value().map(Lockfile::to_text), Some(text));
    }

    #[test]
    fn sets_are_sets(one in spec(), two in spec(), version in version()) {
        let (a, b) = (one.set(), two.set());
        let both = a.intersection(b);
        prop_assert_eq!(both.contains(&version), a.contains(&version) && b.contains(&version));
        prop_assert_eq!(a.complement().contains(&version), !a.contains(&version));
        prop_assert_eq!(&a.complement().complement(), a);
        prop_assert_eq!(a.is_subset_of(b), both == *a);
        prop_assert_eq!(a.intersection(&VersionSet::all()), a.clone());
        prop_assert!(a.intersection(&a.complement()).is_empty());
        prop_assert!(VersionSet::exactly(&version).contains(&version));
    }

    #[test]
    fn records_are_read_as_written(record in record()) {
        let line = record.to_line();
        let again = IndexRecord::parse_line(&line, &Limits::default());
        prop_assert_eq!(again.map_err(|error| error.to_string()), Ok(record), "{}", line);
    }

    #[test]
    fn lockfiles_are_read_as_written(lock in lockfile()) {
        let text = lock.to_text();
        let again = Lockfile::read("pkgres.lock", text.as_bytes(), &Limits::default());
        prop_assert_eq!(again.value(), Some(&lock), "{}", text);
        let windows = text.replace('\n', "\r\n");
        let again = Lockfile::read("pkgres.lock", windows.as_bytes(), &Limits::default());
        prop_assert_eq!(again.value(), Some(&lock));
        let saved: BTreeMap<_, BTreeSet<_>> = (lock.packages.iter())
            .map(|(release, package)| (release.clone(), package.digest.into_iter().collect()))
            .collect();
        prop_assert_eq!(Lockfile::salvage(text.as_bytes(), &Limits::default()), saved);
    }

    #[test]
    fn a_torn_lockfile_is_noticed(lock in lockfile(), cut in 1..usize::MAX) {
        let text = lock.to_text();
        let cut = cut % (text.len() - 1);
        let torn = Lockfile::read("pkgres.lock", &text.as_bytes()[..cut], &Limits::default());
        prop_assert!(torn.value().is_none());
    }

    #[test]
    fn readers_never_panic(bytes in vec(any::<u8>(), 0..200), text in "[ -~\n]{0,200}") {
        let options = pkgres_manifest::ReadOptions::default();
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            let _ = pkgres_manifest::PackageManifest::read("m", bytes, &options);
            let _ = pkgres_manifest::read_class_file("c", bytes, &[], &options);
            let _ = pkgres_manifest::ObjectModel::read("o", bytes, &options.limits);
            let _ = Lockfile::read("l", bytes, &options.limits);
            let _ = Lockfile::salvage(bytes, &options.limits);
            let text = String::from_utf8_lossy(bytes);
            let _ = IndexRecord::parse_line(&text, &options.limits);
            let _ = Spec::parse(&text);
            let _ = Version::parse(&text);
        }
    }
}

/// A lockfile is YAML: its own reader and a reader of YAML see the same.
#[test]
fn a_lockfile_is_yaml() {
    let lock = Lockfile {
        ecosystem: pkgres_manifest::CLASS_PACKAGES,
        roots: BTreeMap::from([(
            PackageName::parse("org.acme.Web").expect("a name"),
            BTreeMap::from([(
                PackageName::parse("org.acme.Db").expect("a name"),
                LockedRequirement {
                    spec: Spec::parse(">=1,<2,!=1.5").expect("a spec"),
                    version: Version::parse("1.4.0-rc.1").expect("a version"),
                },
            )]),
        )]),
        overrides: BTreeMap::from([(
            PackageName::parse("org.acme.Db").expect("a name"),
            Spec::parse(">=1").expect("a spec"),
        )]),
        side_by_side: BTreeSet::from([PackageName::parse("org.acme.Db").expect("a name")]),
        packages: BTreeMap::from([(
            Release::new(
                PackageName::parse("org.acme.Db").expect("a name"),
                Version::parse("1.4.0-rc.1").expect("a version"),
            ),
            LockedPackage {
                source: ReleaseSource::parse("acme").expect("a source"),
                digest: Some(ArtifactDigest::Tree([7; 32])),
                requires: Bindings::from_iter([(
                    PackageName::parse("io.murano").expect("a name"),
                    Version::ZERO,
                )]),
            },
        )]),
        capabilities: BTreeMap::from([(
            LockedImplementation {
                class: ClassName::parse("org.acme.Web").expect("a name"),
                package: PackageName::parse("org.acme.Web").expect("a name"),
                version: Version::new(1, 2, 0),
                interface: ClassName::parse("org.acme.Service").expect("a name"),
            },
            LockedConformance {
                defined_by: Some(Release::new(
                    PackageName::parse("org.acme.iface").expect("a name"),
                    Version::new(1, 1, 0),
                )),
                functions: BTreeMap::from([(
                    "reload".to_owned(),
                    LockedCapability::parse("not-implemented if os=a,b or x=c; not-supported")
                        .expect("a capability"),
                )]),
            },
        )]),
    };
    let yaml: serde_json::Value = serde_saphyr::from_str(&lock.to_text()).expect("it is YAML");
    let expected = serde_json::json!({
        "lock": 1,
        "order": 1,
        "roots": [{
            "name": "org.acme.Web",
            "requires": {"org.acme.Db": {"spec": ">=1.0.0,<2.0.0,!=1.5", "version": "1.4.0-rc.1"}},
        }],
        "overrides": [{"name": "org.acme.Db", "spec": ">=1.0.0"}],
        "side_by_side": ["org.acme.Db"],
        "packages": [{
            "name": "org.acme.Db",
            "version": "1.4.0-rc.1",
            "source": "acme",
            "sha256": format!("tree:{}", "07".repeat(32)),
            "requires": {"io.murano": "0.0.0"},
        }],
        "capabilities": [{
            "class": "org.acme.Web",
            "release": "org.acme.Web 1.2.0",
            "interface": "org.acme.Service",
            "defined_by": "org.acme.iface 1.1.0",
            "functions": {"reload": "not-implemented if os=a,b or x=c; not-supported"},
        }],
        "complete": true,
    });
    assert_eq!(yaml, expected);
}

/// Above the limits there are only normal forms.
#[test]
fn a_spec_has_no_more_clauses_than_it_may() {
    let holes = |count: usize| -> String { (0..count).map(|at| format!(",!=1.0.{at}")).collect() };
    let parse = |text: &str| Spec::parse(text).map(|spec| spec.normal_form());
    let normal = format!(">=1.0.0,<2.0.0{}", holes(100).replace(",!=1.0.0,", ","));
    assert_eq!(parse(&normal), Ok(normal.clone()));
    assert_eq!(parse(&format!("1{}", &holes(100)[8..])), Ok(normal));
    for wrong in [
        format!("1{}", holes(100)),
        format!("<2.0.0,>=1.0.0{}", holes(99)),
        format!(">=1.0.0,<2.0.0{}", holes(101).replace(",!=1.0.0,", ",")),
    ] {
        let error = parse(&wrong).expect_err("there are too many");
        assert!(error.to_string().contains("at most 100 clauses"), "{error}");
    }
}
