//! Which unpacked archives are removed from a machine: those that no application uses.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;

use pkgres_engine::{
    AppliedState, Artifact, ArtifactSource, DriveOptions, File, GraphBuilder, Kinds, Link, Machine,
    StateLocation, drive, remove_unused_archives, unused_archives,
};
use pkgres_manifest::{
    ArtifactDigest, Limits, MetaParameters, PackageName, PackagePath, Version, write_archive,
};

struct Served(Vec<u8>);

impl ArtifactSource for Served {
    fn fetch(&self, _: &ArtifactDigest) -> Result<Vec<u8>, String> {
        Ok(self.0.clone())
    }
}

/// The archive of a version of a package.
fn artifact(version: u64) -> Artifact {
    let path = PackagePath::parse("page").expect("it is a path");
    let files = [(path, false, format!("version {version}\n").into_bytes())];
    let bytes = write_archive(files, &Limits::default()).expect("it is an archive");
    let name = PackageName::parse("org.example.Web").expect("it is a name");
    let digest = ArtifactDigest::of_archive(&bytes);
    let version = Version::new(version, 0, 0);
    Artifact::new(name, version, digest, Arc::new(Served(bytes)))
}

/// The folder of an archive in the store.
fn folder_of(version: u64) -> PathBuf {
    let files = artifact(version).files_path();
    files.parent().expect("it is in a folder").to_owned()
}

struct Root {
    folder: tempfile::TempDir,
    machine: Arc<Machine>,
}

impl Root {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let machine = Arc::new(Machine::root_folder(folder.path()).expect("it is a folder"));
        Self { folder, machine }
    }

    fn state(application: &str) -> StateLocation {
        StateLocation::new(application).in_folder("/state")
    }

    /// Applies resources of an application.
    fn apply(&self, application: &str, add: impl FnOnce(&mut GraphBuilder)) {
        let machine = &self.machine;
        let state = AppliedState::lock(&**machine, Self::state(application), Kinds::default());
        let state = state.expect("nobody has it");
        let mut builder = GraphBuilder::new();
        add(&mut builder);
        let graph = builder.build().expect("it has no cycle");
        let graph = state.begin(&**machine, graph).expect("it can be written");
        let (_control, controlled) = channel();
        let options = DriveOptions {
            state: Some(Arc::clone(&state)),
            ..DriveOptions::default()
        };
        let ending = drive(graph, machine.clone(), &options, controlled, |_| {});
        let finished = state.finish(&**machine, &ending.nodes);
        finished.expect("it can be written");
    }

    /// Applies an archive of an application.
    fn apply_version(&self, application: &str, version: u64) {
        self.apply(application, |builder| {
            add_archive(builder, version);
        });
    }

    fn unused(&self) -> Vec<PathBuf> {
        unused_archives(&*self.machine).expect("it can be read")
    }

    fn remove_unused(&self) -> Vec<PathBuf> {
        remove_unused_archives(&*self.machine).expect("it can be written")
    }

    fn has(&self, version: u64) -> bool {
        let folder = folder_of(version);
        let inside = folder.strip_prefix("/").expect("it is absolute");
        self.folder.path().join(inside).join("files/page").exists()
    }
}

fn add_archive(builder: &mut GraphBuilder, version: u64) {
    let id = "artifact:org.example.Web".parse();
    let id = id.expect("it is an identity");
    builder.add(id, artifact(version), MetaParameters::default());
}

#[test]
fn archives_that_no_application_uses_are_removed() {
    let root = Root::new();
    assert!(root.remove_unused().is_empty(), "there is no store");
    root.apply_version("org.example.A", 1);
    root.apply_version("org.example.B", 1);
    root.apply_version("org.example.A", 2);
    assert!(root.unused().is_empty(), "the other one uses it");
    root.apply_version("org.example.B", 3);
    assert_eq!(root.unused(), [folder_of(1)]);
    assert!(root.has(1), "it was only listed");
    assert_eq!(root.remove_unused(), [folder_of(1)]);
    assert_eq!(
        [1, 2, 3].map(|version| root.has(version)),
        [false, true, true]
    );

    // An application without archives uses none.
    root.apply("org.example.A", |_| {});
    assert_eq!(root.remove_unused(), [folder_of(2)]);
    assert!(root.has(3));
}

#[test]
fn an_earlier_archive_is_needed_until_everything_is_in_order() {
    let root = Root::new();
    root.apply_version("org.example.A", 1);
    root.apply("org.example.A", |builder| {
        add_archive(builder, 2);
        let id = "file:/missing/file".parse().expect("it is an identity");
        let file = File::new("/missing/file").with_content("x");
        builder.add(id, file, MetaParameters::default());
    });
    assert!(root.unused().is_empty());
    root.apply_version("org.example.A", 2);
    assert_eq!(root.unused(), [folder_of(1)]);
}

#[test]
fn what_has_to_be_restored_keeps_its_archive() {
    let root = Root::new();
    let link = |builder: &mut GraphBuilder, version: u64, reverse: bool| {
        add_archive(builder, version);
        let id = "link:/site".parse().expect("it is an identity");
        let meta = MetaParameters {
            reverse,
            ..MetaParameters::default()
        };
        let link = Link::new("/site", artifact(version).files_path());
        builder.add(id, link, meta);
    };
    root.apply("org.example.A", |builder| link(builder, 1, false));
    root.apply("org.example.A", |builder| link(builder, 2, true));
    assert!(root.unused().is_empty(), "the link may lead there again");
    root.apply("org.example.A", |_| {});
    assert_eq!(
        std::fs::read_link(root.folder.path().join("site")).expect("it is restored"),
        Path::new("/").join(artifact(1).files_path())
    );
}

#[test]
fn what_a_killed_run_left_behind_is_removed() {
    let root = Root::new();
    root.apply_version("org.example.A", 1);
    let store = root.folder.path().join("var/lib/pkgres/store");
    let digest = folder_of(9).file_name().expect("it has one").to_owned();
    let left = format!(".{}", digest.to_string_lossy());
    std::fs::create_dir(store.join(&left)).expect("nothing is there");
    std::fs::create_dir(store.join("of-somebody-else")).expect("nothing is there");
    let unused = root.remove_unused();
    assert_eq!(unused, [Path::new("/var/lib/pkgres/store").join(left)]);
    assert!(store.join("of-somebody-else").exists());
}
