//! SDKs load what is picked, in the order in which it is vendored: node-opcua and asyncua, with the files that node-opcua
//! ships.
//!
//! `PKGRES_NODE_OPCUA` names a folder with the npm packages `node-opcua-nodesets` and `node-opcua-address-space`, and
//! `PKGRES_ASYNCUA` a Python with `asyncua`. `.ci/run` installs both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use pkgres_formats::opcua::NodeSets;
use pkgres_formats::{Format as _, FormatFile};
use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{Answer, DirectoryRegistry, RegistrySet, drive};
use pkgres_resolver::{Request, Resolver};
use pkgres_tests::skip;

const UA: &str = "http://opcfoundation.org/UA/";

/// The roots, by the names of their files.
const ROOTS: [&str; 10] = [
    "Opc.Ua.AMB.NodeSet2.xml",
    "Opc.Ua.CNC.NodeSet.xml",
    "Opc.Ua.Di.NodeSet2.xml",
    "Opc.Ua.IA.NodeSet2.xml",
    "Opc.Ua.MachineTool.NodeSet2.xml",
    "Opc.Ua.Machinery.NodeSet2.xml",
    "Opc.Ua.Machinery.Jobs.Nodeset2.xml",
    "Opc.Ua.PackML.NodeSet2.xml",
    "Opc.Ua.Robotics.NodeSet2.xml",
    "Opc.Ua.Weihenstephan.NodeSet2.xml",
];

/// The path that a variable names, or `None` after reporting that it names none.
fn tool(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        skip::without_service(&format!("{variable} is not set"));
    }
    path
}

/// The files of a release and of all that is picked for it, in the order in which they are loaded.
fn closure(folder: &Path, root: &str) -> Vec<PathBuf> {
    let options = ReadOptions::default();
    let name = RegistryName::parse("files").expect("a name");
    let registry = DirectoryRegistry::open(name, folder, &options).expect("it can be read");
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let (mut paths, mut record) = (BTreeMap::new(), None);
    for entry in std::fs::read_dir(folder).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        let shown = path.to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let file = FormatFile {
            path: &shown,
            bytes: &bytes,
        };
        if !NodeSets.is_release_name(file.name()) || NodeSets.release_extent(&file).is_none() {
            continue;
        }
        let read = NodeSets.read_releases(&file, &(), &options).into_result();
        for release in read.expect("the files are right").0 {
            let key = (
                release.record.name.clone(),
                release.record.version.to_string(),
            );
            paths.insert(key, path.clone());
            if file.name() == root {
                record = Some(release.record);
            }
        }
    }
    let record = record.unwrap_or_else(|| panic!("{root} is there"));
    let mut request = Request::new(record.clone());
    request.core = None;
    request.options.single_version = true;
    let mut resolver = Resolver::new(request);
    let answer = drive(&mut resolver, &registries, &options).expect("it can be read");
    let Answer::Solved(resolution) = answer else {
        panic!("{root}: {answer:?}");
    };
    let mut picked: BTreeMap<PackageName, (PathBuf, Vec<PackageName>)> = BTreeMap::new();
    for release in resolution.packages() {
        let key = (release.name.clone(), release.version.to_string());
        let supplies = registries.supply(std::slice::from_ref(&release.name));
        let requires = match supplies.expect("it can be read").remove(0) {
            pkgres_resolver::Supply::Releases { records, .. } => {
                let found = records
                    .into_iter()
                    .find(|one| one.version == release.version);
                names(&found.expect("it was picked"))
            }
            other @ pkgres_resolver::Supply::Unknown => panic!("{other:?}"),
        };
        picked.insert(release.name.clone(), (paths[&key].clone(), requires));
    }
    let own = (record.name.clone(), record.version.to_string());
    picked.insert(record.name.clone(), (paths[&own].clone(), names(&record)));
    let mut order = Vec::new();
    visit(&record.name, &picked, &mut BTreeSet::new(), &mut order);
    order
}

fn names(record: &IndexRecord) -> Vec<PackageName> {
    let requirements = record.requirements.iter();
    requirements.map(|one| one.package.clone()).collect()
}

/// Adds what a model requires, and then the model.
fn visit(
    name: &PackageName,
    picked: &BTreeMap<PackageName, (PathBuf, Vec<PackageName>)>,
    seen: &mut BTreeSet<PackageName>,
    order: &mut Vec<PathBuf>,
) {
    if seen.insert(name.clone()) {
        let (path, requires) = &picked[name];
        for required in requires {
            visit(required, picked, seen, order);
        }
        order.push(path.clone());
    }
}

/// Runs a program, and returns its exit code and output.
fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/opcua_models")
        .join(name)
}

#[test]
fn node_opcua_loads_what_is_picked_without_a_diagnostic() {
    let Some(packages) = tool("PKGRES_NODE_OPCUA") else {
        return;
    };
    let folder = packages.join("node_modules/node-opcua-nodesets/nodesets");
    for root in ROOTS {
        let files = closure(&folder, root);
        let modules = packages.join("node_modules");
        let mut command = Command::new("node");
        let command = command
            .arg(script("load.js"))
            .args(&files)
            .env("NODE_PATH", modules);
        let (success, output) = run(command);
        let expected = format!("LOADED {}\n", files.len());
        assert!(success && output == expected, "{root}: {output}");
    }
}

#[test]
fn asyncua_loads_what_is_picked() {
    let (Some(packages), Some(python)) = (tool("PKGRES_NODE_OPCUA"), tool("PKGRES_ASYNCUA")) else {
        return;
    };
    let folder = packages.join("node_modules/node-opcua-nodesets/nodesets");
    for root in ROOTS {
        let mut files = closure(&folder, root);
        // OPC UA itself is built in, and comes first in every order.
        let core = files.remove(0);
        assert!(
            core.ends_with("Opc.Ua.NodeSet2.xml"),
            "{UA} is first: {core:?}"
        );
        let (success, output) = run(Command::new(&python).arg(script("load.py")).args(&files));
        // The namespaces of OPC UA and of the server, and one of each file.
        let expected = format!("LOADED {}", files.len() + 2);
        assert!(success && output.contains(&expected), "{root}: {output}");
    }
}
