//! The program of the flood tests: `flooded PATTERN COUNT`. PEs send so many small messages, each in one entry, and nodes say by how
//! much their memory grew at most: all of them, or the flooded one alone.
//!
//! | pattern | who sends to whom |
//! |---|---|
//! | `pair` | PE 0 to the last PE |
//! | `funnel` | all other PEs to PE 0 |
//! | `circle` | every PE to the next, all at once: none of them can run what comes before it has sent all |
//! | `calls` | PE 0 calls all members |
//! | `early` | `main` to the last PE, before its first `.await` |
//! | `deaf` | PE 0 to the last PE, which is in a long entry: until that is over, they are for the network to keep |

use chare::prelude::*;
use chare_tests::status;
use std::process::ExitCode;
use std::time::Duration;

/// How long a deaf PE hears nothing.
const SILENCE: Duration = Duration::from_millis(500);

struct Basin {
    arrived: u64,
    sum: u64,
    resident_before: u64,
}

#[chare(group)]
impl Basin {
    #[entry]
    fn new() -> Self {
        Self { arrived: 0, sum: 0, resident_before: status("VmRSS:") }
    }

    #[entry]
    fn pour(&mut self, count: u64, into: PeId) {
        let into = self.this_collection().on(into);
        (1..=count).for_each(|number| into.drop_in(number));
    }

    #[entry]
    fn pour_over_all(&mut self, count: u64) {
        let all = self.this_collection();
        (1..=count).for_each(|number| all.drop_in(number));
    }

    #[entry]
    fn drop_in(&mut self, number: u64) {
        self.arrived += 1;
        self.sum += number;
    }

    #[entry]
    fn be_deaf(&mut self) {
        std::thread::sleep(SILENCE);
    }

    /// Messages that arrived on all PEs, and the sum of their numbers.
    #[entry]
    fn total(&mut self, to: Callback<Vec<u64>>) {
        self.contribute(sum(vec![self.arrived, self.sum]), to);
    }

    /// The most that any node grew by, in bytes.
    #[entry]
    fn growth(&mut self, to: Callback<u64>) {
        self.contribute(max(self.grown()), to);
    }

    /// The growth of this member's node, in bytes.
    #[entry]
    fn own_growth(&mut self, to: Callback<u64>) {
        to.send(self.grown());
    }

    fn grown(&self) -> u64 {
        status("VmHWM:").saturating_sub(self.resident_before)
    }
}

fn main() -> ExitCode {
    chare::run(|arguments| async move {
        let pattern = arguments.first().map_or("", String::as_str);
        let count: u64 = arguments.get(1).and_then(|count| count.parse().ok()).unwrap_or(0);
        let resident_before = status("VmRSS:");
        let basins = BasinProxy::create();
        let pes = u64::from(chare::pes());
        let of = |pe: u64| PeId((pe % pes) as u32);
        if pattern == "early" {
            let into = basins.on(of(pes - 1));
            (1..=count).for_each(|number| into.drop_in(number));
        }
        // Entries run everywhere once this is over.
        chare::quiescence().await;
        let arrivals = match pattern {
            "early" => count,
            "pair" => {
                basins.on(of(0)).pour(count, of(pes - 1));
                count
            }
            "funnel" => {
                (1..pes).for_each(|pe| basins.on(of(pe)).pour(count, of(0)));
                count * (pes - 1)
            }
            "circle" => {
                (0..pes).for_each(|pe| basins.on(of(pe)).pour(count, of(pe + 1)));
                count * pes
            }
            "deaf" => {
                basins.on(of(pes - 1)).be_deaf();
                basins.on(of(0)).pour(count, of(pes - 1));
                count
            }
            "calls" => {
                basins.on(of(0)).pour_over_all(count);
                count * pes
            }
            other => {
                eprintln!("flooded: unknown pattern {other:?}");
                return chare::exit(2);
            }
        };
        chare::quiescence().await;
        let (total, to_total) = chare::future();
        basins.total(to_total);
        let floods = arrivals / count.max(1);
        assert_eq!(total.await, [arrivals, floods * (count * (count + 1) / 2)], "nothing is lost");
        let (growth, to_growth) = chare::future();
        match pattern {
            "deaf" => basins.on(of(pes - 1)).own_growth(to_growth),
            _ => basins.growth(to_growth),
        }
        // The member here was not there yet when `main` sent early.
        let growth_here = if pattern == "early" { status("VmHWM:") - resident_before } else { 0 };
        println!(
            "{arrivals} messages arrived; memory grew by at most {} bytes",
            growth.await.max(growth_here)
        );
    })
}
