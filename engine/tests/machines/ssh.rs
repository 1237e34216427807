//! Machines that are reached by ssh.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pkgres_engine::{
    Cancellable, Cancellation, EntryAttributes, Machine, Probe as _, SshAddress, SshMachine,
    SshOptions, Target, TargetError, TargetLocation,
};
use pkgres_tests::ssh::SshServer;

use crate::{by_ssh, connect, script};

#[test]
fn facts_are_those_of_the_machine_and_nothing_is_enforced() {
    let Some(subject) = by_ssh() else { return };
    let local = Machine::local().expect("this machine has a root");
    assert_eq!(
        subject.target.facts().to_string(),
        local.facts().to_string()
    );
    assert!(!subject.target.enforces_read_only());
    assert_eq!(subject.target.watchable(), None);
}

#[test]
fn a_host_key_that_is_not_known_is_not_accepted() {
    let Some(server) = SshServer::start() else {
        return;
    };
    let address = SshAddress::parse(&server.address()).expect("it is an address");
    let options = SshOptions::default().config(server.config_without_host_key());
    let error = SshMachine::connect(&address, &options).expect_err("its key is not known");
    let expected = format!("the connection to {address} failed: Host key verification failed.");
    assert_eq!(error.to_string(), expected);

    let location: TargetLocation = format!("ssh://{}", server.address())
        .parse()
        .expect("it is one");
    assert!(
        location
            .open(&SshOptions::default().config(server.config()))
            .is_ok()
    );
    let error = location.overlay().expect_err("there is none");
    assert!(matches!(error, TargetError::Unsupported(_)), "{error}");
}

#[test]
fn requests_of_many_threads_share_one_connection() {
    let Some(subject) = by_ssh() else { return };
    std::thread::scope(|scope| {
        for number in 0..16 {
            let subject = &subject;
            scope.spawn(move || {
                let path = subject.path(format!("file {number}"));
                let text = format!("{number}").repeat(number * 1000);
                let attributes = EntryAttributes::with_mode(0o600);
                let written = subject
                    .target
                    .write_file(&path, text.as_bytes(), attributes);
                written.expect("nothing prevents it");
                let output = subject.target.run(&script(&format!("echo {number}")));
                assert_eq!(output.expect("it runs").text(), format!("{number}\n"));
                assert_eq!(
                    subject.target.read(&path, 1 << 20).expect("it is there"),
                    text.as_bytes()
                );
            });
        }
    });
    let names = subject
        .target
        .names(&subject.path(""))
        .expect("it is a folder");
    assert_eq!(names.len(), 16);
}

/// sshd accepts ten sessions of a connection: requests, commands, a lock and signals share them.
#[test]
fn cancelled_commands_and_requests_of_many_threads_fit_into_one_connection() {
    let Some(subject) = by_ssh() else { return };
    let locked = subject.path("locked");
    std::fs::create_dir(subject.outside("locked")).expect("a new folder");
    let _lock = subject.target.lock(&locked).expect("nobody has it");
    for round in 0..2 {
        let cancellation = Cancellation::default();
        let target = &Cancellable::new(&*subject.target, cancellation.clone());
        let is_over = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            let requests = [(); 8].map(|()| {
                let subject = &subject;
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        let entry = subject.target.entry(&subject.path(""));
                        assert!(entry.expect("it has a session").is_some());
                    }
                })
            });
            let started = |number: usize| format!("started {round} {number}");
            let commands = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| {
                let path = subject.outside(started(number));
                let text = format!(": > '{}'; exec sleep 1000", path.display());
                scope.spawn(move || target.run(&script(&text)))
            });
            let count = || (0..8).filter(|number| subject.outside(started(*number)).exists());
            while count().count() < 4
                && !commands
                    .iter()
                    .any(std::thread::ScopedJoinHandle::is_finished)
            {
                std::thread::yield_now();
            }
            cancellation.kill();
            let ended = commands.map(|command| command.join().expect("it does not panic"));
            is_over.store(true, Ordering::Relaxed);
            for ended in ended {
                assert!(matches!(ended, Err(TargetError::Cancelled)), "{ended:?}");
            }
            for request in requests {
                request.join().expect("it does not panic");
            }
        });
    }
}

/// A script that creates a file, and ends once that is removed: nothing else ends a command whose connection is lost.
fn running_while_it_exists(file: &Path) -> String {
    let file = file.display();
    format!(": > '{file}'; while [ -e '{file}' ]; do sleep 0.1; done")
}

