//! Finds the branches of `try` and `if`, the functions and the classes around an import.

use tree_sitter::Node;

/// The most branches around an import that are taken into account, from the inside.
const MAX_BRANCHES: usize = 32;

/// A part of the syntax tree around the current node.
#[derive(Clone, Copy)]
enum Frame {
    /// A function: what is below is executed later, if at all.
    Function,
    /// A `class` block: its names are not those of the module.
    Class,
    /// A branch of the `try` or `if` with this number.
    Branch {
        statement: usize,
        branch: usize,
        is_guard: bool,
        /// Whether the branch is for type checkers only, and never executed.
        is_for_types: bool,
    },
}

/// A `try` or `if` around the current node.
struct Statement {
    depth: usize,
    number: usize,
    /// How many of its branches were entered.
    branches: usize,
    is_guard: bool,
}

/// What is around the current node of a walk.
#[derive(Default)]
pub(super) struct Surroundings {
    /// The frames, each with the depth of its node.
    frames: Vec<(usize, Frame)>,
    statements: Vec<Statement>,
    /// How many statements were entered.
    count: usize,
}

impl Surroundings {
    /// Leaves all that does not surround nodes of a depth.
    pub(super) fn leave(&mut self, depth: usize) {
        while self.statements.last().is_some_and(|one| one.depth >= depth) {
            self.statements.pop();
        }
        while self.frames.last().is_some_and(|(at, _)| *at >= depth) {
            self.frames.pop();
        }
    }

    /// Enters a `try` or `if`.
    pub(super) fn enter_statement(&mut self, node: Node<'_>, depth: usize, text: &[u8]) {
        self.count += 1;
        self.statements.push(Statement {
            depth,
            number: self.count,
            branches: 0,
            is_guard: node.kind() == "if_statement" || catches_imports(node, text),
        });
    }

    /// Enters a function: what is below is executed later, if at all.
    pub(super) fn enter_function(&mut self, depth: usize) {
        self.frames.push((depth, Frame::Function));
    }

    /// Enters a class: its names are not those of the module.
    pub(super) fn enter_class(&mut self, depth: usize) {
        self.frames.push((depth, Frame::Class));
    }

    /// Enters a block, which may be a branch of the innermost `try` or `if`.
    pub(super) fn enter_block(&mut self, block: Node<'_>, depth: usize, text: &[u8]) {
        let Some(parent) = block.parent() else {
            return;
        };
        let is_clause = matches!(
            parent.kind(),
            "except_clause"
                | "except_group_clause"
                | "elif_clause"
                | "else_clause"
                | "finally_clause"
        );
        let statement = if is_clause {
            parent.parent()
        } else {
            Some(parent)
        };
        let is_branching = |node: Node<'_>| matches!(node.kind(), "try_statement" | "if_statement");
        let Some(statement) = statement.filter(|node| is_branching(*node)) else {
            return;
        };
        let Some(open) = self.statements.last_mut() else {
            return;
        };
        let is_try = statement.kind() == "try_statement";
        // `else` of a `try` continues its body.
        let branch = if is_try && parent.kind() == "else_clause" {
            0
        } else {
            open.branches += 1;
            open.branches - 1
        };
        let condition = parent.child_by_field_name("condition");
        let is_for_types = condition.is_some_and(|condition| is_type_checking(condition, text));
        let is_guard = open.is_guard || (is_try && is_clause && parent.kind() != "finally_clause");
        let frame = Frame::Branch {
            statement: open.number,
            branch,
            is_guard,
            is_for_types,
        };
        self.frames.push((depth, frame));
    }

    /// Whether the current node is executed later, if at all.
    pub(super) fn in_function(&self) -> bool {
        let mut frames = self.frames.iter();
        frames.any(|(_, frame)| matches!(frame, Frame::Function))
    }

    /// Whether names that are bound here are those of the module.
    pub(super) fn is_top_level(&self) -> bool {
        let mut frames = self.frames.iter();
        frames.all(|(_, frame)| matches!(frame, Frame::Branch { .. }))
    }

    /// Whether a failed import of the current node does no harm.
    pub(super) fn is_guarded(&self) -> bool {
        let mut frames = self.frames.iter();
        frames.any(|(_, frame)| matches!(frame, Frame::Branch { is_guard: true, .. }))
    }

    /// Whether the current node is for type checkers only.
    pub(super) fn is_for_types(&self) -> bool {
        let mut frames = self.frames.iter();
        frames.any(|(_, frame)| {
            matches!(
                frame,
                Frame::Branch {
                    is_for_types: true,
                    ..
                }
            )
        })
    }

    /// The branches around the current node: the number of each statement, and that of its branch.
    pub(super) fn branches(&self) -> Vec<(usize, usize)> {
        let frames = self.frames.iter().rev().take(MAX_BRANCHES);
        frames
            .filter_map(|(_, frame)| match frame {
                Frame::Branch {
                    statement, branch, ..
                } => Some((*statement, *branch)),
                _ => None,
            })
            .collect()
    }
}

/// Whether a condition is `TYPE_CHECKING` of the module `typing`, whatever the module is called here:
/// `import typing as t` is frequent.
fn is_type_checking(condition: Node<'_>, text: &[u8]) -> bool {
    let name = match condition.kind() {
        "identifier" => Some(condition),
        "attribute" => condition.child_by_field_name("attribute"),
        _ => None,
    };
    name.is_some_and(|name| text.get(name.byte_range()) == Some(&b"TYPE_CHECKING"[..]))
}

/// Whether a `try` has an `except` that catches a failed import.
fn catches_imports(statement: Node<'_>, text: &[u8]) -> bool {
    let mut cursor = statement.walk();
    statement.named_children(&mut cursor).any(|clause| {
        if !matches!(clause.kind(), "except_clause" | "except_group_clause") {
            return false;
        }
        let mut cursor = clause.walk();
        let caught = clause
            .named_children(&mut cursor)
            .find(|child| child.kind() != "block" && child.kind() != "comment");
        let Some(caught) = caught else {
            return true;
        };
        let caught = text.get(caught.byte_range()).unwrap_or_default();
        let caught = String::from_utf8_lossy(caught);
        let words = caught.split(|next: char| !next.is_alphanumeric() && next != '_');
        let mut words = words.take(64);
        words.any(|word| {
            matches!(
                word,
                "ImportError" | "ModuleNotFoundError" | "Exception" | "BaseException"
            )
        })
    })
}
