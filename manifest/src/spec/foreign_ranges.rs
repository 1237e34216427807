//! Ranges as other package managers write them, in the words of a list of clauses, for suggestions.

/// Words for "whatever is newest", which an unlimited spec means.
const ANY: [&str; 7] = ["latest", "newest", "stable", "any", "current", "x", "X"];

/// The signs of one comparison that are often written another way, longer ones first.
const SIGNS: [(&str, &str); 6] = [
    ("=>", ">="),
    ("=<", "<="),
    ("<>", "!="),
    ("~>", "~="),
    ("===", "=="),
    ("@", ""),
];

/// The longest text that is looked at, in bytes.
const MAX_BYTES: usize = 256;

/// A range of another package manager as clauses with commas between them: words such as `latest`, intervals of Maven and
/// `NuGet` (`[1,2)`), ranges with a hyphen or with spaces (`1.0 - 2.0`, `1-2`, `>=1 <2`), `and`, `~>`, `≥`, `v1`, `1.x`,
/// `1.2+`, quotation marks. The result need not be a range; a string that has an "or" gives nothing.
///
/// ```
/// use pkgres_manifest::range_of_other_systems;
///
/// assert_eq!(range_of_other_systems("[1.0,2.0)").as_deref(), Some(">=1.0,<2.0"));
/// assert_eq!(range_of_other_systems(">=1 <2").as_deref(), Some(">=1,<2"));
/// ```
pub fn range_of_other_systems(text: &str) -> Option<String> {
    if text.len() > MAX_BYTES || text.contains('|') {
        return None;
    }
    let text = text
        .replace('≥', ">=")
        .replace('≤', "<=")
        .replace('≠', "!=");
    let text = text.trim_matches(|next: char| next.is_whitespace() || "\"'`".contains(next));
    if text.is_empty() || ANY.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some("*".to_owned());
    }
    if let Some(range) = interval(text) {
        return Some(range);
    }
    let is_short = |version: &str| {
        let mut bytes = version.bytes();
        bytes.all(|byte| byte.is_ascii_digit() || byte == b'.') && version.split('.').count() < 3
    };
    let ends = text.split_once(" - ").or_else(|| {
        // Behind three components, a hyphen begins a prerelease.
        let ends = text.split_once('-');
        ends.filter(|(from, until)| {
            is_short(from) && until.starts_with(|next: char| next.is_ascii_digit())
        })
    });
    if let Some((from, until)) = ends {
        return Some(format!(">={},<={}", clause(from)?, clause(until)?));
    }
    let text = text
        .replace("&&", ",")
        .replace(" and ", ",")
        .replace(';', ",");
    let clauses: Option<Vec<String>> = clauses(&text).iter().map(|part| clause(part)).collect();
    let clauses = clauses.filter(|clauses| !clauses.is_empty())?;
    Some(clauses.join(","))
}

/// An interval in mathematical notation.
fn interval(text: &str) -> Option<String> {
    let lower = match text.chars().next()? {
        '[' => ">=",
        '(' => ">",
        _ => return None,
    };
    let upper = match text.chars().last()? {
        ']' => "<=",
        ')' => "<",
        _ => return None,
    };
    let inside = text.get(1..text.len() - 1)?;
    let Some((from, until)) = inside.split_once(',') else {
        let is_point = lower == ">=" && upper == "<=";
        return is_point.then(|| inside.trim().to_owned());
    };
    let bound = |sign: &str, version: &str| {
        let version = version.trim();
        (!version.is_empty()).then(|| format!("{sign}{version}"))
    };
    let bounds = [bound(lower, from), bound(upper, until)];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    Some(if bounds.is_empty() {
        "*".to_owned()
    } else {
        bounds.join(",")
    })
}

/// The parts between commas and spaces. A sign without a version belongs to what follows.
fn clauses(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    let mut is_open = false;
    let text = before_signs(text);
    for word in text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
        match clauses.last_mut().filter(|_| is_open) {
            Some(last) => last.push_str(word),
            None => clauses.push(word.to_owned()),
        }
        is_open = word.chars().all(|next| "<>=!~^".contains(next));
    }
    clauses
}

