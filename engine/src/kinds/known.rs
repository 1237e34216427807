//! The kinds by name, and how each reads its properties.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Properties, PropertyErrors, ResourceDescription, most_similar};

use super::readers;
use crate::resource::Resource;

type Reader =
    dyn Fn(&str, &mut Properties) -> Result<Arc<dyn Resource>, PropertyErrors> + Send + Sync;

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
        none.with("directory", readers::read_directory)
            .with("exec", readers::read_exec)
            .with("file", readers::read_file)
            .with("group", readers::read_group)
            .with("link", readers::read_link)
            .with("package", readers::read_package)
            .with("query", readers::read_query)
            .with("service", readers::read_service)
            .with("user", readers::read_user)
    }
}

impl Kinds {
    /// Returns the kinds with one more, or with another one in place of that of the same name. `read` gets the name of
    /// a resource and its properties, and takes those that the kind has; all others are errors.
    #[must_use]
    pub fn with<Read, Kind>(mut self, kind: &str, read: Read) -> Self
    where
        Read: Fn(&str, &mut Properties) -> Result<Kind, PropertyErrors> + Send + Sync + 'static,
        Kind: Resource + 'static,
    {
        let reader = move |name: &str, properties: &mut Properties| {
            let resource: Arc<dyn Resource> = Arc::new(read(name, properties)?);
            Ok(resource)
        };
        self.readers.insert(kind.to_owned(), Arc::new(reader));
        self
    }

    /// The names of the kinds in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.readers.keys().map(String::as_str)
    }

    /// Makes a resource from its description.
    ///
    /// # Errors
    ///
    /// There is no such kind, or properties are wrong.
    pub fn read(
        &self,
        description: &ResourceDescription,
    ) -> Result<Arc<dyn Resource>, Vec<Diagnostic>> {
        let id = &description.id.value;
        let Some(reader) = self.readers.get(id.kind()) else {
            let message = format!("there is no kind of resource `{}`", id.kind());
            let finding = Diagnostic::error(Code::Resource, message);
            let finding = finding.at(description.id.location.clone());
            let similar = most_similar(id.kind(), self.names());
            let hint = similar.map_or_else(
                || {
                    let names: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
                    format!("the kinds are {}", names.join(", "))
                },
                |similar| format!("did you mean `{similar}`?"),
            );
            return Err(vec![finding.hint(hint)]);
        };
        let mut properties = description.properties.clone();
        let resource = reader(id.name(), &mut properties);
        let resource = resource.map_err(PropertyErrors::into_diagnostics)?;
        properties
            .finish()
            .map_err(PropertyErrors::into_diagnostics)?;
        Ok(resource)
    }
}
