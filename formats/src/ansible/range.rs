//! The range language of collections, as ansible-core evaluates it.
//!
//! A range is a list of clauses, separated by commas, which all have to hold. A clause is an operator and a version;
//! without an operator, the version has to be equal. Missing components are zero, so `1.2` is exactly 1.2.0. Versions
//! are ordered as in Semantic Versioning: `<2.0.0` admits 2.0.0-rc.1.
//!
//! ansible-core reads the version in a clause loosely: it accepts leading zeros, and more than three numbers, of
//! which only three count. After fewer numbers, it recognizes a suffix only if a lower-case letter or a digit follows the
//! sign, as in `1.2-rc.1`. It evaluates clauses one by one and stops at the first false one, so it may never notice a
//! malformed clause, and it ignores text after the third number. Here both are errors. Spaces around operators and
//! commas are allowed.

use pkgres_manifest::diagnostic::{Code, Escaped, Span};
use pkgres_manifest::document::NodeReader;
use pkgres_manifest::{
    MAX_SPEC_BYTES, MAX_SPEC_CLAUSES, Spec, SpecError, Version, VersionSet, range_of_other_systems,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
    LessOrEqual,
    Less,
}

/// Longer operators first, so that `>=` is not read as `>`.
const OPERATORS: [(&str, Operator); 7] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
];

/// White space around clauses and operators. Block scalars end with a line feed.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// A range as ansible-galaxy reads it, without the white space that only pkgres allows.
pub(super) fn compact(written: &str) -> String {
    written.replace(BLANKS, "")
}

/// Reads a range of a document.
pub(super) fn read(nodes: &mut NodeReader, text: &str, span: Span) -> Option<Spec> {
    match parse(text) {
        Ok(spec) => {
            if !text.split(',').all(is_read_by_ansible_core) {
                let shown = Escaped::shortened(text);
                let message = format!("`ansible-galaxy` fails with the white space in `{shown}`");
                let hint = format!("write `{}`", compact(text));
                nodes.warning_of(Code::Spec, message, span).add_hint(hint);
            }
            Some(spec)
        }
        Err(error) => {
            let finding = nodes.error_of(Code::Spec, error.to_string(), span);
            let suggestion = error.suggestion.map(|range| format!("write `{range}`"));
            finding.hints.extend(suggestion);
            None
        }
    }
}

/// Reads a range.
pub(crate) fn parse(text: &str) -> Result<Spec, SpecError> {
    let problem = |reason: String| SpecError::new(text, reason, suggestion(text));
    if text.len() > MAX_SPEC_BYTES {
        return Err(SpecError::new(
            text,
            format!("a range has at most {MAX_SPEC_BYTES} bytes"),
            None,
        ));
    }
    let clauses: Vec<&str> = text.split(',').map(without_blanks).collect();
    if clauses.len() > MAX_SPEC_CLAUSES {
        return Err(problem(format!(
            "a range has at most {MAX_SPEC_CLAUSES} clauses"
        )));
    }
    let mut set = VersionSet::all();
    let mut names_prerelease = false;
    for clause in &clauses {
        let (operator, version) = read_clause(clause).map_err(problem)?;
        let Some(version) = version else {
            continue;
        };
        names_prerelease =
            clauses.len() == 1 && operator == Operator::Equal && version.is_prerelease();
        set = set.intersection(&matching(operator, &version));
    }
    // It is printed on terminals, where others than spaces move the cursor.
    let written = without_blanks(text).replace(BLANKS, " ");
    Ok(Spec::native(&written, set, names_prerelease))
}

