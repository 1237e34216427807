//! Solve options: the policy arguments, validated.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};
use pkgres_manifest::diagnostic::Escaped;
use pkgres_resolver::{ClassRules, Engine, Preference, PrereleasePolicy, SolveOptions};

use crate::args::{PolicyArgs, Prefer, Prerelease, Solver};
use crate::failure::{Failure, Result};
use crate::settings::Settings;

/// The options of the solver. Errors name the settings that have wrong values.
pub(crate) fn solve_options(args: &PolicyArgs, settings: &Settings) -> Result<SolveOptions> {
    let exclude_newer = match &args.exclude_newer {
        Some(text) => Some(cutoff_of(text).map_err(|error| {
            let from = settings.from("exclude-newer");
            Failure::usage(format!("--exclude-newer: {error}{from}"))
        })?),
        None => None,
    };
    let mut options = SolveOptions::default();
    options.exclude_newer = exclude_newer;
    options.prefer = match args.prefer {
        Prefer::Newest => Preference::Newest,
        Prefer::Oldest => Preference::Oldest,
    };
    options.prerelease = match args.prerelease {
        Prerelease::IfNecessary => PrereleasePolicy::IfNecessary,
        Prerelease::Allow => PrereleasePolicy::Allow,
        Prerelease::Never => PrereleasePolicy::Never,
    };
    options.single_version = args.single_version;
    if args.ignore_classes {
        options.classes = ClassRules::Ignored;
    }
    options.max_steps = args.max_steps;
    options.engine = match args.solver {
        Solver::Native => Engine::Native,
        Solver::Pubgrub => Engine::Pubgrub,
    };
    Ok(options)
}

/// The time from which on releases are excluded; the error says what is expected.
fn cutoff_of(text: &str) -> std::result::Result<Timestamp, String> {
    cutoff(text, Timestamp::now()).ok_or_else(|| {
        let text = Escaped::shortened(text.trim());
        format!("`{text}` is neither a date such as `2026-06-01` nor a duration such as `7 days`")
    })
}

/// Checks a text that sets the time from which on releases are excluded.
pub(crate) fn check_cutoff(text: &str) -> std::result::Result<(), String> {
    cutoff_of(text).map(drop)
}

/// The time from which on releases are excluded. A date includes the whole day, and a time what was published at that
/// very moment; a duration ends now. `None` if the text is neither.
fn cutoff(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(date) = text.parse::<Date>() {
        // A time such as `2026-06-01T12:00:00Z` also parses as a date.
        if text.len() == "2026-06-01".len() {
            let next_day = date.checked_add(1.day()).ok();
            let start = next_day.and_then(|day| day.to_zoned(TimeZone::UTC).ok());
            // The last days that there are exclude nothing.
            return Some(start.map_or(Timestamp::MAX, |start| start.timestamp()));
        }
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.checked_add(1.nanosecond()).unwrap_or(time));
    }
    let span: Span = text.parse().ok()?;
    let then = now.to_zoned(TimeZone::UTC).checked_sub(span.abs()).ok()?;
    Some(then.timestamp())
}

/// The end of a date, a time, or the end of a duration that begins now; the error says what is expected.
pub(crate) fn time_after(text: &str, now: Timestamp) -> std::result::Result<Timestamp, String> {
    let text = text.trim();
    let span = text.parse::<Span>().ok();
    let time = match span {
        Some(span) => {
            // A negative duration ends before now: whoever needs a time in the future rejects it.
            (now.to_zoned(TimeZone::UTC).checked_add(span).ok()).map(|time| time.timestamp())
        }
        None => text.parse().ok().or_else(|| cutoff(text, now)),
    };
    time.ok_or_else(|| {
        format!(
            "`{}` is neither a date such as `2026-06-01` nor a duration such as `30 days`",
            Escaped::shortened(text)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_can_end_in_the_future() {
        let now: Timestamp = "2026-06-15T12:00:00Z".parse().expect("a time");
        let means = |text: &str| time_after(text, now).map(|time| time.to_string());
        assert_eq!(means("30 days"), Ok("2026-07-15T12:00:00Z".to_owned()));
        assert_eq!(means("2026-07-01"), Ok("2026-07-02T00:00:00Z".to_owned()));
        assert_eq!(means("-1 day"), Ok("2026-06-14T12:00:00Z".to_owned()));
        assert_eq!(means("3 days ago"), Ok("2026-06-12T12:00:00Z".to_owned()));
        assert!(means("soon").is_err());
    }

    #[test]
    fn dates_and_durations() {
        let now: Timestamp = "2026-06-15T12:00:00Z".parse().expect("a time");
        let means = |text: &str| cutoff(text, now).map(|time| time.to_string());
        for (text, time) in [
            ("2026-06-01", "2026-06-02T00:00:00Z"),
            ("2026-06-01T12:00:00Z", "2026-06-01T12:00:00.000000001Z"),
            (
                "2026-06-01T12:00:00+02:00",
                "2026-06-01T10:00:00.000000001Z",
            ),
            ("9999-12-31", "9999-12-30T22:00:00.999999999Z"),
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
