//! Plot of the times: size and time on logarithmic axes, one line per way of sending.

use crate::report::{Row, describe_size};
use crate::tables::Table;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

const PIXELS: (u32, u32) = (960, 640);

/// Writes an SVG.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(file: &Path, table: Table, path: &str, rows: &[Row]) -> Result<(), Box<dyn Error>> {
    let times = || rows.iter().flat_map(|row| row.times_us.iter().copied());
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
    let (title, unit) = match table {
        Table::Thesis | Table::Device => ("one-way times", "one-way microseconds"),
        Table::Charm => ("round trips", "microseconds"),
    };
    // A clock that did not tick, and a difference below zero, is drawn at its resolution: neither has a logarithm.
    let shown = |time_us: f64| time_us.max(1e-3);
    let fastest = times().map(shown).fold(f64::INFINITY, f64::min);
    let slowest = times().map(shown).fold(0.0, f64::max);

    let area = SVGBackend::new(file, PIXELS).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{title}, {path}"), ("sans-serif", 18))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(
            (first.size as f64 / 1.2..last.size as f64 * 1.2).log_scale().base(2.0),
            (fastest / 1.5..slowest * 1.5).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("buffer")
        .y_desc(unit)
        .x_label_formatter(&|size| describe_size(size.round() as usize))
        .y_label_formatter(&|time_us| format!("{time_us}"))
        .draw()?;
    for (position, name) in table.columns().into_iter().enumerate() {
        let color = Palette99::pick(position);
        let points = rows.iter().map(move |row| (row.size as f64, shown(row.times_us[position])));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)).point_size(3))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}