/// The range of the versions that are compatible with one under Semantic Versioning. A prerelease has to be named, so its
/// range is the version alone.
pub(crate) fn compatible_with(version: &Version) -> Spec {
    let (major, minor, patch) = (version.major(), version.minor(), version.patch());
    let until = match (major, minor) {
        _ if version.is_prerelease() => None,
        (0, 0) => patch.checked_add(1).map(|next| format!("0.0.{next}")),
        (0, minor) => minor.checked_add(1).map(|next| format!("0.{next}.0")),
        (major, _) => major.checked_add(1).map(|next| format!("{next}.0.0")),
    };
    let version = version.without_build();
    let range = match until {
        Some(until) => format!(">={version},<{until}"),
        None => version.to_string(),
    };
    parse(&range).expect("a range of versions is shorter than the longest one")
}

/// Whether ansible-core reads a clause with the white space that it has. It ignores what follows three numbers, and the
/// line feed at the end of a suffix.
fn is_read_by_ansible_core(clause: &str) -> bool {
    let stated = clause.trim_end_matches(BLANKS);
    let blanks = &clause[stated.len()..];
    let is_ignored = if stated.contains(['-', '+']) {
        blanks == "\n"
    } else {
        stated.split('.').count() >= 3
    };
    !stated.contains(BLANKS) && (blanks.is_empty() || is_ignored)
}

fn without_blanks(part: &str) -> &str {
    part.trim_matches(BLANKS)
}

/// Reads a clause. The version is `None` if it is `*`, which holds for every version whatever the operator.
fn read_clause(clause: &str) -> Result<(Operator, Option<Version>), String> {
    if clause.is_empty() {
        return Err("a clause is empty".to_owned());
    }
    let with_operator = OPERATORS
        .iter()
        .find_map(|(symbol, operator)| Some((*operator, clause.strip_prefix(symbol)?)));
    let (operator, operand) = match with_operator {
        Some((operator, rest)) => (operator, without_blanks(rest)),
        None => (Operator::Equal, clause),
    };
    match operand {
        "" => Err("there is no version after the operator".to_owned()),
        "*" => Ok((operator, None)),
        operand => Ok((operator, Some(read_operand(operand)?))),
    }
}

/// Reads the version of a clause.
fn read_operand(text: &str) -> Result<Version, String> {
    let quoted = Escaped::shortened(text);
    if text.contains('|') {
        return Err("there is no \"or\" in a range".to_owned());
    }
    if text.contains(char::is_whitespace) {
        return Err(format!(
            "`{quoted}` contains white space; separate clauses with commas"
        ));
    }
    if let Some(operator) = ["~=", "~", "^", "=", ">", "<"]
        .iter()
        .find(|sign| text.starts_with(**sign))
    {
        return Err(format!("`{operator}` is not an operator here"));
    }
    let (numbers, suffix) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let is_complete = numbers.split('.').count() >= 3;
    let after_sign = suffix.as_bytes().get(1);
    let is_splittable = |next: &u8| next.is_ascii_lowercase() || next.is_ascii_digit();
    if !is_complete && after_sign.is_some_and(|next| !is_splittable(next)) {
        return Err(format!(
            "ansible-core reads `{}` only after three numbers",
            Escaped::shortened(suffix)
        ));
    }
    let mut components = [0_u64; 3];
    for (at, part) in numbers.split('.').enumerate() {
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("`{quoted}` is not a version"));
        }
        // ansible-core takes three of more than three numbers.
        if let Some(component) = components.get_mut(at) {
            *component = part
                .parse()
                .map_err(|_| format!("`{}` is too large", Escaped::shortened(part)))?;
        }
    }
    let [major, minor, patch] = components;
    let padded = format!("{major}.{minor}.{patch}{suffix}");
    Version::parse(&padded)
        .map_err(|error| format!("`{quoted}` is not a version: {}", error.reason))
}

/// The versions for which a clause holds.
fn matching(operator: Operator, version: &Version) -> VersionSet {
    let exactly = VersionSet::exactly(version);
    let from = VersionSet::between(version.without_build(), None);
    match operator {
        Operator::Equal => exactly,
        Operator::NotEqual => exactly.complement(),
        Operator::GreaterOrEqual => from,
        Operator::Greater => from.intersection(&exactly.complement()),
        Operator::Less => from.complement(),
        Operator::LessOrEqual => from.complement().union(&exactly),
    }
}

