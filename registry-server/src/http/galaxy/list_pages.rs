//! Pages of lists: `limit`, `offset` and a marker select one, and its links lead to others.

use serde_json::{Value, json};

use super::document_addresses::with_addresses;
use crate::http::request::Request;
use crate::http::response::Response;
use crate::problem::Problem;

/// The default and the greatest number of entries in a page.
const LIMIT: (u64, u64) = (10, 1000);

/// A page of a list.
///
/// The link to the next page says behind which entry that begins, so that an entry that is removed or added in the
/// meantime moves no other one out of it or into it again.
pub(super) struct RequestedPage {
    pub(super) limit: u64,
    offset: u64,
}

impl RequestedPage {
    pub(super) fn of(request: &Request) -> Result<Self, Problem> {
        Ok(Self {
            limit: request.query.number("limit", LIMIT.0, 1..=LIMIT.1)?,
            offset: request.query.number("offset", 0, 0..=u64::MAX >> 1)?,
        })
    }

    /// How many entries are before the page, if it does not begin behind a marker.
    pub(super) fn skipped(&self, has_marker: bool) -> usize {
        let skipped = if has_marker { 0 } else { self.offset };
        usize::try_from(skipped).unwrap_or(usize::MAX)
    }

    /// The response with entries. `base` is the address of the list up to the parameters of pages, `last` the last
    /// entry unless it ends the list.
    pub(super) fn response(
        &self,
        base: &str,
        count: u64,
        last: Option<String>,
        data: &[Value],
    ) -> Response {
        let Self { limit, offset } = *self;
        let link = |offset: u64| format!("{base}limit={limit}&offset={offset}");
        let next = last.map(|last| {
            // In a query, a plus sign is a blank.
            let marker = last.replace('+', "%2B");
            format!("{}&marker={marker}", link(offset.saturating_add(limit)))
        });
        // Behind the last page, that is the previous one.
        let previous = (offset > 0).then(|| {
            offset
                .min(count.div_ceil(limit) * limit)
                .saturating_sub(limit)
        });
        with_addresses(Response::json(&json!({
            "meta": { "count": count },
            "links": {
                "first": link(0),
                "previous": previous.map(link),
                "next": next,
                "last": link(count.saturating_sub(1) / limit * limit),
            },
            "data": data,
        })))
    }
}
