//! Reads the beginning of a file: namespaces, aliases, and models with their requirements.

use pkgres_manifest::diagnostic::{Code, Escaped, Span};
use rustc_hash::FxHashMap;

use super::super::document::{Problem, Tag};
use super::super::node_id::package_name;
use super::super::nodeset::{Model, RequiredModel};
use super::super::release::{ModelRelease, ReleaseError};
use super::{NodeSetReader, limit_entries, trimmed};

impl<'text> NodeSetReader<'text> {
    pub(super) fn namespace_uris(&mut self, parent: Tag<'text>) -> Result<(), Problem> {
        let mut rest = self.document.children(parent);
        while let Some(tag) = rest.next(&mut self.document)? {
            if self.local(tag) != "Uri" {
                continue;
            }
            limit_entries(
                self.namespaces.len(),
                "namespaces",
                self.document.span(tag.name),
            )?;
            let (uri, _) = self.document.text_of(tag)?;
            self.namespaces.push(trimmed(uri));
        }
        self.listed = self.namespaces.len();
        Ok(())
    }

    /// Reports models whose namespaces the file does not list, before or after them.
    pub(super) fn check_listed(&mut self) {
        let listed = &self.namespaces[..self.listed];
        let models = self.models.iter();
        let unlisted = models.filter(|model| !listed.iter().any(|uri| **uri == *model.uri));
        let unlisted: Vec<(Span, String)> = unlisted
            .map(|model| (model.span, Escaped::new(&model.uri).to_string()))
            .collect();
        for (span, uri) in unlisted {
            let message = format!("the model `{uri}` is not among the `NamespaceUris`");
            self.error(span, message);
        }
    }

    pub(super) fn aliases(&mut self, parent: Tag<'text>) -> Result<(), Problem> {
        let mut rest = self.document.children(parent);
        while let Some(tag) = rest.next(&mut self.document)? {
            if self.local(tag) != "Alias" {
                continue;
            }
            let [alias] = self.document.attributes(tag, ["Alias"])?;
            let (target, span) = self.document.text_of(tag)?;
            let Some(alias) = alias else {
                let message = "an `Alias` without the attribute `Alias`".to_owned();
                self.error(self.document.span(tag.name), message);
                continue;
            };
            if let Some(id) = self.node_id(&target, span) {
                self.aliases.insert(self.document.unescaped(alias)?, id);
            }
        }
        Ok(())
    }

    pub(super) fn models(&mut self, parent: Tag<'text>) -> Result<(), Problem> {
        let mut entries = 0;
        let mut rest = self.document.children(parent);
        while let Some(tag) = rest.next(&mut self.document)? {
            if self.local(tag) != "Model" {
                continue;
            }
            limit_entries(entries, "models", self.document.span(tag.name))?;
            entries += 1;
            let stated = self.model_release(tag)?;
            let own = stated.as_ref().map(|(uri, ..)| uri.as_str());
            let required = self.required_models(tag, own)?;
            let Some((uri, release, span)) = stated else {
                continue;
            };
            if self.models.iter().any(|model| model.uri == uri) {
                self.error(
                    span,
                    format!("the model `{}` is defined twice", Escaped::new(&uri)),
                );
                continue;
            }
            self.models.push(Model {
                uri,
                release,
                required,
                span,
            });
        }
        Ok(())
    }

    /// The requirements of a `Model` with a URI, each once. One that is stated twice has to be the same both times.
    fn required_models(
        &mut self,
        model: Tag<'text>,
        own: Option<&str>,
    ) -> Result<Vec<RequiredModel>, Problem> {
        let mut required: Vec<RequiredModel> = Vec::new();
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        let mut entries = 0;
        let mut rest = self.document.children(model);
        while let Some(tag) = rest.next(&mut self.document)? {
            if self.local(tag) != "RequiredModel" {
                continue;
            }
            let place = self.document.span(tag.name);
            limit_entries(entries, "requirements of a model", place)?;
            entries += 1;
            let Some((uri, release, span)) = self.model_release(tag)? else {
                continue;
            };
            if own == Some(uri.as_str()) {
                let message = format!("the model `{}` requires itself", Escaped::new(&uri));
                self.report(Problem {
                    code: Code::SelfRequirement,
                    message,
                    span,
                });
            }
            match places.get(&uri) {
                None => {
                    places.insert(uri.clone(), required.len());
                    required.push(RequiredModel { uri, release, span });
                }
                Some(at) if required[*at].release == release => {}
                Some(_) => {
                    let message = format!("`{}` is required twice", Escaped::new(&uri));
                    self.error(span, message);
                }
            }
        }
        Ok(required)
    }

    /// The URI and release of a `Model` or `RequiredModel`, and the place of the URI. `None` after an error.
    fn model_release(
        &mut self,
        tag: Tag<'text>,
    ) -> Result<Option<(String, ModelRelease, Span)>, Problem> {
        let names = ["ModelUri", "Version", "PublicationDate", "ModelVersion"];
        let [uri, version, published, model_version] = self.document.attributes(tag, names)?;
        let Some(uri) = uri else {
            let message = format!("a `{}` without the attribute `ModelUri`", self.local(tag));
            self.error(self.document.span(tag.name), message);
            return Ok(None);
        };
        let span = self.document.span(uri);
        let uri = self.document.unescaped(uri)?;
        let uri = uri.trim();
        if let Err(error) = package_name(uri) {
            let message = format!(
                "the URI `{}` cannot be used: {error}",
                Escaped::shortened(uri)
            );
            self.report(Problem {
                code: Code::Name,
                message,
                span,
            });
            return Ok(None);
        }
        let text = |value: Option<&'text str>| {
            let text = value.map(|value| self.document.unescaped(value));
            text.transpose()
        };
        let release = ModelRelease::new(
            text(version)?.as_deref(),
            text(published)?.as_deref(),
            text(model_version)?.as_deref(),
        );
        match release {
            Ok(release) => Ok(Some((uri.to_owned(), release, span))),
            Err(error) => {
                let value = match &error {
                    ReleaseError::Version(_) => version,
                    ReleaseError::Date(_) => published,
                    ReleaseError::ModelVersion(_) => model_version,
                };
                self.report(Problem {
                    code: Code::Version,
                    message: error.to_string(),
                    span: value.map_or(span, |value| self.document.span(value)),
                });
                Ok(None)
            }
        }
    }
}
