//! Instructions of single ways: programs that go one way a given number of times, for a simulator of processors to count.
//!
//! `cargo xtask instructions` runs each way with two numbers under callgrind: the difference of the counts, divided by that of the numbers, is
//! what one more costs, exactly, however busy the machine is. `chare-instructions WAY NUMBER` alone prints nothing.

mod asking;
mod calls;
mod making;
mod members;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let way = arguments.next().unwrap_or_default();
    let number = arguments.next().and_then(|number| number.parse().ok());
    number.and_then(|number| play(&way, number)).unwrap_or_else(|| {
        eprintln!("`{way}` is no way, or no number follows it; `cargo xtask instructions` runs this program");
        ExitCode::FAILURE
    })
}

/// Goes a way so many times.
fn play(way: &str, number: u64) -> Option<ExitCode> {
    Some(match way {
        "call" => calls::call(number),
        "aggregated-call" => calls::aggregated(number),
        "other-pe-call" | "remote-call" => calls::of_last_pe(number),
        "ask" => asking::ask(number),
        "ask-suspending" => asking::ask_suspending(number),
        "resume" => asking::resume(number),
        "singleton" => making::singleton(number),
        "fork" => making::fork(number),
        "fork-async" => making::fork_async(number),
        "insert" => members::insert(number),
        "broadcast" => members::broadcast(number),
        "broadcast-to-movers" => members::broadcast_to_movers(number),
        "contribution" => members::contribution(number),
        _ => return None,
    })
}
