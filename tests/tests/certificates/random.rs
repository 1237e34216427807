//! Random universes: every verdict "there is no resolution" has a certificate that both checkers accept.

use pkgres_proof_checker::{Conclusion, check};
use pkgres_tests::seeds;
use pkgres_tests::universe::Universe;

use crate::certified::{Outcome, certified};
use crate::veripb::VeriPb;

const SEEDS: u64 = 600;

/// What became of a universe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checked {
    Solved,
    /// The certificate was accepted.
    Accepted,
    /// The proof uses rules that certificates do not contain.
    NotCertified,
}

/// Certifies a universe, and checks the certificate.
fn checked(universe: &Universe, veripb: Option<&VeriPb>, name: &str) -> Checked {
    let certificate = match certified(universe) {
        Outcome::Solved => return Checked::Solved,
        Outcome::Impossible(Ok(certificate)) => certificate,
        Outcome::Impossible(Err(error)) => {
            println!("{name}: {error}");
            return Checked::NotCertified;
        }
    };
    let verified = check(&certificate.problem, &certificate.proof);
    let verified = verified.unwrap_or_else(|error| {
        panic!(
            "{name}: {error}\n{universe}\n{}\n{}\n{}",
            certificate.names, certificate.problem, certificate.proof
        )
    });
    assert_eq!(verified.conclusion, Conclusion::Unsatisfiable, "{name}");
    if let Some(veripb) = veripb {
        assert!(veripb.accepts(&certificate, name), "{name}\n{universe}");
    }
    Checked::Accepted
}

fn check_all(kind: &str, universe: impl Fn(u64) -> Universe + Sync) {
    let veripb = VeriPb::find();
    let results = seeds::for_all(seeds::count(SEEDS), |seed| {
        checked(&universe(seed), veripb.as_ref(), &format!("{kind}-{seed}"))
    });
    let count = |what| results.iter().filter(|one| **one == what).count();
    let (accepted, not_certified) = (count(Checked::Accepted), count(Checked::NotCertified));
    println!("{kind}: {accepted} certificates accepted, {not_certified} not certified");
    assert!(accepted > results.len() / 100, "{kind}: only {accepted}");
}

#[test]
fn certificates_of_random_universes_are_accepted() {
    check_all("random", Universe::random);
}

#[test]
fn certificates_of_the_first_tier_are_accepted() {
    check_all("single", |seed| Universe {
        single_version: true,
        ..Universe::random(seed)
    });
}

#[test]
fn certificates_about_shared_classes_are_accepted() {
    check_all("hubs", |seed| Universe {
        single_version: seed % 2 == 0,
        ..Universe::around_hubs(seed).with_interfaces(seed)
    });
}

#[test]
fn certificates_about_cycles_of_packages_are_accepted() {
    check_all("entangled", |seed| Universe {
        single_version: seed % 2 == 0,
        ..Universe::entangled(seed)
    });
}
