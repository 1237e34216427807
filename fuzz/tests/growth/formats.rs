//! Shapes of the other files of packages and users, each read by its fuzz target: validations, resources, facts,
//! baselines, settings, addresses and names, and records of other ecosystems.

use pkgres_fuzzing::target;

use crate::Shape;
use crate::documents::{Parts, of_parts};

const MIB: usize = 1 << 20;

fn run(name: &str, input: &[u8]) {
    let target = target(name).expect("a fuzz target");
    (target.run)(input);
}

const INTERFACES: &[Parts] = &[
    ("functions", "Name: a.I\nFunctions:\n", "  f#: {}\n", ""),
    (
        "arguments",
        "Name: a.I\nFunctions:\n  f:\n    Arguments:\n",
        "    - a#: {Contract: $.int()}\n",
        "",
    ),
    (
        "properties of a schema",
        "Name: a.I\nFunctions:\n  f:\n    Returns:\n      type: object\n      properties:\n",
        "        a#: {type: integer}\n",
        "",
    ),
    (
        "choices of a schema",
        "Name: a.I\nFunctions:\n  f:\n    Returns:\n      anyOf:\n",
        "      - {type: object, required: [a#]}\n",
        "",
    ),
    (
        "platforms",
        "Name: a.I\nFunctions:\n  f:\n    Supported:\n",
        "      fact#: [a, b]\n",
        "",
    ),
    ("unknown keys", "Name: a.I\n", "Functoins#: {}\n", ""),
    (
        "names that are none",
        "Name: a.I\nFunctions:\n",
        "  f-#: {}\n",
        "",
    ),
];

const VALIDATIONS: &[Parts] = &[
    ("packages", "validators:\n", "- package: p#\n", ""),
    (
        "packages of a validator",
        "validators:\n- package:\n",
        "  - p#\n",
        "",
    ),
    (
        "scripts",
        "validators:\n",
        "- script: {s#: {inline: 'true'}}\n",
        "",
    ),
    (
        "variables of scripts",
        "arguments:\n  a: {}\nvalidators:\n",
        "- script: {s#: {inline: 'true', env_vars: [a]}}\n",
        "",
    ),
    (
        "undefined variables",
        "arguments:\n  a: {}\nvalidators:\n",
        "- script: {s: {inline: 'true', env_vars: [b#]}}\n",
        "",
    ),
    (
        "arguments",
        "arguments:\n",
        "  a#: {default: b}\n",
        "validators: []\n",
    ),
    (
        "arguments of one variable",
        "arguments:\n",
        "  a#: {target_variable: A}\n",
        "validators: []\n",
    ),
    (
        "choices",
        "arguments:\n  a:\n    choices:\n",
        "    - c#\n",
        "validators: []\n",
    ),
    (
        "values that are no choice",
        "arguments:\n  a: {choices: [b]}\nvalidators:\n",
        "- argument_set: {argument_name: a, value: c#}\n",
        "",
    ),
    (
        "cases",
        "arguments:\n  a: {}\nvalidators:\n- argument_case:\n    argument_name: a\n    cases:\n",
        "      c#: []\n",
        "",
    ),
    (
        "operating systems",
        "validators:\n- os_case:\n",
        "  - debian#: []\n",
        "",
    ),
    (
        "nested validators",
        "validators:\n",
        "- any: [{all: []}]\n",
        "",
    ),
    (
        "misspelt validators",
        "validators:\n",
        "- packgae: p#\n",
        "",
    ),
];

