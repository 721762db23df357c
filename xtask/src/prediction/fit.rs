//! `cargo xtask fit`: the numbers of a model of this machine, from what is measured between two processes.
//!
//! | number | from |
//! |---|---|
//! | cost of an entry | the round of a PE that calls itself |
//! | `G` | the slope of the time of a message to and fro over its length, by least squares |
//! | `o` | the time of each message of a flood, less the entry: the receiver's, which is the slower end |
//! | `g` | the same: what an interface alone would take cannot be told from what a processor takes |
//! | `L` | the time at length 0 of a message to and fro, less `2 o` and the entry |
//!
//! `O` stays 0: a processor's time for each byte is in `G`, which keeps the receiver's processor, too.

use super::skeletons::{Model, Player, Skeleton};
use crate::report::Report;
use std::fs;

/// Lengths of messages to and fro.
const BYTES: [usize; 7] = [8, 256, 1_024, 4_096, 16_384, 65_536, 262_144];

/// Length of messages of a flood: the shortest one.
const FLOOD_BYTES: usize = BYTES[0];

/// Measures, and writes the model's line.
pub(crate) fn run(report: &mut Report) {
    match measure(report) {
        Ok(model) => {
            let (file, line) = (Model::file(), model.line());
            println!("\n{line}");
            match fs::write(&file, format!("{line}\n")) {
                Ok(()) => println!("kept in {}", file.display()),
                Err(error) => println!("not kept in {}: {error}", file.display()),
            }
        }
        Err(why) => println!("\nno model: {why}"),
    }
}

fn measure(report: &mut Report) -> Result<Model, String> {
    let player = Player::build()?;
    let skeleton = |pattern, bytes, rounds| Skeleton { pattern, bytes, compute_ns: 0, rounds };
    let alone_ns = player.measure(skeleton("alone", FLOOD_BYTES, 2_000), 1, report)?;
    let flood_ns = player.measure(skeleton("flood", FLOOD_BYTES, 1_000), 2, report)?;
    let mut points = Vec::new();
    for bytes in BYTES {
        let rounds = if bytes < 10_000 { 500 } else { 20 };
        points.push((bytes as f64, player.measure(skeleton("ping-pong", bytes, rounds), 2, report)?));
    }
    Ok(model(alone_ns, flood_ns, &points))
}

/// The model whose times these are.
fn model(alone_ns: f64, flood_ns: f64, points: &[(f64, f64)]) -> Model {
    let (slope, at_zero) = line_through(points);
    let overhead_ns = (flood_ns - alone_ns).max(0.0);
    let latency_ns = (at_zero - 2.0 * overhead_ns - alone_ns).max(0.0);
    let network = format!(
        "loggops:L={latency_ns:.0},o={overhead_ns:.0},g={overhead_ns:.0},G={:.3},O=0",
        slope.max(0.0)
    );
    Model { network, costs: alone_ns.round() as u64 }
}

/// Slope and height at 0 of the line through points with the least squares of relative errors: the short messages count as much as the long.
fn line_through(points: &[(f64, f64)]) -> (f64, f64) {
    let weighted = points.iter().map(|(x, y)| (1.0 / (y * y), x, y));
    let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (weight, x, y) in weighted {
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    let slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    (slope, (wy - slope * wx) / w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_times_that_follow_them() {
        let points = BYTES.map(|bytes| (bytes as f64, 700.0 + 2.0 * 250.0 + 80.0 + 0.125 * bytes as f64));
        let (slope, at_zero) = line_through(&points);
        assert!((slope - 0.125).abs() < 1e-9 && (at_zero - 1_280.0).abs() < 1e-6, "{slope} {at_zero}");
        let model = model(80.0, 330.0, &points);
        assert_eq!(model.line(), "+model loggops:L=700,o=250,g=250,G=0.125,O=0 +costs 80");
    }
}
