//! Turns a request into a response, in the same order for all routes: path, microversion, method, length of the body,
//! token, media types, query, body, scopes, conditions, handler.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode};
use percent_encoding::percent_decode_str;
use pkgres_manifest::diagnostic::Escaped;

use super::authenticate::Authenticator;
use super::conditional::{Preconditions, is_reading};
use super::error_response::{error_response, keep_private};
use super::host::check_host;
use super::microversion::{self, Microversion};
use super::query::Query;
use super::request::{FORWARDED_PREFIX, Request};
use super::response::{Response, ResponseBody, http_date};
use super::route::{self, Access, BodyKind, Handler, Route, RouteMatch, Surface};
use super::service::Service;
use super::{
    artifacts, catalog, galaxy, index, native, negotiate, openapi, operations, pages, read_body,
};
use crate::access::{Principal, Scope};
use crate::problem::{Problem, ProblemCode};
use crate::registry::RegistryBackend;

/// The surfaces. Paths of no other surface belong to the first one.
pub(super) const SURFACES: &[&Surface] = &[
    &native::SURFACE,
    &index::SURFACE,
    &artifacts::SURFACE,
    &catalog::SURFACE,
    &catalog::APPS,
    &catalog::BUNDLES,
    &galaxy::SURFACE,
    &operations::HEALTH,
    &operations::METRICS,
];

const REQUEST_ID: HeaderName = HeaderName::from_static("x-openstack-request-id");
const VERSION: HeaderName = HeaderName::from_static(microversion::HEADER);

/// The limit of a JSON document in a request, in bytes.
const MAX_JSON_BYTES: u64 = 1 << 20;

/// The methods of all routes.
const ALL_METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// A request without its body.
struct RequestHead {
    method: Method,
    uri: http::Uri,
    headers: Arc<HeaderMap>,
}

impl Service {
    /// A service for a registry.
    pub fn new(registry: Arc<RegistryBackend>) -> Self {
        Self::with_description(registry, openapi::document(SURFACES))
    }

