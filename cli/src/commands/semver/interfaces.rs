//! Differences of the interfaces of two versions of a package, as they are shown.

use pkgres_checks::InterfaceDifference;
use serde_json::{Value, json};

use super::places;
use crate::show::place_json;

/// A difference as text: what it is, and where.
pub(super) fn line_of(difference: &InterfaceDifference) -> String {
    let places = places(difference.old.as_ref(), difference.new.as_ref());
    format!("{difference}\n{places}")
}

/// A difference as JSON.
pub(super) fn document(difference: &InterfaceDifference) -> Value {
    json!({
        "impact": difference.impact.to_string(),
        "interface": difference.interface,
        "function": difference.function,
        "message": difference.message,
        "old": difference.old.as_ref().map(place_json),
        "new": difference.new.as_ref().map(place_json),
    })
}
