//! Judging: each goal, by the figures of a run and the ceilings that were measured in the same run.

use super::goal::{Goal, Verdict};
use super::results::{Results, Row, time_ns};

/// What was found: what is asked for is reached so many times, and the figures in words.
type Found = Result<(f64, String), String>;

/// Judges by figures.
type Judge = fn(&Results) -> Found;

/// A goal that figures judge, and the parts that have them.
struct ByFigures {
    number: &'static str,
    what: &'static str,
    parts: &'static [&'static str],
    judge: Judge,
}

const BY_FIGURES: [ByFigures; 6] = [
    ByFigures {
        number: "D2",
        what: "packing, unpacking and stepping near what the memory allows",
        parts: &["pack", "unpack", "step"],
        judge: roofline,
    },
    ByFigures {
        number: "D3",
        what: "no method beside ours is quicker, and the model chooses right",
        parts: &["pack", "unpack", "step", "stage", "unstage"],
        judge: methods,
    },
    ByFigures {
        number: "D4",
        what: "blocks by way of the host at the pace of the slowest stage, 5 times as quick as a 2-D copy and a send",
        parts: &["pipeline"],
        judge: pipeline,
    },
    ByFigures {
        number: "D5",
        what: "views of other processes whatever the length, pulls as quick as in one process, short calls",
        parts: &["pingpong_one_process", "pingpong_two_processes"],
        judge: processes,
    },
    ByFigures {
        number: "D6",
        what: "Stencil2D: exchanges in 60 % of the time by hand, with 70 % of the lines; a halo is one launch",
        parts: &["stencil_one_process", "stencil_two_processes", "halo"],
        judge: exchanges,
    },
    ByFigures {
        number: "D7",
        what: "a kernel loses at most 3 % beside transfers",
        parts: &["overlap"],
        judge: overlap,
    },
];

/// All goals.
pub(super) fn all(results: &Results) -> Vec<Goal> {
    let by_figures = BY_FIGURES.map(|ByFigures { number, what, parts, judge }| {
        let ran = parts.iter().try_for_each(|part| results.rows(part).map(drop));
        let found = match ran {
            Ok(()) if !results.is_hardware => {
                let why = "its programs ran to their end; figures of the software device say nothing";
                return Goal {
                    number,
                    what,
                    verdict: Verdict::CorrectnessOnly,
                    why: why.to_owned(),
                    reached: None,
                };
            }
            ran => ran.and_then(|()| judge(results)),
        };
        let (verdict, why, reached) = match found {
            Err(why) => (Verdict::NotMeasured, why, None),
            Ok((reached, said)) => {
                (if reached >= 1.0 { Verdict::Met } else { Verdict::Missed }, said, Some(reached))
            }
        };
        Goal { number, what, verdict, why, reached }
    });
    [vec![conformance(results)], by_figures.into(), vec![without_devices()]].concat()
}

/// Whether all suites passed on this kind of device.
fn conformance(results: &Results) -> Goal {
    let suites = ["conformance", "between_nodes", "in_chares"];
    let passed = suites.map(|name| results.part(name).map(|part| part.has_passed));
    let named = |state| {
        let names = suites.iter().zip(passed).filter(|(_, passed)| *passed == state).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(", ")
    };
    let (verdict, why) = if passed.contains(&Some(false)) {
        (Verdict::Missed, format!("failed: {}", named(Some(false))))
    } else if passed.contains(&None) {
        (Verdict::NotMeasured, format!("not run: {}", named(None)))
    } else if results.is_hardware {
        (Verdict::Met, format!("passed on the device: {}", named(Some(true))))
    } else {
        (Verdict::CorrectnessOnly, format!("passed on the software device: {}", named(Some(true))))
    };
    Goal {
        number: "D1",
        what: "a device passes the suites that the software device passes",
        verdict,
        why,
        reached: None,
    }
}

fn without_devices() -> Goal {
    Goal {
        number: "D8",
        what: "a program with the feature starts as quickly where there is no device, and says what is missing",
        verdict: Verdict::NotMeasured,
        why: "nothing of a device: the acceptance tests look at what is said, and `cargo bench -p chare-benches --bench start` times the start with and without `--features cuda`"
            .to_owned(),
        reached: None,
    }
}

