//! Explaining conflicts of many packages, or of many versions.

use pkgres_manifest::{IndexRecord, Limits, RegistryName, ReleaseSource};
use pkgres_resolver::{Request, Resolver, Step, Supply};

use crate::{Shape, allocations};

/// The sum of all allocations for two packages with 30,000 versions each. Without the limit, it is 1.9 GB.
const MAX_BYTES: usize = 1_000_000_000;

/// The packages `C0`, `C1` and so on as lines of an index: each requires the next one and extends its class.
fn chain(prefix: &str, length: usize, last: &str) -> Vec<String> {
    let line = |at: usize| {
        let next = if at + 1 == length {
            last.to_owned()
        } else {
            format!("[\"{prefix}{}\",\"1\"]", at + 1)
        };
        let parent = next.split('"').nth(1).expect("a name");
        format!(
            "{{\"name\":\"{prefix}{at}\",\"version\":\"1.0.0\",\"require\":[{next}],\
             \"classes\":{{\"{prefix}{at}.C\":{{\"extends\":[\"{parent}.C\"]}}}}}}"
        )
    };
    (0..length).map(line).collect()
}

/// A root, and packages whose classes extend each other in a circle.
fn cycle(size: usize) -> Vec<u8> {
    let mut lines =
        vec![r#"{"name":"Root","version":"1.0.0","require":[["C0","1"]],"classes":{}}"#.to_owned()];
    lines.extend(chain("C", size / 50, r#"["C0","1"]"#));
    lines.join("\n").into_bytes()
}

/// A root that extends the ends of two chains, at whose other ends are two versions of a class.
fn diamond(size: usize) -> Vec<u8> {
    let mut lines = vec![
        r#"{"name":"Root","version":"1.0.0","require":[["C0","1"],["D0","1"]],"classes":{"Root.C":{"extends":["C0.C","D0.C"]}}}"#.to_owned(),
        r#"{"name":"Z","version":"1.0.0","classes":{"Z.C":{}}}"#.to_owned(),
        r#"{"name":"Z","version":"2.0.0","classes":{"Z.C":{}}}"#.to_owned(),
    ];
    lines.extend(chain("C", size / 100, r#"["Z","1"]"#));
    lines.extend(chain("D", size / 100, r#"["Z","2"]"#));
    lines.join("\n").into_bytes()
}

/// A root that requires a missing version of a package. Each version of this package and of another one has a requirement
/// of its own on the other.
fn versions(size: usize) -> Vec<u8> {
    let mut lines = vec![r#"{"name":"Root","version":"1.0.0","require":[["A","9"]]}"#.to_owned()];
    let count = size / 100;
    lines.extend((0..count).map(|at| {
        let next = at + 1;
        format!(r#"{{"name":"A","version":"1.{at}.0","require":[["B","1.{next}"]]}}"#)
    }));
    lines.extend(
        (0..count).map(|at| {
            format!(r#"{{"name":"B","version":"1.{at}.0","require":[["A","<1.{at}"]]}}"#)
        }),
    );
    lines.join("\n").into_bytes()
}

/// A root that requires the newest version of the first package, which requires a missing version of the second one. A
/// change that would repair that is looked for in all of its versions.
fn newest_version(count: usize) -> Vec<u8> {
    let text = String::from_utf8(versions(count * 100)).expect("a text");
    text.replacen("\"9\"", &format!("\"1.{}\"", count - 1), 1)
        .into_bytes()
}

/// Sets of so many versions count as steps, so that their limit ends a search for repairs.
#[test]
fn repairs_among_many_versions_take_little_memory() {
    let input = newest_version(30_000);
    let work = allocations::during(|| explain(&input));
    assert!(work.bytes < MAX_BYTES, "{} bytes", work.bytes);
}

/// Solves for the first line, and prints why there is no solution.
fn explain(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    let records = text.lines().map(|line| {
        IndexRecord::parse_line(line, &Limits::default()).expect("the lines are records")
    });
    let mut records = records.collect::<Vec<_>>().into_iter().peekable();
    let mut request = Request::new(records.next().expect("there is a root"));
    request.core = None;
    let mut resolver = Resolver::new(request);
    while let Some(first) = records.next() {
        let name = first.name.clone();
        let mut of_name = vec![first];
        while let Some(next) = records.next_if(|next| next.name == name) {
            of_name.push(next);
        }
        let supply = Supply::Releases {
            source: ReleaseSource::Registry(RegistryName::parse("a").expect("a name")),
            records: of_name,
        };
        resolver.provide(&name, supply).expect("a name comes once");
    }
    let conflict = loop {
        match resolver.step() {
            Step::Impossible => {}
            Step::Conflict(conflict) => break conflict,
            step => panic!("{step:?}"),
        }
    };
    for reason in &conflict.reasons {
        assert!(!reason.text.is_empty());
    }
}

/// All shapes of conflicts.
pub(crate) fn shapes() -> Vec<Shape> {
    let shape = |name: &str, make: fn(usize) -> Vec<u8>| Shape {
        name: format!("conflict: {name}"),
        make: Box::new(make),
        read: explain,
        limit: 1 << 20,
    };
    vec![
        shape("a cycle of classes", cycle),
        shape("classes of two versions", diamond),
        shape("requirements of many versions", versions),
    ]
}
