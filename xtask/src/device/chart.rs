//! Charts of what a part has measured: how quick each side was, by the length of a block or of all.

use crate::plots::{Drawing, Frame, draw, draw_lines};
use plotters::prelude::SeriesLabelPosition;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;

/// Pixels.
const SIZE: (u32, u32) = (920, 520);

/// GiB/s of a side, by bytes.
type Side = BTreeMap<u64, f64>;

/// Draws the chart of a part beside its figures, `PART.json`, as `PART.svg`.
///
/// # Errors
/// Figures that cannot be read, and a chart that cannot be written.
pub(super) fn draw_beside(figures: &Path) -> Result<(), Box<dyn Error>> {
    let figures_read: Value = serde_json::from_str(&fs::read_to_string(figures)?)?;
    let title = format!(
        "{}: {}",
        figures.file_stem().unwrap_or_default().display(),
        figures_read["about"]["device"].as_str().unwrap_or("a device")
    );
    let (along, sides) = sides(&figures_read)?;
    let picture = draw(SIZE, |area| draw_sides(area, &title, along, &sides))?;
    Ok(fs::write(figures.with_extension("svg"), picture)?)
}

/// What the chart goes along, and its sides: the longest transfers by their blocks, or those of the shortest blocks by their length, whatever
/// has more points.
fn sides(figures: &Value) -> Result<(&'static str, BTreeMap<&str, Side>), String> {
    let rows = figures["rows"].as_array().ok_or("figures without rows")?;
    let read =
        |row: &'_ Value| Some((row["bytes"].as_u64()?, row["block"].as_u64()?, row["gib_per_s"].as_f64()?));
    let shapes: Vec<(u64, u64)> =
        rows.iter().filter_map(read).map(|(bytes, block, _)| (bytes, block)).collect();
    let longest = shapes.iter().map(|shape| shape.0).max().ok_or("figures of nothing")?;
    let shortest = shapes.iter().map(|shape| shape.1).min().ok_or("figures of nothing")?;
    let blocks: BTreeSet<u64> =
        shapes.iter().filter(|shape| shape.0 == longest).map(|shape| shape.1).collect();
    let lengths: BTreeSet<u64> =
        shapes.iter().filter(|shape| shape.1 == shortest).map(|shape| shape.0).collect();
    let is_by_block = blocks.len() >= lengths.len();
    let mut sides: BTreeMap<&str, Side> = BTreeMap::new();
    for row in rows {
        let (Some((bytes, block, speed)), Some(side)) = (read(row), row["side"].as_str()) else {
            return Err(format!("a row without its shape: {row}"));
        };
        let place = if is_by_block {
            (bytes == longest).then_some(block)
        } else {
            (block == shortest).then_some(bytes)
        };
        if let Some(place) = place {
            sides.entry(side).or_default().insert(place, speed);
        }
    }
    Ok((if is_by_block { "bytes of a block" } else { "bytes" }, sides))
}

fn draw_sides(
    area: &Drawing<'_>,
    title: &str,
    along: &str,
    sides: &BTreeMap<&str, Side>,
) -> Result<(), Box<dyn Error>> {
    let points = || sides.values().flatten();
    let least = |of: &dyn Fn((&u64, &f64)) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: &dyn Fn((&u64, &f64)) -> f64| points().map(of).fold(0.0, f64::max);
    let (bytes, speed) = (|(bytes, _): (&u64, &f64)| *bytes as f64, |(_, speed): (&u64, &f64)| *speed);
    let frame = Frame {
        title,
        along: (along, least(&bytes) / 1.5..most(&bytes) * 1.5),
        measured: ("GiB/s of what is selected", least(&speed) / 2.0..most(&speed) * 2.0),
        show: f64::to_string,
        names_at: SeriesLabelPosition::LowerRight,
    };
    let points = |side: &Side| side.iter().map(|(bytes, speed)| (*bytes as f64, *speed)).collect();
    draw_lines(area, frame, sides.iter().map(|(name, side)| (*name, points(side))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_chart_goes_along_what_has_more_points() {
        let row = |side: &str, bytes: u64, block: u64, speed: f64| json!({ "side": side, "bytes": bytes, "block": block, "gib_per_s": speed });
        let by_block = json!({ "rows": [row("one step", 64, 4, 1.0), row("one step", 64, 8, 2.0), row("rows", 64, 8, 3.0), row("rows", 32, 8, 9.0)] });
        let (along, found) = sides(&by_block).expect("they are figures");
        assert_eq!(along, "bytes of a block");
        assert_eq!(found["one step"], Side::from([(4, 1.0), (8, 2.0)]));
        assert_eq!(found["rows"], Side::from([(8, 3.0)]));
        let by_length = json!({ "rows": [row("whole", 32, 4, 1.0), row("whole", 64, 4, 2.0), row("whole", 64, 4096, 3.0), row("whole", 128, 4, 4.0)] });
        let (along, found) = sides(&by_length).expect("they are figures");
        assert_eq!((along, found["whole"].len()), ("bytes", 3));
        let picture = draw(SIZE, |area| draw_sides(area, "a part", along, &found)).expect("it can be drawn");
        assert!(picture.contains("whole") && picture.contains("a part"), "{picture}");
        assert!(sides(&json!({ "rows": [] })).is_err() && sides(&json!({})).is_err());
    }
}
