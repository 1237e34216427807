//! Options as documentation states them.

use std::sync::LazyLock;

use super::*;

/// Files in memory.
struct Files<Text>(Vec<(Text, Text)>);

impl<Text: AsRef<str>> FileTree for Files<Text> {
    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        let paths = self.0.iter().map(|(path, _)| path.as_ref().to_owned());
        Ok(paths.collect())
    }

    fn read(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let file = self.0.iter().find(|(known, _)| known.as_ref() == path);
        Ok(file.map(|(_, text)| text.as_ref().as_bytes().to_vec()))
    }
}

/// The options of the plug-ins of `acme.web` as lines, and the findings.
fn lines(files: Vec<(&'static str, &'static str)>) -> Vec<String> {
    let read = read(
        "acme.web",
        "web",
        &Files(files),
        &[],
        &ReadOptions::default(),
    );
    let (classes, findings) = read.expect("files in memory can be read");
    let mut lines = Vec::new();
    for (class, options) in classes {
        lines.push(format!("{class} {:?}", options.others));
        for option in options.options {
            lines.push(format!(
                "{} {:?} required={} `{}` {:?} {:?} {} {}",
                option.name,
                option.aliases,
                option.is_required,
                option.value_type,
                option.choices,
                option.default,
                option.suboptions.len(),
                option.location,
            ));
        }
    }
    lines.extend(findings.iter().map(|it| it.message.clone()));
    lines
}

#[test]
fn options_have_what_their_documentation_says() {
    let module = "#!/usr/bin/python\n\nDOCUMENTATION = r'''\nmodule: page\noptions:\n  port:\n    type: int\n    \
        required: yes\n    aliases: [p, number]\n  state:\n    choices: {present: There, absent: Gone}\n    default: present\n  \
        force: {type: bool, default: 'no', choices: [yes, false]}\n  rules:\n    type: list\n    elements: dict\n    default: []\n    \
        suboptions:\n      from: {type: str}\n'''  # end\nEXAMPLES = '''\noptions: {}\n'''\n";
    assert_eq!(
        lines(vec![("plugins/modules/page.py", module)]),
        [
            "acme.web.plugins.modules.page {}",
            "port [\"p\", \"number\"] required=true `int` [] None 0 web/plugins/modules/page.py:6:3",
            "state [] required=false `` [\"present\", \"absent\"] Some(\"present\") 0 web/plugins/modules/page.py:10:3",
            "force [] required=false `bool` [\"true\", \"false\"] Some(\"false\") 0 web/plugins/modules/page.py:13:3",
            "rules [] required=false `list of dict` [] Some(\"[]\") 1 web/plugins/modules/page.py:14:3",
        ]
    );
}

#[test]
fn fragments_of_the_collection_are_read_and_others_named() {
    let fragment = "class ModuleDocFragment(object):\n    DOCUMENTATION = r'''\noptions:\n  host: {type: str}\n  port: {type: str}\n'''\n    \
        TLS = \"\"\"\noptions:\n  ca: {type: path}\n\"\"\"\n";
    let module = "DOCUMENTATION = '''\nextends_documentation_fragment:\n  - acme.web.tcp\n  - acme.web.tcp.tls\n  - acme.web.gone\n  - \
        files\noptions:\n  port: {type: int}\n'''\n";
    assert_eq!(
        lines(vec![
            ("plugins/doc_fragments/tcp.py", fragment),
            ("plugins/lookup/find.py", module),
        ]),
        [
            "acme.web.plugins.lookup.find {\"acme.web.gone (unread)\", \"files\"}",
            "port [] required=false `int` [] None 0 web/plugins/lookup/find.py:8:3",
            "host [] required=false `str` [] None 0 web/plugins/doc_fragments/tcp.py:4:3",
            "ca [] required=false `path` [] None 0 web/plugins/doc_fragments/tcp.py:9:3",
        ]
    );
}

/// A module that is too large to be parsed.
static LARGE: LazyLock<String> = LazyLock::new(|| {
    let module = "DOCUMENTATION = '''\noptions: {i: {type: str}}\n'''\n".to_owned();
    module + &"#".repeat(crate::ansible::python::MAX_MODULE_BYTES)
});

