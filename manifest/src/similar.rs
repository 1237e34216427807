//! "Did you mean": the most similar of some words.

/// Longer words have no similar ones: comparing takes time quadratic in the length.
const MAX_CHARACTERS: usize = 255;

/// The candidate that differs least from `word`, if it differs little enough to be meant.
///
/// Distance counts insertions, deletions, replacements and swaps of neighbours; a third of the
/// longer word may differ, but never all of it. Among equally similar candidates the first wins.
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

/// The name of a package that may have been meant by another one.
///
/// Names mostly begin alike, so that their beginnings say little: the last part of a name has to be
/// similar by itself, and what comes before it, too, unless the last parts are the same. Best is a name
/// that differs in nothing but upper and lower case, then one that ends in the whole of the other.
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

/// How much names differ, if that is little enough: whether very much before their last parts, how much in
/// these, and how much before them.
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
    // A dot may be missing, or be one too many.
    let is_one_dot = dots(one).abs_diff(dots(two)) == 1
        && one.len().abs_diff(two.len()) == 1
        && distance(one, two) == 1;
    is_one_dot.then_some((false, 1, 0))
}

/// Whether a name ends in the parts of another one.
fn has_parts_at_end(name: &str, parts: &str) -> bool {
    let Some(at) = name.len().checked_sub(parts.len()) else {
        return false;
    };
    let (Some(before), Some(end)) = (name.get(..at), name.get(at..)) else {
        return false;
    };
    end.eq_ignore_ascii_case(parts) && (before.is_empty() || before.ends_with('.'))
}

/// How much words differ, if that is not more than a third of the longer one, and less than all of it.
fn little_distance(one: &str, two: &str) -> Option<usize> {
    let (ones, twos) = (one.chars().count(), two.chars().count());
    let longer = ones.max(twos);
    let allowed = longer.div_ceil(3).min(longer.saturating_sub(1));
    if ones.abs_diff(twos) > allowed {
        return None;
    }
    Some(distance(one, two)).filter(|distance| *distance <= allowed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_have_in_common_does_not_make_them_similar() {
        let known = [
            "io.example.databases.Postgres",
            "io.example.Db",
            "io.example.Logging",
            "io.example.Ui",
        ];
        let check = |name: &str, meant: Option<&str>| {
            assert_eq!(most_similar_name(name, known), meant, "{name}");
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
