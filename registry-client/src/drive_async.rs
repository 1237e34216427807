//! The loop that joins registries with the solver, for asynchronous programs.
//!
//! **Problem.** An asynchronous program must not block a thread of its executor while a network or a disk
//! answers, and the library must not choose the executor.
//!
//! **Idea.** The solver does no input or output, so only the answers to its questions wait. [`drive_async`] is
//! the loop of [`drive`](fn@crate::drive) with one `await` for each question, and [`AsyncRegistries`] is the trait
//! that answers. A program with an asynchronous source of its own (a database, a service) implements the trait.
//! A [`RegistrySet`] blocks; [`BlockingRegistries`] runs its calls on other threads: by default on a new one for
//! each call, otherwise with a function of the program, such as `tokio::task::spawn_blocking`. Nothing here needs a
//! particular runtime.
//!
//! **Cost.** A solver needs one call for each depth of the requirements that is not known yet, and not at all for
//! packages in an attached index. A call on another thread adds the start of
//! that thread.
//!
//! **Limit.** Between two answers the solver computes on the thread that polls the future. That is short for most
//! problems, and long for a few: bound them with
//! [`SolveOptions::max_steps`](pkgres_resolver::SolveOptions::max_steps), end them from outside with a
//! [`Cancellation`](pkgres_resolver::Cancellation), or run all of [`drive`](fn@crate::drive) on a thread for blocking
//! work, as `examples/service.rs` does.

use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use pkgres_manifest::{Package, PackageName, ReadOptions, Release, ReleaseSource, Version};
use pkgres_resolver::{CompiledIndex, LockedArtifacts, Resolver, Step, Supply};

use crate::drive::Answer;
use crate::registry_error::RegistryError;
use crate::set::RegistrySet;
use crate::threads::lock;

/// A source of releases that does not block.
///
/// Only [`supply`](Self::supply) has to be implemented. The answers decide the resolution, not their order or
/// the time that they take.
pub trait AsyncRegistries: Send + Sync {
    /// The releases of each package with the registry that they come from, or
    /// [`Supply::Unknown`] if there is no such package. The result has the length and order of `names`.
    fn supply(
        &self,
        names: &[PackageName],
    ) -> impl Future<Output = Result<Vec<Supply>, RegistryError>> + Send;

    /// The same, for a request with a lock: where a registry has several contents of a release, or the same content in
    /// several forms, the release is the one with the locked digest. By default, locked digests are not looked at.
    fn supply_locked(
        &self,
        names: &[PackageName],
        locked: &LockedArtifacts,
    ) -> impl Future<Output = Result<Vec<Supply>, RegistryError>> + Send {
        let _ = locked;
        self.supply(names)
    }

    /// The indexes to attach to a solver before its first step, the preferred one first. A package that is in
    /// one of them is not looked up by name. By default there are none.
    fn compiled(
        &self,
    ) -> impl Future<Output = Result<Vec<(ReleaseSource, Arc<CompiledIndex>)>, RegistryError>> + Send
    {
        ready(Ok(Vec::new()))
    }

    /// An index that has some of these packages, and others that may be needed with them, if there is one
    /// already. The rest is looked up by name. By default there is none.
    fn prepared(
        &self,
        names: &[PackageName],
    ) -> impl Future<Output = Result<Option<(ReleaseSource, Arc<CompiledIndex>)>, RegistryError>> + Send
    {
        let _ = names;
        ready(Ok(None))
    }

    /// The package of a release with its classes, for the contracts of object models; `None` if it is not
    /// known. By default no package is.
    fn package(
        &self,
        name: &PackageName,
        version: &Version,
        options: &ReadOptions,
    ) -> impl Future<Output = Result<Option<Arc<Package>>, RegistryError>> + Send {
        let _ = (name, version, options);
        ready(Ok(None))
    }
}

