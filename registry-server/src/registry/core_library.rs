//! The classes of the core library that a registry does not have: the engine that runs packages supplies it.

use std::sync::LazyLock;

use pkgres_manifest::{ClassName, IndexRecord, PackageName};
use pkgres_registry_client::built_in_core_library;

use super::backend::RegistryBackend;

/// The last public release of the default core library.
static DEFAULT: LazyLock<IndexRecord> = LazyLock::new(built_in_core_library);

impl RegistryBackend {
    /// Whether the engine supplies a class: the core library is not in the registry, and has the class. Of a core library
    /// with another name than the default, only the class that all others extend is known.
    pub(crate) fn is_built_in(&self, class: &ClassName) -> bool {
        self.core_class(class).is_some()
    }

    /// The classes that a class extends which the engine supplies; `None` if it does not supply the class.
    pub(crate) fn core_class(&self, class: &ClassName) -> Option<&'static [ClassName]> {
        let core = self.missing_core_library()?;
        if DEFAULT.name == *core {
            return DEFAULT.class(class).map(|known| known.extends.as_slice());
        }
        (*class == core.root_class()).then_some(&[])
    }

    /// The name of the core library, if the registry does not have it.
    pub(crate) fn missing_core_library(&self) -> Option<&PackageName> {
        let core = self.options.read.core.as_ref()?;
        self.node.state().package(core).is_none().then_some(core)
    }
}
