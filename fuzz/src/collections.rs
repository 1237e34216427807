//! The files, artifacts and index records of Ansible collections.

use std::collections::BTreeMap;

use pkgres_formats::ansible::{
    COLLECTION_MANIFEST, CollectionArtifact, CollectionFiles, Collections, ECOSYSTEM, FILE_LIST,
    GALAXY_FILE, REQUIREMENTS_FILE, ansible_core_version, installed_version, read_collection,
    read_collection_manifest, read_galaxy_file, read_requirements, requires_ansible,
};
use pkgres_formats::{FileTree, Format as _, FormatFile};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{IndexRecord, Limits, ReadOptions};
use pkgres_tests::collections::{ArtifactBuilder, compressed};

use crate::node_sets::NoReleases;
use crate::property::{are_safe, checked, is_safe, is_safe_line};
use crate::seeds::{files, texts};
use crate::target::Target;

/// The fuzz targets of collections.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "requirements_file",
        run: requirements_file,
        seeds: || {
            let mut seeds = files(|path| path.ends_with("requirements.yml"));
            seeds.extend(texts(&REQUIREMENTS));
            seeds
        },
        words: &[
            "collections:\n",
            "roles:\n",
            "- name: a.b\n",
            "  version: ",
            "  source: ",
            "  type: git\n",
            "\">=1.0,!=2\"",
            "1.10",
            "*",
            "&a ",
            "*a",
            "{}",
            "[]",
        ],
        quick: 3_000,
    },
    Target {
        name: "collection_files",
        run: collection_files,
        seeds: || {
            let mut seeds = files(|path| path.ends_with(GALAXY_FILE));
            seeds.extend(texts(&METADATA));
            seeds
        },
        words: &[
            "namespace: a\n",
            "name: b\n",
            "version: 1.0.0\n",
            "dependencies:\n",
            "  c.d: \"*\"\n",
            "\"collection_info\":{",
            "\"file_manifest_file\":{",
            "\"format\":1",
            "\"files\":[",
            "plugin_routing:\n",
            "redirect: ",
            "tombstone: ",
            "requires_ansible: ",
            "from ansible_collections.c.d.plugins.module_utils import x\n",
            "try:\n",
            "except ImportError:\n",
            "    ",
            "\"\"\"",
            "\\\n",
        ],
        quick: 3_000,
    },
    Target {
        name: "collection_artifact",
        run: collection_artifact,
        seeds: artifacts,
        words: &[
            "MANIFEST.json",
            "FILES.json",
            "../",
            "ustar\u{0}00",
            "0000000\u{0}",
            "\"chksum_sha256\":",
            "\"ftype\":\"dir\"",
        ],
        quick: 2_000,
    },
    Target {
        name: "collection_record",
        run: collection_record,
        seeds: || texts(&RECORDS),
        words: &[
            "\"ecosystem\":\"ansible\"",
            "\"require\":[[",
            "\"requires_ansible\":",
            "\"classes\":{",
            "\"extends\":[",
            "\"sha256\":",
            ">=",
            "!=",
            ",",
            "*",
            "-rc.1",
            "null",
            "==2.*",
            "~=2.1",
        ],
        quick: 6_000,
    },
];

const REQUIREMENTS: [&str; 4] = [
    "- hosts: all\n  roles:\n    - c.d.web\n  tasks:\n    - c.d.page:\n        x: \"{{ lookup('e.f.find') }}\"\n    - include_role:\n        name: c.d.other\n",
    "---\nroles:\n  - name: a.nginx\ncollections:\n  - a.b\n  - name: c.d\n    version: \">=1.2,!=1.3.0\"\n    source: https://a.example/\n",
    "- src: a.role\n",
    "collections: [{name: a.b, version: 1.10, type: galaxy}, {name: 'https://a.example/x.git', type: git}]\n",
];

