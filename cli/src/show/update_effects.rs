//! What an update changes for the classes of a project.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{PackageName, Version};
use serde_json::{Value, json};

use super::counted;
use crate::update_effects::{Effect, NotCompared, ProjectEffects};

/// How many effects of an update are shown, and how many of a package in a table of outdated packages.
const MAX_SHOWN: usize = 10;
const MAX_SHOWN_OF_PACKAGE: usize = 5;

/// How many releases that could not be compared are shown.
const MAX_NOT_COMPARED: usize = 3;

/// A place as JSON.
pub(crate) fn place_json(location: &Location) -> Value {
    let position = location.position();
    json!({
        "file": location.source().name(),
        "line": position.line,
        "column": position.column,
    })
}

/// An effect in a sentence. `version` is what brings it about.
fn effect_text(version: &str, effect: &Effect) -> String {
    let place = effect.places.first();
    let place = place.map_or_else(String::new, |place| match effect.places.len() - 1 {
        0 => format!(" ({place})"),
        more => format!(" ({place} and {})", counted(more, "other place")),
    });
    let Effect {
        message,
        shown,
        reliance,
        ..
    } = effect;
    format!("in {version}, {message}; {shown} {reliance}{place}")
}

/// Lines about the effects of the versions of a package in a table of outdated packages. What one version changes is
/// not repeated for higher ones.
pub(super) fn effects_of_outdated(
    effects: &ProjectEffects,
    package: &PackageName,
    from: &Version,
) -> String {
    let of_package = effects
        .effects
        .iter()
        .filter(|(replacement, _)| replacement.package == *package && replacement.from == *from);
    let mut shown: Vec<(&Version, &Effect)> = Vec::new();
    for (replacement, effect) in of_package {
        let is_known = shown
            .iter()
            .any(|(_, known)| known.message == effect.message && known.class == effect.class);
        if !is_known {
            shown.push((&replacement.to, effect));
        }
    }
    let mut text = String::new();
    for (version, effect) in shown.iter().take(MAX_SHOWN_OF_PACKAGE) {
        text.push_str(&format!(
            "  {}\n",
            effect_text(&version.to_string(), effect)
        ));
    }
    if let Some(more) = shown.len().checked_sub(MAX_SHOWN_OF_PACKAGE + 1) {
        let others = counted(more + 1, "other difference");
        text.push_str(&format!("  and {others}; `--format json` lists them\n"));
    }
    text
}

/// Lines about the effects of an update.
pub(crate) fn update_effects(effects: &ProjectEffects) -> Vec<String> {
    let shown = effects.effects.iter().take(MAX_SHOWN);
    let mut lines: Vec<String> = shown
        .map(|(replacement, effect)| {
            let release = format!("{} {}", replacement.package, replacement.to);
            effect_text(&release, effect)
        })
        .collect();
    if let Some(more) = effects.effects.len().checked_sub(MAX_SHOWN + 1) {
        let others = counted(more + 1, "other difference");
        lines.push(format!("and {others}; `--format json` lists them"));
    }
    lines
}

/// Lines about releases that could not be compared.
pub(crate) fn not_compared(effects: &ProjectEffects) -> Vec<String> {
    let all = &effects.not_compared;
    let shown = all.iter().take(MAX_NOT_COMPARED);
    let mut lines: Vec<String> = shown
        .map(
            |NotCompared {
                 package,
                 version,
                 is_partial,
                 reason,
             }| {
                if *is_partial {
                    format!(
                        "what the classes of {package} {version} declare was not compared: {reason}"
                    )
                } else {
                    format!("the classes of {package} {version} were not compared: {reason}")
                }
            },
        )
        .collect();
    if let Some(more) = all.len().checked_sub(MAX_NOT_COMPARED + 1) {
        let others = counted(more + 1, "other release");
        lines.push(format!("and those of {others}"));
    }
    lines
}

/// The effects of an update as JSON; of one package, if it is given.
pub(crate) fn effects_json(
    effects: &ProjectEffects,
    of: Option<(&PackageName, &Version)>,
) -> Vec<Value> {
    let is_wanted =
        |package: &PackageName, from: &Version| of.is_none_or(|wanted| wanted == (package, from));
    let effects = effects.effects.iter();
    effects
        .filter(|(replacement, _)| is_wanted(&replacement.package, &replacement.from))
        .map(|(replacement, effect)| {
            json!({
                "package": replacement.package,
                "from": replacement.from,
                "to": replacement.to,
                "rule": effect.rule,
                "impact": effect.impact.to_string(),
                "message": effect.message,
                "declared_in": effect.declared_in,
                "member": effect.member,
                "argument": effect.argument,
                "class": effect.class,
                "reliance": effect.reliance.id(),
                "places": effect.places.iter().map(place_json).collect::<Vec<_>>(),
                "old": effect.old.as_ref().map(place_json),
                "new": effect.new.as_ref().map(place_json),
            })
        })
        .collect()
}

/// The releases that could not be compared, as JSON.
pub(crate) fn not_compared_json(effects: &ProjectEffects) -> Vec<Value> {
    let all = effects.not_compared.iter();
    all.map(
        |NotCompared {
             package,
             version,
             reason,
             ..
         }| { json!({"package": package, "version": version, "reason": reason}) },
    )
    .collect()
}
