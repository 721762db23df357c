//! Tests of the model by schedules: what LogGOPSim (76451de, December 2023) prints for its own generator's schedules, to the nanosecond.

use super::super::LogGops;
use super::Schedule;
use super::player::{Player, play};
use crate::ambient::clock;
use std::fmt::Write;

const DEFAULT: LogGops =
    LogGops { latency_ns: 2_500, overhead_ns: 1_500, gap_ns: 1_000, byte_gap_ps: 6_000, byte_overhead_ps: 0 };

/// LogGOPSim's own bound between eager messages and such that wait for their receiver.
const EAGER_BYTES_MAX: usize = 65_535;

/// Schedules of so many hosts, as LogGOPSim's generator writes them.
fn generate(hosts: usize, mut of_host: impl FnMut(usize, &mut String)) -> String {
    let mut text = format!("num_ranks {hosts}\n");
    for host in 0..hosts {
        write!(text, "\nrank {host} {{\n").expect("memory takes it");
        of_host(host, &mut text);
        text.push_str("}\n");
    }
    text
}

/// Each host sends to the one `1, 2, 4, ..` behind it, when it has heard of the one as far before it.
fn dissemination(hosts: usize, bytes: usize) -> String {
    generate(hosts, |host, text| {
        let mut label = 0;
        for distance in (0..).map(|round| 1_usize << round).take_while(|distance| *distance < hosts) {
            let (target, source) = ((host + distance) % hosts, (host + hosts - distance) % hosts);
            writeln!(text, "l{}: send {bytes}b to {target} tag 0", label + 1).expect("memory takes it");
            if label > 0 {
                writeln!(text, "l{} requires l{label}", label + 1).expect("memory takes it");
            }
            writeln!(text, "l{}: recv {bytes}b from {source} tag 0", label + 2).expect("memory takes it");
            label += 2;
        }
    })
}

/// The root sends to all others, one after another.
fn scatter(hosts: usize, bytes: usize) -> String {
    generate(hosts, |host, text| {
        let mut line = |line: String| text.push_str(&(line + "\n"));
        if host > 0 {
            line(format!("l1: recv {bytes}b from 0 tag 0"));
        } else {
            (1..hosts).for_each(|peer| line(format!("l{peer}: send {bytes}b to {peer} tag 0")));
        }
    })
}

/// Down a binomial tree from host 0: in round `r` each of the first `2^r` hosts sends to the one `2^r` behind it.
const BROADCAST: &str = "num_ranks 8
rank 0 {
l1: send 1024b to 1 tag 0
l2: send 1024b to 2 tag 0
l3: send 1024b to 4 tag 0
}
rank 1 {
l1: recv 1024b from 0 tag 0
l2: send 1024b to 3 tag 0
l2 requires l1
l3: send 1024b to 5 tag 0
l3 requires l1
}
rank 2 {
l1: recv 1024b from 0 tag 0
l2: send 1024b to 6 tag 0
l2 requires l1
}
rank 3 {
l1: recv 1024b from 1 tag 0
l2: send 1024b to 7 tag 0
l2 requires l1
}
rank 4 {
l1: recv 1024b from 0 tag 0
}
rank 5 {
l1: recv 1024b from 1 tag 0
}
rank 6 {
l1: recv 1024b from 2 tag 0
}
rank 7 {
l1: recv 1024b from 3 tag 0
}
";

/// Up the same tree.
const REDUCE: &str = "num_ranks 8
rank 0 {
l1: recv 1024b from 4 tag 0
l2: recv 1024b from 2 tag 0
l3: recv 1024b from 1 tag 0
}
rank 1 {
l1: recv 1024b from 5 tag 0
l2: recv 1024b from 3 tag 0
l3: send 1024b to 0 tag 0
l3 requires l1
l3 requires l2
}
rank 2 {
l1: recv 1024b from 6 tag 0
l2: send 1024b to 0 tag 0
l2 requires l1
}
rank 3 {
l1: recv 1024b from 7 tag 0
l2: send 1024b to 1 tag 0
l2 requires l1
}
rank 4 {
l1: send 1024b to 0 tag 0
}
rank 5 {
l1: send 1024b to 1 tag 0
}
rank 6 {
l1: send 1024b to 2 tag 0
}
rank 7 {
l1: send 1024b to 3 tag 0
}
";

fn times(model: LogGops, text: &str) -> Vec<u64> {
    play(model, EAGER_BYTES_MAX, Schedule::read(text))
}

#[test]
fn a_binomial_reduction_is_as_loggopsim_has_it() {
    assert_eq!(times(DEFAULT, REDUCE), [34_914, 24_776, 13_138, 13_138, 1_500, 1_500, 1_500, 1_500]);
}

