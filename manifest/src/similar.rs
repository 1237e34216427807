//! "Did you mean": the word that is most similar to a misspelt one.
//!
//! Distance counts insertions, deletions, replacements and swaps of neighbours, without regard to case. A candidate is
//! similar if at most a third of the characters of the longer word differ, but not all of them.

use std::fmt::Display;

use crate::diagnostic::Escaped;

/// The most characters of a word that is compared, because that takes time quadratic in the length.
const MAX_CHARACTERS: usize = 255;

/// Returns the candidate that is most similar to `word`, if any is similar at all. Among equally similar
/// candidates the first one wins.
///
/// ```
/// use pkgres_manifest::most_similar;
///
/// assert_eq!(most_similar("Requires", ["Require", "Version"]), Some("Require"));
/// assert_eq!(most_similar("Banana", ["Require", "Version"]), None);
/// assert_eq!(most_similar("a", ["b"]), None);
/// ```
pub fn most_similar<'word>(
    word: &str,
    candidates: impl IntoIterator<Item = &'word str>,
) -> Option<&'word str> {
    if word.chars().count() > MAX_CHARACTERS {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| Some((little_distance(word, candidate)?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The most pairs of letters that are compared for all findings of a package. Names of real packages take a
/// thousandth of it. Findings beyond it have no hint: a package with many wrong names and many others would
/// otherwise take minutes.
const MOST_COMPARED: usize = 50_000_000;

/// The remaining work for suggestions in the findings of a package or file.
#[derive(Debug)]
pub struct SuggestionEffort {
    left: usize,
}

impl Default for SuggestionEffort {
    fn default() -> Self {
        Self {
            left: MOST_COMPARED,
        }
    }
}

impl SuggestionEffort {
    /// Takes the work of comparing some pairs of letters, and returns whether there was enough left. Once it
    /// is not enough, nothing is left, so that hints do not depend on the lengths of later names.
    pub fn take(&mut self, pairs: usize) -> bool {
        let left = self.left.checked_sub(pairs);
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    /// As [`most_similar`]; `None` if there is not enough left to compare the word with all candidates.
    pub fn most_similar<'word>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'word str>,
    ) -> Option<&'word str> {
        let candidates = self.affordable(word, candidates)?;
        most_similar(word, candidates)
    }

    /// As [`most_similar_name`]; `None` if there is not enough left to compare the name with all candidates.
    pub fn most_similar_name<'name>(
        &mut self,
        name: &str,
        candidates: impl IntoIterator<Item = &'name str>,
    ) -> Option<&'name str> {
        let candidates = self.affordable(name, candidates)?;
        most_similar_name(name, candidates)
    }

    /// Candidates, if there is enough left to compare a word with all of them.
    fn affordable<'word>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'word str>,
    ) -> Option<Vec<&'word str>> {
        // Otherwise, going through the candidates would take time for each further word.
        if self.left == 0 {
            return None;
        }
        let candidates: Vec<&str> = candidates.into_iter().collect();
        let letters: usize = candidates.iter().map(|it| it.len().max(1)).sum();
        let pairs = word.len().max(1).saturating_mul(letters);
        self.take(pairs).then_some(candidates)
    }
}

/// The hint that names a similar word.
pub fn did_you_mean(word: impl Display) -> String {
    format!("did you mean `{}`?", Escaped::new(&word.to_string()))
}

