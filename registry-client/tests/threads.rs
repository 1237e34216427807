//! The values that an embedding program holds can be shared by threads.

// Fixtures are written without ceremony.
#![allow(clippy::disallowed_methods)]

use std::sync::Arc;

use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName, Spec, Version};
use pkgres_registry_client::{
    Answer, BlockingRegistries, CheckedLocks, DirectoryRegistry, HttpOptions, HttpRegistry,
    IndexCache, IndexFileRegistry, MemoryRegistry, Namespace, Registry, RegistryError, RegistrySet,
    SinglePackage, drive, drive_async,
};
use pkgres_resolver::{Cancellation, CompiledIndex, Request, Resolver};

const fn is_shared<T: Send + Sync>() {}

const _: () = {
    is_shared::<RegistrySet>();
    is_shared::<Box<dyn Registry>>();
    is_shared::<MemoryRegistry>();
    is_shared::<SinglePackage>();
    is_shared::<DirectoryRegistry>();
    is_shared::<IndexFileRegistry>();
    is_shared::<HttpRegistry>();
    is_shared::<BlockingRegistries>();
    is_shared::<HttpOptions>();
    is_shared::<IndexCache>();
    is_shared::<CheckedLocks>();
    is_shared::<Namespace>();
    is_shared::<CompiledIndex>();
    is_shared::<Request>();
    is_shared::<Resolver>();
    is_shared::<Cancellation>();
    is_shared::<Answer>();
    is_shared::<RegistryError>();
};

fn package(name: &str) -> PackageName {
    PackageName::parse(name).expect("a name")
}

fn request(package: &PackageName, version: u64) -> Request {
    let spec = Spec::exactly(&Version::new(version, 0, 0));
    let root = IndexRecord::new(self::package("a.Root"), Version::new(1, 0, 0))
        .with_requirement(package.clone(), spec);
    let mut request = Request::new(root);
    request.core = None;
    request
}

fn chosen(answer: &Answer) -> &Version {
    match answer {
        Answer::Solved(resolution) => &resolution.packages()[0].version,
        other => panic!("{other:?}"),
    }
}

/// An index file with a package of some versions, and a registry that reads it.
fn index_file(folder: &std::path::Path, package: &PackageName, versions: u64) -> IndexFileRegistry {
    let path = folder.join("index");
    let lines: String = (0..versions)
        .map(|version| {
            let record = IndexRecord::new(package.clone(), Version::new(version, 0, 0));
            record.to_line() + "\n"
        })
        .collect();
    std::fs::write(&path, lines).expect("it can be written");
    let name = RegistryName::parse("file").expect("a name");
    let limits = pkgres_manifest::Limits::default();
    IndexFileRegistry::open(name, &path, &limits, std::num::NonZeroUsize::MIN).expect("an index")
}

#[test]
fn threads_share_a_set_of_registries() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (in_memory, in_file) = (package("a.Memory"), package("a.File"));
    let mut memory = MemoryRegistry::new(RegistryName::parse("memory").expect("a name"));
    for version in 0..16 {
        memory.add_record(IndexRecord::new(
            in_memory.clone(),
            Version::new(version, 0, 0),
        ));
    }
    let file = index_file(folder.path(), &in_file, 16);
    let registries = RegistrySet::new(vec![Box::new(memory), Box::new(file)]);
    std::thread::scope(|scope| {
        for version in 0..16 {
            let (registries, packages) = (&registries, [&in_memory, &in_file]);
            scope.spawn(move || {
                for package in packages {
                    let mut resolver = Resolver::new(request(package, version));
                    let answer = drive(&mut resolver, registries, &ReadOptions::default());
                    assert_eq!(
                        *chosen(&answer.expect("an answer")),
                        Version::new(version, 0, 0)
                    );
                }
            });
        }
    });
}

#[test]
fn an_asynchronous_drive_can_move_between_threads() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let name = package("a.Memory");
    let mut memory = MemoryRegistry::new(RegistryName::parse("memory").expect("a name"));
    memory.add_record(IndexRecord::new(name.clone(), Version::new(3, 0, 0)));
    let registries = Arc::new(RegistrySet::new(vec![Box::new(memory)]));
    let registries = BlockingRegistries::new(registries);
    let mut resolver = Resolver::new(request(&name, 3));
    let options = ReadOptions::default();
    let solving = is_send(drive_async(&mut resolver, &registries, &options));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let answer = runtime.expect("a runtime").block_on(solving);
    assert_eq!(*chosen(&answer.expect("an answer")), Version::new(3, 0, 0));
}
