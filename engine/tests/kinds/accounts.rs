//! Users and groups, as the programs of shadow make them.

use std::sync::Arc;
use std::sync::mpsc::channel;

use pkgres_engine::{
    Directory, DriveOptions, File, Graph, GraphBuilder, Group, Identifier, Input, Machine, Outcome,
    Resource, RunOptions, SentValue, Status, Step, User, Wish, attempt, drive,
};

use pkgres_manifest::MetaParameters;

use crate::debian::{Debian, change, is_in_order, try_change};

#[test]
fn users_and_groups_are_made_changed_and_removed() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();

    assert_eq!(
        change(machine, &Group::new("web").with_number(2001)),
        ["group: web"]
    );
    assert!(is_in_order(machine, &Group::new("web").system()));
    let renumbered = Group::new("web").with_number(2002);
    assert_eq!(change(machine, &renumbered), ["number: 2001 -> 2002"]);
    change(machine, &Group::new("logs").system());
    let logs = debian.shell("getent group logs");
    let number: u32 = logs
        .split(':')
        .nth(2)
        .and_then(|text| text.parse().ok())
        .expect("a number");
    assert!(number < 1000, "{logs}");

    // There is a group of the same name already.
    let web = User::new("web")
        .with_number(2001)
        .with_home("/srv/web")
        .with_shell("/usr/sbin/nologin")
        .with_comment("Web server");
    assert_eq!(change(machine, &web), ["user: web"]);
    let entry = debian.shell("getent passwd web");
    assert_eq!(
        entry,
        "web:x:2001:2002:Web server:/srv/web:/usr/sbin/nologin\n"
    );
    let changed = web
        .clone()
        .with_number(2005)
        .with_group("logs")
        .with_groups(["adm", "web"])
        .with_home("/srv/other")
        .with_shell("/bin/sh")
        .with_comment("Other");
    assert_eq!(
        change(machine, &changed),
        [
            "number: 2001 -> 2005",
            "group: web -> logs",
            "groups:  -> adm,web",
            "home: /srv/web -> /srv/other",
            "shell: /usr/sbin/nologin -> /bin/sh",
            "comment: Web server -> Other",
        ]
    );
    // A number means the same as the name.
    assert!(is_in_order(
        machine,
        &changed.clone().with_group(number.to_string())
    ));
    // Groups that are not mentioned stay.
    assert_eq!(
        change(machine, &User::new("web").with_groups(["users"])),
        ["groups: adm,web -> adm,web,users"]
    );
    assert!(is_in_order(machine, &changed));

    // Files are owned by names.
    let page = File::new("/srv/page").with_owner("web").with_group("logs");
    change(machine, &page);
    assert_eq!(debian.shell("stat -c %U:%G /srv/page"), "web:logs\n");

    change(machine, &User::new("web").absent());
    assert!(!debian.text("/etc/passwd").contains("web:"));
    let error = try_change(machine, &page).expect_err("there is no such user any more");
    assert_eq!(error.to_string(), "the machine has no user `web`");
    change(machine, &Group::new("logs").absent());
    assert!(is_in_order(machine, &Group::new("logs").absent()));
}

#[test]
fn a_new_user_gets_a_group_of_its_own_and_a_group_in_use_stays() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    change(machine, &User::new("batch").system());
    assert_eq!(debian.shell("id -gn batch"), "batch\n");
    assert!(
        debian
            .shell("id -u batch")
            .trim()
            .parse::<u32>()
            .expect("a number")
            < 1000
    );
    let refused = |resource: &dyn Resource, reason: &str| {
        let planned = attempt(resource, machine, &Input::default(), true);
        let Outcome::Impossible(_, error) = planned else {
            panic!("{planned:?}");
        };
        assert_eq!(error.to_string(), reason);
    };
    refused(
        &Group::new("batch").absent(),
        "it is the primary group of the user `batch`",
    );
    refused(
        &User::new("other").with_group("nobody-knows"),
        "the machine has no group `nobody-knows`",
    );
    refused(
        &User::new("other").with_number(0),
        "the number 0 belongs to the user `root`",
    );
    refused(
        &User::new("batch").with_number(0),
        "the number 0 belongs to the user `root`",
    );
    refused(
        &Group::new("other").with_number(0),
        "the number 0 belongs to the group `root`",
    );
}

