//! Certificates that are changed in one place.

use std::ops::RangeInclusive;

use pkgres_certificate::{Certificate, Claim, verify};
use pkgres_tests::random::Random;
use pkgres_tests::seeds;
use pkgres_tests::universe::Universe;

use crate::certified::{all, packages};
use crate::claims::{random_update, with_request};
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

/// The file of a certificate that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum File {
    Problem,
    Proof,
    Names,
}

/// Changes a certificate in one place. `None` if the place has nothing to change.
fn corrupted(certificate: &Certificate, random: &mut Random) -> Option<Certificate> {
    let mut changed = certificate.clone();
    let file = match random.below(10) {
        0..3 => File::Problem,
        3..9 => File::Proof,
        _ => File::Names,
    };
    let without = changed.without.len();
    let of_reason = (without > 0 && random.chance(50)).then(|| random.below(without));
    let text = match (file, of_reason) {
        (File::Problem, None) => &mut changed.problem,
        (File::Proof, None) => &mut changed.proof,
        (File::Problem, Some(at)) => &mut changed.without[at].problem,
        (File::Proof, Some(at)) => &mut changed.without[at].proof,
        (File::Names, _) => {
            change_constraints(&mut changed.names, random)?;
            return Some(changed);
        }
    };
    change_a_line(text, file == File::Problem, random)?;
    (changed != *certificate).then_some(changed)
}

/// Adds to or subtracts from one of the numbers of the inequalities that belong to reasons.
fn change_constraints(names: &mut String, random: &mut Random) -> Option<()> {
    let key = "\"constraints\":[";
    let places: Vec<usize> = names
        .match_indices(key)
        .map(|(at, _)| at + key.len())
        .collect();
    if places.is_empty() {
        return None;
    }
    let from = *random.pick(&places);
    let until = from + names[from..].find(']')?;
    let numbers = names[from..until].split(',');
    let mut numbers: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
    let at = random.below(numbers.len());
    numbers[at] = if random.chance(50) {
        numbers[at] + 1
    } else {
        numbers[at].checked_sub(1)?
    };
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    names.replace_range(from..until, &numbers.join(","));
    Some(())
}

/// Changes a line of a problem or a proof. `None` if the line has nothing to change.
fn change_a_line(text: &mut String, of_problem: bool, random: &mut Random) -> Option<()> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // Not the headers, and only the number in the conclusion of the ends.
    let after = lines.len() - usize::from(!of_problem);
    if after < 3 {
        return None;
    }
    let at = random.between(1, after - 1);
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
    Some(())
}

/// Adds to or subtracts from one of the numbers of a line: a coefficient, a degree, the number of a constraint or
/// variable.
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

/// A problem without some of its inequalities.
fn without(problem: &str, numbers: &RangeInclusive<usize>) -> String {
    let lines = problem.lines().filter(|line| !line.starts_with('*'));
    let kept = (1..)
        .zip(lines)
        .filter(|(number, _)| !numbers.contains(number));
    kept.map(|(_, line)| format!("{line}\n")).collect()
}

/// Whether what a certificate claims of its problem is true.
fn is_true(certificate: &Certificate) -> bool {
    let claim = Claim::read(&certificate.names).expect("it was accepted");
    let is_needed = |(_, constraints): (usize, RangeInclusive<usize>)| {
        is_unsatisfiable(&without(&certificate.problem, &constraints)) == Some(false)
    };
    is_unsatisfiable(&certificate.problem) == Some(true) && claim.needed().all(is_needed)
}

fn fate(certificate: &Certificate, veripb: Option<&VeriPb>, name: &str) -> Fate {
    let own = verify(certificate).is_ok();
    let others = veripb.map(|veripb| {
        let mut without = certificate.without.iter();
        veripb.accepts(certificate, name)
            && without.all(|without| veripb.accepts_solution(without, name))
    });
    assert!(
        !own || others != Some(false),
        "{name}: VeriPB rejects what our own checker accepts\n{}\n{}",
        certificate.problem,
        certificate.proof
    );
    if !own {
        return Fate::Rejected;
    }
    assert!(
        is_true(certificate),
        "{name}\n{}\n{}\n{}",
        certificate.names,
        certificate.problem,
        certificate.proof
    );
    Fate::StillTrue
}

#[test]
fn corrupted_certificates_are_rejected_or_still_true() {
    let veripb = VeriPb::find();
    let results = seeds::for_all(seeds::count(SEEDS), |seed| {
        let asked = match seed % 4 {
            0 | 2 => Some(with_request(Universe::random(seed))),
            1 => Some(with_request(Universe::around_hubs(seed))),
            _ => random_update(seed),
        };
        let Some((universe, request)) = asked else {
            return Vec::new();
        };
        let mut random = Random::new(seed);
        let mut fates = Vec::new();
        for (claim, certificate) in all(&packages(&universe), &request) {
            let Ok(certificate) = certificate else {
                continue;
            };
            let name = format!("corrupted-{seed}");
            // Few updates move more than they name.
            let tries = if claim == "stays" { 20 } else { 4 };
            let changed = (0..tries).filter_map(|_| corrupted(&certificate, &mut random));
            let changed: Vec<Certificate> = changed.collect();
            let fate = |changed| (claim, fate(changed, veripb.as_ref(), &name));
            fates.extend(changed.iter().map(fate));
        }
        fates
    });
    let fates: Vec<(&str, Fate)> = results.into_iter().flatten().collect();
    for claim in ["none", "reasons", "better", "single", "stays"] {
        let of_claim = fates.iter().filter(|(of, _)| *of == claim);
        let all = of_claim.clone().count();
        let rejected = of_claim.filter(|(_, fate)| *fate == Fate::Rejected).count();
        println!("{claim}: of {all} certificates changed in one place, {rejected} are rejected");
        assert!(
            all > 10 && rejected > all / 3,
            "{claim}: {rejected} of {all}"
        );
    }
}
