//! Routes: the table of all paths, with their methods, bodies and rights.
//!
//! A route is declared once. 404, 405 with `Allow`, `OPTIONS`, `HEAD`, 406, 415, limits of bodies and
//! errors for unknown parameters follow from the table, as does the description of the API.

use http::Method;
use http::header::HeaderValue;

use super::microversion::Microversion;
use super::request::Request;
use super::response::Response;
use super::service::Service;
use crate::access::Principal;
use crate::problem::{Problem, ProblemCode};

/// A group of routes with a common prefix and one form of errors.
pub(crate) struct Surface {
    /// The prefix of the paths, without the leading slash.
    pub(crate) prefix: &'static str,
    pub(crate) routes: &'static [Route],
    /// Whether the routes have microversions, which every response then names.
    pub(crate) has_microversions: bool,
    /// The schema of errors in the description of the API.
    pub(crate) error_schema: &'static str,
    /// Renders a problem, with the id of the request.
    pub(crate) error: fn(&Problem, &str) -> Response,
}

/// A route and the values of the parameters in a path.
pub(crate) type RouteMatch<'path> = (&'static Route, Vec<&'path str>);

impl Surface {
    /// The route of a path without its leading slash.
    pub(crate) fn find<'path>(&'static self, path: &'path str) -> Option<RouteMatch<'path>> {
        let mut routes = self.routes.iter();
        routes.find_map(|route| Some((route, route.matches(path)?)))
    }
}

/// A path and its handlers.
pub(crate) struct Route {
    /// The pattern of the path. A segment may be a parameter, `{name}`, or begin with one,
    /// `{name}.ndjson`.
    pub(crate) path: &'static str,
    pub(crate) handlers: &'static [Handler],
}

/// A handler of one method of a route.
pub(crate) struct Handler {
    pub(crate) method: Method,
    /// The first and the last microversion that have the handler.
    pub(crate) since: Microversion,
    pub(crate) until: Microversion,
    /// Its summary in the description of the API.
    pub(crate) summary: &'static str,
    pub(crate) access: Access,
    /// The known parameters of the query.
    pub(crate) query: &'static [&'static str],
    /// Whether unknown parameters are ignored, and repeated ones are lists.
    pub(crate) has_open_query: bool,
    pub(crate) body: BodyKind,
    /// The media type of the response.
    pub(crate) media_type: &'static str,
    /// Whether the response has this media type whatever the client accepts, as probes and scrapers expect.
    pub(crate) ignores_accept: bool,
    /// The statuses of success, each with what the response contains.
    pub(crate) answers: &'static [(u16, AnswerBody)],
    /// The problems that the handler finds by itself, beside those that follow from the other fields.
    pub(crate) problems: &'static [ProblemCode],
    /// An error unless the scopes of the token permit a change. It comes before the preconditions, because they say
    /// whether something exists.
    pub(crate) permits: Permits,
    /// Responds from memory if that is possible, without blocking.
    pub(crate) fast_path: Option<FastPath>,
    /// Responds, on a thread that may block.
    pub(crate) run: fn(&Service, &Request) -> Result<Response, Problem>,
}

/// An error unless the scopes of a token permit a request.
pub(crate) type Permits = fn(&Principal, &Request) -> Result<(), Problem>;

/// Responds from memory, or returns none.
pub(crate) type FastPath = fn(&Service, &Request) -> Option<Result<Response, Problem>>;

/// The clients that may use a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// All clients.
    Public,
    /// All clients, or in a private registry clients with a token to read.
    Reader,
    /// As [`Reader`](Self::Reader), but a token is authenticated if there is one, because the response
    /// may depend on it.
    OptionalToken,
    /// Clients with a token. The handler checks its scopes.
    Token,
    /// As [`Token`](Self::Token), but the token may also be sent as a password, unless the request is one that a page
    /// in a browser can make.
    TokenOrPassword,
}

impl Access {
    /// Whether only clients that are known may send the request, as is the case for all that change something.
    pub(crate) fn is_for_changes(self) -> bool {
        matches!(self, Self::Token | Self::TokenOrPassword)
    }
}

/// What a response of success contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerBody {
    /// No body.
    Nothing,
    /// Bytes or text of the media type of the handler.
    Raw,
    /// A JSON document with a schema of the description of the API.
    Json(&'static str),
}

/// The body of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// No body; one that is sent all the same is not read.
    None,
    /// A small JSON document with a schema of the description of the API.
    Json(&'static str),
    /// A batch request.
    Batch,
    /// An archive.
    Archive,
    /// A form with an archive. The handler finds its boundary.
    Form,
    /// A form with the artifact of a collection. The handler finds its boundary.
    CollectionForm,
    /// A patch of a release in the catalog.
    CatalogPatch,
}

