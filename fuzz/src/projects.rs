//! Lockfiles and object models.

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{
    Limits, LockDiff, Lockfile, ObjectId, ObjectModel, PackageName, Pins, Release, Version,
    VersionPin,
};

use crate::property::{are_safe, checked, is_safe_line};
use crate::seeds::{files, texts};
use crate::target::Target;

/// The fuzz targets of lockfiles and models.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "lock",
        run: lock,
        seeds: || {
            let mut seeds = files(|path| path.ends_with("pkgres.lock"));
            seeds.extend(texts(&[LOCK, CONFLICT]));
            seeds
        },
        words: &[
            "lock: 1\n",
            "order: 1\n",
            "roots:\n",
            "packages:\n",
            "overrides:\n",
            "side_by_side:\n",
            "- name: A\n",
            "  version: 1.0.0\n",
            "  source: host\n",
            "  requires:\n",
            "    A: 1.0.0\n",
            "complete: true\n",
            "<<<<<<< a\n",
            "=======\n",
            ">>>>>>> b\n",
            "  spec: \"1\"\n",
        ],
        quick: 5_000,
    },
    Target {
        name: "model",
        run: model,
        seeds: || {
            let mut seeds = files(|path| path.contains("/models/"));
            seeds.extend(texts(&[MODEL, ENVIRONMENT, FLOW_MODEL]));
            seeds
        },
        words: &[
            "\"?\": ",
            "'?': ",
            "{\"type\": \"a.B\"}",
            "\"id\": \"x\"",
            "type: a.B/1.0.0\n",
            "\"version\": \"1.0.0\"",
            "\"classVersion\": null",
            "\"package\": null",
            "\"Objects\": ",
            "\"SystemData\": ",
            "\"Packages\": ",
            "\\u0022",
            ",",
            "}",
        ],
        quick: 4_000,
    },
];

const LOCK: &str = "\
# Written by pkgres; `pkgres lock` keeps it in step with the manifest.
# Format 1, read by pkgres 0.1.0 and later.
lock: 1
order: 1
roots:
- name: org.acme.Web
  requires:
    org.acme.Db:
      spec: \">=1.0.0,<2.0.0\"
      version: 1.4.0
overrides:
- name: org.acme.Db
  spec: \"1\"
side_by_side:
- org.acme.Log
packages:
- name: org.acme.Db
  version: 1.4.0
  source: default
  sha256: tree:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
  requires:
    org.acme.Log: 1.0.0
- name: org.acme.Log
  version: 1.0.0
  source: host
- name: org.acme.Log
  version: 2.0.0-rc.1
  source: default
  sha256: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
complete: true
";

const CONFLICT: &str = "\
lock: 1
order: 1
packages:
- name: A
<<<<<<< ours
  version: 1.0.0
  source: default
  sha256: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
=======
  version: 2.0.0
  source: default
>>>>>>> theirs
complete: true
";

const MODEL: &str = r#"{
  "?": {"id": "web", "type": "org.acme.Web", "package": "org.acme", "version": ">=1"},
  "port": 80, "on": true, "none": null, "name": "x \u00e9",
  "parts": [{"?": {"id": "p", "type": "org.acme.Part/1.0.0"}, "back": "web"}, "p", 1.5e3],
  "again": {"?": {"id": "p", "type": "org.acme.Part/1.0.0"}, "back": "web"},
  "untyped": {"?": {"id": "u"}, "a": "u"}, "map": {"k": {"l": []}}
}
"#;

const ENVIRONMENT: &str = "\
Objects:
  '?': {id: env, type: io.murano.Environment}
  applications:
  - '?':
      id: one
      type: org.acme.Web
      version: ~
    name: x
  - {'?': {type: org.acme.Db}, other: one}
Attributes: []
SystemData:
  Packages:
    org.acme: 1.0.0
    io.murano: [0.0.0, '1.1']
";

const FLOW_MODEL: &str = "{'?': {type: a.B, id: 'x'}, l: [{'?': {type: a.C}}, x]}\n";

