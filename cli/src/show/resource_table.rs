//! The view of a run on a terminal: a table of its resources, which is drawn again and again.

use std::time::Duration;

use clap::builder::styling::AnsiColor;
use pkgres_engine::{Cause, ResourceRecord, ResourceState, RunRecord};
use pkgres_manifest::diagnostic::Escaped;

use super::columns::{columns, cut, cut_inside, padded};
use super::counted;

/// The columns of the state and of the time, each with the space behind it.
const STATE_COLUMNS: usize = 11;
const TIME_COLUMNS: usize = 8;

/// The fewest columns that a cause is worth showing in.
const LEAST_CAUSE: usize = 12;

/// A line of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LiveLine {
    pub(crate) text: String,
    pub(crate) color: Option<AnsiColor>,
}

/// The view of a run at a time: a headline and a row for each resource, the most interesting ones first. No line is wider
/// than `width`, and there are at most `height` of them.
pub(crate) fn live_view(
    record: &RunRecord,
    target: &str,
    now: Duration,
    (width, height): (usize, usize),
) -> Vec<LiveLine> {
    let mut resources: Vec<&ResourceRecord> = record.resources().iter().collect();
    // What is in order is of interest in the order in which that changed.
    resources.sort_by_key(|resource| (resource.state, std::cmp::Reverse(resource.since)));
    let rows = height.saturating_sub(2).max(1);
    let hidden = resources.len().saturating_sub(rows);
    // The last row says how many are left out.
    let shown = if hidden > 0 {
        rows - 1
    } else {
        resources.len()
    };
    let rest = &resources[shown..];
    let resources = &resources[..shown];
    let longest = resources
        .iter()
        .map(|resource| columns(&shown_id(resource)));
    let layout = Layout::new(width, longest.max().unwrap_or(0));
    let mut lines = vec![
        LiveLine {
            text: cut(&headline(record, target, now), width),
            color: None,
        },
        layout.row(["STATE", "TIME", "RESOURCE", "CAUSE"], None),
    ];
    lines.extend(resources.iter().map(|resource| {
        let time = match resource.state {
            ResourceState::Waiting => String::new(),
            _ => age(now.saturating_sub(resource.since)),
        };
        let (word, color) = state_word(resource.state);
        let cells = [word, &time, &shown_id(resource), &cause(resource)];
        layout.row(cells, color)
    }));
    if !rest.is_empty() {
        let text = format!("… and {}", counted(rest.len(), "other resource"));
        lines.push(LiveLine {
            text: cut(&text, width),
            color: None,
        });
    }
    lines.truncate(height.max(1));
    lines
}

fn headline(record: &RunRecord, target: &str, now: Duration) -> String {
    let mut parts = Vec::new();
    for (states, words) in [
        (&[ResourceState::Failed][..], "failed"),
        (&[ResourceState::Running], "running"),
        (&[ResourceState::Pending], "to change"),
        (&[ResourceState::Waiting], "waiting"),
        (
            &[ResourceState::InOrder, ResourceState::Changed],
            "up to date",
        ),
    ] {
        let count: usize = states.iter().map(|state| record.count(*state)).sum();
        if count > 0 {
            parts.push(format!("{count} {words}"));
        }
    }
    let state = if record.is_converged() {
        ", watching"
    } else {
        ""
    };
    let parts = if parts.is_empty() {
        "no resources".to_owned()
    } else {
        parts.join(", ")
    };
    format!("{target}  {}  {parts}{state}", age(now))
}

/// The columns of the table.
struct Layout {
    resource: usize,
    /// The columns for causes; `None` if there is no room for them.
    cause: Option<usize>,
}

impl Layout {
    fn new(width: usize, longest: usize) -> Self {
        let width = width.saturating_sub(STATE_COLUMNS + TIME_COLUMNS);
        let resource = longest.max("RESOURCE".len()).min(width * 11 / 20);
        let cause = width.saturating_sub(resource + 2);
        if cause < LEAST_CAUSE {
            return Self {
                resource: width,
                cause: None,
            };
        }
        Self {
            resource,
            cause: Some(cause),
        }
    }

    fn row(&self, cells: [&str; 4], color: Option<AnsiColor>) -> LiveLine {
        let [state, time, resource, cause] = cells;
        let mut text = padded(state, STATE_COLUMNS - 1);
        // Times end at the same column.
        text.push_str(&format!(" {time:>width$}  ", width = TIME_COLUMNS - 2));
        text.push_str(&padded(&cut_inside(resource, self.resource), self.resource));
        if let Some(columns) = self.cause {
            text.push_str("  ");
            text.push_str(&cut(cause, columns));
        }
        LiveLine {
            text: text.trim_end().to_owned(),
            color,
        }
    }
}

fn state_word(state: ResourceState) -> (&'static str, Option<AnsiColor>) {
    match state {
        ResourceState::Failed => ("failed", Some(AnsiColor::Red)),
        ResourceState::Running => ("running", Some(AnsiColor::Cyan)),
        ResourceState::Pending => ("to change", Some(AnsiColor::Yellow)),
        ResourceState::Changed => ("changed", Some(AnsiColor::Green)),
        ResourceState::InOrder => ("up to date", None),
        _ => ("waiting", None),
    }
}

fn shown_id(resource: &ResourceRecord) -> String {
    Escaped::new(&resource.id.to_string()).to_string()
}

