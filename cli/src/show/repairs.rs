//! Repairs as text and JSON.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use pkgres_manifest::PackageName;
use pkgres_manifest::diagnostic::sentence_list;
use pkgres_resolver::{Blocked, Change, PrereleasePolicy, Repair, Repairs, Restriction};
use serde_json::{Value, json};

use crate::settings::{Origin, Settings};

/// What of a project pkgres can change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Editable {
    /// Why not the requirements of the root, if they cannot be changed.
    why_not_requirements: Option<&'static str>,
    /// The package that the host provides. Requirements on it are stated elsewhere.
    host: Option<&'static str>,
    /// The cut-off date, because it is in the settings file of the project.
    cut_off: bool,
    /// The prerelease policy, because nothing outweighs the settings file of the project.
    prereleases: bool,
    /// That each package has one release, because it is in the settings file of the project.
    single_version: bool,
}

impl Editable {
    pub(crate) fn new(
        why_not_requirements: Option<&'static str>,
        host: Option<&'static str>,
        settings: &Settings,
    ) -> Self {
        let origin = |key| settings.get(key).map(|effective| &effective.origin);
        let is_of_project = |origin: &Origin| matches!(origin, Origin::File(path) if *path == settings.project.path);
        Self {
            why_not_requirements,
            host,
            cut_off: origin("exclude-newer").is_some_and(is_of_project),
            single_version: origin("single-version").is_some_and(is_of_project),
            prereleases: origin("prerelease")
                .is_none_or(|origin| is_of_project(origin) || matches!(origin, Origin::Default)),
        }
    }

    /// Whether a repair changes requirements that only a person can change.
    fn is_by_hand(self, repair: &Repair) -> bool {
        repair.changes.iter().any(|change| match change {
            Change::Requirement { package, .. } => self.why_not_requirement(package).is_some(),
            _ => false,
        })
    }

    /// Why the requirement of the root on a package cannot be changed; `None` if it can.
    fn why_not_requirement(self, package: &PackageName) -> Option<String> {
        if let Some(reason) = self.why_not_requirements {
            return Some(format!(
                "the requirements have to be changed by hand: {reason}"
            ));
        }
        (self.host == Some(package.as_str()))
            .then(|| format!("the requirement for {package} is in another file: change it by hand"))
    }

    /// Why the requirements of the root cannot be changed; `None` if they can.
    pub(crate) fn why_not_requirements(self) -> Option<&'static str> {
        self.why_not_requirements
    }
}

/// How many repairs the text shows, unless all are asked for.
const SHOWN: usize = 5;

/// How many requirements that are not enough the text shows.
const SHOWN_BLOCKED: usize = 2;

/// The repairs as a menu: first those that can be applied, with their numbers.
pub(crate) fn repairs(repairs: &Repairs, all: bool, editable: Editable) -> String {
    let mut text = String::new();
    let count = repairs.found.len();
    let others = if repairs.is_complete {
        ""
    } else {
        "; there may be others"
    };
    text.push_str(&match count {
        0 if repairs.is_complete => "No change of requirements repairs this\n".to_owned(),
        0 => "No way to repair this was found within the limit; there may be some\n".to_owned(),
        1 => format!("1 way to repair this{others}:\n"),
        _ => format!("{count} ways to repair this{others}:\n"),
    });
    let shown = if all { count } else { SHOWN };
    let mut heading = "";
    for (number, repair) in repairs.found.iter().take(shown).enumerate() {
        let of_repair = heading_of(repair, editable);
        if heading != of_repair {
            text.push_str(&format!("  {of_repair}:\n"));
            heading = of_repair;
        }
        for (at, line) in repair_changes(repair).iter().enumerate() {
            let mark = if at == 0 {
                format!("{:>3}. ", number + 1)
            } else {
                "     ".to_owned()
            };
            text.push_str(&format!("{mark}{line}\n"));
        }
    }
    if count > shown {
        text.push_str(&format!("     {} more with `--all`\n", count - shown));
    }
    for blocked in repairs.blocked.iter().take(SHOWN_BLOCKED) {
        text.push_str(&format!("  {}\n", blocked_line(blocked)));
    }
    text
}

