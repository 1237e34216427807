//! Output on a terminal: sessions in a pseudo-terminal, which `script` provides.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use pkgres_tests::skip;

use crate::program::write;

/// The folder that commands run in.
const VIEWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cli/views.in");

/// How long a registry takes to answer while no spinner is expected: longer than the delay of one.
const DELAY: Duration = Duration::from_secs(3);

/// The address of a server that waits before it answers that it is not a registry.
fn slow_registry(wait: impl Fn() + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            wait();
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
    });
    format!("http://{address}/")
}

/// The output of a command on a terminal, and its exit code; `None` without `script`.
fn session(command: &str, variables: &[(&str, &str)]) -> Option<(String, Option<i32>)> {
    session_in(Path::new(VIEWS), command, variables)
}

fn session_in(
    folder: &Path,
    command: &str,
    variables: &[(&str, &str)],
) -> Option<(String, Option<i32>)> {
    let Ok(output) = script(folder, command, variables).output() else {
        skip::without_service("`script` is not there");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some((text, output.status.code()))
}

/// The program that runs a command on a terminal.
fn script(folder: &Path, command: &str, variables: &[(&str, &str)]) -> Command {
    let program = trycmd::cargo::cargo_bin!("pkgres");
    let mut script = Command::new("script");
    script
        .args(["--quiet", "--return", "--command"])
        .arg(command.replace("pkgres", &program.to_string_lossy()))
        .arg("/dev/null")
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("CI")
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    script
}

/// A picture would make the terminal unusable.
#[test]
fn a_picture_is_not_written_to_a_terminal() {
    let Some((shown, exit)) = session("pkgres graph clash --format png", &[]) else {
        return;
    };
    assert_eq!(exit, Some(2), "{shown}");
    let hint = "redirect it: add `> graph.png` to the command";
    assert!(shown.contains(hint), "{shown:?}");
}

#[test]
fn a_terminal_has_colors_unless_they_are_disabled() {
    let conflict = "pkgres tree clash";
    let Some((shown, exit)) = session(conflict, &[]) else {
        return;
    };
    assert_eq!(exit, Some(1), "{shown}");
    assert!(
        shown.contains("\u{1b}[1m\u{1b}[31merror[PK0012]\u{1b}[0m"),
        "{shown:?}"
    );
    for variables in [
        &[("NO_COLOR", "1")][..],
        &[("TERM", "dumb")],
        &[("PKGRES_COLOR", "never")],
    ] {
        let (shown, _) = session(conflict, variables).expect("it was there before");
        assert!(
            shown.contains("error[PK0012]") && !shown.contains('\u{1b}'),
            "{variables:?} {shown:?}"
        );
    }
    let (shown, _) = session("pkgres tree clash --color never", &[]).expect("`script` exists");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn slow_work_shows_a_spinner() {
    // It answers once the terminal shows that it is waited for.
    let (awaited, answer) = channel::<()>();
    let registry = slow_registry(move || {
        let _ = answer.recv();
    });
    let tree =
        |registry: &str| format!("pkgres tree app --ignore-lock --no-cache --registry {registry}");
    let mut running = script(Path::new(VIEWS), &tree(&registry), &[]);
    let Ok(mut running) = running.stdout(Stdio::piped()).spawn() else {
        skip::without_service("`script` is not there");
        return;
    };
    let mut output = running.stdout.take().expect("it is piped");
    let (mut shown, mut awaited) = (Vec::new(), Some(awaited));
    let text = |shown: &[u8]| String::from_utf8_lossy(shown).into_owned();
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        shown.extend(&buffer[..count]);
        if text(&shown).contains(&format!("Resolving, waiting for {registry}")) {
            awaited = None;
        }
    }
    let shown = text(&shown);
    assert!(awaited.is_none(), "{shown:?}");
    let exit = running.wait().expect("it ends").code();
    assert_eq!(exit, Some(3), "{shown}");
    let end = shown.rfind("Resolving").expect("it is there");
    // The spinner is erased in the end.
    assert!(shown[end..].contains("\u{1b}[2K"), "{shown:?}");
    let slow = tree(&slow_registry(|| std::thread::sleep(DELAY)));
    for (more, variables) in [
        (" --no-progress", &[][..]),
        (" --quiet", &[]),
        ("", &[("CI", "true")]),
        ("", &[("TERM", "dumb")]),
        ("", &[("PKGRES_NO_PROGRESS", "1")]),
    ] {
        let (shown, _) = session(&format!("{slow}{more}"), variables).expect("it was there before");
        assert!(
            !shown.contains("Resolving"),
            "{more} {variables:?} {shown:?}"
        );
    }
    let (shown, _) = session("pkgres tree app", &[]).expect("`script` exists");
    assert!(!shown.contains("Resolving"), "{shown:?}");
    // A pipe gets none of it, even if stdout is a terminal.
    let (shown, _) =
        session(&format!("{slow} 2>&1 >/dev/null | cat"), &[]).expect("`script` exists");
    assert!(
        shown.contains("error") && !shown.contains("Resolving"),
        "{shown:?}"
    );
    // In a narrow terminal, the message is cut to one line.
    let (shown, _) =
        session(&format!("stty rows 40 cols 30; {slow}"), &[]).expect("`script` exists");
    for frame in shown.split(['\r', '\n']).map(plain) {
        let is_progress = frame.contains("Resolving");
        assert!(!is_progress || frame.chars().count() <= 30, "{frame:?}");
    }
}

/// Words of a session without styles.
fn words(shown: &str) -> Vec<String> {
    let plain = plain(shown);
    plain.split_whitespace().map(str::to_owned).collect()
}

/// The text of a session without styles.
fn plain(shown: &str) -> String {
    let mut parts = shown.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest));
    rest.fold(first, |text, part| text + part)
}

