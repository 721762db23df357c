//! Breakdown of a message by layouts into its steps, by the clock: a table of what each takes of it.
//!
//! | column | step, and how it is told |
//! |---|---|
//! | `make` | the sender's layout, from its constructors to its digest; once for an array |
//! | `plan` | the translation of both layouts into one pass from memory to memory; once for two layouts, as long as it is remembered |
//! | `exchange` | one way of a call that brings nothing |
//! | `address` | one way of a call that shows the whole array where it lies, less `exchange`: lent, found in the other's memory, and given back |
//! | `copy` | the pass, alone, on one PE, from and to arrays of its own |
//! | `rest` | `message` less the three before: what layouts add to a message, and what caches lose between two processors; below zero where the other player helps with a long copy, or a short one travels with the call |
//! | `message` | one way of the message that lands from layout to layout |
//!
//! A message costs the columns from `exchange` on; `make` and `plan` come before the first. Only kernels of one array are told, between
//! players that see each other's memory: elsewhere the array that is shown is brought, and its address cannot be told from that.

use crate::rally::{Plan, Players, Way, both, median_us, one_way_us};
use crate::report::write_path;
use crate::verified::number;
use chare::{BufferMut, layout};
use chare_examples::ddtbench::{End, Kernel, Number};
use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};

/// Times of the steps, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    make: f64,
    plan: f64,
    exchange: f64,
    shown: f64,
    copy: f64,
    message: f64,
}

/// Writes the head of the table.
///
/// # Errors
/// When the players do not see each other's memory, in words; when standard output is closed or full.
pub(crate) fn write_head() -> Result<(), Box<dyn Error>> {
    let path = write_path()?;
    if !["memcpy", "shared mapping"].iter().any(|seen| path.contains(seen)) {
        return Err(
            "--breakdown is of players that see each other's memory: `+p 2`, or `+n 2` on one host".into()
        );
    }
    let columns = ["make", "plan", "exchange", "address", "copy", "rest", "message"];
    let mut out = io::stdout().lock();
    write!(out, "{:<14} {:<16} {:>9}", "kernel", "size, us", "bytes")?;
    columns.iter().try_for_each(|column| write!(out, " {column:>10}"))?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Writes a row.
///
/// # Errors
/// When standard output is closed or full.
pub(crate) fn write_row(kernel: &Kernel, steps: Steps) -> io::Result<()> {
    let Steps { make, plan, exchange, shown, copy, message } = steps;
    let address = shown - exchange;
    let rest = message - shown - copy;
    let mut out = io::stdout().lock();
    write!(out, "{:<14} {:<16} {:>9}", kernel.name, kernel.size, kernel.bytes())?;
    [make, plan, exchange, address, copy, rest, message]
        .iter()
        .try_for_each(|time_us| write!(out, " {time_us:>10.2}"))?;
    writeln!(out)?;
    out.flush()
}

/// Takes the times of a kernel's steps: its messages between the players, and its plan and pass here.
pub(crate) async fn steps<T: Number>(players: &impl Players, kernel: &Kernel, plan: Plan) -> Steps {
    both(|ready| players.prepare(plan, ready)).await;
    let message = one_way_us(players, plan, Way::Layout).await;
    let exchange = one_way_us(players, plan, Way::Call).await;
    let shown = one_way_us(players, plan, Way::Shown).await;
    let [make, plan, copy] = here::<T>(kernel, plan.repeats);
    Steps { make, plan, exchange, shown, copy, message }
}

/// What layouts, their plan and the pass of the kernel's array take on this PE, in microseconds.
fn here<T: Number>(kernel: &Kernel, repeats: u32) -> [f64; 3] {
    let [from, to] = [End::Source, End::Target].map(|end| {
        let [layout] = &kernel.layouts::<T>(end)[..] else { unreachable!("a kernel of one array") };
        layout.clone()
    });
    // Of the same memory as the players', and written: untouched, all of it would be one page of zeros.
    let array = |end| BufferMut::from_fn(kernel.lens(end).sum(), |place| number::<T>(0, 0, place));
    let (source, mut target) = (array(End::Source), array(End::Target));
    let plan = || layout::Plan::new(from.raw(), to.raw()).expect("as much lands as leaves");
    let made = plan();
    let mut pass = || {
        let target = bytemuck::cast_slice_mut(black_box(&mut target[..]));
        layout::copy(&made, bytemuck::cast_slice(black_box(&source[..])), target).expect("arrays hold it");
    };
    [
        time_us(repeats, || drop(black_box(kernel.layouts::<T>(End::Source)))),
        time_us(repeats, || drop(black_box(plan()))),
        time_us(repeats, &mut pass),
    ]
}

/// The median of a deed, less the first tenth.
fn time_us(repeats: u32, mut deed: impl FnMut()) -> f64 {
    let times_ns = (0..repeats + repeats / 10 + 1).map(|_| {
        let begun = chare::now();
        deed();
        (chare::now() - begun).as_nanos() as u64
    });
    let times_ns: Vec<u64> = times_ns.collect();
    median_us(&times_ns[repeats as usize / 10 + 1..])
}
