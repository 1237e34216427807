//! Lists of findings: their order, and how many are kept per file.

use std::collections::{HashMap, HashSet};

use super::{Code, Diagnostic, Location, Severity, SourceText, Span};

/// The most findings per file, without the one that counts the rest.
///
/// More findings are of no use, and a small file can have an error every few bytes.
pub(crate) const MAX_FINDINGS_PER_FILE: usize = 100;

/// The findings of a file that are left out.
struct LeftOut {
    count: usize,
    severity: Severity,
    source: std::sync::Arc<SourceText>,
}

/// The first 100 findings of each file, and one more for each file that had more, which counts them. That one
/// is an error if it counts an error.
///
/// Findings that were capped can be capped again together with others: the counts add up. A finding without
/// a place belongs to no file and is always kept.
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
    let mut rests: HashMap<String, LeftOut> = HashMap::new();
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
        let rest = rests.entry(name.to_owned()).or_insert_with(|| LeftOut {
            count: 0,
            severity: finding.severity,
            source: source.clone(),
        });
        // A finding that counts others adds their number, not one more.
        rest.count += finding.left_out.max(1);
        rest.severity = rest.severity.max(finding.severity);
    }
    kept.extend(order.iter().map(|name| {
        let rest = &rests[name];
        left_out(rest.count, rest.severity, &rest.source)
    }));
    kept
}

/// The finding that counts the findings of a file that are left out.
pub(crate) fn left_out(
    count: usize,
    severity: Severity,
    source: &std::sync::Arc<SourceText>,
) -> Diagnostic {
    let end = source.text().len();
    let message = format!(
        "\u{2026} and {count} more: only the first {MAX_FINDINGS_PER_FILE} findings of a file are shown"
    );
    let mut finding = Diagnostic::new(Code::Limit, severity, message)
        .at(Location::new(source, Span { start: end, end }));
    finding.left_out = count;
    finding
}

/// All findings in the order of the input. If a place has a syntax error, findings on the content at that
/// place are left out.
pub(crate) fn in_order(of_syntax: Vec<Diagnostic>, of_content: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let start = |diagnostic: &Diagnostic| {
        let label = diagnostic.labels.first();
        label.map(|label| label.location.span().start)
    };
    let starts: HashSet<Option<usize>> = of_syntax.iter().map(start).collect();
    let mut all = of_syntax;
    all.extend(
        of_content
            .into_iter()
            .filter(|diagnostic| !starts.contains(&start(diagnostic))),
    );
    all.sort_by_key(start);
    all
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
    fn counts_of_left_out_findings_add_up() {
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
