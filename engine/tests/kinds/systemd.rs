//! Services of systemd, which is the first process of a system in namespaces of its own.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use pkgres_engine::{
    Checked, Command, Control, DriveOptions, EntryAttributes, GraphBuilder, Input, Machine,
    Probe as _, Resource as _, RunOptions, Service, Status, Step, Target as _, drive,
};
use pkgres_manifest::MetaParameters;
use pkgres_tests::skip;
use tempfile::TempDir;

use crate::debian::{change, is_in_order, try_change};

/// Enters a control group, and runs the rest in new namespaces, all of which end with this process.
const ENTER: &str = r#"
set -e
mkdir "$1"
echo $$ >"$1/cgroup.procs"
shift
exec unshare --mount --pid --ipc --uts --cgroup --fork --kill-child "$@"
"#;

/// Starts systemd on an overlay of a Debian system, which stays as it is. The words `ready` come before systemd is
/// started.
const BOOT: &str = r#"
set -e
mount --make-rprivate /
mount -t tmpfs pkgres "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" pkgres "$2/root"
cd "$2/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
for node in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 666 "dev/${node%:*}" c 1 "${node#*:}"
done
mknod -m 666 dev/tty c 5 0
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
export DEBIAN_FRONTEND=noninteractive
chroot . apt-get install -y -qq --no-install-recommends systemd >&2
[ -e /proc/self/ns/cgroup ]
mount -t cgroup2 cgroup2 sys/fs/cgroup
echo ready
exec chroot . env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --system --unit=multi-user.target >/dev/null 2>&1
"#;

/// The longest time that a test waits for something.
const TIME_LIMIT: Duration = Duration::from_mins(5);

/// A running system, which ends with the test.
struct System {
    process: Child,
    group: PathBuf,
    machine: Arc<Machine>,
    _place: TempDir,
}

