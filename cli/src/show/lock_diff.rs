//! The differences of two lockfiles.

use std::collections::BTreeSet;
use std::fmt;

use pkgres_manifest::{
    ArtifactDigest, LockDiff, PackageChange, PackageName, ReleaseSource, Spec, Version,
};
use serde_json::{Value, json};

use super::source_title::listed_source;

/// How many hexadecimal digits of a digest are shown.
const DIGEST_DIGITS: usize = 12;

/// A difference, as a line.
#[derive(Debug, Clone)]
pub(crate) struct ChangeLine {
    /// The package that changed.
    pub(crate) package: PackageName,
    /// `+` for new, `-` for gone, `~` for changed.
    pub(crate) mark: char,
    /// The difference in words.
    pub(crate) text: String,
}

/// An indented line with its mark.
impl fmt::Display for ChangeLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "  {} {}", self.mark, self.text)
    }
}

/// A line for each difference, sorted by package.
pub(crate) fn changes(diff: &LockDiff) -> Vec<ChangeLine> {
    let mut lines: Vec<ChangeLine> = Vec::with_capacity(diff.packages.len());
    let mut add = |package: &PackageName, mark: char, text: String| {
        let package = package.clone();
        lines.push(ChangeLine {
            package,
            mark,
            text,
        });
    };
    for change in &diff.packages {
        let package = &change.package;
        let (before, after) = (listed(&change.before), listed(&change.after));
        match (change.before.is_empty(), change.after.is_empty()) {
            (true, _) => add(package, '+', format!("{package} {after}")),
            (_, true) => add(package, '-', format!("{package} {before}")),
            _ => {
                let source = source_change(change);
                add(
                    package,
                    '~',
                    format!("{package} {before} -> {after}{source}"),
                );
            }
        }
    }
    for change in &diff.artifacts {
        let mut text = format!("{} {}", change.package, change.version);
        if change.digest_before != change.digest_after {
            let (before, after) = (
                shortened(change.digest_before.as_ref()),
                shortened(change.digest_after.as_ref()),
            );
            text.push_str(&format!(" digest {before} -> {after}"));
        }
        if change.source_before != change.source_after {
            let before = listed_source(&change.source_before);
            let after = listed_source(&change.source_after);
            text.push_str(&format!(" source {before} -> {after}"));
        }
        add(&change.package, '~', text);
    }
    for change in &diff.requirements {
        let (root, package) = (&change.root, &change.package);
        if let Some((mark, specs)) = spec_change(change.before.as_ref(), change.after.as_ref()) {
            add(package, mark, format!("{root} requires {package} {specs}"));
        }
    }
    for change in &diff.bindings {
        let version = |version: &Option<Version>| {
            version
                .as_ref()
                .map_or_else(|| "nothing".to_owned(), ToString::to_string)
        };
        let (before, after) = (version(&change.before), version(&change.after));
        let (owner, package) = (&change.owner, &change.package);
        let text = format!("{owner} uses {package} {before} -> {after}");
        add(package, '~', text);
    }
    for change in &diff.side_by_side {
        let package = &change.package;
        let becomes = if change.is_allowed {
            "has several releases side by side"
        } else {
            "has one release again"
        };
        add(package, '~', format!("{package} {becomes}"));
    }
    for change in &diff.overrides {
        let package = &change.package;
        match spec_change(change.before.as_ref(), change.after.as_ref()) {
            Some(('-', _)) => add(package, '-', format!("{package} is no longer overridden")),
            Some((mark, specs)) => {
                add(
                    package,
                    mark,
                    format!("{package} is overridden with {specs}"),
                );
            }
            None => {}
        }
    }
    lines.sort_by(|one, two| one.package.cmp(&two.package));
    lines
}

/// The sources of a package before and after, in parentheses, if they differ: another registry may have the name by
/// chance, or by the intent of a stranger.
fn source_change(change: &PackageChange) -> impl fmt::Display {
    fmt::from_fn(|formatter| {
        if !change.is_from_other_sources() {
            return Ok(());
        }
        let titles = |sources: &BTreeSet<ReleaseSource>| -> Vec<String> {
            sources.iter().map(listed_source).collect()
        };
        let before = titles(&change.sources_before);
        let after = titles(&change.sources_after);
        write!(
            formatter,
            " (source {} -> {})",
            listed(&before),
            listed(&after)
        )
    })
}

