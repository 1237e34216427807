//! Random graphs of every kind on a real Debian system: the first run brings everything into order, and the second one
//! changes nothing, neither by its own report nor in any file.
//!
//! `CASES=100 cargo test -p pkgres-engine --test kinds random_graphs` runs more of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::channel;

use pkgres_engine::{
    Command, Directory, DriveOptions, Ending, Exec, File, Graph, GraphBuilder, Group, Guard, Link,
    Package, Query, Receipt, Resource, Service, Status, Step, Target, User, drive,
};
use pkgres_manifest::{MetaParameters, ResourceId};
use pkgres_tests::debian::REPOSITORY;
use proptest::prelude::*;
use proptest::strategy::Union;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::artifact::{Served, artifact, sample};
use crate::debian::Debian;
use crate::every_kind::assert_all_kinds;
use crate::service::define_unsupervised_web;

/// A kind of resource, with what differs between resources of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Group,
    User,
    Folder,
    File,
    Link,
    /// A command that makes a file.
    CreatedFile,
    /// A command that another one keeps from running again.
    Guarded,
    /// A command that runs after a change of the resources before it.
    Refreshed,
    /// A command that is asked, and a file with its answer.
    Answer,
    /// A folder that goes if it is empty, and its file, which goes.
    EmptiedFolder,
    /// A group and a user that go, whose primary group it is.
    RemovedAccounts,
    Service,
    Artifact,
    Package,
}

/// Every kind, and how often it is among random resources.
const KINDS: [(u32, Kind); 14] = [
    (3, Kind::Group),
    (3, Kind::User),
    (3, Kind::Folder),
    (3, Kind::File),
    (2, Kind::Link),
    (2, Kind::CreatedFile),
    (2, Kind::Guarded),
    (2, Kind::Refreshed),
    (2, Kind::Answer),
    (2, Kind::EmptiedFolder),
    (2, Kind::RemovedAccounts),
    (2, Kind::Service),
    (2, Kind::Artifact),
    (1, Kind::Package),
];

/// The kinds of which there can be one resource.
const SINGLE: [Kind; 3] = [Kind::Service, Kind::Artifact, Kind::Package];

#[derive(Debug, Clone)]
struct RandomResource {
    kind: Kind,
    is_absent: bool,
    variant: u8,
    /// The resources before it, as positions among those that come first.
    after: Vec<prop::sample::Index>,
    /// Whether it and the one before it are the members of a composite.
    is_member: bool,
}

fn resources() -> impl Strategy<Value = Vec<RandomResource>> {
    let kinds = KINDS.map(|(weight, kind)| (weight, Just(kind)));
    let kind = Union::new_weighted(kinds.to_vec());
    let one = (
        kind,
        prop::bool::weighted(0.2),
        0..3_u8,
        prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        prop::bool::weighted(0.2),
    );
    let one = one.prop_map(
        |(kind, is_absent, variant, after, is_member)| RandomResource {
            kind,
            is_absent,
            variant,
            after,
            is_member,
        },
    );
    let all = prop::collection::vec(one, 2..12);
    all.prop_map(|mut resources| {
        let mut seen = BTreeSet::new();
        resources.retain(|random| !SINGLE.contains(&random.kind) || seen.insert(random.kind));
        resources
    })
}

fn id(kind: &str, name: &str) -> ResourceId {
    ResourceId::new(kind, name).expect("it is an identity")
}

/// A graph as it is built.
#[derive(Default)]
struct Building {
    builder: GraphBuilder,
    groups: Vec<String>,
    users: Vec<String>,
    ids: Vec<ResourceId>,
}

impl Building {
    fn add(&mut self, id: ResourceId, resource: impl Resource + 'static) {
        self.builder
            .add(id.clone(), resource, MetaParameters::default());
        self.ids.push(id);
    }

    fn shell(text: &str) -> Command {
        Command::new("/bin/sh").arguments(["-c", text])
    }

