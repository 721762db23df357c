//! Picture of a timeline: what each PE did when, the time profile, the grain sizes and the messages between PEs, as one SVG.

use crate::error::TraceError;
use crate::summary::Summary;
use crate::timeline::{Category, Pe, Timeline};
use crate::units::time;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::Path;

const WIDTH: u32 = 1120;
/// Height of a PE's row in the timeline.
const ROW: u32 = 26;
/// Height of the legend below the timeline.
const LEGEND: u32 = 44;
/// Columns of the timeline: each shows what took most of its time.
const COLUMNS: usize = 900;
/// Entries with a colour of their own.
const COLOURS: usize = 9;
const RUNTIME: RGBColor = RGBColor(120, 120, 120);
const OTHERS: RGBColor = RGBColor(70, 70, 70);
const IDLE: RGBColor = RGBColor(236, 236, 236);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// Draws a timeline and its summary.
///
/// # Errors
/// When the file cannot be written.
pub fn draw(timeline: &Timeline, summary: &Summary, file: &Path) -> Result<(), TraceError> {
    let rows = timeline.pes.len().clamp(1, 64) as u32 * ROW + 76;
    let area = SVGBackend::new(file, (WIDTH, rows + LEGEND + 320)).into_drawing_area();
    draw_all(timeline, summary, &area, rows)
        .and_then(|()| Ok(area.present()?))
        .map_err(|cause| TraceError::Picture(cause.to_string()))
}

fn draw_all(timeline: &Timeline, summary: &Summary, area: &Area<'_>, rows: u32) -> Drawn {
    area.fill(&WHITE)?;
    let (top, rest) = area.split_vertically(rows);
    let (middle, bottom) = rest.split_vertically(LEGEND);
    let colours = colours(summary);
    draw_rows(timeline, &colours, &top)?;
    draw_legend(&colours, &middle)?;
    let panels = bottom.split_evenly((1, 3));
    draw_profile(summary, &panels[0])?;
    draw_grains(summary, &panels[1])?;
    draw_messages(summary, &panels[2])
}

/// The colours of the program's entries that took most time.
fn colours(summary: &Summary) -> Vec<(&str, RGBColor)> {
    let entries = summary.entries.iter().filter(|row| row.kind != "runtime");
    let mut names: Vec<&str> = Vec::new();
    for row in entries {
        if !names.contains(&&row.name[..]) {
            names.push(&row.name);
        }
    }
    let pick = |(number, name)| {
        let (red, green, blue) = Palette99::pick(number).rgb();
        (name, RGBColor(red, green, blue))
    };
    names.into_iter().take(COLOURS).enumerate().map(pick).collect()
}

/// What fills each column of a PE's row: the colour of what took most of its time; `None` for the scheduler.
fn columns(pe: &Pe, length_us: f64, colours: &HashMap<&str, RGBColor>) -> Vec<Option<RGBColor>> {
    let width_us = (length_us / COLUMNS as f64).max(1e-3);
    let mut shares: Vec<BTreeMap<(u8, u8, u8), f64>> = vec![BTreeMap::new(); COLUMNS];
    let mut add = |(begun, ended): (f64, f64), colour: RGBColor| {
        let columns = (begun / width_us) as usize..=((ended / width_us) as usize).min(COLUMNS - 1);
        for column in columns {
            let (from, to) = (column as f64 * width_us, (column + 1) as f64 * width_us);
            *shares[column].entry(colour.rgb()).or_default() += ended.min(to) - begun.max(from);
        }
    };
    for piece in &pe.pieces {
        let span = &pe.spans[piece.span];
        let colour = match span.category() {
            Category::Runtime => RUNTIME,
            Category::Program => colours.get(&span.name[..]).copied().unwrap_or(OTHERS),
        };
        add((piece.begun_us, piece.ended_us), colour);
    }
    pe.idle.iter().for_each(|idle| add(*idle, IDLE));
    let most = |shares: BTreeMap<(u8, u8, u8), f64>| {
        let told: f64 = shares.values().sum();
        let ((red, green, blue), share) =
            shares.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
        (share > width_us - told).then_some(RGBColor(red, green, blue))
    };
    shares.into_iter().map(most).collect()
}

