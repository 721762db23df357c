//! Tables of `+stats`, as a program under test printed them.

/// The columns of what every PE counts, and of what it did with layouts.
const COUNTED: [&str; 7] = ["sent", "entries", "bytes", "encodes", "copies", "copied", "idle"];
const LAYOUTS: [&str; 5] = ["stepped", "packed", "sieved", "vectored", "helped"];

/// A row of a table: of a PE, of what happened on a node outside of its PEs, or of all that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// `PE 3`, `node 1 outside`, `node 1 in all`, and behind a comma what else is counted: `PE 3, layouts`.
    pub name: String,
    counts: Vec<u64>,
}

impl Row {
    /// The rows that a program printed, in their order.
    pub fn all(said: &str) -> Vec<Self> {
        said.lines().filter_map(Self::read).collect()
    }

    fn read(line: &str) -> Option<Self> {
        let mut cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        let name = cells.next()?.to_owned();
        let is_row = name.starts_with("PE ") || name.contains(" outside") || name.contains(" in all");
        let counts: Option<Vec<u64>> = cells
            .map(|cell| match cell.trim_end_matches(" %") {
                "-" => Some(0),
                number => number.parse().ok(),
            })
            .collect();
        let row = Self { name, counts: counts.filter(|_| is_row)? };
        (row.counts.len() == row.columns().len()).then_some(row)
    }

    fn columns(&self) -> &'static [&'static str] {
        if self.name.ends_with(", layouts") { &LAYOUTS } else { &COUNTED }
    }

    /// The count in the column of this name; `None` in a row of another table.
    pub fn count(&self, column: &str) -> Option<u64> {
        self.columns().iter().position(|name| *name == column).map(|place| self.counts[place])
    }

    /// Whether it is a sum of the others of its node.
    pub fn is_sum(&self) -> bool {
        self.name.contains(" in all")
    }
}

/// The sum of the counts under this name, such as `entries`, over all processes; zero where nobody printed such a table.
///
/// # Panics
/// If the sums that were printed are not those of their rows.
pub fn counted(said: &str, name: &str) -> u64 {
    let (sums, parts): (Vec<_>, Vec<_>) =
        Row::all(said).into_iter().filter(|row| row.count(name).is_some()).partition(Row::is_sum);
    let [sum, of_parts] =
        [&sums, &parts].map(|rows| rows.iter().filter_map(|row| row.count(name)).sum::<u64>());
    assert_eq!(sum, of_parts, "{name}: {said}");
    sum
}