/// What has to be done before repairs like this one; nothing if they can be applied.
fn heading_of(repair: &Repair, editable: Editable) -> &'static str {
    if !repair.needs_no_release() {
        "with a release that does not exist yet"
    } else if editable.is_by_hand(repair) {
        "by hand"
    } else if unapplicable(repair, editable).is_some() {
        "with another option or setting"
    } else {
        ""
    }
}

/// A line for each change of a repair, as what has to be done.
pub(crate) fn repair_changes(repair: &Repair) -> Vec<String> {
    let changes = repair.changes.iter();
    let has_several_roots = repair.resolution.roots().len() > 1;
    changes
        .map(|change| match change {
            Change::Requirement { root, .. } if has_several_roots => {
                format!("{root}: {}", change_line(change))
            }
            Change::Override { package, .. } => {
                let line = change_line(change);
                match ignored_requirements(repair, package) {
                    Some(ignored) => format!("{line}, although {ignored}"),
                    None => line,
                }
            }
            _ => change_line(change),
        })
        .collect()
}

/// The most requirements that an override ignores and that are named.
const MAX_IGNORED: usize = 4;

/// The requirements on a package that an override ignores, of those in the resolution of a repair.
fn ignored_requirements(repair: &Repair, package: &PackageName) -> Option<String> {
    let mut ignored: Vec<String> = Vec::new();
    for owner in repair.resolution.owners() {
        let Some((name, version)) = owner.release() else {
            continue;
        };
        let of_package = (owner.requires().iter()).filter(|bound| bound.package == *package);
        ignored.extend(of_package.filter_map(|bound| {
            let stated = bound.overridden.as_ref()?;
            (!stated.matches(&bound.version)).then(|| format!("{name} {version} requires {stated}"))
        }));
    }
    // A line that hides a single one is no shorter than its name.
    if ignored.len() > MAX_IGNORED + 1 {
        let others = ignored.split_off(MAX_IGNORED).len();
        ignored.push(format!("{others} more do not fit"));
    }
    (!ignored.is_empty()).then(|| sentence_list(&ignored, "and"))
}

fn change_line(change: &Change) -> String {
    match change {
        Change::Requirement {
            package, from, to, ..
        } => match from {
            Some(from) => format!("require {package} {to} instead of {from}"),
            None => format!("require {package} {to}, which is not stated now"),
        },
        Change::Override {
            package, from, to, ..
        } => match from {
            Some(from) => format!("override {package} with {to} instead of {from} in pkgres.toml"),
            None => {
                format!("override {package} with {to} in pkgres.toml")
            }
        },
        Change::NoOverride { package, from } => {
            format!("remove the override of {package} with {from} from pkgres.toml")
        }
        Change::Release {
            owner,
            based_on,
            package,
            allow,
            ..
        } => {
            let after = based_on.as_ref();
            let after = after.map_or_else(String::new, |version| format!(" after {version}"));
            format!("{owner} would have to allow {package} {allow}, in a release{after}")
        }
        Change::CutOff { until: None } => "leave out the cut-off date, `exclude-newer`".to_owned(),
        Change::CutOff { until: Some(until) } => {
            let date = last_day(*until);
            format!("move the cut-off date, `exclude-newer`, to {date}")
        }
        Change::Prereleases { policy } => {
            let policy = policy_name(*policy);
            format!("let prereleases in, with `prerelease = \"{policy}\"`")
        }
        Change::SideBySide => {
            "allow several releases of a package, without `single-version`".to_owned()
        }
    }
}

/// The value of the setting `exclude-newer` for a midnight: the day that ends then, which the date includes.
pub(crate) fn last_day(until: Timestamp) -> String {
    let before = until.checked_sub(1.second()).unwrap_or(until);
    before.to_zoned(TimeZone::UTC).date().to_string()
}

/// The value of the setting `prerelease`.
pub(crate) fn policy_name(policy: PrereleasePolicy) -> &'static str {
    match policy {
        PrereleasePolicy::Allow => "allow",
        _ => "if-necessary",
    }
}

