//! Trust in the signed state of a registry.
//!
//! The decision depends on the last trusted state, the offered one and the time; nothing here does input or output.
//! A state is a serial and the root of a Merkle tree over all documents (RFC 6962). It must be signed by the key in
//! the settings, or else by the first key seen (trust on first use); be no older than the last one (no rollback),
//! be the same for one serial (no split view), and not have expired (no freeze).

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, RegistryName};

use super::address::Address;
use crate::protocol::{
    Digest, NamesLine, Neighbour, Proof, ProvedNodes, PublicKey, SignedSnapshot, Snapshot,
    SnapshotError, leaf_hash,
};
use crate::registry_title::titled_at;

/// The last trusted state of a registry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct TrustedState {
    /// The identity of the registry.
    pub(super) registry: String,
    /// The trusted key.
    pub(super) key: PublicKey,
    pub(super) serial: u64,
    pub(super) root: Digest,
}

/// The reason why a state is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TrustError {
    #[error("its state is not signed any more; it was signed by {0}")]
    Unsigned(PublicKey),
    #[error("its state is not signed, but {0} is expected to sign it")]
    NeverSigned(PublicKey),
    #[error("{0}")]
    Signature(#[from] SnapshotError),
    #[error("it is another registry now: `{}` was there before, this is `{}`", Escaped::shortened(.before), Escaped::shortened(.now))]
    OtherRegistry { before: String, now: String },
    #[error("its state expired on {expires}: an attacker may be holding back newer ones")]
    Expired { expires: jiff::Timestamp },
    #[error("it went back in time: its state has the serial {now}, {before} was seen before")]
    Rollback { before: u64, now: u64 },
    #[error(
        "it shows different states to different readers: two were seen with the serial {serial}"
    )]
    SplitView { serial: u64 },
    #[error("the document of {0} does not belong to its signed state")]
    NotInState(PackageName),
    #[error("it does not prove that its signed state is without {0}")]
    AbsenceNotProved(PackageName),
    #[error("the list of packages does not belong to its signed state")]
    NamesNotInState,
    #[error("the documents belong to the serial {documents}, the signed state to {state}")]
    OtherSerial { documents: u64, state: u64 },
}

impl TrustError {
    /// The error about a registry at an address.
    pub(super) fn to_diagnostic(&self, name: &RegistryName, address: &Address) -> Diagnostic {
        let title = titled_at(name, address);
        let finding = Diagnostic::error(Code::Untrusted, format!("{title} is not trusted: {self}"));
        let forgotten = if name.is_default() {
            address.as_str()
        } else {
            name.as_str()
        };
        match self {
            Self::Expired { .. } => finding
                .hint("check the clock of this machine")
                .hint("a mirror that is not exported again expires: ask its operator"),
            // Tutorials and tests start one registry after the other at the same address.
            _ if address.is_local() => finding.hint(format!(
                "if another registry used this address before, `pkgres cache forget {forgotten}` trusts this one"
            )),
            _ => finding.hint(format!(
                "ask its operator; if the change is legitimate, `pkgres cache forget {forgotten}` trusts the registry again \
                 as on first use"
            )),
        }
    }
}

/// Decides whether a state is trusted. Returns the state, or `None` if nothing was or is signed.
///
/// The key is the one in the settings, else the one that was trusted before, else the first that signed.
pub(super) fn accept(
    seen: Option<&TrustedState>,
    wanted: Option<&PublicKey>,
    offered: Option<&SignedSnapshot>,
    now: jiff::Timestamp,
) -> Result<Option<(Snapshot, TrustedState)>, TrustError> {
    let known = wanted.copied().or(seen.map(|seen| seen.key));
    let Some(offered) = offered else {
        return match (seen, wanted) {
            (_, Some(wanted)) => Err(TrustError::NeverSigned(*wanted)),
            (Some(seen), None) => Err(TrustError::Unsigned(seen.key)),
            (None, None) => Ok(None),
        };
    };
    let first = || offered.signatures.first().map(|signature| signature.key);
    let Some(key) = known.or_else(first) else {
        return Ok(None);
    };
    let snapshot = offered.verify(&key)?;
    if let Some(seen) = seen {
        if seen.registry != snapshot.registry {
            return Err(TrustError::OtherRegistry {
                before: seen.registry.clone(),
                now: snapshot.registry,
            });
        }
        if snapshot.serial < seen.serial {
            return Err(TrustError::Rollback {
                before: seen.serial,
                now: snapshot.serial,
            });
        }
        if snapshot.serial == seen.serial && snapshot.root != seen.root {
            return Err(TrustError::SplitView {
                serial: seen.serial,
            });
        }
    }
    if snapshot.expires <= now {
        return Err(TrustError::Expired {
            expires: snapshot.expires,
        });
    }
    let seen = TrustedState {
        registry: snapshot.registry.clone(),
        key,
        serial: snapshot.serial,
        root: snapshot.root,
    };
    Ok(Some((snapshot, seen)))
}

