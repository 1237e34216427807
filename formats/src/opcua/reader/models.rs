//! The beginning of a file: namespaces, aliases, models and what they require.

use std::borrow::Cow;

use pkgres_manifest::diagnostic::{Code, Escaped, Span};

use super::super::document::{Problem, Tag, Value};
use super::super::node_id::{UA_NAMESPACE, package_name};
use super::super::nodeset::{Model, RequiredModel};
use super::super::release::{ModelRelease, ReleaseError};
use super::{Children, NodeSetReader, limit_entries, trimmed};

impl<'text> NodeSetReader<'text> {
    pub(super) fn namespace_uris(&mut self, parent: Tag<'text>) -> Result<(), Problem> {
        let mut rest = Children::of(parent);
        while let Some(tag) = rest.next(&mut self.document)? {
            if self.local(tag) != "Uri" {
                self.document.skip(tag)?;
                continue;
            }
            limit_entries(self.namespaces.len(), "namespaces", tag)?;
            let (uri, _) = self.document.text_of(tag)?;
            self.namespaces.push(trimmed(uri));
        }
        Ok(())
    }

    pub(super) fn aliases(&mut self, parent: Tag<'text>) -> Result<(), Problem> {
        let mut rest = Children::of(parent);
        while let Some(tag) = rest.next(&mut self.document)? {
            if self.local(tag) != "Alias" {
                self.document.skip(tag)?;
                continue;
            }
            let [alias] = tag.values(["Alias"])?;
            let (target, span) = self.document.text_of(tag)?;
            let Some(alias) = alias else {
                self.error(
                    tag.span(),
                    "an `Alias` without the attribute `Alias`".to_owned(),
                );
                continue;
            };
            if let Some(id) = self.node_id(&target, span) {
                self.aliases.insert(alias.text()?, id);
            }
        }
        Ok(())
    }

    pub(super) fn models(&mut self, parent: Tag<'text>) -> Result<(), Problem> {
        let mut rest = Children::of(parent);
        while let Some(tag) = rest.next(&mut self.document)? {
            if self.local(tag) != "Model" {
                self.document.skip(tag)?;
                continue;
            }
            limit_entries(self.models.len(), "models", tag)?;
            let stated = self.model_release(tag)?;
            let mut required: Vec<RequiredModel> = Vec::new();
            let mut inner = Children::of(tag);
            while let Some(tag) = inner.next(&mut self.document)? {
                if self.local(tag) == "RequiredModel" {
                    limit_entries(required.len(), "requirements of a model", tag)?;
                    if let Some((uri, release, span)) = self.model_release(tag)? {
                        required.push(RequiredModel { uri, release, span });
                    }
                }
                self.document.skip(tag)?;
            }
            let Some((uri, release, span)) = stated else {
                continue;
            };
            for (at, one) in required.iter().enumerate() {
                if one.uri == uri {
                    let message = format!("the model `{}` requires itself", Escaped::new(&uri));
                    self.report(Problem {
                        code: Code::SelfRequirement,
                        message,
                        span: one.span,
                    });
                } else if required[..at].iter().any(|other| other.uri == one.uri) {
                    let message = format!("`{}` is required twice", Escaped::new(&one.uri));
                    self.error(one.span, message);
                }
            }
            if uri != UA_NAMESPACE && !self.namespaces.contains(&Cow::Borrowed(&*uri)) {
                let message = format!(
                    "the model `{}` is not among the `NamespaceUris`",
                    Escaped::new(&uri)
                );
                self.error(span, message);
            }
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

    /// The URI and release of a `Model` or `RequiredModel`, and the place of the URI. `None` after an error.
    fn model_release(
        &mut self,
        tag: Tag<'text>,
    ) -> Result<Option<(String, ModelRelease, Span)>, Problem> {
        let [uri, version, published, model_version] =
            tag.values(["ModelUri", "Version", "PublicationDate", "ModelVersion"])?;
        let Some(uri) = uri else {
            let message = format!("a `{}` without the attribute `ModelUri`", self.local(tag));
            self.error(tag.span(), message);
            return Ok(None);
        };
        let span = uri.span;
        let uri = uri.text()?;
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
        let text = |value: Option<Value<'text>>| value.map(|value| value.text()).transpose();
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
                    span: value.map_or(span, |value| value.span),
                });
                Ok(None)
            }
        }
    }
}
