//! `requires_ansible`: the versions of ansible-core that a collection supports, as a version specifier of PEP 440.
//!
//! ansible-core compares its *base version* with the specifier: the version without a suffix such as `rc1`. A base
//! version is three numbers, so each clause becomes a set of triples. A prerelease counts like its release: every
//! triple covers the versions from `X.Y.Z-0` to `X.Y.Z`.

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{MAX_SPEC_BYTES, MAX_SPEC_CLAUSES, Spec, SpecError, Version, VersionSet};

/// The place of the version of a clause among the base versions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Right below the triple, as 2.10.0rc1 is below 2.10.0.
    Below,
    /// The triple itself.
    At,
    /// Right above the triple, as 2.9.10.1 and 2.9.10.post1 are above 2.9.10.
    Above,
}

/// The version of a clause.
struct Operand {
    /// The numbers of the release as written.
    release: Vec<u64>,
    place: Place,
    /// Whether the text ends with `.*`.
    is_prefix: bool,
}

type Triple = (u64, u64, u64);

impl Operand {
    fn triple(&self) -> Triple {
        let part = |at| self.release.get(at).copied().unwrap_or(0);
        (part(0), part(1), part(2))
    }
}

/// Reads the specifier of `requires_ansible`. An empty one admits every version.
pub fn requires_ansible(text: &str) -> Result<Spec, SpecError> {
    let problem = |reason: String| SpecError::new(text, reason, None);
    if text.len() > MAX_SPEC_BYTES {
        return Err(problem(format!("it has more than {MAX_SPEC_BYTES} bytes")));
    }
    let clauses: Vec<&str> = text
        .split(',')
        .map(str::trim)
        .filter(|clause| !clause.is_empty())
        .collect();
    if clauses.len() > MAX_SPEC_CLAUSES {
        return Err(problem(format!(
            "it has more than {MAX_SPEC_CLAUSES} clauses"
        )));
    }
    let mut set = VersionSet::all();
    for clause in clauses {
        set = set.intersection(&matching(clause).map_err(problem)?);
    }
    Ok(Spec::native(text.trim(), set, false))
}

/// Reads a version of ansible-core, such as `2.21.0rc1` or `2.19.3`. It is [native](Version::native) unless it is written
/// as in Semantic Versioning.
pub fn ansible_core_version(text: &str) -> Option<Version> {
    let text = text.trim();
    let operand = read_operand(text, false).ok()?;
    let (major, minor, patch) = operand.triple();
    let order = match operand.place {
        Place::Below => {
            let suffix = text.trim_start_matches(|next: char| next.is_ascii_digit() || next == '.');
            let suffix: String = suffix.chars().filter(char::is_ascii_alphanumeric).collect();
            Version::parse(&format!("{major}.{minor}.{patch}-{suffix}")).ok()?
        }
        _ => Version::new(major, minor, patch),
    };
    if order.to_string() == text {
        return Some(order);
    }
    Some(Version::native(text, &order))
}

/// The versions of a clause.
fn matching(clause: &str) -> Result<VersionSet, String> {
    let operators = ["===", "~=", "==", "!=", "<=", ">=", "<", ">"];
    let split = operators
        .iter()
        .find_map(|operator| Some((*operator, clause.strip_prefix(operator)?.trim())));
    let Some((operator, text)) = split else {
        return Err(format!(
            "`{}` does not begin with an operator",
            Escaped::shortened(clause)
        ));
    };
    let may_be_prefix = matches!(operator, "==" | "!=");
    let operand = read_operand(text, may_be_prefix)?;
    let triple = operand.triple();
    let family = family(&operand.release);
    Ok(match operator {
        // It compares texts.
        "===" if text != format!("{}.{}.{}", triple.0, triple.1, triple.2) => {
            VersionSet::all().complement()
        }
        "==" | "===" | "!=" => {
            let equal = if operand.is_prefix {
                family
            } else if operand.place == Place::At {
                between(Some(triple), next(triple))
            } else {
                VersionSet::all().complement()
            };
            if operator == "!=" {
                equal.complement()
            } else {
                equal
            }
        }
        "~=" => {
            let [kept @ .., _] = &operand.release[..] else {
                return Err("`~=` needs a version with two numbers".to_owned());
            };
            if kept.is_empty() {
                return Err("`~=` needs a version with two numbers".to_owned());
            }
            from(&operand).intersection(&self::family(kept))
        }
        ">=" => from(&operand),
        "<" => from(&operand).complement(),
        ">" => above(&operand),
        _ => above(&operand).complement(),
    })
}

