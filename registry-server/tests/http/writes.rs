//! A request for each route that changes something, to a registry that has something at its address.

use pkgres_registry_server::Principal;
use pkgres_tests::archives::archive;
use pkgres_tests::build::package;
use pkgres_tests::collections::{artifact, file_name, form};

use crate::support::{Answer, Served};

pub(crate) const JSON: &str = "application/json";
pub(crate) const PATCH: &str = "application/murano-packages-json-patch";
const ZIP: &str = "application/zip";

/// A request that would change something.
pub(crate) struct Write {
    /// The method and the path, as the description has them.
    pub(crate) route: &'static str,
    pub(crate) path: String,
    pub(crate) kind: String,
    pub(crate) body: Vec<u8>,
    /// The address that the preconditions apply to; none if there is nothing.
    pub(crate) read: Option<String>,
}

/// A registry that has something at every address.
pub(crate) struct Filled {
    pub(crate) served: Served,
    pub(crate) writes: Vec<Write>,
}

impl Filled {
    pub(crate) fn new() -> Self {
        let served = Served::new();
        let bytes = archive("a.Web", "1.0.0", &[]);
        assert_eq!(served.publish("a.Web", "1.0.0", &bytes).status, 201);
        let mut filled = Self {
            served,
            writes: Vec::new(),
        };
        let (kind, bytes) = form(
            &file_name("acme.net", "1.0.0"),
            &artifact("acme.net", "1.0.0", &[]),
        );
        let collections = "/api/v3/artifacts/collections/";
        assert_eq!(filled.ask("POST", collections, &kind, &bytes).status, 202);
        let bundle = br#"{"Packages":[{"Name":"a.Web"}]}"#;
        let answer = filled.ask("PUT", "/bundles/all.bundle", JSON, bundle);
        assert_eq!(answer.status, 201, "{answer:?}");
        let category = filled.ask("POST", "/v1/catalog/categories", JSON, br#"{"name":"Web"}"#);
        let token = filled.ask("POST", "/v1/tokens", JSON, br#"{"scopes":["read"]}"#);
        let id = |answer: &Answer| answer.json()["id"].as_str().expect("an id").to_owned();
        let listed = filled.served.get("/v1/catalog/packages").json();
        let entry = listed["packages"][0]["id"].as_str().expect("an id");
        let entry = format!("/v1/catalog/packages/{entry}");
        let category = format!("/v1/catalog/categories/{}", id(&category));
        let token = format!("/v1/tokens/{}", id(&token));
        let (package, release) = ("/v1/packages/a.Web", "/v1/packages/a.Web/versions/1.0.0");
        let yank = format!("{release}/yank");
        let version = "/api/v3/collections/acme/net/versions/1.0.0/";
        let bundles = "/bundles/all.bundle";
        filled
            .add(
                "PUT /v1/packages/{name}/owners",
                &format!("{package}/owners"),
            )
            .sends(JSON, br#"{"generation":0,"owners":["eve"]}"#)
            .reads(package);
        filled
            .add("PUT /v1/packages/{name}/versions/{version}", release)
            .sends(ZIP, &archive("a.Web", "1.0.0", &[]))
            .reads(release);
        filled
            .add("PUT /v1/packages/{name}/versions/{version}/yank", &yank)
            .sends(JSON, br#"{"reason":"broken"}"#)
            .reads(release);
        filled
            .add("DELETE /v1/packages/{name}/versions/{version}/yank", &yank)
            .reads(release);
        filled
            .add("POST /v1/tokens", "/v1/tokens")
            .sends(JSON, br#"{"scopes":["read"]}"#)
            .reads("/v1/tokens");
        filled
            .add("DELETE /v1/tokens/{id}", &token)
            .reads("/v1/tokens");
        filled
            .add("POST /v1/catalog/packages", "/v1/catalog/packages")
            .sends("multipart/form-data; boundary=x", b"--x--\r\n")
            .reads("/v1/catalog/packages");
        filled
            .add("PATCH /v1/catalog/packages/{id}", &entry)
            .sends(
                PATCH,
                br#"[{"op":"replace","path":"/name","value":"Other"}]"#,
            )
            .reads(&entry);
        filled
            .add("DELETE /v1/catalog/packages/{id}", &entry)
            .reads(&entry);
        filled
            .add("POST /v1/catalog/categories", "/v1/catalog/categories")
            .sends(JSON, br#"{"name":"Databases"}"#)
            .reads("/v1/catalog/categories");
        filled
            .add("DELETE /v1/catalog/categories/{id}", &category)
            .reads(&category);
        filled
            .add("PUT /bundles/{name}.bundle", bundles)
            .sends(JSON, br#"{"Packages":[]}"#)
            .reads(bundles);
        filled
            .add("DELETE /bundles/{name}.bundle", bundles)
            .reads(bundles);
        filled
            .add(
                "DELETE /api/v3/collections/{namespace}/{name}/versions/{version}/",
                version,
            )
            .reads(version);
        // Nothing can be read there.
        filled
            .add("POST /api/v3/artifacts/collections/", collections)
            .sends(&kind, &bytes);
        filled
    }

    fn add(&mut self, route: &'static str, path: &str) -> &mut Write {
        self.writes.push(Write {
            route,
            path: path.to_owned(),
            kind: String::new(),
            body: Vec::new(),
            read: None,
        });
        self.writes.last_mut().expect("it was added")
    }

    pub(crate) fn ask(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        let kind = format!("content-type: {kind}");
        let headers = [&*self.served.authorization(), &kind];
        self.served.ask(method, path, &headers, body)
    }

    pub(crate) fn write(&self, write: &Write, condition: &str) -> Answer {
        let (method, _) = write.route.split_once(' ').expect("a method");
        let authorization = self.served.authorization();
        let kind = format!("content-type: {}", write.kind);
        let mut headers = vec![&*authorization, condition];
        if !write.kind.is_empty() {
            headers.push(&kind);
        }
        self.served.ask(method, &write.path, &headers, &write.body)
    }

    /// Everything that a request could change.
    pub(crate) fn everything(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let registry = &self.served.registry;
        let tokens = registry.tokens(&Principal::operator());
        let web = registry.package(&package("a.Web")).expect("a package");
        let read = |path: &str| {
            let answer = self.ask("GET", path, JSON, b"");
            (answer.status, answer.body)
        };
        let read = [
            "/bundles/all.bundle",
            "/v1/catalog/categories",
            "/v1/catalog/packages",
            "/api/v3/collections/acme/net/versions/",
        ]
        .map(read);
        (registry.serial(), web, tokens, read)
    }
}

impl Write {
    fn sends(&mut self, kind: &str, body: &[u8]) -> &mut Self {
        kind.clone_into(&mut self.kind);
        body.clone_into(&mut self.body);
        self
    }

    fn reads(&mut self, path: &str) {
        self.read = Some(path.to_owned());
    }
}