    /// The response to a request. Errors are responses, too.
    pub async fn answer<B>(
        self: &Arc<Self>,
        request: http::Request<B>,
    ) -> http::Response<ResponseBody>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let started = Instant::now();
        let id = self.request_ids.next();
        let (mut parts, body) = request.into_parts();
        // Handlers share them.
        let headers = Arc::new(std::mem::take(&mut parts.headers));
        let head = RequestHead {
            method: parts.method,
            uri: parts.uri,
            headers,
        };
        let path = head.uri.path();
        let path = path.strip_prefix('/').unwrap_or(path);
        let (surface, found) = pages::find(SURFACES, path, &head.headers)
            .unwrap_or_else(|| route::find(SURFACES, path));
        // An error about the version itself has the form of the oldest version.
        let requested = if surface.has_microversions {
            Microversion::requested(&head.headers)
        } else {
            Ok(Microversion::OLDEST)
        };
        let version = *requested.as_ref().unwrap_or(&Microversion::OLDEST);
        let name = found.as_ref().map_or("", |(route, _)| route.path);
        let is_negotiated = pages::are_negotiated(SURFACES, path);
        let handler = found.as_ref().and_then(|(route, _)| {
            let method = Some(&head.method).filter(|method| **method != Method::HEAD);
            route.handler(method.unwrap_or(&Method::GET), version)
        });
        let is_restricted = handler.is_some_and(|handler| self.is_restricted(handler.access));
        let mut caller = None;
        let checked = check_host(parts.version, &head.uri, &head.headers)
            .and_then(|()| read_body::check_transfer_coding(&head.headers));
        let outcome = if let Err(problem) = checked {
            Err(problem)
        } else {
            let ids = (id.as_str(), &mut caller);
            self.handle(&head, body, (surface, found), requested, ids)
                .await
        };
        let mut response = match outcome {
            Ok(response) => response,
            Err(problem) => error_response(surface, &problem, id.as_str()),
        };
        if is_restricted {
            keep_private(&mut response);
        }
        if surface.has_microversions {
            response.headers.insert(VERSION, version.header());
            response.vary(microversion::HEADER);
        }
        if is_negotiated {
            response.vary("accept");
        }
        self.set_date(&mut response);
        let headers = &mut response.headers;
        headers.insert(REQUEST_ID, id.header());
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        if head.method == Method::HEAD {
            response.remove_body();
        }
        let taken = started.elapsed();
        self.metrics
            .count(name, &head.method, response.status, taken);
        log(&head, &response, (id.as_str(), caller.as_ref()), taken);
        response.into_http()
    }

    /// Checks a request against its route, and runs the handler. Stores who the caller is, for the log.
    async fn handle<B>(
        self: &Arc<Self>,
        head: &RequestHead,
        body: B,
        (surface, found): (&'static Surface, Option<RouteMatch<'_>>),
        requested: Result<Microversion, Problem>,
        (id, caller): (&str, &mut Option<Principal>),
    ) -> Result<Response, Problem>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let version = requested?;
        if head.method == Method::OPTIONS && head.uri.path() == "*" {
            // About the server, and no path of it.
            let allow = HeaderValue::from_static(ALL_METHODS);
            return Ok(Response::empty(StatusCode::NO_CONTENT).header(header::ALLOW, allow));
        }
        let found = found.filter(|(route, _)| route.is_in(version));
        let (route, raw) = found.ok_or_else(|| no_such_address(head))?;
        if head.method == Method::OPTIONS {
            let allow = route.allow(version);
            return Ok(Response::empty(StatusCode::NO_CONTENT).header(header::ALLOW, allow));
        }
        let method = if head.method == Method::HEAD {
            &Method::GET
        } else {
            &head.method
        };
        let Some(handler) = route.handler(method, version) else {
            return Ok(method_not_allowed(surface, route.allow(version), head, id));
        };
        let limit = self.body_limit(handler.body);
        read_body::check_length(&head.headers, limit)?;
        let principal = match self.authenticate(handler.access, head).await {
            Ok(principal) => principal,
            Err(problem) => {
                read_body::discard(body, limit).await;
                return Err(problem);
            }
        };
        caller.clone_from(&principal);
        if !handler.ignores_accept {
            negotiate::check_accept(&head.headers, handler.media_type)?;
        }
        let query = head.uri.query().unwrap_or_default();
        let query = if handler.has_open_query {
            Query::read_open(query)?
        } else {
            Query::read(query, handler.query)?
        };
        let body = match handler.body.media_type() {
            None => Bytes::new(),
            Some(kind) => {
                negotiate::check_content(&head.headers, kind)?;
                if negotiate::is_encoded(&head.headers) {
                    let detail = "the body has to be sent without `Content-Encoding`";
                    let problem = Problem::new(ProblemCode::MediaTypeUnsupported, detail);
                    let accepted = HeaderValue::from_static("identity");
                    return Ok(error_response(surface, &problem, id)
                        .header(header::ACCEPT_ENCODING, accepted));
                }
                negotiate::check_whole(&head.headers)?;
                let incoming = &self.registry.incoming;
                read_body::receive(body, limit, self.body_timeout, incoming).await?
            }
        };
        let request = Request {
            parts: raw.into_iter().map(decoded).collect::<Result<_, _>>()?,
            query,
            headers: Arc::clone(&head.headers),
            body,
            principal,
        };
        let preconditions = Preconditions::of(&head.method, &head.headers);
        if is_reading(&head.method) {
            return self.read(head, handler, request, &preconditions).await;
        }
        if let Some(principal) = &request.principal {
            (handler.permits)(principal, &request)?;
        }
        if !handler.access.is_for_changes() {
            return self.run(handler, request).await;
        }
        let place = (surface, route, version);
        self.change(place, handler, request, &preconditions).await
    }

    /// Runs a handler that reads. Preconditions come first, and they are about the whole representation, as `HEAD` is.
    async fn read(
        self: &Arc<Self>,
        head: &RequestHead,
        handler: &'static Handler,
        mut request: Request,
        preconditions: &Preconditions,
    ) -> Result<Response, Problem> {
        let range = head.headers.contains_key(header::RANGE);
        let is_whole = head.method == Method::HEAD || !preconditions.is_empty();
        let ranged = (range && is_whole).then(|| request.clone());
        if ranged.is_some() {
            request.headers = Arc::new(without_range(&head.headers));
        }
        let now = self.registry.environment.now();
        let whole = preconditions.apply(self.run(handler, request).await?, now.into())?;
        match ranged {
            Some(ranged) if head.method == Method::GET && whole.status == StatusCode::OK => {
                self.run(handler, ranged).await
            }
            _ => Ok(whole),
        }
    }

    /// Runs a handler that changes something, once it is its turn.
    async fn change(
        self: &Arc<Self>,
        (surface, route, version): (&'static Surface, &'static Route, Microversion),
        handler: &'static Handler,
        request: Request,
        preconditions: &Preconditions,
    ) -> Result<Response, Problem> {
        let turn = self.turns.next(!preconditions.is_empty()).await;
        if !preconditions.is_empty() {
            let current = self
                .representation(surface, route, version, &request)
                .await?;
            preconditions.check_change(current.as_ref())?;
        }
        let service = Arc::clone(self);
        // The turn lasts as long as the change, even if the client goes away.
        self.blocking(move || {
            let result = (handler.run)(&service, &request);
            drop(turn);
            result
        })
        .await
    }

    /// Sets the time of a response that was made for the request, and has none of its own.
    fn set_date(&self, response: &mut Response) {
        if response.is_made_now() {
            let now = http_date(self.registry.environment.now());
            let now = now.map(|now| (header::LAST_MODIFIED, now));
            response.headers.extend(now);
        }
    }

    /// Whether responses to those who may use a handler are not for everybody.
    fn is_restricted(&self, access: Access) -> bool {
        match access {
            Access::Public => false,
            Access::Reader => self.registry.options.is_private,
            Access::OptionalToken | Access::Token | Access::TokenOrPassword => true,
        }
    }

    /// What a `GET` of the address of a request returns, if there is anything. If the address has no `GET`, it is
    /// a part of the next one above it that has.
    async fn representation(
        self: &Arc<Self>,
        surface: &'static Surface,
        mut route: &'static Route,
        version: Microversion,
        request: &Request,
    ) -> Result<Option<Response>, Problem> {
        let handler = loop {
            if let Some(handler) = route.handler(&Method::GET, version) {
                break handler;
            }
            let above = route.path.rsplit_once('/').map(|(above, _)| above);
            let mut routes = surface.routes.iter();
            match routes.find(|route| Some(route.path) == above) {
                Some(above) => route = above,
                None => return Ok(None),
            }
        };
        let mut parts = request.parts.clone();
        parts.truncate(route.path.matches('{').count());
        let request = Request {
            parts,
            query: Query::default(),
            headers: Arc::new(address_headers(&request.headers)),
            body: Bytes::new(),
            ..request.clone()
        };
        match self.run(handler, request).await {
            Ok(mut response) if response.status.is_success() => {
                // A client that has read it knows this time.
                self.set_date(&mut response);
                Ok(Some(response))
            }
            Ok(_) => Ok(None),
            Err(problem) if problem.code.status() == StatusCode::NOT_FOUND.as_u16() => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Runs a handler: its fast path, or on a thread that may block.
    async fn run(
        self: &Arc<Self>,
        handler: &'static Handler,
        request: Request,
    ) -> Result<Response, Problem> {
        if let Some(fast_path) = handler.fast_path
            && let Some(result) = fast_path(self, &request)
        {
            return result;
        }
        let service = Arc::clone(self);
        self.blocking(move || (handler.run)(&service, &request))
            .await
    }

    /// Runs work on a thread that may block. A panic is a bug, and fails this request alone.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let work = move || std::panic::catch_unwind(AssertUnwindSafe(work));
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(Problem::internal("a handler panicked")),
            Err(error) => Err(Problem::internal(error)),
        }
    }

    /// The principal of a request, if its route needs one.
    async fn authenticate(
        self: &Arc<Self>,
        access: Access,
        head: &RequestHead,
    ) -> Result<Option<Principal>, Problem> {
        let is_private = self.registry.options.is_private;
        if access == Access::Public || (access == Access::Reader && !is_private) {
            return Ok(None);
        }
        let is_open = access == Access::OptionalToken && !is_private;
        if is_open && !Authenticator::has_credential(&head.headers) {
            return Ok(None);
        }
        let is_password_valid = is_reading(&head.method)
            || access == Access::TokenOrPassword && !Authenticator::is_from_page(&head.headers);
        let secret = Authenticator::secret(is_password_valid, &head.headers)?;
        let principal =
            if let Some(principal) = self.authenticator.cached(&self.registry, &secret)? {
                principal
            } else {
                let service = Arc::clone(self);
                self.blocking(move || service.authenticator.look_up(&service.registry, &secret))
                    .await?
            };
        if matches!(access, Access::Reader | Access::OptionalToken) && is_private {
            principal.require(Scope::Read)?;
        }
        Ok(Some(principal))
    }

    /// The limit of a body, in bytes.
    fn body_limit(&self, kind: BodyKind) -> u64 {
        match kind {
            // A body that no handler reads has no limit of its own.
            BodyKind::None => u64::MAX,
            BodyKind::Json(_) | BodyKind::CatalogPatch => MAX_JSON_BYTES,
            // A name and a digest each.
            BodyKind::Batch => self.registry.options.batch_names as u64 * 400 + 1024,
            BodyKind::Archive => self.registry.options.read.limits.archive_bytes,
            // The archive, the metadata, and what is between the parts.
            BodyKind::Form => self.registry.options.read.limits.archive_bytes + MAX_JSON_BYTES,
            // In base64, four characters for three bytes, with ends of lines.
            BodyKind::CollectionForm => {
                let bytes = self.registry.options.read.limits.archive_bytes;
                bytes + bytes / 2 + MAX_JSON_BYTES
            }
        }
    }
}

