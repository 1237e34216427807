//! Registries on the network in asynchronous programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use pkgres_manifest::{IndexRecord, ReadOptions, Spec, Version};
use pkgres_registry_client::{
    Answer, AsyncRegistries as _, BlockingRegistries, RegistrySet, drive, drive_async,
};
use pkgres_resolver::{Request, Resolver};

use crate::fake::{Fake, Received, Reply, World, name};
use crate::{connect, options, some, versions};

fn world() -> World {
    let mut world = World::new();
    world.add("a.A", "1.0.0", &["a.B"]);
    world.add("a.B", "1.2.0", &[]);
    world
}

fn request() -> Request {
    let root = IndexRecord::new(name("a.Root"), Version::new(1, 0, 0))
        .with_requirement(name("a.A"), Spec::parse("1").expect("a spec"));
    let mut request = Request::new(root);
    request.core = None;
    request
}

fn chosen(answer: &Answer) -> Vec<String> {
    let Answer::Solved(resolution) = answer else {
        panic!("{answer:?}");
    };
    let packages = resolution.packages().iter();
    packages
        .map(|package| format!("{} {}", package.name, package.version))
        .collect()
}

const CHOSEN: [&str; 2] = ["a.A 1.0.0", "a.B 1.2.0"];

fn current_thread() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime")
}

#[test]
fn a_blocking_call_works_inside_of_a_runtime() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::of(&world());
    let many = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .expect("a runtime");
    for runtime in [current_thread(), many] {
        runtime.block_on(async {
            let registry = connect(&fake, options(folder.path()));
            let found = versions(&registry, &["a.A", "a.Absent"]).expect("an answer");
            assert_eq!(found, [some(&["1.0.0"]), None]);
            let registries = RegistrySet::new(vec![Box::new(registry)]);
            let mut resolver = Resolver::new(request());
            let answer = drive(&mut resolver, &registries, &ReadOptions::default());
            assert_eq!(chosen(&answer.expect("an answer")), CHOSEN);
            // Dropping it inside of the runtime works as well.
        });
    }
}

#[test]
fn the_executor_runs_while_a_registry_answers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (start, started) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let (world, mut is_first) = (world(), true);
    // The first answer comes once another task of the only thread of the executor has run.
    let fake = Fake::start(move |question: &Received| -> Reply {
        if std::mem::take(&mut is_first) {
            start.send(()).expect("the test waits");
            may_go_on.recv().expect("the test is running");
        }
        world.answer(question)
    });
    let registry = connect(&fake, options(folder.path()));
    let registries = Arc::new(RegistrySet::new(vec![Box::new(registry)]));
    current_thread().block_on(async {
        let registries = BlockingRegistries::new(Arc::clone(&registries));
        let solving = tokio::spawn(async move {
            let mut resolver = Resolver::new(request());
            drive_async(&mut resolver, &registries, &ReadOptions::default()).await
        });
        while started.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        assert!(!solving.is_finished());
        go_on.send(()).expect("the registry waits");
        let answer = solving.await.expect("no panic").expect("an answer");
        assert_eq!(chosen(&answer), CHOSEN);
    });
}

#[test]
fn a_dropped_future_leaves_the_solver_at_its_question() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let world = world();
    let is_open = AtomicBool::new(false);
    let fake = Fake::start(move |question: &Received| -> Reply {
        if !is_open.swap(true, Ordering::Relaxed) {
            may_go_on.recv().expect("the test is running");
        }
        world.answer(question)
    });
    let registry = connect(&fake, options(folder.path()));
    let registries = BlockingRegistries::with_spawn(
        Arc::new(RegistrySet::new(vec![Box::new(registry)])),
        |work| {
            tokio::task::spawn_blocking(work);
        },
    );
    current_thread().block_on(async {
        let mut resolver = Resolver::new(request());
        let read = ReadOptions::default();
        let mut solving = Box::pin(drive_async(&mut resolver, &registries, &read));
        let polled = std::future::poll_fn(|context| {
            std::task::Poll::Ready(solving.as_mut().poll(context).is_pending())
        });
        assert!(polled.await, "the registry has not answered");
        drop(solving);
        go_on.send(()).expect("the registry waits");
        let again = drive_async(&mut resolver, &registries, &read).await;
        assert_eq!(chosen(&again.expect("an answer")), CHOSEN);
    });
}

#[test]
fn a_call_that_never_runs_is_an_error() {
    let registries = BlockingRegistries::with_spawn(Arc::default(), drop);
    let supply = current_thread().block_on(registries.supply(&[name("a.A")]));
    let error = supply.expect_err("the call was dropped");
    assert_eq!(
        error.to_string(),
        "no registry was read: the call was dropped before it ran"
    );
}
