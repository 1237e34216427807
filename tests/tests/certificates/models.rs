//! Object models: the problem has a solution exactly if the reference finds one, and a model without one has a
//! certificate.

use std::sync::Arc;

use pkgres_certificate::{
    Certificate, Encoding, NotCertified, Tiers, Universe as Encoded, certify_model,
    packages_of_model,
};
use pkgres_manifest::{IndexRecord, Package, PackageName, Release};
use pkgres_resolver::{ClassFiles, Resolver, Step, Supply};
use pkgres_tests::drive::{Packages, Records, advance};
use pkgres_tests::examples::variation;
use pkgres_tests::models::{Model, examples};
use pkgres_tests::reference::search_where;
use pkgres_tests::seeds;
use pkgres_tests::universe::Universe;

use crate::certified::{accept, packages};
use crate::satisfiable::ClauseSolver;
use crate::veripb::VeriPb;

const SEEDS: u64 = 1_500;

/// The packages of a model, with their class files.
struct PackagesOfModel<'model> {
    records: Records,
    model: &'model Model,
}

impl Packages for PackagesOfModel<'_> {
    fn supply(&mut self, name: &PackageName) -> Supply {
        self.records.supply_of(name)
    }

    fn classes(&mut self, release: &Release) -> Option<Arc<Package>> {
        self.model.classes(release)
    }
}

/// The certificate that a model has no resolution; `None` if it has one.
fn certified(model: &Model) -> Option<Result<Certificate, NotCertified>> {
    let request = model.request();
    let mut resolver = Resolver::new(request.clone());
    let mut supplied = PackagesOfModel {
        records: packages(&model.universe),
        model,
    };
    match advance(&mut resolver, &mut supplied) {
        Step::Impossible => {}
        Step::Solved(_) => return None,
        step => panic!("there is no verdict: {step:?}"),
    }
    let evidence = resolver.take_evidence();
    let mut known = Records::new([]).by_name().clone();
    loop {
        let needed = packages_of_model(&request, &known);
        if needed.is_empty() {
            return Some(certify_model(&request, &known, &evidence.class_files));
        }
        for name in needed {
            let of_package = supplied.records.by_name().get(&name).cloned();
            known.insert(name, of_package.unwrap_or_default());
        }
    }
}

/// Whether the problem with the contracts of all releases has a solution.
fn has_solution(model: &Model) -> bool {
    let request = model.request();
    let tiers = if request.options.single_version {
        Tiers::First
    } else {
        Tiers::Both
    };
    let universe = Encoded::new(&request, packages(&model.universe).by_name());
    let universe = universe.expect("it is no update");
    let releases = model.universe.records.iter();
    let releases = releases.map(IndexRecord::release);
    let class_files: ClassFiles = releases
        .filter_map(|release| Some((release.clone(), model.classes(&release)?)))
        .collect();
    let encoding = Encoding::of_model(&universe, tiers, &class_files);
    let mut solver = ClauseSolver::new();
    for row in encoding.formula().rows() {
        solver.add_row(row);
    }
    solver.solve().is_some()
}

/// How many models have a resolution, have a certificate that they have none, and have neither.
fn check_all(models: impl Fn(u64) -> Option<Model> + Sync) -> [usize; 3] {
    let veripb = VeriPb::find();
    let results = seeds::for_all(seeds::count(SEEDS), |seed| {
        let model = models(seed)?;
        let as_packages = model.as_packages();
        let expected = search_where(&as_packages, &|solution| {
            model.meets_contracts(&as_packages, solution)
        });
        let is_solved = expected.solution().is_some();
        let mut records = model.universe.records.iter();
        if records.all(|record| record.classes.is_some()) {
            assert_eq!(has_solution(&model), is_solved, "seed {seed}\n{model}");
        } else if is_solved {
            // With unknown classes the problem allows more.
            assert!(has_solution(&model), "seed {seed}\n{model}");
        }
        Some(match certified(&model) {
            None => 0,
            Some(Ok(certificate)) => {
                assert!(!is_solved, "seed {seed}\n{model}");
                accept(&certificate, veripb.as_ref(), &format!("model-{seed}"));
                1
            }
            Some(Err(error)) => {
                println!("model {seed}: {error}");
                2
            }
        })
    });
    let mut counts = [0; 3];
    for result in results.into_iter().flatten() {
        counts[result] += 1;
    }
    counts
}

fn expect(kind: &str, [solved, certified, not_certified]: [usize; 3]) {
    println!("{kind}: {solved} solved, {certified} certified, {not_certified} not certified");
    assert!(solved > 0 && certified > 0, "{kind}");
    // Some have packages with unknown classes, of which the problem allows more.
    assert!(not_certified <= certified / 50, "{kind}");
}

#[test]
fn random_models_without_a_resolution_are_certified() {
    let random = |seed| Model::random(seed, Universe::random(seed));
    expect("random", check_all(random));
}

#[test]
fn models_of_varied_examples_without_a_resolution_are_certified() {
    let varied = |seed| Model::random(seed, variation(seed));
    expect("varied", check_all(varied));
}

#[test]
fn example_models_have_the_solutions_of_the_reference() {
    for (name, model) in examples() {
        let as_packages = model.as_packages();
        let expected = search_where(&as_packages, &|solution| {
            model.meets_contracts(&as_packages, solution)
        });
        let is_solved = expected.solution().is_some();
        assert_eq!(has_solution(&model), is_solved, "{name}");
        assert_eq!(certified(&model).is_none(), is_solved, "{name}");
    }
}
