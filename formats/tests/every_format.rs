//! Rules that apply to every format, each with a project that is its own release.

use std::collections::BTreeMap;

use pkgres_formats::{ALL, FileTree, Format, FormatFile, ReleaseExtent};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    Bindings, IndexRecord, Limits, LockedPackage, LockedRequirement, Lockfile, ReadOptions,
    RegistryName, Release, ReleaseSource,
};

/// A root with the files around it.
struct Example {
    /// The name of the file of the root, and its text.
    root: (&'static str, &'static str),
    /// The other files of its folder.
    files: &'static [(&'static str, &'static str)],
    /// The package and the version of the root, in the spelling of the ecosystem.
    release: (&'static str, &'static str),
}

impl Example {
    fn of(format: &dyn Format) -> Self {
        match format.ecosystem().id() {
            "murano" => Self {
                root: (
                    "manifest.yaml",
                    "FullName: org.acme.Web\nVersion: 1.2.3\nType: Library\nRequire: {org.acme.Db: '>=2'}\n\
                     Classes: {org.acme.Web: Web.yaml}\n",
                ),
                files: &[(
                    "Classes/Web.yaml",
                    "Name: org.acme.Web\nExtends: org.acme.Db\n",
                )],
                release: ("org.acme.Web", "1.2.3"),
            },
            "ansible" => Self {
                root: (
                    "galaxy.yml",
                    "namespace: acme\nname: web\nversion: 1.2.3\nreadme: README.md\nauthors: [acme]\n\
                     dependencies: {acme.db: '>=2.0.0'}\n",
                ),
                files: &[(
                    "plugins/modules/page.py",
                    "from ansible_collections.acme.db.plugins.module_utils.sql import run\n",
                )],
                release: ("acme.web", "1.2.3"),
            },
            "opcua" => Self {
                root: (
                    "Web.NodeSet2.xml",
                    r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
<NamespaceUris><Uri>urn:web</Uri><Uri>urn:db</Uri></NamespaceUris>
<Models><Model ModelUri="urn:web" Version="1.2.3" PublicationDate="2024-01-31T00:00:00Z">
<RequiredModel ModelUri="urn:db" Version="2.0" PublicationDate="2023-01-31T00:00:00Z"/></Model></Models>
<UAObjectType NodeId="ns=1;i=1" BrowseName="1:Page"><References>
<Reference ReferenceType="HasSubtype" IsForward="false">ns=2;i=1</Reference></References></UAObjectType>
</UANodeSet>"#,
                ),
                files: &[],
                release: ("urn:web", "1.2.3@2024-01-31"),
            },
            other => panic!("no example of {other}"),
        }
    }

    fn file(&self) -> FormatFile<'static> {
        let (path, text) = self.root;
        FormatFile {
            path,
            bytes: text.as_bytes(),
        }
    }

    /// The record of the release, as a registry has it.
    fn record(&self, format: &dyn Format) -> IndexRecord {
        let read = format.read_releases(&self.file(), self, &ReadOptions::default());
        let (mut releases, findings) = read.into_result().expect("it can be read");
        assert!(findings.is_empty(), "{findings:?}");
        let release = releases.pop().expect("the root is a release");
        assert!(releases.is_empty(), "{releases:?}");
        let mut record = release.record;
        record.digest = Some(release.digest);
        record
    }
}

impl FileTree for Example {
    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        let files = self.files.iter().chain([&self.root]);
        let mut paths: Vec<String> = files.map(|(path, _)| (*path).to_owned()).collect();
        paths.sort();
        Ok(paths)
    }

    fn read(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let mut files = self.files.iter().chain([&self.root]);
        let found = files.find(|(known, _)| *known == path);
        Ok(found.map(|(_, text)| text.as_bytes().to_vec()))
    }
}

fn each() -> impl Iterator<Item = (&'static str, &'static dyn Format, Example)> {
    let formats = ALL.iter().copied();
    formats.map(|format| (format.ecosystem().id(), format, Example::of(format)))
}

