//! What the engine reads: inventories, the state that it keeps on a machine, and the facts of a machine.

use std::path::Path;

use pkgres_engine::{
    AppliedState, Fault, Inventory, Kinds, SimulatedMachine, StateLocation, read_facts,
};
use pkgres_manifest::Limits;

use crate::property::{checked, is_safe};
use crate::seeds::texts;
use crate::target::Target;

/// The fuzz targets of the engine.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "inventory",
        run: inventory,
        seeds: || texts(&INVENTORIES),
        words: &[
            "targets:\n",
            "- local:\n",
            "- ssh://root@web1:22\n",
            "- rootfs:images/web\n",
            "- {name: a, target: 'local:'}\n",
            "facts: {a: [b, c]}",
            "arguments: {size: 010}",
            "model: m.yaml",
            "-oProxyCommand=id",
        ],
        quick: 3_000,
    },
    Target {
        name: "machine_state",
        run: machine_state,
        seeds: || texts(&STATES),
        words: &[
            "\"state\":1",
            "\"resource\":\"file:/a\"",
            "\"resources\":[\"file:/a\"]",
            "\"before\":null",
            "\"properties\":{\"a\":[\"b\"]}",
            "\"position\":18446744073709551615",
            "[[[[",
        ],
        quick: 3_000,
    },
    Target {
        name: "machine_facts",
        run: |input| {
            let text = String::from_utf8_lossy(input);
            let _ = read_facts(&text, "x86_64");
        },
        seeds: || {
            texts(&[
                "NAME=\"Debian GNU/Linux\"\nID=debian\nVERSION_ID=\"12\"\n",
                "ID=ubuntu\nID_LIKE=debian\nVERSION_ID='24.04'\n",
                "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
            ])
        },
        words: &["ID=", "ID_LIKE=", "VERSION_ID=", "debian", "rhel", "=="],
        quick: 3_000,
    },
];

const INVENTORIES: [&str; 3] = [
    "targets:\n- ssh://root@web1.example.org\n- name: db\n  target: ssh://root@db.example.org\n  facts: {role: db}\n  model: db.yaml\n  arguments: {size: 10}\n",
    "targets:\n- ssh://root@web1\n- {name: two, target: 'rootfs:two', facts: {role: [db, web]}}\n",
    r#"{"targets": [{"name": "a", "target": "local:", "model": "m.yaml", "arguments": {"web:size": 1, "x": ""}}]}"#,
];

const STATES: [&str; 3] = [
    r#"{"state":1,"application":"a","resources":["file:/a"],"begun":["file:/b"],"refreshes":["service:c"]}"#,
    r#"{"state":1,"resource":"file:/a","position":1,"after":["file:/b"],"before":{"kind":"file","name":"/a","properties":{"state":"absent","list":["a",{"b":"c"}]}},"contents":["ab"]}"#,
    r#"{"state":1,"resource":"package:a","position":0,"after":[],"before":null,"contents":[]}"#,
];

/// Machines have names without blanks, no two the same, and locations that are read as they are written.
fn inventory(input: &[u8]) {
    let Some(inventory) = checked(Inventory::read("hosts.yaml", input, &Limits::default())) else {
        return;
    };
    let mut names: Vec<&str> = Vec::new();
    for target in &inventory.targets {
        assert!(!target.name.chars().any(char::is_whitespace));
        assert_eq!(
            target.target.to_string().parse().as_ref(),
            Ok(&target.target)
        );
        names.push(&target.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), inventory.targets.len());
}

/// A file of the state, as the list of resources and as a record, is read or damaged.
fn machine_state(input: &[u8]) {
    for file in ["applied.json", "before/a.json"] {
        let machine = SimulatedMachine::new(|_, _| Fault::None);
        machine.change(|files| {
            let folder = Path::new("/state/app");
            files.insert(folder.join(file), input.to_vec());
        });
        let location = StateLocation::new("app").in_folder("/state");
        match AppliedState::read(&machine, location, Kinds::default()) {
            Ok(state) => drop(state),
            Err(error) => is_safe(&error),
        }
    }
}