/// Why changing a requirement alone does not repair the conflict.
fn blocked_line(blocked: &Blocked) -> String {
    let what = match &blocked.restriction {
        Restriction::Requirement { package, .. } => {
            format!("changing the requirement for {package} is not enough")
        }
        other => format!("{other:?}"),
    };
    format!("{what}: {}", blocked.by)
}

/// The repairs, and what is not enough, as fields of a JSON document.
pub(crate) fn repairs_json(repairs: &Repairs, editable: Editable) -> (Value, Value) {
    let found = repairs.found.iter().enumerate().map(|(at, repair)| {
        let packages = repair.resolution.packages().iter();
        let packages = packages.map(|one| json!({"package": one.name, "version": one.version}));
        json!({
            "number": at + 1,
            "text": repair_changes(repair).join("; "),
            "can_be_applied": unapplicable(repair, editable).is_none(),
            "changes": repair_changes_json(repair),
            "packages": packages.collect::<Vec<_>>(),
        })
    });
    let blocked = repairs.blocked.iter().map(|blocked| {
        let package = match &blocked.restriction {
            Restriction::Requirement { package, .. } => Some(package),
            _ => None,
        };
        json!({"requires": package, "text": blocked_line(blocked), "by": blocked.by})
    });
    (found.collect(), blocked.collect())
}

/// The changes of a repair as JSON.
pub(crate) fn repair_changes_json(repair: &Repair) -> Value {
    let changes = repair.changes.iter().map(|change| match change {
        Change::Requirement {
            root,
            package,
            from,
            to,
            allow,
        } => json!({
            "kind": "requirement",
            "package": root,
            "requires": package,
            "from": from.as_ref().map(pkgres_manifest::Spec::written),
            "to": to.written(),
            "allow": allow,
        }),
        Change::Override {
            package,
            from,
            to,
            allow,
        } => json!({
            "kind": "override",
            "requires": package,
            "from": from.as_ref().map(pkgres_manifest::Spec::written),
            "to": to.written(),
            "allow": allow,
        }),
        Change::NoOverride { package, from } => json!({
            "kind": "override",
            "requires": package,
            "from": from.written(),
            "to": null,
        }),
        Change::Release {
            owner,
            based_on,
            package,
            to,
            allow,
        } => json!({
            "kind": "release",
            "package": owner,
            "like": based_on,
            "requires": package,
            "to": to.written(),
            "allow": allow,
        }),
        Change::CutOff { until } => {
            json!({"kind": "exclude_newer", "to": until.map(last_day)})
        }
        Change::Prereleases { policy } => {
            json!({"kind": "prerelease", "to": policy_name(*policy)})
        }
        Change::SideBySide => json!({"kind": "single_version", "to": false}),
    });
    changes.collect()
}

/// Why a repair cannot be applied by a command.
pub(crate) fn unapplicable(repair: &Repair, editable: Editable) -> Option<String> {
    let of_option = |is_editable: bool, key: &str| {
        (!is_editable).then(|| {
            format!(
                "`{key}` is not set in the pkgres.toml of the project: change it where it is set, and run `pkgres lock`"
            )
        })
    };
    repair.changes.iter().find_map(|change| match change {
        Change::Requirement { package, .. } => editable.why_not_requirement(package),
        Change::Override { .. } | Change::NoOverride { .. } => None,
        Change::Release { owner, .. } => Some(format!("a new release of {owner} is needed first")),
        Change::CutOff { .. } => of_option(editable.cut_off, "exclude-newer"),
        Change::Prereleases { .. } => of_option(editable.prereleases, "prerelease"),
        Change::SideBySide => of_option(editable.single_version, "single-version"),
    })
}

/// The note below a menu.
pub(crate) fn how_to_apply(
    repairs: &Repairs,
    editable: Editable,
    command: &dyn Fn(usize) -> String,
) -> Option<String> {
    let mut found = repairs.found.iter().enumerate();
    let (first, _) = found.find(|(_, repair)| unapplicable(repair, editable).is_none())?;
    let number = first + 1;
    Some(format!(
        "`{}` makes the changes of number {number}; with `--dry-run` it only shows them",
        command(number)
    ))
}
