//! Artifacts of Ansible collections, right ones and wrong ones.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use pkgres_manifest::{Hexadecimal, sha256};
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};

/// The artifact of a collection with a readme and a module. `requires` lists names and ranges.
///
/// # Panics
///
/// If the name is not two names with a dot.
pub fn artifact(name: &str, version: &str, requires: &[(&str, &str)]) -> Vec<u8> {
    ArtifactBuilder::new(name, version, requires).finish()
}

/// An artifact in the making.
pub struct ArtifactBuilder {
    builder: Builder<Vec<u8>>,
    listed: Vec<Value>,
    info: Value,
}

impl ArtifactBuilder {
    /// The artifact of a collection with a readme and a module.
    ///
    /// # Panics
    ///
    /// If the name is not two names with a dot.
    pub fn new(name: &str, version: &str, requires: &[(&str, &str)]) -> Self {
        let (namespace, name) = name.split_once('.').expect("two names");
        let requires: serde_json::Map<String, Value> = requires
            .iter()
            .map(|(name, range)| ((*name).to_owned(), (*range).into()))
            .collect();
        let mut artifact = Self {
            builder: Builder::new(Vec::new()),
            listed: vec![json!({ "name": ".", "ftype": "dir", "format": 1 })],
            info: json!({
                "namespace": namespace, "name": name, "version": version, "dependencies": requires,
                "authors": ["Ann"], "readme": "README.md", "description": "A collection of tests",
                "license": ["MIT"], "tags": ["tests"],
            }),
        };
        artifact.file(
            "README.md",
            format!("# {name}\n\nIt is *small*.\n").as_bytes(),
        );
        artifact.file("plugins/modules/page.py", b"def main():\n    pass\n");
        artifact
    }

    /// Sets a value of the metadata.
    pub fn set(&mut self, key: &str, value: Value) {
        self.info[key] = value;
    }

    /// Adds a file, and lists it.
    ///
    /// # Panics
    ///
    /// If the path is longer than a plain header has room for.
    pub fn file(&mut self, path: &str, content: &[u8]) {
        self.member(EntryType::Regular, path, "", content);
        self.list(path, content);
    }

    /// Lists a file with the digest of a content, without adding it.
    pub fn list(&mut self, path: &str, content: &[u8]) {
        let digest = Hexadecimal(&sha256(content)).to_string();
        self.listed.push(json!({
            "name": path, "ftype": "file", "chksum_type": "sha256", "chksum_sha256": digest, "format": 1,
        }));
    }

    /// Adds a member to the archive, but not to `FILES.json`.
    ///
    /// # Panics
    ///
    /// If the path is longer than a plain header has room for.
    pub fn member(&mut self, kind: EntryType, path: &str, link: &str, content: &[u8]) {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        // `set_path` would not write some of these.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        let added = self.builder.append(&header, content);
        added.expect("memory can be written");
    }

    /// Adds the list of files and the manifest, and compresses everything.
    ///
    /// # Panics
    ///
    /// Never: memory can be written.
    pub fn finish(self) -> Vec<u8> {
        compressed(&self.finish_archive())
    }

    /// The archive before it is compressed.
    ///
    /// # Panics
    ///
    /// Never: memory can be written.
    pub fn finish_archive(mut self) -> Vec<u8> {
        let list = json!({ "files": self.listed, "format": 1 }).to_string();
        let digest = Hexadecimal(&sha256(list.as_bytes())).to_string();
        let manifest = json!({
            "collection_info": self.info,
            "file_manifest_file": {
                "name": "FILES.json", "ftype": "file", "chksum_type": "sha256", "chksum_sha256": digest, "format": 1,
            },
            "format": 1,
        });
        let manifest = manifest.to_string();
        self.member(EntryType::Regular, "MANIFEST.json", "", manifest.as_bytes());
        self.member(EntryType::Regular, "FILES.json", "", list.as_bytes());
        self.builder.into_inner().expect("memory can be written")
    }
}

/// Bytes as gzip compresses them.
///
/// # Panics
///
/// Never: memory can be written.
pub fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// The body of a form that publishes an artifact, with the parts `sha256` and `file`, and its `Content-Type`.
pub fn form(file_name: &str, artifact: &[u8]) -> (String, Vec<u8>) {
    let digest = Hexadecimal(&sha256(artifact)).to_string();
    let mut body = format!(
        "--limit\r\nContent-Disposition: form-data; name=\"sha256\"\r\n\r\n{digest}\r\n\
         --limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{file_name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(artifact);
    body.extend_from_slice(b"\r\n--limit--\r\n");
    ("multipart/form-data; boundary=limit".to_owned(), body)
}

/// The file name of the artifact of a collection.
pub fn file_name(name: &str, version: &str) -> String {
    format!("{}-{version}.tar.gz", name.replace('.', "-"))
}
