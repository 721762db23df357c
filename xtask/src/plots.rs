//! Plots of tables: `cargo xtask plots` draws them from the figures that `benches/README.md` and the book show, so that both say the same.

use crate::step::root;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::process::ExitCode;

pub(crate) type Drawing<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws every plot into its file.
pub(crate) fn run_alone() -> ExitCode {
    let drawn = plots().and_then(|plots| {
        for (path, picture) in plots {
            let path = root().join(path);
            fs::write(&path, picture)?;
            println!("drawn: {}", path.display());
        }
        Ok(())
    });
    match drawn {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Where all plots are, and their text.
fn plots() -> Result<[(&'static str, String); 3], Box<dyn Error>> {
    let page = |path| fs::read_to_string(root().join(path));
    let (benches, scaled) = (page("benches/README.md")?, page("docs/book/src/ten-thousand-pes.md")?);
    let (ratios, sends, shares) = (ratios(&benches)?, sends(&benches)?, shares(&scaled)?);
    let summary = draw((920, 60 + ROW * ratios.len() as u32), |area| draw_ratios(area, &ratios))?;
    Ok([
        ("benches/plots/summary.svg", summary),
        ("benches/plots/sends.svg", draw((920, 520), |area| draw_sends(area, &sends))?),
        ("docs/book/src/drawings/scaling.svg", draw((720, 400), |area| draw_shares(area, &shares))?),
    ])
}

/// The cells of the rows of a table, without its head; `head` is how that begins.
fn table<'a>(page: &'a str, head: &str) -> Result<Vec<Vec<&'a str>>, String> {
    let lines = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let rows: Vec<Vec<&str>> = lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    if rows.is_empty() {
        Err(format!("benches/README.md has no table that begins with `{head}`"))
    } else {
        Ok(rows)
    }
}

/// The number with which a cell begins.
fn number(cell: &str) -> Result<f64, String> {
    let digits: String =
        cell.chars().take_while(|letter| !letter.is_whitespace()).filter(|letter| *letter != ',').collect();
    digits.parse().map_err(|_| format!("`{cell}` does not begin with a number"))
}

/// The operations of the summary, and how many times a peer's time they take, as they stand there.
fn ratios(page: &str) -> Result<Vec<(&str, &str)>, String> {
    let rows = table(page, "| operation |")?;
    rows.into_iter().map(|row| Ok((row[0], *row.get(3).ok_or("a row without a ratio")?))).collect()
}

/// The columns that are drawn of messages whose blocks lie apart.
const SENDERS: [(&str, usize); 4] = [("ours", 1), ("Open MPI", 2), ("MPICH", 3), ("packed by hand", 4)];

/// Bytes of a block, and microseconds of each sender.
fn sends(page: &str) -> Result<Vec<(f64, [f64; 4])>, String> {
    let rows = table(page, "| row | ours | Open MPI | MPICH | by hand |")?;
    let vectors = rows.into_iter().filter_map(|row| Some((row[0].strip_prefix("send vector ")?, row)));
    let point = |(block, row): (&str, Vec<&str>)| {
        let (count, unit) = block.split_once(' ').ok_or("a block without a unit")?;
        let unit = match unit {
            "B" => 1.0,
            "KiB" => 1024.0,
            _ => 1024.0 * 1024.0,
        };
        let mut times = [0.0; 4];
        for (time, (_, column)) in times.iter_mut().zip(SENDERS) {
            *time = number(row.get(column).ok_or("a row that ends early")?)?;
        }
        Ok((number(count)? * unit, times))
    };
    vectors.map(point).collect()
}

/// The columns of how a stencil scales: what a PE computes in a round.
const COMPUTED: [&str; 3] = ["1 us", "10 us", "100 us"];

/// PEs, and the share of computing in a round of each column.
fn shares(page: &str) -> Result<Vec<(f64, [f64; 3])>, String> {
    let rows = table(page, "| PEs | 1 us | 10 us | 100 us |")?;
    let point = |row: Vec<&str>| {
        let mut shares = [0.0; 3];
        for (share, cell) in shares.iter_mut().zip(&row[1..]) {
            *share = number(cell)?;
        }
        Ok((number(row[0])?, shares))
    };
    rows.into_iter().map(point).collect()
}

/// The text of a picture of this size, in pixels, which `body` draws.
pub(crate) fn draw(
    size: (u32, u32),
    body: impl FnOnce(&Drawing<'_>) -> Result<(), Box<dyn Error>>,
) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        body(&area)?;
        area.present()?;
    }
    Ok(text)
}

/// Pixels from a bar to the next.
const ROW: u32 = 24;
/// Where bars begin and end.
const BARS: (i32, i32) = (330, 860);
/// The ratios at those places.
const RATIOS: (f64, f64) = (1.0 / 32.0, 32.0);

