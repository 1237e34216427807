use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};

use super::*;

/// A tar file in the making, with the entries that its list of files will have.
struct Tar {
    builder: Builder<Vec<u8>>,
    listed: Vec<serde_json::Value>,
}

impl Tar {
    fn new() -> Self {
        Self {
            builder: Builder::new(Vec::new()),
            listed: Vec::new(),
        }
    }

    fn add(&mut self, kind: EntryType, path: &str, link: &str, content: &[u8]) {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        // `set_path` would not write some of these.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        self.builder
            .append(&header, content)
            .expect("memory can be written");
    }

    fn file(&mut self, path: &str, content: &[u8]) {
        self.add(EntryType::Regular, path, "", content);
        let digest = Hexadecimal(&pkgres_manifest::sha256(content)).to_string();
        self.list(path, "file", Some(&digest));
    }

    fn list(&mut self, path: &str, kind: &str, digest: Option<&str>) {
        self.listed.push(serde_json::json!({
            "name": path, "ftype": kind, "chksum_sha256": digest, "chksum_type": digest.map(|_| "sha256"),
            "format": 1,
        }));
    }

    /// Adds the list and the manifest, and compresses everything.
    fn finish(mut self) -> Vec<u8> {
        let list = serde_json::json!({"files": self.listed, "format": 1}).to_string();
        let digest = Hexadecimal(&pkgres_manifest::sha256(list.as_bytes())).to_string();
        let manifest = serde_json::json!({
            "collection_info": {
                "namespace": "acme", "name": "web", "version": "1.2.0",
                "dependencies": {"acme.net": ">=1.0.0"},
            },
            "file_manifest_file": {"name": "FILES.json", "chksum_sha256": digest},
            "format": 1,
        });
        let manifest = manifest.to_string();
        self.add(EntryType::Regular, FILE_LIST, "", list.as_bytes());
        self.add(
            EntryType::Regular,
            COLLECTION_MANIFEST,
            "",
            manifest.as_bytes(),
        );
        self.bytes()
    }

    fn bytes(self) -> Vec<u8> {
        let tar = self.builder.into_inner().expect("memory can be written");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&tar).expect("memory can be written");
        encoder.finish().expect("memory can be written")
    }
}

fn errors(bytes: &[u8]) -> Vec<String> {
    match CollectionArtifact::read("a.tar.gz", bytes, &ReadOptions::default()) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

fn good() -> Tar {
    let mut tar = Tar::new();
    tar.add(EntryType::Directory, "plugins/", "", b"");
    tar.list("plugins", "dir", None);
    tar.list(".", "dir", None);
    tar.file("plugins/modules/page.py", b"X = 1\n");
    tar.add(
        EntryType::Symlink,
        "plugins/modules/link.py",
        "../modules/page.py",
        b"",
    );
    let digest = Hexadecimal(&pkgres_manifest::sha256(b"X = 1\n")).to_string();
    tar.list("plugins/modules/link.py", "file", Some(&digest));
    tar.add(EntryType::Symlink, "plugins/linked", "modules", b"");
    tar.list("plugins/linked/page.py", "file", Some(&digest));
    tar.add(EntryType::Regular, "not-listed", "", b"x");
    tar
}

#[test]
fn a_source_distribution_is_no_artifact() {
    use crate::format::{Format as _, FormatFile, ReleaseExtent};

    let extent = |bytes: &[u8]| {
        let path = "dist/acme-web-1.2.0.tar.gz";
        crate::ansible::Collections.release_extent(&FormatFile { path, bytes })
    };
    let mut distribution = Tar::new();
    distribution.add(EntryType::XGlobalHeader, "pax_global_header", "", b"");
    distribution.file("acme-web-1.2.0/setup.py", &[0; 5000]);
    let bytes = distribution.finish();
    // The beginning is enough.
    assert_eq!(extent(&bytes[..bytes.len() / 2]), None);
    assert_eq!(extent(&bytes), None);
    assert_eq!(extent(&good().finish()), Some(ReleaseExtent::File));
    // What cannot be recognized is reported when it is read.
    assert_eq!(extent(b""), Some(ReleaseExtent::File));
    assert_eq!(extent(b"text"), Some(ReleaseExtent::File));
}

#[test]
fn links_do_not_multiply_contents() {
    let mut tar = Tar::new();
    tar.list("shared", "dir", None);
    tar.file("shared/large", &vec![0; 300_000]);
    for at in 0..10 {
        let link = format!("copy{at}");
        tar.add(EntryType::Symlink, &link, "shared", b"");
        tar.list(&link, "dir", None);
    }
    let errors = errors(&tar.finish());
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].contains("bytes in the files and links"),
        "{errors:?}"
    );
}

