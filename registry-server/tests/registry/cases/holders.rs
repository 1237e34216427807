//! Who may do what: owners and tokens.

use std::collections::BTreeSet;

use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::{Actor, NewToken, ProblemCode, Scope};
use pkgres_tests::archives::archive;
use pkgres_tests::build;

use crate::support::{Place, actor, code, publish_as};

pub(super) fn owners(place: &Place) {
    let registry = place.open();
    let all = [Scope::Publish, Scope::Yank, Scope::Owners];
    let ann = actor("ann", &all, &[]);
    let bob = actor("bob", &all, &[]);
    let bytes = |version: &str| archive("org.acme.Web", version, &[]);
    let as_whom = |who: &Actor, version: &str| {
        publish_as(&registry, who, "org.acme.Web", version, bytes(version)).map(|_| ())
    };
    // Whoever comes first owns the name.
    assert_eq!(as_whom(&ann, "1.0.0"), Ok(()));
    assert_eq!(as_whom(&bob, "1.1.0"), Err(ProblemCode::NotOwner));
    assert_eq!(registry.artifact(&Digest::of(&bytes("1.1.0"))), Ok(None));
    // Tokens are for scopes and names.
    assert_eq!(
        as_whom(&actor("ann", &[Scope::Yank], &[]), "1.1.0"),
        Err(ProblemCode::Forbidden)
    );
    let elsewhere = actor("ann", &all, &["org.other.*"]);
    assert_eq!(as_whom(&elsewhere, "1.1.0"), Err(ProblemCode::Forbidden));
    let here = actor("ann", &all, &["org.acme.*"]);
    assert_eq!(as_whom(&here, "1.1.0"), Ok(()));

    let name = build::package("org.acme.Web");
    let both = BTreeSet::from(["ann".to_owned(), "bob".to_owned()]);
    let set = |who: &Actor, generation, owners: &BTreeSet<String>| {
        registry
            .set_owners(who, &name, generation, owners)
            .map_err(code)
    };
    assert_eq!(set(&bob, 0, &both), Err(ProblemCode::NotOwner));
    assert_eq!(set(&ann, 0, &both), Ok(1));
    assert_eq!(set(&ann, 0, &both), Err(ProblemCode::ConcurrentUpdate));
    assert_eq!(registry.package(&name).expect("a package").owners, both);
    assert_eq!(as_whom(&bob, "1.2.0"), Ok(()));
    let only_bob = BTreeSet::from(["bob".to_owned()]);
    assert_eq!(set(&bob, 1, &only_bob), Ok(2));
    assert_eq!(as_whom(&ann, "1.3.0"), Err(ProblemCode::NotOwner));
    let version = build::version("1.0.0");
    let outcome = registry
        .set_yanked(&ann, &name, &version, Some("mine"))
        .map_err(code);
    assert_eq!(outcome, Err(ProblemCode::NotOwner));
    assert_eq!(as_whom(&Actor::operator(), "1.3.0"), Ok(()));
}

pub(super) fn tokens(place: &Place) {
    let registry = place.open();
    let new = |owner: &str| NewToken {
        owner: owner.to_owned(),
        scopes: BTreeSet::from([Scope::Publish]),
        names: Vec::new(),
        note: "for tests".to_owned(),
        expires: None,
    };
    let (ann, secret) = registry.create_token(&new("ann")).expect("a token");
    let (bob, other) = registry.create_token(&new("bob")).expect("a token");
    assert_ne!(secret, other);
    assert!(
        secret.starts_with("pkgres_") && secret.len() > 64,
        "{secret}"
    );
    let holder = actor("ann", &[Scope::Publish], &[]);
    let seen = |who: &Actor| -> Vec<String> {
        let tokens = registry.tokens(who).expect("tokens");
        tokens.into_iter().map(|token| token.owner).collect()
    };
    assert_eq!(seen(&holder), ["ann"]);
    assert_eq!(seen(&Actor::operator()).len(), 2);
    // Others cannot remove it, and do not learn that it is there.
    let outcome = registry.remove_token(&holder, &bob.id).map_err(code);
    assert_eq!(outcome, Err(ProblemCode::NoSuchToken));
    assert_eq!(registry.remove_token(&holder, &ann.id), Ok(()));
    assert_eq!(seen(&holder), [""; 0]);
    // The secret is nowhere in the data.
    drop(registry);
    for entry in std::fs::read_dir(&place.storage.data).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let bytes = std::fs::read(&path).expect("a file");
            let found = bytes
                .windows(other.len())
                .any(|window| window == other.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}

pub(super) fn first_token(place: &Place) {
    let registry = place.open();
    // An interrupted start is made good by the next one.
    let failed = registry.create_first_token(|_| Err(code_of("the disk is full")));
    assert_eq!(
        failed.map_err(|problem| problem.detail),
        Err("the disk is full".to_owned())
    );
    let mut kept = String::new();
    let made = registry.create_first_token(|secret| {
        secret.clone_into(&mut kept);
        Ok::<_, pkgres_registry_server::Problem>(())
    });
    assert_eq!(made, Ok(true));
    assert!(kept.starts_with("pkgres_"));
    let again = registry.create_first_token(|_| Err(code_of("it is made once")));
    assert_eq!(again, Ok(false));
}

fn code_of(detail: &str) -> pkgres_registry_server::Problem {
    pkgres_registry_server::Problem::new(ProblemCode::Internal, detail)
}
