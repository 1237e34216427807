use pkgres_registry_client::*;
use pkgres_manifest::*;
use pkgres_resolver::*;
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let options = ReadOptions::default();
    let t = std::time::Instant::now();
    let reg = DirectoryRegistry::open(RegistryName::parse("default").unwrap(), dir.as_ref(), &options).unwrap();
    let names: Vec<_> = reg.names().cloned().collect();
    let set = RegistrySet::new(vec![Box::new(reg)]);
    for s in set.take_findings() { println!("{s}"); }
    for n in names {
        let sup = set.supply(&[n.clone()]).unwrap().remove(0);
        for s in set.take_findings() { println!("FIND {s}"); }
        let Supply::Releases { records, .. } = sup else { panic!() };
        for r in records {
            let mut res = Resolver::new(Request::new(r.clone()));
            match drive(&mut res, &set).unwrap() {
                Answer::Solved(s) => println!("{} {} -> {}", r.name, r.version, s.packages.iter().map(|p| format!("{} {}", p.name, p.version)).collect::<Vec<_>>().join(", ")),
                Answer::Conflict(c) => { println!("{} {} CONFLICT {} {}", r.name, r.version, c.code, c.summary); for r in &c.reasons { println!("     {}", r.text) } for h in &c.hints { println!("     hint {h}") } },
                other => println!("{other:?}"),
            }
        }
    }
    println!("{:?}", t.elapsed());
}