impl BodyKind {
    /// The media type of the body.
    pub(crate) fn media_type(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Json(_) | Self::Batch => Some("application/json"),
            Self::Archive => Some("application/zip"),
            Self::Form | Self::CollectionForm => Some("multipart/form-data"),
            Self::CatalogPatch => Some("application/murano-packages-json-patch"),
        }
    }
}

/// The handler that others are declared from, with `..GET`.
pub(crate) const GET: Handler = Handler {
    method: Method::GET,
    since: Microversion::OLDEST,
    until: Microversion::NEWEST,
    summary: "",
    access: Access::Reader,
    query: &[],
    has_open_query: false,
    body: BodyKind::None,
    media_type: "application/json",
    ignores_accept: false,
    answers: &[(200, AnswerBody::Raw)],
    problems: &[],
    permits: |_, _| Ok(()),
    fast_path: None,
    run: |_, _| Err(Problem::internal("a handler without work")),
};

impl Handler {
    /// Whether a microversion has the handler.
    pub(crate) fn is_in(&self, version: Microversion) -> bool {
        self.since <= version && version <= self.until
    }
}

impl Route {
    /// The values of the parameters in a path; none if the path does not match.
    fn matches<'path>(&self, path: &'path str) -> Option<Vec<&'path str>> {
        let mut parts = Vec::new();
        let mut pattern = self.path.split('/');
        let mut segments = path.split('/');
        loop {
            match (pattern.next(), segments.next()) {
                (None, None) => return Some(parts),
                (Some(pattern), Some(segment)) => match pattern.strip_prefix('{') {
                    None if pattern == segment => {}
                    None => return None,
                    Some(rest) => {
                        let (_, suffix) = rest.split_once('}')?;
                        let part = segment
                            .strip_suffix(suffix)
                            .filter(|part| !part.is_empty())?;
                        parts.push(part);
                    }
                },
                _ => return None,
            }
        }
    }

    /// The handler of a method in a microversion.
    pub(crate) fn handler(&self, method: &Method, version: Microversion) -> Option<&Handler> {
        self.handlers
            .iter()
            .find(|handler| handler.method == *method && handler.is_in(version))
    }

    /// Whether a microversion has the route.
    pub(crate) fn is_in(&self, version: Microversion) -> bool {
        self.handlers.iter().any(|handler| handler.is_in(version))
    }

    /// The value of `Allow` in a microversion that has the route.
    pub(crate) fn allow(&self, version: Microversion) -> HeaderValue {
        let mut methods: Vec<&str> = Vec::new();
        for handler in self
            .handlers
            .iter()
            .filter(|handler| handler.is_in(version))
        {
            methods.push(handler.method.as_str());
            if handler.method == Method::GET {
                methods.push("HEAD");
            }
        }
        methods.push("OPTIONS");
        HeaderValue::from_str(&methods.join(", ")).expect("methods are valid in a header")
    }
}

/// The surface of a path without its leading slash. There always is one, because errors need a form.
pub(crate) fn surface(surfaces: &'static [&'static Surface], path: &str) -> &'static Surface {
    let mut surface = surfaces[0];
    for other in &surfaces[1..] {
        if path.starts_with(other.prefix) && other.prefix.len() > surface.prefix.len() {
            surface = other;
        }
    }
    surface
}

/// The surface and the route of a path without its leading slash.
pub(crate) fn find<'path>(
    surfaces: &'static [&'static Surface],
    path: &'path str,
) -> (&'static Surface, Option<RouteMatch<'path>>) {
    let surface = surface(surfaces, path);
    (surface, surface.find(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A route with one method that changed, and one that is new.
    const ROUTE: Route = Route {
        path: "v1/things",
        handlers: &[
            Handler {
                until: Microversion::OLDEST,
                summary: "old",
                ..GET
            },
            Handler {
                since: Microversion::NEWEST,
                summary: "new",
                ..GET
            },
            Handler {
                method: Method::PUT,
                since: Microversion::NEWEST,
                summary: "added",
                ..GET
            },
        ],
    };

    #[test]
    fn a_microversion_has_its_own_handlers() {
        let found = |method: Method, version| {
            let handler = ROUTE.handler(&method, version);
            handler.map(|handler| handler.summary)
        };
        for (version, get, put, allow) in [
            (Microversion::OLDEST, "old", None, "GET, HEAD, OPTIONS"),
            (
                Microversion::NEWEST,
                "new",
                Some("added"),
                "GET, HEAD, PUT, OPTIONS",
            ),
        ] {
            assert_eq!(found(Method::GET, version), Some(get));
            assert_eq!(found(Method::PUT, version), put);
            assert_eq!(ROUTE.allow(version), allow);
            assert!(ROUTE.is_in(version));
        }
    }
}