/// Why a resource is as it is: what differed, why it failed, or why it was checked.
fn cause(resource: &ResourceRecord) -> String {
    let because = match resource.cause {
        None | Some(Cause::First) => None,
        Some(cause) => Some(cause_text(cause)),
    };
    let detail = resource.detail.as_deref().map(|detail| {
        let first = detail.lines().next().unwrap_or_default();
        Escaped::new(first).to_string()
    });
    match (detail, because) {
        (Some(detail), Some(because)) if resource.state == ResourceState::Changed => {
            format!("{because}: {detail}")
        }
        (Some(detail), _) if resource.state != ResourceState::Running => detail,
        (_, because) => because.unwrap_or_default().to_owned(),
    }
}

/// Why a resource is checked, in words.
pub(crate) fn cause_text(cause: Cause) -> &'static str {
    match cause {
        Cause::Noticed => "it changed on the machine",
        Cause::Received => "it received another value",
        Cause::Refreshed => "it was notified",
        Cause::Polled => "found by polling",
        Cause::Retried => "another attempt",
        _ => "checked again",
    }
}

/// A duration in at most seven columns.
fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{}.{} s", seconds, age.subsec_millis() / 100),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use pkgres_engine::{Difference, File, GraphBuilder, Progress, Step};
    use pkgres_manifest::MetaParameters;

    use super::*;

    /// The record of a run in which everything happens.
    fn record() -> RunRecord {
        let ids = [
            "directory:/srv/web",
            "file:/srv/web/index.html",
            "package:nginx",
            "service:nginx",
            "file:/etc/nginx/sites-enabled/a-site-with-a-name-that-is-long.conf",
            "exec:migrate",
        ];
        let ids = ids.map(|id| id.parse().expect("it is an identity"));
        let mut builder = GraphBuilder::new();
        for id in &ids {
            builder.add(
                pkgres_manifest::ResourceId::clone(id),
                File::new("/x"),
                MetaParameters::default(),
            );
        }
        let graph = builder.build().expect("no cycle");
        let mut record = RunRecord::new(&graph);
        let [directory, index, package, _, site, exec] = ids;
        let content = vec![Difference::new(
            "content",
            Some("7 bytes"),
            Some("33 bytes"),
        )];
        for (at, step) in [
            (0, Step::Started(directory.clone(), Cause::First)),
            (2, Step::InOrder(directory)),
            (3, Step::Started(index.clone(), Cause::Noticed)),
            (900, Step::Changed(index, content.clone())),
            (1000, Step::Started(package, Cause::Retried)),
            (1000, Step::Started(exec.clone(), Cause::First)),
            (
                63_000,
                Step::Failed(
                    exec,
                    "`/usr/bin/migrate` exited with code 1: there is no database\nmore".to_owned(),
                ),
            ),
            (64_000, Step::Pending(site, content)),
        ] {
            let at = Duration::from_millis(at);
            record.note(&Progress { at, step });
        }
        record
    }

    fn shown(size: (usize, usize)) -> String {
        let lines = live_view(&record(), "rootfs:image", Duration::from_secs(65), size);
        for line in &lines {
            assert!(columns(&line.text) <= size.0, "{}", line.text);
        }
        assert!(lines.len() <= size.1);
        let texts: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        texts.join("\n")
    }

    #[test]
    fn a_view_fits_a_wide_terminal() {
        assert_eq!(shown((120, 40)), WIDE);
    }

    #[test]
    fn a_view_fits_a_narrow_terminal() {
        assert_eq!(shown((60, 40)), NARROW);
    }

    #[test]
    fn a_view_fits_a_tiny_terminal() {
        assert_eq!(shown((36, 5)), TINY);
        for width in 0..30 {
            for height in 0..4 {
                let lines = live_view(&record(), "t", Duration::ZERO, (width, height));
                assert!(lines.len() <= height.max(1));
            }
        }
    }

    const WIDE: &str = "\
rootfs:image  1 min  1 failed, 1 running, 1 to change, 1 waiting, 2 up to date
STATE        TIME  RESOURCE                                                 CAUSE
failed      2.0 s  exec:migrate                                             `/usr/bin/migrate` exited with code 1: ther…
running     1 min  package:nginx                                            another attempt
to change   1.0 s  file:/etc/nginx/si…a-site-with-a-name-that-is-long.conf  content: 7 bytes -> 33 bytes
changed     1 min  file:/srv/web/index.html                                 it changed on the machine: content: 7 bytes…
waiting            service:nginx
up to date  1 min  directory:/srv/web";
    const NARROW: &str = "\
rootfs:image  1 min  1 failed, 1 running, 1 to change, 1 wa…
STATE        TIME  RESOURCE                CAUSE
failed      2.0 s  exec:migrate            `/usr/bin/migrat…
running     1 min  package:nginx           another attempt
to change   1.0 s  file:/e…t-is-long.conf  content: 7 bytes…
changed     1 min  file:/s…web/index.html  it changed on th…
waiting            service:nginx
up to date  1 min  directory:/srv/web";
    const TINY: &str = "\
rootfs:image  1 min  1 failed, 1 ru…
STATE        TIME  RESOURCE
failed      2.0 s  exec:migrate
running     1 min  package:nginx
… and 4 other resources";
}