/// Runs a solver to its end, as [`drive`](fn@crate::drive) does, without blocking while registries answer.
///
/// `options` apply to the classes of packages, which are read for object models only. If a registry has
/// [drafts](crate::Registry::has_drafts), the classes of chosen releases may be unknown: run [`solve`](crate::solve) on
/// a thread then, which completes drafts.
///
/// The future can be dropped at any `await`, for example by a timeout: the solver is then at its last question,
/// and another call continues from there.
///
/// # Errors
///
/// A registry cannot be read. Nothing is lost: the call can be repeated with the same solver.
///
/// ```
/// use std::sync::Arc;
///
/// use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName, Spec, Version};
/// use pkgres_registry_client::{
///     Answer, BlockingRegistries, MemoryRegistry, RegistrySet, drive_async,
/// };
/// use pkgres_resolver::{Request, Resolver};
///
/// # async fn solve() -> Result<(), Box<dyn std::error::Error>> {
/// let database = PackageName::parse("org.acme.Db")?;
/// let mut registry = MemoryRegistry::new(RegistryName::parse("memory")?);
/// registry.add_record(IndexRecord::new(database.clone(), Version::new(1, 4, 0)));
/// let registries = Arc::new(RegistrySet::new(vec![Box::new(registry)]));
///
/// let root = IndexRecord::new(PackageName::parse("org.acme.Web")?, Version::new(1, 0, 0))
///     .with_requirement(database, Spec::parse("1")?);
/// let mut request = Request::new(root);
/// request.core = None;
///
/// let registries = BlockingRegistries::new(registries);
/// let mut resolver = Resolver::new(request);
/// let answer = drive_async(&mut resolver, &registries, &ReadOptions::default()).await?;
/// assert!(matches!(answer, Answer::Solved(_)));
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(solve())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn drive_async(
    resolver: &mut Resolver,
    registries: &impl AsyncRegistries,
    options: &ReadOptions,
) -> Result<Answer, RegistryError> {
    // Indexes have no dates.
    let takes_indexes = !resolver.needs_dates();
    if takes_indexes {
        for (source, index) in registries.compiled().await? {
            resolver.attach(source, index)?;
        }
    }
    // The call before this one may have ended in the middle of a question.
    resolver.ask_again();
    loop {
        match resolver.step() {
            Step::Need(names) => {
                if takes_indexes
                    && let Some((source, index)) = registries.prepared(&names).await?
                    && names.iter().any(|name| index.has(name))
                {
                    resolver.attach(source, index)?;
                    continue;
                }
                let locked = resolver.locked_artifacts();
                let supplies = registries.supply_locked(&names, locked).await?;
                for (name, supply) in names.iter().zip(supplies) {
                    resolver.provide(name, supply)?;
                }
            }
            Step::NeedClasses(releases) => {
                for Release { name, version } in releases {
                    let package = registries.package(&name, &version, options).await?;
                    resolver.provide_classes(&name, &version, package)?;
                }
            }
            step => {
                if let Some(answer) = Answer::of(step)? {
                    return Ok(answer);
                }
            }
        }
    }
}

/// A piece of blocking work.
type Work = Box<dyn FnOnce() + Send>;

/// A [`RegistrySet`] whose blocking calls run on other threads.
///
/// Dropping the future of a call does not stop the call: it ends on its thread, and what it learned is there
/// for the next one.
#[derive(Clone)]
pub struct BlockingRegistries {
    registries: Arc<RegistrySet>,
    spawn: Arc<dyn Fn(Work) + Send + Sync>,
}

impl std::fmt::Debug for BlockingRegistries {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("BlockingRegistries")
            .finish_non_exhaustive()
    }
}

impl BlockingRegistries {
    /// Runs each call on a new thread.
    pub fn new(registries: Arc<RegistrySet>) -> Self {
        Self::with_spawn(registries, |work| {
            // Without a thread the work is dropped, which ends the call with an error.
            let _ = std::thread::Builder::new().spawn(work);
        })
    }

    /// Runs each call with `spawn`, which must return without waiting for it.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use pkgres_registry_client::{BlockingRegistries, RegistrySet};
    /// # let registries = Arc::new(RegistrySet::default());
    /// let registries = BlockingRegistries::with_spawn(registries, |work| {
    ///     tokio::task::spawn_blocking(work);
    /// });
    /// ```
    pub fn with_spawn(
        registries: Arc<RegistrySet>,
        spawn: impl Fn(Box<dyn FnOnce() + Send>) + Send + Sync + 'static,
    ) -> Self {
        let spawn = Arc::new(spawn);
        Self { registries, spawn }
    }

