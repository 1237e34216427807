//! Passes artifacts on to whoever wants them. One file can have several of the releases: it is read once.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use pkgres_manifest::ArtifactDigest;
use pkgres_manifest::diagnostic::Diagnostic;

use crate::artifact::{Artifact, ReceivedArtifact, TakeArtifact, WantedArtifact};
use crate::registry_error::RegistryError;

/// The digests of some artifacts, each with its positions among them, in the order of the first positions.
pub(crate) fn by_digest(wanted: &[WantedArtifact<'_>]) -> Vec<(ArtifactDigest, Vec<usize>)> {
    let mut positions: BTreeMap<ArtifactDigest, Vec<usize>> = BTreeMap::new();
    for (at, wanted) in wanted.iter().enumerate() {
        positions.entry(wanted.digest).or_default().push(at);
    }
    let mut ordered: Vec<_> = positions.into_iter().collect();
    ordered.sort_by(|one, two| one.1.cmp(&two.1));
    ordered
}

/// The bytes of a file, and why it is not in the cache.
type ReadFile = (Arc<[u8]>, Option<Box<Diagnostic>>);

/// Passes an artifact on for each of its positions. A file, which can have several releases, is read once.
pub(crate) fn hand_over(
    positions: &[usize],
    mut read: impl FnMut() -> Result<Option<ReceivedArtifact>, RegistryError>,
    take: TakeArtifact<'_>,
) -> ControlFlow<()> {
    let mut file: Option<ReadFile> = None;
    for at in positions {
        let found = match file.clone() {
            Some((bytes, not_kept)) => Ok(Some(ReceivedArtifact {
                artifact: Artifact::File(bytes),
                not_kept,
            })),
            None => read(),
        };
        if let Ok(Some(received)) = &found
            && let Artifact::File(bytes) = &received.artifact
        {
            file = Some((Arc::clone(bytes), received.not_kept.clone()));
        }
        take(*at, found)?;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_file_with_several_releases_is_read_once() {
        let reads = Cell::new(0);
        let mut taken = Vec::new();
        let read = || {
            reads.set(reads.get() + 1);
            let bytes: Arc<[u8]> = Arc::from(*b"models");
            Ok(Some(ReceivedArtifact::kept(Artifact::File(bytes))))
        };
        let flow = hand_over(&[1, 4, 7], read, &mut |at, found| {
            let received = found.ok().flatten().expect("it is there");
            assert!(matches!(received.artifact, Artifact::File(bytes) if *bytes == *b"models"));
            taken.push(at);
            ControlFlow::Continue(())
        });
        assert_eq!(flow, ControlFlow::Continue(()));
        assert_eq!(taken, [1, 4, 7]);
        assert_eq!(reads.get(), 1);
    }
}
