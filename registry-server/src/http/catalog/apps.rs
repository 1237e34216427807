//! A repository of archives by name and spec, as clients walk through it that have no solver:
//! what they put behind the name is what stands in `Require`.

use pkgres_manifest::{PackageName, Spec};
use pkgres_registry_client::protocol::Digest;

use super::show;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};

pub(super) fn app(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let (name, spec) = split(request.part(0));
    let name = PackageName::parse(name)
        .map_err(|error| Problem::new(ProblemCode::NameInvalid, error.to_string()))?;
    let spec = spec.map(Spec::parse).transpose();
    let spec =
        spec.map_err(|error| Problem::new(ProblemCode::VersionInvalid, error.to_string()))?;
    let record = service.registry.chosen(&name, spec.as_ref())?;
    let sha256 = record
        .digest
        .map(|digest| digest.to_string())
        .unwrap_or_default();
    let digest = Digest::parse(&sha256)?;
    show::archive(service, request, &digest, "application/zip")
}

/// A name and what stands behind it: no part of a name begins with what a spec begins with.
fn split(text: &str) -> (&str, Option<&str>) {
    let begins_spec = |at: usize| {
        let next = text[at + 1..].chars().next();
        next.is_none_or(|next| !next.is_alphabetic() && next != '_')
    };
    let dots = text.match_indices('.').map(|(at, _)| at);
    match dots.into_iter().find(|at| begins_spec(*at)) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_where_specs_begin() {
        for (text, name, spec) in [
            ("org.acme.Web", "org.acme.Web", None),
            ("org.acme.Web.1.2", "org.acme.Web", Some("1.2")),
            ("org.acme.Web.>=1.0 <2", "org.acme.Web", Some(">=1.0 <2")),
            ("org.acme.Web.*", "org.acme.Web", Some("*")),
            (
                "org.acme.Web.1.0.0-rc.1",
                "org.acme.Web",
                Some("1.0.0-rc.1"),
            ),
            ("org.acme._X.^1", "org.acme._X", Some("^1")),
            ("Web.", "Web", Some("")),
        ] {
            assert_eq!(split(text), (name, spec), "{text}");
        }
    }
}
