//! Resources: things that a package wants on a machine, such as a file with some content or a running service.
//!
//! A package names its resources file under `Resources` in its manifest:
//!
//! ```yaml
//! Package:
//! - directory: /srv/web
//! - file: /srv/web/index.html
//!   content: "hello\n"
//!   mode: "0644"
//!   after: [directory:/srv/web]
//! Classes:
//!   org.example.Web:
//!   - file: "/etc/web-${this.name}.conf"
//!     content: "port=${this.port}\n"
//! ```
//!
//! A resource has an identity ([`ResourceId`]), properties that depend on its kind ([`Properties`]), and parameters
//! that every kind has ([`MetaParameters`]). Resources below `Package` exist once for a release, those below `Classes`
//! once for each object of the class, whose values fill in their templates ([`ResourceTemplate`]). Nothing here knows a
//! kind, or looks at a machine.

mod description;
mod identity;
mod meta;
mod package;
mod properties;
#[cfg(feature = "packages")]
mod reader;
mod template;

pub use description::{ReceivedProperty, ResourceDescription};
pub use identity::{ResourceId, ResourceIdError};
pub use meta::{MetaParameters, Polling, RateLimit, Retries, Semaphore, SemaphoreError};
pub use package::{ClassResources, PackageResources, ReadableResources};
pub use properties::{Properties, PropertyError, PropertyErrors, PropertyValue};
#[cfg(all(test, feature = "json"))]
pub(crate) use reader::{ALL_KEYS, META_KEYS, RESERVED_KEYS, RESOURCES_KEYS};
pub use template::{ResourceTemplate, TemplateValue, TemplateValues};
