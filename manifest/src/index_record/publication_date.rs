//! When a release was published, compared with a cut-off date such as `exclude-newer`.

use jiff::Timestamp;

use super::IndexRecord;

impl IndexRecord {
    /// Whether the release was published before a time.
    ///
    /// A release without a date counts as old. One with an invalid date counts as new, so that an invalid
    /// date does not get around a bound.
    ///
    /// ```
    /// use pkgres_manifest::IndexRecord;
    ///
    /// let line = r#"{"name":"org.acme.Web","version":"1.2.0","published":"2026-06-01T12:00:00Z"}"#;
    /// let mut record = IndexRecord::parse_line(line, &Default::default())?;
    /// let noon = "2026-06-01T12:00:00Z".parse()?;
    /// assert!(!record.is_published_before(noon));
    /// assert!(record.is_published_before("2026-06-01T12:00:01Z".parse()?));
    /// record.published = Some("yesterday".to_owned());
    /// assert!(!record.is_published_before(noon));
    /// record.published = None;
    /// assert!(record.is_published_before(noon));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_published_before(&self, time: Timestamp) -> bool {
        self.published.as_ref().is_none_or(|published| {
            let published = published.parse::<Timestamp>();
            published.is_ok_and(|published| published < time)
        })
    }
}
