//! Validators that an embedding program adds to those of the grammar.

use std::fmt;

use pkgres_manifest::document::Node;

use super::arguments::ArgumentValues;
use crate::target::{Probe, Target};

type Test = dyn Fn(&Node, &dyn Probe, &ArgumentValues) -> Result<(), String> + Send + Sync;
type Reconcile = dyn Fn(&Node, &dyn Target, &ArgumentValues) -> Result<(), String> + Send + Sync;

/// A validator that the grammar does not have. It declares whether it can test and reconcile: if a specification needs
/// what it cannot do, this is reported as an error before anything runs.
///
/// ```
/// use pkgres_engine::{CustomValidator, Probe};
///
/// let kernel = CustomValidator::new("no_swap").testing(|_, probe: &dyn Probe, _| {
///     match probe.entry("/swapfile".as_ref()) {
///         Ok(None) => Ok(()),
///         Ok(Some(_)) => Err("there is a swap file".to_owned()),
///         Err(error) => Err(error.to_string()),
///     }
/// });
/// assert!(kernel.can_test() && !kernel.can_reconcile());
/// ```
pub struct CustomValidator {
    name: String,
    pub(super) test: Option<Box<Test>>,
    pub(super) reconcile: Option<Box<Reconcile>>,
}

impl CustomValidator {
    /// A validator with a name that can do nothing yet. [`ReadOptions`](pkgres_manifest::ReadOptions) have to name it,
    /// too.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            test: None,
            reconcile: None,
        }
    }

    /// Lets it test. The function gets the validator's part of the document, and returns an error with the reason if a
    /// machine fails.
    #[must_use]
    pub fn testing(
        mut self,
        test: impl Fn(&Node, &dyn Probe, &ArgumentValues) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.test = Some(Box::new(test));
        self
    }

    /// Lets it reconcile. The function tests first, and returns an error if it could not establish what is missing.
    #[must_use]
    pub fn reconciling(
        mut self,
        reconcile: impl Fn(&Node, &dyn Target, &ArgumentValues) -> Result<(), String>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.reconcile = Some(Box::new(reconcile));
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it can test without changing anything.
    pub fn can_test(&self) -> bool {
        self.test.is_some()
    }

    /// Whether it can bring about what it tests.
    pub fn can_reconcile(&self) -> bool {
        self.reconcile.is_some()
    }
}

impl fmt::Debug for CustomValidator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CustomValidator")
            .field("name", &self.name)
            .field("can_test", &self.can_test())
            .field("can_reconcile", &self.can_reconcile())
            .finish_non_exhaustive()
    }
}
