//! Random packages with classes and interfaces, in which the library and the reference must agree.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pkgres_checks::conformance;
use pkgres_manifest::{ClassName, Facts};
use pkgres_tests::random::Random;
use pkgres_tests::seeds;

use crate::packages::{Text, bind};
use crate::reference::{Argument, Class, Function, Kind, Platforms, World};

const FUNCTIONS: [&str; 7] = [
    "start",
    "stop",
    "reload",
    "hold",
    "_own",
    "initialize",
    ".init",
];
const ARGUMENTS: [&str; 4] = ["a", "b", "c", "d"];
const KEYS: [&str; 5] = ["os", "OS", "os_family", "osfamily", "role"];
const VALUES: [&str; 5] = ["Debian", "debian", "Windows", "web", "DB"];
const VERSIONS: [&str; 4] = ["1.0.0", "1.2.0", "2.0.0", "2.1.0"];

fn signature(random: &mut Random) -> Vec<Argument> {
    let mut arguments = Vec::new();
    let mut names = ARGUMENTS.to_vec();
    if random.chance(30) {
        random.shuffle(&mut names);
    }
    let count = random.weighted(&[35, 35, 20, 10]);
    for name in names.into_iter().take(count) {
        arguments.push(Argument {
            name: name.to_owned(),
            kind: Kind::Standard,
            has_default: random.chance(40),
        });
    }
    for kind in [Kind::VarArgs, Kind::KwArgs] {
        if random.chance(25) {
            let name = if kind == Kind::VarArgs {
                "args"
            } else {
                "kwargs"
            };
            arguments.push(Argument {
                name: name.to_owned(),
                kind,
                has_default: false,
            });
        }
    }
    arguments
}

fn pairs(random: &mut Random, most: usize) -> Vec<(String, String)> {
    let count = random.between(1, most);
    let pair = |random: &mut Random| {
        let (key, value) = (*random.pick(&KEYS), *random.pick(&VALUES));
        (key.to_owned(), value.to_owned())
    };
    (0..count).map(|_| pair(random)).collect()
}

fn platforms(random: &mut Random) -> Option<Platforms> {
    random.chance(35).then(|| Platforms(pairs(random, 3)))
}

fn methods(random: &mut Random, chance: usize) -> BTreeMap<String, Vec<Argument>> {
    let mut methods = BTreeMap::new();
    for name in FUNCTIONS {
        if random.chance(chance) {
            methods.insert(name.to_owned(), signature(random));
        }
    }
    methods
}

fn world(seed: u64) -> World {
    let random = &mut Random::new(seed);
    let version = |random: &mut Random| (*random.pick(&VERSIONS)).to_owned();
    let mut interfaces = BTreeMap::new();
    for number in 0..random.between(1, 2) {
        let mut functions = Vec::new();
        // An interface has no functions that only the engine calls; private ones it may have.
        for name in FUNCTIONS.iter().take(5) {
            if !random.chance(60) {
                continue;
            }
            let (supported, mut not_applicable) = (platforms(random), platforms(random));
            if let (Some(one), Some(other)) = (&supported, &not_applicable)
                && one.has_a_pair_of(other)
            {
                not_applicable = None;
            }
            let deprecated = random.chance(30).then(|| {
                let (since, removed) = (random.chance(60), random.chance(50));
                let since = since.then(|| VERSIONS[random.below(2)].to_owned());
                (since, removed.then(|| "2.0.0".to_owned()))
            });
            functions.push(Function {
                name: (*name).to_owned(),
                arguments: signature(random),
                supported,
                not_applicable,
                deprecated,
            });
        }
        interfaces.insert(format!("p.iface.I{number}"), functions);
    }
    let mut classes: Vec<Class> = Vec::new();
    classes.push(Class {
        package: "core".to_owned(),
        name: "core.Object".to_owned(),
        extends: Vec::new(),
        methods: methods(random, 10),
        implements: Vec::new(),
    });
    for (package, count) in [("p.Base", 2), ("p.App", random.between(1, 3))] {
        for number in 0..count {
            let known = classes.iter().skip(1).map(|class| class.name.clone());
            let mut known: Vec<String> = known.collect();
            random.shuffle(&mut known);
            known.truncate(random.weighted(&[40, 40, 20]));
            let mut implements: Vec<String> = interfaces.keys().cloned().collect();
            implements.retain(|_| package == "p.App" && random.chance(75));
            classes.push(Class {
                package: package.to_owned(),
                name: format!("{package}.C{number}"),
                extends: known,
                methods: methods(random, 30),
                implements,
            });
        }
    }
    World {
        interface_version: version(random),
        interfaces,
        classes,
    }
}

fn arguments_text(arguments: &[Argument]) -> String {
    let arguments = arguments.iter().map(|argument| {
        let mut keys = Vec::new();
        match argument.kind {
            Kind::Standard => {}
            Kind::VarArgs => keys.push("Usage: VarArgs"),
            Kind::KwArgs => keys.push("Usage: KwArgs"),
        }
        if argument.has_default {
            keys.push("Default: 1");
        }
        format!("{}: {{{}}}", argument.name, keys.join(", "))
    });
    let arguments: Vec<String> = arguments.collect();
    format!("[{}]", arguments.join(", "))
}

