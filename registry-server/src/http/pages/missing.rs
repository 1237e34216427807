//! What is not there, and what may have been meant.

use http::{StatusCode, header};
use maud::{Markup, html};
use pkgres_manifest::most_similar_name;

use super::layout::{self, Page};
use super::text;
use crate::http::reply::Reply;

/// In how many names a similar one is looked for.
const COMPARED: usize = 20_000;

/// The page of a package or class that is not there. `link` makes a link to what was meant.
pub(super) fn page(kind: &str, root: &'static str, wanted: &str, meant: Option<Markup>) -> Reply {
    let (_, last) = text::halves(wanted);
    let mut reply = Page {
        root,
        title: &format!("No {kind} {wanted} · pkgres"),
        query: "",
        has_search: true,
        content: html! {
            div.failure {
                p.status { "404" }
                h1 { "No such " (kind) }
                p.lead { "There is no " (kind) " " code { (layout::name(wanted)) } " in this registry." }
                @if let Some(meant) = meant { p.meant { "Did you mean " (meant) "?" } }
                (layout::search(root, last, "main-search"))
            }
        },
    }
    .reply(StatusCode::NOT_FOUND);
    reply.headers.remove(header::ETAG);
    reply
}

/// The name that was meant: the same in other case, or a similar one.
pub(super) fn meant<'name>(
    wanted: &str,
    names: impl Iterator<Item = &'name str> + Clone,
) -> Option<&'name str> {
    let same = names.clone().find(|name| name.eq_ignore_ascii_case(wanted));
    same.or_else(|| most_similar_name(wanted, names.take(COMPARED)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_begin_alike_are_not_meant() {
        let names = ["org.example.Db", "org.example.Web"];
        let meant = |wanted| meant(wanted, names.iter().copied());
        assert_eq!(meant("ORG.example.db"), Some("org.example.Db"));
        assert_eq!(meant("com.vendor.Web"), Some("org.example.Web"));
        assert_eq!(meant("org.example.Wbe"), Some("org.example.Web"));
        assert_eq!(meant("org.example.Log"), None);
    }
}
