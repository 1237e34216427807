//! The parameters that every resource has, whatever its kind.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::diagnostic::Escaped;

/// The parameters that every resource has.
// They are independent switches that users set one by one.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, PartialEq)]
pub struct MetaParameters {
    /// Whether the resource is only checked, never changed.
    pub noop: bool,
    /// The number of times a failed attempt is repeated before the resource has failed.
    pub retry: Retries,
    /// Whether a successful attempt gives back all retries.
    pub retry_reset: bool,
    /// The pause before a failed attempt is repeated.
    pub delay: Duration,
    /// The longest time of an attempt; `None` if there is no limit.
    pub timeout: Option<Duration>,
    /// When the resource is checked again.
    pub poll: Polling,
    /// The rate at which events may lead to a check; `None` if there is no limit.
    pub limit: Option<RateLimit>,
    /// The semaphores that are held during an attempt.
    pub semaphores: Vec<Semaphore>,
    /// Whether the retries start anew when a new graph replaces the one that the resource is part of.
    pub reset: bool,
    /// Whether a new graph starts a resource again that has failed for good.
    pub rewatch: bool,
    /// Whether the resource is part of the graph but neither checked nor changed. It may receive values, not send them.
    pub hidden: bool,
    /// Whether edges to other resources are found automatically.
    pub automatic_edges: bool,
    /// Whether the resource may be grouped with others and changed in one operation.
    pub automatic_grouping: bool,
    /// Whether the state before the resource is restored once the resource is no longer wanted.
    pub reverse: bool,
}

impl Default for MetaParameters {
    fn default() -> Self {
        Self {
            noop: false,
            retry: Retries::Times(0),
            retry_reset: false,
            delay: Duration::ZERO,
            timeout: None,
            poll: Polling::Watch,
            limit: None,
            semaphores: Vec::new(),
            reset: false,
            rewatch: false,
            hidden: false,
            automatic_edges: true,
            automatic_grouping: true,
            reverse: false,
        }
    }
}

/// The number of times a failed attempt is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retries {
    /// At most this often.
    Times(u32),
    /// Without end.
    Forever,
}

/// When a resource is checked again after it was found in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polling {
    /// As soon as something changes that it depends on.
    Watch,
    /// After this time, again and again.
    Every(Duration),
    /// Never.
    Once,
}

/// The rate at which events may lead to a check: a token bucket, from which each check takes a token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    /// The tokens that are added in a second.
    pub per_second: f64,
    /// The most tokens in the bucket, and how many there are in the beginning; at least 1.
    pub burst: u32,
}

/// A semaphore, and how many resources may hold it at once. Text has the form `name` or `name:count`; different texts
/// are different semaphores.
///
/// ```
/// use pkgres_manifest::Semaphore;
///
/// let semaphore: Semaphore = "downloads:2".parse()?;
/// assert_eq!(semaphore.count(), 2);
/// assert_ne!("disk".parse::<Semaphore>()?, "disk:2".parse()?);
/// assert!("2".parse::<Semaphore>().is_err(), "a number is no name");
/// # Ok::<(), pkgres_manifest::SemaphoreError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Semaphore {
    name: String,
    count: Option<u32>,
}

/// A string that is not a semaphore.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{}` is not a semaphore: write a name, or a name and how many may hold it, such as `disk:2`",
    Escaped::new(.0)
)]
pub struct SemaphoreError(String);

impl Semaphore {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of resources that may hold it at once; at least 1.
    pub fn count(&self) -> u32 {
        self.count.unwrap_or(1)
    }
}

impl FromStr for Semaphore {
    type Err = SemaphoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, count) = match text.split_once(':') {
            Some((name, count)) => (name, Some(count.parse().unwrap_or(0))),
            None => (text, None),
        };
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character));
        if is_name && count != Some(0) {
            let name = name.to_owned();
            return Ok(Self { name, count });
        }
        Err(SemaphoreError(text.to_owned()))
    }
}

impl fmt::Display for Semaphore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            None => formatter.write_str(&self.name),
            Some(count) => write!(formatter, "{}:{count}", self.name),
        }
    }
}