/// A bar for each operation, from 1 to its ratio, on a logarithmic axis.
fn draw_ratios(area: &Drawing<'_>, ratios: &[(&str, &str)]) -> Result<(), Box<dyn Error>> {
    let (text, faint) = (("sans-serif", 14).into_font(), RGBColor(210, 215, 220));
    let (faster, slower) = (RGBColor(42, 127, 158), RGBColor(194, 138, 27));
    let place = |ratio: f64| {
        let share = (ratio / RATIOS.0).log2() / (RATIOS.1 / RATIOS.0).log2();
        BARS.0 + (f64::from(BARS.1 - BARS.0) * share.clamp(0.0, 1.0)) as i32
    };
    let bottom = (36 + ROW * ratios.len() as u32) as i32;
    for (mark, name) in
        [(1.0 / 16.0, "1/16"), (0.25, "1/4"), (1.0, "as fast"), (4.0, "4 times"), (16.0, "16 times")]
    {
        area.draw(&PathElement::new([(place(mark), 30), (place(mark), bottom)], faint))?;
        area.draw(&Text::new(name, (place(mark) - 16, 12), text.clone()))?;
    }
    area.draw(&Text::new("time of ours, in times of the peer's", (12, 12), text.clone()))?;
    for (row, (operation, shown)) in (0..).zip(ratios) {
        let (top, ratio) = (36 + row * ROW as i32, number(shown)?);
        let colour = if ratio <= 1.0 { faster } else { slower };
        let (from, to) = (place(1.0).min(place(ratio)), place(1.0).max(place(ratio)).max(place(1.0) + 1));
        area.draw(&Rectangle::new([(from, top + 2), (to, top + ROW as i32 - 4)], colour.filled()))?;
        area.draw(&Text::new(*operation, (12, top + 3), text.clone()))?;
        area.draw(&Text::new(*shown, (to + 6, top + 3), text.clone()))?;
    }
    Ok(())
}

/// A line for each sender: how long a message takes by the length of a block.
fn draw_sends(area: &Drawing<'_>, sends: &[(f64, [f64; 4])]) -> Result<(), Box<dyn Error>> {
    let frame = Frame {
        title: "one way of a message whose blocks lie apart",
        along: ("bytes of a block", 3f64..2.5e6),
        measured: ("microseconds", 100f64..8e3),
        show: |time_us| format!("{time_us:.0}"),
        names_at: SeriesLabelPosition::UpperRight,
    };
    let points =
        |position: usize| sends.iter().map(|(bytes, times_us)| (*bytes, times_us[position])).collect();
    draw_lines(
        area,
        frame,
        SENDERS.into_iter().enumerate().map(|(position, (name, _))| (name, points(position))),
    )
}

/// A line for each column: how many PEs' worth of computing is done at a time, by their number; and where all would compute all the time.
fn draw_shares(area: &Drawing<'_>, shares: &[(f64, [f64; 3])]) -> Result<(), Box<dyn Error>> {
    let frame = Frame {
        title: "a stencil on more and more PEs, predicted",
        along: ("PEs", 14f64..1.2e4),
        measured: ("PEs' worth of computing", 8f64..1.2e4),
        show: |pes| format!("{pes:.0}"),
        names_at: SeriesLabelPosition::UpperLeft,
    };
    let points = |column: usize| shares.iter().map(|(pes, shares)| (*pes, pes * shares[column])).collect();
    let all = ("all of them", shares.iter().map(|(pes, _)| (*pes, *pes)).collect());
    let lines = COMPUTED.into_iter().enumerate().map(|(column, name)| (name, points(column)));
    draw_lines(area, frame, [all].into_iter().chain(lines))
}

/// What stands around lines, on two logarithmic axes.
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    /// What the axis goes along, and from where to where.
    pub(crate) along: (&'a str, Range<f64>),
    pub(crate) measured: (&'a str, Range<f64>),
    /// How a number of what was measured is written.
    pub(crate) show: fn(&f64) -> String,
    pub(crate) names_at: SeriesLabelPosition,
}

/// A line of points for each name.
pub(crate) fn draw_lines<'a>(
    area: &Drawing<'_>,
    Frame { title, along, measured, show, names_at }: Frame<'_>,
    lines: impl Iterator<Item = (&'a str, Vec<(f64, f64)>)>,
) -> Result<(), Box<dyn Error>> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(along.1.log_scale().base(2.0), measured.1.log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(along.0)
        .y_desc(measured.0)
        .x_label_formatter(&|bytes| format!("{bytes:.0}"))
        .y_label_formatter(&show)
        .draw()?;
    for (position, (name, points)) in lines.enumerate() {
        let colour = Palette99::pick(position);
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(names_at)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{plots, root};

    #[test]
    fn the_plots_show_the_tables() {
        for (path, picture) in plots().expect("the tables are there") {
            let kept = std::fs::read_to_string(root().join(path)).unwrap_or_default();
            assert!(kept == picture, "{path} is not what the tables say: run `cargo xtask plots`");
        }
    }
}
