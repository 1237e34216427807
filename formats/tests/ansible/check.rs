//! Checks of collections and projects against the releases that they may require.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use pkgres_formats::ReleaseLookup;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{IndexReader, IndexRecord, Limits, PackageName, Version};

use super::{Known, WithRuntime, check, galaxy_file, release};

const NET: &str = "from ansible_collections.a.lib.plugins.module_utils.net import Old\n";
const NEW: &str = "from ansible_collections.a.lib.plugins.module_utils import new\n";

fn shown(findings: &[Diagnostic]) -> Vec<String> {
    findings
        .iter()
        .map(|one| format!("{} {}", one.code, one.message))
        .collect()
}

/// Releases of a registry that reads the classes of a few at a time: of the oldest and of the newest.
struct Slow {
    releases: Vec<IndexRecord>,
    read: RefCell<BTreeSet<Version>>,
    /// How many can be read in all.
    most: usize,
    /// The version that is left out once it was read, because its artifact is broken.
    broken: &'static str,
    /// How often classes were asked for.
    passes: Cell<usize>,
}

impl ReleaseLookup for Slow {
    fn releases(&self, package: &PackageName) -> Option<Vec<IndexRecord>> {
        let read = self.read.borrow();
        let is_broken = |one: &IndexRecord| one.version.to_string() == self.broken;
        let releases = self
            .releases
            .iter()
            .filter(|one| one.name == *package && !(is_broken(one) && read.contains(&one.version)));
        let releases = releases.cloned().map(|mut one| {
            if !read.contains(&one.version) {
                one.classes = None;
            }
            one
        });
        Some(releases.collect())
    }

    fn complete(&self, package: &PackageName, versions: &[Version]) -> Option<Vec<IndexRecord>> {
        self.passes.update(|passes| passes + 1);
        let ends = versions
            .iter()
            .min()
            .into_iter()
            .chain(versions.iter().max());
        let mut read = self.read.borrow_mut();
        for version in ends {
            if read.len() < self.most {
                read.insert(version.clone());
            }
        }
        drop(read);
        self.releases(package)
    }
}

#[test]
fn no_version_lacks_a_class_before_all_are_read() {
    let versions = ["1.0.0", "2.0.0", "3.0.0", "4.0.0", "5.0.0"];
    let findings_with = |is_import: bool, middle: &[&str], most: usize, broken: &'static str| {
        let releases = versions.map(|version| match version {
            "3.0.0" => release("a.lib", version, middle),
            _ => release("a.lib", version, &[]),
        });
        let known = Slow {
            releases: releases.to_vec(),
            read: RefCell::default(),
            most,
            broken,
            passes: Cell::default(),
        };
        let found = if is_import {
            let text = galaxy_file("  a.lib: '>=1.0.0'\n");
            check(
                "galaxy.yml",
                &text,
                &[("plugins/modules/z.py", NEW)],
                &known,
            )
        } else {
            let text = "collections: [{name: a.lib, version: '>=1.0.0'}]\n";
            let files = [("site.yml", "- hosts: all\n  tasks:\n  - a.lib.new:\n")];
            check("requirements.yml", text, &files, &known)
        };
        let [finding] = <[String; 1]>::try_from(shown(&found)).expect("one finding");
        (finding, known.passes.get())
    };
    for (is_import, class, missing, from) in [
        (
            true,
            "plugins.module_utils.new",
            "PK0013",
            "`plugins.modules.z` imports",
        ),
        (false, "plugins.modules.new", "PK0076", "`site.yml` names"),
    ] {
        // Once for the newest, once for the oldest and the newest, and twice for the three others.
        let (found, passes) = findings_with(is_import, &[class], 5, "");
        assert!(found.starts_with("PK0086"), "{found:?}");
        assert_eq!(passes, 4);
        let (found, _) = findings_with(is_import, &[], 5, "");
        assert!(found.starts_with(missing), "{found:?}");
        let (found, _) = findings_with(is_import, &[], 4, "");
        assert_eq!(
            found,
            format!(
                "PK0075 {from} `a.lib.{class}`, which is in no version of `a.lib` in `>=1.0.0` whose modules are known; \
                 the modules of 3.0.0 are unknown"
            )
        );
        for broken in versions {
            let (found, _) = findings_with(is_import, &[], 5, broken);
            assert!(found.starts_with(missing), "{broken} is broken: {found:?}");
        }
    }
}

