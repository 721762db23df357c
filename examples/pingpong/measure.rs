//! Measurement: all sizes and all rounds of a table, with their players, in their order.

use crate::device_player::DevicePlayers;
use crate::options::{Memory, Options, Path};
use crate::player::Players;
use crate::plot;
use crate::report::{Header, Report, Row};
use crate::round::{Mode, Outcome, Round};
use crate::tables::Iterations;
use chare::{NodeId, devices};
use chare_examples::partner;
use indicatif::{ProgressBar, ProgressStyle};
use std::error::Error;

/// The players, by where their buffers are.
enum Pair {
    Host(Players),
    Device(DevicePlayers),
}

impl Pair {
    async fn play(&self, round: Round) -> Outcome {
        match self {
            Self::Host(players) => players.play(round).await,
            Self::Device(players) => players.play(round).await,
        }
    }
}

/// Measures and prints everything.
///
/// # Errors
/// When the plot cannot be written.
pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let partner = partner();
    let device = match options.memory {
        Memory::Host => None,
        Memory::Device => Some(devices::mine()?.info().to_string()),
    };
    let players = match options.memory {
        Memory::Host => Pair::Host(Players::create(partner)),
        Memory::Device => Pair::Device(DevicePlayers::create(partner)),
    };
    if let Some(way) = options.weigh {
        let mode = if options.path.is_none_or(Path::wants_pool) { Mode::Pool } else { Mode::Registered };
        let [size] = options.sizes()[..] else { return Err("one size at a time is weighed".into()) };
        let round = Round { way, mode, size, iterations: options.iterations(), verify: false };
        println!("{}", players.play(round).await.grown_bytes);
        return Ok(());
    }
    let partner_node = NodeId(partner.0 / (chare::pes() / chare::nodes()));
    let pool = options.path.is_none_or(Path::wants_pool);
    let path = chare::path_to(partner_node);

    let table = options.table();
    let mut report = Report::begin(Header {
        table,
        path_name: options.path.map_or("default", Path::name),
        path: &path,
        partner,
        partner_node,
        pool,
        device: device.as_deref(),
        verify: options.verify,
        csv: options.csv,
    });
    let (rounds, sizes) = (table.rounds(pool), options.sizes());
    let bar = progress_bar(sizes.len() * rounds.len());
    let mut rows = Vec::with_capacity(sizes.len());
    for size in sizes {
        let Iterations { warm_up, counted } = table.iterations(options, size);
        let mut outcomes = Vec::with_capacity(rounds.len());
        for (way, mode) in &rounds {
            bar.set_message(format!("{size} bytes, {way:?}, {mode:?}"));
            let iterations = warm_up + counted;
            let round = Round { way: *way, mode: *mode, size, iterations, verify: options.verify };
            let mut outcome = players.play(round).await;
            outcome.skip(warm_up as usize);
            outcomes.push(outcome);
            report.count(u64::from(iterations) * 2, size);
            bar.inc(1);
        }
        let row = Row { size, iterations: counted, times_us: table.row(&outcomes) };
        bar.suspend(|| report.row(&row));
        rows.push(row);
    }
    bar.finish_and_clear();
    let path_now = chare::path_to(partner_node);
    report.end((path != path_now).then_some(&path_now));
    if let Some(file) = &options.plot {
        plot::write(file, table, &path, &rows)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    Ok(())
}

/// Drawn on a terminal only.
fn progress_bar(cells: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}").expect("a template that indicatif knows");
    ProgressBar::new(cells as u64).with_style(style)
}