fn draw_rows(timeline: &Timeline, colours: &[(&str, RGBColor)], area: &Area<'_>) -> Drawn {
    let by_name: HashMap<&str, RGBColor> = colours.iter().copied().collect();
    let pes = timeline.pes.len();
    let length_us = timeline.length_us.max(1e-3);
    let mut chart = ChartBuilder::on(area)
        .caption("What each PE did", ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(24)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..length_us, 0.0..pes as f64)?;
    let names: Vec<u32> = timeline.pes.keys().copied().collect();
    chart.configure_mesh().disable_mesh().y_labels(0).x_label_formatter(&|us| time(*us)).draw()?;
    let width_us = length_us / COLUMNS as f64;
    for (row, pe) in timeline.pes.values().enumerate() {
        // The first PE stands on top.
        let bottom = (pes - 1 - row) as f64;
        let columns = columns(pe, length_us, &by_name);
        let mut from = 0;
        for run in columns.chunk_by(PartialEq::eq) {
            let until = from + run.len();
            if let Some(colour) = run[0] {
                let corners =
                    [(from as f64 * width_us, bottom + 0.08), (until as f64 * width_us, bottom + 0.92)];
                chart.draw_series([Rectangle::new(corners, colour.filled())])?;
            }
            from = until;
        }
    }
    let plotting = chart.plotting_area().get_pixel_range();
    for (row, name) in names.iter().enumerate() {
        let height = f64::from(plotting.1.end - plotting.1.start) / pes as f64;
        let y = f64::from(plotting.1.start) + height * (row as f64 + 0.5) - 6.0;
        let origin = area.get_base_pixel();
        area.draw(&Text::new(format!("PE {name}"), (14, y as i32 - origin.1), ("sans-serif", 12)))?;
    }
    Ok(())
}

fn draw_legend(colours: &[(&str, RGBColor)], area: &Area<'_>) -> Drawn {
    let fixed = [("others", OTHERS), ("runtime", RUNTIME), ("idle", IDLE)];
    let (mut x, mut y) = (66, 4);
    for (name, colour) in colours.iter().copied().chain(fixed) {
        let width = 26 + name.chars().count() as i32 * 7;
        if x + width > WIDTH as i32 {
            (x, y) = (66, y + 16);
        }
        area.draw(&Rectangle::new([(x, y), (x + 12, y + 12)], colour.filled()))?;
        area.draw(&Text::new(name.to_owned(), (x + 16, y), ("sans-serif", 12)))?;
        x += width;
    }
    Ok(())
}

fn draw_profile(summary: &Summary, area: &Area<'_>) -> Drawn {
    let intervals = summary.profile.len();
    let width_us = summary.length_us.max(1e-3) / intervals as f64;
    let mut chart = ChartBuilder::on(area)
        .caption("Time profile", ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(24)
        .y_label_area_size(46)
        .build_cartesian_2d(0.0..width_us * intervals as f64, 0.0..1.0)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(4)
        .x_label_formatter(&|us| time(*us))
        .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
        .draw()?;
    for (number, share) in summary.profile.iter().enumerate() {
        let (left, right) = (number as f64 * width_us, (number + 1) as f64 * width_us);
        let mut bottom = 0.0;
        for (part, colour) in
            [(share.program, BLUE), (share.runtime, RUNTIME), (share.rest(), RED), (share.idle, IDLE)]
        {
            let corners = [(left, bottom), (right, bottom + part)];
            chart.draw_series([Rectangle::new(corners, colour.mix(0.7).filled())])?;
            bottom += part;
        }
    }
    Ok(())
}

fn draw_grains(summary: &Summary, area: &Area<'_>) -> Drawn {
    let most = summary.grains.iter().map(|grain| grain.calls).max().unwrap_or(0).max(1);
    let bars = summary.grains.len().max(1);
    let mut chart = ChartBuilder::on(area)
        .caption("Runs by length", ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(24)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..bars as f64, 0.0..most as f64 * 1.05)?;
    let label =
        |at: &f64| summary.grains.get(*at as usize).map_or_else(String::new, |grain| time(grain.from_us));
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(6)
        .x_label_formatter(&label)
        .y_label_formatter(&|calls| format!("{calls:.0}"))
        .draw()?;
    for (number, grain) in summary.grains.iter().enumerate() {
        let corners = [(number as f64 + 0.05, 0.0), (number as f64 + 0.95, grain.calls as f64)];
        chart.draw_series([Rectangle::new(corners, BLUE.mix(0.7).filled())])?;
    }
    Ok(())
}

fn draw_messages(summary: &Summary, area: &Area<'_>) -> Drawn {
    let places: HashMap<u32, usize> =
        summary.pes.iter().enumerate().map(|(place, row)| (row.pe, place)).collect();
    let most = summary.messages.iter().map(|row| row.messages).max().unwrap_or(0).max(1);
    let pes = summary.pes.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .caption(format!("Messages between PEs, up to {most}"), ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(24)
        .y_label_area_size(46)
        .build_cartesian_2d(0.0..pes, 0.0..pes)?;
    let number =
        |place: f64| summary.pes.get(place as usize).map_or_else(String::new, |row| row.pe.to_string());
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(summary.pes.len().min(8))
        .y_labels(summary.pes.len().min(8))
        .x_desc("to")
        .y_desc("from")
        .x_label_formatter(&|place| number(*place))
        .y_label_formatter(&|place| number(pes - *place))
        .draw()?;
    for row in &summary.messages {
        let (Some(from), Some(to)) = (places.get(&row.from), places.get(&row.to)) else { continue };
        let (x, y) = (*to as f64, pes - 1.0 - *from as f64);
        let shade = 0.1 + 0.9 * row.messages as f64 / most as f64;
        chart.draw_series([Rectangle::new([(x, y), (x + 1.0, y + 1.0)], BLUE.mix(shade).filled())])?;
    }
    Ok(())
}
