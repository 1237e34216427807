//! Suggests methods that are probably a missing function under another name.

use pkgres_manifest::{InterfaceFunction, Method, most_similar};

use super::signature::compare;
use crate::suggestions::Effort;

/// A method that no interface of the class has.
pub(super) type Candidate<'packages> = (&'packages str, &'packages Method);

/// For each missing function a method of another name that probably is it: the one with the most similar name, or
/// else the only one that can be called in the same way, if no other missing function can be it.
pub(super) fn renames<'packages>(
    missing: &[&InterfaceFunction],
    candidates: &[Candidate<'packages>],
    effort: &mut Effort,
) -> Vec<Option<&'packages str>> {
    let letters = |name: &str| name.len().max(1);
    let wanted: usize = missing.iter().map(|it| letters(&it.name.value)).sum();
    let known: usize = candidates.iter().map(|(name, _)| letters(name)).sum();
    if missing.is_empty() || !effort.take(wanted.saturating_mul(known)) {
        return vec![None; missing.len()];
    }
    let names = || candidates.iter().map(|(name, _)| *name);
    let mut found: Vec<Option<&str>> = missing
        .iter()
        .map(|function| most_similar(&function.name.value, names()))
        .collect();
    let mut fitting: Vec<Vec<&str>> = Vec::with_capacity(missing.len());
    for (function, similar) in missing.iter().zip(&found) {
        let fits = |candidate: &&Candidate<'packages>| {
            let (name, method) = candidate;
            !found.contains(&Some(*name))
                && compare(&function.arguments, &method.arguments)
                    .differences
                    .is_empty()
        };
        let open = candidates.iter().filter(|_| similar.is_none());
        fitting.push(open.filter(fits).map(|(name, _)| *name).collect());
    }
    for at in 0..missing.len() {
        if let [only] = fitting[at].as_slice()
            && fitting.iter().filter(|names| names.contains(only)).count() == 1
        {
            found[at] = Some(*only);
        }
    }
    found
}
