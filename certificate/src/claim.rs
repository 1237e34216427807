//! Claims: what a certificate proves, in sentences and as JSON.

use std::ops::RangeInclusive;

use pkgres_manifest::diagnostic::{counted, sentence_list};
use pkgres_manifest::{PackageName, Release, Version};
use pkgres_resolver::{Request, Root};
use serde_json::{Value, json};

/// How many releases, and versions of one, a sentence names.
const MOST_NAMED: usize = 4;

/// The resolutions that a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tiers {
    /// Those with one release of each package.
    First,
    /// All, also with several releases of a package side by side.
    Both,
}

/// The claim of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    roots: Vec<NamedReleases>,
    /// Whether the objects of a model are a root.
    has_model: bool,
    pub(crate) tiers: Tiers,
    verdict: Verdict,
}

/// A package with versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedReleases {
    package: String,
    versions: Vec<String>,
}

/// What a claim says about the resolutions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// There is none.
    None,
    /// There is none for these reasons, and none of them can be left out.
    Reasons(Vec<ClaimedReason>),
    /// None has one of these releases, with others as they were decided.
    Better {
        releases: NamedReleases,
        with: Vec<NamedReleases>,
    },
    /// None keeps these releases of a package, if it has others that were asked for and only some packages move.
    Stays {
        releases: NamedReleases,
        with: Vec<NamedReleases>,
        moving: Vec<String>,
    },
}

/// A reason of a conflict in a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedReason {
    /// The reason in one sentence.
    pub text: String,
    /// The numbers of the inequalities that it states; `None` if it explains another reason.
    pub constraints: Option<RangeInclusive<usize>>,
}

/// The error for a description that says no known claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ClaimError(String);

impl NamedReleases {
    pub(crate) fn new(package: &PackageName, versions: &[Version]) -> Self {
        Self {
            package: package.to_string(),
            versions: versions.iter().map(ToString::to_string).collect(),
        }
    }

    /// One release.
    pub(crate) fn of(release: &Release) -> Self {
        Self::new(&release.name, std::slice::from_ref(&release.version))
    }

    fn to_json(&self) -> Value {
        match self.versions.as_slice() {
            [version] => json!({"package": self.package, "version": version}),
            versions => json!({"package": self.package, "versions": versions}),
        }
    }

    fn read(value: &Value) -> Option<Self> {
        let versions = match value.get("version") {
            Some(version) => vec![version.as_str()?.to_owned()],
            None => texts(value.get("versions")?)?,
        };
        Some(Self {
            package: value.get("package")?.as_str()?.to_owned(),
            versions,
        })
    }

    fn read_all(value: Option<&Value>) -> Option<Vec<Self>> {
        value?.as_array()?.iter().map(Self::read).collect()
    }

    fn text(&self) -> String {
        format!("{} {}", self.package, self.versions_text())
    }

    /// The versions, of which only the first few are named.
    fn versions_text(&self) -> String {
        let mut words = self.versions.clone();
        let others = words.len().saturating_sub(MOST_NAMED);
        if others > 1 {
            words.truncate(MOST_NAMED);
            words.push(format!("one of {others} other versions"));
        }
        sentence_list(&words, "or")
    }
}

impl Claim {
    pub(crate) fn new(request: &Request, tiers: Tiers, verdict: Verdict) -> Self {
        let mut roots: Vec<(&PackageName, &Version)> = (request.roots.iter())
            .filter_map(|root| root.record().map(|record| (&record.name, &record.version)))
            .collect();
        roots.sort_unstable();
        let roots = roots.into_iter();
        let roots =
            roots.map(|(name, version)| NamedReleases::new(name, std::slice::from_ref(version)));
        Self {
            roots: roots.collect(),
            has_model: (request.roots.iter()).any(|root| matches!(root, Root::Model(_))),
            tiers,
            verdict,
        }
    }

