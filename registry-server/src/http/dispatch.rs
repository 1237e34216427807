//! What all addresses have in common, in one place and one order: address, method, microversion,
//! token, media types, query, body, handler, conditions.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Response, StatusCode};
use percent_encoding::percent_decode_str;
use pkgres_manifest::diagnostic::Escaped;

use super::identify::Identifier;
use super::query::Query;
use super::refuse::{keep_private, refuse};
use super::reply::{Pieces, Reply};
use super::request::Request;
use super::route::{self, Access, Handler, Route, Surface, Takes};
use super::service::Service;
use super::{
    Microversion, blobs, catalog, conditional, index, microversion, native, negotiate, openapi,
    operations, pages, read_body,
};
use crate::problem::{Problem, ProblemCode};
use crate::registry::RegistryBackend;

/// The surfaces. The first one answers for whatever belongs to no other.
pub(crate) const SURFACES: &[&Surface] = &[
    &native::SURFACE,
    &index::SURFACE,
    &blobs::SURFACE,
    &catalog::SURFACE,
    &catalog::APPS,
    &catalog::BUNDLES,
    &operations::HEALTH,
    &operations::METRICS,
];

const REQUEST_ID: HeaderName = HeaderName::from_static("x-openstack-request-id");
const VERSION: HeaderName = HeaderName::from_static(microversion::HEADER);

/// The size of a JSON document that is sent to the API.
const JSON_BYTES: u64 = 1 << 20;

/// What is asked, apart from the body.
struct Asked {
    method: Method,
    uri: http::Uri,
    headers: Arc<HeaderMap>,
}

impl Service {
    /// A service for a registry. A body has to arrive within `body_patience`.
    pub fn new(registry: Arc<RegistryBackend>, body_patience: Duration) -> Self {
        Self::describing(openapi::document(SURFACES), registry, body_patience)
    }