impl System {
    /// Starts a system. Reports it and returns `None` if that is not possible here.
    fn start() -> Option<Self> {
        let Some(root) = std::env::var_os("PKGRES_DEBIAN_ROOT") else {
            skip::without_service("PKGRES_DEBIAN_ROOT names no Debian system");
            return None;
        };
        let Some(groups) = control_groups() else {
            skip::without_service("there are no control groups of version 2, which systemd needs");
            return None;
        };
        let place = tempfile::tempdir().expect("a folder for the test");
        let group = groups.join(format!("pkgres-test-{}", std::process::id()));
        let mut process = Process::new("sh")
            .args(["-c", ENTER, "sh"])
            .arg(&group)
            .args(["sh", "-c", BOOT, "sh"])
            .args([Path::new(&root), place.path()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("it is piped");
        // An error shows as a missing line.
        let _ = BufReader::new(stdout).read_line(&mut line);
        if line != "ready\n" {
            let output = process.wait_with_output().expect("it has ended");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            remove_group(&group);
            let reason = text.lines().last().unwrap_or("no reason is known");
            skip::without_service(&format!(
                "systemd cannot be started in namespaces: {reason}"
            ));
            return None;
        }
        let first = first_child(process.id());
        let machine = Machine::of_process(first).expect("the process has a root folder");
        let system = Self {
            process,
            group,
            machine: Arc::new(machine),
            _place: place,
        };
        system.wait_for("systemctl is-system-running", |text| {
            matches!(text.trim(), "running" | "degraded")
        });
        Some(system)
    }

    /// What a shell on the system writes, whatever its exit code is.
    fn says(&self, text: &str) -> String {
        let command = Command::new("/bin/sh").arguments(["-c", text]);
        let output = self.machine.run(&command).expect("there is a shell");
        output.text()
    }

    /// Waits until what a shell writes is as wanted.
    fn wait_for(&self, text: &str, is_wanted: impl Fn(&str) -> bool) {
        let start = Instant::now();
        loop {
            let said = self.says(text);
            if is_wanted(&said) {
                return;
            }
            assert!(start.elapsed() < TIME_LIMIT, "{text}: {said}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn define(&self, unit: &str, text: &str) {
        let path = Path::new("/etc/systemd/system").join(unit);
        let attributes = EntryAttributes::with_mode(0o644);
        let written = self.machine.write_file(&path, text.as_bytes(), attributes);
        written.expect("the folder is there");
    }

    /// Kills the process of a unit, and waits until systemd has noticed that.
    fn kill(&self, unit: &str) {
        self.says(&format!("kill -9 $(systemctl show -P MainPID {unit})"));
    }
}

impl Drop for System {
    fn drop(&mut self) {
        // Its children end with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
        remove_group(&self.group);
    }
}

/// Where control groups of version 2 can be made.
fn control_groups() -> Option<PathBuf> {
    let mounts = pkgres_files::read_file(
        Path::new("/proc/self/mounts"),
        1 << 20,
        pkgres_files::Follow::Nothing,
    );
    let mounts = String::from_utf8(mounts.ok()?).ok()?;
    let mut found = mounts
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>());
    let found = found.find(|words| words.get(2) == Some(&"cgroup2"))?;
    Some(PathBuf::from(found[1]))
}

/// Removes a control group with those in it, once their processes are gone.
fn remove_group(group: &Path) {
    let remove = r#"
        for _ in $(seq 100); do
            find "$1" -depth -type d -exec rmdir {} + 2>/dev/null && break
            [ -e "$1" ] || break
            sleep 0.05
        done"#;
    let _ = Process::new("sh")
        .args(["-c", remove, "sh"])
        .arg(group)
        .status();
}

/// The only child of a process.
fn first_child(parent: u32) -> u32 {
    let output = Process::new("ps")
        .args(["--no-headers", "-o", "pid", "--ppid", &parent.to_string()])
        .output()
        .expect("there is `ps`");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim().parse().expect("it has one child")
}

const WEB: &str = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n";

#[test]
fn services_of_systemd_are_started_enabled_repaired_and_watched() {
    let Some(system) = System::start() else {
        return;
    };
    let machine = &*system.machine;
    let web = Service::new("web").running().enabled();
    let error = try_change(machine, &web).expect_err("there is no such unit");
    assert_eq!(error.to_string(), "the machine has no unit `web.service`");
    system.define("web.service", WEB);
    assert_eq!(
        change(machine, &web),
        ["state: stopped -> running", "start: disabled -> enabled"]
    );
    assert!(is_in_order(machine, &web));
    assert_eq!(system.says("systemctl is-active web"), "active\n");
    assert_eq!(system.says("systemctl is-enabled web"), "enabled\n");

    // Killed, stopped and disabled by somebody.
    system.kill("web");
    system.wait_for("systemctl is-active web", |text| text == "failed\n");
    assert_eq!(change(machine, &web), ["state: stopped -> running"]);
    system.says("systemctl disable --now web");
    assert_eq!(
        change(machine, &web),
        ["state: stopped -> running", "start: disabled -> enabled"]
    );

    // A change of what it needs starts it again.
    let process = system.says("systemctl show -P MainPID web");
    let notified = Input {
        refresh: true,
        ..Input::default()
    };
    match web.check(machine, &notified).expect("it can be checked") {
        Checked::Drift(change) => change.apply(machine).expect("it is started again"),
        Checked::InOrder(_) | Checked::Kept(_) => panic!("it was notified"),
    }
    assert_ne!(system.says("systemctl show -P MainPID web"), process);
    assert!(is_in_order(machine, &web));

    // A check cannot change anything.
    let touch = Command::new("touch").argument("/etc/touched");
    let output = machine.query(&touch).expect("it runs");
    assert!(!output.is_success(), "{output:?}");

    is_repaired_at_once(&system, &web);

    let off = Service::new("web").stopped().disabled();
    assert_eq!(
        change(machine, &off),
        ["state: running -> stopped", "start: enabled -> disabled"]
    );
    assert_eq!(system.says("systemctl is-active web"), "inactive\n");
    // One that cannot start.
    system.define(
        "broken.service",
        "[Service]\nType=exec\nExecStart=/nowhere\n",
    );
    let error = try_change(machine, &Service::new("broken").running());
    let error = error.expect_err("it cannot start").to_string();
    assert!(error.contains("systemctl"), "{error}");
    // systemd counts them as started, and their programs end at once.
    for (name, service, expected) in [
        (
            "failing",
            "ExecStart=/bin/false",
            "and ended at once (exit-code, status 1): `systemctl status failing.service` on the machine says more",
        ),
        (
            "ending",
            "Type=oneshot\nExecStart=/bin/true",
            "and has ended with success: to count as running, it needs `RemainAfterExit=yes`",
        ),
    ] {
        let unit = format!("{name}.service");
        system.define(&unit, &format!("[Service]\n{service}\n"));
        // The program may not have ended yet when systemd is asked.
        let mut attempts = (0..50).map(|_| try_change(machine, &Service::new(name).running()));
        let error = attempts.find_map(Result::err).expect("it ends");
        assert_eq!(
            error.to_string(),
            format!("the unit `{unit}` was started, {expected}")
        );
    }
    let error = try_change(machine, &Service::new("failing").enabled());
    assert_eq!(
        error.expect_err("nothing wants it").to_string(),
        "the unit `failing.service` is static: it cannot be enabled, as it has no section `[Install]`"
    );
}

/// A run that goes on starts a service again as soon as it ends, long before it is polled.
fn is_repaired_at_once(system: &System, web: &Service) {
    let mut builder = GraphBuilder::new();
    let id = "service:web".parse().expect("it is an identity");
    builder.add(id, web.clone(), MetaParameters::default());
    let graph = builder.build().expect("it has no cycle");
    let options = DriveOptions {
        run: RunOptions {
            watch: true,
            // Longer than the test waits.
            polling: Duration::from_hours(1),
            ..RunOptions::default()
        },
        ..DriveOptions::default()
    };
    let (control, controlled) = channel();
    let (sender, steps) = channel();
    let machine = Arc::clone(&system.machine);
    let run = thread::spawn(move || {
        drive(graph, machine, &options, controlled, |progress| {
            let step = match &progress.step {
                Step::Converged => "converged",
                Step::Changed(..) => "changed",
                Step::NotWatched(..) => "not watched",
                _ => return,
            };
            // The test may have ended.
            let _ = sender.send(step);
        })
    });
    let next = || steps.recv_timeout(TIME_LIMIT).expect("it happens in time");
    assert_eq!(next(), "converged");
    for _ in 0..3 {
        system.kill("web");
        while next() != "changed" {}
        system.wait_for("systemctl is-active web", |text| text == "active\n");
    }
    system.says("systemctl disable web");
    while next() != "changed" {}
    assert_eq!(system.says("systemctl is-enabled web"), "enabled\n");
    control.send(Control::Interrupt).expect("the run goes on");
    let ending = run.join().expect("it does not panic");
    assert_eq!(ending.status, Status::Interrupted);
}