fn no_such_address(head: &RequestHead) -> Problem {
    let path = Escaped::shortened(head.uri.path());
    let detail = format!("there is nothing at {path}");
    Problem::new(ProblemCode::NoSuchAddress, detail)
}

/// The response to a request whose method its route does not have; `allow` lists those that it has.
fn method_not_allowed(
    surface: &'static Surface,
    allow: HeaderValue,
    head: &RequestHead,
    id: &str,
) -> Response {
    let methods = allow.to_str().unwrap_or_default();
    let method = Escaped::shortened(head.method.as_str()).to_string();
    let detail = format!("the methods here are {methods}, not {method}");
    let problem = Problem::new(ProblemCode::MethodNotAllowed, detail);
    error_response(surface, &problem, id).header(header::ALLOW, allow)
}

/// The headers of a request that the addresses in a document depend on.
fn address_headers(headers: &HeaderMap) -> HeaderMap {
    let prefix = headers.get_all(FORWARDED_PREFIX).into_iter();
    let name = HeaderName::from_static(FORWARDED_PREFIX);
    prefix.map(|value| (name.clone(), value.clone())).collect()
}

/// The headers of a request for the whole of something.
fn without_range(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.remove(header::RANGE);
    headers.remove(header::IF_RANGE);
    headers
}

/// A parameter of the path without its percent-encoding.
fn decoded(part: &str) -> Result<String, Problem> {
    if !part.contains('%') {
        return Ok(part.to_owned());
    }
    match percent_decode_str(part).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(Problem::new(
            ProblemCode::AddressInvalid,
            "a part of the address is not UTF-8",
        )),
    }
}

/// Logs a request, with the owner and the id of its token. Texts of clients are escaped.
fn log(
    head: &RequestHead,
    response: &Response,
    (id, caller): (&str, Option<&Principal>),
    taken: Duration,
) {
    let status = response.status.as_u16();
    let path = head.uri.path();
    let millis = taken.as_millis();
    macro_rules! log {
        ($level:ident) => {
            tracing::$level!(
                request = id,
                global = head.headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok()),
                method = %Escaped::shortened(head.method.as_str()),
                path = %Escaped::shortened(path),
                owner = caller.map(|caller| &*caller.owner),
                token = caller.and_then(|caller| caller.credential.token()),
                status,
                millis,
                "answered"
            )
        };
    }
    let is_reading = matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS);
    match status {
        // The client asks for what no server has to do.
        501 => log!(info),
        500.. => log!(error),
        _ if is_reading => log!(debug),
        _ => log!(info),
    }
}
