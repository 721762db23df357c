//! Choices out of tables that are made up: each is what the formula of the file above says.

use super::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// A method that starts in so many microseconds, and takes so many for each 64 KiB.
fn fill(
    table: &mut Table,
    (way, method): (Way, Method),
    columns: std::ops::Range<usize>,
    start: u64,
    each: u64,
) {
    for (row, bytes) in LENGTHS.into_iter().enumerate() {
        for column in columns.clone() {
            table.times_mut(way, method)[row][column] = Some(micros(start + each * bytes / (64 * KIB)));
        }
    }
}

fn table() -> Table {
    let mut table = Table::default();
    for way in [Way::Out, Way::In] {
        // A step writes slowly over the bus, packing starts twice, rows and blocks were tried for long ones.
        fill(&mut table, (way, Method::OneShot), 0..COLUMNS, 5, 40);
        fill(&mut table, (way, Method::Packed), 0..COLUMNS, 12, 10);
        fill(&mut table, (way, Method::Rows), 2..4, 4, 12);
        fill(&mut table, (way, Method::Blocks), 3..4, 5, 20);
        fill(&mut table, (way, Method::Blocks), 4..5, 3, 9);
    }
    // A step within the device takes a tenth of a copy over the bus.
    for (row, bytes) in LENGTHS.into_iter().enumerate() {
        table.pulled[row] = [Some(micros(6 + bytes / (64 * KIB))); COLUMNS];
    }
    table
}

fn scattered(bytes: u64, blocks: u64) -> Facts {
    Facts { bytes, blocks, are_rows: false }
}

fn rows(bytes: u64, blocks: u64) -> Facts {
    Facts { are_rows: true, ..scattered(bytes, blocks) }
}

fn chosen(facts: Facts, beside: &[Leg]) -> (Method, u64, Duration) {
    let choice = best(&table(), facts, Way::Out, beside).expect("it was measured");
    (choice.method, choice.chunk_bytes, choice.expected.expect("it was measured"))
}

#[test]
fn one_stage_takes_the_chunk_with_the_least_start_up() {
    // One block: 3 + 576 us whole; shorter chunks start more often.
    assert_eq!(chosen(Facts::whole(4 * MIB), &[]), (Method::Blocks, 4 * MIB, micros(3 + 576)));
    // What fits the shortest chunk is one, and what is shorter than all lengths takes what the shortest takes.
    assert_eq!(chosen(Facts::whole(64 * KIB), &[]), (Method::Blocks, 64 * KIB, micros(12)));
    assert_eq!(chosen(Facts::whole(4 * KIB), &[]), (Method::Blocks, 64 * KIB, micros(4)));
    assert_eq!(chosen(scattered(4 * KIB, KIB), &[]), (Method::OneShot, 64 * KIB, micros(10)));
}

#[test]
fn packing_and_its_copy_are_two_stages() {
    // Whole: 12 + 640. In chunks of 1 MiB: pack 12 + 160 - (3 + 144) = 25, copy 147: 172 + 3 x 147 = 613. In chunks of 256 KiB: pack 13,
    // copy 39: 52 + 15 x 39 = 637. In chunks of 64 KiB: 22 + 63 x 12 = 778.
    assert_eq!(chosen(scattered(4 * MIB, MIB), &[]), (Method::Packed, MIB, micros(613)));
}

#[test]
fn stages_that_overlap_take_chunks_in_between() {
    // 64 KiB in 10 us: in chunks of 1 MiB the leg takes 172 beside 25 and 147: 344 + 3 x 172 = 860; in chunks of 256 KiB it takes 52 beside 13
    // and 39: 104 + 15 x 52 = 884; whole: 1,304.
    let network = Leg { start: micros(12), bytes_per_second: 64.0 * 1024.0 / 10e-6 };
    let (method, chunk, time) = chosen(scattered(4 * MIB, MIB), &[network]);
    assert_eq!((method, chunk), (Method::Packed, MIB));
    assert!(time.abs_diff(micros(860)) < micros(1), "{time:?}");
    // A network that starts at once: 256 KiB take 13, 39 and 40: 92 + 15 x 40 = 692; 1 MiB: 332 + 3 x 160 = 812.
    let network = Leg { start: Duration::ZERO, ..network };
    let (method, chunk, time) = chosen(scattered(4 * MIB, MIB), &[network]);
    assert_eq!((method, chunk), (Method::Packed, 256 * KIB));
    assert!(time.abs_diff(micros(692)) < micros(1), "{time:?}");
    // One that is much slower than all else decides alone.
    let network = Leg { start: micros(1000), bytes_per_second: 1e12 };
    assert_eq!(chosen(scattered(4 * MIB, MIB), &[network]).1, 4 * MIB);
}