/// The base versions that are at least the operand.
fn from(operand: &Operand) -> VersionSet {
    match operand.place {
        Place::Above => between(next(operand.triple()), None),
        _ => between(Some(operand.triple()), None),
    }
}

/// The base versions above the operand.
fn above(operand: &Operand) -> VersionSet {
    match operand.place {
        Place::Below => between(Some(operand.triple()), None),
        _ => between(next(operand.triple()), None),
    }
}

/// The base versions that begin with some numbers.
fn family(numbers: &[u64]) -> VersionSet {
    let part = |at: usize| numbers.get(at).copied().unwrap_or(0);
    let begin = (part(0), part(1), part(2));
    match numbers.len() {
        1 => between(
            Some(begin),
            begin.0.checked_add(1).map(|major| (major, 0, 0)),
        ),
        2 => between(
            Some(begin),
            begin.1.checked_add(1).map(|minor| (begin.0, minor, 0)),
        ),
        3 => between(Some(begin), next(begin)),
        // No base version has more than three numbers other than zeros.
        _ if numbers[3..].iter().all(|number| *number == 0) => between(Some(begin), next(begin)),
        _ => VersionSet::all().complement(),
    }
}

fn next((major, minor, patch): Triple) -> Option<Triple> {
    patch.checked_add(1).map(|patch| (major, minor, patch))
}

/// The versions from one triple on that are below another one. Without a beginning there are none.
fn between(begin: Option<Triple>, end: Option<Triple>) -> VersionSet {
    let least = |(major, minor, patch): Triple| {
        Version::parse(&format!("{major}.{minor}.{patch}-0")).expect("three numbers and a zero")
    };
    match begin {
        Some(begin) => VersionSet::between(least(begin), end.map(least)),
        None => VersionSet::all().complement(),
    }
}

/// Reads a version of PEP 440, of which local versions are left out: ansible-core has none.
fn read_operand(text: &str, may_be_prefix: bool) -> Result<Operand, String> {
    let invalid = || format!("`{}` is not a version of PEP 440", Escaped::shortened(text));
    let lower = text.to_ascii_lowercase();
    let rest = lower.strip_prefix('v').unwrap_or(&lower);
    let (rest, is_prefix) = match rest.strip_suffix(".*") {
        Some(rest) if may_be_prefix => (rest, true),
        _ => (rest, false),
    };
    let rest = match rest.split_once('!') {
        Some(("0", rest)) => rest,
        Some(_) => return Err("ansible-core has no epoch".to_owned()),
        None => rest,
    };
    let end = rest
        .find(|next: char| !next.is_ascii_digit() && next != '.')
        .unwrap_or(rest.len());
    let numbers = rest[..end].trim_end_matches('.');
    let suffix = &rest[numbers.len()..];
    let mut release = Vec::new();
    for number in numbers.split('.') {
        release.push(number.parse::<u64>().map_err(|_| invalid())?);
    }
    let has_more = release.iter().skip(3).any(|number| *number > 0);
    let place = match (suffix_place(suffix).ok_or_else(invalid)?, has_more) {
        // Whatever follows a fourth number, the version is above the triple and below the next one.
        (_, true) => Place::Above,
        (place, false) => place,
    };
    if is_prefix && !suffix.is_empty() {
        return Err(invalid());
    }
    Ok(Operand {
        release,
        place,
        is_prefix,
    })
}