#[test]
fn imports_that_exclude_each_other_are_an_error() {
    let releases = |more: &[&str]| {
        let new = ["plugins.module_utils.new"];
        let newest: Vec<&str> = new.iter().chain(more).copied().collect();
        Known(vec![
            release(
                "a.lib",
                "1.0.0",
                &["plugins.module_utils.net.Old", "plugins.module_utils.more"],
            ),
            release("a.lib", "2.0.0", &newest),
        ])
    };
    let files = [
        ("plugins/modules/a.py", NET),
        (
            "plugins/modules/m.py",
            "import ansible_collections.a.lib.plugins.module_utils.more\n",
        ),
        ("plugins/modules/z.py", NEW),
    ];
    let text = galaxy_file("  a.lib: '>=1.0.0'\n");
    let findings = check("galaxy.yml", &text, &files, &releases(&[]));
    let [finding] = findings.as_slice() else {
        panic!("{findings:?}");
    };
    assert!(finding.is_error());
    assert_eq!(finding.code, Code::ClassUnavailable);
    assert_eq!(
        finding.message,
        "no version of `a.lib` in `>=1.0.0` has both `a.lib.plugins.module_utils.more`, which `plugins.modules.m` imports, \
         and `a.lib.plugins.module_utils.new`, which `plugins.modules.z` imports"
    );
    let places = finding.labels.iter();
    let places: Vec<String> = places
        .map(|label| format!("{} {}", label.location, label.message))
        .collect();
    assert_eq!(
        places,
        [
            "plugins/modules/m.py:1:1 it is in 1.0.0",
            "plugins/modules/z.py:1:1 it is in 2.0.0"
        ]
    );
    // With a version that has all, the range is only too wide.
    let all = ["plugins.module_utils.net.Old", "plugins.module_utils.more"];
    let findings = check("galaxy.yml", &text, &files, &releases(&all));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].code, Code::RangeTooWide);
    // A release whose classes are unknown may have all.
    let mut known = releases(&[]);
    let mut unknown = release("a.lib", "3.0.0", &[]);
    unknown.classes = None;
    known.0.push(unknown);
    let findings = check("galaxy.yml", &text, &files, &known);
    assert!(!findings.iter().any(Diagnostic::is_error), "{findings:?}");
}

#[test]
fn names_in_playbooks_that_exclude_each_other_are_a_warning() {
    let known = Known(vec![
        release("a.lib", "1.0.0", &["plugins.modules.old"]),
        release("a.lib", "2.0.0", &["plugins.modules.new"]),
    ]);
    let play = "- hosts: all\n  tasks:\n  - a.lib.old:\n  - a.lib.new:\n";
    let text = "collections: [a.lib]\n";
    let findings = check("requirements.yml", text, &[("site.yml", play)], &known);
    // The newest has what is new, so that only the other one is looked at.
    assert_eq!(
        shown(&findings),
        [
            "PK0086 `site.yml` names `a.lib.plugins.modules.old`, and the range `*` of `a.lib` allows versions without it: 2.0.0"
        ]
    );
}