/// The text with a comma between a version and the sign after it, as in `>=1<2`.
fn before_signs(text: &str) -> String {
    let mut separated = String::new();
    for next in text.chars() {
        let last = separated.chars().next_back();
        let follows_version = last.is_some_and(|last| last.is_ascii_digit() || last == '*');
        if follows_version && "<>=!~^".contains(next) {
            separated.push(',');
        }
        separated.push(next);
    }
    separated
}

/// One comparison.
fn clause(text: &str) -> Option<String> {
    let text = text.trim();
    let sign_ends = text
        .find(|next: char| !"<>=!~^@ ".contains(next))
        .unwrap_or(text.len());
    let (sign, version) = text.split_at(sign_ends);
    let sign = sign.replace(' ', "");
    let known = SIGNS.iter().find(|(other, _)| *other == sign);
    let mut sign = match sign.as_str() {
        "!" => "!=",
        sign => known.map_or(sign, |(_, own)| own),
    };
    let version = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let version = version.trim_end_matches('.').replace(".X", ".x");
    let mut version = version.replace(".x", ".*");
    if let Some(least) = version.strip_suffix('+').filter(|_| sign.is_empty()) {
        version = least.to_owned();
        sign = ">=";
    }
    version = plain(&version);
    if version == "*" && sign != "<" && sign != "!=" {
        sign = "";
    }
    (!version.is_empty()).then(|| format!("{sign}{version}"))
}

/// A version without leading zeros, without components after a star, and with three components before a prerelease.
fn plain(version: &str) -> String {
    let (numbers, suffix) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let mut components: Vec<&str> = Vec::new();
    for part in numbers.split('.') {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let trimmed = part.trim_start_matches('0');
        components.push(match trimmed {
            "" if is_number => "0",
            _ if is_number => trimmed,
            _ => part,
        });
        if part == "*" {
            return components.join(".");
        }
    }
    if components.len() > 3 && components.last() == Some(&"0") {
        components.pop();
    }
    let suffix = suffix.trim_end_matches(['-', '+']);
    while !suffix.is_empty() && components.len() < 3 {
        components.push("0");
    }
    components.join(".") + suffix
}

#[cfg(test)]
mod tests {
    use super::range_of_other_systems;

    #[test]
    fn ranges_of_other_systems_become_clauses() {
        for (text, range) in [
            ("latest", "*"),
            ("", "*"),
            ("[1,2)", ">=1,<2"),
            ("(1.0, 2.0]", ">1.0,<=2.0"),
            ("[1.0]", "1.0"),
            ("[1.5,)", ">=1.5"),
            ("(,2]", "<=2"),
            ("(,)", "*"),
            ("1.0 - 2.0", ">=1.0,<=2.0"),
            (">=1 <2", ">=1,<2"),
            (">= 1 < 2", ">=1,<2"),
            (">=1 and <2", ">=1,<2"),
            (">=1; <2", ">=1,<2"),
            ("~>1.2", "~=1.2"),
            ("=>1", ">=1"),
            ("=<1", "<=1"),
            ("<>1.0", "!=1.0"),
            ("!1.0", "!=1.0"),
            ("v1.2", "1.2"),
            (">=v1.2", ">=1.2"),
            ("1.x", "1.*"),
            ("1.2+", ">=1.2"),
            ("1.2,", "1.2"),
            ("@1", "1"),
            ("1.2.0.0", "1.2.0"),
            ("^1.2.x", "^1.2.*"),
            ("1.x.2", "1.*"),
            ("1.*.2", "1.*"),
            ("^*", "*"),
            (">*", "*"),
            ("1-2", ">=1,<=2"),
            ("1.2-1.4", ">=1.2,<=1.4"),
            ("1.2-beta", "1.2.0-beta"),
            ("1.2.3-", "1.2.3"),
            ("01.02", "1.2"),
            (">=1<2", ">=1,<2"),
            ("≥1", ">=1"),
            ("\"1.2\"", "1.2"),
        ] {
            assert_eq!(
                range_of_other_systems(text).as_deref(),
                Some(range),
                "{text}"
            );
        }
        for text in ["1 || 2", "[1,2", ",", &"1,".repeat(200)] {
            let found = range_of_other_systems(text);
            assert!(
                found.as_deref().is_none_or(|found| found == "[1,2"),
                "{text}: {found:?}"
            );
        }
    }
}