/// What the file of a collection is about is found out by reading it as each of them.
const METADATA: [&str; 5] = [
    "namespace: a\nname: b\nversion: 1.0.0\nreadme: README.md\nauthors: [x]\ndependencies:\n  c.d: '>=1.0.0,<2.0.0'\n  e.f: null\n",
    r#"{"collection_info":{"namespace":"a","name":"b","version":"1.0.0","authors":["x"],"readme":"README.md","dependencies":{"c.d":"*"}},"file_manifest_file":{"name":"FILES.json","ftype":"file","chksum_type":"sha256","chksum_sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","format":1},"format":1}"#,
    r#"{"files":[{"name":".","ftype":"dir","chksum_type":null,"chksum_sha256":null,"format":1},{"name":"a.py","ftype":"file","chksum_type":"sha256","chksum_sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","format":1}],"format":1}"#,
    "requires_ansible: '>=2.15.0,<2.20'\nplugin_routing:\n  modules:\n    x:\n      redirect: c.d.y\n    z:\n      tombstone: {removal_version: 2.0.0, warning_text: gone}\n  lookup:\n    w: {deprecation: {removal_version: 3.0.0}}\naction_groups:\n  g: [x]\n",
    "from __future__ import annotations\nfrom ansible_collections.c.d.plugins.module_utils.x import (A, B as C)\ntry:\n    import ansible_collections.c.d.plugins.module_utils.y\nexcept ImportError:\n    y = None\nDOCUMENTATION = r'''\nextends_documentation_fragment:\n  - c.d.common\n'''\ndef f():\n    from ..module_utils import z\n",
];

const RECORDS: [&str; 4] = [
    r#"{"ecosystem":"ansible","name":"a.b","version":"1.0.0","require":[["c.d",">=1.0.0,<2"],["e.f","*"]],"requires_ansible":">=2.15","classes":{"a.b.plugins.modules.x":{"extends":["c.d.plugins.module_utils.y.Z"],"uses":["e.f.plugins.lookup.w"]}},"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#,
    ">=1.0.0,!=1.2,<2.0.0-rc.1",
    "1.2.3-beta.4",
    ">=2.9.10,<2.17,!=2.16.*",
];

/// The files of a collection in memory.
struct Tree(BTreeMap<&'static str, Vec<u8>>);

impl FileTree for Tree {
    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        Ok(self.0.keys().map(|path| (*path).to_owned()).collect())
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let is_short = |bytes: &&Vec<u8>| bytes.len() as u64 <= limit;
        Ok(self.0.get(path).filter(is_short).cloned())
    }
}

/// A requirements file: what is required can be written into an index and read again.
fn requirements_file(input: &[u8]) {
    if let Some(root) = checked(read_requirements(
        REQUIREMENTS_FILE,
        input,
        &Limits::default(),
    )) {
        round_trip(&root.record);
    }
    let file = FormatFile {
        path: REQUIREMENTS_FILE,
        bytes: input,
    };
    let options = ReadOptions::default();
    let _ = Collections.is_root(&file);
    checked(Collections.read_root(&file, &(), &options));
    are_safe(&Collections.check_root(&file, &(), &NoReleases, &options));
    // The input is a playbook as well.
    let requirements = FormatFile {
        path: REQUIREMENTS_FILE,
        bytes: b"collections: [c.d]\n",
    };
    let tree = Tree(BTreeMap::from([
        ("site.yml", input.to_vec()),
        ("tasks/main.yml", input.to_vec()),
    ]));
    let (uses, findings) = Collections.project_uses(&requirements, &tree, &options);
    are_safe(&findings);
    for one in uses {
        let (text, span) = (one.at.source().text(), one.at.span());
        assert!(
            one.class.as_str().ends_with(
                text[span.start..span.end]
                    .rsplit('.')
                    .next()
                    .expect("a part")
            )
        );
    }
    are_safe(&Collections.check_root(&requirements, &tree, &NoReleases, &options));
}

