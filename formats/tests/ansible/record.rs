//! The records of collections.

use super::collection;

#[test]
fn names_in_action_plugins_are_not_recorded() {
    let constants: String = (0..20_000)
        .map(|number| format!("name_of_a_constant_number_{number} = {number}\n"))
        .collect();
    let record = collection(&[
        ("plugins/action/page.py", &constants),
        ("plugins/module_utils/html.py", "tag = 1\n"),
    ]);
    let classes = record.classes.iter().flatten();
    let classes: Vec<&str> = classes.map(|class| class.name.as_str()).collect();
    assert!(classes.contains(&"acme.web.plugins.action.page.*"));
    assert!(classes.contains(&"acme.web.plugins.module_utils.html.tag"));
    assert!(record.to_line().len() < 1_000);
}

#[test]
fn a_redirect_into_a_collection_that_is_not_required_is_recorded_as_moved() {
    let runtime = "requires_ansible: '>=2.15'\nplugin_routing:\n  modules:\n    out: {redirect: acme.new.out}\n    \
        kept: {redirect: acme.new.kept}\n    older: {redirect: acme.web.out}\n";
    let record = collection(&[
        ("meta/runtime.yml", runtime),
        ("plugins/modules/kept.py", ""),
    ]);
    let line = record.to_line();
    assert!(
        line.contains(concat!(
            r#""moved":{"acme.web.plugins.modules.older":"acme.new.plugins.modules.out","#,
            r#""acme.web.plugins.modules.out":"acme.new.plugins.modules.out"}"#
        )),
        "{line}"
    );
    assert!(
        !line.contains(r#""acme.web.plugins.modules.out":{"#),
        "{line}"
    );
    assert!(
        line.contains(r#""acme.web.plugins.modules.kept":{"#),
        "{line}"
    );
}
