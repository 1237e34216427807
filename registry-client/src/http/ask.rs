//! Requests before they are sent.

use std::rc::Rc;

use reqwest::Method;
use url::Url;

use crate::protocol::Digest;

/// What is asked.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) url: Url,
    /// The digest of the body that is at hand.
    pub(super) at_hand: Option<Digest>,
    /// A body and its media type.
    pub(super) body: Option<(Rc<Vec<u8>>, &'static str)>,
    /// The largest body of an answer that is taken, in bytes.
    pub(super) limit: u64,
    /// Whether the newest microversion of the API is to answer, not the oldest.
    pub(super) newest: bool,
}

impl Ask {
    pub(super) fn get(url: Url, limit: u64) -> Self {
        Self {
            method: Method::GET,
            url,
            at_hand: None,
            body: None,
            limit,
            newest: false,
        }
    }
}