#[test]
fn rows_are_chosen_for_rows_alone() {
    // Blocks of 4 KiB. Whole: 4 + 768, packed in chunks: 613; a leg has it start: rows need one stage less.
    let (bytes, blocks) = (64 * KIB, 16);
    assert_eq!(chosen(rows(bytes, blocks), &[]).0, Method::Rows);
    assert_eq!(chosen(scattered(bytes, blocks), &[]).0, Method::Packed);
    // Rows of 4 bytes were not tried.
    assert_eq!(chosen(rows(bytes, bytes / 4), &[]).0, Method::Packed);
}

#[test]
fn what_was_not_tried_is_not_chosen() {
    let mut table = Table::default();
    fill(&mut table, (Way::Out, Method::Blocks), 4..5, 1, 1);
    assert_eq!(best(&table, scattered(MIB, MIB / 4), Way::Out, &[]), None);
    assert_eq!(best(&table, Facts::whole(MIB), Way::In, &[]), None);
    assert_eq!(pulls(&table, Facts::whole(MIB), &[]), None);
}

#[test]
fn mapped_memory_is_pulled_where_that_is_quicker() {
    assert_eq!(pulls(&table(), scattered(100 * MIB, MIB), &[]), Some(true));
    assert_eq!(pulls(&table(), Facts::whole(KIB), &[]), Some(true));
    // A device whose kernels are slow beside its copy engines: 64 KiB in 20 us, by 9 us out and in.
    let mut slow = table();
    for (row, bytes) in LENGTHS.into_iter().enumerate() {
        slow.pulled[row] = [Some(micros(20 * bytes / (64 * KIB))); COLUMNS];
    }
    assert_eq!(pulls(&slow, Facts::whole(100 * MIB), &[]), Some(false));
    // A network between that takes longer still.
    let network = Leg { start: Duration::ZERO, bytes_per_second: 64.0 * 1024.0 / 50e-6 };
    assert_eq!(pulls(&slow, Facts::whole(100 * MIB), &[network]), Some(true));
}

#[test]
fn arguments_are_short_as_long_as_one_step_is_as_quick_as_two() {
    // Not measured: up to 8 KiB.
    assert!(is_short(None, scattered(8 * KIB, 100)) && !is_short(None, scattered(8 * KIB + 1, 100)));
    // 5 + 5 us beside 12 + 1 at 8 KiB; 45 beside 22 at 64 KiB.
    assert!(is_short(Some(&table()), scattered(8 * KIB, 100)));
    assert!(!is_short(Some(&table()), scattered(8 * KIB + 1, 100)));
    // A bus as quick as the device: up to 64 KiB.
    let mut quick = table();
    fill(&mut quick, (Way::Out, Method::OneShot), 0..COLUMNS, 5, 10);
    assert!(
        is_short(Some(&quick), scattered(64 * KIB, 100))
            && !is_short(Some(&quick), scattered(64 * KIB + 1, 100))
    );
    // A step that is never as quick: none.
    let mut slow = table();
    fill(&mut slow, (Way::Out, Method::OneShot), 0..COLUMNS, 50, 10);
    assert!(!is_short(Some(&slow), scattered(1, 1)));
}

#[test]
fn without_a_measurement_there_is_an_order() {
    let method = |facts| unmeasured(facts).method;
    assert_eq!(method(Facts::whole(MIB)), Method::Blocks);
    assert_eq!(method(rows(64 * KIB, 100)), Method::OneShot);
    assert_eq!(method(scattered(64 * KIB + 1, 100)), Method::Packed);
    let said = unmeasured(scattered(MIB, 100)).to_string();
    assert_eq!(said, "packed on the device, then copied, in chunks of 512 KiB (not measured)");
}

/// TEMPI's choice: packed on the device for a network that reads it there, or packed into memory of the host.
#[test]
fn the_network_reads_the_device_unless_the_way_by_the_host_is_quicker() {
    let leg = |gigabytes: f64| Leg { start: micros(10), bytes_per_second: gigabytes * 1e9 };
    let directly = |facts, direct, beside| goes_directly(&table(), facts, (Way::Out, direct), &[beside]);
    let blocks = scattered(4 * MIB, MIB / 16);
    for facts in [Facts::whole(4 * MIB), blocks, Facts::whole(64 * KIB)] {
        assert_eq!(
            directly(facts, leg(10.0), leg(10.0)),
            Some(true),
            "{facts:?}: the host is one stage more"
        );
        // A bridge between the device and the network that carries a tenth.
        assert_eq!(directly(facts, leg(0.5), leg(10.0)), Some(false), "{facts:?}");
    }
    // Where packing on the device takes long, and writing over the bus not, blocks go by the host, and one block does not.
    let mut slow = table();
    for times in &mut slow.pulled {
        times[..COLUMNS - 1].fill(Some(micros(100_000)));
    }
    let of_slow = |facts| goes_directly(&slow, facts, (Way::Out, leg(10.0)), &[leg(10.0)]);
    assert_eq!((of_slow(blocks), of_slow(Facts::whole(4 * MIB))), (Some(false), Some(true)));
    assert_eq!(goes_directly(&Table::default(), blocks, (Way::In, leg(1.0)), &[]), None, "not measured");
}
