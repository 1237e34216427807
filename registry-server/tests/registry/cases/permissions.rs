//! Permissions: owners and tokens.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use jiff::Timestamp;
use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::{
    Credential, NewToken, Principal, ProblemCode, RegistryOptions, Scope,
};
use pkgres_tests::archives::archive;
use pkgres_tests::build;
use serde_json::json;

use crate::support::{Place, code, get, principal, publish_as, publish_plain};

pub(super) fn owners(place: &Place) {
    let registry = place.open();
    let all = [Scope::Publish, Scope::Yank, Scope::Owners];
    let ann = principal("ann", &all, &[]);
    let bob = principal("bob", &all, &[]);
    let bytes = |version: &str| archive("org.acme.Web", version, &[]);
    let as_whom = |who: &Principal, version: &str| {
        publish_as(&registry, who, "org.acme.Web", version, bytes(version)).map(|_| ())
    };
    // The first publisher owns the name.
    assert_eq!(as_whom(&ann, "1.0.0"), Ok(()));
    assert_eq!(as_whom(&bob, "1.1.0"), Err(ProblemCode::NotOwner));
    assert_eq!(registry.artifact(&Digest::of(&bytes("1.1.0"))), Ok(None));
    // Tokens are limited to scopes and names.
    assert_eq!(
        as_whom(&principal("ann", &[Scope::Yank], &[]), "1.1.0"),
        Err(ProblemCode::Forbidden)
    );
    let elsewhere = principal("ann", &all, &["org.other.*"]);
    assert_eq!(as_whom(&elsewhere, "1.1.0"), Err(ProblemCode::Forbidden));
    // A common prefix is not a namespace; a namespace contains the package of its own name.
    let almost = principal("ann", &all, &["org.acm.*"]);
    assert_eq!(as_whom(&almost, "1.1.0"), Err(ProblemCode::Forbidden));
    let named = principal("ann", &all, &["org.acme.Web.*"]);
    assert_eq!(as_whom(&named, "1.0.1"), Ok(()));
    let here = principal("ann", &all, &["org.acme.*"]);
    assert_eq!(as_whom(&here, "1.1.0"), Ok(()));

    let name = build::package("org.acme.Web");
    // Each release has the credential that it was published with.
    assert_eq!(as_whom(&Principal::operator(), "1.1.1"), Ok(()));
    for (version, credential) in [
        ("1.1.0", &here.credential),
        ("1.1.1", &Credential::Operator),
    ] {
        let release = registry.release(&name, &build::version(version));
        assert_eq!(release.expect("a release").credential, *credential);
    }
    let both = BTreeSet::from(["ann".to_owned(), "bob".to_owned()]);
    let set = |who: &Principal, generation, owners: &BTreeSet<String>| {
        registry
            .set_owners(who, &name, generation, owners)
            .map_err(code)
    };
    assert_eq!(set(&bob, 0, &both), Err(ProblemCode::NotOwner));
    // Without owners, anybody could publish it.
    let nobody = BTreeSet::new();
    assert_eq!(set(&ann, 0, &nobody), Err(ProblemCode::BodyInvalid));
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
    assert_eq!(as_whom(&Principal::operator(), "1.3.0"), Ok(()));
}

