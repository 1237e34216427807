//! A resolution as a bill of materials (SBOM), for tools that look for vulnerabilities and licences.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use pkgres_manifest::{ArtifactDigest, Hexadecimal, PackageName, ReleaseSource, Version, sha256};
use pkgres_resolver::{BoundRequirement, Owner, Resolution, ResolvedOwner, ResolvedPackage};
use serde_json::{Value, json};

/// The creator of a document: a program, and the time.
#[derive(Debug, Clone, Copy)]
pub struct Maker<'text> {
    /// The program's name.
    pub name: &'text str,
    /// The program's version.
    pub version: &'text str,
    /// The time as RFC 3339 in UTC, which SPDX requires.
    pub created: &'text str,
}

/// The characters of names and versions that are encoded in package URLs, and in the namespaces of SPDX documents.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'.')
    .remove(b'-')
    .remove(b'_')
    .remove(b'~')
    .remove(b':');

/// The [package URL](https://github.com/package-url/purl-spec) of a release. The name is one segment, also if it is an
/// address.
fn package_url(name: &PackageName, version: &Version) -> String {
    let (name, version) = (name.to_string(), version.to_string());
    let name = utf8_percent_encode(&name, ENCODED);
    let version = utf8_percent_encode(&version, ENCODED);
    format!("pkg:generic/{name}@{version}")
}

/// A release: a package and its version.
type Release<'resolution> = (&'resolution PackageName, &'resolution Version);

/// The subject of a bill of materials: one component for all roots, with everything that they need.
struct Subject<'resolution> {
    /// The root, if it is a single package.
    package: Option<Release<'resolution>>,
    /// Its name.
    name: String,
    /// The packages and files among several roots.
    members: Vec<Release<'resolution>>,
    /// The roots that are files, and have no version.
    files: BTreeSet<&'resolution PackageName>,
    /// Whether there is one root, which is the subject itself.
    is_root: bool,
    /// Its own requirements: the requirements of the package, or of the object model.
    requires: Vec<&'resolution BoundRequirement>,
    /// The releases that the roots need, without the members.
    packages: BTreeMap<Release<'resolution>, &'resolution ResolvedPackage>,
    /// The requirements of the roots and of what they need, without its own.
    edges: Vec<(Release<'resolution>, Vec<Release<'resolution>>)>,
}

/// The identifier of a subject that is not a package. It is neither a package URL nor an SPDX identifier of one, so that
/// nothing else has it.
const SUBJECT: &str = "pkgres-roots";