/// A verifier of inclusion proofs: whether documents belong to a state.
pub(super) struct InclusionVerifier {
    proved: ProvedNodes,
    /// The number of packages in the state.
    size: u64,
}

impl InclusionVerifier {
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        Self {
            proved: ProvedNodes::new(snapshot.root, snapshot.names),
            size: snapshot.names,
        }
    }

    /// Verifies the proof of a document.
    pub(super) fn check(
        &mut self,
        name: &PackageName,
        sha256: Digest,
        proof: Option<&Proof>,
    ) -> Result<(), TrustError> {
        let is_proved =
            proof.is_some_and(|Proof { index, path }| self.has(name, sha256, *index, path));
        is_proved
            .then_some(())
            .ok_or_else(|| TrustError::NotInState(name.clone()))
    }

    /// Verifies the proof that there is no package of a name: as names are sorted, the names before and after its
    /// place are neighbours in the tree.
    pub(super) fn check_absence(
        &mut self,
        name: &PackageName,
        beside: &[Neighbour],
    ) -> Result<(), TrustError> {
        let last = self.size.checked_sub(1);
        let is_between = match beside {
            [] => last.is_none(),
            [one] if one.name < *name => last == Some(one.index),
            [one] => *name < one.name && one.index == 0,
            [one, two] => {
                one.name < *name && *name < two.name && one.index.checked_add(1) == Some(two.index)
            }
            _ => false,
        };
        let is_proved = is_between
            && beside
                .iter()
                .all(|one| self.has(&one.name, one.sha256, one.index, &one.proof));
        is_proved
            .then_some(())
            .ok_or_else(|| TrustError::AbsenceNotProved(name.clone()))
    }

    fn has(&mut self, name: &PackageName, sha256: Digest, index: u64, path: &[Digest]) -> bool {
        let line = NamesLine {
            name: name.clone(),
            sha256,
        };
        let leaf = leaf_hash(line.to_line().as_bytes());
        self.proved.prove(&leaf, index, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{MerkleTree, SigningKey};

    const NOW: jiff::Timestamp = jiff::Timestamp::UNIX_EPOCH;

    fn signing_key(byte: u8) -> SigningKey {
        SigningKey::from_bytes(&[byte; 32])
    }

    fn snapshot(serial: u64, root: &[u8]) -> Snapshot {
        Snapshot {
            registry: "r".to_owned(),
            serial,
            names: 1,
            root: Digest::of(root),
            issued: NOW,
            expires: NOW + jiff::SignedDuration::from_secs(60),
        }
    }

    fn signed(snapshot: &Snapshot, key: u8) -> SignedSnapshot {
        SignedSnapshot::sign(snapshot, &[&signing_key(key)])
    }

    fn seen() -> TrustedState {
        let first = signed(&snapshot(5, b"five"), 1);
        let accepted = accept(None, None, Some(&first), NOW).expect("the first is trusted");
        accepted.expect("it is signed").1
    }

    /// The verdict on a state after the serial 5 was seen.
    fn after(offered: Option<&SignedSnapshot>) -> Result<(), String> {
        let accepted = accept(Some(&seen()), None, offered, NOW);
        accepted.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_same_or_a_newer_state_is_trusted() {
        assert_eq!(after(Some(&signed(&snapshot(5, b"five"), 1))), Ok(()));
        assert_eq!(after(Some(&signed(&snapshot(6, b"six"), 1))), Ok(()));
    }

    #[test]
    fn a_state_that_contradicts_the_last_one_is_rejected() {
        for (offered, reason) in [
            (None, "is not signed any more"),
            (
                Some(signed(&snapshot(6, b"six"), 2)),
                "but the trusted key is",
            ),
            (Some(signed(&snapshot(4, b"four"), 1)), "went back in time"),
            (Some(signed(&snapshot(5, b"other"), 1)), "different states"),
        ] {
            let error = after(offered.as_ref()).expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
        let mut other = snapshot(6, b"six");
        other.registry = "s".to_owned();
        let error = after(Some(&signed(&other, 1))).expect_err("it is another");
        assert!(error.contains("another registry"), "{error}");
        let mut tampered = signed(&snapshot(6, b"six"), 1);
        tampered.signed = tampered.signed.replace("\"serial\":6", "\"serial\":7");
        assert!(after(Some(&tampered)).is_err());
    }

    #[test]
    fn hints_fit_the_address() {
        let hint = |address| {
            let name = RegistryName::parse("acme").expect("a name");
            let address = Address::parse(address).expect("an address");
            let finding =
                TrustError::Unsigned(signing_key(1).public()).to_diagnostic(&name, &address);
            finding.hints.concat()
        };
        let here = hint("http://127.0.0.1:8642");
        assert!(
            here.starts_with("if another registry used this address"),
            "{here}"
        );
        let elsewhere = hint("https://packages.example.org");
        assert!(elsewhere.starts_with("ask its operator"), "{elsewhere}");
    }

    #[test]
    fn a_state_expires() {
        let offered = signed(&snapshot(6, b"six"), 1);
        let at = |seconds| {
            let now = NOW + jiff::SignedDuration::from_secs(seconds);
            accept(None, None, Some(&offered), now)
        };
        assert!(at(59).is_ok());
        assert!(matches!(at(60), Err(TrustError::Expired { .. })));
    }

    #[test]
    fn the_key_of_the_settings_decides() {
        let wanted = signing_key(2).public();
        let accept = |offered: Option<&SignedSnapshot>| accept(None, Some(&wanted), offered, NOW);
        assert!(accept(Some(&signed(&snapshot(6, b"six"), 2))).is_ok());
        assert!(accept(Some(&signed(&snapshot(6, b"six"), 1))).is_err());
        assert_eq!(accept(None), Err(TrustError::NeverSigned(wanted)));
        // With two signatures either key may be the trusted one.
        let both = SignedSnapshot::sign(&snapshot(6, b"six"), &[&signing_key(1), &signing_key(2)]);
        assert!(accept(Some(&both)).is_ok());
        assert_eq!(after(Some(&both)), Ok(()));
    }

    #[test]
    fn documents_belong_to_a_state_or_not() {
        let name = |text: &str| PackageName::parse(text).expect("a name");
        let (a, b) = (name("a.A"), name("b.B"));
        let line = |name: &PackageName, text: &str| NamesLine {
            name: name.clone(),
            sha256: Digest::of(text.as_bytes()),
        };
        let leaves =
            [line(&a, "a"), line(&b, "b")].map(|line| leaf_hash(line.to_line().as_bytes()));
        let tree = MerkleTree::new(leaves.to_vec());
        let mut snapshot = snapshot(1, b"");
        (snapshot.root, snapshot.names) = (tree.root(), 2);
        let proof = |index: usize| Proof {
            index: index as u64,
            path: tree.audit_path(index).expect("a leaf"),
        };
        let check = |name: &PackageName, text: &str, proof: Option<&Proof>| {
            InclusionVerifier::new(&snapshot)
                .check(name, Digest::of(text.as_bytes()), proof)
                .is_ok()
        };
        assert!(check(&a, "a", Some(&proof(0))));
        assert!(check(&b, "b", Some(&proof(1))));
        assert!(!check(&a, "older", Some(&proof(0))));
        assert!(!check(&b, "a", Some(&proof(0))), "the document of another");
        assert!(!check(&a, "a", Some(&proof(1))));
        assert!(!check(&a, "a", None), "without a proof");
    }

    #[test]
    fn the_absence_of_a_name_can_be_proved() {
        let name = |text: &str| PackageName::parse(text).expect("a name");
        let names = ["b.B", "d.D", "f.F", "h.H", "j.J"];
        let line = |text: &str| NamesLine {
            name: name(text),
            sha256: Digest::of(text.as_bytes()),
        };
        let leaves = names.map(|text| leaf_hash(line(text).to_line().as_bytes()));
        let tree = MerkleTree::new(leaves.to_vec());
        let mut snapshot = snapshot(1, b"");
        (snapshot.root, snapshot.names) = (tree.root(), names.len() as u64);
        let beside = |places: &[usize]| -> Vec<Neighbour> {
            let neighbour = |at: &usize| Neighbour {
                name: name(names[*at]),
                sha256: Digest::of(names[*at].as_bytes()),
                index: *at as u64,
                proof: tree.audit_path(*at).expect("a leaf"),
            };
            places.iter().map(neighbour).collect()
        };
        let check = |text: &str, beside: &[Neighbour]| {
            let mut belonging = InclusionVerifier::new(&snapshot);
            belonging.check_absence(&name(text), beside).is_ok()
        };
        for (text, places) in [("a.A", &[0][..]), ("e.E", &[1, 2]), ("k.K", &[4])] {
            assert!(check(text, &beside(places)), "{text}");
            for other in [
                &[][..],
                &[0, 1],
                &[1],
                &[1, 3],
                &[3, 4],
                &[4, 4],
                &[2, 1],
                &[0, 1, 2],
            ] {
                assert!(
                    other == places || !check(text, &beside(other)),
                    "{text} {other:?}"
                );
            }
        }
        // An existing name is not between its neighbours.
        for places in [&[1, 2][..], &[2, 3], &[1, 3], &[2]] {
            assert!(!check("f.F", &beside(places)), "{places:?}");
        }
        let mut lies = beside(&[1, 3]);
        lies[1].index = 2;
        assert!(!check("f.F", &lies));
        let mut lies = beside(&[1, 2]);
        lies[1].sha256 = Digest::of(b"other");
        assert!(!check("e.E", &lies));
    }
}
