//! Many index documents in one answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use pkgres_manifest::PackageName;
use pkgres_registry_client::protocol::{BatchRequest, Frame, Neighbour, Proof, ShownNodes};

use super::state::State;
use super::{Document, Node};
use crate::problem::Problem;
use crate::store::documents::Kind;

/// The answer to a batch request: pieces to be sent one after the other. Documents are shared with
/// the cache, not copied.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) pieces: Vec<Bytes>,
}

impl Node {
    /// Answers a batch request from one state, with at most `limit` documents.
    pub(crate) fn batch(&self, request: &BatchRequest, limit: usize) -> Result<Batch, Problem> {
        self.consistently(|state| self.batch_of(state, request, limit))
    }

    fn batch_of(
        &self,
        state: &Arc<State>,
        request: &BatchRequest,
        limit: usize,
    ) -> Result<Option<Batch>, Problem> {
        let mut answer = Answer::default();
        let mut shown = ShownNodes::default();
        let mut seen: BTreeSet<PackageName> = request.names.keys().cloned().collect();
        let mut wave: Vec<PackageName> = seen.iter().cloned().collect();
        let mut answered = 0;
        let mut left_out = Vec::new();
        // Each wave is what the one before it requires: all of one distance, sorted by name.
        while !wave.is_empty() {
            let mut next = BTreeSet::new();
            for name in wave {
                if answered == limit {
                    left_out.push(name);
                    continue;
                }
                answered += 1;
                let Some((at, entry)) = state.package(&name) else {
                    let beside = beside(state, &name, &mut shown);
                    answer.header(&Frame::Absent { name, beside });
                    continue;
                };
                let proof = proof(state, at, &mut shown);
                if request
                    .names
                    .get(&name)
                    .is_some_and(|known| *known == Some(entry.digest))
                {
                    answer.header(&Frame::Unchanged {
                        name,
                        sha256: entry.digest,
                        proof: Some(proof),
                    });
                } else {
                    let found = self.document(Kind::Package, name.as_str(), &entry.digest)?;
                    let Some(document) = found else {
                        return Ok(None);
                    };
                    answer.document(&name, &document, &proof);
                }
                if request.closure {
                    let new = entry
                        .requires
                        .iter()
                        .filter(|required| !seen.contains(*required));
                    next.extend(new.cloned());
                }
            }
            seen.extend(next.iter().cloned());
            wave = next.into_iter().collect();
        }
        for frame in Frame::truncated(&left_out) {
            answer.header(&frame);
        }
        let snapshot = self.snapshot_of(state).snapshot;
        answer.header(&Frame::Complete {
            serial: state.serial,
            snapshot: Some(snapshot.as_ref().clone()),
        });
        Ok(Some(Batch {
            pieces: answer.finish(),
        }))
    }
}

/// That a document is in the state, to somebody who was shown other documents before.
fn proof(state: &State, at: usize, shown: &mut ShownNodes) -> Proof {
    let path = state.tree().rest_of_path(at, shown);
    Proof {
        index: at as u64,
        path: path.expect("every package of a state has a leaf"),
    }
}

/// The names that a package would stand between if there were one.
fn beside(state: &State, name: &PackageName, shown: &mut ShownNodes) -> Vec<Neighbour> {
    let behind = state.packages().partition_point(|entry| entry.name < *name);
    let places = behind.checked_sub(1).into_iter().chain([behind]);
    let neighbour = |at: usize| {
        let entry = state.packages().get(at)?;
        let Proof { index, path } = proof(state, at, shown);
        Some(Neighbour {
            name: entry.name.clone(),
            sha256: entry.digest,
            index,
            proof: path,
        })
    };
    places.filter_map(neighbour).collect()
}

/// Documents below this size are copied, which costs less than sending them on their own.
const COPIED: usize = 4096;

#[derive(Default)]
struct Answer {
    pieces: Vec<Bytes>,
    open: Vec<u8>,
}

impl Answer {
    fn header(&mut self, frame: &Frame) {
        frame.encode(&mut self.open);
    }

    fn document(&mut self, name: &PackageName, document: &Document, proof: &Proof) {
        let length = document.body.len();
        Frame::encode_changed(
            name,
            &document.digest,
            length as u64,
            Some(proof),
            &mut self.open,
        );
        if length <= COPIED {
            self.open.extend_from_slice(&document.body);
        } else {
            self.close();
            self.pieces.push(document.body.clone());
        }
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.pieces.push(std::mem::take(&mut self.open).into());
        }
    }

    fn finish(mut self) -> Vec<Bytes> {
        self.close();
        self.pieces
    }
}
