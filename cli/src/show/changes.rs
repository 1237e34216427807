//! What two lockfiles differ in.

use std::fmt::{self, Display as _};

use pkgres_manifest::{ArtifactDigest, LockDiff, PackageName, Spec, Version};
use serde_json::{Value, json};

/// How many digits are shown of a digest.
const DIGEST_DIGITS: usize = 12;

/// A line for each difference: `+` for what is new, `-` for what went, `~` for a change.
pub(crate) fn changes(diff: &LockDiff) -> Vec<String> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for change in &diff.packages {
        let package = &change.package;
        let line = versions_line(package, &change.before, &change.after).to_string();
        lines.push((package.to_string(), line));
    }
    for change in &diff.artifacts {
        let mut line = format!("  ~ {} {}", change.package, change.version);
        if change.digest.0 != change.digest.1 {
            let (before, after) = (
                shortened(change.digest.0.as_ref()),
                shortened(change.digest.1.as_ref()),
            );
            line.push_str(&format!(" digest {before} -> {after}"));
        }
        if change.source.0 != change.source.1 {
            line.push_str(&format!(
                " source {} -> {}",
                change.source.0, change.source.1
            ));
        }
        lines.push((change.package.to_string(), line));
    }
    for change in &diff.requirements {
        let (root, package) = (&change.root, &change.package);
        let line = match (&change.before, &change.after) {
            (None, Some(after)) => format!("  + {root} requires {package} {}", normal(after)),
            (Some(before), None) => format!("  - {root} requires {package} {}", normal(before)),
            (Some(before), Some(after)) => format!(
                "  ~ {root} requires {package} {} -> {}",
                normal(before),
                normal(after)
            ),
            (None, None) => continue,
        };
        lines.push((package.to_string(), line));
    }
    for change in &diff.bindings {
        let version = |version: &Option<Version>| {
            version
                .as_ref()
                .map_or_else(|| "nothing".to_owned(), ToString::to_string)
        };
        let line = format!(
            "  ~ {} uses {} {} -> {}",
            change.owner,
            change.package,
            version(&change.before),
            version(&change.after)
        );
        lines.push((change.package.to_string(), line));
    }
    for (package, is_new) in &diff.side_by_side {
        let line = if *is_new {
            format!("  ~ {package} may have several releases")
        } else {
            format!("  ~ {package} has one release again")
        };
        lines.push((package.to_string(), line));
    }
    for change in &diff.overrides {
        let package = &change.package;
        let line = match (&change.before, &change.after) {
            (None, Some(after)) => format!("  + {package} is overridden with {}", normal(after)),
            (_, None) => format!("  - {package} is not overridden any more"),
            (Some(before), Some(after)) => format!(
                "  ~ {package} is overridden with {} -> {}",
                normal(before),
                normal(after)
            ),
        };
        lines.push((package.to_string(), line));
    }
    lines.sort_by(|one, two| one.0.cmp(&two.0));
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The same as a table for a pull request.
pub(crate) fn changes_markdown(diff: &LockDiff) -> String {
    if diff.is_empty() {
        return "No locked version changes.\n".to_owned();
    }
    let mut text = String::new();
    if !diff.packages.is_empty() {
        text.push_str("| package | before | after |\n|---|---|---|\n");
        for change in &diff.packages {
            text.push_str(&format!(
                "| `{}` | {} | {} |\n",
                change.package,
                listed(&change.before),
                listed(&change.after)
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
            text.push_str(&format!("- `{}`\n", line.trim()));
        }
    }
    text
}

/// The same as JSON, by kind.
pub(crate) fn changes_json(diff: &LockDiff) -> Value {
    let spec = |spec: &Option<Spec>| spec.as_ref().map(Spec::normal_form);
    let packages: Vec<Value> = diff
        .packages
        .iter()
        .map(|change| {
            json!({"package": change.package, "before": change.before, "after": change.after})
        })
        .collect();
    let artifacts: Vec<Value> = diff
        .artifacts
        .iter()
        .map(|change| {
            json!({
                "package": change.package,
                "version": change.version,
                "source": {"before": change.source.0, "after": change.source.1},
                "sha256": {"before": change.digest.0, "after": change.digest.1},
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
        .map(|(package, is_new)| json!({"package": package, "after": is_new}))
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
    spec.normal_form()
}

/// The line of a package whose versions differ.
pub(super) fn versions_line(
    package: &PackageName,
    before: &[Version],
    after: &[Version],
) -> impl fmt::Display {
    fmt::from_fn(move |formatter| {
        let (old, new) = (listed(before), listed(after));
        match (before.is_empty(), after.is_empty()) {
            (true, _) => write!(formatter, "  + {package} {new}"),
            (_, true) => write!(formatter, "  - {package} {old}"),
            _ => write!(formatter, "  ~ {package} {old} -> {new}"),
        }
    })
}

fn listed(versions: &[Version]) -> impl fmt::Display {
    fmt::from_fn(move |formatter| {
        for (at, version) in versions.iter().enumerate() {
            if at > 0 {
                formatter.write_str(", ")?;
            }
            version.fmt(formatter)?;
        }
        Ok(())
    })
}

/// The beginning of a digest, which is enough to tell it from another one by eye.
pub(super) fn shortened(digest: Option<&ArtifactDigest>) -> String {
    let Some(digest) = digest else {
        return "none".to_owned();
    };
    let text = digest.to_string();
    let kind = text.find(':').map_or(0, |colon| colon + 1);
    format!("{}\u{2026}", &text[..kind + DIGEST_DIGITS])
}
