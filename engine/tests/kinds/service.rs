//! Services: of runit, which supervises them, and of systemd, which does not run.

use std::path::Path;
use std::thread;
use std::time::Duration;

use pkgres_engine::{
    Checked, Command, EntryAttributes, Identifier, Input, Machine, Package, Probe as _, Resource,
    Service, Target as _, Watching,
};

use pkgres_tests::debian::UNSUPERVISED_WEB;

use crate::debian::{Debian, change, is_in_order, is_kept, try_change};

/// runit's supervision, which ends with the test.
struct Supervision<'machine>(&'machine Machine);

impl<'machine> Supervision<'machine> {
    fn start(machine: &'machine Machine) -> Self {
        // Whatever is still in the group of the command when it ends is killed, so it waits for the first service.
        let start = "setsid runsvdir /etc/service </dev/null >/dev/null 2>&1 & echo $! >/runsvdir.pid
            for _ in $(seq 100); do [ -e /etc/sv/web/supervise/ok ] && exit 0; sleep 0.1; done; exit 1";
        run(machine, start);
        Self(machine)
    }
}

impl Drop for Supervision<'_> {
    fn drop(&mut self) {
        // It ends what it supervises, and then itself. A test that failed needs no second error.
        let end = "sv -w 5 stop /etc/service/web; kill -HUP $(cat /runsvdir.pid)";
        let _ = self.0.run(&Command::new("sh").arguments(["-c", end]));
    }
}

fn run(machine: &Machine, text: &str) {
    let command = Command::new("sh").arguments(["-c", text]);
    let output = machine.run(&command).expect("there is a shell");
    assert!(output.is_success(), "{text}: {:?}", output.last_words());
}

/// A service that writes a line whenever it starts.
fn define_web(machine: &Machine) {
    let folder = Path::new("/etc/sv/web");
    let program = EntryAttributes::with_mode(0o755);
    machine
        .make_folder(folder, program)
        .expect("its parent is there");
    let script = b"#!/bin/sh\necho started >>/starts\nexec sleep 1000\n";
    machine
        .write_file(&folder.join("run"), script, program)
        .expect("its folder is there");
}

/// The same service on a machine on which nothing supervises.
pub(crate) fn define_unsupervised_web(debian: &Debian) {
    debian.shell(UNSUPERVISED_WEB);
}

/// Checks how often the service was started. It says so a little later than its supervisor.
fn assert_starts(debian: &Debian, expected: usize) {
    let mut starts = 0;
    for _ in 0..100 {
        let bytes = debian.machine().read(Path::new("/starts"), 1 << 20);
        starts = bytes.map_or(0, |bytes| bytes.split(|byte| *byte == b'\n').count() - 1);
        if starts >= expected {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(starts, expected);
}

#[test]
fn services_of_runit_are_started_repaired_and_stopped() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    // Packages of Debian itself, in one transaction.
    let (runit, hello) = (Package::new("runit"), Package::new("hello"));
    let both = runit.grouped(&[&runit, &hello]).expect("they fit together");
    change(machine, both.as_ref());
    assert_eq!(debian.shell("hello"), "Hello, world!\n");
    let log = debian.text("/var/log/apt/history.log");
    assert_eq!(log.matches("Start-Date").count(), 1, "{log}");

    let web = Service::new("web").running().enabled();
    let error = try_change(machine, &web)
        .expect_err("there is no such service")
        .to_string();
    assert_eq!(
        error,
        "the machine has no service `web`: there is no folder /etc/sv/web"
    );
    assert!(is_kept(machine, &Service::new("web").stopped().disabled()));
    define_web(machine);
    // Nothing supervises yet.
    let enabled = Service::new("web").enabled();
    assert_eq!(change(machine, &enabled), ["start: disabled -> enabled"]);
    assert_eq!(
        change(machine, &enabled.clone().disabled()),
        ["start: enabled -> disabled"]
    );
    let _supervision = Supervision::start(machine);

    let by_hand = Service::new("web").running().disabled();
    assert_eq!(change(machine, &by_hand), ["state: stopped -> running"]);
    assert_eq!(change(machine, &web), ["start: disabled -> enabled"]);
    assert_starts(&debian, 1);
    let Watching::Paths(paths) = web.watching(machine) else {
        panic!("its state is in files");
    };
    for path in [
        "supervise/pid",
        "supervise/stat",
        "supervise/status",
        "down",
    ] {
        assert!(
            paths.contains(&Path::new("/etc/sv/web").join(path)),
            "{paths:?}"
        );
    }

    // Somebody takes it down, and it is repaired.
    run(
        machine,
        "sv -w 10 down web && test \"$(cat /etc/sv/web/supervise/stat)\" = down",
    );
    assert_eq!(change(machine, &web), ["state: stopped -> running"]);
    assert_starts(&debian, 2);

    // It is killed. Its supervisor starts it again within a second, unless the engine does so first.
    run(machine, "kill -9 $(cat /etc/sv/web/supervise/pid)");
    try_change(machine, &web).expect("it is started again");
    assert_starts(&debian, 3);
    assert!(is_in_order(machine, &web));

    // A change of what it needs starts it again, unless it is started anyway.
    let notified = Input {
        refresh: true,
        ..Input::default()
    };
    match web.check(machine, &notified).expect("it can be checked") {
        Checked::Drift(change) => {
            let differences = change.differences();
            assert_eq!(differences[0].to_string(), "state: running -> restarted");
            change.apply(machine).expect("it is started again");
        }
        Checked::InOrder(_) | Checked::Kept(_) => panic!("it was notified"),
    }
    assert_starts(&debian, 4);

    let stopped = Service::new("web").stopped();
    assert_eq!(change(machine, &stopped), ["state: running -> stopped"]);
    let checked = stopped
        .check(machine, &notified)
        .expect("it can be checked");
    assert!(matches!(checked, Checked::InOrder(_)), "{checked:?}");
    assert_eq!(
        change(machine, &stopped.disabled()),
        ["start: enabled -> disabled"]
    );

    // One that ends at once cannot be kept running.
    let failing = EntryAttributes::with_mode(0o755);
    machine
        .write_file(
            Path::new("/etc/sv/web/run"),
            b"#!/bin/sh\nsleep 0.1; exit 1\n",
            failing,
        )
        .expect("its folder is there");
    let checked = Service::new("web")
        .running()
        .check(machine, &Input::default());
    assert!(matches!(checked, Ok(Checked::Drift(_))), "{checked:?}");

    // One whose program cannot be run is not begun.
    let precheck = || {
        let checked = Service::new("web")
            .running()
            .check(machine, &Input::default());
        match checked.expect("it can be checked") {
            Checked::Drift(change) => change.precheck(machine).map_err(|it| it.to_string()),
            other => panic!("it does not run: {other:?}"),
        }
    };
    assert_eq!(precheck(), Ok(()));
    run(machine, "chmod 0644 /etc/sv/web/run");
    assert_eq!(
        precheck(),
        Err(
            "it cannot be started: /etc/sv/web/run is not executable, which `mode: 0755` makes it"
                .to_owned()
        )
    );
    run(machine, "rm /etc/sv/web/run");
    assert_eq!(
        precheck(),
        Err("it cannot be started: there is no program /etc/sv/web/run".to_owned())
    );
}

#[test]
fn a_stopped_service_is_enabled_without_a_start() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    define_unsupervised_web(&debian);
    let enabled = Service::new("web").enabled();
    change(machine, &enabled);
    assert_eq!(debian.shell("readlink /etc/service/web"), "/etc/sv/web\n");
    change(machine, &Service::new("web").disabled());
    assert!(
        machine
            .entry(Path::new("/etc/sv/web/down"))
            .expect("it can be read")
            .is_some()
    );
    change(machine, &enabled);
    assert!(
        machine
            .entry(Path::new("/etc/sv/web/down"))
            .expect("it can be read")
            .is_none()
    );
    assert!(is_in_order(machine, &enabled.stopped()));

    let error = try_change(machine, &Service::new("web").running());
    assert_eq!(
        error.expect_err("nothing supervises it").to_string(),
        "no `runsvdir` supervises /etc/service/web, so the service cannot be started: runit does not run on this machine"
    );
}