/// How many times what is asked for each row reaches, and where that is least.
fn least(rows: impl IntoIterator<Item = (f64, String)>) -> Found {
    rows.into_iter()
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .ok_or_else(|| "no row is long enough: `--quick` leaves those out".to_owned())
}

/// The shortest selection that the memory, and not the launch, limits.
const LONG_BYTES: u64 = 64 << 20;

fn roofline(results: &Results) -> Found {
    let mut all = Vec::new();
    for part in ["pack", "unpack", "step"] {
        let rows = results.rows(part)?.iter();
        for row in
            rows.filter(|row| row.side == "one step" && row.bytes >= LONG_BYTES / row.block * row.block)
        {
            let asked = match row.block {
                4 | 12 => 0.6,
                8 | 16 => 0.8,
                _ => 0.9,
            };
            let share = row.ceiling_ns.ok_or("a row without its ceiling")? / row.median_ns;
            let said = format!(
                "at least: {part} of blocks of {} bytes, {:.0} % of what its sectors take, where {:.0} % are asked for",
                row.block,
                share * 100.0,
                asked * 100.0
            );
            all.push((share / asked, said));
        }
    }
    least(all)
}

/// How much slower than the quickest other one a choice may be, and how much than the quickest of ours in all cells.
const SLOWER_MAX: f64 = 1.05;
const WRONG_MAX: f64 = 1.10;

/// In how many cells the model has to be right.
const RIGHT_MIN: f64 = 0.95;

const CHOSEN: &str = "as the model chooses";

fn methods(results: &Results) -> Found {
    let (mut beside, mut cells, mut right, mut worst) = (Vec::new(), 0_u32, 0_u32, 1.0_f64);
    for (part, ours) in [
        ("pack", "one step"),
        ("unpack", "one step"),
        ("step", "one step"),
        ("stage", CHOSEN),
        ("unstage", CHOSEN),
    ] {
        let rows = results.rows(part)?;
        for row in rows.iter().filter(|row| row.side == ours) {
            let same =
                |other: &&Row| (other.bytes, other.block) == (row.bytes, row.block) && other.side != ours;
            for other in rows.iter().filter(same) {
                let slower = row.median_ns / other.median_ns;
                beside.push((
                    SLOWER_MAX / slower,
                    format!(
                        "at worst {slower:.2} times `{}` ({part}, {} bytes by {})",
                        other.side, row.bytes, row.block
                    ),
                ));
            }
            let quickest =
                rows.iter().filter(same).map(|other| other.median_ns).fold(f64::INFINITY, f64::min);
            if ours == CHOSEN && quickest.is_finite() {
                cells += 1;
                right += u32::from(row.median_ns / quickest <= SLOWER_MAX);
                worst = worst.max(row.median_ns / quickest);
            }
        }
    }
    let (reached, said) = least(beside)?;
    let share = f64::from(right) / f64::from(cells.max(1));
    let reached = reached.min(share / RIGHT_MIN).min(WRONG_MAX / worst);
    Ok((
        reached,
        format!(
            "{said}; the model is right in {right} of {cells} cells, at worst {worst:.2} times the quickest; batches of copies (a driver of CUDA 12.8) and graphs are not sides"
        ),
    ))
}

/// The seed's longest message of its shortest blocks.
const VECTOR: (u64, u64) = (4 << 20, 4);

fn pipeline(results: &Results) -> Found {
    let rows = results.rows("pipeline")?;
    let is_vector = |row: &Row| (row.bytes, row.block) == VECTOR;
    let chunked = rows.iter().filter(|row| is_vector(row) && row.side.starts_with("chunks of "));
    let ours = chunked
        .min_by(|one, other| one.median_ns.total_cmp(&other.median_ns))
        .ok_or("no chunks were measured")?;
    let copied_ns = ours.ceiling_ns.ok_or("a row without its ceiling")?;
    let slowest_ns = copied_ns.max(time_ns(rows, "the copy on the host alone", is_vector)?);
    let by_hand_ns = time_ns(rows, "2-D copy, then send", is_vector)?;
    let (share, times) = (slowest_ns / ours.median_ns, by_hand_ns / ours.median_ns);
    let said = format!(
        "{}: {:.0} % of the pace of the slowest stage (80 asked for), {times:.1} times as quick as a 2-D copy, then a send (5 asked for)",
        ours.side,
        share * 100.0
    );
    Ok(((share / 0.8).min(times / 5.0), said))
}