    /// Answers a request. Never fails: what goes wrong is an answer, too.
    pub async fn answer<B>(self: &Arc<Self>, request: http::Request<B>) -> Response<Pieces>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let started = Instant::now();
        let id = self.identities.next();
        let (mut parts, body) = request.into_parts();
        // Handlers look at them, too.
        let headers = Arc::new(std::mem::take(&mut parts.headers));
        let parts = Asked {
            method: parts.method,
            uri: parts.uri,
            headers,
        };
        let path = parts.uri.path();
        let path = path.strip_prefix('/').unwrap_or(path);
        let (surface, found) = pages::find(SURFACES, path, &parts.headers)
            .unwrap_or_else(|| route::find(SURFACES, path));
        // Where the version is wrong, the oldest says so.
        let requested = if surface.has_microversions {
            Microversion::requested(&parts.headers)
        } else {
            Ok(Microversion::OLDEST)
        };
        let version = *requested.as_ref().unwrap_or(&Microversion::OLDEST);
        let name = found.as_ref().map_or("", |(route, _)| route.path);
        let outcome = self
            .settle(&parts, body, (surface, found), requested, id.as_str())
            .await;
        let mut reply = match outcome {
            Ok(reply) => reply,
            Err(problem) => refuse(surface, &problem, id.as_str()),
        };
        let headers = &mut reply.headers;
        if surface.has_microversions {
            headers.insert(VERSION, version.header());
            headers.append(header::VARY, HeaderValue::from_static(microversion::HEADER));
        }
        headers.insert(REQUEST_ID, id.header());
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        if parts.method == Method::HEAD {
            reply.leave_body_out();
        }
        let taken = started.elapsed();
        self.metrics.count(name, &parts.method, reply.status, taken);
        tell(&parts, &reply, id.as_str(), taken);
        reply.into_response()
    }

    async fn settle<B>(
        self: &Arc<Self>,
        parts: &Asked,
        body: B,
        (surface, found): (&'static Surface, Option<(&'static Route, Vec<&str>)>),
        requested: Result<Microversion, Problem>,
        id: &str,
    ) -> Result<Reply, Problem>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let nothing = || {
            let detail = format!(
                "there is nothing at {}",
                Escaped::shortened(parts.uri.path())
            );
            Problem::new(ProblemCode::NoSuchAddress, detail)
        };
        let version = requested?;
        let found = found.filter(|(route, _)| route.is_in(version));
        let (route, raw) = found.ok_or_else(nothing)?;
        if parts.method == Method::OPTIONS {
            let allow = route.allow(version);
            return Ok(Reply::empty(StatusCode::NO_CONTENT).header(header::ALLOW, allow));
        }
        let method = if parts.method == Method::HEAD {
            &Method::GET
        } else {
            &parts.method
        };
        let Some(handler) = route.handler(method, version) else {
            let allow = route.allow(version);
            let told = allow.to_str().unwrap_or_default();
            let method = Escaped::shortened(parts.method.as_str()).to_string();
            let detail = format!("the methods here are {told}, not {method}");
            let problem = Problem::new(ProblemCode::MethodNotAllowed, detail);
            return Ok(refuse(surface, &problem, id).header(header::ALLOW, allow));
        };
        let limit = self.body_limit(handler.takes);
        read_body::check_length(&parts.headers, limit)?;
        let actor = self.who(handler.access, parts).await?;
        negotiate::check_accept(&parts.headers, handler.gives)?;
        let query = parts.uri.query().unwrap_or_default();
        let query = if handler.has_open_query {
            Query::read_open(query)
        } else {
            Query::read(query, handler.query)?
        };
        let body = match handler.takes.media_type() {
            None => Bytes::new(),
            Some(kind) => {
                if handler.takes != Takes::Form {
                    negotiate::check_content(&parts.headers, kind)?;
                }
                let incoming = &self.registry.incoming;
                read_body::receive(body, limit, self.body_patience, incoming).await?
            }
        };
        let request = Request {
            parts: raw.into_iter().map(decoded).collect::<Result<_, _>>()?,
            query,
            headers: Arc::clone(&parts.headers),
            body,
            actor,
        };
        let is_for_readers = match handler.access {
            Access::Readers => request.actor.is_some(),
            Access::Known => true,
            Access::Everyone | Access::Holders => false,
        };
        let mut reply = self.run(handler, request).await?;
        if is_for_readers {
            keep_private(&mut reply);
        }
        Ok(conditional::apply(&parts.headers, reply))
    }

    async fn run(
        self: &Arc<Self>,
        handler: &'static Handler,
        request: Request,
    ) -> Result<Reply, Problem> {
        if let Some(quick) = handler.quick
            && let Some(result) = quick(self, &request)
        {
            return result;
        }
        let service = Arc::clone(self);
        self.blocking(move || (handler.run)(&service, &request))
            .await
    }

    /// Does something on a thread that may block. That it panics is a fault of this program, and
    /// costs this request alone.
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

    async fn who(
        self: &Arc<Self>,
        access: Access,
        parts: &Asked,
    ) -> Result<Option<crate::access::Actor>, Problem> {
        let is_private = self.registry.settings.is_private;
        if access == Access::Everyone || (access == Access::Readers && !is_private) {
            return Ok(None);
        }
        let is_open = access == Access::Known && !is_private;
        if is_open && !Identifier::is_told(&parts.headers) {
            return Ok(None);
        }
        let secret = Identifier::secret(&parts.method, &parts.headers)?;
        let actor = if let Some(actor) = self.identifier.known(&self.registry, &secret)? {
            actor
        } else {
            let service = Arc::clone(self);
            self.blocking(move || service.identifier.find(&service.registry, &secret))
                .await?
        };
        if matches!(access, Access::Readers | Access::Known) && is_private {
            actor.require(crate::access::Scope::Read)?;
        }
        Ok(Some(actor))
    }

    fn body_limit(&self, takes: Takes) -> u64 {
        match takes {
            // What nobody reads has no limit but that of the connection.
            Takes::Nothing => u64::MAX,
            Takes::Json | Takes::CatalogPatch => JSON_BYTES,
            // A name and a digest each.
            Takes::Batch => self.registry.settings.batch_names as u64 * 400 + 1024,
            Takes::Archive => self.registry.settings.read.limits.archive_bytes,
            // What is said of the release, and what stands between parts.
            Takes::Form => self.registry.settings.read.limits.archive_bytes + JSON_BYTES,
        }
    }
}

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

/// Logs a request. What others sent is shown through the escaping type.
fn tell(parts: &Asked, reply: &Reply, id: &str, taken: Duration) {
    let status = reply.status.as_u16();
    let path = parts.uri.path();
    let millis = taken.as_millis();
    macro_rules! log {
        ($level:ident) => {
            tracing::$level!(
                request = id,
                global = parts.headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok()),
                method = %Escaped::shortened(parts.method.as_str()),
                path = %Escaped::shortened(path),
                status,
                millis,
                "answered"
            )
        };
    }
    let is_reading = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    match reply.status.as_u16() {
        500.. => log!(error),
        _ if is_reading => log!(debug),
        _ => log!(info),
    }
}
