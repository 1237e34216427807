use super::*;

fn kinds(text: &str) -> Vec<(String, Vec<String>, ImportKind)> {
    let module = read("acme.web.plugins.modules.page", false, text.as_bytes());
    let imports = module.imports.into_iter();
    imports
        .map(|import| (import.target, import.names, import.kind))
        .collect()
}

fn one_kind(text: &str) -> ImportKind {
    let kinds = kinds(text);
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    kinds[0].2
}

const IMPORT: &str = "from ansible_collections.acme.net.plugins.module_utils.tcp import connect";

#[test]
fn imports_are_read_in_every_form() {
    let text = "from __future__ import annotations\n\
        import ansible_collections.acme.net.plugins.module_utils.tcp as tcp, os\n\
        from ansible_collections.acme.net.plugins.module_utils.tcp import (\n    connect as c,\n    close,\n)\n\
        from ..module_utils.html import render\n\
        from . import other\n\
        from ansible_collections.acme.net.plugins.module_utils.\\\n    udp import *\n\
        import ansible_collections.acme.net.plugins.\\\r\n    module_utils.ip as ip\n\
        from ansible.module_utils.basic import AnsibleModule\n";
    let tcp = "acme.net.plugins.module_utils.tcp".to_owned();
    let hard = ImportKind::Hard;
    assert_eq!(
        kinds(text),
        [
            (tcp.clone(), vec![], hard),
            (tcp, vec!["connect".to_owned(), "close".to_owned()], hard),
            (
                "acme.web.plugins.module_utils.html".to_owned(),
                vec!["render".to_owned()],
                hard
            ),
            (
                "acme.web.plugins.modules".to_owned(),
                vec!["other".to_owned()],
                hard
            ),
            ("acme.net.plugins.module_utils.udp".to_owned(), vec![], hard),
            ("acme.net.plugins.module_utils.ip".to_owned(), vec![], hard),
        ]
    );
}

#[test]
fn imports_may_have_marks_and_white_space() {
    let hard = ImportKind::Hard;
    let own = |module: &str, name: &str| {
        let module = format!("acme.web.plugins.{module}");
        (module, vec![name.to_owned()], hard)
    };
    for (text, expected) in [
        (
            "from . .  module_utils . html import render",
            own("module_utils.html", "render"),
        ),
        ("from\t.import other", own("modules", "other")),
        ("from .. import module_utils", own("", "module_utils")),
        ("from .other import (a\n)", own("modules.other", "a")),
    ] {
        let expected = (
            expected.0.trim_end_matches('.').to_owned(),
            expected.1,
            hard,
        );
        for mark in ["", "\u{feff}", "\x0c\n", "# coding: utf-8\r\n"] {
            assert_eq!(
                kinds(&format!("{mark}{text}\n")),
                std::slice::from_ref(&expected),
                "{mark}{text}"
            );
        }
    }
    assert_eq!(
        kinds("from ...... import x\nfrom ..... import y\nfrom .....acme.net import z\n"),
        [("acme.net".to_owned(), vec!["z".to_owned()], hard)]
    );
}

#[test]
fn what_is_around_an_import_says_how_certain_it_is() {
    let indented = |before: &str, after: &str| one_kind(&format!("{before}    {IMPORT}\n{after}"));
    assert_eq!(one_kind(IMPORT), ImportKind::Hard);
    assert_eq!(indented("class A:\n", ""), ImportKind::Hard);
    assert_eq!(
        indented("try:\n", "except ImportError:\n    HAS_TCP = False\n"),
        ImportKind::Guarded
    );
    assert_eq!(
        indented(
            "try:\n",
            "except (ImportError, OSError):\n    connect = None\n"
        ),
        ImportKind::Alternative
    );
    assert_eq!(
        indented("try:\n", "except OSError:\n    connect = None\n"),
        ImportKind::Hard
    );
    assert_eq!(
        indented("try:\n    pass\nexcept ImportError:\n", ""),
        ImportKind::Guarded
    );
    assert_eq!(
        indented("try:\n    connect = 1\nexcept:\n", ""),
        ImportKind::Alternative
    );
    assert_eq!(indented("if A:\n", ""), ImportKind::Guarded);
    assert_eq!(
        indented(
            "if A:\n",
            "elif B:\n    pass\nelse:\n    def connect(): pass\n"
        ),
        ImportKind::Alternative
    );
    for checking in ["TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING"] {
        let condition = format!("if {checking}:\n");
        assert_eq!(indented(&condition, ""), ImportKind::Lazy, "{checking}");
    }
    assert_eq!(
        indented("if t.TYPE_CHECKING:\n    pass\nelse:\n", ""),
        ImportKind::Guarded
    );
    assert_eq!(indented("def f():\n", ""), ImportKind::Lazy);
    assert_eq!(
        one_kind("x = importlib.import_module('ansible_collections.a.b.plugins.c')"),
        ImportKind::Dynamic
    );
}

