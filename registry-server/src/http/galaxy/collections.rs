//! Serves collections, their versions and their artifacts to clients of Galaxy.

use http::StatusCode;
use http::header::{self, HeaderValue};
use pkgres_formats::Format as _;
use pkgres_formats::ansible::Collections;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{PackageName, Version};
use pkgres_registry_client::protocol::Digest;
use serde_json::{Value, json};

use super::document_addresses::{Addresses, halves, with_addresses};
use super::list_pages::RequestedPage;
use crate::http::artifacts;
use crate::http::beginning::{MAX_LISTED_CHARACTERS, beginning};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::CollectionView;
use crate::store::collections::ListedCollection;

/// The name of the collection in a path. For clients, a name that no collection can have is one that is not there.
pub(super) fn name(request: &Request) -> Result<PackageName, Problem> {
    let name = format!("{}.{}", request.part(0), request.part(1));
    PackageName::parse(&name).map_err(|_| {
        let detail = format!("there is no collection {}", Escaped::shortened(&name));
        Problem::new(ProblemCode::NoSuchPackage, detail)
    })
}

/// The version in a path.
fn version_of(name: &PackageName, request: &Request) -> Result<Version, Problem> {
    let text = request.part(2);
    Version::parse(text).map_err(|_| {
        let detail = format!("{name} has no version {}", Escaped::shortened(text));
        Problem::new(ProblemCode::NoSuchVersion, detail)
    })
}

/// The version that clients choose without being told: the newest, and a prerelease only if there is nothing else.
fn highest(collection: &CollectionView) -> Option<&ListedCollection> {
    let is_stable = |listed: &&ListedCollection| !listed.version.is_prerelease();
    let mut offered = collection.offered();
    offered
        .find(is_stable)
        .or_else(|| collection.offered().next())
}

/// Shows a collection.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let full = name(request)?;
    let collection = service.registry.collection(&full)?;
    let shown = shown(&Addresses::of(request), &full, &collection);
    Ok(with_addresses(Response::json(&shown)))
}

/// The document of a collection.
fn shown(addresses: &Addresses, full: &PackageName, collection: &CollectionView) -> Value {
    let (namespace, name) = halves(full);
    let highest = highest(collection).map(|listed| {
        json!({
            "href": addresses.version(full, &listed.version),
            "version": listed.version,
        })
    });
    json!({
        "href": addresses.collection(full),
        "namespace": namespace,
        "name": name,
        "description": collection.description,
        "deprecated": false,
        "versions_url": addresses.versions(full),
        "highest_version": highest,
        "created_at": collection.created(),
        "updated_at": collection.updated,
    })
}

/// Lists the collections by name: all, or those with a namespace or a name.
///
/// Like the list of versions, it is stable between pages.
pub(super) fn list(service: &Service, request: &Request) -> Result<Response, Problem> {
    let page = RequestedPage::of(request)?;
    let marker = request.query.get("marker").map(PackageName::parse);
    let marker = marker
        .transpose()
        .map_err(|error| Problem::new(ProblemCode::QueryInvalid, error.to_string()))?;
    let [namespace, name] = ["namespace", "name"].map(|key| request.query.get(key));
    let is_wanted = |full: &PackageName| {
        let (own_namespace, own_name) = halves(full);
        namespace.is_none_or(|wanted| wanted == own_namespace)
            && name.is_none_or(|wanted| wanted == own_name)
    };
    let skipped = page.skipped(marker.is_some());
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let found = service
        .registry
        .collections(is_wanted, marker.as_ref(), (skipped, limit))?;
    let addresses = Addresses::of(request);
    let filters = [("namespace", namespace), ("name", name)];
    let filters: String = filters
        .iter()
        .filter_map(|(key, value)| {
            let value = value.filter(|value| value.bytes().all(is_plain))?;
            Some(format!("{key}={value}&"))
        })
        .collect();
    let collections = found.collections.iter();
    let data = collections.map(|(name, view)| {
        let mut document = shown(&addresses, name, view);
        let description = beginning(&view.description, MAX_LISTED_CHARACTERS);
        document["description"] = json!(description);
        document
    });
    let data: Vec<Value> = data.collect();
    let last = found.collections.last().filter(|_| !found.is_last);
    Ok(page.response(
        &format!("{}?{filters}", addresses.collections()),
        found.count as u64,
        last.map(|(name, _)| name.to_string()),
        &data,
    ))
}

