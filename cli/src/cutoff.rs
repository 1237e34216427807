//! `--exclude-newer`: dates and durations.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};
use pkgres_manifest::diagnostic::Escaped;

use crate::failure::{Failure, Result};

/// The time that a text means: what was published then or later is left out. A date includes the
/// whole day, and a duration is taken from now.
pub(crate) fn cutoff(text: &str, now: Timestamp) -> Result<Timestamp> {
    let text = text.trim();
    if let Ok(date) = text.parse::<Date>() {
        // A text such as `2026-06-01T12:00:00Z` begins with a date, too.
        if text.len() == "2026-06-01".len() {
            let next = date.checked_add(1.day());
            let start = next.and_then(|day| day.to_zoned(TimeZone::UTC));
            return start
                .map(|start| start.timestamp())
                .map_err(|_| wrong(text));
        }
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let span: Span = text.parse().map_err(|_| wrong(text))?;
    let then = now.to_zoned(TimeZone::UTC).checked_sub(span.abs());
    then.map(|then| then.timestamp()).map_err(|_| wrong(text))
}

fn wrong(text: &str) -> Failure {
    Failure::usage(format!(
        "--exclude-newer: `{}` is neither a date such as `2026-06-01` nor a duration such as `7 days`{}",
        Escaped::shortened(text),
        crate::settings::current().from("exclude-newer")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_durations() {
        let now: Timestamp = "2026-06-15T12:00:00Z".parse().expect("a time");
        let means = |text: &str| cutoff(text, now).map(|time| time.to_string()).ok();
        for (text, time) in [
            ("2026-06-01", "2026-06-02T00:00:00Z"),
            ("2026-06-01T12:00:00Z", "2026-06-01T12:00:00Z"),
            ("2026-06-01T12:00:00+02:00", "2026-06-01T10:00:00Z"),
            ("7 days", "2026-06-08T12:00:00Z"),
            ("P7D", "2026-06-08T12:00:00Z"),
            ("2w", "2026-06-01T12:00:00Z"),
            ("36 hours", "2026-06-14T00:00:00Z"),
        ] {
            assert_eq!(means(text).as_deref(), Some(time), "{text}");
        }
        for text in ["", "soon", "2026-13-01", "7"] {
            assert_eq!(means(text), None, "{text}");
        }
    }
}
