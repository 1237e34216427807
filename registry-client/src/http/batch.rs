//! Fetches index documents and all that they require in one request.
//!
//! Documents are read by other threads while the rest of the response arrives, but nothing is taken over before the
//! whole response was verified.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use pkgres_manifest::PackageName;
use reqwest::Method;

use crate::protocol::{
    BatchRequest, Config, Digest, Frame, FrameDecoder, FrameError, FrameLimits, MAX_BATCH_NAMES,
    MAX_DOCUMENT_BYTES, Neighbour, Proof, SignedSnapshot, Snapshot,
};
use crate::registry_error::RegistryError;

use super::HttpRegistry;
use super::document::{Document, ReadingQueue};
use super::error::{AttemptError, ErrorKind};
use super::network_limits::NetworkLimits;
use super::reading::Reading;
use super::request::Request;
use super::response::Reader;
use super::trust::{InclusionVerifier, TrustError};

/// The limit of the response to a batch request, in bytes.
const MAX_BATCH_BYTES: u64 = 512 << 20;

/// The response to a batch request.
struct BatchResponse {
    parts: Vec<Part>,
    serial: u64,
    snapshot: Option<SignedSnapshot>,
}

/// The response for a package, or for several.
enum Part {
    Changed {
        name: PackageName,
        document: Arc<Document>,
        proof: Option<Proof>,
    },
    Unchanged {
        name: PackageName,
        sha256: Digest,
        proof: Option<Proof>,
    },
    Absent {
        name: PackageName,
        beside: Vec<Neighbour>,
    },
    Truncated {
        names: Vec<PackageName>,
    },
}

impl HttpRegistry {
    /// Fetches packages and all that they require, in as many requests as the registry needs.
    pub(super) fn fetch_batches(
        &self,
        reading: &mut Reading,
        config: &Config,
        address: &str,
        names: Vec<PackageName>,
    ) -> Result<(), RegistryError> {
        let limit = usize::try_from(config.limits.batch_names)
            .unwrap_or(usize::MAX)
            .clamp(1, MAX_BATCH_NAMES);
        let mut wanted: BTreeSet<PackageName> = names.into_iter().collect();
        while !wanted.is_empty() {
            let now: Vec<PackageName> = wanted.iter().take(limit).cloned().collect();
            let mut batch = BatchRequest {
                names: BTreeMap::new(),
                closure: true,
            };
            // A document that did not change need not be sent again.
            for name in reading.reachable(now.iter().cloned(), limit) {
                let digest = reading.document(&name).map(|document| document.sha256);
                // It is sorted, as it comes from a set.
                if digest.is_some() || now.binary_search(&name).is_ok() {
                    batch.names.insert(name, digest);
                }
            }
            let response = self.send_batch(reading, address, &batch)?;
            let truncated = self.apply_response(reading, &batch, response)?;
            if reading.answered > self.transport.options.limits.packages {
                return Err(self.transport.error(self.too_many_packages()));
            }
            wanted.extend(truncated);
            wanted.retain(|name| !reading.is_fresh(name));
            // It may leave more names out than it answers, but has to answer some.
            if now.iter().all(|name| wanted.contains(name)) {
                return Err(self
                    .transport
                    .unreachable(format!("it did not answer whether it has {}", now[0])));
            }
        }
        Ok(())
    }

    /// Sends a request and verifies the response.
    fn send_batch(
        &self,
        reading: &mut Reading,
        address: &str,
        batch: &BatchRequest,
    ) -> Result<VerifiedResponse, RegistryError> {
        let request = Request {
            method: Method::POST,
            body: Some((Arc::new(batch.to_json().into_bytes()), "application/json")),
            ..Request::get(self.url(address)?, MAX_BATCH_BYTES)
        };
        let threads = self.transport.options.threads.get();
        let (limits, answered) = (self.transport.options.limits, reading.answered);
        let mut reader = reading.another_reader();
        ReadingQueue::read_during(threads, &mut reader, |queue| {
            let begin = || BatchReader::new(queue, limits, answered);
            let response = self
                .transport
                .wait(self.transport.stream(&request, begin))?;
            self.verify_response(reading, response)
        })
    }

    /// Verifies a whole response.
    fn verify_response(
        &self,
        reading: &mut Reading,
        response: BatchResponse,
    ) -> Result<VerifiedResponse, RegistryError> {
        let BatchResponse {
            parts,
            serial,
            snapshot,
        } = response;
        let snapshot = self.verify_state(reading, snapshot.as_ref(), Some(serial))?;
        if let Some(snapshot) = &snapshot {
            check_parts(snapshot, &parts).map_err(|distrust| {
                distrust.to_diagnostic(&self.transport.name, &self.transport.address)
            })?;
        }
        Ok(VerifiedResponse {
            parts,
            serial,
            root: snapshot.map(|snapshot| snapshot.root),
        })
    }

