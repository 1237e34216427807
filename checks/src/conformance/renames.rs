//! Suggests methods that are probably a missing function under another name.

use std::collections::{HashMap, HashSet};

use pkgres_manifest::{InterfaceFunction, Method, SuggestionEffort, most_similar};

use super::signature::compare;

/// A method that no interface of the class has.
pub(super) type Candidate<'packages> = (&'packages str, &'packages Method);

/// For each missing function a method of another name that probably is it: the one with the most similar name, or
/// else the only one that can be called in the same way, if no other missing function can be it.
pub(super) fn renames<'packages>(
    missing: &[&InterfaceFunction],
    candidates: &[Candidate<'packages>],
    effort: &mut SuggestionEffort,
) -> Vec<Option<&'packages str>> {
    let wanted = missing.iter().map(|function| {
        let letters = function.name.value.len();
        letters.max(1) + function.arguments.len()
    });
    let known = candidates.iter().map(|(name, method)| {
        let letters = name.len();
        letters.max(1) + method.arguments.len()
    });
    let (wanted, known): (usize, usize) = (wanted.sum(), known.sum());
    if missing.is_empty() || !effort.take(wanted.saturating_mul(known)) {
        return vec![None; missing.len()];
    }
    let names = || candidates.iter().map(|(name, _)| *name);
    let mut found: Vec<Option<&str>> = missing
        .iter()
        .map(|function| most_similar(&function.name.value, names()))
        .collect();
    let similar: HashSet<&str> = found.iter().copied().flatten().collect();
    let mut fitting: Vec<Vec<&str>> = Vec::with_capacity(missing.len());
    for (function, found) in missing.iter().zip(&found) {
        let fits = |candidate: &&Candidate<'packages>| {
            let (name, method) = candidate;
            !similar.contains(name)
                && compare(&function.arguments, &method.arguments)
                    .differences
                    .is_empty()
        };
        let open = candidates.iter().filter(|_| found.is_none());
        fitting.push(open.filter(fits).map(|(name, _)| *name).collect());
    }
    let mut functions_of: HashMap<&str, usize> = HashMap::new();
    for name in fitting.iter().flatten() {
        *functions_of.entry(name).or_default() += 1;
    }
    for (found, fitting) in found.iter_mut().zip(&fitting) {
        if let [only] = fitting.as_slice()
            && functions_of[only] == 1
        {
            *found = Some(*only);
        }
    }
    found
}