#[test]
fn a_narrow_terminal_breaks_lines_between_words() {
    for command in [
        "pkgres tree clash",
        "pkgres tree nowhere",
        "pkgres lock app --frozen",
    ] {
        let at = |columns: usize| session(&format!("stty rows 40 cols {columns}; {command}"), &[]);
        let Some((narrow, exit)) = at(60) else {
            return;
        };
        assert_ne!(exit, Some(0), "{narrow}");
        let (wide, _) = at(300).expect("it was there before");
        assert_eq!(words(&narrow), words(&wide), "{narrow}");
        for line in plain(&narrow).lines() {
            let line = line.trim_end();
            // A command is one word, so that it can be copied.
            let is_word = line.contains('`') || !line.trim().contains(' ');
            assert!(line.chars().count() <= 60 || is_word, "{line}");
        }
    }
    let (narrow, _) =
        session("stty rows 40 cols 60; pkgres tree clash", &[]).expect("`script` exists");
    let narrow = plain(&narrow);
    let location = narrow
        .lines()
        .find(|line| line.contains("manifest.yaml:"))
        .expect("one");
    assert!(
        !location.contains("requires"),
        "a location has a line of its own: {location}"
    );
}

/// What commands show in a terminal of 60 columns, as it was recorded: locations have lines of their own, no word is
/// broken, and only a command or a file of an example is wider.
#[test]
fn answers_fit_a_narrow_terminal() {
    let mut recording = String::new();
    for (columns, command) in [
        (60, "explain clash"),
        (60, "explain PK0012"),
        (60, "explain PK0021"),
        (60, "repair clash"),
        (60, "why-not org.example.Db@2.0.0 app"),
        (60, "outdated app"),
        (40, "outdated app"),
        (60, "update --manifest-path app --dry-run"),
        (60, "info org.example.Db --registry index:index.ndjson"),
    ] {
        let line = format!("stty rows 40 cols {columns}; pkgres {command} --color never");
        let Some((shown, _)) = session(&line, &[("CI", "1")]) else {
            return;
        };
        recording.push_str(&format!("$ pkgres {command}\n{}\n", plain(&shown)));
    }
    let recording = recording.replace('\r', "");
    for line in recording.lines() {
        let is_fixed =
            line.starts_with("$ ") || line.starts_with("    $ ") || line.starts_with("    {");
        let is_word = line.contains('`') || !line.trim().contains(' ') || line.contains("sha256: ");
        let width = line.chars().count();
        assert!(width <= 60 || is_fixed || is_word, "{width}: {line}");
        let has_place = line.contains(":3)") || line.contains(":5)");
        let text = line.trim();
        assert!(!has_place || text.starts_with('(') || width <= 60, "{line}");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cli/terminal-60.txt");
    if std::env::var_os("PKGRES_UPDATE_DOCS").is_some() {
        crate::program::write(Path::new(path), &recording);
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        recording == expected,
        "terminal-60.txt differs; PKGRES_UPDATE_DOCS=1 writes what is shown now:\n{recording}"
    );
}

#[test]
fn help_usage_errors_and_trees_have_colors_unless_they_are_disabled() {
    for command in [
        "pkgres --help",
        "pkgres help tree",
        "pkgres tree --bogus",
        "pkgres tree app",
    ] {
        let Some((shown, _)) = session(command, &[]) else {
            return;
        };
        assert!(shown.contains('\u{1b}'), "{command}: {shown:?}");
        for variables in [&[("NO_COLOR", "1")][..], &[("PKGRES_COLOR", "never")]] {
            let (shown, _) = session(command, variables).expect("it was there before");
            assert!(
                !shown.contains('\u{1b}'),
                "{command} {variables:?}: {shown:?}"
            );
        }
        let never = format!("{command} --color never");
        let (shown, _) = session(&never, &[]).expect("it was there before");
        assert!(!shown.contains('\u{1b}'), "{never}: {shown:?}");
    }
}

/// A name that sets the title of a terminal, and one whose last byte is a control character of one byte.
const EVIL: [&str; 2] = ["a\u{1b}]0;x\u{7}b", "c\u{9b}31md\r\u{1b}[2Je"];

/// Asserts that a text has no control characters but line feeds, and no escape sequences but those of colors.
fn assert_harmless(command: &str, shown: &str) {
    let mut rest = shown;
    while let Some(at) = rest.find('\u{1b}') {
        let sequence = &rest[at + 1..];
        let end = sequence.find(|next: char| !next.is_ascii_digit() && !matches!(next, '[' | ';'));
        let is_color =
            sequence.starts_with('[') && end.is_some_and(|end| sequence[end..].starts_with('m'));
        assert!(is_color, "{command}: {shown:?}");
        rest = sequence;
    }
    // The terminal itself adds carriage returns.
    let plain = shown.replace("\r\n", "\n");
    let is_control = |next: char| next.is_control() && !matches!(next, '\n' | '\t' | '\u{1b}');
    assert!(!plain.contains(is_control), "{command}: {shown:?}");
}

/// A name as registry, as broken package, as argument, in settings and variables, and in each format.
#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn control_characters_in_names_are_escaped() {
    let core = r#"{"name":"io.murano","version":"0.1.0","classes":{"io.murano.Object":{}}}"#;
    let manifest = "Type: Library\nFullName: org.example.Lib\nVersion: 1.0.0\n";
    for evil in EVIL {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let inside = |path: &str| folder.path().join(path);
        // A registry with the name, in which a package with the name is broken, and a file with it in a good one.
        for path in [evil.to_owned(), format!("{evil}/{evil}"), "good".to_owned()] {
            std::fs::create_dir_all(inside(&path)).expect("the folder is ours");
        }
        write(
            &inside(&format!("{evil}/{evil}/manifest.yaml")),
            "Type: [\n",
        );
        write(&inside("good/manifest.yaml"), manifest);
        write(&inside(&format!("good/{evil}")), "x");
        write(&inside("core.ndjson"), core);
        write(&inside(&format!("{evil}.ndjson")), "{\n");
        write(&inside(&format!("{evil}.zip")), "PK");
        write(&inside(&format!("{evil}.json")), "{\"a\": ");
        write(&inside("model.json"), "{}");
        let mut shown_escaped = 0;
        for command in [
            r#"pkgres tree good --registry "dir:$EVIL" --ignore-lock"#,
            r#"pkgres resolve good --registry "dir:$EVIL/none" --ignore-lock"#,
            r#"pkgres resolve good --registry "index:$EVIL.ndjson" --ignore-lock"#,
            r#"pkgres resolve good --registry "$EVIL" --ignore-lock"#,
            r#"pkgres resolve good --registry "https://$EVIL/" --ignore-lock"#,
            r#"pkgres resolve good --provide "$EVIL.ndjson" --ignore-lock"#,
            r#"pkgres resolve "$EVIL""#,
            r#"pkgres resolve "$EVIL" --format json"#,
            r#"pkgres resolve "$EVIL/$EVIL""#,
            r#"pkgres check "$EVIL""#,
            r#"pkgres check "$EVIL/$EVIL""#,
            r#"pkgres check "$EVIL/$EVIL" --format json"#,
            r#"pkgres check "$EVIL/$EVIL" --format github"#,
            r#"pkgres check "$EVIL.zip" --format github"#,
            "pkgres check good --format github",
            r#"pkgres lock "$EVIL/$EVIL""#,
            r#"pkgres lock --check "$EVIL/none""#,
            r#"pkgres add --manifest "$EVIL/$EVIL" org.example.A"#,
            r#"pkgres add --manifest good "$EVIL""#,
            r#"pkgres remove --manifest good "$EVIL""#,
            r#"pkgres update --manifest good "$EVIL""#,
            r#"pkgres why "$EVIL" good"#,
            r#"pkgres why org.example.A "$EVIL""#,
            r#"pkgres pin "$EVIL.json""#,
            r#"pkgres pin --check "$EVIL.json""#,
            r#"pkgres pack good --output "$EVIL/out.zip""#,
            r#"pkgres pack "$EVIL/$EVIL""#,
            r#"pkgres unpack "$EVIL.zip" "$EVIL/new""#,
            r#"pkgres unpack none.zip "$EVIL""#,
            r#"pkgres fetch "$EVIL""#,
            r#"pkgres verify "$EVIL/$EVIL""#,
            r#"pkgres vendor "$EVIL.zip" good"#,
            r#"pkgres vendor "$EVIL/vendored" "$EVIL""#,
            r#"pkgres diff "$EVIL" good"#,
            r#"pkgres diff good "$EVIL.json""#,
            r#"pkgres init "$EVIL/$EVIL""#,
            r#"pkgres init "$EVIL/new" --name "$EVIL""#,
            r#"pkgres index "$EVIL""#,
            r#"pkgres spec parse "$EVIL""#,
            r#"pkgres graph good --registry "dir:$EVIL" --ignore-lock"#,
            r#"pkgres export good --registry "dir:$EVIL" --ignore-lock"#,
            r#"pkgres publish "$EVIL" --registry "$EVIL""#,
            r#"pkgres yank "$EVIL" 1.0.0 --reason x"#,
            r#"pkgres login "$EVIL" --token-file "$EVIL""#,
            r#"pkgres cache forget "$EVIL""#,
            r#"PKGRES_CACHE="$EVIL/cache" pkgres cache dir"#,
            r#"PKGRES_CACHE="$EVIL/cache" pkgres cache clean"#,
            r#"PKGRES_CACHE="$EVIL/cache" pkgres config list --show-origin"#,
            r#"PKGRES_REGISTRY="$EVIL" pkgres config list"#,
            r#"PKGRES_REGISTRY="dir:$EVIL" pkgres tree good --ignore-lock"#,
            r#"PKGRES_CONFIG="$EVIL.json" pkgres config list"#,
            r#"PKGRES_PREFER="$EVIL" pkgres config list"#,
            r#"pkgres --config "$EVIL" config list"#,
            r#"pkgres --directory "$EVIL/none" config list"#,
            r#"pkgres --directory "$EVIL" check "$EVIL""#,
            r#"pkgres "$EVIL""#,
            r#"pkgres "--$EVIL""#,
            r#"pkgres "$EVIL" --color always"#,
            r#"pkgres "$EVIL" --format json"#,
            r#"pkgres check good --format "$EVIL""#,
            r#"pkgres check good --color "$EVIL""#,
            r#"pkgres resolve good --max-steps "$EVIL""#,
            r#"pkgres resolve good --exclude-newer "$EVIL""#,
            r#"pkgres resolve good --core-library "$EVIL""#,
            r#"pkgres explain "$EVIL""#,
            r#"pkgres schema "$EVIL""#,
            r#"pkgres man "$EVIL""#,
            r#"pkgres serve --data "$EVIL.zip" --listen 127.0.0.1:0"#,
            r#"pkgres serve --data "$EVIL" --listen "$EVIL""#,
            r#"pkgres export-static --data "$EVIL.zip" "$EVIL/static""#,
        ] {
            let cache = inside("cache");
            let variables = [
                ("EVIL", evil),
                ("PKGRES_CACHE", cache.to_str().expect("text")),
                ("PKGRES_NO_PROGRESS", "1"),
            ];
            let Some((shown, _)) = session_in(folder.path(), command, &variables) else {
                return;
            };
            assert!(!shown.contains("panicked"), "{command}: {shown}");
            assert_harmless(command, &shown);
            shown_escaped += usize::from(shown.contains("\\u{"));
        }
        // A message that leaves the name out would be harmless, too.
        assert!(shown_escaped > 40, "{shown_escaped}");
    }
}

