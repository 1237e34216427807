//! The kinds of resources by name, and how to read each. Programs can add kinds.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use pkgres_files::EntryKind;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    Properties, PropertyErrors, ResourceDescription, did_you_mean, most_similar,
};

use super::force_property::Forced;
use super::locked_artifacts::{ARTIFACT, LockedArtifacts};
use super::package_files::FilesOfPackage;
use super::property_readers;
use crate::resource::Resource;

type Reader = dyn Fn(&str, &mut Properties, FilesOfPackage<'_>) -> Result<Arc<dyn Resource>, PropertyErrors>
    + Send
    + Sync;

/// The kinds of resources that can be used, by name. Programs add their own.
///
/// ```
/// use pkgres_engine::{File, Kinds};
/// use pkgres_manifest::ResourceDescription;
///
/// // A kind that writes a greeting.
/// let kinds = Kinds::default().with("greeting", |name, properties| {
///     let whom = properties.take_required_text("whom")?;
///     Ok(File::new(name).with_content(format!("hello {whom}\n")))
/// });
///
/// let description = ResourceDescription::new("greeting:/etc/motd".parse()?).with("whom", "you");
/// assert!(kinds.read(&description).is_ok());
///
/// let description = ResourceDescription::new("greting:/etc/motd".parse()?);
/// let errors = kinds.read(&description).err().expect("there is no such kind");
/// assert_eq!(errors[0].hints, ["did you mean `greeting`?"]);
/// # Ok::<(), pkgres_manifest::ResourceIdError>(())
/// ```
#[derive(Clone)]
pub struct Kinds {
    readers: BTreeMap<String, Arc<Reader>>,
}

impl fmt::Debug for Kinds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.names()).finish()
    }
}

/// The kinds that come with the engine.
impl Default for Kinds {
    fn default() -> Self {
        let none = Self {
            readers: BTreeMap::new(),
        };
        let directory = |name: &str, properties: &mut Properties| {
            Forced::read(EntryKind::Folder, name, properties, |properties| {
                property_readers::read_directory(name, properties)
            })
        };
        let file = |name: &str, properties: &mut Properties, files: FilesOfPackage<'_>| {
            Forced::read(EntryKind::File, name, properties, |properties| {
                property_readers::read_file(name, properties, files)
            })
        };
        let link = |name: &str, properties: &mut Properties| {
            Forced::read(EntryKind::Link, name, properties, |properties| {
                property_readers::read_link(name, properties)
            })
        };
        none.with("directory", directory)
            .with("exec", property_readers::read_exec)
            .with_files("file", file)
            .with("group", property_readers::read_group)
            .with("link", link)
            .with("package", property_readers::read_package)
            .with("query", property_readers::read_query)
            .with("service", property_readers::read_service)
            .with("user", property_readers::read_user)
    }
}

impl Kinds {
    /// Adds a kind, or replaces the kind of the same name. `read` gets the name of a resource and its properties, and
    /// takes the properties that the kind has; the remaining ones are errors.
    #[must_use]
    pub fn with<Read, Kind>(self, kind: &str, read: Read) -> Self
    where
        Read: Fn(&str, &mut Properties) -> Result<Kind, PropertyErrors> + Send + Sync + 'static,
        Kind: Resource + 'static,
    {
        self.with_files(kind, move |name, properties, _| read(name, properties))
    }

    /// Returns the kinds with one more, as [`with`](Self::with) does. `read` also gets the files of the package that
    /// describes a resource.
    #[must_use]
    pub fn with_files<Read, Kind>(mut self, kind: &str, read: Read) -> Self
    where
        Read: Fn(&str, &mut Properties, FilesOfPackage<'_>) -> Result<Kind, PropertyErrors>
            + Send
            + Sync
            + 'static,
        Kind: Resource + 'static,
    {
        let reader = move |name: &str, properties: &mut Properties, files: FilesOfPackage<'_>| {
            let resource: Arc<dyn Resource> = Arc::new(read(name, properties, files)?);
            Ok(resource)
        };
        self.readers.insert(kind.to_owned(), Arc::new(reader));
        self
    }