#[test]
fn a_plugin_that_moved_is_found_in_the_collection_that_has_it_now() {
    let line = r#"{"ecosystem":"ansible","name":"acme.gen","version":"2.0.0","classes":{},"moved":{"acme.gen.plugins.modules.out":"acme.new.plugins.modules.out"}}"#;
    let mut reader = IndexReader::of_ecosystems(Limits::default(), pkgres_formats::ECOSYSTEMS);
    let source = pkgres_manifest::diagnostic::SourceText::new("index", line);
    let place = |span| pkgres_manifest::diagnostic::Location::new(&source, span);
    let moved = reader.read_line(line, &place).expect("a record");
    assert_eq!(moved.to_line(), line);
    let new = release("acme.new", "1.0.0", &["plugins.modules.out"]);
    let known = Known(vec![moved, new]);
    let play = [("site.yml", "- hosts: all\n  tasks:\n  - acme.gen.out:\n")];
    let findings = check(
        "requirements.yml",
        "collections: [acme.gen]\n",
        &play,
        &known,
    );
    assert_eq!(
        shown(&findings),
        [
            "PK0076 `site.yml` names `acme.gen.plugins.modules.out`, which no version of `acme.gen` in `*` has"
        ]
    );
    assert_eq!(
        findings[0].hints,
        ["`meta/runtime.yml` of acme.gen 2.0.0 says that it moved to `acme.new.out`"]
    );
    let both = "collections: [acme.gen, acme.new]\n";
    let with = |new: IndexRecord| {
        let known = Known(vec![known.0[0].clone(), new]);
        shown(&check("requirements.yml", both, &play, &known)).len()
    };
    assert_eq!(with(known.0[1].clone()), 0);
    // It may have the plug-in.
    let mut unknown = release("acme.new", "1.0.0", &[]);
    assert_eq!(with(unknown.clone()), 1);
    unknown.classes = None;
    assert_eq!(with(unknown), 0);
}

#[test]
fn suggestions_are_of_the_kind_that_is_named() {
    let classes = [
        "plugins.action.inv",
        "plugins.inventory.hosts",
        "plugins.module_utils.hos",
    ];
    let known = Known(vec![release("a.lib", "1.0.0", &classes)]);
    let hints = |name: &str| {
        let file = format!("plugin: a.lib.{name}\n");
        let files = [("hosts.yml", file.as_str())];
        let findings = check("requirements.yml", "collections: [a.lib]\n", &files, &known);
        assert_eq!(findings.len(), 1, "{findings:?}");
        findings[0].hints.clone()
    };
    assert_eq!(hints("inv"), [""; 0]);
    assert_eq!(
        hints("host"),
        ["did you mean `a.lib.plugins.inventory.hosts`?"]
    );
}

#[test]
fn templates_that_ansible_does_not_expand_name_nothing() {
    let known = Known(vec![release("a.lib", "1.0.0", &[])]);
    let check_text = |tag: &str| {
        let play = format!("- hosts: a\n  vars:\n    u: {tag}\"{{{{ lookup('a.lib.none') }}}}\"\n");
        let files = [("site.yml", play.as_str())];
        check("requirements.yml", "collections: [a.lib]\n", &files, &known).len()
    };
    assert_eq!(check_text(""), 1);
    assert_eq!(check_text("!unsafe "), 0);
}

#[test]
fn white_space_that_ansible_core_does_not_ignore_is_a_warning() {
    let known = Known(vec![release("a.lib", "1.0.0", &[])]);
    let check_range = |range: &str| {
        let text = format!("collections:\n- name: a.lib\n  version: {range}\n");
        check("requirements.yml", &text, &[], &known)
    };
    for range in [
        ">\n    >=1.0.0,<2.0.0",
        "|\n    >=1.0.0",
        "'>=1.0.0 ,<2.0.0'",
    ] {
        assert_eq!(shown(&check_range(range)), [""; 0]);
    }
    for (range, stated, written) in [
        ("'>=1.0.0, <2'", ">=1.0.0, <2", ">=1.0.0,<2"),
        ("' 1.0.0'", " 1.0.0", "1.0.0"),
        ("'* '", "* ", "*"),
        ("|\n    >=1.0", ">=1.0\\u{a}", ">=1.0"),
    ] {
        let findings = check_range(range);
        assert_eq!(
            shown(&findings),
            [format!(
                "PK0010 `ansible-galaxy` fails with the white space in `{stated}`"
            )]
        );
        assert_eq!(findings[0].hints, [format!("write `{written}`")]);
    }
}

