//! The table of addresses: which there are, what each takes and gives, and who may ask.
//!
//! What an address has is declared once, and 404, 405 with `Allow`, `OPTIONS`, `HEAD`, 406, 415,
//! limits of bodies and unknown parameters of queries follow from the table.

use http::Method;
use http::header::HeaderValue;

use super::Microversion;
use super::reply::Reply;
use super::request::Request;
use super::service::Service;
use crate::problem::Problem;

/// Addresses that belong together and whose errors look alike.
pub(crate) struct Surface {
    /// What the addresses begin with, without the leading slash.
    pub(crate) prefix: &'static str,
    pub(crate) routes: &'static [Route],
    /// Whether microversions matter, and are said in every answer.
    pub(crate) has_microversions: bool,
    /// How a problem looks. The request id is for the body.
    pub(crate) error: fn(&Problem, &str) -> Reply,
}

/// A route and the parts of a path that stand for those in braces.
pub(crate) type Found<'path> = (&'static Route, Vec<&'path str>);

impl Surface {
    /// The route of a path without its leading slash.
    pub(crate) fn find<'path>(
        &'static self,
        path: &'path str,
    ) -> Option<(&'static Route, Vec<&'path str>)> {
        let mut routes = self.routes.iter();
        routes.find_map(|route| Some((route, route.matches(path)?)))
    }
}

/// An address and what can be done there.
pub(crate) struct Route {
    /// Parts with slashes between; `{x}` stands for one part, or for what comes before the rest
    /// of one, as in `{name}.ndjson`.
    pub(crate) path: &'static str,
    pub(crate) handlers: &'static [Handler],
}

/// One thing that can be done at an address.
pub(crate) struct Handler {
    pub(crate) method: Method,
    /// The first and the last microversion that has it.
    pub(crate) since: Microversion,
    pub(crate) until: Microversion,
    /// What it does, in one sentence, for the description of the API.
    pub(crate) summary: &'static str,
    pub(crate) access: Access,
    /// The parameters of the query.
    pub(crate) query: &'static [&'static str],
    /// Whether other parameters are passed over, and those that are given twice are lists.
    pub(crate) has_open_query: bool,
    pub(crate) takes: Takes,
    /// The media type of the answer.
    pub(crate) gives: &'static str,
    /// Answers from memory if that is possible, without blocking.
    pub(crate) quick: Option<Quick>,
    /// Answers, on a thread that may block.
    pub(crate) run: fn(&Service, &Request) -> Result<Reply, Problem>,
}

/// Answers from memory, or not at all.
pub(crate) type Quick = fn(&Service, &Request) -> Option<Result<Reply, Problem>>;

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everyone.
    Everyone,
    /// Everyone, or who has a token to read if the registry is private.
    Readers,
    /// Likewise, but whoever sends a token is known by it, and the answer may depend on that.
    Known,
    /// Who has a token. What it is good for is for the handler to say.
    Holders,
}

/// The body that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// None; one that is sent all the same is not read.
    Nothing,
    /// A small JSON document.
    Json,
    /// A batch request.
    Batch,
    /// An archive.
    Archive,
    /// A form with an archive. Whether it is a form is for the handler to say.
    Form,
    /// Changes of a release of the catalog.
    CatalogPatch,
}

impl Takes {
    /// The media type of the body, if there is one.
    pub(crate) fn media_type(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Json | Self::Batch => Some("application/json"),
            Self::Archive => Some("application/zip"),
            Self::Form => Some("multipart/form-data"),
            Self::CatalogPatch => Some("application/murano-packages-json-patch"),
        }
    }
}

/// A handler with what most have. The rest is said with `..`.
pub(crate) const GET: Handler = Handler {
    method: Method::GET,
    since: Microversion::OLDEST,
    until: Microversion::NEWEST,
    summary: "",
    access: Access::Readers,
    query: &[],
    has_open_query: false,
    takes: Takes::Nothing,
    gives: "application/json",
    quick: None,
    run: |_, _| Err(Problem::internal("a handler without work")),
};

impl Handler {
    pub(crate) fn is_in(&self, version: Microversion) -> bool {
        self.since <= version && version <= self.until
    }
}

impl Route {
    /// The parts of a path that stand for those in braces; nothing if the path is another one.
    fn matches<'path>(&self, path: &'path str) -> Option<Vec<&'path str>> {
        let mut parts = Vec::new();
        let mut pattern = self.path.split('/');
        let mut given = path.split('/');
        loop {
            match (pattern.next(), given.next()) {
                (None, None) => return Some(parts),
                (Some(pattern), Some(given)) => match pattern.strip_prefix('{') {
                    None if pattern == given => {}
                    None => return None,
                    Some(rest) => {
                        let (_, suffix) = rest.split_once('}')?;
                        let part = given.strip_suffix(suffix).filter(|part| !part.is_empty())?;
                        parts.push(part);
                    }
                },
                _ => return None,
            }
        }
    }

    /// The handler for a method, among those of a microversion.
    pub(crate) fn handler(&self, method: &Method, version: Microversion) -> Option<&Handler> {
        self.handlers
            .iter()
            .find(|handler| handler.method == *method && handler.is_in(version))
    }

    /// Whether there is the address in a microversion.
    pub(crate) fn is_in(&self, version: Microversion) -> bool {
        self.handlers.iter().any(|handler| handler.is_in(version))
    }

    /// The value of `Allow` in a microversion that has the address.
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
        HeaderValue::from_str(&methods.join(", ")).expect("methods can stand in a header")
    }
}

/// The surface of a path without its leading slash. There always is one, for errors have to look
/// like something.
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
) -> (&'static Surface, Option<(&'static Route, Vec<&'path str>)>) {
    let surface = surface(surfaces, path);
    (surface, surface.find(path))
}
