//! What a certificate claims, in sentences and as JSON.

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
}

/// The error for a `names.json` that says no known claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("names.json: {0}")]
pub struct ClaimError(String);

impl Claim {
    /// "There is no resolution."
    pub(crate) fn impossible(universe: &Universe, tiers: Tiers) -> Self {
        let roots = universe.roots.iter();
        let roots = roots.map(|root| {
            let version = universe.of(root).first();
            let version = version.map(|candidate| candidate.version.to_string());
            (root.to_string(), version.unwrap_or_default())
        });
        Self {
            roots: roots.collect(),
            tiers,
        }
    }

    /// The claim as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let roots = self.roots.iter();
        let roots = roots.map(|(package, version)| json!({"package": package, "version": version}));
        json!({
            "verdict": "none",
            "tiers": match self.tiers {
                Tiers::First => "first",
                Tiers::Both => "both",
            },
            "roots": roots.collect::<Vec<_>>(),
        })
    }

    /// Reads the claim in a `names.json`.
    ///
    /// # Errors
    ///
    /// The text is no JSON, or says no known claim.
    pub fn read(names: &str) -> Result<Self, ClaimError> {
        let document: Value =
            serde_json::from_str(names).map_err(|error| ClaimError(error.to_string()))?;
        let unknown = || ClaimError("it has no claim that this version knows".to_owned());
        let claim = document.get("claim").ok_or_else(unknown)?;
        if document.get("schema_version") != Some(&json!(1))
            || claim.get("verdict") != Some(&json!("none"))
        {
            return Err(unknown());
        }
        let tiers = match claim.get("tiers").and_then(Value::as_str) {
            Some("first") => Tiers::First,
            Some("both") => Tiers::Both,
            _ => return Err(unknown()),
        };
        let roots = claim.get("roots").and_then(Value::as_array);
        let mut read = Vec::new();
        for root in roots.ok_or_else(unknown)? {
            let text = |key| root.get(key).and_then(Value::as_str).map(str::to_owned);
            let (Some(package), Some(version)) = (text("package"), text("version")) else {
                return Err(unknown());
            };
            read.push((package, version));
        }
        Ok(Self { roots: read, tiers })
    }

    /// The claim as a sentence, without its end.
    pub fn sentence(&self) -> String {
        let roots: Vec<String> = (self.roots.iter())
            .map(|(package, version)| format!("{package} {version}"))
            .collect();
        let roots = roots.join(" and ");
        match self.tiers {
            Tiers::First => format!("no resolution of {roots} has one release of each package"),
            Tiers::Both => format!(
                "{roots} has no resolution, with one release of each package or with several side by side"
            ),
        }
    }
}