#[test]
fn accounts_from_elsewhere_are_known() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    let owned = File::new("/owned").with_content("").with_owner("ada");
    let error = try_change(machine, &owned).expect_err("there is no such user");
    assert_eq!(error.to_string(), "the machine has no user `ada`");
    // As a directory server would.
    debian.shell(
        "sed -i 's/^passwd:.*/passwd: files sss/' /etc/nsswitch.conf\n\
         echo 'test \"$2\" = ada && echo ada:x:1777:1777::/home/ada:/bin/sh' > /usr/local/bin/getent\n\
         sed -i '1i #!/bin/sh' /usr/local/bin/getent; chmod +x /usr/local/bin/getent",
    );
    change(machine, &owned);
    assert_eq!(debian.shell("stat -c %u /owned"), "1777\n");
    assert!(is_in_order(machine, &User::new("ada")));
    assert!(is_in_order(machine, &User::new("ada").with_number(1777)));
    for user in [
        User::new("ada").with_number(1778),
        User::new("ada").with_shell("/bin/false"),
        User::new("ada").absent(),
    ] {
        let error = try_change(machine, &user).expect_err("it cannot be changed here");
        let message = error.to_string();
        assert!(
            message.contains("from elsewhere than its files"),
            "{message}"
        );
    }
}

#[test]
fn names_cannot_be_options_or_fields() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let input = Input::default();
    for name in ["", "--root=/tmp", "a:b", "a,b", "a b", "a\nroot::0:0:::"] {
        assert!(User::new(name).check(&machine, &input).is_err(), "{name}");
        assert!(Group::new(name).check(&machine, &input).is_err(), "{name}");
        let user = User::new("web").with_groups([name]);
        assert!(user.check(&machine, &input).is_err(), "{name}");
    }
    let user = User::new("web").with_comment("a:0:0");
    assert!(user.check(&machine, &input).is_err());
}

#[test]
fn accounts_go_before_what_belongs_to_them() {
    let user = User::new("web").with_group("www").with_groups(["adm"]);
    assert_eq!(user.identifiers(), [Identifier::User("web".to_owned())]);
    let group = |name: &str| Wish::after(Identifier::Group(name.to_owned()));
    assert_eq!(user.wishes(), [group("www"), group("adm")]);
    assert_eq!(User::new("web").wishes(), [group("web")]);
    let gone = User::new("web").absent();
    let own = Wish::before(Identifier::Group("web".to_owned()));
    assert!(gone.wishes().contains(&own));
    let folder = Directory::new("/srv").with_owner("web").with_group("www");
    assert!(folder.wishes().contains(&group("www")));
}

#[test]
fn users_are_removed_before_their_groups_whatever_their_names() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    change(machine, &Group::new("team"));
    change(machine, &User::new("zoe").with_group("team"));
    let mut builder = GraphBuilder::new();
    let id = |id: &str| id.parse().expect("it is an identity");
    builder.add(
        id("group:team"),
        Group::new("team").absent(),
        MetaParameters::default(),
    );
    builder.add(
        id("user:zoe"),
        User::new("zoe").absent(),
        MetaParameters::default(),
    );
    let graph = builder.build().expect("no cycle");
    let (_control, controlled) = std::sync::mpsc::channel();
    let ending = drive(
        graph,
        debian.shared_machine(),
        &DriveOptions::default(),
        controlled,
        |_| {},
    );
    assert_eq!(ending.status, Status::Converged, "{:?}", ending.nodes);
    assert!(!debian.text("/etc/group").contains("team"));
}