/// A lockfile reads as it is written, has no difference from itself, and damaged ones are salvaged alike.
fn lock(data: &[u8]) {
    let limits = Limits::default();
    let read = checked(Lockfile::read("pkgres.lock", data, &limits));
    let salvaged = Lockfile::salvage(data, &limits);
    let Some(lock) = read else {
        let diff = LockDiff::from_salvaged(&salvaged, &Lockfile::default());
        let removed = diff.packages.iter().map(|change| change.before.len());
        assert_eq!(removed.sum::<usize>(), salvaged.len());
        return;
    };
    let text = lock.to_text();
    let again = checked(Lockfile::read("pkgres.lock", text.as_bytes(), &limits));
    let again = again.expect("a lockfile reads as it is written");
    // Specs are written in their normal form.
    assert_eq!(again.packages, lock.packages);
    assert_eq!(again.to_text(), text, "there is one spelling");
    text.lines().for_each(is_safe_line);
    lock.merge_problems()
        .iter()
        .for_each(|problem| is_safe_line(problem));
    assert!(LockDiff::between(&lock, &again).is_empty());

    let nothing = Lockfile::default();
    let diff = LockDiff::between(&lock, &nothing);
    // A root without requirements is no difference.
    let has_bindings = lock.roots.values().any(|bound| !bound.is_empty());
    let is_empty = lock.packages.is_empty() && !has_bindings && lock.overrides.is_empty();
    assert_eq!(diff.is_empty(), is_empty);
    let removed = diff.packages.iter().map(|change| change.before.len());
    assert_eq!(removed.sum::<usize>(), lock.packages.len());
    // What can be read needs no salvage, which finds the same releases.
    let salvaged = Lockfile::salvage(text.as_bytes(), &limits);
    assert!(salvaged.keys().eq(lock.packages.keys()), "{salvaged:?}");
}

/// A pinned model differs from the model only in its pins, and pins that are there stay.
fn model(data: &[u8]) {
    let limits = Limits::default();
    let Some(model) = checked(ObjectModel::read("model", data, &limits)) else {
        return;
    };
    let package = PackageName::parse("org.acme.Pinned").expect("a name");
    let version = Version::new(1, 2, 3);
    let mut pins = Pins::default();
    for (at, object) in model.objects().iter().enumerate() {
        let id = ObjectId(at);
        is_safe_line(&model.shown(id));
        is_safe_line(object.class.as_str());
        if let Some(id) = &object.id {
            is_safe_line(&Escaped::shortened(id).to_string());
        }
        assert!(object.holder.is_none_or(|holder| holder.0 < at));
        if !matches!(object.version, VersionPin::Exact(_)) || object.package.is_none() {
            pins.objects
                .insert(id, Release::new(package.clone(), version.clone()));
        }
    }
    pins.packages.clone_from(model.previous_versions());
    pins.packages
        .insert(package.clone(), [version.clone()].into());
    let text = match model.with_pins(&pins, &limits) {
        Ok(text) => text,
        Err(finding) => return are_safe(&[finding]),
    };
    let pinned = checked(ObjectModel::read("model", text.as_bytes(), &limits));
    let pinned = pinned.expect("a pinned model is one");
    assert_eq!(pinned.objects().len(), model.objects().len());
    for (at, (before, after)) in model.objects().iter().zip(pinned.objects()).enumerate() {
        assert_eq!(before.class, after.class);
        assert_eq!(before.id, after.id);
        if let Some(Release {
            name: package,
            version,
        }) = pins.objects.get(&ObjectId(at))
        {
            assert_eq!(after.package.as_ref(), Some(package));
            assert_eq!(after.version, VersionPin::Exact(version.clone()));
        } else {
            assert_eq!(after.version, before.version);
        }
    }
    // Pinned again, nothing changes.
    let packages = pins.packages.clone();
    let nothing = Pins {
        packages,
        ..Pins::default()
    };
    assert_eq!(pinned.with_pins(&nothing, &limits), Ok(text));
}