#[test]
fn a_binomial_broadcast_is_as_loggopsim_has_it() {
    assert_eq!(times(DEFAULT, BROADCAST), [15_776, 20_276, 20_276, 24_776, 25_914, 30_414, 30_414, 34_914]);
}

#[test]
fn a_dissemination_is_as_loggopsim_has_it() {
    assert_eq!(times(DEFAULT, &dissemination(16, 1_024)), [46_552; 16]);
}

#[test]
fn a_scatter_whose_gap_binds_is_as_loggopsim_has_it() {
    let model = LogGops { gap_ns: 5_000, overhead_ns: 100, ..DEFAULT };
    assert_eq!(times(model, &scatter(8, 1)), [30_100, 2_700, 7_700, 12_700, 17_700, 22_700, 27_700, 32_700]);
}

#[test]
fn a_long_send_is_over_when_its_receive_takes_it() {
    let text = |bytes| {
        format!(
            "num_ranks 2\nrank 0 {{\nl1: send {bytes}b to 1 tag 7 // long\nl2: calc 10\nl2 requires l1\n}}\n\
             rank 1 {{\nl1: calc 1000000\nl2: recv {bytes}b from 0 tag 7\nl2 requires l1\n}}\n"
        )
    };
    let received = 1_000_000 + 1_500 + 6 * (EAGER_BYTES_MAX as u64 - 1);
    assert_eq!(times(DEFAULT, &text(EAGER_BYTES_MAX)), [1_510, received], "an eager one is over at once");
    assert_eq!(times(DEFAULT, &text(EAGER_BYTES_MAX + 1)), [1_000_010, received + 6]);
    // The receiver is there first: the send is over when its first byte is.
    let early = "num_ranks 2\nrank 0 {\nl1: send 100000b to 1\nl2: calc 10\nl2 requires l1\n}\n\
                 rank 1 {\nrecv 100000b from -1 tag -1\n}\n";
    assert_eq!(times(DEFAULT, early), [4_010, 4_000 + 1_500 + 6 * 99_999]);
}

#[test]
fn at_one_moment_what_was_planned_first_goes_first() {
    // Both messages are there at 4,000. The second waits for the first until 5,500, and was planned before the answer that the first frees.
    let text = "num_ranks 4\nrank 0 {\nl1: recv 1b from 1 tag 0\nl2: recv 1b from 2 tag 0\nl3: send 1b to 3 tag 0\n\
                l3 requires l1\n}\nrank 1 {\nl1: send 1b to 0 tag 0\n}\nrank 2 {\nl1: send 1b to 0 tag 0\n}\n\
                rank 3 {\nl1: recv 1b from 0 tag 0\n}\n";
    assert_eq!(times(DEFAULT, text), [8_500, 1_500, 1_500, 7_000 + 4_000 + 1_500]);
}

#[test]
fn what_waits_for_a_begin_does_not_wait_for_the_end() {
    let text = |word: &str| {
        format!(
            "num_ranks 2\nrank 0 {{\nl1: recv 1b from 1 tag 0\nl2: calc 300\nl2 {word} l1\n}}\n\
             rank 1 {{\nl1: calc 9000\nl2: send 1b to 0 tag 0\nl2 requires l1\n}}\n"
        )
    };
    assert_eq!(times(DEFAULT, &text("requires"))[0], 9_000 + 4_000 + 1_500 + 300);
    assert_eq!(times(DEFAULT, &text("irequires"))[0], 9_000 + 4_000 + 1_500);
}

#[test]
fn time_of_bytes_keeps_the_processor_and_the_interface() {
    let model = LogGops { byte_overhead_ps: 8_500, ..DEFAULT };
    let text = "num_ranks 2\nrank 0 {\nl1: send 1001b to 1 tag 0\nl2: send 1001b to 1 tag 0\n}\n\
                rank 1 {\nl1: recv 1001b from 0 tag 0\nl2: recv 1001b from 0 tag 0\n}\n";
    assert_eq!(times(model, text), [20_000, 10_000 + 4_000 + 10_000]);
}

/// How many things happen a second; prints it. Some gigabytes for a million hosts.
#[test]
#[ignore = "a measurement: cargo test --release -p chare-lrts --features sim hosts_a_second -- --ignored --nocapture"]
fn hosts_a_second() {
    for hosts in [1 << 14, 1 << 17] {
        let mut player = Player::new(DEFAULT, EAGER_BYTES_MAX, Schedule::read(&dissemination(hosts, 1_024)));
        let begun = clock::now();
        while player.go_on() {}
        let seconds = clock::since(begun).as_secs_f64();
        println!("{hosts} hosts: {:.2} million events a second", player.events as f64 / seconds / 1e6);
    }
}
