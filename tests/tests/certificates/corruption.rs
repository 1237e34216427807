//! Certificates that are changed in one place.

use pkgres_certificate::Certificate;
use pkgres_proof_checker::check;
use pkgres_tests::random::Random;
use pkgres_tests::seeds;
use pkgres_tests::universe::Universe;

use crate::certified::{Outcome, certified};
use crate::satisfiable::ClauseSolver;
use crate::veripb::VeriPb;

const SEEDS: u64 = 600;

/// What became of a changed certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Both checkers reject it.
    Rejected,
    /// It is accepted, and what it proves is true: the change weakened nothing that the proof needs.
    StillTrue,
}

/// Changes a certificate in one place. `None` if the place has nothing to change.
fn corrupted(certificate: &Certificate, random: &mut Random) -> Option<Certificate> {
    let mut changed = certificate.clone();
    let of_problem = random.chance(30);
    let text = if of_problem {
        &mut changed.problem
    } else {
        &mut changed.proof
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // Not the headers, and only the number in the conclusion of the ends.
    let (first, after) = if of_problem {
        (1, lines.len())
    } else {
        (1, lines.len() - 1)
    };
    let at = random.between(first, after - 1);
    let line = lines[at].clone();
    if line.starts_with("output") {
        return None;
    }
    match random.below(6) {
        0 if line.contains("~x") => lines[at] = line.replacen("~x", "x", 1),
        1 if line.contains(" x") => lines[at] = line.replacen(" x", " ~x", 1),
        2 => change_a_number(&mut lines[at], random)?,
        3 if line.starts_with("rup") || of_problem => drop_a_term(&mut lines[at])?,
        4 if !line.starts_with('f') && !line.starts_with("conclusion") => {
            lines.remove(at);
        }
        5 if at + 1 < after => lines.swap(at, at + 1),
        _ => return None,
    }
    *text = lines.join("\n") + "\n";
    (changed != *certificate).then_some(changed)
}

/// Adds to or subtracts from one of the numbers of a line: a coefficient, a degree, the number of a constraint or variable.
fn change_a_number(line: &mut String, random: &mut Random) -> Option<()> {
    let words: Vec<&str> = line.split(' ').collect();
    let numbers: Vec<usize> = (0..words.len())
        .filter(|at| words[*at].trim_end_matches(';').parse::<u64>().is_ok())
        .collect();
    if numbers.is_empty() {
        return None;
    }
    let at = *random.pick(&numbers);
    let number: u64 = words[at].trim_end_matches(';').parse().ok()?;
    let changed = if random.chance(50) {
        number + 1
    } else {
        number.checked_sub(1)?
    };
    let end = if words[at].ends_with(';') { ";" } else { "" };
    let changed = format!("{changed}{end}");
    let mut words: Vec<&str> = words;
    words[at] = &changed;
    *line = words.join(" ");
    Some(())
}

/// Removes the first term of an inequality.
fn drop_a_term(line: &mut String) -> Option<()> {
    let from = line.find("1 ")?;
    let term = &line[from..];
    let length = term.match_indices(' ').nth(1)?.0 + 1;
    if term.starts_with("1 x") || term.starts_with("1 ~x") {
        line.replace_range(from..from + length, "");
        return Some(());
    }
    None
}

/// Whether a problem whose coefficients are small has no solution; `None` if it cannot be read.
fn is_unsatisfiable(problem: &str) -> Option<bool> {
    let mut solver = ClauseSolver::new();
    for line in problem.lines().filter(|line| !line.starts_with('*')) {
        let words: Vec<&str> = line.strip_suffix(" ;")?.split(' ').collect();
        let [terms @ .., ">=", degree] = words.as_slice() else {
            return None;
        };
        let mut literals = Vec::new();
        for term in terms.chunks_exact(2) {
            let (sign, name) = match term[1].strip_prefix('~') {
                Some(name) => (-1, name),
                None => (1, term[1]),
            };
            let number: isize = name.strip_prefix('x')?.parse().ok()?;
            let count: usize = term[0].parse().ok()?;
            literals.extend(std::iter::repeat_n(sign * number, count));
        }
        solver.add(&literals, degree.parse().ok()?);
    }
    Some(solver.solve().is_none())
}

fn fate(certificate: &Certificate, veripb: Option<&VeriPb>, name: &str) -> Fate {
    let own = check(&certificate.problem, &certificate.proof).is_ok();
    let others = veripb.map(|veripb| veripb.accepts(certificate, name));
    assert!(
        !own || others != Some(false),
        "{name}: VeriPB rejects what our own checker accepts\n{}\n{}",
        certificate.problem,
        certificate.proof
    );
    if !own && others != Some(true) {
        return Fate::Rejected;
    }
    assert_eq!(
        is_unsatisfiable(&certificate.problem),
        Some(true),
        "{name}\n{}\n{}",
        certificate.problem,
        certificate.proof
    );
    Fate::StillTrue
}

#[test]
fn corrupted_certificates_are_rejected_or_still_true() {
    let veripb = VeriPb::find();
    let results = seeds::for_all(seeds::count(SEEDS), |seed| {
        let universe = if seed % 2 == 0 {
            Universe::random(seed)
        } else {
            Universe::around_hubs(seed)
        };
        let Outcome::Impossible(Ok(certificate)) = certified(&universe) else {
            return Vec::new();
        };
        let mut random = Random::new(seed);
        (0..4)
            .filter_map(|_| corrupted(&certificate, &mut random))
            .map(|changed| fate(&changed, veripb.as_ref(), &format!("corrupted-{seed}")))
            .collect()
    });
    let fates: Vec<Fate> = results.into_iter().flatten().collect();
    let rejected = fates.iter().filter(|fate| **fate == Fate::Rejected).count();
    println!(
        "{} certificates changed in one place: {rejected} rejected, {} still true",
        fates.len(),
        fates.len() - rejected
    );
    assert!(
        rejected > fates.len() / 3 && fates.len() > 10,
        "{rejected} of {}",
        fates.len()
    );
}
