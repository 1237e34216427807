//! A problem as inequalities over variables that are 0 or 1, with the meaning of each variable.

use std::ops::Range;

use pkgres_manifest::{ClassName, PackageName, Release, Version};
use pkgres_proof_checker::Literal;

/// A package, and the version if the package may have several releases.
pub(crate) type Place = (PackageName, Option<Version>);

/// The meaning of a variable, which is 1 if it is true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A release is present.
    Release(PackageName, Version),
    /// No release of a package is present.
    Absent(PackageName),
    /// A requirement of a release is bound to a release.
    Binding {
        /// The release with the requirement.
        owner: Release,
        /// The release that it is bound to.
        target: Release,
    },
    /// A requirement of a release is bound to nothing.
    Unbound {
        /// The release with the requirement.
        owner: Release,
        /// The required package.
        package: PackageName,
    },
    /// An object of the model is bound to a release.
    ObjectBinding {
        /// The object.
        object: String,
        /// The release that it is bound to.
        target: Release,
    },
    /// An object of the model is bound to nothing.
    ObjectUnbound {
        /// The object.
        object: String,
    },
    /// A release finds a class in another one, and in no package that it requires before that.
    Finds {
        /// The release that looks for the class.
        owner: Release,
        /// The class, and the release that it finds it in.
        class: (ClassName, PackageName, Version),
    },
    /// An object is of a class, or its class inherits that one.
    IsOf {
        /// The object, or the place of a mapping that describes one.
        object: String,
        /// The class, and where it is defined.
        class: (ClassName, PackageName, Version),
    },
    /// An object is of a class, and that class leads to another one, which it extends or which its contract names.
    Leads {
        /// The object, or the place of a mapping that describes one.
        object: String,
        /// The class that the object is of, and where it is defined.
        class: (ClassName, PackageName, Version),
        /// The other class, and where it is defined.
        to: (ClassName, PackageName, Version),
    },
    /// A class extends another one directly. A package without a version has one release.
    Extends {
        /// The class, and where it is defined.
        class: (ClassName, PackageName, Option<Version>),
        /// The extended class, and where it is defined.
        parent: (ClassName, PackageName, Option<Version>),
    },
    /// A class inherits from another one, over any number of steps.
    Inherits {
        /// The class, and where it is defined.
        class: (ClassName, PackageName, Option<Version>),
        /// The ancestor, and where it is defined.
        ancestor: (ClassName, PackageName, Option<Version>),
    },
}

/// An inequality: at least so many of the literals hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The literals, each once.
    pub literals: Vec<Literal>,
    /// The minimum number of them that hold.
    pub degree: usize,
}

impl Row {
    /// "One of these literals holds."
    pub(crate) fn clause(literals: impl IntoIterator<Item = Literal>) -> Self {
        Self {
            literals: literals.into_iter().collect(),
            degree: 1,
        }
    }

    /// Appends the inequality as OPB, without the end of the statement.
    pub(crate) fn write(&self, text: &mut String) {
        for literal in &self.literals {
            text.push_str("1 ");
            write_literal(*literal, text);
            text.push(' ');
        }
        text.push_str(">= ");
        write_number(self.degree, text);
        text.push(' ');
    }
}

/// Appends a literal. Variables are numbered from 1.
pub(crate) fn write_literal(literal: Literal, text: &mut String) {
    text.push_str(if literal.is_negated { "~x" } else { "x" });
    write_number(literal.variable + 1, text);
}

/// Appends a number.
pub(crate) fn write_number(number: usize, text: &mut String) {
    text.push_str(itoa::Buffer::new().format(number));
}

/// A set of inequalities.
#[derive(Debug, Clone, Default)]
pub struct Formula {
    meanings: Vec<Meaning>,
    rows: Vec<Row>,
}

impl Formula {
    /// The meaning of each variable.
    pub fn meanings(&self) -> &[Meaning] {
        &self.meanings
    }

    /// The inequalities.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds a variable; returns its positive literal.
    pub(crate) fn variable(&mut self, meaning: Meaning) -> Literal {
        self.meanings.push(meaning);
        Literal::positive(self.meanings.len() - 1)
    }

    /// Adds an inequality; returns its number, from 1.
    pub(crate) fn add(&mut self, row: Row) -> usize {
        self.rows.push(row);
        self.rows.len()
    }

    /// The problem in the OPB format.
    pub fn to_opb(&self) -> String {
        self.lines().without(&(0..0))
    }

    /// The inequalities as lines.
    pub(crate) fn lines(&self) -> FormulaLines {
        let mut lines = FormulaLines {
            variables: self.meanings.len(),
            text: String::new(),
            ends: vec![0],
        };
        for row in &self.rows {
            row.write(&mut lines.text);
            lines.text.push_str(";\n");
            lines.ends.push(lines.text.len());
        }
        lines
    }
}

/// The inequalities of a formula in the OPB format.
#[derive(Debug)]
pub(crate) struct FormulaLines {
    variables: usize,
    text: String,
    /// Where each line ends, after a zero.
    ends: Vec<usize>,
}

impl FormulaLines {
    /// The problem without some of the inequalities, which are adjacent.
    pub(crate) fn without(&self, without: &Range<usize>) -> String {
        let (before, after) = (self.ends[without.start], self.ends[without.end]);
        format!(
            "* #variable= {} #constraint= {}\n{}{}",
            self.variables,
            self.ends.len() - 1 - without.len(),
            &self.text[..before],
            &self.text[after..]
        )
    }
}