#[test]
fn a_lost_connection_is_an_error_and_made_again() {
    let Some(server) = SshServer::start() else {
        return;
    };
    let machine = &connect(&server);
    let folder = tempfile::tempdir().expect("a folder for the test");
    std::thread::scope(|scope| {
        let started = folder.path().join("started");
        let text = running_while_it_exists(&started);
        let waiting = scope.spawn(move || machine.run(&script(&text)));
        while !started.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        server.end_connections();
        let ended = waiting.join().expect("it does not panic");
        assert!(
            matches!(ended, Err(TargetError::Connection { .. })),
            "{ended:?}"
        );
    });
    // Whatever is left of the connection fails once at most.
    let _ = machine.entry(folder.path());
    assert!(
        machine
            .entry(folder.path())
            .expect("it connects again")
            .is_some()
    );
    let output = machine.run(&script("echo on")).expect("it connects again");
    assert_eq!(output.text(), "on\n");
}

#[test]
fn a_machine_that_stops_answering_is_given_up_once_the_run_is_killed() {
    let Some(server) = SshServer::start() else {
        return;
    };
    let cancellation = Cancellation::default();
    let address = SshAddress::parse(&server.address()).expect("it is an address");
    let options = SshOptions::default()
        .config(server.config())
        .cancellation(cancellation.clone());
    let machine = SshMachine::connect(&address, &options).expect("the server accepts the key");
    let target = &Cancellable::new(&machine, cancellation.clone());
    let folder = tempfile::tempdir().expect("a folder for the test");
    let lock = machine.lock(folder.path()).expect("nobody has it");
    let is_given_up = |error: &TargetError| {
        let text = "it did not answer until the run was over";
        matches!(error, TargetError::Connection { reason, .. } if reason == text)
    };
    let large = vec![b'x'; 8 << 20];
    std::thread::scope(|scope| {
        let started = folder.path().join("started");
        let text = running_while_it_exists(&started);
        let running = scope.spawn(move || target.run(&script(&text)));
        while !started.exists() {
            std::thread::yield_now();
        }
        server.stop_connections();
        let requests = [(); 6].map(|()| scope.spawn(|| machine.entry(folder.path())));
        let written = scope.spawn(|| {
            let path = folder.path().join("large");
            machine.write_file(&path, &large, EntryAttributes::with_mode(0o600))
        });
        cancellation.kill();
        let ended = running.join().expect("it does not panic");
        assert!(matches!(ended, Err(TargetError::Cancelled)), "{ended:?}");
        for request in requests {
            let ended = request.join().expect("it does not panic");
            assert!(ended.as_ref().is_err_and(is_given_up), "{ended:?}");
        }
        let ended = written.join().expect("it does not panic");
        assert!(ended.as_ref().is_err_and(is_given_up), "{ended:?}");
    });
    // It is not asked again, neither for the end of the lock nor for anything else.
    drop(lock);
    let ended = machine.entry(Path::new("/"));
    assert!(ended.as_ref().is_err_and(is_given_up), "{ended:?}");
}

#[test]
fn a_folder_is_locked_for_all_who_lock_it() {
    let Some(server) = SshServer::start() else {
        return;
    };
    let machine = connect(&server);
    let folder = tempfile::tempdir().expect("a folder for the test");
    let lock = machine.lock(folder.path()).expect("nobody has it");
    let lock = lock.expect("this machine has flock");
    let local = Machine::local().expect("this machine has a root");
    let again = connect(&server);
    let is_locked = |target: &dyn Target| {
        let locked = target.lock(folder.path());
        match locked {
            Err(TargetError::Locked {
                folder: path,
                holder,
            }) => {
                // It is this process, or the shell on the machine.
                path == folder.path() && holder.is_some()
            }
            _ => false,
        }
    };
    assert!(is_locked(&local));
    assert!(is_locked(&again));
    // The machine can be used by whoever has the lock.
    assert!(
        machine
            .run(&script("exit 0"))
            .expect("it runs")
            .is_success()
    );
    drop(lock);
    let lock = local.lock(folder.path()).expect("nobody has it");
    assert!(is_locked(&machine));
    drop(lock);
    let lock = again.lock(folder.path()).expect("nobody has it");
    assert!(lock.is_some());
    let error = again
        .lock(&folder.path().join("none"))
        .expect_err("it is missing");
    assert!(matches!(error, TargetError::File(error) if error.is_not_found()));
}
