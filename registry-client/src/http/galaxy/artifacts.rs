//! Artifacts of a server, and the records in them.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, stream};
use pkgres_formats::ansible::{ANSIBLE_CORE, Collections};
use pkgres_formats::{Format as _, FormatFile, unread_parts};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{IndexRecord, PackageName, Release, Spec, Version};

use crate::artifact::{TakeArtifact, WantedArtifact};
use crate::protocol::Digest;
use crate::registry_error::RegistryError;
use crate::threads::lock;

use super::super::download::ArtifactDownloads;
use super::super::error::RequestError;
use super::super::mirror::with_digest;
use super::super::request::Request;
use super::super::response::Reply;
use super::GalaxyRegistry;
use super::documents::{DescribedRelease, malformed};

/// The most releases that are completed because the one that was asked for may not fit.
const MOST_AHEAD: usize = 16;

/// A release whose artifact is to be read.
#[derive(Debug, Clone)]
struct Draft {
    name: PackageName,
    version: Version,
    release: DescribedRelease,
    digest: Digest,
    /// Whether it was asked for, and not read ahead.
    is_wanted: bool,
}

impl GalaxyRegistry {
    /// Reads the artifacts of releases whose records are drafts; returns whether there were any.
    ///
    /// **Why releases are completed late.** A server does not say which modules a collection has; that is in its
    /// artifacts, of which popular collections have hundreds of megabytes. A draft counts as a release that has every
    /// module and imports none, so that more is possible with drafts than with whole records: what is impossible with
    /// drafts is impossible, and an answer without drafts is right. The solver is asked, what it chose is completed,
    /// and it is asked again until it chooses no draft.
    ///
    /// If a collection is asked for repeatedly, its newer releases lack something. Each time twice as many older ones
    /// are read ahead, so that the number of rounds grows with the logarithm of their number.
    pub(super) fn complete_drafts(&self, releases: &[Release]) -> Result<bool, RegistryError> {
        let drafts = self.drafts(releases);
        if drafts.is_empty() {
            return Ok(false);
        }
        let downloads = self.artifact_downloads();
        let mut missing = Vec::new();
        for draft in drafts {
            if let Some(record) = self.cached_record(&draft) {
                self.settle(&draft, Some(record));
            } else if let Some(bytes) = downloads.cached(&draft.digest) {
                self.read_record(&draft, &bytes);
            } else if !self.transport.options.offline {
                missing.push(draft);
            } else if draft.is_wanted {
                return Err(self.transport.release_offline(&draft.name, &draft.version));
            }
        }
        self.transport.wait(async {
            let mut arriving = stream::iter(missing)
                .map(|draft| async {
                    let bytes = self.download(&draft.release, draft.digest).await;
                    (draft, bytes)
                })
                .buffered(downloads.at_once());
            while let Some((draft, bytes)) = arriving.next().await {
                match bytes {
                    Ok(Some(bytes)) => {
                        // A cache that cannot be written costs another download, nothing else.
                        let _ = downloads.keep(&draft.digest, &bytes);
                        self.read_record(&draft, &bytes);
                    }
                    Ok(None) => {
                        let reason = "the server does not have its artifact";
                        self.leave_out(&draft.name, &draft.version.to_string(), reason);
                        self.settle(&draft, None);
                    }
                    Err(error) if draft.is_wanted => return Err(error),
                    // It is requested again if it is asked for.
                    Err(_) => {}
                }
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// The drafts among some releases, and those to read ahead.
    fn drafts(&self, releases: &[Release]) -> Vec<Draft> {
        let collections = lock(&self.collections);
        let completed = lock(&self.completed);
        let mut rounds = lock(&self.rounds);
        let mut drafts = Vec::new();
        let wanted: BTreeSet<&Release> = releases.iter().collect();
        for Release { name, version } in wanted {
            let Some(Some(collection)) = collections.get(name) else {
                continue;
            };
            let described = collection.releases.iter();
            let described = described.filter_map(|release| release.description.as_ref().ok());
            let mut older: Vec<(&DescribedRelease, Digest)> = described
                .filter(|release| release.record.version <= *version)
                .filter_map(|release| Some((release, Digest::of_record(&release.record)?)))
                .filter(|(_, digest)| !completed.contains_key(digest))
                .collect();
            older.sort_by(|(one, _), (two, _)| two.record.version.cmp(&one.record.version));
            if older
                .first()
                .is_none_or(|(release, _)| release.record.version != *version)
            {
                continue;
            }
            // Whoever asks for several versions knows which ones.
            let mut several = releases
                .iter()
                .filter(|Release { name: other, .. }| other == name);
            let count = if several.nth(1).is_some() {
                1
            } else {
                let round = rounds.entry(name.clone()).or_insert(0);
                *round += 1;
                1_usize.checked_shl(*round - 1).unwrap_or(MOST_AHEAD)
            };
            for (release, digest) in older.into_iter().take(count.min(MOST_AHEAD)) {
                drafts.push(Draft {
                    name: name.clone(),
                    version: release.record.version.clone(),
                    release: release.clone(),
                    digest,
                    is_wanted: release.record.version == *version,
                });
            }
        }
        drafts
    }

    fn cached_record(&self, draft: &Draft) -> Option<IndexRecord> {
        let cache = self.cache.as_ref()?;
        let record = cache.record(&draft.digest, &self.read_options.limits)?;
        is_of(&record, draft).then_some(record)
    }

    /// Reads the record of an artifact. One that cannot be read leaves its release out.
    fn read_record(&self, draft: &Draft, bytes: &[u8]) {
        let path = format!(
            "registry {}/{}",
            self.transport.name,
            Collections.artifact_name(&draft.name, &draft.version)
        );
        let file = FormatFile { path: &path, bytes };
        let read = Collections.read_releases(&file, &(), &self.read_options);
        let is_whole;
        let record = match read.into_result() {
            Ok((releases, findings)) => {
                let unread = unread_parts(findings);
                is_whole = unread.is_empty();
                lock(&self.findings).extend(unread);
                releases.into_iter().next().map(|release| release.record)
            }
            Err(errors) => {
                let error = errors.iter().find(|error| error.is_error());
                let reason = error.map_or("it cannot be read", |error| &error.message);
                self.leave_out(&draft.name, &draft.version.to_string(), reason);
                return self.settle(draft, None);
            }
        };
        let Some(mut record) = record.filter(|record| is_of(record, draft)) else {
            let reason = "its artifact is one of another release";
            self.leave_out(&draft.name, &draft.version.to_string(), reason);
            return self.settle(draft, None);
        };
        let described = required_collections(&draft.release.record);
        let read = required_collections(&record);
        if described != read {
            let message = format!(
                "the server says that {} {} requires {}, and its artifact requires {}",
                draft.name,
                draft.version,
                shown_requirements(&described),
                shown_requirements(&read),
            );
            lock(&self.findings).push(Diagnostic::warning(Code::Digest, message));
        }
        record.published.clone_from(&draft.release.record.published);
        // What is missing has to be said each time.
        if let Some(cache) = self.cache.as_ref().filter(|_| is_whole) {
            cache.store_record(&draft.digest, &record);
        }
        self.settle(draft, Some(record));
    }

    /// Remembers the record of an artifact; `None` leaves the release out.
    fn settle(&self, draft: &Draft, record: Option<IndexRecord>) {
        lock(&self.completed).insert(draft.digest, record);
    }

    /// Downloads the artifact of a release; `None` if the server does not have it.
    async fn download(
        &self,
        release: &DescribedRelease,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, RequestError> {
        let url = self.join(self.transport.address.url(), &release.download_url)?;
        if self.transport.address.url().scheme() == "https" && url.scheme() != "https" {
            let reason = "an artifact would be downloaded without encryption";
            return Err(self.failed(malformed(reason)));
        }
        let request = Request::artifact(url, self.read_options.limits.archive_bytes);
        let check = |reply: Reply| match reply {
            Reply::Absent => Ok(None),
            reply => with_digest(reply.body()?, digest).map(Some),
        };
        self.transport.send(&request, check).await
    }

    /// The artifact of a locked release, from the server.
    async fn download_locked(
        &self,
        wanted: &WantedArtifact<'_>,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, RequestError> {
        if let Some(release) = self.known_release(wanted.package, &digest) {
            return self.download(&release, digest).await;
        }
        let version = wanted.version.to_string();
        let found = self.fetch_one_release(wanted.package, &version).await?;
        match found.map(|found| found.description) {
            Some(Ok(release)) if release.record.digest == Some(wanted.digest) => {
                self.download(&release, digest).await
            }
            // An artifact other than the locked one does not count.
            Some(Ok(_)) | None => Ok(None),
            Some(Err(reason)) => Err(self.failed(malformed(reason))),
        }
    }

    /// A release with a digest, as far as it is known without asking the server.
    fn known_release(&self, name: &PackageName, digest: &Digest) -> Option<DescribedRelease> {
        let loaded = lock(&self.collections).get(name).cloned().flatten();
        let collection = loaded.or_else(|| self.cached_collection(name))?;
        let mut described = collection
            .releases
            .into_iter()
            .filter_map(|release| release.description.ok());
        described.find(|release| Digest::of_record(&release.record) == Some(*digest))
    }

    /// Reads artifacts from the cache, and downloads the others into it, several at once.
    pub(super) fn take_artifacts(&self, wanted: &[WantedArtifact<'_>], take: TakeArtifact<'_>) {
        let downloads = self.artifact_downloads();
        let Some(missing) = downloads.take_cached(wanted, take) else {
            return;
        };
        let first = missing.first();
        let download = |digest, at: usize| self.download_locked(&wanted[at], digest);
        // The credentials could not be looked up.
        if let Err(error) = downloads.take_missing(missing, download, take) {
            let _ = take(first, Err(error));
        }
    }

    fn artifact_downloads(&self) -> ArtifactDownloads<'_> {
        ArtifactDownloads {
            transport: &self.transport,
            cache: self.artifact_cache.clone(),
            limits: &self.read_options.limits,
            of_class_packages: false,
        }
    }
}

/// The collections that a release requires, with the ranges.
fn required_collections(record: &IndexRecord) -> BTreeMap<&PackageName, &Spec> {
    let requirements = record.requirements.iter();
    let requirements = requirements.filter(|one| one.package.as_str() != ANSIBLE_CORE);
    requirements.map(|one| (&one.package, &one.spec)).collect()
}

fn shown_requirements(requirements: &BTreeMap<&PackageName, &Spec>) -> String {
    if requirements.is_empty() {
        return "no collection".to_owned();
    }
    let pairs = requirements.iter();
    let pairs: Vec<String> = pairs
        .map(|(name, range)| format!("{name} {}", range.written()))
        .collect();
    Escaped::shortened(&pairs.join(", ")).to_string()
}

/// Whether a record is that of a draft.
fn is_of(record: &IndexRecord, draft: &Draft) -> bool {
    record.name == draft.name && record.version == draft.version
}