#[test]
fn modules_are_imported_by_calls() {
    for call in [
        "__import__('NAME')",
        "importlib.import_module('NAME', package)",
        "importlib.import_module(name='NAME')",
        "importlib.import_module(package=None, name='NAME')",
        "importlib.import_module(  # of acme\n    'ansible_collections.acme.net.'\n    r'plugins.udp')",
        "from importlib import import_module as load\nload(\"NAME\")",
        "import importlib as il\nil.import_module('NAME')",
    ] {
        let text = call.replace("NAME", "ansible_collections.acme.net.plugins.udp");
        let found = kinds(&text);
        let expected = (
            "acme.net.plugins.udp".to_owned(),
            vec![],
            ImportKind::Dynamic,
        );
        assert_eq!(found, [expected], "{call}");
    }
    for text in [
        "load('ansible_collections.a.b.plugins.c')",
        "importlib.import_module(f'ansible_collections.a.b.plugins.{c}')",
        "importlib.import_module(package='ansible_collections.a.b.plugins.c')",
        "importlib.import_module()",
    ] {
        assert_eq!(kinds(text), [], "{text}");
    }
}

#[test]
fn names_are_those_of_the_top_level() {
    let text = "import os.path\nimport json as j\nfrom a import b as c\nA, (B, *C) = 1, (2, 3)\n\
        D: int = 1\nE: int\nF.g = 1\nclass G:\n    inner = 1\n    def method(self): pass\n\
        def h():\n    global I\n    local = 1\ntry:\n    import k\nexcept ImportError:\n    K = 1\n\
        for L in x:\n    pass\nwith open(x) as M:\n    N = 1\nif (O := 1):\n    pass\n@decorated\ndef p(): pass\n";
    let module = read("acme.web.plugins.module_utils.x", false, text.as_bytes());
    let names: Vec<&str> = module.names.iter().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "A", "B", "C", "D", "G", "I", "K", "L", "M", "N", "O", "c", "h", "j", "k", "os", "p"
        ]
    );
    assert!(!module.is_open);
}

#[test]
fn patterns_of_case_bind_what_they_capture() {
    let text = "match x:\n    case [A, *B]:\n        C = 1\n    case {'k': D, V.key: 1, **E}:\n        pass\n    \
        case P(F, g=H) as I:\n        pass\n    case Q.value | None:\n        pass\n    \
        case (J, [K]) if K:\n        pass\n    case _:\n        pass\n\
        def f(x):\n    match x:\n        case Local:\n            pass\n";
    let module = read("acme.web.plugins.module_utils.x", false, text.as_bytes());
    let names: Vec<&str> = module.names.iter().map(String::as_str).collect();
    assert_eq!(
        names,
        ["A", "B", "C", "D", "E", "F", "H", "I", "J", "K", "f"]
    );
    assert!(!module.is_open);
}

#[test]
fn a_module_is_open_if_its_names_cannot_be_known() {
    for text in [
        "from ansible.module_utils.basic import *",
        "def __getattr__(name): pass",
        "globals()['x'] = 1",
        "globals().update(x)",
        "globals().__setitem__('x', f)",
        "globals().setdefault('x', f)",
        "def define(name):\n    globals()[name] = 1\n",
        "locals()['x'] = f",
        "vars().update(x=f)",
        "setattr(sys.modules[__name__], 'x', f)",
        "def define(name):\n    setattr(sys.modules[__name__], name, f)\n",
        "setattr(__import__(__name__), 'x', f)",
        "module = sys.modules[__name__]\nsetattr(module, 'x', f)",
        "exec('def x(): pass')",
        "def define():\n    exec('def x(): pass', globals())\n",
        "def f(:\n",
    ] {
        let module = read("acme.web.plugins.module_utils.x", false, text.as_bytes());
        assert!(module.is_open, "{text}");
    }
    for text in [
        "setattr(Options, 'x', 1)",
        "x = globals()['y']",
        "x = globals().get('y')",
        "def f():\n    locals()['x'] = 1\n    exec('x = 1')\n",
        "class A:\n    locals()['x'] = 1\n",
        "names = {}\nnames.update(x)\nnames['x'] = 1\n",
    ] {
        let module = read("acme.web.plugins.module_utils.x", false, text.as_bytes());
        assert!(!module.is_open, "{text}");
    }
    let module = read(
        "a.b.plugins.module_utils.x.__init__",
        true,
        b"from .y import *",
    );
    assert_eq!((module.is_open, module.stars.len()), (false, 1));
}

#[test]
fn deep_and_broken_text_takes_little_time() {
    let deep = "(".repeat(100_000);
    assert!(read("a.b.plugins.x", false, deep.as_bytes()).is_open);
    let blocks: String = (0..2_000)
        .map(|depth| format!("{}if x:\n", " ".repeat(depth)))
        .collect();
    read("a.b.plugins.x", false, blocks.as_bytes());
    read("a.b.plugins.x", false, &[0xff; 1000]);
}