#[test]
fn numbers_and_groups_are_received() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    let input = |values: Vec<(&str, SentValue)>| Input {
        received: values
            .into_iter()
            .map(|(property, value)| (property.to_owned(), value))
            .collect(),
        ..Input::default()
    };
    let number = input(vec![("number", SentValue::Integer(2042))]);
    let outcome = attempt(&Group::new("web"), machine, &number, false);
    assert!(matches!(outcome, Outcome::Changed(..)), "{outcome:?}");
    let groups = SentValue::List(vec!["adm".to_owned(), "users".to_owned()]);
    let both = input(vec![
        ("number", SentValue::Integer(2043)),
        ("groups", groups),
    ]);
    let outcome = attempt(&User::new("web"), machine, &both, false);
    assert!(matches!(outcome, Outcome::Changed(..)), "{outcome:?}");
    let is = debian.shell("id -u web; id -g web; id -Gn web");
    assert_eq!(is, "2043\n2042\nweb adm users\n");
    let negative = input(vec![("number", SentValue::Integer(-1))]);
    let error = User::new("web").check(machine, &negative);
    assert_eq!(
        error.expect_err("it is no number of a user").to_string(),
        "-1 cannot be the number of a user or group"
    );
}

#[test]
fn a_dry_run_foresees_the_numbers_of_owners() {
    let Some(debian) = Debian::new() else { return };
    debian.shell(
        "groupadd -g 3001 www && useradd -u 3001 -g www web && mkdir /srv/web \
         && touch /srv/web/page /srv/web/other && chown -R web:www /srv/web",
    );
    let graph = |user: u32, group: u32| {
        let mut builder = GraphBuilder::new();
        let mut add = |id: &str, resource: Box<dyn Resource>| {
            let id = id.parse().expect("it is an identity");
            builder.add_shared(id, Arc::from(resource), MetaParameters::default());
        };
        add("user:web", Box::new(User::new("web").with_number(user)));
        add("group:www", Box::new(Group::new("www").with_number(group)));
        let folder = Directory::new("/srv/web")
            .with_owner("web")
            .with_group("www");
        add("directory:/srv/web", Box::new(folder));
        let page = File::new("/srv/web/page")
            .with_owner("web")
            .with_content("hello\n");
        add("file:/srv/web/page", Box::new(page));
        // Its owner is said by number, and stays.
        let other = File::new("/srv/web/other")
            .with_owner("3001")
            .with_group("www");
        add("file:/srv/web/other", Box::new(other));
        builder.build().expect("it has no cycle")
    };
    let run = |graph: Graph, noop: bool| {
        let options = DriveOptions {
            run: RunOptions {
                noop,
                jobs: 1,
                ..RunOptions::default()
            },
            ..DriveOptions::default()
        };
        let (_control, controlled) = channel();
        let mut changes = Vec::new();
        drive(
            graph,
            debian.shared_machine(),
            &options,
            controlled,
            |progress| {
                if let Step::Changed(id, differences) | Step::Pending(id, differences) =
                    &progress.step
                {
                    let differences = differences.iter().map(ToString::to_string);
                    changes.push((id.to_string(), differences.collect::<Vec<_>>()));
                }
            },
        );
        changes
    };
    let planned = run(graph(3002, 3003), true);
    let expected = [
        ("file:/srv/web/other", "group: 3001 -> 3003"),
        ("directory:/srv/web", "owner: 3001 -> 3002"),
        ("user:web", "number: 3001 -> 3002"),
    ];
    for (id, difference) in expected {
        let found = planned.iter().find(|(planned, _)| planned == id);
        let (_, differences) = found.unwrap_or_else(|| panic!("{id} is not planned: {planned:?}"));
        assert!(
            differences.contains(&difference.to_owned()),
            "{differences:?}"
        );
    }
    assert_eq!(run(graph(3002, 3003), false), planned);
    assert_eq!(run(graph(3002, 3003), true), []);
}
