//! Files of packages on a machine: one by one, and their archives as a whole.

use std::sync::Arc;

use pkgres_engine::{
    ArtifactSource, DeployedArtifacts, Deployment, DriveOptions, Graph, GraphOptions, Kinds,
    LockedArtifacts, Machine, PackageFiles, Status, drive,
};
use pkgres_manifest::{ArtifactDigest, Limits, Package, PackagePath, Release, Version};

use crate::{bound, edges, ids, package, texts};

/// Files of packages in memory, without artifacts.
struct Files;

impl PackageFiles for Files {
    fn read(
        &self,
        Release { name, .. }: &Release,
        path: &PackagePath,
    ) -> Result<Option<Vec<u8>>, String> {
        match path.as_str() {
            "page" => Ok(Some(format!("page of {name}\0").into_bytes())),
            "broken" => Err("the archive is damaged".to_owned()),
            _ => Ok(None),
        }
    }
}

impl ArtifactSource for Files {
    fn fetch(&self, _: &ArtifactDigest) -> Result<Vec<u8>, String> {
        Err("there is none".to_owned())
    }
}

/// The graph of packages whose releases all have an artifact; `is_side_by_side` adds another version of the first one.
fn graph_with_files(
    packages: &[Arc<Package>],
    are_all_unpacked: bool,
    is_side_by_side: bool,
) -> Result<Graph, Vec<String>> {
    let limits = Limits::default();
    let bound = bound(packages);
    let mut artifacts = LockedArtifacts::new(Arc::new(Files), limits.clone());
    for (number, (release, bound)) in (0..).zip(&bound.releases) {
        let digest = ArtifactDigest::of_archive(&[number]);
        artifacts.add(release.clone(), digest, bound.requires.clone());
    }
    if is_side_by_side {
        let first = bound.releases.keys().next().expect("there is a package");
        let release = Release::new(first.name.clone(), Version::new(2, 0, 0));
        artifacts.add(release, ArtifactDigest::of_archive(b"2"), Vec::new());
    }
    let deployed = DeployedArtifacts {
        artifacts: &artifacts,
        are_all_unpacked,
    };
    let read = Deployment::with_artifacts(&bound, None, deployed, &limits).into_result();
    let (deployment, _) = read.map_err(|errors| texts(&errors))?;
    let deployment = deployment.with_files(Arc::new(Files));
    let kinds = Kinds::default().with_artifacts(artifacts);
    deployment
        .graph(&kinds, GraphOptions::default())
        .map_err(|errors| texts(&errors))
}

#[test]
fn resources_that_name_their_files_come_after_the_artifact() {
    let db = package("Db", &[], "Package: [{file: /etc/db}]");
    let web = package(
        "Web",
        &[],
        "Package: [{link: /srv/web, target: \"${package.files}/web\"}, {file: /etc/web}]",
    );
    let packages = [db, web];
    let graph = graph_with_files(&packages, false, false).expect("it is valid");
    assert_eq!(ids(&graph).len(), 4);
    let expected = "artifact:a.Web -> link:/srv/web".to_owned();
    assert!(edges(&graph).contains(&expected), "{:?}", edges(&graph));
}

#[test]
fn all_artifacts_are_unpacked_if_that_is_wanted() {
    let db = package("Db", &[], "Package: []");
    let web = package("Web", &[], "Package: [{artifact: a.Db}]");
    let packages = [db, web];
    let graph = graph_with_files(&packages, true, false).expect("it is valid");
    let mut ids_of_both = ids(&graph);
    ids_of_both.sort();
    assert_eq!(ids_of_both, ["artifact:a.Db", "artifact:a.Web"]);
    let none = graph_with_files(&packages[..1], false, false).expect("it is valid");
    assert!(none.nodes().is_empty());
}

#[test]
fn an_artifact_has_one_name() {
    let named = |name: &str, is_side_by_side: bool| {
        let resources = format!("Package: [{{artifact: \"{name}\"}}]");
        let packages = [package("Web", &[], &resources)];
        let graph = graph_with_files(&packages, false, is_side_by_side);
        graph.map(|graph| ids(&graph))
    };
    assert_eq!(
        named("a.Web", false).expect("it is locked"),
        ["artifact:a.Web"]
    );
    assert_eq!(
        named("a.Web@1.2.0", true).expect("it is locked"),
        ["artifact:a.Web@1.2.0"]
    );
    for (name, is_side_by_side, hint) in [
        ("a.Web@1.2.0", false, "write `a.Web`"),
        ("a.Web", true, "write `a.Web@1.2.0` or `a.Web@2.0.0`"),
        ("a.Wed", false, "did you mean `a.Web`?"),
    ] {
        let errors = named(name, is_side_by_side).expect_err("no release is named so");
        let expected = format!("no locked release with an artifact is `{name}`");
        assert!(
            errors[0].contains(&expected) && errors[0].contains(hint),
            "{errors:?}"
        );
    }
}

#[test]
fn a_file_has_the_content_of_one_of_its_package() {
    let right = package("Web", &[], "Package: [{file: /etc/page, source: page}]");
    let graph = graph_with_files(&[right], false, false).expect("it is valid");
    let folder = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir(folder.path().join("etc")).expect("a new folder");
    let machine = Arc::new(Machine::root_folder(folder.path()).expect("it is there"));
    let (_control, controlled) = std::sync::mpsc::channel();
    let options = DriveOptions::default();
    let ending = drive(graph, machine, &options, controlled, |_| {});
    assert_eq!(ending.status, Status::Converged);
    let written = std::fs::read(folder.path().join("etc/page")).expect("it was written");
    assert_eq!(written, b"page of a.Web\0");

    let wrong = package(
        "Web",
        &[],
        "Package:\n- {file: /a, source: pag}\n- {file: /b, source: broken}\n- {file: /c, source: ../d}\n- {file: /e, \
         source: page, content: e}\n",
    );
    let errors = graph_with_files(&[wrong], false, false).expect_err("nothing is valid");
    let expected = [
        "a.Web 1.2.0 has no file `pag`",
        "the archive is damaged",
        "../d",
        "`source` and `content` both say what is in the file",
    ];
    assert_eq!(errors.len(), expected.len(), "{errors:?}");
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.contains(expected), "{errors:?}");
    }
}
