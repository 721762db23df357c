//! Pictures of efficiency over granularity, one of each graph, as the paper draws them.

use chare_benches::Efficiency;
use plotters::prelude::*;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Draws the curves of a graph, each with its name, into `folder/NAME.svg`.
pub(crate) fn draw(
    folder: &Path,
    name: &str,
    curves: Vec<(&str, &[Efficiency])>,
) -> Result<PathBuf, Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{name}.svg"));
    {
        let area = SVGBackend::new(&path, (720, 480)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(format!("{name}: efficiency over granularity"), ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(48)
            .build_cartesian_2d((0.05_f64..200.0).log_scale(), 0.0..1.05)?;
        chart.configure_mesh().x_desc("time of a task, microseconds").y_desc("part that is work").draw()?;
        for (place, (side, samples)) in curves.into_iter().enumerate() {
            let color = Palette99::pick(place).to_rgba();
            let points = samples.iter().map(|sample| (sample.granularity_ns / 1000.0, sample.part));
            chart
                .draw_series(LineSeries::new(points, color.stroke_width(2)))?
                .label(side)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
        }
        chart.configure_series_labels().background_style(WHITE).border_style(BLACK).draw()?;
        area.present()?;
    }
    Ok(path)
}