    /// The registries, for calls that may block.
    pub fn registries(&self) -> &Arc<RegistrySet> {
        &self.registries
    }

    /// Runs a call on another thread; the future ends with it.
    fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&RegistrySet) -> Result<T, RegistryError> + Send + 'static,
    ) -> Call<T> {
        let slot = Arc::new(Mutex::new(Slot::Waiting(None)));
        let registries = Arc::clone(&self.registries);
        let done = Done(Arc::clone(&slot));
        (self.spawn)(Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(|| call(&registries)));
            // The caller may drop the set as soon as it has the result, and expects to be the last then.
            drop(registries);
            done.set(Slot::Done(result));
        }));
        Call(slot)
    }
}

impl AsyncRegistries for BlockingRegistries {
    fn supply(
        &self,
        names: &[PackageName],
    ) -> impl Future<Output = Result<Vec<Supply>, RegistryError>> + Send {
        let names = names.to_vec();
        self.call(move |registries| registries.supply(&names))
    }

    fn supply_locked(
        &self,
        names: &[PackageName],
        locked: &LockedArtifacts,
    ) -> impl Future<Output = Result<Vec<Supply>, RegistryError>> + Send {
        let names = names.to_vec();
        let of_names = locked
            .iter()
            .filter(|(Release { name, .. }, _)| names.contains(name));
        let locked: LockedArtifacts = of_names
            .map(|(release, artifact)| (release.clone(), artifact.clone()))
            .collect();
        self.call(move |registries| registries.supply_locked(&names, &locked))
    }

    fn compiled(
        &self,
    ) -> impl Future<Output = Result<Vec<(ReleaseSource, Arc<CompiledIndex>)>, RegistryError>> + Send
    {
        self.call(RegistrySet::compiled)
    }

    fn prepared(
        &self,
        names: &[PackageName],
    ) -> impl Future<Output = Result<Option<(ReleaseSource, Arc<CompiledIndex>)>, RegistryError>> + Send
    {
        let names = names.to_vec();
        self.call(move |registries| registries.prepared(&names))
    }

    fn package(
        &self,
        name: &PackageName,
        version: &Version,
        options: &ReadOptions,
    ) -> impl Future<Output = Result<Option<Arc<Package>>, RegistryError>> + Send {
        let (name, version, options) = (name.clone(), version.clone(), options.clone());
        self.call(move |registries| registries.package(&name, &version, &options))
    }
}

/// The result of a call on its way from one thread to another.
enum Slot<T> {
    /// The task to wake once there is a result.
    Waiting(Option<Waker>),
    Done(std::thread::Result<Result<T, RegistryError>>),
    /// There will be no result, or it was taken.
    Empty,
}

/// The end of a call that sets the result. Dropped without one, it ends the call.
struct Done<T>(Arc<Mutex<Slot<T>>>);

impl<T> Done<T> {
    fn set(&self, result: Slot<T>) {
        let before = std::mem::replace(&mut *lock(&self.0), result);
        if let Slot::Waiting(Some(waker)) = before {
            waker.wake();
        }
    }
}

impl<T> Drop for Done<T> {
    fn drop(&mut self) {
        let is_waiting = matches!(*lock(&self.0), Slot::Waiting(_));
        if is_waiting {
            self.set(Slot::Empty);
        }
    }
}

/// The end of a call that waits for the result.
struct Call<T>(Arc<Mutex<Slot<T>>>);

impl<T> Future for Call<T> {
    type Output = Result<T, RegistryError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = lock(&self.0);
        match &mut *slot {
            Slot::Waiting(waker) => {
                *waker = Some(context.waker().clone());
                return Poll::Pending;
            }
            Slot::Done(_) | Slot::Empty => {}
        }
        let result = std::mem::replace(&mut *slot, Slot::Empty);
        drop(slot);
        Poll::Ready(match result {
            Slot::Done(Ok(result)) => result,
            // As if the call had been made here.
            Slot::Done(Err(panic)) => resume_unwind(panic),
            Slot::Waiting(_) | Slot::Empty => Err(RegistryError::Interrupted),
        })
    }
}
