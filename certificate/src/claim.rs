//! What a certificate claims, in sentences and as JSON.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::universe::Universe;

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
    /// The roots, as name and version.
    roots: Vec<(String, String)>,
    tiers: Tiers,
    verdict: Verdict,
}

/// What a claim says about the resolutions.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    /// There is none.
    None,
    /// There is none for these reasons, and none of them can be left out.
    Reasons(Vec<ClaimedReason>),
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

impl Claim {
    fn new(universe: &Universe, tiers: Tiers, verdict: Verdict) -> Self {
        let roots = universe.roots.iter();
        let roots = roots.map(|root| {
            let version = universe.of(root).first();
            let version = version.map(|candidate| candidate.version.to_string());
            (root.to_string(), version.unwrap_or_default())
        });
        Self {
            roots: roots.collect(),
            tiers,
            verdict,
        }
    }

    /// "There is no resolution."
    pub(crate) fn impossible(universe: &Universe, tiers: Tiers) -> Self {
        Self::new(universe, tiers, Verdict::None)
    }

    /// "These reasons suffice, and none of them can be left out."
    pub(crate) fn reasons(universe: &Universe, tiers: Tiers, reasons: Vec<ClaimedReason>) -> Self {
        Self::new(universe, tiers, Verdict::Reasons(reasons))
    }

    /// The claim as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let roots = self.roots.iter();
        let roots = roots.map(|(package, version)| json!({"package": package, "version": version}));
        let mut claim = json!({
            "verdict": match self.verdict {
                Verdict::None => "none",
                Verdict::Reasons(_) => "reasons",
            },
            "tiers": match self.tiers {
                Tiers::First => "first",
                Tiers::Both => "both",
            },
            "roots": roots.collect::<Vec<_>>(),
        });
        if let Verdict::Reasons(reasons) = &self.verdict {
            let reasons = reasons.iter().map(|reason| {
                let mut stated = json!({"text": reason.text});
                if let Some(constraints) = &reason.constraints {
                    stated["constraints"] = json!([constraints.start(), constraints.end()]);
                }
                stated
            });
            claim["reasons"] = reasons.collect();
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
        if document.get("schema_version") != Some(&json!(1)) {
            return Err(unknown());
        }
        let claim = document.get("claim").ok_or_else(unknown)?;
        let text = |value: &Value, key| Some(value.get(key)?.as_str()?.to_owned());
        let list = |value: &Value, key| Some(value.get(key)?.as_array()?.clone());
        let tiers = match text(claim, "tiers").as_deref() {
            Some("first") => Tiers::First,
            Some("both") => Tiers::Both,
            _ => return Err(unknown()),
        };
        let verdict = match text(claim, "verdict").as_deref() {
            Some("none") => Verdict::None,
            Some("reasons") => {
                let reasons = list(claim, "reasons").ok_or_else(unknown)?;
                let reasons: Option<Vec<ClaimedReason>> = reasons.iter().map(read_reason).collect();
                Verdict::Reasons(reasons.ok_or_else(unknown)?)
            }
            _ => return Err(unknown()),
        };
        let roots = list(claim, "roots").ok_or_else(unknown)?;
        let roots: Option<Vec<(String, String)>> = (roots.iter())
            .map(|root| Some((text(root, "package")?, text(root, "version")?)))
            .collect();
        Ok(Self {
            roots: roots.ok_or_else(unknown)?,
            tiers,
            verdict,
        })
    }

    /// The reasons of a conflict, if the claim is about these.
    pub fn claimed_reasons(&self) -> &[ClaimedReason] {
        match &self.verdict {
            Verdict::Reasons(reasons) => reasons,
            Verdict::None => &[],
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
        let roots: Vec<String> = (self.roots.iter())
            .map(|(package, version)| format!("{package} {version}"))
            .collect();
        let roots = roots.join(" and ");
        let none = match self.tiers {
            Tiers::First => format!("no resolution of {roots} has one release of each package"),
            Tiers::Both => format!(
                "{roots} has no resolution, with one release of each package or with several side by side"
            ),
        };
        match &self.verdict {
            Verdict::None => none,
            Verdict::Reasons(_) => match self.needed().count() {
                1 => format!("it follows from this reason alone that {none}"),
                count => format!(
                    "it follows from these {count} reasons, of which none can be left out, that {none}"
                ),
            },
        }
    }
}

fn unknown() -> ClaimError {
    ClaimError("it has no claim that this version knows".to_owned())
}

fn read_reason(value: &Value) -> Option<ClaimedReason> {
    let text = value.get("text")?.as_str()?.to_owned();
    let constraints = match value.get("constraints") {
        None => None,
        Some(constraints) => {
            let number = |at: usize| usize::try_from(constraints.get(at)?.as_u64()?).ok();
            let (from, until) = (number(0)?, number(1)?);
            (1 <= from && from <= until).then_some(())?;
            Some(from..=until)
        }
    };
    Some(ClaimedReason { text, constraints })
}
