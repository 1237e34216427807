//! The cache of collections on disk: the releases that a server describes, and the records of artifacts.
//!
//! Descriptions are kept by server and collection. Records with classes are kept by the digest of their artifact, so that
//! an artifact is read once, whatever server it comes from. Damaged files count as absent.

use std::path::{Path, PathBuf};

use pkgres_files::{Follow, RealFileSystem, read_file, write_cache_file};
use pkgres_formats::ansible::ECOSYSTEM;
use pkgres_manifest::{IndexRecord, Limits, PackageName, read_json};

use crate::protocol::Digest;

use super::super::address::Address;
use super::documents::DescribedRelease;

/// The format of the files, raised with every change.
const FORMAT: u32 = 1;

/// The first line of the file of a record: records depend on how pkgres reads modules.
const RECORD_HEAD: &str = concat!("record 4 ", env!("CARGO_PKG_VERSION"));

/// The largest file, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// A release of a collection: what the server says, or what is wrong with that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownRelease {
    pub(super) version: String,
    /// What changes if the release does; empty if that is not known.
    pub(super) stamp: String,
    pub(super) description: Result<DescribedRelease, String>,
}

/// The releases of a collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KnownCollection {
    /// When the collection changed last, as the server says.
    pub(super) updated_at: Option<String>,
    pub(super) releases: Vec<KnownRelease>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct CollectionFile {
    format: u32,
    address: String,
    name: String,
    updated_at: Option<String>,
    releases: Vec<ReleaseEntry>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct ReleaseEntry {
    version: String,
    stamp: String,
    record: Option<String>,
    download_url: Option<String>,
    fault: Option<String>,
}

/// The files of one server in the folder of the cache.
#[derive(Debug, Clone)]
pub(super) struct GalaxyCache {
    folder: PathBuf,
    address: String,
}

impl GalaxyCache {
    pub(super) fn new(cache: &Path, address: &Address) -> Self {
        Self {
            folder: cache.join("galaxy"),
            address: address.as_str().to_owned(),
        }
    }

    fn collection_path(&self, name: &PackageName) -> PathBuf {
        let server = Digest::of(self.address.as_bytes()).to_string();
        let folder = self.folder.join("servers").join(server);
        folder.join(format!("{name}.json"))
    }

    fn record_path(&self, digest: &Digest) -> PathBuf {
        let digits = digest.to_string();
        self.folder.join("records").join(&digits[..2]).join(digits)
    }

    /// The releases of a collection, as an earlier run stored them.
    pub(super) fn collection(
        &self,
        name: &PackageName,
        limits: &Limits,
    ) -> Option<KnownCollection> {
        let bytes = read_file(&self.collection_path(name), MAX_BYTES, Follow::Nothing).ok()?;
        let file: CollectionFile = read_json(&bytes).ok()?;
        if file.format != FORMAT || file.address != self.address || file.name != name.as_str() {
            return None;
        }
        let releases = file.releases.into_iter().map(|entry| {
            let description = match (entry.fault, entry.record, entry.download_url) {
                (Some(fault), ..) => Err(fault),
                (None, Some(line), Some(download_url)) => {
                    let record = ECOSYSTEM.read_record(&line, limits).ok()?;
                    Ok(DescribedRelease {
                        record,
                        download_url,
                    })
                }
                _ => return None,
            };
            Some(KnownRelease {
                version: entry.version,
                stamp: entry.stamp,
                description,
            })
        });
        Some(KnownCollection {
            updated_at: file.updated_at,
            releases: releases.collect::<Option<_>>()?,
        })
    }

    /// Stores the releases of a collection. A cache that cannot be written costs requests, nothing else.
    pub(super) fn store_collection(&self, name: &PackageName, collection: &KnownCollection) {
        let releases = collection.releases.iter().map(|release| {
            let described = release.description.as_ref();
            ReleaseEntry {
                version: release.version.clone(),
                stamp: release.stamp.clone(),
                record: described.ok().map(|described| described.record.to_line()),
                download_url: described
                    .ok()
                    .map(|described| described.download_url.clone()),
                fault: described.err().cloned(),
            }
        });
        let file = CollectionFile {
            format: FORMAT,
            address: self.address.clone(),
            name: name.as_str().to_owned(),
            updated_at: collection.updated_at.clone(),
            releases: releases.collect(),
        };
        if let Ok(bytes) = serde_json::to_vec(&file) {
            let _ = write_cache_file(&RealFileSystem, &self.collection_path(name), &bytes);
        }
    }

    /// The record of an artifact that was read before.
    pub(super) fn record(&self, digest: &Digest, limits: &Limits) -> Option<IndexRecord> {
        let bytes = read_file(&self.record_path(digest), MAX_BYTES, Follow::Nothing).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (head, rest) = text.split_once('\n')?;
        let (sum, line) = rest.split_once('\n')?;
        if head != RECORD_HEAD || sum != Digest::of(line.as_bytes()).to_string() {
            return None;
        }
        ECOSYSTEM.read_record(line, limits).ok()
    }

    /// Stores the record of an artifact.
    pub(super) fn store_record(&self, digest: &Digest, record: &IndexRecord) {
        let line = record.to_line();
        let sum = Digest::of(line.as_bytes());
        let text = format!("{RECORD_HEAD}\n{sum}\n{line}");
        let _ = write_cache_file(&RealFileSystem, &self.record_path(digest), text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::Version;

    use super::*;

    #[test]
    fn what_was_stored_is_read_and_damage_counts_as_absent() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let address = Address::parse("https://galaxy.example/").expect("an address");
        let cache = GalaxyCache::new(folder.path(), &address);
        let limits = Limits::default();
        let name = PackageName::native("acme.web").expect("a name");
        let mut record = IndexRecord::new(name.clone(), Version::new(1, 2, 0));
        record.ecosystem = ECOSYSTEM;
        let collection = KnownCollection {
            updated_at: Some("2026".to_owned()),
            releases: vec![
                KnownRelease {
                    version: "1.2.0".to_owned(),
                    stamp: "x".to_owned(),
                    description: Ok(DescribedRelease {
                        record: record.clone(),
                        download_url: "/a".to_owned(),
                    }),
                },
                KnownRelease {
                    version: "1.x".to_owned(),
                    stamp: String::new(),
                    description: Err("no version".to_owned()),
                },
            ],
        };
        assert_eq!(cache.collection(&name, &limits), None);
        cache.store_collection(&name, &collection);
        assert_eq!(cache.collection(&name, &limits), Some(collection));
        let other = Address::parse("https://other.example/").expect("an address");
        let other = GalaxyCache::new(folder.path(), &other);
        assert_eq!(other.collection(&name, &limits), None);

        let digest = Digest::of(b"artifact");
        assert_eq!(cache.record(&digest, &limits), None);
        cache.store_record(&digest, &record);
        assert_eq!(other.record(&digest, &limits), Some(record));
        for (path, find) in [
            (cache.record_path(&digest), "1.2.0"),
            (cache.collection_path(&name), "\"format\":1"),
        ] {
            let text = std::fs::read_to_string(&path).expect("it was written");
            let damaged = text.replace(find, "1.3.0");
            assert_ne!(text, damaged);
            write_cache_file(&RealFileSystem, &path, damaged.as_bytes()).expect("it is ours");
        }
        assert_eq!(cache.record(&digest, &limits), None);
        assert_eq!(cache.collection(&name, &limits), None);
    }
}
