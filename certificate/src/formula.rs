//! Inequalities with coefficients of 1, and what their variables stand for.

use std::fmt::Write as _;
use std::ops::Range;

use pkgres_manifest::{ClassName, PackageName, Version};
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
        owner: (PackageName, Version),
        /// The release that it is bound to.
        target: (PackageName, Version),
    },
    /// A requirement of a release is bound to nothing.
    Unbound {
        /// The release with the requirement.
        owner: (PackageName, Version),
        /// The required package.
        package: PackageName,
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
    /// How many of them hold at least.
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
        write!(text, ">= {} ", self.degree).expect("memory can be written");
    }
}

/// Appends a literal. Variables are numbered from 1.
pub(crate) fn write_literal(literal: Literal, text: &mut String) {
    let sign = if literal.is_negated { "~" } else { "" };
    write!(text, "{sign}x{}", literal.variable + 1).expect("memory can be written");
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
        self.to_opb_without(&(0..0))
    }

    /// The problem without some of the inequalities.
    pub(crate) fn to_opb_without(&self, without: &Range<usize>) -> String {
        let mut text = format!(
            "* #variable= {} #constraint= {}\n",
            self.meanings.len(),
            self.rows.len() - without.len()
        );
        let rows = self.rows.iter().enumerate();
        for (_, row) in rows.filter(|(at, _)| !without.contains(at)) {
            row.write(&mut text);
            text.push_str(";\n");
        }
        text
    }
}
