//! A fuzz target: a parser, and what must hold for each input.

/// A parser with the properties that hold for every input, and inputs to start from.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name, by which it is run.
    pub name: &'static str,
    /// Reads an input. Panics if a property does not hold.
    pub run: fn(&[u8]),
    /// Inputs that reach most of the parser.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format, which mutations insert.
    pub words: &'static [&'static str],
    /// The number of inputs of a quick run.
    pub quick: usize,
}