/// Whether a byte can be in the name of a collection, and so needs no escape in a query.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Lists the versions of a collection. Yanked ones are left out: clients would choose them.
pub(super) fn versions(service: &Service, request: &Request) -> Result<Response, Problem> {
    let name = name(request)?;
    let page = RequestedPage::of(request)?;
    let marker = request.query.get("marker").map(Version::parse).transpose();
    let marker =
        marker.map_err(|error| Problem::new(ProblemCode::QueryInvalid, error.to_string()))?;
    let collection = service.registry.collection(&name)?;
    let addresses = Addresses::of(request);
    let count = collection.offered().count() as u64;
    let is_behind = |listed: &&ListedCollection| {
        marker
            .as_ref()
            .is_none_or(|marker| listed.version < *marker)
    };
    let mut listed = collection
        .offered()
        .filter(is_behind)
        .skip(page.skipped(marker.is_some()))
        .peekable();
    let mut versions = Vec::new();
    let mut last = None;
    while let Some(listed) = listed.next_if(|_| (versions.len() as u64) < page.limit) {
        versions.push(json!({
            "version": listed.version,
            "href": addresses.version(&name, &listed.version),
            "requires_ansible": listed.requires_ansible,
            "created_at": listed.published,
            "updated_at": listed.published,
        }));
        last = Some(&listed.version);
    }
    let last = last.filter(|_| listed.peek().is_some());
    let base = format!("{}?", addresses.versions(&name));
    Ok(page.response(&base, count, last.map(Version::to_string), &versions))
}

/// Shows a version of a collection, also if it is yanked.
pub(super) fn version(service: &Service, request: &Request) -> Result<Response, Problem> {
    let full = name(request)?;
    let wanted = version_of(&full, request)?;
    let release = service.registry.collection_version(&full, &wanted)?;
    let addresses = Addresses::of(request);
    let (namespace, name) = halves(&full);
    let version = &release.listed.version;
    let file = Collections.artifact_name(&full, version);
    let about = &release.about;
    let response = with_addresses(Response::json(&json!({
        "href": addresses.version(&full, version),
        "namespace": { "name": namespace },
        "collection": { "name": name, "href": addresses.collection(&full) },
        "name": name,
        "version": version,
        "requires_ansible": release.listed.requires_ansible,
        "artifact": { "filename": file, "sha256": release.sha256, "size": release.size },
        "download_url": addresses.artifact(&release.sha256, &file),
        "metadata": {
            "authors": about.authors,
            "dependencies": release.dependencies,
            "description": about.description,
            "documentation": about.documentation,
            "homepage": about.homepage,
            "issues": about.issues,
            "license": about.license,
            "repository": about.repository,
            "tags": about.tags,
        },
        "signatures": [],
        "created_at": release.listed.published,
        "updated_at": release.listed.published,
    })));
    Ok(response.modified(&release.listed.published))
}

/// Deletes a version of a collection.
pub(super) fn delete(service: &Service, request: &Request) -> Result<Response, Problem> {
    let name = name(request)?;
    let version = version_of(&name, request)?;
    let principal = request.principal()?;
    service
        .registry
        .delete_collection(principal, &name, &version)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// Downloads an artifact. Its address has its digest, so that every cache may keep it.
pub(super) fn download(service: &Service, request: &Request) -> Result<Response, Problem> {
    let missing = || {
        let detail = "there is no artifact with this digest and file name";
        Problem::new(ProblemCode::NoSuchBlob, detail)
    };
    let digest = Digest::parse(request.part(0)).map_err(|_| missing())?;
    let found = service.registry.collection_of_artifact(&digest)?;
    let (name, listed) = found.ok_or_else(missing)?;
    if Collections.artifact_name(&name, &listed.version) != request.part(1) {
        return Err(missing());
    }
    let kind = "application/gzip";
    let response = artifacts::artifact(service, &request.headers, &digest, kind, missing)?;
    Ok(response.header(
        header::CACHE_CONTROL,
        HeaderValue::from_static(artifacts::FOREVER),
    ))
}
