//! `cargo xtask predict`: programs run for real on two processes and as simulated jobs with the model that `cargo xtask fit` has made, and how
//! far the one is from the other.

use super::skeletons::{Model, Player, Skeleton};
use crate::report::Report;
use std::fs;

/// Processes of each job.
const PROCESSES: u32 = 2;

/// What is predicted: other patterns, lengths and grains than those that the model comes from.
const PROGRAMS: [Skeleton; 8] = [
    program("stencil", 100, 0),
    program("stencil", 2_000, 20_000),
    program("stencil", 30_000, 100_000),
    program("reduce", 16, 0),
    program("reduce", 2_000, 20_000),
    program("all-to-all", 100, 0),
    program("all-to-all", 2_000, 20_000),
    program("all-to-all", 30_000, 100_000),
];

const fn program(pattern: &'static str, bytes: usize, compute_ns: u64) -> Skeleton {
    Skeleton { pattern, bytes, compute_ns, rounds: 20 }
}

/// Predicts and measures, and prints both.
pub(crate) fn run(report: &mut Report) {
    match compare(report) {
        Ok(table) => println!("\n{table}"),
        Err(why) => println!("\nno prediction: {why}"),
    }
}

fn compare(report: &mut Report) -> Result<String, String> {
    let file = Model::file();
    let text = fs::read_to_string(&file).map_err(|error| {
        format!("{}: {error}; `cargo xtask fit` makes a model of this machine", file.display())
    })?;
    let model = Model::read(&text).ok_or_else(|| format!("{} is no model: {text}", file.display()))?;
    let player = Player::build()?;
    let mut rows = Vec::new();
    for program in PROGRAMS {
        let measured_ns = player.measure(program, PROCESSES, report)?;
        let predicted_ns = player.predict(program, (PROCESSES, &model), report)?;
        rows.push(Row { program: program.describe(), predicted_ns, measured_ns });
    }
    Ok(format!("{}\n\n{}", model.line(), table(&rows)))
}

struct Row {
    program: String,
    predicted_ns: f64,
    measured_ns: f64,
}

impl Row {
    /// How far the prediction is off, of what was measured.
    fn error(&self) -> f64 {
        (self.predicted_ns - self.measured_ns) / self.measured_ns
    }
}

fn table(rows: &[Row]) -> String {
    let mut text =
        format!("{:<45} {:>12} {:>12} {:>8}\n", "each round", "predicted ns", "measured ns", "error");
    let mut errors: Vec<f64> = rows.iter().map(|row| row.error().abs()).collect();
    for row in rows {
        let Row { program, predicted_ns, measured_ns } = row;
        let percent = row.error() * 100.0;
        text += &format!("{program:<45} {predicted_ns:>12.0} {measured_ns:>12.0} {percent:>+7.1}%\n");
    }
    errors.sort_by(f64::total_cmp);
    let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    text + &format!("median error {:.1}%, worst {:.1}%", median * 100.0, worst * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_error_the_median_and_the_worst() {
        let row =
            |predicted_ns, measured_ns| Row { program: "stencil".to_owned(), predicted_ns, measured_ns };
        let text = table(&[row(110.0, 100.0), row(50.0, 100.0), row(100.0, 100.0)]);
        assert!(text.contains("+10.0%") && text.contains("-50.0%"), "{text}");
        assert!(text.ends_with("median error 10.0%, worst 50.0%"), "{text}");
    }
}
