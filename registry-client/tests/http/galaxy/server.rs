//! A server with the Galaxy API, version 3, for tests.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use pkgres_manifest::{Hexadecimal, sha256};
use serde_json::{Value, json};

use crate::fake::{Received, Reply};

/// A release with its artifact.
#[derive(Debug, Clone)]
struct Release {
    version: String,
    dependencies: Value,
    artifact: Vec<u8>,
}

/// The collections of a server, and how it answers.
#[derive(Debug, Clone, Default)]
pub(super) struct Galaxy {
    collections: BTreeMap<String, Vec<Release>>,
    /// When the collections changed.
    pub(super) updated_at: String,
    /// The number of releases on a page, whatever was requested; 0 for all.
    pub(super) page: usize,
    /// The authorization that is required, if any.
    pub(super) authorization: Option<String>,
    /// What precedes the path in the addresses of artifacts.
    pub(super) downloads: String,
}

impl Galaxy {
    pub(super) fn new() -> Self {
        Self {
            updated_at: "2026-05-01T00:00:00Z".to_owned(),
            ..Self::default()
        }
    }

    /// Adds a release with the text of some files.
    pub(super) fn add(
        &mut self,
        name: &str,
        version: &str,
        dependencies: &[(&str, &str)],
        files: &[(&str, &str)],
    ) {
        let dependencies: BTreeMap<&str, &str> = dependencies.iter().copied().collect();
        let dependencies = json!(dependencies);
        let artifact = artifact(name, version, &dependencies, files);
        self.add_artifact(name, version, &dependencies, artifact);
    }

    /// Adds a release with an artifact, whatever that is.
    pub(super) fn add_artifact(
        &mut self,
        name: &str,
        version: &str,
        dependencies: &Value,
        artifact: Vec<u8>,
    ) {
        let releases = self.collections.entry(name.to_owned()).or_default();
        releases.push(Release {
            version: version.to_owned(),
            dependencies: dependencies.clone(),
            artifact,
        });
    }

    /// The artifact of a release.
    pub(super) fn artifact(&self, name: &str, version: &str) -> &[u8] {
        let release = self.release(name, version).expect("it was added");
        &release.artifact
    }

    fn release(&self, name: &str, version: &str) -> Option<&Release> {
        let mut releases = self.collections.get(name)?.iter();
        releases.find(|release| release.version == version)
    }

    /// Answers as the API describes.
    pub(super) fn answer(&self, request: &Received) -> Reply {
        let (path, query) = match request.path.split_once('?') {
            Some((path, query)) => (path, query),
            None => (request.path.as_str(), ""),
        };
        if path == "/api/" {
            return reply(&json!({"available_versions": {"v3": "v3/"}, "current_version": "v3"}));
        }
        if let Some(wanted) = &self.authorization
            && request.headers.get("authorization") != Some(wanted)
            && path.starts_with("/api/v3/")
        {
            return Reply::new(401, r#"{"errors":[{"status":"401","title":"no"}]}"#);
        }
        let found = match path.strip_prefix("/api/v3/collections/") {
            Some(rest) => self.collection(rest, query),
            None => path
                .strip_prefix("/download/")
                .and_then(|file| self.download(file)),
        };
        found.unwrap_or_else(|| Reply::new(404, r#"{"errors":[{"status":"404"}]}"#))
    }

    fn collection(&self, rest: &str, query: &str) -> Option<Reply> {
        let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
        let (namespace, name) = (parts.first()?, parts.get(1)?);
        let full = format!("{namespace}.{name}");
        let releases = self.collections.get(&full)?;
        match parts.get(2..)? {
            [] => Some(reply(&json!({
                "namespace": namespace, "name": name, "updated_at": self.updated_at,
            }))),
            ["versions"] => {
                let offset = query
                    .split('&')
                    .find_map(|pair| pair.strip_prefix("offset="))
                    .map_or(0, |offset| offset.parse().expect("a number"));
                let size = if self.page == 0 { 100 } else { self.page };
                let listed: Vec<Value> = releases
                    .iter()
                    .skip(offset)
                    .take(size)
                    .map(|release| json!({"version": release.version, "created_at": "2026-01-01T00:00:00Z"}))
                    .collect();
                let end = offset + size;
                let next = (end < releases.len())
                    .then(|| format!("/api/v3/collections/{rest}?limit={size}&offset={end}"));
                Some(reply(&json!({"data": listed, "links": {"next": next}})))
            }
            ["versions", version] => {
                let release = self.release(&full, version)?;
                let file = format!("{namespace}-{name}-{version}.tar.gz");
                Some(reply(&json!({
                    "version": version,
                    "namespace": {"name": namespace},
                    "collection": {"name": name},
                    "artifact": {
                        "filename": file,
                        "sha256": Hexadecimal(&sha256(&release.artifact)).to_string(),
                        "size": release.artifact.len(),
                    },
                    "download_url": format!("{}/download/{file}", self.downloads),
                    "metadata": {"dependencies": release.dependencies},
                    "requires_ansible": ">=2.15.0",
                    "signatures": [],
                })))
            }
            _ => None,
        }
    }

    fn download(&self, file: &str) -> Option<Reply> {
        let mut parts = file.strip_suffix(".tar.gz")?.splitn(3, '-');
        let name = format!("{}.{}", parts.next()?, parts.next()?);
        let release = self.release(&name, parts.next()?)?;
        Some(Reply::new(200, release.artifact.clone()))
    }

    /// The function of a fake server.
    pub(super) fn answers(self) -> impl FnMut(&Received) -> Reply + Send + 'static {
        let galaxy = Arc::new(self);
        move |request| galaxy.answer(request)
    }
}

fn reply(body: &Value) -> Reply {
    Reply::new(200, body.to_string())
}

/// An artifact whose chain of digests is right.
pub(super) fn artifact(
    name: &str,
    version: &str,
    dependencies: &Value,
    files: &[(&str, &str)],
) -> Vec<u8> {
    let (namespace, short) = name.split_once('.').expect("a name");
    let digest = |bytes: &[u8]| Hexadecimal(&sha256(bytes)).to_string();
    let mut listed = vec![json!({"name": ".", "ftype": "dir", "format": 1})];
    listed.extend(files.iter().map(|(path, text)| {
        json!({
            "name": path, "ftype": "file", "chksum_type": "sha256",
            "chksum_sha256": digest(text.as_bytes()), "format": 1,
        })
    }));
    let list = json!({"files": listed, "format": 1}).to_string();
    let manifest = json!({
        "collection_info": {
            "namespace": namespace, "name": short, "version": version, "dependencies": dependencies,
        },
        "file_manifest_file": {
            "name": "FILES.json", "ftype": "file", "chksum_type": "sha256",
            "chksum_sha256": digest(list.as_bytes()), "format": 1,
        },
        "format": 1,
    })
    .to_string();
    let mut builder = tar::Builder::new(Vec::new());
    let fixed = [("MANIFEST.json", &*manifest), ("FILES.json", &*list)];
    for (path, text) in fixed.iter().chain(files) {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, path, text.as_bytes())
            .expect("memory can be written");
    }
    let tar = builder.into_inner().expect("memory can be written");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&tar).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}