/// An input as each file that says something about a collection.
fn collection_files(input: &[u8]) {
    let (limits, options) = (Limits::default(), ReadOptions::default());
    checked(read_galaxy_file(GALAXY_FILE, input, &limits));
    checked(read_collection_manifest(
        COLLECTION_MANIFEST,
        input,
        &limits,
    ));
    let galaxy_file = METADATA[0].as_bytes().to_vec();
    for (path, galaxy) in [
        (GALAXY_FILE, input.to_vec()),
        ("meta/runtime.yml", galaxy_file.clone()),
        ("plugins/modules/x.py", galaxy_file.clone()),
        ("playbooks/x.yml", galaxy_file),
    ] {
        let tree = Tree(BTreeMap::from([
            (GALAXY_FILE, galaxy.clone()),
            (path, input.to_vec()),
        ]));
        let file = FormatFile {
            path: GALAXY_FILE,
            bytes: &galaxy,
        };
        if let Some(root) = checked(Collections.read_root(&file, &tree, &options)) {
            round_trip(&root.record);
        }
        are_safe(&Collections.check_root(&file, &tree, &NoReleases, &options));
        checked(Collections.declarations(&file, &tree, &options));
    }
    // As one of the files of a collection that is installed.
    for path in [COLLECTION_MANIFEST, FILE_LIST] {
        let mut files = BTreeMap::from([
            (COLLECTION_MANIFEST, METADATA[1].as_bytes().to_vec()),
            (FILE_LIST, METADATA[2].as_bytes().to_vec()),
        ]);
        files.insert(path, input.to_vec());
        let tree = Tree(files);
        let _ = installed_version(&tree, &options);
        if let Err(findings) = CollectionFiles::of_folder("a.b", &tree, &options) {
            are_safe(&findings);
        }
    }
}

/// Archives of artifacts without their compression, which hides them from mutations.
fn artifacts() -> Vec<Vec<u8>> {
    let plain = ArtifactBuilder::new("a.b", "1.0.0", &[("c.d", "*")]);
    let mut large = ArtifactBuilder::new("a.b", "1.0.0-rc.1", &[]);
    large.file("meta/runtime.yml", METADATA[3].as_bytes());
    large.file("plugins/module_utils/x.py", METADATA[4].as_bytes());
    [plain, large].map(ArtifactBuilder::finish_archive).to_vec()
}

/// An artifact: what is accepted has the whole chain of digests, and each of its files can be extracted.
fn collection_artifact(input: &[u8]) {
    let options = ReadOptions::default();
    for bytes in [&compressed(input)[..], input] {
        match CollectionArtifact::read("a.tar.gz", bytes, &options) {
            Ok(artifact) => {
                let release = checked(read_collection("a.tar.gz", bytes, &options));
                if let Some(release) = release {
                    round_trip(&release.release.record);
                }
                let files = CollectionFiles::of_artifact("a.tar.gz", bytes, &options);
                let files = files.expect("what was read once is read again");
                for file in files.files() {
                    is_safe_line(file.path.as_str());
                    assert!(
                        artifact.files.get(file.path.as_str()).is_some()
                            || is_metadata(file.path.as_str())
                    );
                }
            }
            Err(findings) => {
                are_safe(&findings);
                assert!(findings.iter().any(Diagnostic::is_error));
            }
        }
    }
}

/// The files that the list of files does not list.
fn is_metadata(path: &str) -> bool {
    matches!(path, COLLECTION_MANIFEST | FILE_LIST)
}

/// A line of an index, a range, a version, or what is required of ansible-core.
fn collection_record(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match ECOSYSTEM.read_record(text, &Limits::default()) {
        Ok(record) => round_trip(&record),
        Err(error) => is_safe_line(&error),
    }
    let version = match ECOSYSTEM.version(text) {
        Ok(version) => {
            assert_eq!(
                ECOSYSTEM.version(&version.to_string()).as_ref(),
                Ok(&version)
            );
            Some(version)
        }
        Err(error) => {
            is_safe(&error);
            None
        }
    };
    match ECOSYSTEM.spec(text) {
        Ok(spec) => {
            is_safe_line(spec.written());
            assert_eq!(ECOSYSTEM.spec(spec.written()).as_ref(), Ok(&spec));
            if let Some(version) = version {
                assert!(spec.matches(&version), "a bare version is that version");
            }
        }
        Err(error) => is_safe(&error),
    }
    if let Err(error) = requires_ansible(text) {
        is_safe(&error);
    }
    if let Some(version) = ansible_core_version(text) {
        is_safe_line(&version.to_string());
    }
}

fn round_trip(record: &IndexRecord) {
    let line = record.to_line();
    let again = ECOSYSTEM.read_record(&line, &Limits::default());
    // A requirements file has a name that no collection has.
    let Ok(again) = again else { return };
    assert_eq!(again.to_line(), line);
    assert_eq!(again.requirements.len(), record.requirements.len());
}
