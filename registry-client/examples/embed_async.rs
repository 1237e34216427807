//! Solves with packages from an asynchronous source: a service of the program itself, reached over a channel.
//!
//! `cargo run -p pkgres-registry-client --example embed_async` prints the chosen versions. The example uses
//! tokio, but `drive_async` works with any executor.

use std::collections::BTreeMap;
use std::error::Error;

use pkgres_manifest::{
    IndexRecord, PackageName, ReadOptions, RegistryName, ReleaseSource, Spec, Version,
};
use pkgres_registry_client::{Answer, AsyncRegistries, RegistryError, drive_async};
use pkgres_resolver::{Request, Resolver, Supply};
use tokio::sync::{mpsc, oneshot};

/// A question to the catalogue: packages, and where to send their releases.
type Question = (Vec<PackageName>, oneshot::Sender<Vec<Supply>>);

/// The client of a catalogue, which a task owns.
struct Catalogue {
    name: RegistryName,
    questions: mpsc::Sender<Question>,
}

impl Catalogue {
    /// Starts the task, which ends once all clients are dropped.
    fn start(name: RegistryName, releases: Vec<IndexRecord>) -> Self {
        let (questions, mut receiver) = mpsc::channel::<Question>(16);
        let source = ReleaseSource::Registry(name.clone());
        let mut packages: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
        for record in releases {
            packages
                .entry(record.name.clone())
                .or_default()
                .push(record);
        }
        tokio::spawn(async move {
            while let Some((names, answer)) = receiver.recv().await {
                let supply = |name| match packages.get(name) {
                    Some(records) => Supply::Releases {
                        source: source.clone(),
                        records: records.clone(),
                    },
                    None => Supply::Unknown,
                };
                // The caller may have been dropped.
                let _ = answer.send(names.iter().map(supply).collect());
            }
        });
        Self { name, questions }
    }

    /// The error if the task is gone. That is not the same as a package that does not exist.
    fn stopped(&self) -> RegistryError {
        RegistryError::unreachable(self.name.clone(), "the catalogue has stopped")
    }
}

impl AsyncRegistries for Catalogue {
    async fn supply(&self, names: &[PackageName]) -> Result<Vec<Supply>, RegistryError> {
        let (sender, answer) = oneshot::channel();
        let question = (names.to_vec(), sender);
        self.questions
            .send(question)
            .await
            .map_err(|_| self.stopped())?;
        answer.await.map_err(|_| self.stopped())
    }
}

/// The versions that are chosen for the root.
async fn resolve() -> Result<Vec<String>, Box<dyn Error>> {
    let [web, auth, database] =
        ["org.acme.Web", "org.acme.Auth", "org.acme.Db"].map(PackageName::parse);
    let (web, auth, database) = (web?, auth?, database?);
    let catalogue = Catalogue::start(
        RegistryName::parse("catalogue")?,
        vec![
            IndexRecord::new(auth.clone(), Version::new(1, 1, 0))
                .with_requirement(database.clone(), Spec::parse(">=1.2")?),
            IndexRecord::new(database.clone(), Version::new(1, 4, 0)),
            IndexRecord::new(database.clone(), Version::new(2, 0, 0)),
        ],
    );
    let root = IndexRecord::new(web, Version::new(1, 0, 0))
        .with_requirement(auth, Spec::parse("1")?)
        .with_requirement(database, Spec::parse("1")?);
    let mut request = Request::new(root);
    request.core = None;

    let mut resolver = Resolver::new(request);
    match drive_async(&mut resolver, &catalogue, &ReadOptions::default()).await? {
        Answer::Solved(resolution) => Ok(resolution
            .packages()
            .iter()
            .map(|package| format!("{} {}", package.name, package.version))
            .collect()),
        other => Err(format!("no resolution: {other:?}").into()),
    }
}

// An example is run for its output.
#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for release in runtime.block_on(resolve())? {
        println!("{release}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asynchronous_source_answers() -> Result<(), Box<dyn Error>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let releases = runtime.block_on(resolve())?;
        assert_eq!(releases, ["org.acme.Auth 1.1.0", "org.acme.Db 1.4.0"]);
        Ok(())
    }
}