    /// Returns the kinds with `artifact`: the archives of locked releases, unpacked.
    #[must_use]
    pub fn with_artifacts(self, artifacts: LockedArtifacts) -> Self {
        self.with(ARTIFACT, move |name, properties| {
            artifacts.read(name, properties)
        })
    }

    /// The names of the kinds in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.readers.keys().map(String::as_str)
    }

    /// Makes a resource that belongs to no package from its description.
    ///
    /// # Errors
    ///
    /// There is no such kind, or properties are wrong.
    pub fn read(
        &self,
        description: &ResourceDescription,
    ) -> Result<Arc<dyn Resource>, Vec<Diagnostic>> {
        self.read_with_files(description, FilesOfPackage::none())
    }

    /// Makes a resource from its description, with the files of the package that describes it.
    ///
    /// # Errors
    ///
    /// There is no such kind, properties are wrong, or a file cannot be read.
    pub fn read_with_files(
        &self,
        description: &ResourceDescription,
        files: FilesOfPackage<'_>,
    ) -> Result<Arc<dyn Resource>, Vec<Diagnostic>> {
        let id = &description.id.value;
        let Some(reader) = self.readers.get(id.kind()) else {
            let message = format!("there is no kind of resource `{}`", id.kind());
            let finding = Diagnostic::error(Code::Resource, message);
            let finding = finding.at(description.id.location.clone());
            let names = self.names().chain([ResourceDescription::ALL]);
            let similar = most_similar(id.kind(), names);
            let hint = similar.map_or_else(
                || {
                    let names: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
                    format!("the kinds are {}", names.join(", "))
                },
                did_you_mean,
            );
            return Err(vec![finding.hint(hint)]);
        };
        let read = |properties: &mut Properties| reader(id.name(), properties, files);
        let mut findings = Vec::new();
        let received = description.receives.iter();
        let received = received.map(|received| received.property.value.as_str());
        let mut properties = description.properties.clone().with_received(received);
        let mut left = properties.clone();
        let mut resource = read(&mut left);
        // What is missing may be there under a name that is misspelt.
        while let Err(errors) = &resource {
            let guess = left.misspelt().into_iter().find_map(|(key, name, error)| {
                let renamed = properties.clone().renamed(&key, &name);
                let mut left = renamed.clone();
                let resource = read(&mut left);
                (resource.as_ref().err() != Some(errors))
                    .then_some((error, renamed, left, resource))
            });
            let Some((error, renamed, left_then, resource_then)) = guess else {
                break;
            };
            findings.push(error.into());
            (properties, left, resource) = (renamed, left_then, resource_then);
        }
        match resource {
            Ok(resource) => match left.finish() {
                Ok(()) if findings.is_empty() => return Ok(resource),
                Ok(()) => {}
                Err(unknown) => findings.extend(unknown.into_diagnostics()),
            },
            Err(errors) => {
                let unknown = unknown_beside(&errors, properties, left, read);
                findings.extend(errors.into_diagnostics());
                findings.extend(
                    unknown
                        .into_iter()
                        .flat_map(PropertyErrors::into_diagnostics),
                );
            }
        }
        Err(findings)
    }
}

/// The properties that the kind does not know, if it has rejected others. A kind stops at the first value that is wrong,
/// and has not asked for all properties then; so those values are set aside until it reads the rest. Errors about the
/// rest are not reported: what was set aside may be their cause.
fn unknown_beside(
    errors: &PropertyErrors,
    mut properties: Properties,
    mut left: Properties,
    read: impl Fn(&mut Properties) -> Result<Arc<dyn Resource>, PropertyErrors>,
) -> Option<PropertyErrors> {
    let mut errors = errors.clone();
    loop {
        let is_there = |key: &&str| properties.keys().any(|own| own == *key) && left.has_taken(key);
        let wrong = errors.iter().map(|error| error.key.as_str());
        let wrong: Vec<&str> = wrong.filter(is_there).collect();
        if wrong.is_empty() {
            return None;
        }
        for key in wrong {
            properties.take(key);
        }
        left = properties.clone();
        match read(&mut left) {
            Ok(_) => return left.finish().err(),
            Err(next) => errors = next,
        }
    }
}
