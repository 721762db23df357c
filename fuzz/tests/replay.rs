//! Replay of seeds, corpora and every interesting number at every place: past findings stay found.

use chare_fuzz::{corpus, lengths};
use std::collections::BTreeSet;
use std::sync::Once;

/// Longer seeds are not changed at every place: their numbers stand in front.
const CHANGED_BYTES_MAX: usize = 400;

/// Of the changes of what programs say, one in so many is told: each that ends its job costs a program, and libFuzzer tells others. No
/// divisor of the numbers that are tried at one place, so that all of them are, somewhere.
const CHANGES_APART: u64 = 41;

/// Panics that end a job in words are no news.
fn quieten() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !chare_fuzz::is_guarded() {
                hook(panic);
            }
        }));
    });
}

fn replay(name: &str) {
    replay_each(name, 1);
}

/// Replays each change whose number is a multiple of this.
fn replay_each(name: &str, step: u64) {
    quieten();
    let target = chare_fuzz::target(name);
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "honest nodes say something");
    let mut inputs = 0_u64;
    for seed in &seeds {
        let (changed, rest) = seed.split_at(seed.len().min(CHANGED_BYTES_MAX));
        lengths::for_each_change(changed, |bytes| {
            if inputs.is_multiple_of(step) {
                (target.run)(&[bytes, rest].concat());
            }
            inputs += 1;
        });
        (target.run)(seed);
    }
    let kept = corpus::read(name).expect("it is whole");
    kept.iter().for_each(|bytes| (target.run)(bytes));
    let told = inputs.div_ceil(step);
    println!("{name}: {} seeds, {told} changes of them, {} kept inputs", seeds.len(), kept.len());
}

#[test]
fn envelope() {
    replay_each("envelope", CHANGES_APART);
}

#[test]
fn buffers() {
    replay_each("buffers", CHANGES_APART);
}

#[test]
fn moves() {
    replay_each("moves", CHANGES_APART);
}

#[test]
#[ignore = "takes a quarter of an hour"]
fn every_change_of_what_programs_say() {
    ["envelope", "buffers", "moves"].into_iter().for_each(replay);
}

#[test]
fn a_forged_state_is_refused_in_words_that_say_of_what() {
    quieten();
    let name = b"long enough to be a digest";
    let place = |seed: &[u8]| seed.windows(name.len()).position(|bytes| bytes == name);
    let subject = |seed: &[u8]| chare::fuzzing::subject(seed);
    let seeds = (chare_fuzz::target("moves").seeds)();
    let states = seeds.iter().filter(|seed| subject(seed) == "moves of elements");
    let states: Vec<_> = states.filter_map(|seed| Some((seed, place(seed)?))).collect();
    assert!(!states.is_empty(), "an element with a long name moves");
    for (state, place) in states {
        // Under another name than its own, and cut off anywhere.
        let mut renamed = state.clone();
        renamed[place] ^= 1;
        let refusal = chare_fuzz::refusal_of_move(&renamed).expect("it is not its name");
        assert!(refusal.contains("Rambler that moves: its index"), "{refusal}");
        for len in 0..state.len() {
            let refusal = chare_fuzz::refusal_of_move(&state[..len]);
            assert!(refusal.is_some(), "{len} of {} bytes are no state", state.len());
        }
    }
}

/// A plain call is a block of 48 bytes; where releases come next, this word says so.
#[test]
fn honest_nodes_send_releases_along_with_calls() {
    let releasing = (u64::MAX - 1).to_le_bytes();
    let seeds = (chare_fuzz::target("envelope").seeds)();
    let is_releasing = |seed: &&Vec<u8>| seed.get(48..).is_some_and(|behind| behind.starts_with(&releasing));
    assert_eq!(seeds.iter().filter(is_releasing).count(), 1, "of {} seeds", seeds.len());
}

/// What is not among the seeds is hardly found: a message of this subject is.
#[test]
fn honest_nodes_send_what_there_is() {
    let seeds = ["envelope", "buffers", "moves"].map(|name| (chare_fuzz::target(name).seeds)()).concat();
    let subjects: BTreeSet<String> = seeds.iter().map(|seed| chare::fuzzing::subject(seed)).collect();
    for subject in [
        // Selections, landings, parts, several, views, parts for each, partitions, gathers.
        "look",
        "land",
        "land_part",
        "land_several",
        "divide",
        // Awaited entries.
        "letter",
        "parcel",
        "broadcasts",
        "moves of elements",
        "syncs",
        "arrays",
        "sections",
        "reductions",
        "names of chares",
    ] {
        assert!(subjects.contains(subject), "{subject} is missing among {subjects:#?}");
    }
}

#[test]
fn frame() {
    replay("frame");
}

#[test]
fn emulated() {
    replay("emulated");
}

#[test]
fn handshake() {
    replay("handshake");
}

#[test]
fn handle() {
    replay("handle");
}

#[test]
fn layout() {
    replay("layout");
}

#[test]
fn options() {
    replay("options");
}
