//! Fetching many index documents, and what they require, in one request.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use pkgres_manifest::PackageName;
use reqwest::Method;

use crate::protocol::{
    BatchRequest, Config, Digest, Frame, FrameDecoder, FrameError, FrameLimits, MAX_BATCH_NAMES,
    Neighbour, Proof, SignedSnapshot, Snapshot,
};
use crate::registry::RegistryError;

use super::HttpRegistry;
use super::answer::Reader;
use super::ask::Ask;
use super::document::{Document, ReadingQueue};
use super::fault::{Fault, FaultKind};
use super::mirror::MAX_DOCUMENT_BYTES;
use super::session::Session;
use super::trust::{Belonging, Distrust};

/// The largest answer to a batch request that is taken, in bytes.
const MAX_BATCH_BYTES: u64 = 512 << 20;

/// The answer to a batch request.
struct Answer {
    parts: Vec<Part>,
    serial: u64,
    snapshot: Option<SignedSnapshot>,
}

/// What is answered of a package, or of several.
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
    /// Fetches packages, and what they require, until all that was asked is known.
    pub(super) fn fetch_batches(
        &self,
        session: &mut Session,
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
            let mut request = BatchRequest {
                names: BTreeMap::new(),
                closure: true,
            };
            // What is at hand need not come again.
            for name in session.reachable(now.iter().cloned(), limit) {
                let digest = session.document(&name).map(|document| document.sha256);
                if digest.is_some() || now.contains(&name) {
                    request.names.insert(name, digest);
                }
            }
            let answer = self.ask_batch(session, address, &request)?;
            let before = wanted.len();
            let truncated = self.take_answer(session, &request, answer)?;
            wanted.extend(truncated);
            wanted.retain(|name| !session.is_fresh(name));
            if wanted.len() >= before && now.iter().any(|name| wanted.contains(name)) {
                return Err(self.transport.unreachable(format!(
                    "it was asked for {} and did not say whether it has it",
                    now[0]
                )));
            }
        }
        Ok(())
    }

    /// Sends a request, and gives the answer if it can be believed.
    fn ask_batch(
        &self,
        session: &mut Session,
        address: &str,
        request: &BatchRequest,
    ) -> Result<Believed, RegistryError> {
        let ask = Ask {
            method: Method::POST,
            url: self.url(address)?,
            at_hand: None,
            body: Some((Rc::new(request.to_json().into_bytes()), "application/json")),
            limit: MAX_BATCH_BYTES,
            newest: false,
        };
        let threads = self.transport.options.threads.get();
        let mut reader = session.another_reader();
        ReadingQueue::read_during(threads, &mut reader, |queue| {
            let begin = || Arriving::new(queue);
            let answer = self.transport.wait(self.transport.stream(&ask, begin))?;
            self.check_answer(session, answer)
        })
    }

    /// Looks at a whole answer before any of it is believed.
    fn check_answer(
        &self,
        session: &mut Session,
        answer: Answer,
    ) -> Result<Believed, RegistryError> {
        let Answer {
            parts,
            serial,
            snapshot,
        } = answer;
        let snapshot = self.believe(session, snapshot.as_ref(), Some(serial))?;
        if let Some(snapshot) = &snapshot {
            check_parts(snapshot, &parts)
                .map_err(|distrust| distrust.to_diagnostic(&self.transport.name))?;
        }
        Ok(Believed {
            parts,
            serial,
            root: snapshot.map(|snapshot| snapshot.root),
        })
    }

    /// Takes over what was answered. Gives the names that there was no room for.
    fn take_answer(
        &self,
        session: &mut Session,
        request: &BatchRequest,
        answer: Believed,
    ) -> Result<Vec<PackageName>, RegistryError> {
        let Believed {
            parts,
            serial,
            root,
        } = answer;
        (session.serial, session.root) = (serial, root);
        let mut truncated = Vec::new();
        let mut answered = Vec::new();
        for part in parts {
            match part {
                Part::Changed { name, document, .. } => {
                    answered.push(name.clone());
                    session.set(name, Some(document), serial);
                }
                Part::Unchanged { name, sha256, .. } => {
                    if request.names.get(&name) != Some(&Some(sha256)) {
                        return Err(self.transport.unreachable(format!(
                            "it says that a document of {name} did not change that is not at hand"
                        )));
                    }
                    if let Some(entry) = session.entries.get_mut(&name) {
                        (entry.is_fresh, entry.serial) = (true, serial);
                    }
                    answered.push(name);
                }
                Part::Absent { name, .. } => session.set(name, None, serial),
                Part::Truncated { names } => truncated.extend(names),
            }
        }
        // A closure has everything that is required, unless it says otherwise; which has to be
        // proved where the registry signs.
        let left_out: BTreeSet<&PackageName> = truncated.iter().collect();
        for name in &answered {
            for required in session.required_by(name).iter() {
                if session.is_fresh(required) || left_out.contains(required) {
                    continue;
                }
                if root.is_some() {
                    let distrust = Distrust::AbsenceNotProved(required.clone());
                    return Err(distrust.to_diagnostic(&self.transport.name).into());
                }
                session.set(required.clone(), None, serial);
            }
        }
        Ok(truncated)
    }
}

/// An answer that was looked at as a whole.
struct Believed {
    parts: Vec<Part>,
    serial: u64,
    root: Option<Digest>,
}

fn check_parts(snapshot: &Snapshot, parts: &[Part]) -> Result<(), Distrust> {
    let mut belonging = Belonging::new(snapshot);
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

/// The answer to a batch request while it arrives. Its documents have the digests that were
/// announced, and are read at once; whether they belong to the state shows when all is there.
struct Arriving<'queue> {
    queue: &'queue ReadingQueue,
    decoder: FrameDecoder,
    parts: Vec<Part>,
    end: Option<(u64, Option<SignedSnapshot>)>,
}

impl<'queue> Arriving<'queue> {
    fn new(queue: &'queue ReadingQueue) -> Self {
        let limits = FrameLimits {
            document_bytes: MAX_DOCUMENT_BYTES,
            ..FrameLimits::default()
        };
        Self {
            queue,
            decoder: FrameDecoder::new(limits),
            parts: Vec::new(),
            end: None,
        }
    }
}

impl Reader for Arriving<'_> {
    type Output = Answer;

    fn take(&mut self, piece: Bytes) -> Result<(), Fault> {
        self.decoder.push(piece);
        let mut arrived = Vec::new();
        while let Some(frame) = self.decoder.next_frame().map_err(|error| fault(&error))? {
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
        Ok(())
    }

    fn finish(self) -> Result<Answer, Fault> {
        self.decoder.finish().map_err(|error| fault(&error))?;
        let cut_off = || Fault::transient(FaultKind::Unreachable, "the answer was cut off");
        let (serial, snapshot) = self.end.ok_or_else(cut_off)?;
        Ok(Answer {
            parts: self.parts,
            serial,
            snapshot,
        })
    }
}

fn fault(error: &FrameError) -> Fault {
    match error {
        FrameError::Digest { .. } => Fault::transient(FaultKind::Digest, error.to_string()),
        FrameError::CutOff { .. } => Fault::transient(FaultKind::Unreachable, error.to_string()),
        FrameError::Malformed(_) | FrameError::Limit { .. } => {
            Fault::new(FaultKind::Malformed, error.to_string())
        }
    }
}