/// From this length on a device buffer does not travel with its call.
const NOT_SHORT_BYTES: u64 = 64 << 10;

fn processes(results: &Results) -> Found {
    let (one, two) = (results.rows("pingpong_one_process")?, results.rows("pingpong_two_processes")?);
    let received = || two.iter().filter(|row| row.side == "received");
    let shortest = received().min_by_key(|row| row.bytes).ok_or("nothing was received")?;
    let views: Vec<f64> =
        received().filter(|row| row.bytes >= NOT_SHORT_BYTES).map(|row| row.median_ns).collect();
    let (least, most) = views
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), time| (least.min(*time), most.max(*time)));
    if views.is_empty() {
        return Err("no buffer was long enough for a view".to_owned());
    }
    let longest = two.iter().map(|row| row.bytes).max().ok_or("nothing was received")?;
    let is_longest = |row: &Row| row.bytes == longest;
    let pull = time_ns(one, "posted", is_longest)? / time_ns(two, "posted", is_longest)?;
    let (constant, short_us) = (most / least, shortest.median_ns / 1e3);
    let said = format!(
        "a view takes {constant:.2} times as long at most as at least (1.25 allowed); a pull of {longest} bytes has {:.0} % of the pace in one process (85 asked for); {} bytes take {short_us:.1} us one way (10 allowed)",
        pull * 100.0,
        shortest.bytes
    );
    Ok(((1.25 / constant).min(pull / 0.85).min(10.0 / short_us), said))
}

fn exchanges(results: &Results) -> Found {
    let (mut reached, mut said) = (f64::INFINITY, Vec::new());
    for part in ["stencil_one_process", "stencil_two_processes"] {
        let rows = results.rows(part)?;
        let find = |side: &str| {
            rows.iter().find(|row| row.side == side).ok_or_else(|| format!("{part} has no `{side}`"))
        };
        let (ours, by_hand) = (find("by nocopy arguments")?, find("by hand")?);
        let time = ours.median_ns / by_hand.median_ns;
        let lines = ours
            .lines
            .zip(by_hand.lines)
            .map(|(ours, by_hand)| ours / by_hand)
            .ok_or("lines were not counted")?;
        reached = reached.min(0.6 / time).min(0.7 / lines);
        said.push(format!(
            "{part}: {:.0} % of the time and {:.0} % of the lines by hand",
            time * 100.0,
            lines * 100.0
        ));
    }
    let halo = results.rows("halo")?;
    let of_halo = |side: &str| {
        let longest = halo.iter().map(|row| row.bytes).max().unwrap_or_default();
        time_ns(halo, side, |row| row.bytes == longest)
    };
    let fused = of_halo("one launch")? / of_halo("a launch for each face")?;
    said.push(format!("26 faces by one launch take {:.0} % of what 26 launches take", fused * 100.0));
    Ok((reached.min(1.0 / fused), said.join("; ")))
}

fn overlap(results: &Results) -> Found {
    let rows = results.rows("overlap")?;
    let alone_ns = time_ns(rows, "alone", |_| true)?;
    let loss = time_ns(rows, "beside copies", |_| true)? / alone_ns;
    let others = rows.iter().filter(|row| row.side.starts_with("beside ") && row.side != "beside copies");
    let others =
        others.map(|row| format!("; {} {:.1} %", row.side, (row.median_ns / alone_ns - 1.0) * 100.0));
    let said = format!(
        "beside copies a product takes {:.1} % longer (3 allowed){}",
        (loss - 1.0) * 100.0,
        others.collect::<String>()
    );
    Ok((1.03 / loss, said))
}

#[cfg(test)]
mod tests;
