//! The content of a registry, and its responses according to the protocol.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, Limits, PackageName};
use pkgres_registry_client::protocol::{
    BatchRequest, Config, Digest, Frame, IndexDocument, MerkleTree, NamesLine, Neighbour, Proof,
    SignedSnapshot, SigningKey, Snapshot, leaf_hash, unescape_name,
};

use super::{Received, Reply};

/// The content of a registry.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) packages: BTreeMap<PackageName, Vec<IndexRecord>>,
    pub(crate) blobs: BTreeMap<Digest, Vec<u8>>,
    pub(crate) serial: u64,
    pub(crate) key: Option<SigningKey>,
    pub(crate) expires: jiff::Timestamp,
    pub(crate) is_mirror: bool,
    /// How many documents fit into one answer.
    pub(crate) room: usize,
    /// Whether it proves absence by the neighbours of a name.
    pub(crate) proves_absence: bool,
    /// The packages that changed, by serial.
    pub(crate) changes: Vec<(u64, PackageName)>,
}

pub(crate) fn name(text: &str) -> PackageName {
    PackageName::parse(text).expect("a package name")
}

pub(crate) fn record(line: &str) -> IndexRecord {
    IndexRecord::parse_line(line, &Limits::default()).expect("an index record")
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            packages: BTreeMap::new(),
            blobs: BTreeMap::new(),
            serial: 1,
            key: Some(SigningKey::from_bytes(&[7; 32])),
            expires: "2030-01-01T00:00:00Z".parse().expect("a time"),
            is_mirror: false,
            room: 10_000,
            proves_absence: true,
            changes: Vec::new(),
        }
    }

    /// Adds a release that requires some packages in any version.
    pub(crate) fn add(&mut self, package: &str, version: &str, requires: &[&str]) {
        let requires: Vec<String> = requires
            .iter()
            .map(|required| format!(r#"["{required}",">=0.0.0"]"#))
            .collect();
        let line = format!(
            r#"{{"name":"{package}","version":"{version}","require":[{}],"classes":{{}}}}"#,
            requires.join(",")
        );
        self.packages
            .entry(name(package))
            .or_default()
            .push(record(&line));
        self.serial += 1;
        self.changes.push((self.serial, name(package)));
    }

    fn documents(&self) -> BTreeMap<PackageName, IndexDocument> {
        let render = |records: &Vec<IndexRecord>| IndexDocument::render(&mut records.clone());
        self.packages
            .iter()
            .map(|(name, records)| (name.clone(), render(records)))
            .collect()
    }

    fn lines(documents: &BTreeMap<PackageName, IndexDocument>) -> Vec<String> {
        documents
            .iter()
            .map(|(name, document)| {
                let line = NamesLine {
                    name: name.clone(),
                    sha256: document.digest,
                };
                line.to_line()
            })
            .collect()
    }

    fn tree(lines: &[String]) -> MerkleTree {
        MerkleTree::new(
            lines
                .iter()
                .map(|line| leaf_hash(line.as_bytes()))
                .collect(),
        )
    }

    fn snapshot(&self) -> Option<SignedSnapshot> {
        let lines = Self::lines(&self.documents());
        let snapshot = Snapshot {
            registry: "11111111-2222-3333-4444-555555555555".to_owned(),
            serial: self.serial,
            names: lines.len() as u64,
            root: Self::tree(&lines).root(),
            issued: "2026-01-01T00:00:00Z".parse().expect("a time"),
            expires: self.expires,
        };
        let key = self.key.as_ref()?;
        Some(SignedSnapshot::sign(&snapshot, &[key]))
    }

    /// Answers as the protocol says.
    pub(crate) fn answer(&self, request: &Received) -> Reply {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let json = |text: String| Reply::new(200, text);
        if path == "/index/config.json" {
            let mut config = Config::of_server(Vec::new());
            if self.is_mirror {
                (config.batch, config.changes, config.api) = (None, None, None);
            }
            if self.key.is_none() {
                config.snapshot = None;
            }
            return json(config.to_json());
        }
        if path == "/index/v1/snapshot.json" {
            return match self.snapshot() {
                Some(signed) => json(signed.to_json()),
                None => Reply::new(404, ""),
            };
        }
        let documents = self.documents();
        if path == "/index/v1/names.ndjson" {
            let text: String = Self::lines(&documents)
                .iter()
                .map(|line| format!("{line}\n"))
                .collect();
            return conditional(request, text.into_bytes());
        }
        if let Some(escaped) = path.strip_prefix("/index/v1/packages/") {
            let escaped = escaped.strip_suffix(".ndjson").unwrap_or(escaped);
            let asked_for = unescape_name(escaped).map(|text| name(&text));
            return match asked_for.and_then(|name| documents.get(&name).cloned()) {
                Some(document) => conditional(request, document.bytes),
                None => Reply::new(404, ""),
            };
        }
        if let Some(digest) = path.strip_prefix("/blobs/sha256/") {
            let digest = Digest::parse(digest).ok();
            return match digest.and_then(|digest| self.blobs.get(&digest)) {
                Some(bytes) => Reply::new(200, bytes.clone()),
                None => Reply::new(404, ""),
            };
        }
        if path == "/index/v1/changes" && !self.is_mirror {
            return json(self.changes_since(query));
        }
        if path == "/index/v1/batch" && request.method == "POST" && !self.is_mirror {
            return Reply::new(200, self.batch(&request.body, &documents));
        }
        Reply::new(404, "")
    }

    fn changes_since(&self, query: &str) -> String {
        let since: u64 = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("since="))
            .and_then(|since| since.parse().ok())
            .expect("a serial");
        let changes: Vec<serde_json::Value> = self
            .changes
            .iter()
            .filter(|(serial, _)| *serial > since)
            .map(|(serial, name)| {
                serde_json::json!({
                    "serial": serial, "kind": "publish", "name": name, "version": "1.0.0",
                    "at": "2026-01-01T00:00:00Z",
                })
            })
            .collect();
        let mut answer = serde_json::json!({"serial": self.serial, "changes": changes});
        if let Some(snapshot) = self.snapshot() {
            answer["snapshot"] = serde_json::to_value(snapshot).expect("texts");
        }
        answer.to_string()
    }

    fn batch(&self, body: &[u8], documents: &BTreeMap<PackageName, IndexDocument>) -> Vec<u8> {
        let request = BatchRequest::parse(body, 10_000).expect("a batch request");
        let lines = Self::lines(documents);
        let tree = Self::tree(&lines);
        let places: BTreeMap<&PackageName, usize> = documents
            .keys()
            .enumerate()
            .map(|(at, name)| (name, at))
            .collect();
        let mut wave: Vec<PackageName> = request.names.keys().cloned().collect();
        let mut requested: BTreeSet<PackageName> = wave.iter().cloned().collect();
        let mut answer = Vec::new();
        let (mut answered, mut truncated) = (0, Vec::new());
        while !wave.is_empty() {
            let mut next = BTreeSet::new();
            for name in wave {
                let Some(document) = documents.get(&name) else {
                    let behind = documents.keys().filter(|other| **other < name).count();
                    let places = behind.checked_sub(1).into_iter().chain([behind]);
                    let neighbour = |at: usize| {
                        let (other, document) = documents.iter().nth(at)?;
                        Some(Neighbour {
                            name: other.clone(),
                            sha256: document.digest,
                            index: at as u64,
                            proof: tree.audit_path(at)?,
                        })
                    };
                    let places = places.filter(|_| self.key.is_some() && self.proves_absence);
                    let beside = places.filter_map(neighbour).collect();
                    if self.proves_absence || request.names.contains_key(&name) {
                        Frame::Absent { name, beside }.encode(&mut answer);
                    }
                    continue;
                };
                if answered == self.room {
                    truncated.push(name);
                    continue;
                }
                answered += 1;
                let proof = self.key.as_ref().map(|_| Proof {
                    index: places[&name] as u64,
                    path: tree.audit_path(places[&name]).expect("a leaf"),
                });
                if request.names.get(&name) == Some(&Some(document.digest)) {
                    let (name, sha256) = (name.clone(), document.digest);
                    Frame::Unchanged {
                        name,
                        sha256,
                        proof,
                    }
                    .encode(&mut answer);
                } else {
                    Frame::changed(name.clone(), document.bytes.clone(), proof).encode(&mut answer);
                }
                for record in &self.packages[&name] {
                    for requirement in &record.requirements {
                        if request.closure && requested.insert(requirement.package.clone()) {
                            next.insert(requirement.package.clone());
                        }
                    }
                }
            }
            wave = next.into_iter().collect();
        }
        if !truncated.is_empty() {
            Frame::Truncated { names: truncated }.encode(&mut answer);
        }
        let (serial, snapshot) = (self.serial, self.snapshot());
        Frame::Complete { serial, snapshot }.encode(&mut answer);
        answer
    }
}

fn conditional(request: &Received, body: Vec<u8>) -> Reply {
    let tag = Digest::of(&body).to_etag();
    if request.headers.get("if-none-match") == Some(&tag) {
        return Reply::new(304, "").with("etag", &tag);
    }
    Reply::new(200, body).with("etag", &tag)
}
