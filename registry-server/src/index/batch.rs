//! Answers batch requests: many index documents in one response.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use pkgres_manifest::PackageName;
use pkgres_registry_client::protocol::{BatchRequest, Frame, Neighbour, Proof, ShownNodes};

use super::document::Document;
use super::node::Node;
use super::state::State;
use crate::problem::Problem;
use crate::store::documents::DocumentKind;

impl Node {
    /// The response to a batch request, in pieces: at most `limit` documents of one state. Large
    /// documents are shared with the cache, not copied.
    pub(crate) fn batch(
        &self,
        request: &BatchRequest,
        limit: usize,
    ) -> Result<Vec<Bytes>, Problem> {
        self.consistently(|state| self.batch_of(state, request, limit))
    }

    fn batch_of(
        &self,
        state: &Arc<State>,
        request: &BatchRequest,
        limit: usize,
    ) -> Result<Option<Vec<Bytes>>, Problem> {
        let mut writer = BatchWriter::default();
        let mut shown = ShownNodes::default();
        let mut seen: BTreeSet<PackageName> = request.names.keys().cloned().collect();
        let mut wave: Vec<PackageName> = seen.iter().cloned().collect();
        let mut answered = 0;
        let mut left_out = Vec::new();
        // Breadth first: each wave has the packages that the wave before it requires, sorted by name.
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
                    writer.header(&Frame::Absent { name, beside });
                    continue;
                };
                let proof = proof(state, at, &mut shown);
                if request
                    .names
                    .get(&name)
                    .is_some_and(|known| *known == Some(entry.digest))
                {
                    writer.header(&Frame::Unchanged {
                        name,
                        sha256: entry.digest,
                        proof: Some(proof),
                    });
                } else {
                    let found =
                        self.document(DocumentKind::Package, name.as_str(), &entry.digest)?;
                    let Some(document) = found else {
                        return Ok(None);
                    };
                    writer.document(&name, &document, &proof);
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
            writer.header(&frame);
        }
        let snapshot = self.snapshot_of(state).snapshot;
        writer.header(&Frame::Complete {
            serial: state.serial,
            snapshot: Some(snapshot.as_ref().clone()),
        });
        Ok(Some(writer.finish()))
    }
}

/// The proof that a document is in the state, for a client that has the proofs of the frames before.
fn proof(state: &State, at: usize, shown: &mut ShownNodes) -> Proof {
    let path = state.tree().rest_of_path(at, shown);
    Proof {
        index: at as u64,
        path: path.expect("every package of a state has a leaf"),
    }
}

/// The neighbours of the place where a name would be: the proof that it is absent.
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

/// The largest document that is copied, in bytes: that costs less than a piece of its own.
const COPIED: usize = 4096;

/// The pieces of a response to a batch request.
#[derive(Default)]
struct BatchWriter {
    pieces: Vec<Bytes>,
    open: Vec<u8>,
}

impl BatchWriter {
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
