//! What a registry that fails at first, or answers too little, means for a solver.

use std::future::{Future, pending};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName, Spec, Version};
use pkgres_registry_client::{
    Answer, AsyncRegistries, MemoryRegistry, Registry, RegistryError, RegistrySet, drive,
    drive_async,
};
use pkgres_resolver::{Request, Resolver, Supply};

fn name(text: &str) -> PackageName {
    PackageName::parse(text).expect("a name")
}

/// A registry that cannot be read at first.
#[derive(Debug)]
struct Flaky {
    memory: MemoryRegistry,
    has_failed: AtomicBool,
}

impl Registry for Flaky {
    fn name(&self) -> &RegistryName {
        self.memory.name()
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        if self.has_failed.swap(true, Ordering::Relaxed) {
            return self.memory.records(names);
        }
        let registry = self.name().clone();
        Err(RegistryError::unreachable(registry, "it is not there yet"))
    }

    fn defining(
        &self,
        class: &pkgres_manifest::ClassName,
    ) -> Result<Vec<PackageName>, RegistryError> {
        self.memory.defining(class)
    }
}

fn memory() -> MemoryRegistry {
    let mut memory = MemoryRegistry::new(RegistryName::parse("memory").expect("a name"));
    memory.add_record(IndexRecord::new(name("org.acme.Db"), Version::new(1, 0, 0)));
    memory
}

fn resolver() -> Resolver {
    let root = IndexRecord::new(name("org.acme.Web"), Version::new(1, 0, 0));
    let root = root.with_requirement(name("org.acme.Db"), Spec::any());
    let mut request = Request::new(root);
    request.core = None;
    Resolver::new(request)
}

#[test]
fn after_a_failure() {
    let registries = RegistrySet::new(vec![Box::new(Flaky {
        memory: memory(),
        has_failed: AtomicBool::new(false),
    })]);
    let mut resolver = resolver();
    let options = ReadOptions::default();
    let failed = drive(&mut resolver, &registries, &options);
    assert!(matches!(failed, Err(RegistryError::Unreachable { .. })));
    let answer = drive(&mut resolver, &registries, &options).expect("it is there now");
    assert!(matches!(answer, Answer::Solved(_)), "{answer:?}");
}

/// A source that answers the second question and never the first.
struct Slow {
    registries: RegistrySet,
    was_asked: AtomicBool,
}

impl AsyncRegistries for Slow {
    async fn supply(&self, names: &[PackageName]) -> Result<Vec<Supply>, RegistryError> {
        if !self.was_asked.swap(true, Ordering::Relaxed) {
            pending::<()>().await;
        }
        self.registries.supply(names)
    }
}

#[test]
fn after_it_was_dropped() {
    let source = Slow {
        registries: RegistrySet::new(vec![Box::new(memory())]),
        was_asked: AtomicBool::new(false),
    };
    let mut resolver = resolver();
    let options = ReadOptions::default();
    let mut context = Context::from_waker(Waker::noop());
    {
        let first = pin!(drive_async(&mut resolver, &source, &options));
        assert!(first.poll(&mut context).is_pending());
    }
    let second = pin!(drive_async(&mut resolver, &source, &options));
    let Poll::Ready(Ok(Answer::Solved(_))) = second.poll(&mut context) else {
        panic!("it goes on from the question");
    };
}

/// A registry whose last answer gets lost.
struct Short(MemoryRegistry);

impl Registry for Short {
    fn name(&self) -> &RegistryName {
        self.0.name()
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        let mut answers = self.0.records(names)?;
        answers.pop();
        Ok(answers)
    }

    fn defining(
        &self,
        class: &pkgres_manifest::ClassName,
    ) -> Result<Vec<PackageName>, RegistryError> {
        self.0.defining(class)
    }
}

/// It would look as if no registry had the package, or it would come from the next one.
#[test]
fn a_missing_answer_is_an_error() {
    let registries = RegistrySet::new(vec![Box::new(Short(memory())), Box::new(memory())]);
    let answer = drive(&mut resolver(), &registries, &ReadOptions::default());
    let error = answer.expect_err("an answer is missing");
    assert_eq!(
        error.to_string(),
        "the registry `memory` gave 0 answers instead of 1"
    );
}