impl<'resolution> Subject<'resolution> {
    fn of(resolutions: &[&'resolution Resolution]) -> Self {
        let roots = resolutions
            .iter()
            .flat_map(|resolution| resolution.roots())
            .collect::<Vec<_>>();
        let files = roots.iter().filter_map(|root| match &root.owner {
            Owner::File { name } => Some(name),
            Owner::Release { .. } | Owner::ObjectModel => None,
        });
        let files: BTreeSet<_> = files.collect();
        if let [root] = roots.as_slice()
            && let Some((name, version)) = root.owner.release()
        {
            let subject = Self {
                package: files.is_empty().then_some((name, version)),
                name: name.to_string(),
                members: Vec::new(),
                files,
                is_root: true,
                requires: root.requires.iter().collect(),
                packages: BTreeMap::new(),
                edges: Vec::new(),
            };
            return subject.with_contents(resolutions);
        }
        let members: BTreeSet<_> = roots
            .iter()
            .filter_map(|root| root.owner.release())
            .collect();
        let models = roots.iter().filter(|root| root.owner == Owner::ObjectModel);
        let name = if members.is_empty() {
            "object-model"
        } else {
            "workspace"
        };
        let subject = Self {
            package: None,
            name: name.to_owned(),
            members: members.into_iter().collect(),
            files,
            is_root: false,
            requires: models.flat_map(|root| &root.requires).collect(),
            packages: BTreeMap::new(),
            edges: Vec::new(),
        };
        subject.with_contents(resolutions)
    }

    /// Adds the releases of the resolutions, and their requirements. One release can be bound differently in each.
    fn with_contents(mut self, resolutions: &[&'resolution Resolution]) -> Self {
        let mut positions: BTreeMap<Release<'_>, usize> = BTreeMap::new();
        for resolution in resolutions {
            for package in resolution.packages() {
                let release = (&package.name, &package.version);
                if !self.members.contains(&release) {
                    self.packages.entry(release).or_insert(package);
                }
            }
            let owners = resolution.owners().filter(|owner| match owner {
                ResolvedOwner::Root(_) => !self.is_root,
                ResolvedOwner::Package(_) => true,
            });
            for owner in owners {
                let Some(release) = owner.release() else {
                    continue;
                };
                let at = *positions.entry(release).or_insert_with(|| {
                    self.edges.push((release, Vec::new()));
                    self.edges.len() - 1
                });
                let known = &mut self.edges[at].1;
                for bound in owner.requires().iter().map(released) {
                    if !known.contains(&bound) {
                        known.push(bound);
                    }
                }
            }
        }
        self
    }

    /// Whether a root is a file, which has no version.
    fn is_file(&self, (name, version): Release<'_>) -> bool {
        self.files.contains(name) && *version == Version::ZERO
    }

    /// The identifier of a root or release in CycloneDX.
    fn reference(&self, release: Release<'_>) -> String {
        if self.is_file(release) {
            return format!("{SUBJECT}/{}", release.0);
        }
        package_url(release.0, release.1)
    }

    fn references<'release>(
        &self,
        releases: impl Iterator<Item = Release<'release>>,
    ) -> BTreeSet<String> {
        releases.map(|release| self.reference(release)).collect()
    }

    /// The identifier of a root or release in SPDX.
    fn spdx_id(&self, release: Release<'_>) -> String {
        if self.is_file(release) {
            return format!("SPDXRef-{SUBJECT}-{}", spdx_escaped(release.0.as_str()));
        }
        spdx_id(release.0, release.1)
    }

    /// A root among several, in CycloneDX.
    fn application(&self, release: Release<'_>) -> Value {
        if self.is_file(release) {
            return file_application(release.0.as_str(), &self.reference(release));
        }
        application(release)
    }

    /// A root among several, in SPDX.
    fn spdx_member(&self, release: Release<'_>) -> Value {
        if self.is_file(release) {
            return spdx_subject(release.0.as_str(), &self.spdx_id(release));
        }
        spdx_package(release.0, release.1, None)
    }

    /// The releases that it depends on.
    fn depends_on(&self) -> impl Iterator<Item = Release<'resolution>> {
        let members = self.members.iter().copied();
        members.chain(self.requires.iter().map(|bound| released(bound)))
    }
}

fn released(bound: &BoundRequirement) -> Release<'_> {
    (&bound.package, &bound.version)
}

/// Resolutions as one document of CycloneDX 1.6. Equal resolutions give equal documents: there is no
/// time in it and no random number.
///
/// The main component is the root, if that is a single package; otherwise it is one without a version
/// that represents the file that requires packages, the object model, or all roots, and depends on them.
///
/// The digest of an archive is a hash of the component. That of a folder is not the hash of any file,
/// and is a property.
pub fn cyclonedx(resolutions: &[&Resolution], maker: Maker<'_>) -> Value {
    let subject = Subject::of(resolutions);
    let (main, reference) = match subject.package {
        Some((name, version)) => (application((name, version)), package_url(name, version)),
        None => (file_application(&subject.name, SUBJECT), SUBJECT.to_owned()),
    };
    let members = subject.members.iter();
    let members = members.map(|root| subject.application(*root));
    let components: Vec<Value> = members
        .chain(subject.packages.values().copied().map(component))
        .collect();
    let own = json!({"ref": reference, "dependsOn": subject.references(subject.depends_on())});
    let others = subject.edges.iter().map(|(release, requires)| {
        let depends_on = subject.references(requires.iter().copied());
        json!({"ref": subject.reference(*release), "dependsOn": depends_on})
    });
    let dependencies: Vec<Value> = std::iter::once(own).chain(others).collect();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": {
                "components": [{"type": "application", "name": maker.name, "version": maker.version}],
            },
            "component": main,
        },
        "components": components,
        "dependencies": dependencies,
    })
}

/// A root that is no package, and has no version.
fn file_application(name: &str, reference: &str) -> Value {
    json!({"type": "application", "bom-ref": reference, "name": name})
}