#[test]
fn what_links_to_files_and_folders_lead_to_is_there_under_both_paths() {
    let mut tar = Tar::new();
    // As ansible-core writes it: the link is listed as a folder, and the files only where they are.
    tar.add(
        EntryType::Symlink,
        "plugins/module_utils/all",
        "../../shared",
        b"",
    );
    tar.list("plugins/module_utils/all", "dir", None);
    tar.add(
        EntryType::Symlink,
        "plugins/module_utils/one.py",
        "all/text.py",
        b"",
    );
    let digest = Hexadecimal(&pkgres_manifest::sha256(b"Y = 1\n")).to_string();
    tar.list("plugins/module_utils/one.py", "file", Some(&digest));
    tar.add(EntryType::Directory, "shared/", "", b"");
    tar.list("shared", "dir", None);
    tar.file("shared/text.py", b"Y = 1\n");
    let bytes = tar.finish();
    let options = ReadOptions::default();
    let artifact = CollectionArtifact::read("a.tar.gz", &bytes, &options).expect("it is valid");
    let paths = [
        "plugins/module_utils/all/text.py",
        "plugins/module_utils/one.py",
        "shared/text.py",
    ];
    assert_eq!(artifact.paths().expect("they are known"), paths);
    let (facts, ..) =
        crate::ansible::facts_of_files::read("acme.web", "", &artifact, &options).expect("facts");
    for module in ["plugins.module_utils.all.text", "plugins.module_utils.one"] {
        let known = facts.modules.get(module).expect("the module");
        assert!(known.names.contains("Y"), "{module}");
    }
    let files = crate::ansible::CollectionFiles::of_artifact("a.tar.gz", &bytes, &options);
    let files = files.expect("it is valid");
    let of_path = |path: &str| files.files().find(|file| file.path.as_str() == path);
    for path in paths {
        assert_eq!(of_path(path).expect("the file").bytes, b"Y = 1\n", "{path}");
    }
}

#[test]
fn an_artifact_is_read_and_extracted() {
    let bytes = good().finish();
    let options = ReadOptions::default();
    let artifact = CollectionArtifact::read("a.tar.gz", &bytes, &options).expect("it is valid");
    assert_eq!(artifact.manifest.record.name.as_str(), "acme.web");
    let mut written = Vec::new();
    let mut write = |path: &PackagePath, content: &[u8]| -> Result<(), Diagnostic> {
        written.push(format!("{} {}", path.as_str(), content.len()));
        Ok(())
    };
    artifact
        .extract("a.tar.gz", &bytes, &options.limits, &mut write)
        .expect("it is valid");
    assert_eq!(
        written[2..],
        [
            "plugins/linked/page.py 6",
            "plugins/modules/link.py 6",
            "plugins/modules/page.py 6"
        ]
    );
    assert!(written[0].starts_with(COLLECTION_MANIFEST) && written[1].starts_with(FILE_LIST));
    let link = FileTree::read(&artifact, "plugins/modules/link.py", 100).expect("it is small");
    assert_eq!(link.as_deref(), Some(&b"X = 1\n"[..]));
}

