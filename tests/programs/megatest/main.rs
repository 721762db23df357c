//! Charm++'s megatest: many small programs in one, each alone, five of each at once, and all at once.
//!
//! Its rows stand here under their names there. `migration` is missing: it waits for elements that move. A check that fails ends
//! the job and names itself.

mod bits;
mod callbacks;
mod calls;
mod casts;
mod marshall;
mod priorities;
mod readonly;
mod reductions;
mod rings;
mod trees;

use chare_examples::start;
use clap::Parser;
use futures::future::{LocalBoxFuture, join_all};
use std::process::ExitCode;

/// Runs many small programs, one after the other and at once.
#[derive(Parser)]
#[command(name = "megatest", no_binary_name = true)]
struct Options {
    /// Only these, by name
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// All but these, by name
    #[arg(long, value_delimiter = ',')]
    skip: Vec<String>,
    /// How often to run everything
    #[arg(long, default_value_t = 1)]
    repeat: u32,
}

/// One of the programs.
struct Test {
    name: &'static str,
    run: fn() -> LocalBoxFuture<'static, ()>,
}

macro_rules! tests {
    ($($name:ident: $run:path,)*) => {
        &[$(Test { name: stringify!($name), run: || Box::pin($run()) }),*]
    };
}

const TESTS: &[Test] = tests! {
    arrayring: rings::array,
    bitvector: bits::journey,
    callback: callbacks::everywhere,
    fib: trees::fibonacci,
    groupcast: casts::group,
    groupmulti: casts::group_by_section,
    groupring: rings::group,
    groupsectiontest: casts::group_sections,
    immediatering: rings::immediate,
    inlineem: calls::inline,
    listsend: casts::list,
    marshall: marshall::everything,
    nodecast: casts::nodegroup,
    nodering: rings::nodegroup,
    packtest: rings::packed,
    priomsg: priorities::payload,
    priotest: priorities::order,
    queens: trees::queens,
    reduction: reductions::in_order,
    rotest: readonly::everywhere,
    statistics: reductions::statistics,
    synctest: calls::synchronous,
    templates: calls::generic,
};

/// How many of each run at once in the second pass.
const AT_ONCE: usize = 5;

async fn run(options: Options) -> bool {
    let unknown = |name: &&String| !TESTS.iter().any(|test| test.name == **name);
    if let Some(name) = options.only.iter().chain(&options.skip).find(unknown) {
        let names: Vec<_> = TESTS.iter().map(|test| test.name).collect();
        eprintln!("error: there is no `{name}`: there are {}", names.join(", "));
        return false;
    }
    let named = |names: &[String], test: &Test| names.iter().any(|name| name == test.name);
    let wanted = |test: &&Test| options.only.is_empty() || named(&options.only, test);
    let tests: Vec<_> = TESTS.iter().filter(wanted).filter(|test| !named(&options.skip, test)).collect();
    readonly::set();
    println!("megatest on {} nodes with {} PEs", chare::nodes(), chare::pes());
    for _ in 0..options.repeat {
        for test in &tests {
            (test.run)().await;
            chare::quiescence().await;
            println!("{} passed", test.name);
        }
        for test in &tests {
            join_all((0..AT_ONCE).map(|_| (test.run)())).await;
            chare::quiescence().await;
            println!("{} passed {AT_ONCE} times at once", test.name);
        }
        join_all(tests.iter().map(|test| (test.run)())).await;
        chare::quiescence().await;
        println!("all passed at once");
    }
    println!("all tests completed: {} tests", tests.len());
    true
}

fn main() -> ExitCode {
    start::check(run)
}