#[test]
fn a_root_is_a_release_with_classes() {
    for (id, format, example) in each() {
        let file = example.file();
        assert!(format.is_root(&file), "{id}");
        let read = format.read_root(&file, &example, &ReadOptions::default());
        let (root, _) = read.into_result().expect(id);
        let record = example.record(format);
        assert_eq!(root.record.release(), record.release(), "{id}");
        assert_eq!(root.record.classes, record.classes, "{id}");
        let release = record.release();
        let stated = (release.name.as_str(), release.version.to_string());
        assert_eq!((stated.0, stated.1.as_str()), example.release, "{id}");
        assert_eq!(record.ecosystem, format.ecosystem(), "{id}");
        let classes = record.classes.as_deref().unwrap_or_default();
        assert!(classes.iter().any(|one| !one.extends.is_empty()), "{id}");
    }
}

/// Commands write ranges into files and lockfiles.
#[test]
fn written_ranges_can_be_read() {
    for (id, format, example) in each() {
        let ecosystem = format.ecosystem();
        let version = ecosystem.version(example.release.1).expect(id);
        let spec = ecosystem.compatible_with(&version);
        assert!(spec.matches(&version), "{id}: {spec}");
        for text in [spec.written(), &spec.normal_form()] {
            let again = ecosystem.spec(text).expect(id);
            assert_eq!(again.set(), spec.set(), "{id}: {text}");
        }
    }
}

#[test]
fn index_records_are_read_as_they_were_written() {
    for (id, format, example) in each() {
        let ecosystem = format.ecosystem();
        let mut record = example.record(format);
        record.requirements.change(|requirements| {
            for requirement in requirements {
                requirement.location = None;
            }
        });
        let line = ecosystem.write_record(&record);
        let again = ecosystem.read_record(&line, &Limits::default()).expect(id);
        assert_eq!(again, record, "{id}");
    }
}

#[test]
fn lockfiles_are_read_as_they_were_written() {
    for (id, format, example) in each() {
        let ecosystem = format.ecosystem();
        let record = example.record(format);
        let source = ReleaseSource::Registry(RegistryName::parse("default").expect("a name"));
        let package = LockedPackage {
            source,
            digest: record.digest,
            requires: Bindings::default(),
        };
        let spec = ecosystem.compatible_with(&record.version).normal_form();
        let bound = LockedRequirement {
            spec: ecosystem.spec(&spec).expect(id),
            version: record.version.clone(),
        };
        let Release { name, version } = record.release();
        let requirement = &record.requirements[0];
        let lock = Lockfile {
            ecosystem,
            roots: BTreeMap::from([(
                requirement.package.clone(),
                BTreeMap::from([(name.clone(), bound)]),
            )]),
            packages: BTreeMap::from([(Release::new(name, version), package)]),
            ..Lockfile::default()
        };
        let text = lock.to_text();
        let read = Lockfile::read_of_ecosystems(
            "pkgres.lock",
            text.as_bytes(),
            &Limits::default(),
            pkgres_formats::ECOSYSTEMS,
        );
        assert_eq!(read.into_result().expect(id).0, lock, "{id}");
    }
}

/// A file is read by the first format that claims it.
#[test]
fn no_format_claims_the_files_of_another_one() {
    for (id, format, example) in each() {
        let mut names = vec![example.file()];
        let record = example.record(format);
        let artifact = format.artifact_name(&record.name, &record.version);
        names.push(FormatFile {
            path: &artifact,
            bytes: b"",
        });
        assert!(format.is_release_name(example.root.0), "{id}");
        assert!(format.is_release_name(&artifact), "{id}: {artifact}");
        for file in &names {
            for other in ALL
                .iter()
                .filter(|other| other.ecosystem() != format.ecosystem())
            {
                let other_id = other.ecosystem().id();
                assert!(!other.is_root(file), "{other_id}: {}", file.path);
                let extent = other.release_extent(file);
                let extent = extent.filter(|_| other.is_release_name(file.name()));
                assert_eq!(extent, None::<ReleaseExtent>, "{other_id}: {}", file.path);
            }
        }
    }
}