    /// The claim as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let all = |releases: &[NamedReleases]| {
            releases
                .iter()
                .map(NamedReleases::to_json)
                .collect::<Value>()
        };
        let mut claim = json!({
            "verdict": match self.verdict {
                Verdict::None => "none",
                Verdict::Reasons(_) => "reasons",
                Verdict::Better { .. } => "better",
                Verdict::Stays { .. } => "stays",
            },
            "tiers": match self.tiers {
                Tiers::First => "first",
                Tiers::Both => "both",
            },
            "roots": all(&self.roots),
        });
        if self.has_model {
            claim["model"] = json!(true);
        }
        match &self.verdict {
            Verdict::None => {}
            Verdict::Reasons(reasons) => {
                claim["reasons"] = reasons.iter().map(ClaimedReason::to_json).collect();
            }
            Verdict::Better { releases, with } => {
                claim["releases"] = releases.to_json();
                claim["with"] = all(with);
            }
            Verdict::Stays {
                releases,
                with,
                moving,
            } => {
                claim["releases"] = releases.to_json();
                claim["with"] = all(with);
                claim["moving"] = json!(moving);
            }
        }
        claim
    }

    /// Reads the claim in the description of a certificate.
    ///
    /// # Errors
    ///
    /// The text is no JSON, or says no known claim.
    pub fn read(names: &str) -> Result<Self, ClaimError> {
        let document: Value =
            serde_json::from_str(names).map_err(|error| ClaimError(error.to_string()))?;
        let is_known = document.get("schema_version") == Some(&json!(1));
        let claim = document.get("claim").filter(|_| is_known);
        let claim = claim.and_then(Self::read_known);
        claim.ok_or_else(|| ClaimError("it has no claim that this version knows".to_owned()))
    }

    fn read_known(claim: &Value) -> Option<Self> {
        let releases = || NamedReleases::read(claim.get("releases")?);
        let with = || NamedReleases::read_all(claim.get("with"));
        Some(Self {
            roots: NamedReleases::read_all(claim.get("roots"))?,
            has_model: match claim.get("model") {
                None => false,
                Some(has_model) => has_model.as_bool()?,
            },
            tiers: match claim.get("tiers")?.as_str()? {
                "first" => Tiers::First,
                "both" => Tiers::Both,
                _ => return None,
            },
            verdict: match claim.get("verdict")?.as_str()? {
                "none" => Verdict::None,
                "reasons" => {
                    let reasons = claim.get("reasons")?.as_array()?.iter();
                    let reasons: Option<Vec<ClaimedReason>> =
                        reasons.map(ClaimedReason::read).collect();
                    Verdict::Reasons(reasons?)
                }
                "better" => Verdict::Better {
                    releases: releases()?,
                    with: with()?,
                },
                "stays" => Verdict::Stays {
                    releases: releases()?,
                    with: with()?,
                    moving: texts(claim.get("moving")?)?,
                },
                _ => return None,
            },
        })
    }

    /// The reasons of a conflict, if the claim is about these.
    pub fn claimed_reasons(&self) -> &[ClaimedReason] {
        match &self.verdict {
            Verdict::Reasons(reasons) => reasons,
            _ => &[],
        }
    }

    /// The reasons of which the claim says that none can be left out: their numbers from 1, and the numbers of the
    /// inequalities that they state.
    pub fn needed(&self) -> impl Iterator<Item = (usize, RangeInclusive<usize>)> {
        let numbered = (1..).zip(self.claimed_reasons());
        numbered.filter_map(|(number, reason)| Some((number, reason.constraints.clone()?)))
    }

    /// The claim as a sentence, without its end.
    pub fn sentence(&self) -> String {
        let mut roots: Vec<String> = self.roots.iter().map(NamedReleases::text).collect();
        roots.extend(self.has_model.then(|| "the object model".to_owned()));
        let roots = sentence_list(&roots, "and");
        let with_one = format!("no resolution of {roots} with one release of each package");
        let none = match self.tiers {
            Tiers::First => format!("no resolution of {roots} has one release of each package"),
            Tiers::Both => format!(
                "{roots} has no resolution, with one release of each package or with several side by side"
            ),
        };
        match &self.verdict {
            Verdict::None => none,
            Verdict::Reasons(reasons) => match (reasons.len(), self.needed().count()) {
                (1, 1) => format!("it follows from this reason alone that {none}"),
                (all, needed) if all == needed => format!(
                    "it follows from these {all} reasons, of which none can be left out, that {none}"
                ),
                // Some reasons explain others, and state no inequality.
                (all, needed) => format!(
                    "it follows from these {all} reasons, of which {needed} cannot be left out, that {none}"
                ),
            },
            Verdict::Better { releases, with } => {
                let mut text = format!("{with_one} has {}", releases.text());
                if !with.is_empty() {
                    text.push_str(&format!(" with {} as decided before", shortened(with)));
                }
                text
            }
            Verdict::Stays {
                releases,
                with,
                moving,
            } => {
                let with = match with.as_slice() {
                    [] => String::new(),
                    with => format!("has {} and ", shortened(with)),
                };
                let moving = match moving.as_slice() {
                    [] => "nothing else moves".to_owned(),
                    moving => format!("nothing else moves but {}", sentence_list(moving, "and")),
                };
                let versions = releases.versions_text();
                format!(
                    "{with_one} {with}keeps {} at {versions} while {moving}",
                    releases.package
                )
            }
        }
    }
}

impl ClaimedReason {
    fn to_json(&self) -> Value {
        let mut stated = json!({"text": self.text});
        if let Some(constraints) = &self.constraints {
            stated["constraints"] = json!([constraints.start(), constraints.end()]);
        }
        stated
    }

    fn read(value: &Value) -> Option<Self> {
        let constraints = match value.get("constraints") {
            None => None,
            Some(constraints) => {
                let number = |at: usize| usize::try_from(constraints.get(at)?.as_u64()?).ok();
                let (from, until) = (number(0)?, number(1)?);
                (1 <= from && from <= until).then_some(())?;
                Some(from..=until)
            }
        };
        Some(Self {
            text: value.get("text")?.as_str()?.to_owned(),
            constraints,
        })
    }
}

/// The texts in a list.
fn texts(value: &Value) -> Option<Vec<String>> {
    let texts = value.as_array()?.iter();
    texts.map(|text| Some(text.as_str()?.to_owned())).collect()
}

/// Releases in a sentence, of which only the first few are named.
fn shortened(releases: &[NamedReleases]) -> String {
    let mut words: Vec<String> = releases
        .iter()
        .take(MOST_NAMED)
        .map(NamedReleases::text)
        .collect();
    match releases.len().saturating_sub(MOST_NAMED) {
        0 => {}
        others => words.push(counted(others, "other package")),
    }
    sentence_list(&words, "and")
}