/// Returns the candidate that is most similar to a dotted name, if any is similar at all.
///
/// Most names begin alike, so the last part has to be similar by itself, and so does what comes before it
/// unless the last parts are equal. A name that differs only in case is the most similar one, then a name
/// that ends with all of the other.
///
/// ```
/// use pkgres_manifest::most_similar_name;
///
/// let known = ["org.acme.Cache", "org.acme.Db", "org.acme.Web"];
/// assert_eq!(most_similar_name("org.acme.DB", known), Some("org.acme.Db"));
/// assert_eq!(most_similar_name("org.acme.Wbe", known), Some("org.acme.Web"));
/// assert_eq!(most_similar_name("org.amce.Web", known), Some("org.acme.Web"));
/// assert_eq!(most_similar_name("Web", known), Some("org.acme.Web"));
/// assert_eq!(most_similar_name("org.acme.Log", known), None);
/// ```
pub fn most_similar_name<'name>(
    name: &str,
    candidates: impl IntoIterator<Item = &'name str>,
) -> Option<&'name str> {
    if name.len() > MAX_CHARACTERS {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| Some((name_distance(name, candidate)?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The distance of two names, if they are similar: whether they differ very much before their last parts,
/// the distance of these, and the distance of what comes before.
fn name_distance(one: &str, two: &str) -> Option<(bool, usize, usize)> {
    let (before_one, last_one) = one.rsplit_once('.').unwrap_or(("", one));
    let (before_two, last_two) = two.rsplit_once('.').unwrap_or(("", two));
    let is_end_of = |end: &str, whole: &str| end.is_empty() || has_parts_at_end(whole, end);
    let before = || {
        if is_end_of(before_one, before_two) || is_end_of(before_two, before_one) {
            Some(usize::from(before_one.len() != before_two.len()))
        } else {
            little_distance(before_one, before_two)
        }
    };
    if let Some(last) = little_distance(last_one, last_two) {
        match before() {
            Some(before) => return Some((false, last, before)),
            None if last == 0 => return Some((true, last, distance(before_one, before_two))),
            None => {}
        }
    }
    let dots = |name: &str| name.matches('.').count();
    // A dot is missing, or one too many.
    let is_one_dot = dots(one).abs_diff(dots(two)) == 1
        && one.len().abs_diff(two.len()) == 1
        && distance(one, two) == 1;
    is_one_dot.then_some((false, 1, 0))
}

/// Whether a name ends with all parts of another one.
fn has_parts_at_end(name: &str, parts: &str) -> bool {
    let Some(at) = name.len().checked_sub(parts.len()) else {
        return false;
    };
    let (Some(before), Some(end)) = (name.get(..at), name.get(at..)) else {
        return false;
    };
    end.eq_ignore_ascii_case(parts) && (before.is_empty() || before.ends_with('.'))
}

/// The distance of two words, if they are similar.
fn little_distance(one: &str, two: &str) -> Option<usize> {
    let (ones, twos) = (one.chars().count(), two.chars().count());
    let longer = ones.max(twos);
    let allowed = longer.div_ceil(3).min(longer.saturating_sub(1));
    if ones.abs_diff(twos) > allowed {
        return None;
    }
    Some(distance(one, two)).filter(|distance| *distance <= allowed)
}

/// The distance of two words without regard to case: insertions, deletions, replacements and swaps of
/// neighbours ("optimal string alignment").
fn distance(one: &str, two: &str) -> usize {
    strsim::osa_distance(&one.to_lowercase(), &two.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_beginning_does_not_make_names_similar() {
        let known = [
            "io.example.databases.Postgres",
            "io.example.Db",
            "io.example.Logging",
            "io.example.Ui",
        ];
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(most_similar_name(name, known), expected, "{name}");
        };
        check("io.example.Web", None);
        check("io.example.Dv", Some("io.example.Db"));
        check("io.example.DB", Some("io.example.Db"));
        check("IO.EXAMPLE.ui", Some("io.example.Ui"));
        check("io.example.Loging", Some("io.example.Logging"));
        check("io.exampleDb", Some("io.example.Db"));
        check("io.exmaple.Postgres", Some("io.example.databases.Postgres"));
        check("Postgres", Some("io.example.databases.Postgres"));
        check("databases.Postgres", Some("io.example.databases.Postgres"));
        check("com.example.Ui", Some("io.example.Ui"));
        check("com.vendor.Ui", Some("io.example.Ui"));
        check("com.vendor.Uj", None);
        check(&format!("io.example.{}", "x".repeat(1000)), None);
    }
}