const RESOURCES: &[Parts] = &[
    ("resources", "Package:\n", "- file: /a#\n", ""),
    ("one resource", "Package:\n", "- file: /a\n", ""),
    (
        "resources after one",
        "Package:\n- file: /a\n",
        "- file: /b#\n  after: [file:/a]\n",
        "",
    ),
    (
        "resources before one",
        "Package:\n- file: /a\n  after:\n",
        "  - file:/b#\n",
        "",
    ),
    ("properties", "Package:\n- file: /a\n", "  p#: v\n", ""),
    (
        "a long template",
        "Package:\n- file: /a\n  content: \"",
        "${this.a}",
        "\"\n",
    ),
    (
        "dollars",
        "Package:\n- file: /a\n  content: \"",
        "$$",
        "\"\n",
    ),
    (
        "open templates",
        "Package:\n- file: /a\n  content: \"",
        "${",
        "\"\n",
    ),
    (
        "a path of a template",
        "Package:\n- file: /a\n  content: \"${this",
        ".a#",
        "}\"\n",
    ),
    (
        "resources of classes",
        "Classes:\n",
        "  a.C#:\n  - file: /a\n",
        "",
    ),
    (
        "lists in a property",
        "Package:\n- file: /a\n  list:\n",
        "  - [a, {b: c}]\n",
        "",
    ),
    (
        "locks",
        "Package:\n- file: /a\n  meta:\n    sema:\n",
        "    - s#:2\n",
        "",
    ),
];

const FACTS: &[Parts] = &[
    ("facts", "", "fact#: value\n", ""),
    ("values", "os:\n", "- v#\n", ""),
    ("spellings of one fact", "", "o_s_#: a\n", ""),
];

const BASELINES: &[Parts] = &[
    ("entries", "", "a.B a.I f# not-implemented\n", ""),
    ("one entry", "", "a.B a.I f not-implemented\n", ""),
    ("comments", "", "# comment\n", ""),
    ("wrong lines", "", "a.B#\n", ""),
    ("a long line", "a.B a.I ", "f", " deprecated\n"),
];

const SETTINGS: &[Parts] = &[
    (
        "registries",
        "",
        "[registries.r#]\nlocation = \"dir:a#\"\n",
        "",
    ),
    (
        "registries in a list",
        "registries = [\"dir:a\"",
        ", \"r#=dir:a\"",
        "]\n",
    ),
    (
        "namespaces",
        "[registries.a]\nlocation = \"dir:a\"\nnamespaces = [\"org.*\"",
        ", \"org.a#.*\"",
        "]\n",
    ),
    ("overrides", "[overrides]\n", "\"a.B#\" = \"1\"\n", ""),
    (
        "folders of overrides",
        "[overrides]\n",
        "\"a.B#\" = {path = \"b\"}\n",
        "",
    ),
    (
        "members",
        "[workspace]\nmembers = [\"a\"",
        ", \"a#\"",
        "]\n",
    ),
    ("unknown keys", "", "key# = 1\n", ""),
    ("misspelt keys", "", "ofline# = true\n", ""),
    ("one key", "", "offline = true\n", ""),
    ("tables", "", "[t#]\n", ""),
    ("dotted keys", "a", ".a", " = 1\n"),
    ("deep arrays", "a = ", "[", "\n"),
    ("inline tables", "a = {b = 1", ", c# = {d = 1}", "}\n"),
    ("a long text", "cache = \"", "a", "\"\n"),
    ("escapes", "cache = \"", "\\u001b", "\"\n"),
    ("comments", "", "# comment\n", ""),
    ("provided files", "provide = [\"a\"", ", \"a#\"", "]\n"),
];

const ADDRESSES: &[Parts] = &[
    ("a long path", "https://registry.example.org/", "a/", ""),
    ("a long host", "https://a", ".a", "/"),
    ("escapes", "https://registry.example.org/", "%61", ""),
    ("steps up", "https://registry.example.org/", "../", ""),
    (
        "entries of netrc",
        "",
        "machine h# login a password b\n",
        "",
    ),
    ("words of netrc", "machine ", "h ", "\n"),
    ("quoted words of netrc", "machine ", "\"h\" ", "\n"),
    ("an open quote of netrc", "machine \"", "h\\\"", "\n"),
    ("macros of netrc", "", "macdef x\ny\n\n", ""),
    (
        "tokens",
        "{\"tokens\": {\"https://a.example/\": \"s\"",
        ", \"https://a#.example/\": \"s\"",
        "}}",
    ),
    (
        "a name of an archive",
        "org.acme.Web-1.0.0",
        "-1.0.0",
        ".zip",
    ),
    ("capital letters of a file", "io.", "!a", ""),
];

