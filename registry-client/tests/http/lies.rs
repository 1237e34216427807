//! Random lies: whatever is changed in the responses of a signed registry, its packages are the right ones, or it is an
//! error.

use pkgres_registry_client::protocol::SigningKey;

use crate::fake::{Fake, Received, Reply, World};
use crate::{connect, options, some, versions};

/// The number of registries that lie.
const ROUNDS: u64 = 100;

/// A generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).expect("it is below the limit")
    }
}

/// Changes a body: its bytes or its lines.
fn change(random: &mut Random, body: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = body
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let at = random.below(lines.len());
    match random.below(8) {
        0 => {
            let at = random.below(body.len());
            if let Some(byte) = body.get_mut(at) {
                *byte ^= 1 << random.below(7);
            }
            return;
        }
        1 => return body.truncate(random.below(body.len())),
        2 => return body.clear(),
        // A digit of a serial, an index or a length.
        3 => {
            let digits: Vec<usize> = (0..body.len())
                .filter(|at| body[*at].is_ascii_digit())
                .collect();
            if let Some(at) = digits.get(random.below(digits.len())) {
                body[*at] = b'0' + u8::try_from(random.below(10)).expect("a digit");
            }
            return;
        }
        4 if !lines.is_empty() => drop(lines.remove(at)),
        5 if !lines.is_empty() => lines.push(lines[at].clone()),
        6 if !lines.is_empty() => lines.swap(0, at),
        _ => lines.reverse(),
    }
    *body = lines.concat();
}

/// Responds as the protocol says, except that some responses are changed, are those of an older state, or are those to
/// other requests.
fn lying(
    world: World,
    old: World,
    mut random: Random,
) -> impl FnMut(&Received) -> Reply + Send + 'static {
    let target = random.below(4);
    let mut count = 0;
    move |request| {
        let is_lie = count == target || random.below(4) == 0;
        count += 1;
        let mut reply = world.answer(request);
        if !is_lie {
            return reply;
        }
        match random.below(8) {
            0 => old.answer(request),
            1 => {
                let statuses = [204, 206, 304, 404, 410, 451, 200];
                reply.status = statuses[random.below(statuses.len())];
                reply
            }
            2 => {
                let mut other = request.clone();
                let paths = [
                    "/index/v1/names.ndjson",
                    "/index/v1/snapshot.json",
                    "/index/v1/packages/a.!a.ndjson",
                    "/index/config.json",
                    "/index/v1/changes?since=0",
                ];
                paths[random.below(paths.len())].clone_into(&mut other.path);
                "GET".clone_into(&mut other.method);
                world.answer(&other)
            }
            3 => {
                let mut other = request.clone();
                other.body = br#"{"names":{"a.A":null},"closure":false}"#.to_vec();
                world.answer(&other)
            }
            _ => {
                change(&mut random, &mut reply.body);
                reply
            }
        }
    }
}

#[test]
fn a_lie_is_never_believed() {
    let key = SigningKey::from_bytes(&[7; 32]).public();
    let mut errors = 0;
    for seed in 1..=ROUNDS {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..8 {
            random.below(2);
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut old = World::new();
        old.is_mirror = random.below(2) == 0;
        if random.below(4) == 0 {
            old.room = 1;
        }
        for (package, requires) in [
            ("a.A", &["a.D", "a.None"][..]),
            ("a.B", &["a.D"]),
            ("a.D", &[]),
            ("a.Z", &["a.A"]),
        ] {
            old.add(package, "1.0.0", requires);
        }
        let mut world = old.clone();
        world.add("a.A", "1.1.0", &["a.C"]);
        world.add("a.C", "1.0.0", &[]);
        let fake = Fake::of(&old);
        let mut options = options(folder.path());
        options.retry.attempts = 1;
        options.key = Some(key);
        let names = ["a.A", "a.B", "a.C", "a.D", "a.None", "b.None"];
        if random.below(2) == 0 {
            let some = &names[..random.below(names.len())];
            versions(&connect(&fake, options.clone()), some).expect("the truth");
        }
        fake.answer(lying(world, old, random));
        let one = some(&["1.0.0"]);
        let two = some(&["1.0.0", "1.1.0"]);
        // The older state is signed as well, and has not expired.
        let states = [
            [two, one.clone(), one.clone(), one.clone(), None, None],
            [one.clone(), one.clone(), None, one, None, None],
        ];
        let mut is_new = false;
        for _ in 0..3 {
            let registry = connect(&fake, options.clone());
            match versions(&registry, &names) {
                Ok(found) => {
                    // The registry may change between two requests of a run.
                    let is_right = |at: usize| states.iter().any(|state| state[at] == found[at]);
                    assert!((0..names.len()).all(is_right), "seed {seed}: {found:?}");
                    // Once the newer state was seen, the older one is a lie.
                    assert!(!is_new || found == states[0], "seed {seed}");
                    is_new = found == states[0];
                }
                Err(_) => errors += 1,
            }
        }
    }
    assert!(errors > 0);
}
