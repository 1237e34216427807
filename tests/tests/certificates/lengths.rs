//! The length of proofs: what a search finds out before any decision takes no steps of its own, and nothing is repeated.

use pkgres_certificate::{Certificate, verify};
use pkgres_tests::build::{Build, release};
use pkgres_tests::solver::request;
use pkgres_tests::universe::Universe;

use crate::certified::{accept, all, packages};
use crate::veripb::VeriPb;

/// A chain in which each version requires the same version of the next package. Only the oldest version of the first one
/// is left, as the last package does not exist.
fn chain(length: usize, versions: usize) -> Universe {
    let mut records = vec![release("p.P0", "1.0.0")];
    for package in 0..length {
        let same = (2..=versions).map(|version| {
            let next = format!("p.P{}", package + 1);
            let version = format!("{version}.0.0");
            release(&format!("p.P{package}"), &version).requires(&next, &version)
        });
        records.extend(same);
    }
    Universe::new(release("p.Root", "1.0.0").requires("p.P0", "*"), records)
}

/// A ladder in which each version of a pair requires the next pair in two versions, and the last pair a package with one
/// old version.
fn ladder(length: usize, versions: usize) -> Universe {
    let mut records = vec![release("p.Last", "2.0.0")];
    for level in 0..length {
        for version in 1..=versions {
            for side in ["A", "B"] {
                let mut record = release(&format!("p.{side}{level}"), &format!("{version}.0.0"));
                let window = format!(">={version}.0.0,<{}.0.0", version + 2);
                if level + 1 == length {
                    record = record.requires("p.Last", &window);
                } else {
                    for next in ["A", "B"] {
                        record = record.requires(&format!("p.{next}{}", level + 1), &window);
                    }
                }
                records.push(record);
            }
        }
    }
    let root = release("p.Root", "1.0.0");
    Universe::new(root.requires("p.A0", "*").requires("p.B0", "*"), records)
}

/// The certificate that a better version is impossible, which both checkers accept.
fn better(universe: &Universe, name: &str) -> Certificate {
    let mut request = request(universe);
    request.options.single_version = true;
    let certificates = all(&packages(universe), &request).into_iter();
    let mut better = certificates.filter(|(claim, _)| *claim == "better");
    let (_, certificate) = better.next().expect("a better version is impossible");
    let certificate = certificate.expect("it has a certificate");
    accept(&certificate, VeriPb::find().as_ref(), name);
    certificate
}

#[test]
fn the_proof_of_a_chain_is_as_long_as_the_chain() {
    let (length, versions) = (20, 30);
    let certificate = better(&chain(length, versions), "chain");
    let accepted = verify(&certificate).expect("it is valid");
    // The versions of one package are found to be impossible by conflicts, those of the others without.
    let words = certificate.proof.split_whitespace().count();
    assert!(accepted.steps <= versions + 10, "{} steps", accepted.steps);
    assert!(words <= 2 * length * versions, "{words} words");
}

#[test]
fn proofs_grow_with_the_problem() {
    let [short, long] = [8, 16].map(|length| better(&ladder(length, 10), "ladder").proof.len());
    assert!(long < 3 * short, "{short} and {long} bytes");
}