    /// Stores a verified response. Returns the names that the registry left out because of a limit.
    fn apply_response(
        &self,
        reading: &mut Reading,
        batch: &BatchRequest,
        response: VerifiedResponse,
    ) -> Result<Vec<PackageName>, RegistryError> {
        let VerifiedResponse {
            parts,
            serial,
            root,
        } = response;
        (reading.serial, reading.root) = (serial, root);
        let mut truncated = Vec::new();
        let mut received = Vec::new();
        for part in parts {
            match part {
                Part::Changed { name, document, .. } => {
                    received.push(name.clone());
                    reading.set(name, Some(document), serial);
                }
                Part::Unchanged { name, sha256, .. } => {
                    if batch.names.get(&name) != Some(&Some(sha256)) {
                        return Err(self.transport.unreachable(format!(
                            "it says that the document of {name} did not change, which is not in the cache"
                        )));
                    }
                    if let Some(entry) = reading.entries.get_mut(&name) {
                        (entry.is_fresh, entry.serial) = (true, serial);
                    }
                    received.push(name);
                }
                Part::Absent { name, .. } => reading.set(name, None, serial),
                Part::Truncated { names } => truncated.extend(names),
            }
        }
        // A required package that is neither answered nor left out does not exist. A registry that signs has
        // to prove that.
        let left_out: BTreeSet<&PackageName> = truncated.iter().collect();
        for name in &received {
            for required in reading.required_by(name).iter() {
                if reading.is_fresh(required) || left_out.contains(required) {
                    continue;
                }
                if root.is_some() {
                    let distrust = TrustError::AbsenceNotProved(required.clone());
                    return Err(distrust
                        .to_diagnostic(&self.transport.name, &self.transport.address)
                        .into());
                }
                reading.set(required.clone(), None, serial);
            }
        }
        Ok(truncated)
    }
}

/// A response that was verified as a whole.
struct VerifiedResponse {
    parts: Vec<Part>,
    serial: u64,
    root: Option<Digest>,
}

fn check_parts(snapshot: &Snapshot, parts: &[Part]) -> Result<(), TrustError> {
    let mut belonging = InclusionVerifier::new(snapshot);
    for part in parts {
        match part {
            Part::Changed {
                name,
                document,
                proof,
            } => belonging.check(name, document.sha256, proof.as_ref())?,
            Part::Unchanged {
                name,
                sha256,
                proof,
            } => belonging.check(name, *sha256, proof.as_ref())?,
            Part::Absent { name, beside } => belonging.check_absence(name, beside)?,
            Part::Truncated { .. } => {}
        }
    }
    Ok(())
}

/// The response to a batch request while it arrives. Its documents have the announced digests and are read at once;
/// whether they belong to the signed state is verified at the end.
struct BatchReader<'queue> {
    queue: &'queue ReadingQueue,
    decoder: FrameDecoder,
    limits: NetworkLimits,
    /// The number of packages that earlier responses answered.
    before: usize,
    parts: Vec<Part>,
    end: Option<(u64, Option<SignedSnapshot>)>,
}

impl<'queue> BatchReader<'queue> {
    fn new(queue: &'queue ReadingQueue, limits: NetworkLimits, before: usize) -> Self {
        let frame_limits = FrameLimits {
            document_bytes: MAX_DOCUMENT_BYTES,
            ..FrameLimits::default()
        };
        Self {
            queue,
            decoder: FrameDecoder::new(frame_limits),
            limits,
            before,
            parts: Vec::new(),
            end: None,
        }
    }
}

impl Reader for BatchReader<'_> {
    type Output = BatchResponse;

    fn take(&mut self, piece: Bytes) -> Result<(), AttemptError> {
        self.decoder.push(piece);
        let mut arrived = Vec::new();
        while let Some(frame) = self
            .decoder
            .next_frame()
            .map_err(|error| attempt_error(&error))?
        {
            self.parts.push(match frame {
                Frame::Complete { serial, snapshot } => {
                    self.end = Some((serial, snapshot));
                    continue;
                }
                Frame::Changed {
                    name,
                    sha256,
                    document,
                    proof,
                } => {
                    let document = Arc::new(Document::new(sha256, document));
                    arrived.push((name.clone(), Arc::clone(&document)));
                    Part::Changed {
                        name,
                        document,
                        proof,
                    }
                }
                Frame::Unchanged {
                    name,
                    sha256,
                    proof,
                } => Part::Unchanged {
                    name,
                    sha256,
                    proof,
                },
                Frame::Absent { name, beside } => Part::Absent { name, beside },
                Frame::Truncated { names } => Part::Truncated { names },
            });
        }
        if !arrived.is_empty() {
            self.queue.add(arrived);
        }
        if self.before + self.parts.len() > self.limits.packages {
            return Err(self.limits.too_many_packages());
        }
        Ok(())
    }

    fn finish(self) -> Result<BatchResponse, AttemptError> {
        self.decoder
            .finish()
            .map_err(|error| attempt_error(&error))?;
        let cut_off = || AttemptError::transient(ErrorKind::Unreachable, "the answer was cut off");
        let (serial, snapshot) = self.end.ok_or_else(cut_off)?;
        Ok(BatchResponse {
            parts: self.parts,
            serial,
            snapshot,
        })
    }
}

fn attempt_error(error: &FrameError) -> AttemptError {
    match error {
        FrameError::Digest { .. } => AttemptError::transient(ErrorKind::Digest, error.to_string()),
        FrameError::CutOff { .. } => {
            AttemptError::transient(ErrorKind::Unreachable, error.to_string())
        }
        FrameError::Malformed(_) | FrameError::Limit { .. } => {
            AttemptError::new(ErrorKind::Malformed, error.to_string())
        }
    }
}
