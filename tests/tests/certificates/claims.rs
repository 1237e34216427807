//! Every claim: verdicts of random universes and of updates have certificates that both checkers accept.

use std::collections::BTreeMap;

use pkgres_certificate::NotCertified;
use pkgres_manifest::{IndexRecord, PackageName, Version};
use pkgres_resolver::{PackageUpdate, Request, Resolver, Step, Update, UpdateTarget};
use pkgres_tests::drive::{Records, drive};
use pkgres_tests::random::Random;
use pkgres_tests::seeds;
use pkgres_tests::solver::request;
use pkgres_tests::universe::Universe;

use crate::certified::{accept, all, packages};
use crate::veripb::VeriPb;

const SEEDS: u64 = 300;

/// How often each claim was certified, and how often it was not.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<&'static str, [usize; 2]>);

impl Tally {
    /// Certifies the verdict of a request, and checks the certificates.
    pub(crate) fn add(
        &mut self,
        packages: &Records,
        request: &Request,
        veripb: Option<&VeriPb>,
        name: &str,
    ) {
        for (claim, certificate) in all(packages, request) {
            let [accepted, not_certified] = self.0.entry(claim).or_default();
            match certificate {
                Ok(certificate) => {
                    accept(&certificate, veripb, &format!("{name}-{claim}"));
                    *accepted += 1;
                }
                Err(error) => {
                    println!("{name}, {claim}: {error}");
                    let is_wrong = claim == "reasons" && matches!(error, NotCertified::Step(_));
                    assert!(!is_wrong, "{name}: the reasons do not suffice");

                    // A lock is kept even if it has several releases of a package without need.
                    let may_be_wrong = claim == "single" && !request.locked.is_empty();
                    assert!(
                        error != NotCertified::Possible || may_be_wrong,
                        "{name}: {claim}"
                    );
                    *not_certified += 1;
                }
            }
        }
    }

    pub(crate) fn join(tallies: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self::default();
        for (claim, [accepted, not_certified]) in tallies.into_iter().flat_map(|tally| tally.0) {
            let of_claim = sum.0.entry(claim).or_default();
            of_claim[0] += accepted;
            of_claim[1] += not_certified;
        }
        sum
    }

    /// Expects certificates of claims, and few verdicts without one.
    pub(crate) fn expect(&self, kind: &str, claims: &[&str]) {
        println!("{kind}: {:?}", self.0);
        for claim in claims {
            let [accepted, not_certified] = self.0.get(claim).copied().unwrap_or_default();
            assert!(accepted > 0, "{kind}: {claim}");
            // Reasons that are said to be needed are needed; updates have rules that certificates do not contain.
            let share = if *claim == "reasons" && kind != "updates" {
                1_000
            } else {
                6
            };
            assert!(not_certified <= accepted / share, "{kind}: {claim}");
        }
    }
}

fn check_all(kind: &str, claims: &[&str], ask: impl Fn(u64) -> Option<(Universe, Request)> + Sync) {
    let veripb = VeriPb::find();
    let tallies = seeds::for_all(seeds::count(SEEDS), |seed| {
        let mut tally = Tally::default();
        if let Some((universe, request)) = ask(seed) {
            let name = format!("{kind}-{seed}");
            tally.add(&packages(&universe), &request, veripb.as_ref(), &name);
        }
        tally
    });
    Tally::join(tallies).expect(kind, claims);
}

pub(crate) fn with_request(universe: Universe) -> (Universe, Request) {
    let request = request(&universe);
    (universe, request)
}

#[test]
fn claims_about_random_universes_are_certified() {
    check_all("random", &["none", "reasons", "better", "single"], |seed| {
        Some(with_request(Universe::random(seed)))
    });
}

#[test]
fn claims_about_one_release_of_each_package_are_certified() {
    check_all("single", &["none", "reasons", "better"], |seed| {
        Some(with_request(Universe {
            single_version: true,
            ..Universe::random(seed)
        }))
    });
}

#[test]
fn claims_about_shared_classes_are_certified() {
    check_all("hubs", &["none", "reasons", "better"], |seed| {
        Some(with_request(Universe {
            single_version: seed % 2 == 0,
            ..Universe::around_hubs(seed).with_interfaces(seed)
        }))
    });
}

#[test]
fn claims_about_cycles_of_packages_are_certified() {
    check_all("entangled", &["none", "reasons", "better"], |seed| {
        Some(with_request(Universe {
            single_version: seed % 2 == 0,
            ..Universe::entangled(seed)
        }))
    });
}

/// A universe, and an update of one of its packages from a lock of before its newest releases.
pub(crate) fn random_update(seed: u64) -> Option<(Universe, Request)> {
    let universe = match seed % 3 {
        0 => Universe::random(seed / 3),
        1 => Universe::around_hubs(seed / 3),
        _ => Universe::entangled(seed / 3),
    };
    let mut random = Random::new(seed);
    let mut earlier = universe.clone();
    let newest = |record: &IndexRecord| {
        let others = universe.records.iter();
        let mut others = others.filter(|other| other.name == record.name);
        others.all(|other| other.version <= record.version)
    };
    earlier
        .records
        .retain(|record| !newest(record) || random.chance(40));
    let mut supplied = packages(&earlier);
    let Step::Solved(before) = drive(&mut Resolver::new(request(&earlier)), &mut supplied) else {
        return None;
    };
    let names = before.packages().iter().map(|package| package.name.clone());
    let names: Vec<PackageName> = names.collect();
    if names.is_empty() {
        return None;
    }
    let mut request = request(&universe);
    request.locked = before.to_locked();
    request.options.single_version |= random.chance(70);
    // Most updates move nothing but what they name, so several are tried.
    for _ in 0..10 {
        let name = random.pick(&names).clone();
        let versions = universe.records.iter().filter(|record| record.name == name);
        let versions: Vec<Version> = versions.map(|record| record.version.clone()).collect();
        let target = if random.chance(30) {
            UpdateTarget::Best
        } else {
            UpdateTarget::Exactly(random.pick(&versions).clone())
        };
        request.update = Some(Update::from(BTreeMap::from([(
            name,
            PackageUpdate::from(target),
        )])));
        let claims = all(&packages(&universe), &request);
        if claims.iter().any(|(claim, _)| *claim == "stays") {
            break;
        }
    }
    Some((universe, request))
}

#[test]
fn claims_about_updates_are_certified() {
    check_all("updates", &["reasons", "stays"], random_update);
}