/// The mark and the text of a changed spec; `None` if there was and is none.
fn spec_change(before: Option<&Spec>, after: Option<&Spec>) -> Option<(char, String)> {
    Some(match (before.map(normal), after.map(normal)) {
        (None, Some(after)) => ('+', after),
        (Some(before), None) => ('-', before),
        (Some(before), Some(after)) => ('~', format!("{before} -> {after}")),
        (None, None) => return None,
    })
}

/// The differences in Markdown, for a pull request.
pub(crate) fn changes_markdown(diff: &LockDiff) -> String {
    if diff.is_empty() {
        return "No locked version changes.\n".to_owned();
    }
    let mut text = String::new();
    if !diff.packages.is_empty() {
        text.push_str("| package | before | after |\n|---|---|---|\n");
        for change in &diff.packages {
            text.push_str(&format!(
                "| `{}` | {} | {}{} |\n",
                change.package,
                listed(&change.before),
                listed(&change.after),
                source_change(change)
            ));
        }
    }
    let others = LockDiff {
        packages: Vec::new(),
        ..diff.clone()
    };
    let others = changes(&others);
    if !others.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in others {
            text.push_str(&format!("- `{} {}`\n", line.mark, line.text));
        }
    }
    text
}

/// The differences as JSON, by kind.
pub(crate) fn changes_json(diff: &LockDiff) -> Value {
    let spec = |spec: &Option<Spec>| spec.as_ref().map(Spec::normal_form);
    let packages: Vec<Value> = diff
        .packages
        .iter()
        .map(|change| {
            json!({
                "package": change.package,
                "before": change.before,
                "after": change.after,
                "source": {"before": change.sources_before, "after": change.sources_after},
            })
        })
        .collect();
    let artifacts: Vec<Value> = diff
        .artifacts
        .iter()
        .map(|change| {
            json!({
                "package": change.package,
                "version": change.version,
                "source": {"before": change.source_before, "after": change.source_after},
                "sha256": {"before": change.digest_before, "after": change.digest_after},
            })
        })
        .collect();
    let requirements: Vec<Value> = diff
        .requirements
        .iter()
        .map(|change| {
            json!({
                "root": change.root,
                "package": change.package,
                "before": spec(&change.before),
                "after": spec(&change.after),
            })
        })
        .collect();
    let bindings: Vec<Value> = diff
        .bindings
        .iter()
        .map(|change| {
            json!({
                "owner": change.owner,
                "package": change.package,
                "before": change.before,
                "after": change.after,
            })
        })
        .collect();
    let side_by_side: Vec<Value> = diff
        .side_by_side
        .iter()
        .map(|change| json!({"package": change.package, "after": change.is_allowed}))
        .collect();
    let overrides: Vec<Value> = diff
        .overrides
        .iter()
        .map(|change| {
            json!({
                "package": change.package,
                "before": spec(&change.before),
                "after": spec(&change.after),
            })
        })
        .collect();
    json!({
        "packages": packages,
        "artifacts": artifacts,
        "requirements": requirements,
        "bindings": bindings,
        "side_by_side": side_by_side,
        "overrides": overrides,
    })
}

fn normal(spec: &Spec) -> String {
    if *spec == Spec::any() {
        return spec.in_words().to_owned();
    }
    spec.normal_form()
}

fn listed<'listed, T: fmt::Display + 'listed>(
    items: impl IntoIterator<Item = &'listed T> + Clone,
) -> impl fmt::Display {
    fmt::from_fn(move |formatter| {
        for (at, item) in items.clone().into_iter().enumerate() {
            if at > 0 {
                formatter.write_str(", ")?;
            }
            item.fmt(formatter)?;
        }
        Ok(())
    })
}

/// The first digits of a digest, which are enough to compare it by eye.
fn shortened(digest: Option<&ArtifactDigest>) -> String {
    let Some(digest) = digest else {
        return "none".to_owned();
    };
    let text = digest.to_string();
    let kind = text.find(':').map_or(0, |colon| colon + 1);
    format!("{}\u{2026}", &text[..kind + DIGEST_DIGITS])
}