#[test]
fn a_run_that_takes_a_while_shows_its_resources() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    for name in ["web", "root"] {
        std::fs::create_dir(folder.path().join(name)).expect("a new folder");
    }
    let manifest = "FullName: a.Web\nType: Application\nVersion: 1.0.0\nResources: r.yaml\n";
    write(&folder.path().join("web/manifest.yaml"), manifest);
    let resources = "Package:\n- file: /web.conf\n- directory: /srv\n";
    write(&folder.path().join("web/r.yaml"), resources);
    let variables = [("PKGRES_REGISTRY", "")];
    let Some((_, locked)) = session_in(folder.path(), "pkgres lock web", &variables) else {
        return;
    };
    assert_eq!(locked, Some(0));
    let watch =
        "pkgres apply web --target rootfs:root --watch --converged-exit --converged-timeout 1";
    let (shown, exit) = session_in(folder.path(), watch, &variables).expect("`script` exists");
    assert_eq!(exit, Some(0), "{shown}");
    assert!(
        shown.contains("STATE") && shown.contains("RESOURCE"),
        "{shown:?}"
    );
    assert!(
        shown.contains("changed") && shown.contains("2 up to date"),
        "{shown:?}"
    );
    // The changes stay, and the table is erased in the end.
    let end = shown.rfind("STATE").expect("it is there");
    assert!(shown.contains("+ file:/web.conf"), "{shown:?}");
    assert!(shown[end..].contains("\u{1b}[2K"), "{shown:?}");
    for command in [
        format!("{watch} --no-progress"),
        format!("{watch} --format json"),
        format!("{watch} 2>&1 | cat"),
    ] {
        let (shown, _) = session_in(folder.path(), &command, &variables).expect("it was there");
        assert!(!shown.contains("STATE"), "{command}: {shown:?}");
    }
}

