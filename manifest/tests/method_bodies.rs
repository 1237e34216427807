//! Which bodies of methods the deployment engine loads. Each row was measured on Murano's own engine.

use pkgres_manifest::{ReadOptions, read_class_file};

/// The findings on a body, which begins below its key.
fn rejections(body: &str) -> Vec<String> {
    let indented: String = body.lines().map(|line| format!("      {line}\n")).collect();
    let text = format!("Name: org.acme.Web\nMethods:\n  deploy:\n    Body:\n{indented}");
    let read = read_class_file("Web.yaml", text.as_bytes(), &[], &ReadOptions::default());
    let (classes, _) = read.into_result().expect(body);
    let rejections = classes[0].rejections.iter();
    rejections.map(|finding| finding.message.clone()).collect()
}

#[test]
fn statements_are_expressions_assignments_and_blocks() {
    for body in [
        "~",
        "$.deploy()",
        "- $x.y[0].z",
        "- new(:Db, name => 'a b')",
        "- $x: 1",
        "- $.x: [a, b]",
        "- $x[0]: {a: 1}",
        "- f(1): 2",
        "- !yaql word",
        "- Return: {a: word}",
        "- Break:\n- Continue: ''\n- Break: 0\n- Continue: no",
        "- Do: $x\n- Do:\n- Do: []",
        "- Parallel: [$x, $y]\n  Limit: word",
        "- If: word\n  Then:\n    $x: 1\n  Else:",
        "- While: $x < 3\n  Do: []",
        "- For: item\n  In: 5\n  Do:\n    - $item.run()",
        "- For: \"a + b\"\n  In: $x\n  Do: []",
        "- Repeat: 0x1f\n  Do: []\n- Repeat: 1:30\n  Do: []\n- Repeat: yes\n  Do: []\n- Repeat: $n\n  Do: []",
        "- Match: {a: [5]}\n  Value: word\n  Default: [$x]",
        "- Switch:\n    $x > 1: word\n  Default:",
        "- Throw: Failed\n  Message: word\n  Extra: [1]\n  Cause: $e",
        "- Throw: {a: 1}",
        "- Try: [$x]\n  Catch:\n    With: Failed\n    As: e\n    Do: [$e]\n  Finally: $y\n  Else: []",
        "- Try:\n  Catch: [{}, {Do: }]",
        "- Rethrow: 5",
    ] {
        assert_eq!(rejections(body), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn other_statements_are_rejected() {
    for (body, expected) in [
        ("word", "`word` is not a statement"),
        ("- a.b", "`a.b` is not a statement"),
        ("- 5", "`5` is not a statement"),
        ("- -5", "`-5` is not a statement"),
        ("- 2001-01-01", "`2001-01-01` is not a statement"),
        ("-", "nothing is not a statement"),
        ("- Break", "`Break` is not a statement"),
        ("- $x +", "`$x +` is not a valid expression"),
        ("- f(a,)", "`f(a,)` is not a valid expression"),
        (
            "- '$x.run()'",
            "`$x.run()` is quoted, so the engine does not read it as an expression",
        ),
        (
            "- |\n  $x.run()",
            "`$x.run()` is quoted, so the engine does not read it as an expression",
        ),
        ("- [$x]", "a list is not a statement"),
        ("- {}", "an empty mapping is not a statement"),
        (
            "- x: 1",
            "`x` is neither a variable nor a block such as `If`",
        ),
        (
            "- \"$x\": 1",
            "`$x` is quoted, so the engine does not read it as a variable",
        ),
        (
            "- $x: 1\n  $y: 2",
            "an assignment is a statement of its own",
        ),
        (
            "- $x: 1\n  Do: []",
            "an assignment is a statement of its own",
        ),
        ("- Then: []", "`Then` belongs to `If`, which is missing"),
        ("- Return: 1\n  Else: 2", "`Return` has no `Else`"),
        ("- Break: 1", "`Break` has no value"),
        ("- Continue: yes", "`Continue` has no value"),
        ("- If: $x", "`If` needs `Then`"),
        ("- If: $x\n  Than: []", "`If` has no `Than`"),
        ("- If: $x\n  Then: []\n  1: []", "`If` has no `1`"),
        ("- If: $x\n  Then: false", "`false` is not a statement"),
        ("- While: true\n  Do: []", "`While` must be an expression"),
        (
            "- For: $i\n  In: $x\n  Do: []",
            "`For` must be the name of a variable, without `$`",
        ),
        (
            "- For: yes\n  In: $x\n  Do: []",
            "`For` must be the name of a variable, without `$`",
        ),
        ("- For: i\n  Do: []", "`For` needs `In`"),
        (
            "- Repeat: 1.5\n  Do: []",
            "`Repeat` must be an integer or an expression",
        ),
        (
            "- Repeat: '5'\n  Do: []",
            "`Repeat` must be an integer or an expression",
        ),
        (
            "- Match: [a]\n  Value: $x",
            "`Match` must be a mapping of cases",
        ),
        ("- Match: {a: []}", "`Match` needs `Value`"),
        ("- Switch: $x", "`Switch` must be a mapping of cases"),
        ("- Switch: {}\n  Default: 5", "`5` is not a statement"),
        ("- Throw: 0", "`Throw` needs the name of an exception"),
        ("- Throw:", "`Throw` needs the name of an exception"),
        (
            "- Try: []\n  Catch: Failed",
            "`Catch` must have `With`, `As` or `Do`",
        ),
        (
            "- Try: []\n  Catch: [{When: Failed}]",
            "`Catch` has no `When`",
        ),
        (
            "- Try: []\n  Catch: {Do: [[$x]]}",
            "a list is not a statement",
        ),
        ("- Try: []\n  Finally: [5]", "`5` is not a statement"),
        (
            "- Parallel: [{For: i, In: $x, Do: [oops]}]",
            "`oops` is not a statement",
        ),
    ] {
        assert_eq!(rejections(body), [expected], "{body}");
    }
}

#[test]
fn every_mistake_is_found_where_it_is() {
    let body = "- $x: 1\n- one\n- If: $x\n  Then: [two]\n  Else:\n    - For: i\n      In: $x\n      Do: three\n- four";
    let expected = ["one", "two", "three", "four"];
    assert_eq!(
        rejections(body),
        expected.map(|word| format!("`{word}` is not a statement"))
    );
}

/// An expression is in a list, so that the row has no other mistake.
#[test]
fn expressions_follow_the_grammar_of_yaql() {
    for text in [
        "$",
        "$x",
        "(1)",
        "1 + 2",
        "-x",
        "not $x",
        "(a and b)",
        "(a in b)",
        "$ is :A",
        "std:Object.new()",
        ":A",
        "::A",
        "$x?.y",
        "$x =~ 'a'",
        "$x -> $y",
        "a.b()",
        "$x[]",
        "$x[1, 2]",
        "f()",
        "f(,a)",
        "f(a,,b)",
        "f(a, b => 1)",
        "f(a,, b => 1)",
        "f(a => 1, b => 2)",
        "f(a, , , b)",
        "$.where($.x > 1).select([$, 2])",
        "$x.(y)",
        "f(\"a'b\") + 'c'",
        "f(`a`) + 1",
        "f('\\'')",
        "$x = 1 or $y != 2",
        "1.2.3 + 1",
        "$\u{e9} + \u{e9}",
        "$x.a mod 2",
        "f(not($x))",
        "a - b",
    ] {
        assert_eq!(rejections(&format!("- {text}")), Vec::<String>::new());
    }
    for text in [
        "$x $y",
        "()",
        "(1, 2)",
        "(a => 1)",
        "f(a => b => 1)",
        "1x + 1",
        "f(a,)",
        "f(,)",
        "f(, a => 1)",
        "f(a,,, b => 1)",
        "f(a => 1, b)",
        "f(a => 1,, b => 2)",
        "$x + * 2",
        "$x }",
        "f(]",
        "f(",
        "$x(1)",
        "a and(b)",
        "$x; $y",
        "a & b",
        "f('a",
        "f('a\\')",
        "__x + 1",
        "a => b",
        "$x{a => 1}",
        "$x not $y",
        "a ? b",
        "f(@a)",
        "$x % 2",
        "$x == 1",
        "-",
    ] {
        assert!(!rejections(&format!("- {text}")).is_empty(), "{text}");
    }
}