#[test]
fn hostile_members_are_errors() {
    let with = |kind, path: &str, link: &str| {
        let mut tar = good();
        tar.add(kind, path, link, b"");
        errors(&tar.finish()).join("; ")
    };
    for (kind, path, link, expected) in [
        (EntryType::Regular, "../evil", "", "PK0019"),
        (EntryType::Regular, "/etc/evil", "", "PK0019"),
        (EntryType::Regular, "a/../../evil", "", "PK0019"),
        (EntryType::Symlink, "evil", "../outside", "leads out of"),
        (EntryType::Symlink, "evil", "/etc/passwd", "leads out of"),
        (
            EntryType::Symlink,
            "plugins/evil",
            "../../outside",
            "leads out of",
        ),
        (EntryType::Link, "evil", "../outside", "leads out of"),
        (EntryType::Char, "evil", "", "neither a file"),
        (EntryType::Fifo, "evil", "", "neither a file"),
        (
            EntryType::Regular,
            "plugins/modules/page.py",
            "",
            "appears twice",
        ),
        (EntryType::Directory, "plugins", "", "appears twice"),
    ] {
        let errors = with(kind, path, link);
        assert!(errors.contains(expected), "{path}: {errors}");
    }
}

#[test]
fn names_that_are_equal_on_some_file_system_are_errors() {
    for (names, expected) in [
        (
            ["ReadMe.txt", "readme.txt"],
            "`ReadMe.txt` and `readme.txt` are the same",
        ),
        (
            ["a", "a/b"],
            "`a` is a file, but `a/b` needs it as a folder",
        ),
        (
            ["x", "Files.json"],
            "`FILES.json` and `Files.json` are the same",
        ),
    ] {
        let mut tar = good();
        for name in names {
            tar.file(name, b"");
        }
        let errors = errors(&tar.finish()).join("; ");
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn links_are_installed_as_links() {
    let mut tar = good();
    tar.add(
        EntryType::Symlink,
        "roles/web/plugins",
        "../../plugins",
        b"",
    );
    tar.list("roles/web/plugins", "dir", None);
    tar.add(EntryType::Symlink, "copied", "unlisted", b"");
    tar.add(EntryType::Regular, "unlisted", "", b"text");
    let digest = Hexadecimal(&pkgres_manifest::sha256(b"text")).to_string();
    tar.list("copied", "file", Some(&digest));
    let options = ReadOptions::default();
    let files = crate::ansible::CollectionFiles::of_artifact("a.tar.gz", &tar.finish(), &options);
    let files = files.expect("the links stay inside");
    let links: Vec<(&str, &str)> = files
        .links()
        .map(|link| (link.path.as_str(), link.target.as_str()))
        .collect();
    assert_eq!(
        links,
        [
            ("plugins/modules/link.py", "page.py"),
            ("roles/web/plugins", "../../plugins"),
        ]
    );
    assert!(files.is_linked("roles/web/plugins/modules/page.py"));
    assert!(files.files().any(|file| file.path.as_str() == "copied"));
}

#[test]
fn links_in_a_cycle_lead_nowhere() {
    let mut tar = Tar::new();
    tar.add(EntryType::Symlink, "a", "b", b"");
    tar.add(EntryType::Symlink, "b", "a", b"");
    tar.list("a", "file", Some(&"00".repeat(32)));
    assert_eq!(errors(&tar.finish()).len(), 1);
}

#[test]
fn each_link_of_the_chain_is_checked() {
    let mut changed = good();
    changed.add(EntryType::Regular, "README.md", "", b"changed");
    changed.list("README.md", "file", Some(&"00".repeat(32)));
    assert!(errors(&changed.finish())[0].contains("FILES.json says otherwise"));

    let mut missing = good();
    missing.list("README.md", "file", Some(&"00".repeat(32)));
    assert!(errors(&missing.finish())[0].contains("is missing"));

    let mut folder = good();
    folder.list("not-listed", "dir", None);
    assert!(errors(&folder.finish())[0].contains("not the folder"));

    let mut list = good();
    list.add(EntryType::Regular, FILE_LIST, "", b"{\"files\":[]}");
    let manifest = br#"{"collection_info":{"namespace":"a","name":"b","version":"1.0.0"},
        "file_manifest_file":{"name":"FILES.json","chksum_sha256":"00"},"format":1}"#;
    list.add(EntryType::Regular, COLLECTION_MANIFEST, "", manifest);
    assert!(errors(&list.bytes())[0].contains("MANIFEST.json says 00"));
    assert!(errors(&Tar::new().bytes())[0].contains("has no `MANIFEST.json`"));
}

#[test]
fn texts_for_people_are_at_the_top() {
    let mut tar = Tar::new();
    tar.file("docs/README.md", b"below");
    tar.file("README-first.md", b"other");
    tar.file("readme.rst", b"read me");
    tar.file("LICENSES/MIT", b"below");
    let bytes = tar.finish();
    let options = ReadOptions::default();
    let mut artifact = CollectionArtifact::read("a.tar.gz", &bytes, &options).expect("it is valid");
    assert_eq!(artifact.readme(), Some(("README-first.md", &b"other"[..])));
    assert_eq!(artifact.licence(), None);
    // The manifest can name another one, but only one that is shown.
    artifact.manifest.about.readme = Some("readme.rst".to_owned());
    assert_eq!(artifact.readme(), Some(("readme.rst", &b"read me"[..])));
    artifact.manifest.about.readme = Some("docs/README.md".to_owned());
    assert_eq!(artifact.readme(), Some(("README-first.md", &b"other"[..])));
}

#[test]
fn bombs_and_broken_archives_are_errors() {
    let mut bomb = good();
    bomb.file("zeros", &vec![0; 8 << 20]);
    assert!(errors(&bomb.finish())[0].contains("PK0001"));
    let good = good().finish();
    assert!(errors(&good).is_empty());
    for length in [0, 10, good.len() / 2] {
        assert_eq!(errors(&good[..length]).len(), 1, "{length}");
    }
    let mut options = ReadOptions::default();
    options.limits.archive_entries = 3;
    assert!(CollectionArtifact::read("a", &good, &options).is_err());
    options = ReadOptions::default();
    options.limits.archive_bytes = 10;
    assert!(CollectionArtifact::read("a", &good, &options).is_err());
}

/// Other programs refuse an incomplete file, and read what follows the first member of a gzip file.
#[test]
fn a_gzip_file_is_whole_and_holds_one_archive() {
    let whole = good().finish();
    assert_eq!(errors(&whole), [""; 0]);
    for missing in 1..=20 {
        let cut = errors(&whole[..whole.len() - missing]);
        assert!(
            cut[0].contains("not a gzipped tar file"),
            "{missing}: {cut:?}"
        );
    }
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    assert!(errors(&damaged)[0].contains("not a gzipped tar file"));
    let with_garbage = [&whole[..], b"x"].concat();
    assert!(errors(&with_garbage)[0].contains("not a gzipped tar file"));
    let twice = [&whole[..], &whole[..]].concat();
    assert!(errors(&twice)[0].contains("something follows the end of the archive"));

    let compress = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("memory can be written");
        encoder.finish().expect("memory can be written")
    };
    let mut tar = Vec::new();
    let mut decoder = GzDecoder::new(&*whole);
    decoder.read_to_end(&mut tar).expect("it is whole");
    let in_pieces = [compress(&tar[..700]), compress(&tar[700..])].concat();
    assert_eq!(errors(&in_pieces), [""; 0]);
    let padded = [&tar[..], &[0; 9000]].concat();
    assert_eq!(errors(&compress(&padded)), [""; 0]);
    // Without the zeros at its end, an archive goes on in the next member.
    let end = tar.len() - 1024;
    let continued = [compress(&tar[..end]), compress(&tar)].concat();
    assert!(errors(&continued)[0].contains("appears twice"));
}