    fn resource(&mut self, number: usize, random: &RandomResource) {
        let path = format!("/r{number}");
        let variant = random.variant;
        match random.kind {
            Kind::Group => {
                let name = format!("g{number}");
                let group = Group::new(&name);
                let group = match (random.is_absent, variant) {
                    (true, _) => group.absent(),
                    (false, 0) => group.system(),
                    (false, _) => group.with_number(3_000 + u32::try_from(number).unwrap_or(0)),
                };
                if !random.is_absent {
                    self.groups.push(name.clone());
                }
                self.add(id("group", &name), group);
            }
            Kind::User => {
                let name = format!("u{number}");
                let mut user = User::new(&name).with_comment(format!("user {variant}"));
                if let (Some(group), true) = (self.groups.first(), variant > 0) {
                    user = user.with_group(group);
                }
                user = match variant {
                    0 => user.system(),
                    1 => user.with_groups(self.groups.last()),
                    _ => user
                        .with_only_groups(self.groups.last())
                        .with_shell("/bin/sh"),
                };
                if random.is_absent {
                    user = User::new(&name).absent();
                } else {
                    self.users.push(name.clone());
                }
                self.add(id("user", &name), user);
            }
            Kind::Folder => {
                let folder = match (random.is_absent, self.users.last()) {
                    (true, _) => Directory::new(&path).absent(),
                    (false, Some(user)) => Directory::new(&path).with_owner(user),
                    (false, None) => Directory::new(&path).with_mode(0o750),
                };
                self.add(id("directory", &path), folder);
            }
            Kind::File => {
                let file = File::new(&path);
                let file = match (random.is_absent, variant) {
                    (true, _) => file.absent(),
                    (false, 0) => file.with_copy_of("/etc/issue"),
                    (false, _) => file.with_content(format!("content {variant}\n")),
                };
                let file = match (random.is_absent, self.groups.last()) {
                    (false, Some(group)) => file.with_group(group).with_mode(0o640),
                    _ => file,
                };
                self.add(id("file", &path), file);
            }
            Kind::Link => {
                let link = if random.is_absent {
                    Link::absent(&path)
                } else {
                    Link::new(&path, format!("to-{variant}"))
                };
                self.add(id("link", &path), link);
            }
            Kind::CreatedFile => {
                let command = Command::new("touch").argument(&path);
                let maker = Exec::new(command, Guard::creates(&path));
                self.add(id("exec", &format!("make-{number}")), maker);
            }
            Kind::Guarded => {
                let command = Self::shell(&format!("echo {variant} >>{path}"));
                let guard = Self::shell(&format!("grep -q {variant} {path}"));
                let guarded = Exec::new(command, Guard::Unless(guard));
                self.add(id("exec", &format!("guarded-{number}")), guarded);
            }
            Kind::Refreshed => {
                let command = Self::shell(&format!("echo refreshed >>{path}"));
                let refreshed = Exec::new(command, Guard::OnRefresh);
                self.add(id("exec", &format!("refreshed-{number}")), refreshed);
            }
            Kind::Answer => {
                let from = id("query", &format!("ask-{number}"));
                let command = Command::new("cat").argument("/etc/debian_version");
                self.add(from.clone(), Query::new(command));
                let file = id("file", &path);
                self.add(file.clone(), File::new(&path));
                let receipt = Receipt {
                    property: "content".to_owned(),
                    from,
                    value: "stdout".to_owned(),
                };
                self.builder.add_receipt(&file, receipt);
            }
            Kind::EmptiedFolder => {
                let folder = Directory::new(&path).absent_if_empty();
                self.add(id("directory", &path), folder);
                let file = format!("{path}/a");
                self.add(id("file", &file), File::new(&file).absent());
            }
            Kind::RemovedAccounts => {
                let (group, user) = (format!("gone{number}"), format!("user{number}"));
                self.add(id("group", &group), Group::new(&group).absent());
                self.add(id("user", &user), User::new(&user).absent());
            }
            Kind::Service => {
                let web = Service::new("web");
                let web = if random.is_absent {
                    web.disabled()
                } else {
                    web.enabled()
                };
                self.add(id("service", "web"), web);
            }
            Kind::Artifact => {
                let bytes = sample();
                let served = Served::new(bytes.clone());
                self.add(id("artifact", "org.example.Web"), artifact(&bytes, served));
            }
            Kind::Package => {
                let package = Package::new("sample");
                let package = match (random.is_absent, variant) {
                    (true, _) => package.absent(),
                    (false, 0) => package,
                    (false, _) => package.with_version(format!("{variant}.0")),
                };
                self.add(id("package", "sample"), package);
            }
        }
    }
}