const LOCATIONS: &[Parts] = &[
    ("locations", "", "r#=dir:a#\n", ""),
    ("locations without names", "", "dir:a#\n", ""),
    ("locations of one name", "", "a=dir:a#\n", ""),
    ("equals signs", "a", "=", "dir:a"),
    ("a long path", "dir:", "a/", ""),
    ("steps up", "dir:", "../", ""),
];

const NAMES: &[Parts] = &[
    ("parts", "a", ".b", ""),
    ("letters", "a", "b", ""),
    ("dashes", "a", "-b", ""),
    ("parts of a path", "a", "/b", ""),
    ("composed characters of a path", "a", "e\u{301}", ""),
    ("marks of a path", "a", "\u{301}", ""),
    ("steps of a path", "a", "/..", ""),
    ("blanks", "a", " ", ""),
    ("escapes", "a", "\u{1b}", ""),
];

const COLLECTION_RECORDS: &[Parts] = &[
    (
        "requirements",
        "{\"ecosystem\":\"ansible\",\"name\":\"a.b\",\"version\":\"1.0.0\",\"require\":[[\"a.c\",\"*\"]",
        ",[\"a.c#\",\">=1\"]",
        "]}",
    ),
    (
        "classes",
        "{\"ecosystem\":\"ansible\",\"name\":\"a.b\",\"version\":\"1.0.0\",\"classes\":{\"a.b.c\":{}",
        ",\"a.b.c#\":{}",
        "}}",
    ),
    ("a range", ">=1", ",!=1.#", ""),
    ("blanks of a range", ">=1", " ", ""),
    ("numbers", "1", ".1", ""),
    ("identifiers", "1.0.0-a", ".a", ""),
];

const MODEL_RECORDS: &[Parts] = &[
    (
        "requirements",
        "{\"ecosystem\":\"opcua\",\"name\":\"a\",\"version\":\"@\",\"require\":[[\"b\",null,null,null]",
        ",[\"b#\",null,null,null]",
        "]}",
    ),
    (
        "types",
        "{\"ecosystem\":\"opcua\",\"name\":\"a\",\"version\":\"@\",\"classes\":{\"i=0\":{}",
        ",\"i=1#\":{\"extends\":[\"i=0\"]}",
        "}}",
    ),
    ("a long version", "1", ".1", "@2024-01-01"),
    ("escapes of a version", "1 ", "%41", "@"),
];

const CERTIFICATES: &[Parts] = &[
    (
        "certificates",
        "",
        "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n",
        "",
    ),
    (
        "a long certificate",
        "-----BEGIN CERTIFICATE-----\n",
        "MAAA\n",
        "-----END CERTIFICATE-----\n",
    ),
    ("beginnings", "", "-----BEGIN CERTIFICATE-----\n", ""),
    ("lines around", "", "text\n", ""),
];

const ARTIFACTS: &[Parts] = &[
    ("zeros", "", "\u{0}", ""),
    ("blocks", "", "a", ""),
    ("names of files", "", "MANIFEST.json\u{0}", ""),
];

/// All shapes of these files.
pub(crate) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut add = |name, read: fn(&[u8]), parts: &[Parts]| {
        let parts = parts.iter();
        shapes.extend(parts.map(|parts| of_parts(name, read, MIB, "", *parts)));
    };
    add("interface file", |it| run("interface_file", it), INTERFACES);
    add("validation", |it| run("validation_file", it), VALIDATIONS);
    add("resources", |it| run("resources_file", it), RESOURCES);
    add("facts", |it| run("facts", it), FACTS);
    add("baseline", |it| run("baseline", it), BASELINES);
    add("settings", |it| run("settings", it), SETTINGS);
    add("address", |it| run("addresses", it), ADDRESSES);
    add("location", |it| run("locations", it), LOCATIONS);
    add("name", |it| run("names", it), NAMES);
    add("version", |it| run("version", it), NAMES);
    add("spec", |it| run("spec", it), COLLECTION_RECORDS);
    add(
        "collection record",
        |it| run("collection_record", it),
        COLLECTION_RECORDS,
    );
    add("model record", |it| run("model_record", it), MODEL_RECORDS);
    add(
        "certificates of TLS",
        |it| run("tls_certificates", it),
        CERTIFICATES,
    );
    add("artifact", |it| run("collection_artifact", it), ARTIFACTS);
    shapes
}
