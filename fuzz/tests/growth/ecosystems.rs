//! Shapes of the files of other ecosystems: NodeSet files, requirements and modules of collections, and answers of
//! Galaxy.

use pkgres_fuzzing::target;

use crate::Shape;
use crate::documents::{Parts, of_parts};

const MIB: usize = 1 << 20;

/// Runs a fuzz target.
fn run(name: &str, input: &[u8]) {
    let target = target(name).expect("a fuzz target");
    (target.run)(input);
}

fn node_set(input: &[u8]) {
    run("nodeset", input);
}

fn requirements(input: &[u8]) {
    run("requirements_file", input);
}

fn collection_files(input: &[u8]) {
    run("collection_files", input);
}

fn galaxy_answers(input: &[u8]) {
    run("galaxy_answers", input);
}

/// The beginning of a NodeSet file.
const MODEL: &str = "<UANodeSet xmlns='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd'><NamespaceUris><Uri>a:b</Uri>\
                     </NamespaceUris><Models><Model ModelUri='a:b' Version='1'/></Models>";

/// Shapes of NodeSet files after their beginning.
const NODE_SETS: &[Parts] = &[
    (
        "types",
        "",
        "<UAObjectType NodeId='ns=1;i=#' BrowseName='1:T#'/>",
        "</UANodeSet>",
    ),
    (
        "types of one id",
        "",
        "<UAObjectType NodeId='ns=1;i=1' BrowseName='1:T#'/>",
        "</UANodeSet>",
    ),
    (
        "types without ids",
        "",
        "<UAObjectType BrowseName='1:T#'/>",
        "</UANodeSet>",
    ),
    (
        "types of one supertype",
        "",
        "<UAObjectType NodeId='ns=1;i=#'><References><Reference ReferenceType='i=45' IsForward='false'>i=58</Reference>\
         </References></UAObjectType>",
        "</UANodeSet>",
    ),
    (
        "supertypes of a type",
        "<UAObjectType NodeId='ns=1;i=1'><References>",
        "<Reference ReferenceType='i=45' IsForward='false'>i=#</Reference>",
        "</References></UAObjectType></UANodeSet>",
    ),
    (
        "subtypes of a type",
        "<UAObjectType NodeId='ns=1;i=1'><References>",
        "<Reference ReferenceType='HasSubtype'>ns=1;i=#</Reference>",
        "</References></UAObjectType></UANodeSet>",
    ),
    (
        "members of a type",
        "<UAObjectType NodeId='ns=1;s=T'><References>",
        "<Reference ReferenceType='i=47'>ns=1;i=#</Reference>",
        "</References></UAObjectType></UANodeSet>",
    ),
    (
        "mandatory members of one type",
        "<UAObjectType NodeId='ns=1;s=T'/>",
        "<UAObject NodeId='ns=1;i=#' BrowseName='1:m#'><References><Reference ReferenceType='i=37'>i=78</Reference>\
         <Reference ReferenceType='i=47' IsForward='false'>ns=1;s=T</Reference></References></UAObject>",
        "</UANodeSet>",
    ),
    (
        "types with one member",
        "<UAObject NodeId='ns=1;s=m' BrowseName='1:m'><References><Reference ReferenceType='i=37'>i=78</Reference>\
         </References></UAObject>",
        "<UAObjectType NodeId='ns=1;i=#'><References><Reference ReferenceType='i=47'>ns=1;s=m</Reference></References>\
         </UAObjectType>",
        "</UANodeSet>",
    ),
    (
        "names of reference types",
        "<UAObject NodeId='ns=1;i=1'><References>",
        "<Reference ReferenceType='A#'>i=1</Reference>",
        "</References></UAObject></UANodeSet>",
    ),
    (
        "namespaces in ids",
        "",
        "<UAObject NodeId='nsu=a:n#;i=1'/>",
        "</UANodeSet>",
    ),
    (
        "aliases",
        "<Aliases>",
        "<Alias Alias='Alias#'>ns=0;i=1</Alias>",
        "</Aliases></UANodeSet>",
    ),
    (
        "fields of a data type",
        "<UADataType NodeId='ns=1;i=1'><Definition>",
        "<Field Name='f#' DataType='i=#'/>",
        "</Definition></UADataType></UANodeSet>",
    ),
    (
        "attributes",
        "<UAObject NodeId='ns=1;i=1' ",
        "a#='v' ",
        "/></UANodeSet>",
    ),
    (
        "a long attribute",
        "<UAObjectType NodeId='ns=1;i=1' BrowseName='",
        "x",
        "'/></UANodeSet>",
    ),
    (
        "references to characters in an attribute",
        "<UAObjectType NodeId='ns=1;i=1' BrowseName='",
        "&amp;",
        "'/></UANodeSet>",
    ),
    (
        "references to characters in a text",
        "<UAObjectType NodeId='ns=1;i=1'><References><Reference ReferenceType='HasSubtype'>",
        "&lt;",
        "</Reference></References></UAObjectType></UANodeSet>",
    ),
    (
        "a long id",
        "<UAObjectType NodeId='ns=1;s=",
        "x",
        "'/></UANodeSet>",
    ),
    ("comments", "", "<!-- c -->", "</UANodeSet>"),
    ("a long comment", "<!--", "x", "--></UANodeSet>"),
    ("instructions", "", "<?a b?>", "</UANodeSet>"),
    ("unknown elements", "", "<a><b c='d'/>e</a>", "</UANodeSet>"),
    ("parts of a text", "", "<![CDATA[a]]>b", "</UANodeSet>"),
    ("a long name", "<a", "x", "/></UANodeSet>"),
    (
        "models",
        "<Models>",
        "<Model ModelUri='a:m#'/>",
        "</Models></UANodeSet>",
    ),
];

