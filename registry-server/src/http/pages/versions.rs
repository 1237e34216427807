//! All releases of a package.

use maud::{Markup, html};

use super::layout;
use super::layout::ROOT;
use super::text;
use crate::registry::ReleaseView;

pub(super) fn section(versions: &[ReleaseView]) -> Markup {
    html! {
        section aria-labelledby="versions" {
            h2 #versions { "Versions " span.number { (versions.len()) } }
            ul.versions { @for release in versions { (row(release)) } }
        }
    }
}

fn row(release: &ReleaseView) -> Markup {
    let record = &release.record;
    html! {
        li.yanked[record.yanked] id={ "v" (record.version) } {
            div.line {
                span.version { (record.version) }
                @if record.yanked { span.tag.warning { "yanked" } }
                @else if record.version.is_prerelease() { span.tag { "pre-release" } }
                span.quiet.facts {
                    (layout::time(record.published.as_deref().unwrap_or_default()))
                    @if let Some(size) = record.size { " · " (text::size(size)) }
                }
            }
            @if let Some(reason) = &release.yank_reason {
                p.reason { "Yanked: " (text::shown(reason)) }
            }
            @if let Some(digest) = &record.digest {
                p.digest {
                    a href={ (ROOT) "blobs/sha256/" (digest) } download={ (record.name) "-" (record.version) ".zip" } {
                        span.hidden { "Download " (record.version) ", " } "sha256"
                    }
                    " " code { (digest) }
                }
            }
        }
    }
}
