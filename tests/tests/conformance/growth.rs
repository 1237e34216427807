//! Work grows with the number of classes, and no faster.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pkgres_checks::conformance;
use pkgres_manifest::Facts;

use crate::packages::{Text, bind};

/// A package with classes that implement one interface, each with an inherited function, one of its own, one that is
/// missing and one that is not declared.
fn classes(count: usize) -> [Text; 2] {
    let mut functions = "Functions:\n".to_owned();
    for function in 0..20 {
        writeln!(
            functions,
            "  f{function}: {{Arguments: [a: {{}}], Supported: {{os: Debian}}}}"
        )
        .expect("writing to a string does not fail");
    }
    let interface =
        Text::new("org.example.iface", "1.0.0").interfaces(&[("org.example.iface.I", &functions)]);
    let names: Vec<String> = (0..count).map(|at| format!("org.example.C{at}")).collect();
    let text = "Extends: org.example.Base\nMethods: {f1: {Arguments: [a: {}]}, g: {}}\n";
    let mut all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text)).collect();
    all.push(("org.example.Base", "Methods: {f0: {Arguments: [a: {}]}}\n"));
    let mut module = Text::new("org.example.Module", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&all);
    for name in &names {
        module = module.implements(name, &["org.example.iface.I"]);
    }
    [interface, module]
}

/// The shortest of several runs.
fn time(count: usize) -> Duration {
    let (packages, releases) = bind(&classes(count));
    let facts = Facts::from_pairs([("os", "Debian")]);
    let run = || {
        let start = Instant::now();
        let classes = conformance(&packages, &releases[1]);
        let functions = classes.iter().flat_map(|class| class.functions());
        let statuses = functions.filter_map(|function| function.capability(&facts));
        // 20 of the interface, and one that is not declared.
        assert_eq!(statuses.count(), 21 * count);
        start.elapsed()
    };
    (0..5).map(|_| run()).min().expect("there are runs")
}

#[test]
fn ten_times_as_many_classes_take_ten_times_as_long() {
    let (few, many) = (time(300), time(3000));
    // The machine is busy with other tests: twice is tolerated, quadratic would be a hundred times.
    let ratio = many.as_secs_f64() / few.as_secs_f64();
    eprintln!("300 classes: {few:?}, 3000 classes: {many:?}, {ratio:.1} times as long");
    assert!(ratio < 20.0, "{ratio}");
}