/// The place of a version with a suffix such as `rc1`, `.post2` or `b1.dev3`; `None` for anything else.
fn suffix_place(suffix: &str) -> Option<Place> {
    let mut place = Place::At;
    let mut rest = suffix;
    let kinds = [
        ("alpha", 0),
        ("beta", 0),
        ("preview", 0),
        ("pre", 0),
        ("post", 1),
        ("rev", 1),
        ("dev", 2),
        ("rc", 0),
        ("a", 0),
        ("b", 0),
        ("c", 0),
        ("r", 1),
    ];
    let mut last = None;
    while !rest.is_empty() {
        let word = rest.trim_start_matches(['.', '-', '_']);
        if rest.len() - word.len() > 1 {
            return None;
        }
        let (kind, after) = match kinds
            .iter()
            .find_map(|(name, kind)| Some((*kind, word.strip_prefix(name)?)))
        {
            Some((kind, after)) => {
                let number = after.trim_start_matches(['.', '-', '_']);
                let is_number = number.starts_with(|next: char| next.is_ascii_digit());
                (kind, if is_number { number } else { after })
            }
            // `1.0-1` is a post release.
            None if rest.starts_with('-')
                && word.starts_with(|next: char| next.is_ascii_digit()) =>
            {
                (1, word)
            }
            None => return None,
        };
        if last.is_some_and(|last| last >= kind) {
            return None;
        }
        if place == Place::At {
            place = if kind == 1 {
                Place::Above
            } else {
                Place::Below
            };
        }
        last = Some(kind);
        rest = after.trim_start_matches(|next: char| next.is_ascii_digit());
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifiers_are_compared_with_the_base_version() {
        for (specifier, version, expected) in [
            (">=2.9.10", "2.9.10", true),
            (">=2.9.10", "2.9.9", false),
            (">=2.9.10,<2.11", "2.11.0", false),
            (">=2.9.10,!=2.10.*", "2.10.4", false),
            (">=2.9.10,!=2.10.*", "2.11.0", true),
            ("~=2.15", "2.19.3", true),
            ("~=2.15", "3.0.0", false),
            ("~=2.15.2", "2.15.1", false),
            ("~=2.15.2", "2.16.0", false),
            ("==2.14", "2.14.0", true),
            ("== 2.14.*", "2.14.7", true),
            ("===2.14.0", "2.14.0", true),
            ("===2.14", "2.14.0", false),
            (">=2.10.0rc1", "2.10.0", true),
            (">2.10.0.dev0", "2.10.0", true),
            ("<2.10.0b1", "2.10.0", false),
            ("<=2.10.0b1", "2.9.9", true),
            (">2.9.10.post1", "2.9.10", false),
            (">=2.9.10.1", "2.9.10", false),
            ("<2.9.10.1", "2.9.10", true),
            ("", "1.0.0", true),
            (">=2.21", "2.21.0-rc1", true),
            ("<2.21", "2.21.0-rc1", false),
        ] {
            let spec = requires_ansible(specifier).expect(specifier);
            let version = Version::parse(version).expect("a version");
            assert_eq!(spec.matches(&version), expected, "{specifier} {version}");
        }
        for bad in [
            "2.9", ">=two", "=>2.9", ">=2.9.*", "~=2", ">=2.9foo", ">=1!2.0", ">=",
        ] {
            assert!(requires_ansible(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn versions_of_ansible_core_are_read_as_python_writes_them() {
        for (text, order, is_prerelease) in [
            ("2.19.3", "2.19.3", false),
            ("2.21.0-rc1", "2.21.0-rc1", true),
            ("2.21.0rc1", "2.21.0-rc1", true),
            ("2.21.0.dev0", "2.21.0-dev0", true),
            ("2.9", "2.9.0", false),
            ("2.9.10.post1", "2.9.10", false),
        ] {
            let version = ansible_core_version(text).expect(text);
            assert_eq!(version.to_string(), text);
            assert_eq!(version.in_order().to_string(), order);
            assert_eq!(version.is_prerelease(), is_prerelease, "{text}");
        }
        assert_eq!(ansible_core_version("devel"), None);
    }
}
