//! What may be amiss with a release though it was published.

use pkgres_manifest::PackageName;
use serde_json::{Value, json};

use super::Service;
use crate::access::Actor;

/// The code of the warning that a name is easily taken for another one.
const SIMILAR_NAME: &str = "pkgres.similar_name";

/// What whoever published a release of a package may want to know, as it is answered.
pub(super) fn of_publish(service: &Service, actor: &Actor, name: &PackageName) -> Vec<Value> {
    // It is published: what cannot be found out about it is no reason to say that it is not.
    let similar = service.registry.similar_names(actor, name);
    let similar = similar.unwrap_or_else(|problem| {
        tracing::error!(%problem, "it cannot be said whether a name is similar to others");
        Vec::new()
    });
    let warning = |other: &PackageName| {
        let detail = format!(
            "{name} is easily taken for {other}, which belongs to others; if that is not meant, \
             publish under another name"
        );
        json!({ "code": SIMILAR_NAME, "detail": detail })
    };
    similar.iter().map(warning).collect()
}
