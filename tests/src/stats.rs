//! Counts of `+stats`, as a program under test printed them.

/// The sum of the counts under this name, such as `entries`, in the lines of all PEs.
///
/// # Panics
/// If a line of a PE has no number after the name.
pub fn counted(said: &str, name: &str) -> u64 {
    let counts = said.lines().filter(|line| line.contains(" entries ")).map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != name);
        words.nth(1).and_then(|word| word.parse::<u64>().ok()).expect("a number after its name")
    });
    counts.sum()
}
