//! The changes of a registry.

use pkgres_manifest::{PackageName, Version, read_json};

use super::{Malformed, SignedSnapshot};

/// The changes after a serial.
///
/// ```
/// use pkgres_registry_client::protocol::{ChangeKind, Changes};
///
/// let text = br#"{"serial":2,"changes":[{"serial":2,"kind":"publish",
///     "name":"org.acme.Web","version":"2.1.0","at":"2026-01-31T12:00:00Z"}]}"#;
/// let changes = Changes::parse(text)?;
/// assert_eq!(changes.changes[0].kind, ChangeKind::Publish);
/// assert_eq!(Changes::parse(changes.to_json().as_bytes())?, changes);
/// # Ok::<(), pkgres_registry_client::protocol::Malformed>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Changes {
    /// The newest serial of the registry.
    pub serial: u64,
    /// The changes, oldest first.
    pub changes: Vec<Change>,
    /// The signed state of the index at `serial`; `None` if the registry does not sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SignedSnapshot>,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Change {
    /// The serial after it.
    pub serial: u64,
    /// Its kind.
    pub kind: ChangeKind,
    /// The package.
    pub name: PackageName,
    /// The version; `None` if the package as a whole changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Its time.
    pub at: jiff::Timestamp,
}

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// A release was published.
    Publish,
    /// A release was yanked.
    Yank,
    /// A yank was undone.
    Unyank,
    /// A release was deleted.
    Delete,
    /// A kind that this version does not know. Whatever it is, the package changed.
    #[serde(other)]
    Other,
}

impl Changes {
    /// Reads the document. Serials ascend by one and end at most at `serial`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let wrong =
            |reason: &dyn ToString| Malformed::new("a list of changes", &reason.to_string());
        let read: Self = read_json(bytes).map_err(|error| wrong(&error))?;
        let is_gapless = read
            .changes
            .windows(2)
            .all(|pair| pair[0].serial.checked_add(1) == Some(pair[1].serial));
        if !is_gapless {
            return Err(wrong(&"there is a gap in the serials"));
        }
        if read
            .changes
            .last()
            .is_some_and(|last| last.serial > read.serial)
        {
            return Err(wrong(&"a change is newer than the newest serial"));
        }
        Ok(read)
    }

    /// The document as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are valid JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(newest: u64, serials: &[u64], kind: &str) -> Result<Changes, Malformed> {
        let changes: Vec<String> = serials
            .iter()
            .map(|serial| {
                format!(
                    r#"{{"serial":{serial},"kind":"{kind}","name":"a.B","at":"2026-01-31T12:00:00Z"}}"#
                )
            })
            .collect();
        let text = format!(r#"{{"serial":{newest},"changes":[{}]}}"#, changes.join(","));
        Changes::parse(text.as_bytes())
    }

    #[test]
    fn serials_have_no_gaps() {
        assert!(parse(9, &[], "yank").is_ok());
        assert!(parse(9, &[4, 5, 6], "unyank").is_ok());
        for serials in [&[4, 6][..], &[5, 4], &[4, 4], &[8, 9, 10], &[u64::MAX, 0]] {
            assert!(parse(9, serials, "delete").is_err(), "{serials:?}");
        }
    }

    #[test]
    fn kinds_of_later_versions_are_changes_too() {
        let changes = parse(9, &[1], "frobnicate").expect("a change");
        assert_eq!(changes.changes[0].kind, ChangeKind::Other);
    }
}