#[test]
fn what_is_computed_or_broken_is_unknown() {
    let files = vec![
        (
            "plugins/modules/a.py",
            "DOCUMENTATION = '''\noptions: {a: {}}\n''' + MORE\n",
        ),
        (
            "plugins/modules/b.py",
            "DOCUMENTATION = '''\noptions: [\n'''\n",
        ),
        ("plugins/modules/c.py", "DOCUMENTATION = 'options'\n"),
        (
            "plugins/modules/d.py",
            "DOCUMENTATION = '''\noptions: {d: {default: \"\\\\\\\\d\"}}",
        ),
        ("plugins/modules/e.yml", "- DOCUMENTATION\n"),
        (
            "plugins/modules/h.py",
            "DOCUMENTATION = '''\noptions: {h: {type: str}}\n''' if\n",
        ),
        ("plugins/modules/i.py", LARGE.as_str()),
        (
            "plugins/module_utils/f.py",
            "DOCUMENTATION = '''\noptions: {f: {}}\n'''\n",
        ),
        (
            "plugins/filter/g.yml",
            "DOCUMENTATION:\n  options:\n    g: {type: str}\n",
        ),
    ];
    assert_eq!(
        lines(files),
        [
            "acme.web.plugins.filter.g {}",
            "g [] required=false `str` [] None 0 web/plugins/filter/g.yml:3:5",
            "`DOCUMENTATION` is not a plain text, so its options are unknown",
            "`DOCUMENTATION` cannot be read as YAML, so its options are unknown",
            "`DOCUMENTATION` is not found, because the module cannot be parsed, so its options are unknown",
            "`DOCUMENTATION` is not found, because the module cannot be parsed, so its options are unknown",
            "`DOCUMENTATION` is not found, because the module cannot be parsed, so its options are unknown",
        ]
    );
}

#[test]
fn literals_of_any_form_are_read() {
    for (text, place) in [
        ("\\\n\"\"\"\noptions:\n  a: {type: str}\n\"\"\"", "4:3"),
        (
            "(\"\"\"\nmodule: m\n\"\"\"\n  \"\"\"options:\n  a: {type: str}\n\"\"\")",
            "5:3",
        ),
        ("\"module: m\\noptions:\\n  a: {type: str}\\n\"", "1:41"),
    ] {
        let module = format!("DOCUMENTATION = {text}\n");
        assert_eq!(
            lines(vec![("plugins/modules/m.py", module.leak())]),
            [
                "acme.web.plugins.modules.m {}".to_owned(),
                format!("a [] required=false `str` [] None 0 web/plugins/modules/m.py:{place}"),
            ]
        );
    }
}

/// A fragment of `acme.web` with many options.
fn large_fragment(options: usize) -> (String, String) {
    let options: String = (0..options).map(|at| format!("  o{at}:\n")).collect();
    let text =
        format!("class ModuleDocFragment:\n    DOCUMENTATION = r'''\noptions:\n{options}'''\n");
    ("plugins/doc_fragments/all.py".to_owned(), text)
}

/// A module of `acme.web` that names the fragment some times.
fn module_with_fragment(module: usize, times: usize) -> (String, String) {
    let names = "acme.web.all,".repeat(times);
    let text = format!("DOCUMENTATION = r'''\nextends_documentation_fragment: {names}\n'''\n");
    (format!("plugins/modules/m{module}.py"), text)
}

#[test]
fn a_fragment_that_is_named_often_is_included_once() {
    let files = vec![large_fragment(20_000), module_with_fragment(0, 10_000)];
    let read = read(
        "acme.web",
        "web",
        &Files(files),
        &[],
        &ReadOptions::default(),
    );
    let (classes, findings) = read.expect("files in memory can be read");
    assert_eq!(findings, []);
    let counts: Vec<usize> = classes.values().map(|class| class.options.len()).collect();
    assert_eq!(counts, [20_000]);
}

#[test]
fn copies_of_options_are_limited() {
    let read = |modules: usize, redirects: &[(String, String)]| {
        let mut files = vec![large_fragment(20_000)];
        files.extend((0..modules).map(|module| module_with_fragment(module, 1)));
        let tree = Files(files);
        read("acme.web", "web", &tree, redirects, &ReadOptions::default())
    };
    let redirects = |count: usize| -> Vec<(String, String)> {
        let from = (0..count).map(|at| format!("plugins.modules.old{at}"));
        from.map(|path| (path, "plugins.modules.m0".to_owned()))
            .collect()
    };
    let (classes, _) = read(10, &redirects(2)).expect("they are not that many");
    assert_eq!(classes.len(), 12);
    for (modules, redirects) in [(13, redirects(0)), (10, redirects(3))] {
        let error = read(modules, &redirects).expect_err("they are too many");
        assert_eq!(error.code, Code::Limit);
    }
}

/// A redirect copies the names of fragments of others as well.
#[test]
fn copies_of_names_of_fragments_are_limited() {
    let names: String = (0..1_000).map(|at| format!("acme.net.f{at},")).collect();
    let text = format!("DOCUMENTATION = r'''\nextends_documentation_fragment: {names}\n'''\n");
    let tree = Files(vec![("plugins/modules/m0.py".to_owned(), text)]);
    let read = |redirects: usize| {
        let from = (0..redirects).map(|at| format!("plugins.modules.old{at}"));
        let redirects: Vec<(String, String)> = from
            .map(|path| (path, "plugins.modules.m0".to_owned()))
            .collect();
        read(
            "acme.web",
            "web",
            &tree,
            &redirects,
            &ReadOptions::default(),
        )
    };
    let (classes, _) = read(250).expect("they are not that many");
    assert_eq!(classes.len(), 251);
    let error = read(251).expect_err("they are too many");
    assert_eq!(error.code, Code::Limit);
}
