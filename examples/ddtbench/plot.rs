//! Plot of the ratios: bytes of a kernel and how much longer packing by hand takes, on logarithmic axes, one line per kernel.

use crate::report::Row;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

const PIXELS: (u32, u32) = (1100, 640);

/// Writes an SVG.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(file: &Path, rows: &[Row]) -> Result<(), Box<dyn Error>> {
    let point = |row: &Row| (row.kernel.bytes() as f64, row.ratio());
    // The line of equal times is always within.
    let within = |value: fn((f64, f64)) -> f64, start: f64| {
        let values = || rows.iter().map(|row| value(point(row)));
        (values().fold(start, f64::min) / 1.3, values().fold(start, f64::max) * 1.3)
    };
    let first = rows.first().map_or(1.0, |row| point(row).0);
    let (x, y) = (within(|point| point.0, first), within(|point| point.1, 1.0));

    let area = SVGBackend::new(file, PIXELS).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, legend) = area.split_horizontally(PIXELS.0 - 180);
    let mut chart = ChartBuilder::on(&left)
        .caption("time packed by hand / time by layouts", ("sans-serif", 18))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d((x.0..x.1).log_scale(), (y.0..y.1).log_scale())?;
    chart.configure_mesh().x_desc("bytes").y_desc("manual / layout").draw()?;
    chart.draw_series(LineSeries::new([(x.0, 1.0), (x.1, 1.0)], BLACK))?;

    let mut names: Vec<&str> = rows.iter().map(|row| row.kernel.name).collect();
    names.sort_unstable();
    names.dedup();
    for (position, name) in names.into_iter().enumerate() {
        let color = Palette99::pick(position);
        let mut points: Vec<(f64, f64)> =
            rows.iter().filter(|row| row.kernel.name == name).map(point).collect();
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        chart.draw_series(LineSeries::new(points, color.stroke_width(2)).point_size(3))?;
        let line = 40 + 24 * position as i32;
        legend.draw(&PathElement::new([(4, line + 6), (24, line + 6)], color.stroke_width(2)))?;
        legend.draw(&Text::new(name.to_owned(), (32, line), ("sans-serif", 14)))?;
    }
    area.present()?;
    Ok(())
}
