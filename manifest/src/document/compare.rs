//! Whether a document that was edited still says what it said.

use super::{Entry, Mapping, Node, Value};

/// Whether two trees say the same in the same order, wherever their parts stand, but for some keys
/// of mappings with what is below them. `left_out` has these keys for a mapping of the first tree.
pub(crate) fn same_but_for<'keys>(
    before: &Node,
    after: &Node,
    left_out: &dyn Fn(&Node) -> &'keys [&'keys str],
) -> bool {
    let mut rest = vec![(before, after)];
    while let Some((before, after)) = rest.pop() {
        match (&before.value, &after.value) {
            (Value::Scalar(one), Value::Scalar(two)) if one == two => {}
            (Value::Sequence(one), Value::Sequence(two)) if one.len() == two.len() => {
                rest.extend(one.iter().zip(two));
            }
            (Value::Mapping(one), Value::Mapping(two)) => {
                let keys = left_out(before);
                let (one, two) = (without(one, keys), without(two, keys));
                let is_same_key = |(one, two): (&&Entry, &&Entry)| one.key == two.key;
                if one.len() != two.len() || !one.iter().zip(&two).all(is_same_key) {
                    return false;
                }
                let values = one.iter().zip(&two);
                rest.extend(values.map(|(one, two)| (&one.value, &two.value)));
            }
            _ => return false,
        }
    }
    true
}

fn without<'mapping>(mapping: &'mapping Mapping, keys: &[&str]) -> Vec<&'mapping Entry> {
    let entries = mapping.entries.iter();
    entries
        .filter(|entry| !keys.contains(&entry.key.text.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceText;
    use crate::document::{Syntax, parse_yaml};

    fn node(text: &str) -> Node {
        let syntax = Syntax {
            depth: 64,
            nodes: 1000,
            yaql_tag: false,
        };
        let nodes = parse_yaml(&SourceText::new("text", text), syntax).nodes;
        nodes.into_iter().flatten().next().expect("a document")
    }

    #[test]
    fn where_something_stands_makes_no_difference_and_all_else_does() {
        let before = node("a: [1, {b: x}]\nc: '2'\nd: 3\n");
        let top = before.span;
        let same = |after: &str, keys: &[&'static str]| {
            let left_out = |node: &Node| if node.span == top { keys } else { &[] };
            same_but_for(&before, &node(after), &left_out)
        };
        assert!(same("a:\n- 1\n- b: x\nc: '2' # note\nd: 3\n", &[]));
        for other in [
            "a: [1, {b: x}]\nc: 2\nd: 3\n",
            "a: [1, {b: y}]\nc: '2'\nd: 3\n",
            "a: [1, {e: x}]\nc: '2'\nd: 3\n",
            "a: [1, {b: x, e: 1}]\nc: '2'\nd: 3\n",
            "a: [1]\nc: '2'\nd: 3\n",
            "a: 1\nc: '2'\nd: 3\n",
            "c: '2'\na: [1, {b: x}]\nd: 3\n",
        ] {
            assert!(!same(other, &["d"]), "{other}");
        }
        assert!(same("a: [1, {b: x}]\nc: '2'\n", &["d"]));
        assert!(same("d: 4\na: [1, {b: x}]\nc: '2'\n", &["d"]));
        assert!(
            !same("a: [1, {}]\nc: '2'\nd: 3\n", &["b"]),
            "another mapping"
        );
    }
}
