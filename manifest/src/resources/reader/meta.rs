//! Reads the parameters that every resource has.

use std::time::Duration;

use super::ResourcesReader;
use crate::diagnostic::Escaped;
use crate::document::{Entry, Node};
use crate::resources::meta::{MetaParameters, Polling, RateLimit, Retries, Semaphore};

/// The parameters that every resource has.
pub(crate) const META_KEYS: [&str; 15] = [
    "autoedge",
    "autogroup",
    "burst",
    "delay",
    "hidden",
    "limit",
    "noop",
    "poll",
    "reset",
    "retry",
    "retryreset",
    "reverse",
    "rewatch",
    "sema",
    "timeout",
];

/// The most times that a number of milliseconds, seconds or retries can be.
const MAX_NUMBER: i64 = u32::MAX as i64;

impl ResourcesReader<'_> {
    pub(super) fn meta(&mut self, node: &Node) -> MetaParameters {
        let mut meta = MetaParameters::default();
        let Some(mapping) = self.nodes.mapping_or_null(node, "`meta`") else {
            return meta;
        };
        let (mut limit, mut burst) = (None, None);
        for entry in &mapping.entries {
            let switch = match entry.key.text.as_str() {
                "noop" => &mut meta.noop,
                "retryreset" => &mut meta.retry_reset,
                "reset" => &mut meta.reset,
                "rewatch" => &mut meta.rewatch,
                "hidden" => &mut meta.hidden,
                "autoedge" => &mut meta.automatic_edges,
                "autogroup" => &mut meta.automatic_grouping,
                "reverse" => &mut meta.reverse,
                "retry" => {
                    meta.retry = match self.number(entry, -1, "or -1 for any number of retries") {
                        Some(-1) => Retries::Forever,
                        number => Retries::Times(small(number)),
                    };
                    continue;
                }
                "delay" => {
                    let number = self.number(entry, 0, "of milliseconds");
                    meta.delay = Duration::from_millis(small(number).into());
                    continue;
                }
                "timeout" => {
                    let number = self.number(entry, 1, "of milliseconds, at least 1");
                    meta.timeout = number.map(|_| Duration::from_millis(small(number).into()));
                    continue;
                }
                "poll" => {
                    let meaning = "of seconds, -1 to check once, or 0 to watch";
                    meta.poll = match self.number(entry, -1, meaning) {
                        Some(-1) => Polling::Once,
                        None | Some(0) => Polling::Watch,
                        number => Polling::Every(Duration::from_secs(small(number).into())),
                    };
                    continue;
                }
                "limit" => {
                    limit = Some((entry, self.events_per_second(entry)));
                    continue;
                }
                "burst" => {
                    burst = Some((entry, self.number(entry, 1, "of events, at least 1")));
                    continue;
                }
                "sema" => {
                    meta.semaphores = self.semaphores(&entry.value);
                    continue;
                }
                _ => {
                    self.nodes.unknown_key(entry, &META_KEYS, "`meta`");
                    continue;
                }
            };
            let what = format!("`{}`", entry.key.text);
            if let Some(value) = self.nodes.boolean(&entry.value, &what) {
                *switch = value;
            }
        }
        meta.limit = match (limit, burst) {
            (Some((_, per_second)), Some((_, burst))) => {
                per_second.zip(burst).map(|(per_second, burst)| RateLimit {
                    per_second,
                    burst: small(Some(burst)),
                })
            }
            (Some((entry, _)), None) => {
                let hint = "add `burst: 1`, or how many events may come at once";
                self.nodes
                    .error("`limit` needs a `burst`", entry.key_span)
                    .add_hint(hint);
                None
            }
            (None, Some((entry, _))) => {
                let hint = "add `limit`, the number of events per second";
                self.nodes
                    .error("`burst` needs a `limit`", entry.key_span)
                    .add_hint(hint);
                None
            }
            (None, None) => None,
        };
        meta
    }

    /// An integer that is at least `least`; `meaning` completes "a whole number …".
    fn number(&mut self, entry: &Entry, least: i64, meaning: &str) -> Option<i64> {
        let text = entry.value.as_scalar().map(|scalar| scalar.text.as_str());
        let number: Option<i64> = text.and_then(|text| text.parse().ok());
        let in_range = number.filter(|number| (least..=MAX_NUMBER).contains(number));
        if in_range.is_none() {
            let is_large = number.is_some_and(|number| number > MAX_NUMBER);
            let most = is_large.then(|| format!(", and at most {MAX_NUMBER}"));
            let most = most.unwrap_or_default();
            let key = &entry.key.text;
            let message = format!("`{key}` must be a whole number {meaning}{most}");
            self.nodes.error(message, entry.value.span);
        }
        in_range
    }

    fn events_per_second(&mut self, entry: &Entry) -> Option<f64> {
        let text = entry.value.as_scalar().map(|scalar| scalar.text.as_str());
        let number: Option<f64> = text.and_then(|text| text.parse().ok());
        let number = number.filter(|number| number.is_finite() && *number > 0.0);
        if number.is_none() {
            let message = "`limit` must be a number of events per second, such as 0.2";
            self.nodes.error(message, entry.value.span);
        }
        number
    }

    fn semaphores(&mut self, node: &Node) -> Vec<Semaphore> {
        let listed = node.items_or_self();
        let mut semaphores: Vec<Semaphore> = Vec::with_capacity(listed.len());
        for item in listed {
            let Some(scalar) = self.nodes.text(item, "a semaphore") else {
                continue;
            };
            match self
                .nodes
                .parsed(&scalar.text, item.span, str::parse::<Semaphore>)
            {
                Some(semaphore) if semaphores.contains(&semaphore.value) => {
                    let text = Escaped::shortened(&scalar.text);
                    let message = format!("the semaphore `{text}` appears twice");
                    self.nodes.error(message, item.span);
                }
                read => semaphores.extend(read.map(|semaphore| semaphore.value)),
            }
        }
        semaphores
    }
}

/// A number that [`ResourcesReader::number`] has checked; 0 if it was wrong.
fn small(number: Option<i64>) -> u32 {
    number
        .and_then(|number| number.try_into().ok())
        .unwrap_or(0)
}