fn build(resources: &[RandomResource]) -> Graph {
    let mut building = Building::default();
    for (number, random) in resources.iter().enumerate() {
        let known = building.ids.len();
        building.resource(number, random);
        let last = building.ids[building.ids.len() - 1].clone();
        for before in random.after.iter().filter(|_| known > 0) {
            let before = building.ids[before.index(known)].clone();
            if random.kind == Kind::Refreshed {
                building.builder.notify(before, last.clone());
            } else {
                building.builder.order(before, last.clone());
            }
        }
        if random.is_member && known > 1 {
            let members = vec![building.ids[known - 1].clone(), last];
            let composite = id("all", &format!("pair-{number}"));
            let first = building.ids[0].clone();
            building.builder.add_composite(composite.clone(), members);
            if known > 2 {
                building.builder.order(first, composite);
            }
        }
    }
    building.builder.build().expect("edges lead forward")
}

/// Makes what the resources shall remove.
fn prepare(debian: &Debian, resources: &[RandomResource]) {
    for (number, random) in resources.iter().enumerate() {
        match random.kind {
            Kind::EmptiedFolder => {
                debian.shell(&format!("mkdir /r{number} && touch /r{number}/a"));
            }
            Kind::RemovedAccounts => {
                let user = format!("useradd -M -g gone{number} user{number}");
                debian.shell(&format!("groupadd gone{number} && {user}"));
            }
            _ => {}
        }
    }
}

/// Runs a graph, and returns how it ended with what was changed.
fn apply(debian: &Debian, graph: Graph) -> (Ending, Vec<String>) {
    let (_control, controlled) = channel();
    let mut changed = Vec::new();
    let target: Arc<dyn Target> = debian.shared_machine();
    let options = DriveOptions::default();
    let ending = drive(graph, target, &options, controlled, |progress| {
        if let Step::Changed(id, _) = &progress.step {
            changed.push(id.to_string());
        }
    });
    (ending, changed)
}

/// A line for each file of the system that says when it was changed last.
fn files(debian: &Debian) -> String {
    debian.shell("find / -xdev -printf '%p %y %m %U %G %s %C@ %l\\n'")
}

#[test]
fn every_kind_is_among_the_random_ones() {
    let resources = KINDS.map(|(_, kind)| RandomResource {
        kind,
        is_absent: false,
        variant: 0,
        after: Vec::new(),
        is_member: false,
    });
    let graph = build(&resources);
    assert_all_kinds(graph.nodes().iter().map(|node| node.id.kind()));
}

#[test]
fn a_second_run_of_every_kind_changes_nothing() {
    let cases = std::env::var("CASES").ok().and_then(|it| it.parse().ok());
    let config = Config {
        cases: cases.unwrap_or(4),
        max_shrink_iters: 20,
        failure_persistence: None,
        ..Config::default()
    };
    if Debian::new().is_none() {
        return;
    }
    let result = TestRunner::new(config).run(&resources(), |resources| {
        let debian = Debian::new().expect("there was one before");
        debian.shell(REPOSITORY);
        define_unsupervised_web(&debian);
        prepare(&debian, &resources);
        let (ending, _) = apply(&debian, build(&resources));
        if ending.status != Status::Converged {
            return Err(TestCaseError::fail(format!("{:?}", ending.nodes)));
        }
        let once = files(&debian);
        let (ending, changed) = apply(&debian, build(&resources));
        prop_assert_eq!(ending.status, Status::Converged);
        prop_assert!(changed.is_empty(), "{:?}", changed);
        let twice = files(&debian);
        let differing: Vec<_> = twice.lines().filter(|line| !once.contains(line)).collect();
        prop_assert!(once == twice, "{:?}", differing);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
