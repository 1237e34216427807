//! Narrows a range, so that it excludes the versions that lack an imported name.

use pkgres_manifest::Version;

use super::range::compact;

/// The most versions that a range leaves out one by one.
const MAX_HOLES: usize = 3;

/// The part of a range that has the versions that fit: `fits` says it of each version that the range allows, in
/// ascending order. `None` if none fits, or if it takes more than a few clauses to say.
///
/// ```
/// use pkgres_formats::ansible::narrowed_range;
/// use pkgres_manifest::Version;
///
/// let versions = [Version::new(1, 0, 0), Version::new(2, 0, 0), Version::new(3, 0, 0)];
/// let fits = [(&versions[0], true), (&versions[1], true), (&versions[2], false)];
/// assert_eq!(narrowed_range(">=1.0.0", &fits).as_deref(), Some(">=1.0.0,<3.0.0"));
/// ```
pub fn narrowed_range(range: &str, fits: &[(&Version, bool)]) -> Option<String> {
    let first = fits.iter().position(|(_, fits)| *fits)?;
    let last = fits.iter().rposition(|(_, fits)| *fits)?;
    let mut narrowed = compact(range);
    if first > 0 {
        narrowed = with_bound(&narrowed, ">=", fits[first].0);
    }
    if let Some((above, _)) = fits.get(last + 1) {
        narrowed = with_bound(&narrowed, "<", above);
    }
    let holes: Vec<&(&Version, bool)> =
        fits[first..last].iter().filter(|(_, fits)| !fits).collect();
    if holes.len() > MAX_HOLES {
        return None;
    }
    for (hole, _) in holes {
        narrowed = with_clause(&narrowed, &format!("!={hole}"));
    }
    Some(narrowed)
}

/// A range with a tighter bound, in the place of those that it makes superfluous.
pub(super) fn with_bound(range: &str, operator: &str, version: &Version) -> String {
    let range = &compact(range);
    let bound = format!("{operator}{version}");
    let is_superfluous = |clause: &str| clause.starts_with(&operator[..1]);
    let clauses: Vec<&str> = range.split(',').collect();
    let Some(place) = clauses.iter().position(|clause| is_superfluous(clause)) else {
        return with_clause(range, &bound);
    };
    let others = clauses.into_iter().filter(|clause| !is_superfluous(clause));
    let mut clauses: Vec<&str> = others.collect();
    clauses.insert(place, &bound);
    clauses.join(",")
}

/// A range with another clause.
fn with_clause(range: &str, clause: &str) -> String {
    match range {
        "" | "*" => clause.to_owned(),
        range => format!("{range},{clause}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_narrowed_to_what_fits() {
        let versions: Vec<Version> = (0..6).map(|minor| Version::new(1, minor, 0)).collect();
        let narrowed = |range: &str, fits: &str| {
            let fits: Vec<(&Version, bool)> = versions
                .iter()
                .zip(fits.chars().map(|one| one == 'x'))
                .collect();
            narrowed_range(range, &fits)
        };
        for (range, fits, expected) in [
            ("*", "xxxx--", Some("<1.4.0")),
            (">=1.0.0", "--xxxx", Some(">=1.2.0")),
            (">=1.0.0", "-xxx--", Some(">=1.1.0,<1.4.0")),
            (">=1.0.0,<2", "-xxxxx", Some(">=1.1.0,<2")),
            (">=1.0.0, !=2", "-xxxx-", Some(">=1.1.0,!=2,<1.5.0")),
            ("<=2,!=1.9,>0.1", "-xxxx-", Some("<1.5.0,!=1.9,>=1.1.0")),
            ("<3,>=1.0.0,<2,>=0.9.0", "-xxxxx", Some("<3,>=1.1.0,<2")),
            ("*", "xx-x-x", Some("!=1.2.0,!=1.4.0")),
            ("*", "x----x", None),
            ("*", "------", None),
        ] {
            assert_eq!(narrowed(range, fits).as_deref(), expected, "{range} {fits}");
        }
    }
}