/// A root that is a package.
fn application((name, version): Release<'_>) -> Value {
    let url = package_url(name, version);
    json!({
        "type": "application",
        "bom-ref": url,
        "name": name,
        "version": version,
        "purl": url,
    })
}

/// The source of a release; `registry` for the default one.
fn source_name(source: &ReleaseSource) -> String {
    match source {
        ReleaseSource::Registry(name) if name.is_default() => "registry".to_owned(),
        source => source.to_string(),
    }
}

fn component(package: &ResolvedPackage) -> Value {
    let url = package_url(&package.name, &package.version);
    let mut properties =
        vec![json!({"name": "pkgres:source", "value": source_name(&package.source)})];
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

/// Resolutions as one document of SPDX 2.3. Its subject is the main component of [`cyclonedx`].
pub fn spdx(resolutions: &[&Resolution], maker: Maker<'_>) -> Value {
    let subject = Subject::of(resolutions);
    let (main, id, title) = if let Some((name, version)) = subject.package {
        (
            spdx_package(name, version, None),
            spdx_id(name, version),
            format!("{name}-{version}"),
        )
    } else {
        let id = format!("SPDXRef-{SUBJECT}");
        let main = spdx_subject(&subject.name, &id);
        (main, id, subject.name.clone())
    };
    let members = subject.members.iter();
    let members = members.map(|root| subject.spdx_member(*root));
    let found = subject.packages.values();
    let found = found.map(|found| spdx_package(&found.name, &found.version, Some(found)));
    let packages: Vec<Value> = std::iter::once(main).chain(members).chain(found).collect();
    let relationship = |from: &str, kind: &str, to: &str| {
        json!({
            "spdxElementId": from,
            "relationshipType": kind,
            "relatedSpdxElement": to,
        })
    };
    let mut relationships = vec![relationship("SPDXRef-DOCUMENT", "DESCRIBES", &id)];
    for release in subject.depends_on() {
        relationships.push(relationship(&id, "DEPENDS_ON", &subject.spdx_id(release)));
    }
    for (owner, requires) in &subject.edges {
        let id = subject.spdx_id(*owner);
        for release in requires {
            relationships.push(relationship(&id, "DEPENDS_ON", &subject.spdx_id(*release)));
        }
    }
    // Documents with other content have another name.
    let lock = match resolutions {
        [resolution] => resolution.to_lockfile().ok(),
        _ => None,
    };
    let content = match lock {
        Some(lock) => lock.to_text(),
        None => json!([packages, relationships]).to_string(),
    };
    let digest = Hexadecimal(&sha256(content.as_bytes())).to_string();
    let name = utf8_percent_encode(&subject.name, ENCODED);
    json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": title,
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
    let (name, version) = (
        spdx_escaped(name.as_str()),
        spdx_escaped(&version.to_string()),
    );
    format!("SPDXRef-Package-{name}-at-{version}")
}

/// A part of an identifier. A character that is not allowed becomes its number, so that different names stay different.
fn spdx_escaped(text: &str) -> String {
    text.chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() || character == '.' {
                character.to_string()
            } else {
                format!("-{:x}-", u32::from(character))
            }
        })
        .collect()
}

/// A subject or root that is not a package.
fn spdx_subject(name: &str, id: &str) -> Value {
    json!({
        "SPDXID": id,
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    })
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
        package["sourceInfo"] = json!(match &found.source {
            ReleaseSource::Host => "provided by the host".to_owned(),
            ReleaseSource::BuiltIn => "built into pkgres".to_owned(),
            ReleaseSource::Registry(name) if name.is_default() => "a registry".to_owned(),
            ReleaseSource::Registry(name) => format!("registry {name}"),
        });
    }
    package
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_urls_are_encoded() {
        let url = |name: PackageName, version: &str| {
            package_url(&name, &Version::parse(version).expect("a version"))
        };
        let class_package = PackageName::parse("org.acme.Web").expect("a name");
        assert_eq!(
            url(class_package, "1.0.0-rc.1+7"),
            "pkg:generic/org.acme.Web@1.0.0-rc.1%2B7"
        );
        let model = PackageName::native("http://acme.org/UA/").expect("a name");
        assert_eq!(
            url(model, "1.2.0"),
            "pkg:generic/http:%2F%2Facme.org%2FUA%2F@1.2.0"
        );
    }
}
