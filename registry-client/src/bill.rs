//! A resolution as a bill of materials, for tools that look for known faults and licences.

use pkgres_manifest::{ArtifactDigest, Hexadecimal, PackageName, ReleaseSource, Version, sha256};
use pkgres_resolver::{BoundRequirement, Resolution, ResolvedPackage};
use serde_json::{Value, json};

/// The program that makes a document, and when.
#[derive(Debug, Clone, Copy)]
pub struct Maker<'text> {
    /// The program's name.
    pub name: &'text str,
    /// The program's version.
    pub version: &'text str,
    /// The time as RFC 3339 in UTC, which SPDX wants.
    pub created: &'text str,
}

/// The package URL of a release.
fn package_url(name: &PackageName, version: &Version) -> String {
    let version = version.to_string().replace('+', "%2B");
    format!("pkg:generic/{name}@{version}")
}

fn dependencies(requires: &[BoundRequirement]) -> Vec<String> {
    let mut urls: Vec<String> = requires
        .iter()
        .map(|bound| package_url(&bound.package, &bound.version))
        .collect();
    urls.sort();
    urls.dedup();
    urls
}

/// A resolution as a document of CycloneDX 1.6. Equal resolutions give equal documents: there is no
/// time in it and no random number.
///
/// The digest of an archive is a hash of the component. That of a folder is not the hash of any file,
/// and is a property.
pub fn cyclonedx(resolution: &Resolution, maker: Maker<'_>) -> Value {
    let roots = resolution.roots();
    let root = roots.first().map(|root| {
        let url = package_url(&root.name, &root.version);
        json!({
            "type": "application",
            "bom-ref": url,
            "name": root.name,
            "version": root.version,
            "purl": url,
        })
    });
    let components: Vec<Value> = resolution.packages().iter().map(component).collect();
    let edges = roots
        .iter()
        .map(|root| (&root.name, &root.version, &root.requires))
        .chain(
            resolution
                .packages()
                .iter()
                .map(|package| (&package.name, &package.version, &package.requires)),
        );
    let dependencies: Vec<Value> = edges
        .map(|(name, version, requires)| {
            json!({"ref": package_url(name, version), "dependsOn": dependencies(requires)})
        })
        .collect();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": {
                "components": [{"type": "application", "name": maker.name, "version": maker.version}],
            },
            "component": root,
        },
        "components": components,
        "dependencies": dependencies,
    })
}

fn component(package: &ResolvedPackage) -> Value {
    let url = package_url(&package.name, &package.version);
    let mut properties = vec![json!({"name": "pkgres:source", "value": source(package)})];
    let mut component = json!({
        "type": "library",
        "bom-ref": url,
        "name": package.name,
        "version": package.version,
        "purl": url,
    });
    match &package.digest {
        Some(digest @ ArtifactDigest::Archive(_)) => {
            component["hashes"] = json!([{"alg": "SHA-256", "content": digest}]);
        }
        Some(digest @ ArtifactDigest::Tree(_)) => {
            properties.push(json!({"name": "pkgres:folder-digest", "value": digest}));
        }
        None => {}
    }
    component["properties"] = json!(properties);
    component
}

fn source(package: &ResolvedPackage) -> String {
    match &package.source {
        ReleaseSource::Host => "host".to_owned(),
        ReleaseSource::Registry(name) => name.to_string(),
    }
}

/// A resolution as a document of SPDX 2.3.
pub fn spdx(resolution: &Resolution, maker: Maker<'_>) -> Value {
    let roots = resolution.roots();
    let (name, version) = roots.first().map_or_else(
        || ("pkgres".to_owned(), String::new()),
        |root| (root.name.to_string(), root.version.to_string()),
    );
    let lock = resolution.to_lockfile().to_text();
    let digest = Hexadecimal(&sha256(lock.as_bytes())).to_string();
    let mut packages: Vec<Value> = Vec::new();
    let mut relationships: Vec<Value> = Vec::new();
    for root in roots {
        packages.push(spdx_package(&root.name, &root.version, None));
        relationships.push(json!({
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": spdx_id(&root.name, &root.version),
        }));
    }
    for package in resolution.packages() {
        packages.push(spdx_package(&package.name, &package.version, Some(package)));
    }
    let edges = roots
        .iter()
        .map(|root| (&root.name, &root.version, &root.requires))
        .chain(
            resolution
                .packages()
                .iter()
                .map(|package| (&package.name, &package.version, &package.requires)),
        );
    for (name, version, requires) in edges {
        for bound in requires {
            relationships.push(json!({
                "spdxElementId": spdx_id(name, version),
                "relationshipType": "DEPENDS_ON",
                "relatedSpdxElement": spdx_id(&bound.package, &bound.version),
            }));
        }
    }
    json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": format!("{name}-{version}"),
        "documentNamespace": format!("https://pkgres.dev/spdx/{name}-{digest}"),
        "creationInfo": {
            "created": maker.created,
            "creators": [format!("Tool: {}-{}", maker.name, maker.version)],
        },
        "packages": packages,
        "relationships": relationships,
    })
}

/// An identifier, which is made of letters, digits, full stops and hyphens.
fn spdx_id(name: &PackageName, version: &Version) -> String {
    // What is not allowed becomes its number, so that different names stay different.
    let escaped = |text: &str| -> String {
        text.chars()
            .map(|character| {
                if character.is_ascii_alphanumeric() || character == '.' {
                    character.to_string()
                } else {
                    format!("-{:x}-", u32::from(character))
                }
            })
            .collect()
    };
    let (name, version) = (escaped(name.as_str()), escaped(&version.to_string()));
    format!("SPDXRef-Package-{name}-at-{version}")
}

fn spdx_package(name: &PackageName, version: &Version, found: Option<&ResolvedPackage>) -> Value {
    let mut package = json!({
        "SPDXID": spdx_id(name, version),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": package_url(name, version),
        }],
    });
    if let Some(found) = found {
        match &found.digest {
            Some(digest @ ArtifactDigest::Archive(_)) => {
                package["checksums"] = json!([{"algorithm": "SHA256", "checksumValue": digest}]);
            }
            Some(digest @ ArtifactDigest::Tree(_)) => {
                package["comment"] = json!(format!("folder digest {digest}"));
            }
            None => {}
        }
        package["sourceInfo"] = json!(format!("registry {}", source(found)));
    }
    package
}
