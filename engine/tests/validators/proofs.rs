//! Proofs: which tests cannot be trusted, and what would change.

use pkgres_engine::{Cancellation, EntryKind, Machine, Overlay, ValidationProof};

use crate::support::{debian_root, defaults, findings, prepared, skipped, test, validation};

/// Proves a validation on the root of a Debian system.
fn prove(text: &str) -> Option<(Machine, ValidationProof)> {
    let root = debian_root()?;
    let place = tempfile::tempdir().expect("a folder for the overlay");
    let overlay = match Overlay::new(&root, place.path()) {
        Ok(overlay) => overlay,
        Err(error) => {
            skipped(&error.to_string());
            return None;
        }
    };
    let machine = Machine::root_folder(&root).expect("it has a root");
    let validation = validation(text);
    let proof = prepared(&validation, &[]).prove(
        &overlay,
        &machine,
        defaults(&validation),
        &Cancellation::default(),
    );
    Some((machine, proof.expect("it is not cancelled")))
}

/// The changes of a proof, with what is there before and afterwards.
fn changes(proof: &ValidationProof) -> Vec<String> {
    let letter = |kind: Option<EntryKind>| match kind {
        None => '-',
        Some(EntryKind::File) => 'f',
        Some(EntryKind::Folder) => 'd',
        Some(_) => 'o',
    };
    let changes = proof.changes.iter().map(|change| {
        let (before, after) = (letter(change.before), letter(change.after));
        format!("{before}{after} {}", change.path.display())
    });
    changes.collect()
}

#[test]
fn a_test_that_accepts_what_it_then_changes_is_named() {
    let text = "validators:\n\
        - script: {honest: {inline: '[ -e /etc/pkgres-a ] && exit 0; [ $test_only = 1 ] && exit 1; echo 1 > /etc/pkgres-a'}}\n\
        - script: {lying: {inline: '[ $test_only = 1 ] && exit 0; echo 2 > /etc/pkgres-b; mkfifo /etc/pkgres-pipe; rm /etc/debian_version'}}\n\
        - script: {quiet: {inline: 'cat /etc/passwd > /dev/null; sed -n 1p /etc/group > /dev/null'}}\n\
        - script: {again: {inline: '[ $test_only = 1 ] && exit 0; echo 3 > /etc/pkgres-a'}}\n\
        - script: {claims: {inline: '[ $test_only = 1 ] && exit 1; exit 0'}}\n";
    let Some((machine, proof)) = prove(text) else {
        return;
    };
    assert_eq!(
        findings(&proof.report),
        [
            "v.yaml:6:3: error[PK0112]: script claims made its changes and succeeded, but its test still fails: `claims` exited with code 1",
            "v.yaml:3:3: error[PK0112]: script lying succeeds if it may only test, but then changes /etc/debian_version, /etc/pkgres-b, /etc/pkgres-pipe",
            "v.yaml:5:3: error[PK0112]: script again succeeds if it may only test, but then changes /etc/pkgres-a",
        ]
    );
    assert_eq!(
        changes(&proof),
        [
            "f- /etc/debian_version",
            "-f /etc/pkgres-a",
            "-f /etc/pkgres-b",
            "-o /etc/pkgres-pipe"
        ]
    );
    // The machine itself is as before.
    let honest = text.lines().take(2).collect::<Vec<_>>().join("\n");
    assert_eq!(
        findings(&test(&honest, &machine)),
        ["v.yaml:2:3: error[PK0111]: `honest` exited with code 1"]
    );
}

#[test]
fn what_is_written_as_it_was_is_no_change() {
    let text = "validators:\n\
        - script: {same: {inline: 'cp -p /etc/passwd /tmp/p; cat /tmp/p > /etc/passwd; rm /tmp/p; chmod 644 /etc/group; true'}}\n\
        - package: [bash, dpkg]\n";
    let Some((_, proof)) = prove(text) else {
        return;
    };
    assert_eq!(changes(&proof), [] as [&str; 0]);
    // To write at all in test-only mode is still found out.
    let found = findings(&proof.report);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("PK0112"), "{found:?}");
}
