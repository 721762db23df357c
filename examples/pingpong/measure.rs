//! All sizes, all ways of sending: who plays, how often, and the median.

use crate::options::{Options, Path};
use crate::player::{PlayerProxy, Round, Way};
use crate::plot;
use crate::report::{Header, Report, Row};
use chare::{ArrayOptions, NodeId, PeId, Placement};
use indicatif::{ProgressBar, ProgressStyle};
use std::error::Error;

/// What one player sends in a cell of the table at most, so that large buffers do not take minutes.
const CELL_BYTES_MAX: usize = 256 << 20;

/// A median of fewer round trips says little.
const ITERATIONS_MIN: u32 = 5;

/// Round trips that are not counted, as a share of the others: caches, page faults, paths that are set up on first use.
const WARM_UP_SHARE: u32 = 10;

/// Measures and prints everything.
///
/// # Errors
/// When the results cannot be written.
pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let partner = partner();
    let players =
        ArrayOptions::new(2).placement(Placement::by(2, |index| if index == 0 { PeId(0) } else { partner }));
    let players = PlayerProxy::create(players);
    let partner_node = NodeId(partner.0 / (chare::pes() / chare::nodes()));
    let shareable = options.path.is_none_or(Path::wants_shareable_buffers);
    let path = chare::path_to(partner_node);

    let mut report = Report::begin(Header {
        path_name: options.path.map_or("default", Path::name),
        path: &path,
        partner,
        partner_node,
        shareable,
        verify: options.verify,
        csv: options.csv,
    })?;
    let sizes = options.sizes();
    let bar = progress_bar(sizes.len() * Way::ALL.len());
    let mut rows = Vec::with_capacity(sizes.len());
    for size in sizes {
        let mut one_way_us = [0.0; Way::ALL.len()];
        for (way, time_us) in Way::ALL.into_iter().zip(&mut one_way_us) {
            bar.set_message(format!("{size} bytes, {way:?}"));
            let iterations = iterations(options.iterations, size);
            let warm_up = iterations.div_ceil(WARM_UP_SHARE);
            let round =
                Round { way, size, iterations: warm_up + iterations, verify: options.verify, shareable };
            *time_us = play(&players, round, warm_up).await;
            report.count(u64::from(round.iterations) * 2, size);
            bar.inc(1);
        }
        let row = Row { size, one_way_us };
        bar.suspend(|| report.row(&row))?;
        rows.push(row);
    }
    bar.finish_and_clear();
    let path_now = chare::path_to(partner_node);
    report.end((path != path_now).then_some(&path_now))?;
    if let Some(file) = &options.plot {
        let title = format!("one-way times, {path}");
        plot::write(file, &title, &rows)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    Ok(())
}

/// The PE that PE 0 plays with.
fn partner() -> PeId {
    let (pes, nodes) = (chare::pes(), chare::nodes());
    // The first PE of node 1; else PE 1, if there is one.
    PeId(if nodes > 1 { pes / nodes } else { u32::from(pes > 1) })
}

/// Drawn on a terminal only.
fn progress_bar(cells: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}").expect("a template that indicatif knows");
    ProgressBar::new(cells as u64).with_style(style)
}

fn iterations(asked: u32, size: usize) -> u32 {
    let affordable = u32::try_from(CELL_BYTES_MAX / size).unwrap_or(u32::MAX);
    asked.min(affordable.max(ITERATIONS_MIN))
}

/// Plays a round; returns the one-way time in microseconds: half of the median round trip.
async fn play(players: &PlayerProxy, round: Round, warm_up: u32) -> f64 {
    let (both_ready, ready) = chare::future();
    players.prepare(round, ready);
    both_ready.await;
    let (round_trips, done) = chare::future();
    players.at(0).begin(done);
    let mut round_trips_ns: Vec<u64> = round_trips.await.split_off(warm_up as usize);
    round_trips_ns.sort_unstable();
    let middle = round_trips_ns.len() / 2;
    let median_ns = if round_trips_ns.len().is_multiple_of(2) {
        (round_trips_ns[middle - 1] + round_trips_ns[middle]) as f64 / 2.0
    } else {
        round_trips_ns[middle] as f64
    };
    median_ns / 2.0 / 1e3
}