#[test]
fn files_and_sources_that_cannot_be_locked_are_called_what_they_are() {
    let known = Known(Vec::new());
    let findings = check("requirements.yml", "- geerlingguy.nginx\n", &[], &known);
    assert_eq!(
        findings[1].hints,
        ["a list has roles only: write a mapping with `roles` and `collections`"]
    );
    let text = galaxy_file("  git@github.com:o/r.git: main\n");
    let findings = check("galaxy.yml", &text, &[], &known);
    assert!(
        findings[0]
            .message
            .contains("cannot be locked from its source: a git repository"),
        "{findings:?}"
    );
}

#[test]
fn redirects_lead_to_something() {
    let runtime = "plugin_routing:\n  modules:\n    gone: {redirect: a.lib.nothing}\n    kept: {redirect: a.lib.new}\n    \
        moved: {redirect: a.other.any}\n    own: {redirect: acme.web.nothing}\n    page: {redirect: acme.web.site}\n    \
        out: {tombstone: {}, redirect: a.lib.nothing}\n";
    let files = [
        ("meta/runtime.yml", runtime),
        ("plugins/modules/site.py", ""),
    ];
    let known = Known(vec![release("a.lib", "1.0.0", &["plugins.modules.new"])]);
    let text = galaxy_file("  a.lib: '*'\n");
    let findings = check("galaxy.yml", &text, &files, &known);
    assert_eq!(
        shown(&findings),
        [
            "PK0076 `plugins.modules.gone` is redirected to `a.lib.plugins.modules.nothing`, which no version of `a.lib` in `*` has",
            "PK0076 `plugins.modules.own` is redirected to `plugins.modules.nothing`, which the collection does not have",
        ]
    );
    let places = findings.iter().flat_map(|finding| &finding.labels);
    let places: Vec<String> = places.map(|label| label.location.to_string()).collect();
    assert_eq!(places, ["meta/runtime.yml:3:22", "meta/runtime.yml:6:21"]);
}

#[test]
fn a_playbook_that_is_redirected_to_nothing_is_reported() {
    let runtime = "plugin_routing:\n  modules:\n    gone: {redirect: a.lib.nothing}\n    kept: {redirect: a.lib.new}\n";
    let mut redirecting = release(
        "a.coll",
        "1.0.0",
        &["plugins.modules.gone", "plugins.modules.kept"],
    );
    let lib = release("a.lib", "1.0.0", &["plugins.modules.new"]);
    let requirement = "collections: [a.lib]\n";
    let read = pkgres_formats::ansible::read_requirements(
        "requirements.yml",
        requirement.as_bytes(),
        &Limits::default(),
    );
    redirecting.requirements = read
        .into_result()
        .expect("requirements")
        .0
        .record
        .requirements;
    let known = WithRuntime(Known(vec![redirecting, lib]), "a.coll", runtime);
    let play = "- hosts: all\n  tasks:\n  - a.coll.kept:\n  - a.coll.gone:\n";
    let text = "collections: [a.coll]\n";
    let findings = check("requirements.yml", text, &[("site.yml", play)], &known);
    assert_eq!(
        shown(&findings),
        [
            "PK0076 `site.yml` names `a.coll.plugins.modules.gone`, which a.coll 1.0.0 redirects to `a.lib.nothing`, which no \
             version of `a.lib` in `*` has"
        ]
    );
    assert_eq!(findings[0].labels[0].location.to_string(), "site.yml:4:5");
}

#[test]
fn a_missing_fragment_is_reported_where_it_is_named() {
    let module = "import x\nDOCUMENTATION = '''\nextends_documentation_fragment:\n  - a.lib.old\n  - a.lib.more.part\n'''\n";
    let known = Known(vec![release(
        "a.lib",
        "1.0.0",
        &["plugins.doc_fragments.old"],
    )]);
    let text = galaxy_file("  a.lib: '*'\n");
    let findings = check(
        "galaxy.yml",
        &text,
        &[("plugins/modules/m.py", module)],
        &known,
    );
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(
        findings[0].labels[0].location.to_string(),
        "plugins/modules/m.py:5:5"
    );
}
