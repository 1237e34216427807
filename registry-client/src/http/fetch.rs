//! Fetching index documents: in one request where the registry can, or one by one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use pkgres_manifest::PackageName;
use reqwest::Method;

use crate::protocol::{
    BatchRequest, Config, Digest, Frame, FrameDecoder, FrameError, FrameLimits, SignedSnapshot,
    Snapshot,
};
use crate::registry::RegistryError;

use super::HttpRegistry;
use super::fault::{Failed, Fault, FaultKind};
use super::session::{Document, Session};
use super::store::Bytes;
use super::transport::{Ask, Reply};
use super::trust::{Distrust, check_document};

/// The largest answer to a batch request that is taken, in bytes.
const MAX_BATCH_BYTES: u64 = 512 << 20;

/// The largest index document, in bytes.
const MAX_DOCUMENT_BYTES: u64 = 64 << 20;

/// The answer to a batch request.
struct Answer {
    frames: Vec<Frame>,
    serial: u64,
    snapshot: Option<SignedSnapshot>,
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
            .max(1);
        let mut wanted: BTreeSet<PackageName> = names.into_iter().collect();
        while !wanted.is_empty() {
            let now: Vec<PackageName> = wanted.iter().take(limit).cloned().collect();
            let mut request = BatchRequest {
                names: BTreeMap::new(),
                closure: true,
            };
            // What is at hand need not come again.
            for name in session.reachable(now.iter().cloned(), limit) {
                let entry = session.entries.get(&name);
                let document = entry.and_then(|entry| entry.document.as_ref());
                let digest = document.map(|document| document.sha256);
                if digest.is_some() || now.contains(&name) {
                    request.names.insert(name, digest);
                }
            }
            let answer = self.ask_batch(address, &request)?;
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

    fn ask_batch(&self, address: &str, request: &BatchRequest) -> Result<Answer, RegistryError> {
        let ask = Ask {
            method: Method::POST,
            url: self.url(address)?,
            at_hand: None,
            body: Some((Rc::new(request.to_json().into_bytes()), "application/json")),
            limit: MAX_BATCH_BYTES,
        };
        self.transport.wait(self.transport.send(&ask, decode))
    }

    /// Takes over what was answered, if it can be believed. Gives the names that there was no room
    /// for.
    fn take_answer(
        &self,
        session: &mut Session,
        request: &BatchRequest,
        answer: Answer,
    ) -> Result<Vec<PackageName>, RegistryError> {
        let Answer {
            frames,
            serial,
            snapshot,
        } = answer;
        let snapshot = self.believe(session, snapshot.as_ref(), Some(serial))?;
        let refuse = |distrust: Distrust| distrust.to_diagnostic(&self.transport.name);
        let root = snapshot.as_ref().map(|snapshot| snapshot.root);
        // The whole answer is looked at before any of it is believed.
        if let Some(snapshot) = &snapshot {
            for frame in &frames {
                check_frame(snapshot, frame).map_err(refuse)?;
            }
        }
        (session.serial, session.root) = (serial, root);
        let mut truncated = Vec::new();
        let mut answered = Vec::new();
        for frame in frames {
            match frame {
                Frame::Changed {
                    name,
                    sha256,
                    document,
                    ..
                } => {
                    let document = Document::new(sha256, Bytes::Own(Arc::from(document)));
                    answered.push(name.clone());
                    session.set(name, Some(document), serial);
                }
                Frame::Unchanged { name, sha256, .. } => {
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
                Frame::Absent { name } => session.set(name, None, serial),
                Frame::Truncated { names } => truncated.extend(names),
                Frame::Complete { .. } => {}
            }
        }
        // A closure has everything that is required, unless it says otherwise.
        let left_out: BTreeSet<&PackageName> = truncated.iter().collect();
        for name in &answered {
            for required in session.required_by(name) {
                if !left_out.contains(&required) {
                    session.set(required, None, serial);
                }
            }
        }
        Ok(truncated)
    }

    /// Fetches packages one by one, and what they require while they arrive.
    pub(super) fn fetch_each(
        &self,
        session: &mut Session,
        config: &Config,
        wanted: Vec<PackageName>,
    ) -> Result<(), RegistryError> {
        let names = session.names.take().unwrap_or_default();
        let session_cell = RefCell::new(session);
        let result = self
            .transport
            .wait(self.fetch_queue(&session_cell, config, &names, wanted));
        session_cell.into_inner().names = Some(names);
        result
    }

    async fn fetch_queue(
        &self,
        session: &RefCell<&mut Session>,
        config: &Config,
        names: &HashMap<PackageName, Digest>,
        wanted: Vec<PackageName>,
    ) -> Result<(), Failed> {
        let mut met: BTreeSet<PackageName> = wanted.iter().cloned().collect();
        let mut queue: VecDeque<PackageName> = wanted.into();
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() < self.transport.options.concurrency
                && let Some(name) = queue.pop_front()
            {
                let mut session = session.borrow_mut();
                let serial = session.serial;
                let at_hand = session
                    .entries
                    .get(&name)
                    .and_then(|entry| entry.document.as_ref())
                    .map(|document| document.sha256);
                match names.get(&name) {
                    None => session.set(name, None, serial),
                    Some(digest) if at_hand == Some(*digest) => {
                        if let Some(entry) = session.entries.get_mut(&name) {
                            (entry.is_fresh, entry.serial) = (true, serial);
                        }
                        queue.extend(
                            session
                                .required_by(&name)
                                .into_iter()
                                .filter(|required| met.insert(required.clone())),
                        );
                    }
                    Some(digest) => under_way.push(self.fetch_one(config, name, *digest)),
                }
            }
            let Some(fetched) = under_way.next().await else {
                return Ok(());
            };
            let (name, digest, bytes) = fetched?;
            let mut session = session.borrow_mut();
            let serial = session.serial;
            let document = Document::new(digest, Bytes::Own(Arc::from(bytes)));
            session.set(name.clone(), Some(document), serial);
            queue.extend(
                session
                    .required_by(&name)
                    .into_iter()
                    .filter(|required| met.insert(required.clone())),
            );
        }
    }

    async fn fetch_one(
        &self,
        config: &Config,
        name: PackageName,
        digest: Digest,
    ) -> Result<(PackageName, Digest, Vec<u8>), Failed> {
        let url = self.url_or_failed(&config.package_address(&name))?;
        let ask = Ask::get(url, MAX_DOCUMENT_BYTES);
        let bytes = self
            .transport
            .send(&ask, |reply| with_digest(reply.body()?, digest))
            .await?;
        Ok((name, digest, bytes))
    }
}

/// The bytes, if they have the digest. Otherwise they may have been damaged on the way.
pub(super) fn with_digest(bytes: Vec<u8>, expected: Digest) -> Result<Vec<u8>, Fault> {
    let found = Digest::of(&bytes);
    if found == expected {
        Ok(bytes)
    } else {
        let reason = format!("the digest is {found}; {expected} was announced");
        Err(Fault::transient(FaultKind::Digest, reason))
    }
}

/// Reads the answer to a batch request.
fn decode(reply: Reply) -> Result<Answer, Fault> {
    let body = reply.body()?;
    let limits = FrameLimits {
        document_bytes: MAX_DOCUMENT_BYTES,
        ..FrameLimits::default()
    };
    let fault = |error: FrameError| match error {
        FrameError::Digest { .. } => Fault::transient(FaultKind::Digest, error.to_string()),
        FrameError::CutOff { .. } => Fault::transient(FaultKind::Unreachable, error.to_string()),
        FrameError::Malformed(_) | FrameError::Limit { .. } => {
            Fault::new(FaultKind::Malformed, error.to_string())
        }
    };
    let mut decoder = FrameDecoder::new(limits);
    decoder.push(&body);
    let mut frames = Vec::new();
    let mut end = None;
    while let Some(frame) = decoder.next_frame().map_err(fault)? {
        match frame {
            Frame::Complete { serial, snapshot } => end = Some((serial, snapshot)),
            frame => frames.push(frame),
        }
    }
    decoder.finish().map_err(fault)?;
    let Some((serial, snapshot)) = end else {
        return Err(Fault::transient(
            FaultKind::Unreachable,
            "the answer was cut off",
        ));
    };
    Ok(Answer {
        frames,
        serial,
        snapshot,
    })
}

fn check_frame(snapshot: &Snapshot, frame: &Frame) -> Result<(), Distrust> {
    match frame {
        Frame::Changed {
            name,
            sha256,
            proof,
            ..
        }
        | Frame::Unchanged {
            name,
            sha256,
            proof,
        } => check_document(snapshot, name, *sha256, proof.as_ref()),
        Frame::Absent { .. } | Frame::Truncated { .. } | Frame::Complete { .. } => Ok(()),
    }
}