fn platforms_text(platforms: &Platforms) -> String {
    // A key is written once, with all of its values.
    let mut by_key: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, value) in &platforms.0 {
        by_key.entry(key).or_default().push(value);
    }
    let keys = by_key
        .iter()
        .map(|(key, values)| format!("{key}: [{}]", values.join(", ")));
    format!("{{{}}}", keys.collect::<Vec<_>>().join(", "))
}

fn interface_text(functions: &[Function]) -> String {
    let mut text = "Functions:\n".to_owned();
    for function in functions {
        let mut keys = vec![format!(
            "Arguments: {}",
            arguments_text(&function.arguments)
        )];
        if let Some(supported) = &function.supported {
            keys.push(format!("Supported: {}", platforms_text(supported)));
        }
        if let Some(not_applicable) = &function.not_applicable {
            keys.push(format!("NotApplicable: {}", platforms_text(not_applicable)));
        }
        if let Some((since, removed_in)) = &function.deprecated {
            let since = since.iter().map(|since| format!("since: {since}"));
            let removed = removed_in
                .iter()
                .map(|version| format!("removed_in: {version}"));
            let all: Vec<String> = since.chain(removed).collect();
            keys.push(match all.as_slice() {
                [] => "Deprecated: true".to_owned(),
                _ => format!("Deprecated: {{{}}}", all.join(", ")),
            });
        }
        writeln!(text, "  {}: {{{}}}", function.name, keys.join(", "))
            .expect("writing to a string does not fail");
    }
    text
}

fn class_text(class: &Class) -> String {
    let mut text = String::new();
    if !class.extends.is_empty() {
        writeln!(text, "Extends: [{}]", class.extends.join(", ")).expect("likewise");
    }
    text.push_str("Methods:\n");
    for (name, arguments) in &class.methods {
        let arguments = arguments_text(arguments);
        writeln!(text, "  {name}: {{Arguments: {arguments}}}").expect("likewise");
    }
    text
}

fn texts(world: &World) -> Vec<Text> {
    let interfaces: Vec<(String, String)> = world
        .interfaces
        .iter()
        .map(|(name, functions)| (name.clone(), interface_text(functions)))
        .collect();
    let borrow = |pairs: &[(String, String)]| -> Vec<(String, String)> { pairs.to_vec() };
    let mut texts = vec![{
        let interfaces = borrow(&interfaces);
        let interfaces: Vec<(&str, &str)> = interfaces
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        Text::new("p.iface", &world.interface_version).interfaces(&interfaces)
    }];
    for package in ["core", "p.Base", "p.App"] {
        let own = || {
            world
                .classes
                .iter()
                .filter(|class| class.package == package)
        };
        let classes: Vec<(String, String)> = own()
            .map(|class| (class.name.clone(), class_text(class)))
            .collect();
        let classes: Vec<(&str, &str)> = classes
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let mut text = Text::new(package, "1.0.0").classes(&classes);
        for class in own().filter(|class| !class.implements.is_empty()) {
            let implements: Vec<&str> = class.implements.iter().map(String::as_str).collect();
            text = text.implements(&class.name, &implements);
        }
        if package != "core" {
            text = text.requires("core", "1.0.0");
        }
        if package == "p.App" {
            text = text
                .requires("p.Base", "1.0.0")
                .requires("p.iface", &world.interface_version);
        }
        texts.push(text);
    }
    texts
}

/// Compares all statuses of a random world on some random platforms. Returns how many of each there were.
fn compare(seed: u64) -> BTreeMap<String, usize> {
    let world = world(seed);
    let (mut packages, releases) = bind(&texts(&world));
    packages.root_class = Some(ClassName::parse("core.Object").expect("a name"));
    let classes = conformance(&packages, releases.last().expect("there are packages"));
    let mut counts = BTreeMap::new();
    let mut random = Random::new(!seed);
    for _ in 0..4 {
        let known = pairs(&mut random, 3);
        let facts = Facts::from_pairs(known.iter().map(|(key, value)| (key, value)));
        let mut found: BTreeMap<(String, String, String), String> = BTreeMap::new();
        for class in &classes {
            let of_interfaces = class.interfaces.iter().flat_map(|interface| {
                let name = interface.interface.value.as_str();
                interface
                    .functions
                    .iter()
                    .map(move |function| (name, function))
            });
            let undeclared = class.undeclared.iter().map(|function| ("-", function));
            for (interface, function) in of_interfaces.chain(undeclared) {
                let Some(capability) = function.capability(&facts) else {
                    continue;
                };
                let key = (
                    class.class.value.to_string(),
                    interface.to_owned(),
                    function.name.to_owned(),
                );
                let status = capability.status().to_string();
                *counts.entry(status.clone()).or_default() += 1;
                assert!(found.insert(key, status).is_none(), "{seed}");
            }
        }
        assert_eq!(
            found,
            world.statuses(&known),
            "seed {seed}: {known:?}\n{world:#?}"
        );
    }
    counts
}

#[test]
fn statuses_are_those_of_the_rules() {
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    for counts in seeds::for_all(seeds::count(1500), compare) {
        for (status, count) in counts {
            *total.entry(status).or_default() += count;
        }
    }
    // Each status is exercised.
    assert_eq!(total.len(), 7, "{total:?}");
    let least = total.values().min().expect("there are statuses");
    assert!(*least > 100, "{total:?}");
}
