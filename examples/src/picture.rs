//! A picture of the loads: for each interval between syncs a bar for each PE, and a line at the mean.

use crate::loads::History;
use plotters::prelude::*;
use std::error::Error;
use std::fs;
use std::path::Path;

const PIXELS: (u32, u32) = (960, 420);

/// The part of an interval's width that is left empty beside its bars.
const GAP: f64 = 0.2;

/// Draws the loads in a directory, if one is named, and says where; returns whether that went well.
pub fn draw(directory: Option<&Path>, history: &History) -> bool {
    let Some(directory) = directory else { return true };
    match write(directory, history) {
        Ok(()) => println!("picture: {}", directory.join("loads.svg").display()),
        Err(error) => {
            eprintln!("error: no picture in {}: {error}", directory.display());
            return false;
        }
    }
    true
}

/// Writes `loads.svg`, into a folder that is made if it is not there.
///
/// # Errors
/// When the file cannot be written.
fn write(directory: &Path, History(intervals): &History) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(directory)?;
    let file = directory.join("loads.svg");
    let most = intervals.iter().flat_map(|interval| &interval.work).max().copied().unwrap_or(0);
    let area = SVGBackend::new(&file, PIXELS).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("work of each PE between syncs, and the mean", ("sans-serif", 18))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..intervals.len().max(1) as f64, 0.0..most.max(1) as f64 * 1.05)?;
    chart.configure_mesh().disable_x_mesh().x_desc("syncs").y_desc("work").draw()?;
    for (number, interval) in intervals.iter().enumerate() {
        let (start, pes) = (number as f64 + GAP / 2.0, interval.work.len() as f64);
        let width = (1.0 - GAP) / pes;
        let bars = interval.work.iter().enumerate().map(|(pe, work)| {
            let left = start + pe as f64 * width;
            let corners = [(left, 0.0), (left + width, *work as f64)];
            Rectangle::new(corners, Palette99::pick(pe).filled())
        });
        chart.draw_series(bars)?;
        let mean = interval.work.iter().sum::<u64>() as f64 / pes;
        chart.draw_series(LineSeries::new([(start, mean), (start + 1.0 - GAP, mean)], BLACK))?;
    }
    area.present()?;
    Ok(())
}