pub(super) fn tokens(place: &Place) {
    let registry = place.open();
    let operator = Principal::operator();
    let make = |owner: &str| {
        let new = new_token(owner, &[Scope::Publish], &[], None);
        registry.create_token(&operator, &new).expect("a token")
    };
    let ((ann, secret), (bob, other)) = (make("ann"), make("bob"));
    assert_ne!(secret, other);
    assert!(
        secret.starts_with("pkgres_") && secret.len() > 64,
        "{secret}"
    );
    let credential = principal("ann", &[Scope::Tokens], &[]);
    let seen = |who: &Principal| -> Vec<String> {
        let tokens = registry.tokens(who).expect("tokens");
        tokens.into_iter().map(|token| token.owner).collect()
    };
    assert_eq!(seen(&credential), ["ann"]);
    assert_eq!(seen(&operator).len(), 2);
    // Others cannot remove it, and do not learn that it exists.
    let outcome = registry.remove_token(&credential, &bob.id).map_err(code);
    assert_eq!(outcome, Err(ProblemCode::NoSuchToken));
    assert_eq!(registry.remove_token(&credential, &ann.id), Ok(()));
    assert_eq!(seen(&credential), [""; 0]);
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

/// Managing tokens needs a scope, and no token gives more than it has.
pub(super) fn rights_of_tokens(place: &Place) {
    let registry = place.open();
    let operator = Principal::operator();
    let time =
        |seconds: i64| Some(Timestamp::from_second(1_800_000_000 + seconds).expect("a time"));
    let (publish, tokens) = (Scope::Publish, Scope::Tokens);
    let make = |who: &Principal, new: &NewToken| {
        let made = registry.create_token(who, new).map_err(code);
        made.map(|(token, _)| token.id)
    };
    let by_operator = |owner: &str, scopes: &[Scope], names: &[&str]| {
        let new = new_token(owner, scopes, names, time(9_000));
        make(&operator, &new).expect("a token")
    };
    let everything = by_operator("ann", &[Scope::Admin], &[]);
    let everywhere = by_operator("ann", &[publish], &[]);
    let here = by_operator("ann", &[Scope::Delete], &["org.acme.Web"]);
    let of_bob = by_operator("bob", &[publish], &["org.acme.Web"]);

    let forbidden = ProblemCode::Forbidden;
    let with_token = |owner: &str, scopes: &[Scope], id: &str| {
        let credential = Credential::Token(id.to_owned());
        Principal::new(credential, owner, scopes.iter().copied())
            .with_names(principal(owner, scopes, &["org.acme.*"]).names)
            .with_expiry(time(60))
    };
    // The token of a job that publishes: it sees no other token.
    let job_token = by_operator("ann", &[publish], &["org.acme.*"]);
    let job = with_token("ann", &[publish], &job_token);
    assert_eq!(registry.tokens(&job).map_err(code), Err(forbidden));
    assert_eq!(
        make(
            &job,
            &new_token("ann", &[publish], &["org.acme.*"], time(1))
        ),
        Err(forbidden)
    );
    for id in [&everything, &everywhere, &here, &of_bob] {
        assert_eq!(
            registry.remove_token(&job, id).map_err(code),
            Err(forbidden)
        );
    }

    // A token for tokens, for some names and until some time.
    let lead_token = by_operator("ann", &[tokens, publish], &["org.acme.*"]);
    let lead = with_token("ann", &[tokens, publish], &lead_token);
    let seen = registry.tokens(&lead).expect("tokens");
    let seen: BTreeSet<String> = seen.into_iter().map(|token| token.id).collect();
    let expected = [&here, &job_token, &lead_token].map(Clone::clone);
    assert_eq!(seen, BTreeSet::from(expected));
    for id in [&everything, &everywhere, &of_bob] {
        let outcome = registry.remove_token(&lead, id).map_err(code);
        assert_eq!(outcome, Err(ProblemCode::NoSuchToken));
    }
    assert_eq!(registry.remove_token(&lead, &here), Ok(()));
    for more in [
        new_token("ann", &[publish, Scope::Yank], &["org.acme.*"], time(60)),
        new_token("ann", &[Scope::Admin], &["org.acme.*"], time(60)),
        new_token("bob", &[publish], &["org.acme.*"], time(60)),
        new_token("ann", &[publish], &[], time(60)),
        new_token("ann", &[publish], &["org.*"], time(60)),
        new_token("ann", &[publish], &["org.acme.Web", "org.Other"], time(60)),
        new_token("ann", &[publish], &["org.acme.*"], time(61)),
        new_token("ann", &[publish], &["org.acme.*"], None),
    ] {
        assert_eq!(make(&lead, &more), Err(forbidden), "{more:?}");
    }
    let less = new_token("ann", &[publish, tokens], &["org.acme.Web"], time(60));
    assert!(make(&lead, &less).is_ok());
    // A removed token creates none, even on a node that still trusts it.
    assert_eq!(registry.remove_token(&lead, &lead_token), Ok(()));
    assert_eq!(make(&lead, &less), Err(ProblemCode::Unauthorized));

    // Every token may remove itself.
    assert_eq!(registry.remove_token(&job, &job_token), Ok(()));
    let again = registry.remove_token(&job, &job_token).map_err(code);
    assert_eq!(again, Err(ProblemCode::NoSuchToken));
    // A token for everything needs the scope `admin`.
    let all_of_ann = principal("ann", &[tokens], &[]);
    let outcome = registry
        .remove_token(&all_of_ann, &everything)
        .map_err(code);
    assert_eq!(outcome, Err(ProblemCode::NoSuchToken));
    assert_eq!(registry.remove_token(&all_of_ann, &everywhere), Ok(()));
    // The last one for everything stays: nobody could create another one.
    let outcome = registry.remove_token(&operator, &everything).map_err(code);
    assert_eq!(outcome, Err(ProblemCode::NotChangeable));
    let expired = new_token("ann", &[Scope::Admin], &[], time(60));
    assert!(make(&operator, &expired).is_ok());
    place.seconds.fetch_add(120, Ordering::Relaxed);
    let outcome = registry.remove_token(&operator, &everything).map_err(code);
    assert_eq!(outcome, Err(ProblemCode::NotChangeable));
    let another = registry.create_admin_token(|secret| {
        assert!(secret.starts_with("pkgres_"));
        Ok::<_, pkgres_registry_server::Problem>(())
    });
    assert_eq!(another, Ok(()));
    assert_eq!(registry.remove_token(&operator, &everything), Ok(()));
    assert_eq!(registry.remove_token(&operator, &of_bob), Ok(()));
}

/// Older versions created tokens for some names with scopes for the whole registry. These scopes have no effect, and
/// are not shown.
pub(super) fn limited_tokens_of_older_versions(place: &Place) {
    let registry = Arc::new(place.open_with(RegistryOptions::default().with_private(true)));
    let operator = Principal::operator();
    let make = |scopes: &[Scope]| {
        let new = new_token("ann", scopes, &[], None);
        registry.create_token(&operator, &new).expect("a token")
    };
    let all = make(&[Scope::Admin]);
    let both = make(&[Scope::Admin, Scope::Read, Scope::Tokens, Scope::Publish]);
    publish_plain(&registry, "org.acme.Web", "1.0.0");
    let readable = |secret: &str| {
        let paths = ["packages", "packages/org.acme.Web", "catalog/packages"];
        paths.map(|path| get(&registry, &format!("/v1/{path}"), Some(secret)).0)
    };
    assert_eq!(readable(&all.1), [200; 3]);
    assert_eq!(readable(&both.1), [200; 3]);
    place.execute("UPDATE tokens SET names = 'org.other.*'");
    assert_eq!(readable(&all.1), [403; 3]);
    assert_eq!(readable(&both.1), [403; 3]);
    let scopes = |secret: &str| get(&registry, "/v1/whoami", Some(secret)).1["scopes"].clone();
    assert_eq!(scopes(&all.1), json!([]));
    assert_eq!(scopes(&both.1), json!(["publish", "tokens"]));
    assert_eq!(get(&registry, "/v1/tokens", Some(&all.1)).0, 403);
    let (status, listed) = get(&registry, "/v1/tokens", Some(&both.1));
    assert_eq!(status, 200);
    let listed = listed["tokens"].as_array().expect("a list").iter();
    let mut listed: Vec<String> = listed.map(|token| token["scopes"].to_string()).collect();
    listed.sort();
    assert_eq!(listed, [r#"["publish","tokens"]"#, "[]"]);
}

fn new_token(
    owner: &str,
    scopes: &[Scope],
    names: &[&str],
    expires: Option<Timestamp>,
) -> NewToken {
    let as_asked = principal(owner, scopes, names);
    NewToken::new(owner, scopes.iter().copied())
        .with_names(as_asked.names)
        .with_note("for tests")
        .with_expiry(expires)
}

pub(super) fn first_token(place: &Place) {
    let registry = place.open();
    // The next start repairs an interrupted one.
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

/// A secret that is kept is that of a valid token.
pub(super) fn first_token_of_many(place: &Place) {
    let registry = place.open();
    let (kept, start) = (AtomicUsize::new(0), Barrier::new(8));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let created = registry.create_first_token(|_| {
                    kept.fetch_add(1, Ordering::Relaxed);
                    Ok::<_, pkgres_registry_server::Problem>(())
                });
                created.expect("the database can be reached");
            });
        }
    });
    assert_eq!(kept.load(Ordering::Relaxed), 1);
}

fn code_of(detail: &str) -> pkgres_registry_server::Problem {
    pkgres_registry_server::Problem::new(ProblemCode::Internal, detail)
}
