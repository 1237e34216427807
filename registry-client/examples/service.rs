//! A service that solves many requests at once: one `RegistrySet` for all, one `Resolver` for each request.
//!
//! `cargo run -p pkgres-registry-client --example service` solves a few requests on several threads and prints
//! the answers. A request whose client is gone is cancelled.

use std::error::Error;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName, Spec, Version};
use pkgres_registry_client::{Answer, MemoryRegistry, RegistryError, RegistrySet, drive};
use pkgres_resolver::{Cancellation, Request, Resolver};

/// The state that all requests share. A clone is another handle to it.
#[derive(Clone)]
struct Service {
    /// Whatever a registry learned for one request is there for the next: loaded indexes, documents, connections.
    registries: Arc<RegistrySet>,
}

/// Cancels a solver when the future that waits for it is dropped.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Service {
    fn new(registries: RegistrySet) -> Self {
        let registries = Arc::new(registries);
        Self { registries }
    }

    /// Solves a request on a thread for blocking work: solving computes, and registries may block.
    ///
    /// An asynchronous program whose problems are small uses `drive_async` with `BlockingRegistries` instead.
    async fn resolve(&self, request: Request) -> Result<Answer, RegistryError> {
        let registries = Arc::clone(&self.registries);
        let mut resolver = Resolver::new(request);
        let _cancel = CancelOnDrop(resolver.cancellation());
        let solve = move || drive(&mut resolver, &registries, &ReadOptions::default());
        match tokio::task::spawn_blocking(solve).await {
            Ok(answer) => answer,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime shuts down.
            Err(_) => Ok(Answer::Cancelled),
        }
    }
}

/// The registry of the example: `org.acme.Db` in ten versions.
fn registries() -> Result<RegistrySet, Box<dyn Error>> {
    let mut registry = MemoryRegistry::new(RegistryName::parse("memory")?);
    let database = PackageName::parse("org.acme.Db")?;
    for major in 0..10 {
        registry.add_record(IndexRecord::new(
            database.clone(),
            Version::new(major, 0, 0),
        ));
    }
    Ok(RegistrySet::new(vec![Box::new(registry)]))
}

/// A request for one major version of `org.acme.Db`.
fn request(major: u64) -> Result<Request, Box<dyn Error>> {
    let spec = Spec::parse(&major.to_string())?;
    let root = IndexRecord::new(PackageName::parse("org.acme.Web")?, Version::new(1, 0, 0))
        .with_requirement(PackageName::parse("org.acme.Db")?, spec);
    let mut request = Request::new(root);
    request.core = None;
    Ok(request)
}

/// Solves requests at once; the answers are in the order of the requests.
fn serve(count: u64) -> Result<Vec<String>, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()?;
    let service = Service::new(registries()?);
    let mut tasks = Vec::new();
    for major in 0..count {
        let (service, request) = (service.clone(), request(major)?);
        tasks.push(runtime.spawn(async move { service.resolve(request).await }));
    }
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(match runtime.block_on(task)?? {
            Answer::Solved(resolution) => resolution.packages()[0].version.to_string(),
            Answer::Conflict(conflict) => conflict.summary.clone(),
            Answer::GaveUp { steps } => format!("gave up after {steps} steps"),
            Answer::Cancelled => "cancelled".to_owned(),
        });
    }
    Ok(answers)
}

// An example is run for its output.
#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn Error>> {
    for answer in serve(12)? {
        println!("{answer}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_requests_share_the_registries() -> Result<(), Box<dyn Error>> {
        let answers = serve(40)?;
        assert_eq!(answers.len(), 40);
        for (major, answer) in answers[..10].iter().enumerate() {
            assert_eq!(*answer, format!("{major}.0.0"));
        }
        assert!(
            answers[10..]
                .iter()
                .all(|answer| answer.contains("org.acme.Db"))
        );
        Ok(())
    }
}