#[test]
fn a_usage_error_has_the_colors_of_the_settings() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(&folder.path().join("config.toml"), "color = \"never\"\n");
    let shown = |command: &str| session_in(folder.path(), command, &[]);
    let Some((default, exit)) = shown("pkgres tree --nope") else {
        return;
    };
    assert_eq!(exit, Some(2), "{default}");
    assert!(default.contains("\u{1b}["), "{default:?}");
    for command in [
        "pkgres tree --nope --config config.toml",
        "pkgres -C / --config=$PWD/config.toml tree --nope",
    ] {
        let (plain, _) = shown(command).expect("`script` exists");
        assert!(!plain.contains('\u{1b}'), "{plain:?}");
    }
}

/// Someone who interrupts the prompt for a token sees again what is typed.
#[test]
fn ctrl_c_at_the_prompt_for_a_token_restores_the_terminal() {
    let program = trycmd::cargo::cargo_bin!("pkgres");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let line = format!(
        "trap : INT; {} login http://127.0.0.1:9; echo code=$?; stty -a",
        program.display()
    );
    let script = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("SHELL", "/bin/sh")
        .env("LC_ALL", "C")
        .env("PKGRES_CREDENTIALS", folder.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let Ok(mut script) = script else {
        skip::without_service("`script` is not there");
        return;
    };
    let mut output = script.stdout.take().expect("it is a pipe");
    let mut shown = String::new();
    let mut byte = [0];
    while !shown.ends_with("(not shown): ") {
        assert_eq!(output.read(&mut byte).expect("it runs"), 1, "{shown}");
        shown.push(byte[0].into());
    }
    // By then it reads what is typed. If it did not yet, nothing would have to be restored.
    std::thread::sleep(Duration::from_millis(500));
    let mut input = script.stdin.take().expect("it is a pipe");
    input.write_all(b"\x03").expect("it runs");
    output.read_to_string(&mut shown).expect("it is text");
    drop(input);
    script.wait().expect("it ends");
    assert!(shown.contains("code=130"), "{shown}");
    assert!(shown.contains(" echo "), "{shown}");
}
