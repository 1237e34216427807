//! Puzzles as universes: packages are what is to be placed, versions the places.

use crate::universe::{Range, Release, Universe};

/// Cells in a row, and values of a cell.
const SIDE: usize = 9;

/// Cells in a row of a box.
const BOX: usize = 3;

/// Sudokus: what the table calls them, and the rows of the board one after the other.
const BOARDS: [(&str, &str); 3] = [
    (
        "hard",
        "530070000600195000098000060800060003400803001700020006060000280000419005000080079",
    ),
    (
        "17",
        "000000010400000000020000000000050407008000300001090000300400200050100000000806000",
    ),
    (
        "inkala",
        "800000000003600000070090200050007000000045700000100030001000068008500010090000400",
    ),
];

/// Sudokus. A cell is a package, its value the version; each value requires all cells of the row,
/// the column and the box to have another one. The root requires the known cells.
pub fn sudokus() -> impl Iterator<Item = Universe> {
    BOARDS.iter().map(|(name, board)| sudoku(name, board))
}

/// The first of the sudokus with a value more, which goes with its row, its column and its box, and leaves no
/// solution.
pub fn wrong_sudoku() -> Universe {
    let (name, board) = BOARDS[0];
    let with_another = format!("{}1{}", &board[..2], &board[3..]);
    sudoku(&format!("{name}:wrong"), &with_another)
}

fn sudoku(name: &str, board: &str) -> Universe {
    let givens = board
        .bytes()
        .enumerate()
        .filter(|(_, digit)| *digit != b'0');
    let root = givens.map(|(cell, digit)| (cell, Range::only(u32::from(digit - b'0'))));
    Universe {
        name: format!("sudoku-{name}"),
        packages: (0..SIDE * SIDE).map(cell).collect(),
        roots: vec![root.collect()],
    }
}

fn cell(cell: usize) -> Vec<Release> {
    let place = |cell: usize| {
        let (row, column) = (cell / SIDE, cell % SIDE);
        (row, column, (row / BOX, column / BOX))
    };
    let (row, column, block) = place(cell);
    let sees = |other: &usize| {
        let (other_row, other_column, other_block) = place(*other);
        *other != cell && (other_row == row || other_column == column || other_block == block)
    };
    let values = 1..=u32::try_from(SIDE).expect("few values");
    values
        .map(|value| {
            let others = (0..SIDE * SIDE).filter(sees);
            let dependencies = others.map(|other| (other, Range::other_than(value)));
            Release::new(value, dependencies.collect())
        })
        .collect()
}

/// Pigeons, each in a hole of its own, of which there are too few if they are fewer. A pigeon is a
/// package, its hole the version; each hole requires the other pigeons to be in another one.
pub fn pigeonhole(pigeons: usize, holes: u32) -> Universe {
    let pigeon = |pigeon: usize| {
        let in_hole = |hole| {
            let others = (0..pigeons).filter(|other| *other != pigeon);
            let dependencies = others.map(|other| (other, Range::other_than(hole)));
            Release::new(hole, dependencies.collect())
        };
        (1..=holes).map(in_hole).collect()
    };
    Universe {
        name: format!("pigeon:{pigeons}:{holes}"),
        packages: (0..pigeons).map(pigeon).collect(),
        roots: vec![(0..pigeons).map(|pigeon| (pigeon, Range::FULL)).collect()],
    }
}