#[test]
fn units_of_systemd_are_enabled_in_a_root_folder() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    change(machine, &Package::new("systemd"));
    debian.shell(
        "cd /etc/systemd/system && printf '[Service]\\nExecStart=/bin/true\\n' >fixed.service && cp fixed.service web.service \
         && printf '[Install]\\nWantedBy=multi-user.target\\n' >>web.service",
    );
    let enabled = Service::new("web").enabled();
    assert_eq!(change(machine, &enabled), ["start: disabled -> enabled"]);
    let link = "/etc/systemd/system/multi-user.target.wants/web.service";
    assert!(
        machine
            .entry(Path::new(link))
            .expect("it can be read")
            .is_some()
    );
    assert!(is_in_order(machine, &Service::new("web").stopped()));
    let disabled = Service::new("web").disabled();
    assert_eq!(change(machine, &disabled), ["start: enabled -> disabled"]);
    assert!(
        machine
            .entry(Path::new(link))
            .expect("it can be read")
            .is_none()
    );

    let error = |service: Service| {
        let changed = try_change(machine, &service);
        changed.expect_err("that cannot be").to_string()
    };
    assert_eq!(
        error(Service::new("fixed").enabled()),
        "the unit `fixed.service` is static: it cannot be enabled, as it has no section `[Install]`"
    );
    assert_eq!(
        error(Service::new("missing").enabled()),
        "the machine has no unit `missing.service`"
    );
    assert_eq!(
        error(Service::new("web").running()),
        "systemd does not run on this machine, so no service can be started"
    );
    assert!(is_kept(machine, &Service::new("missing").disabled()));
}

#[test]
fn properties_of_services_are_checked() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let input = Input::default();
    let error = |service: Service| {
        let checked = service.check(&machine, &input);
        checked.expect_err("it is wrong").to_string()
    };
    assert_eq!(
        error(Service::new("web")),
        "a service needs `state`, `enabled` or both"
    );
    for name in ["", "--now", "../web", "a b"] {
        let error = error(Service::new(name).running());
        assert!(error.contains("cannot be the name of a service"), "{error}");
    }
    assert_eq!(
        error(Service::new("web").running()),
        "the machine has neither runit nor systemd, which services need"
    );
    let web = Service::new("web").running();
    let folder = Path::new("/etc/sv/web").to_owned();
    assert_eq!(web.watching(&machine), Watching::UntilInOrder(vec![folder]));
    for identifier in [
        Identifier::Package("web".to_owned()),
        Identifier::Below("/etc/sv/web".into()),
        Identifier::path("/etc/systemd/system/web.service"),
    ] {
        let is_wished = web
            .wishes()
            .iter()
            .any(|wish| wish.alternatives == std::slice::from_ref(&identifier));
        assert!(is_wished, "{identifier:?}");
    }
}