/// The range that was probably intended: what other ecosystems write, in this language.
fn suggestion(text: &str) -> Option<String> {
    let range = range_of_other_systems(text)?;
    let clauses = range.split(',').map(|clause| {
        if read_clause(clause).is_ok() {
            Some(clause.to_owned())
        } else {
            suggested_clause(clause).filter(|suggested| parse(suggested).is_ok())
        }
    });
    let clauses: Option<Vec<String>> = clauses.collect();
    clauses
        .map(|clauses| clauses.join(","))
        .filter(|range| range != text.trim())
}

/// Translates a clause of another ecosystem into clauses of this one.
fn suggested_clause(text: &str) -> Option<String> {
    let numbers = |text: &str| -> Option<Vec<u64>> {
        text.split('.').map(|part| part.parse().ok()).collect()
    };
    let between = |from: &str, until: &[u64]| {
        let until: Vec<String> = until.iter().map(u64::to_string).collect();
        Some(format!(">={from},<{}", until.join(".")))
    };
    if let Some(base) = text.strip_suffix(".*") {
        let mut parts = numbers(base)?;
        *parts.last_mut()? = parts.last()?.checked_add(1)?;
        return between(base, &parts);
    }
    if let Some(base) = text.strip_prefix('^') {
        return between(base, &[numbers(base)?.first()?.checked_add(1)?, 0, 0]);
    }
    if let Some(base) = text.strip_prefix("~=") {
        return match numbers(base)?[..] {
            [major, minor, _] => between(base, &[major, minor.checked_add(1)?, 0]),
            [major, _] => between(base, &[major.checked_add(1)?, 0, 0]),
            _ => None,
        };
    }
    // As npm and cargo read it.
    if let Some(base) = text.strip_prefix('~') {
        return match numbers(base)?[..] {
            [major, minor] | [major, minor, _] => between(base, &[major, minor.checked_add(1)?, 0]),
            [major] => between(base, &[major.checked_add(1)?, 0, 0]),
            _ => None,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(range: &str, version: &str) -> bool {
        let version = Version::parse(version).expect("a version");
        parse(range).expect(range).matches(&version)
    }

    #[test]
    fn a_bare_version_is_exact_and_padded() {
        assert!(matches("1.2", "1.2.0"));
        assert!(!matches("1.2", "1.2.1"));
        assert!(matches("1", "1.0.0+build"));
        assert!(matches("*", "0.0.0-0"));
        assert!(matches(">=*", "1.0.0-rc.1"));
        assert!(matches(">=01.2.0.9", "1.2.0"));
        assert!(matches("1.2-rc.A", "1.2.0-rc.A"));
        assert!(matches(">=1.2.0-RC.1", "1.2.0"));
        assert!(matches("<1.2.0--1", "1.2.0---"));
    }

    /// As `meets_requirements` of ansible-core 2.19 reads them.
    #[test]
    fn white_space_fails_unless_ansible_core_ignores_it() {
        for (range, is_read) in [
            ("1.9.0", true),
            ("*", true),
            ("1.9.0 ", true),
            (">=1.0.0\t", true),
            (">=1.2.3.4 ", true),
            (">=1.0.0 ,<2.0.0\r\n", true),
            (">=1.0.0-rc.1\n", true),
            (">=1.0-rc.1\n", true),
            (" 1.9.0", false),
            (" >=1.9.0", false),
            (">= 1.9.0", false),
            (">=1.0.0, <2.0.0", false),
            ("1.9 ", false),
            ("1.9\n", false),
            ("* ", false),
            (">=*\n", false),
            (">=1.0.0-rc.1 ", false),
            (">=1.0.0-rc.1\r\n", false),
            (">=1.0.0+b ", false),
        ] {
            assert!(parse(range).is_ok(), "{range:?}");
            let clauses = range.split(',');
            assert_eq!(
                clauses.into_iter().all(is_read_by_ansible_core),
                is_read,
                "{range:?}"
            );
        }
    }

    #[test]
    fn prereleases_are_ordered_like_other_versions() {
        assert!(matches("<2.0.0", "2.0.0-rc.1"));
        assert!(!matches(">=1.0.0", "1.0.0-rc.1"));
        assert!(matches("> 1.0.0-rc.1, <= 1.0.0", "1.0.0"));
        assert!(!matches(">1.0.0-rc.1", "1.0.0-rc.1"));
    }

    #[test]
    fn a_clause_after_a_false_one_is_read_too() {
        for bad in [
            "",
            ",",
            ">=1,",
            "~1.0",
            "^1.0",
            "~=1.0",
            "===1.0.0",
            "1.x",
            "1.*",
            "latest",
            "1.0.0rc1",
            ">=1.0.0||<1",
            "<0,1.0.0-01",
            "1..2",
            "v1.0.0",
            "=>1.0",
            ">=1 <2",
            "1.0.0-",
            ">=2.9-RC.1",
            "<=3--1",
            "1.2+B",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let suggested = |text| parse(text).expect_err(text).suggestion;
        assert_eq!(suggested("1.*").as_deref(), Some(">=1,<2"));
        assert_eq!(suggested("~=1.4.2").as_deref(), Some(">=1.4.2,<1.5.0"));
        assert_eq!(suggested("~=1.4").as_deref(), Some(">=1.4,<2.0.0"));
        assert_eq!(suggested("~1.4.2").as_deref(), Some(">=1.4.2,<1.5.0"));
        assert_eq!(suggested("~1.4").as_deref(), Some(">=1.4,<1.5.0"));
        assert_eq!(suggested("~1").as_deref(), Some(">=1,<2.0.0"));
        assert_eq!(suggested("^1.4").as_deref(), Some(">=1.4,<2.0.0"));
        assert_eq!(suggested("v1.4").as_deref(), Some("1.4"));
        assert_eq!(suggested("latest").as_deref(), Some("*"));
        assert_eq!(suggested("").as_deref(), Some("*"));
        assert_eq!(suggested(">=1 <2").as_deref(), Some(">=1,<2"));
        assert_eq!(suggested("~>1.0").as_deref(), Some(">=1.0,<2.0.0"));
        assert_eq!(suggested("=>1.0").as_deref(), Some(">=1.0"));
        assert_eq!(suggested("1.0.0rc1"), None);
    }

    #[test]
    fn compatible_versions_have_the_same_major_or_minor() {
        for (version, range) in [
            ("1.2.3", ">=1.2.3,<2.0.0"),
            ("1.2.3+build.7", ">=1.2.3,<2.0.0"),
            ("0.2.3", ">=0.2.3,<0.3.0"),
            ("0.0.3", ">=0.0.3,<0.0.4"),
            ("2.0.0-rc.1", "2.0.0-rc.1"),
            ("18446744073709551615.0.0", "18446744073709551615.0.0"),
        ] {
            let version = Version::parse(version).expect(version);
            let compatible = compatible_with(&version);
            assert_eq!(compatible.written(), range);
            assert!(compatible.matches(&version), "{range}");
            assert_eq!(compatible.names_prerelease(), version.is_prerelease());
        }
    }

    #[test]
    fn only_a_lone_equality_names_a_prerelease() {
        for (range, names) in [
            ("1.0.0-rc.1", true),
            ("=1.0.0-rc.1", true),
            ("== 1.0.0-rc.1", true),
            ("1.0.0", false),
            (">=1.0.0-rc.1", false),
            ("==1.0.0-rc.1,*", false),
            ("!=1.0.0-rc.1", false),
        ] {
            assert_eq!(
                parse(range).expect(range).names_prerelease(),
                names,
                "{range}"
            );
        }
    }
}