/// Shapes of requirements files.
const REQUIREMENTS: &[Parts] = &[
    (
        "collections",
        "collections:\n",
        "- name: a.c#\n  version: '>=1.0'\n",
        "",
    ),
    ("names of collections", "collections:\n", "- a.c#\n", ""),
    ("one collection", "collections:\n", "- a.c\n", ""),
    ("names that are none", "collections:\n", "- a#\n", ""),
    ("roles", "roles:\n", "- name: r#\n", ""),
    (
        "a long range",
        "collections:\n- name: a.c\n  version: '>=1.0",
        ",!=1.#",
        "'\n",
    ),
    ("tasks", "", "- a.c.m#:\n    k: v\n", ""),
    (
        "tasks in blocks",
        "- block:\n",
        "  - a.c.m:\n      k#: v\n",
        "",
    ),
];

/// Shapes of modules in Python, which are metadata files as well.
const PYTHON: &[Parts] = &[
    (
        "imports",
        "",
        "import ansible_collections.a.b.plugins.module_utils.m#\n",
        "",
    ),
    (
        "imported names",
        "from ansible_collections.a.b.plugins.module_utils.m import (",
        "n#, ",
        ")\n",
    ),
    ("lines", "", "x# = 1\n", ""),
    ("a long line", "x = [", "1, ", "]\n"),
    ("brackets", "x = ", "(", "\n"),
    ("a long text", "x = '", "y", "'\n"),
    (
        "a long documentation",
        "DOCUMENTATION = r'''\n",
        "k#: v\n",
        "'''\n",
    ),
    ("texts in triple quotes", "", "'''a'''\n", ""),
    ("continued lines", "x = 1", " \\\n + 1", "\n"),
    (
        "blocks",
        "",
        "try:\n    import a#\nexcept ImportError:\n    pass\n",
        "",
    ),
];

/// Shapes of the answers of Galaxy.
const GALAXY: &[Parts] = &[
    (
        "versions",
        "{\"data\":[{\"version\":\"1.0.0\"}",
        ",{\"version\":\"1.#.0\"}",
        "],\"links\":{\"next\":null}}\n",
    ),
    (
        "pages",
        "",
        "{\"data\":[{\"version\":\"1.#.0\"}],\"links\":{\"next\":\"/api/v3/?offset=#\"}}\n",
        "",
    ),
    (
        "dependencies",
        "{\"version\":\"1.2.0\",\"artifact\":{\"sha256\":\"\",\"size\":1},\"metadata\":{\"dependencies\":{\"a.b\":\"*\"",
        ",\"a.c#\":\">=1\"",
        "}}}\n",
    ),
    ("unknown keys", "{\"a\":1", ",\"k#\":[1]", "}\n"),
];

/// All shapes of other ecosystems.
pub(crate) fn shapes() -> Vec<Shape> {
    let of = |reader, read: fn(&[u8]), limit, prefix, parts: &[Parts]| -> Vec<Shape> {
        let parts = parts.iter();
        parts
            .map(|parts| of_parts(reader, read, limit, prefix, *parts))
            .collect()
    };
    let mut shapes = of("NodeSet", node_set, 32 * MIB, MODEL, NODE_SETS);
    shapes.extend(of("requirements", requirements, MIB, "", REQUIREMENTS));
    shapes.extend(of("collection", collection_files, MIB, "", PYTHON));
    shapes.extend(of("Galaxy", galaxy_answers, 16 * MIB, "", GALAXY));
    shapes
}
