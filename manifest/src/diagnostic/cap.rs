//! How many findings are kept of a file.

use std::collections::HashMap;

use super::{Code, Diagnostic, Location, Severity, SourceText, Span};

/// How many findings there are at most about a file, apart from the one that counts the rest.
///
/// Nobody reads more, and a small file can be made to have one for every few bytes.
pub const MAX_FINDINGS_PER_FILE: usize = 100;

/// What is left out of a file's findings.
struct Rest {
    count: usize,
    severity: Severity,
    source: std::sync::Arc<SourceText>,
}

/// Keeps the first [`MAX_FINDINGS_PER_FILE`] findings of each file, and adds one for each file that
/// had more, which says how many. It is an error if one of those that it stands for is.
///
/// Findings that were capped already can be capped again together with others: what was left out
/// is added up. A finding without a place belongs to no file and is always kept.
///
/// ```
/// use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span, capped};
///
/// let source = SourceText::new("manifest.yaml", "text");
/// let at = Location::new(&source, Span::default());
/// let one = Diagnostic::error(Code::Field, "wrong").at(at);
/// let findings = capped(vec![one; 150]);
/// assert_eq!(findings.len(), 101);
/// assert_eq!(findings[100].left_out, 50);
/// assert!(findings[100].message.contains("50 more"));
/// ```
pub fn capped(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if findings.len() <= MAX_FINDINGS_PER_FILE {
        return findings;
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut rests: HashMap<String, Rest> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut kept = Vec::new();
    for finding in findings {
        let Some(label) = finding.labels.first() else {
            kept.push(finding);
            continue;
        };
        let source = label.location.source();
        let name = source.name();
        let count = match counts.get_mut(name) {
            Some(count) => count,
            None => counts.entry(name.to_owned()).or_default(),
        };
        if finding.left_out == 0 && *count < MAX_FINDINGS_PER_FILE {
            *count += 1;
            kept.push(finding);
            continue;
        }
        if !rests.contains_key(name) {
            order.push(name.to_owned());
        }
        let rest = rests.entry(name.to_owned()).or_insert_with(|| Rest {
            count: 0,
            severity: finding.severity,
            source: source.clone(),
        });
        // A finding that counts others stands for them, not for itself.
        rest.count += finding.left_out.max(1);
        rest.severity = rest.severity.max(finding.severity);
    }
    kept.extend(order.iter().map(|name| {
        let rest = &rests[name];
        left_out(rest.count, rest.severity, &rest.source)
    }));
    kept
}

/// The finding that counts those that were left out of a file.
pub(crate) fn left_out(
    count: usize,
    severity: Severity,
    source: &std::sync::Arc<SourceText>,
) -> Diagnostic {
    let end = source.text().len();
    let message = format!(
        "\u{2026} and {count} more: of a file the first {MAX_FINDINGS_PER_FILE} findings are shown"
    );
    let mut finding = Diagnostic::new(Code::Limit, severity, message)
        .at(Location::new(source, Span { start: end, end }));
    finding.left_out = count;
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, count: usize) -> Vec<Diagnostic> {
        let source = SourceText::new(name, "text");
        let at = Location::new(&source, Span::default());
        vec![Diagnostic::warning(Code::Field, "odd").at(at); count]
    }

    #[test]
    fn each_file_has_a_cap_of_its_own() {
        let all = [findings("a", 99), findings("b", 101), findings("c", 3)].concat();
        let all = capped(all);
        assert_eq!(all.len(), 99 + 100 + 3 + 1);
        let last = all.last().expect("there are findings");
        assert_eq!(last.left_out, 1);
        assert!(!last.is_error(), "what is left out are warnings");
    }

    #[test]
    fn what_was_left_out_adds_up() {
        let twice = [capped(findings("a", 130)), capped(findings("a", 120))].concat();
        let all = capped(capped(twice));
        assert_eq!(all.len(), 101);
        assert_eq!(all[100].left_out, 150);
    }

    #[test]
    fn an_error_that_is_left_out_stays_an_error() {
        let mut all = findings("a", 200);
        all[150].severity = Severity::Error;
        assert!(capped(all).iter().any(Diagnostic::is_error));
    }

    #[test]
    fn findings_without_a_place_stay() {
        let all = vec![Diagnostic::error(Code::Usage, "wrong"); 300];
        assert_eq!(capped(all).len(), 300);
    }
}
