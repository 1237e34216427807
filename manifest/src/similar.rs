//! "Did you mean": the most similar of some words.

/// Longer words have no similar ones: comparing takes time quadratic in the length.
const MAX_CHARACTERS: usize = 255;

/// The candidate that differs least from `word`, if it differs little enough to be meant.
///
/// Distance counts insertions, deletions, replacements and swaps of neighbours; a third of the
/// longer word may differ. Among equally similar candidates the first wins.
///
/// ```
/// use pkgres_manifest::most_similar;
///
/// assert_eq!(most_similar("Requires", ["Require", "Version"]), Some("Require"));
/// assert_eq!(most_similar("Banana", ["Require", "Version"]), None);
/// ```
pub fn most_similar<'word>(
    word: &str,
    candidates: impl IntoIterator<Item = &'word str>,
) -> Option<&'word str> {
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let (one, two) = (word.chars().count(), candidate.chars().count());
            let allowed = one.max(two).div_ceil(3);
            if one.abs_diff(two) > allowed || one > MAX_CHARACTERS {
                return None;
            }
            let distance = distance(word, candidate);
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(one: &str, two: &str) -> usize {
    let one: Vec<char> = one.to_lowercase().chars().collect();
    let two: Vec<char> = two.to_lowercase().chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in two.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == two[j - 1] && one[i - 1] == *b {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[two.len()]
}
