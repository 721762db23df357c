//! Rows of the table of ways: each is reached, and its threshold is passed by one more.

use super::*;

const PACK: Option<LayoutMethod> = Some(LayoutMethod::Pack);
const SIEVE: Option<LayoutMethod> = Some(LayoutMethod::Sieve);
const VECTORS: Option<LayoutMethod> = Some(LayoutMethod::Vectors);

const KIB: usize = 1 << 10;

/// So many runs of so many bytes, one of each so many.
fn runs(count: u64, block: u64, of: i64) -> Raw {
    Raw::bytes_of(block).and_then(|run| run.vector(count, 1, of)).expect("it fits")
}

/// A layout that is long for a message: so many doubles at places that no loop says.
fn list(len: i64) -> Raw {
    let places: Vec<i64> = (0..len).map(|place| place * place).collect();
    Raw::bytes_of(8).and_then(|double| double.indexed_block(1, &places)).expect("it fits")
}

fn landing(bytes: usize) -> Option<Landing> {
    Some(Landing { bytes, is_laid_out: false, is_long: is_long(bytes) })
}

fn laid_out(bytes: usize) -> Option<Landing> {
    Some(Landing { bytes, is_laid_out: true, is_long: is_long(bytes) })
}

#[test]
fn bytes_travel_along_up_to_a_limit_for_each_path() {
    let frame = 1 << 20;
    for (access, limit) in [
        (Access::Mapped, KIB),
        (Access::Copied, 4 * KIB),
        (Access::Fetched, 32 * KIB),
        (Access::Carried, 256 * KIB),
    ] {
        let eager = |registration, bytes| eager(registration, bytes, frame, || access);
        assert_eq!(eager(Registration::Lazily, limit), Some(SHORT), "{access:?}");
        assert_eq!(eager(Registration::Lazily, limit + 1), None, "{access:?}");
        assert_eq!(eager(Registration::None, frame), Some(UNREGISTERED), "{access:?}");
        assert_eq!(is_always_eager(limit), access == Access::Mapped);
    }
    let in_short_frames = |bytes| eager(Registration::Now, bytes, 64 * KIB, || Access::Carried);
    assert_eq!(in_short_frames(32 * KIB), Some(SHORT));
    assert_eq!(in_short_frames(32 * KIB + 1), None);
}

#[test]
fn memory_that_is_lent_is_reached_by_the_path_to_the_peer() {
    let all = [Access::Mapped, Access::Copied, Access::Fetched, Access::Carried].map(lent);
    assert_eq!(all, [MAPPED, COPIED, FETCHED, CARRIED]);
    assert!(all.into_iter().all(|choice| choice.way == Way::Lent));
}

/// The choice for a layout that selects of memory as long as its span, by a `Received`.
fn chosen(forced: Option<LayoutMethod>, layout: &Raw, access: Access, moves_runs: bool) -> Option<Choice> {
    let leaving =
        Leaving { kind: NocopyKind::Received, layout, memory_bytes: layout.span(), is_several: false };
    packed(forced, leaving, access, || moves_runs, || &USUAL_RATES)
}

#[test]
fn mapped_memory_is_packed_where_its_layout_is_long_and_thin() {
    // Doubles of a line each and further apart, of which 8,192 are 64 KiB.
    let (thin, shorter) = (list(8192), list(8191));
    assert_eq!(chosen(None, &thin, Access::Mapped, false), Some(THIN));
    assert_eq!(chosen(None, &shorter, Access::Mapped, false), None);
    assert_eq!(chosen(VECTORS, &thin, Access::Mapped, false), Some(THIN));
    // The same by a short layout, with which the owner can help; and by a view.
    assert_eq!(chosen(None, &runs(8192, 8, 16), Access::Mapped, false), None);
    let view =
        Leaving { kind: NocopyKind::Viewed, layout: &thin, memory_bytes: thin.span(), is_several: false };
    assert_eq!(packed(None, view, Access::Mapped, || false, || &USUAL_RATES), None);
    assert_eq!(packed(PACK, view, Access::Mapped, || false, || &USUAL_RATES), Some(FORCED));
    // A fifth of the lines is thin, a quarter is not.
    assert!(is_thin(&runs(8192, 12, 16)) && !is_thin(&runs(8192, 16, 4)));
}

#[test]
fn what_is_not_mapped_is_packed_unless_its_runs_are_worth_it() {
    let (near, far) = (runs(1 << 17, 8, 8), runs(4, 1 << 18, 4));
    // What the kernel copies, with the usual costs: what is measured depends on what else a machine does.
    assert_eq!(chosen(None, &near, Access::Copied, false), Some(CHEAPER));
    assert_eq!(chosen(None, &far, Access::Copied, false), None);
    assert_eq!(chosen(VECTORS, &near, Access::Copied, false), None);
    assert_eq!(chosen(SIEVE, &near, Access::Copied, false), None);
    assert_eq!(chosen(PACK, &far, Access::Copied, false), Some(FORCED));
    for access in [Access::Fetched, Access::Carried] {
        assert_eq!(chosen(None, &far, access, false), Some(NO_RUNS));
        assert_eq!(chosen(VECTORS, &far, access, false), Some(NO_RUNS));
    }
    let network = |forced, layout: &Raw| chosen(forced, layout, Access::Fetched, true);
    assert_eq!(network(None, &runs(100, 24 << 10, 2)), None);
    assert_eq!(network(None, &runs(100, (24 << 10) - 1, 2)), Some(SHORT_RUNS));
    assert_eq!(network(VECTORS, &runs(100, 8, 2)), None);
    let part = runs(1, 1 << 20, 1);
    let of_memory = |memory_bytes| {
        let leaving = Leaving { kind: NocopyKind::Received, layout: &part, memory_bytes, is_several: false };
        packed(None, leaving, Access::Fetched, || true, || &USUAL_RATES)
    };
    assert_eq!(of_memory(8 << 20), None);
    assert_eq!(of_memory((8 << 20) + 1), Some(FAR_RUNS));
}

#[test]
fn several_buffers_are_packed_where_they_are_not_mapped() {
    let layout = runs(4, 1 << 18, 4);
    for access in [Access::Mapped, Access::Copied, Access::Fetched, Access::Carried] {
        let leaving = Leaving {
            kind: NocopyKind::Viewed,
            layout: &layout,
            memory_bytes: layout.span(),
            is_several: true,
        };
        let choice = packed(None, leaving, access, || true, || &USUAL_RATES);
        assert_eq!(choice, (access != Access::Mapped).then_some(SEVERAL), "{access:?}");
    }
}

#[test]
fn for_many_it_is_packed_once_unless_all_map_it() {
    let thin = runs(8192, 8, 16);
    let choice = |forced, kind, is_mapped| packed_for_many(forced, kind, &thin, is_mapped);
    assert_eq!(choice(None, NocopyKind::Viewed, false), Some(UNMAPPED));
    assert_eq!(choice(PACK, NocopyKind::Viewed, true), Some(FORCED));
    assert_eq!(choice(None, NocopyKind::Posted, true), Some(THIN));
    assert_eq!(choice(None, NocopyKind::Viewed, true), None);
}

#[test]
fn long_layouts_are_told_once() {
    assert!(is_short(&list(32)) && !is_short(&list(33)));
    assert!(is_short(&runs(1 << 20, 8, 3)));
}

#[test]
fn what_is_of_this_process_is_handed_over_passed_or_lent_to_itself() {
    let (long, short) = (128 * KIB + 1, 128 * KIB);
    let here = |kind, is_laid_out, landing, is_helped| here(kind, is_laid_out, landing, || is_helped);
    let posted = |landing| here(NocopyKind::Posted, false, landing, false);
    assert_eq!(posted(landing(long)), LENT_HERE);
    assert_eq!(posted(landing(short)), PASSED_HERE);
    assert_eq!(posted(laid_out(long)), PASSED_HERE);
    assert_eq!(here(NocopyKind::Posted, true, landing(long), false), PASSED_HERE);
    assert_eq!(here(NocopyKind::Posted, false, landing(long), true), PASSED_HERE);
    assert_eq!(here(NocopyKind::Viewed, true, None, false), HANDED);
    assert_eq!(here(NocopyKind::Received, false, None, false), HANDED);
    assert_eq!(here(NocopyKind::Received, true, None, false), PASSED_HERE);
}

#[test]
fn whole_memory_of_another_node_is_read_in_place_filled_from_there_or_fetched() {
    let (long, short) = (128 * KIB + 1, 128 * KIB);
    assert!(is_read_in_place(None, false) && is_read_in_place(landing(short), false));
    assert!(!is_read_in_place(landing(long), false) && is_read_in_place(landing(long), true));
    assert_eq!(whole(None, true), VIEWED);
    assert_eq!(whole(landing(short), true), PASSED);
    assert_eq!(whole(None, false), BROUGHT);
    assert_eq!(whole(landing(short), false), BROUGHT);
    assert_eq!(whole(landing(long), false), BROUGHT_LONG);
    assert_eq!(whole(landing(long), true), PASSED, "its owner helps");
    for kind in [NocopyKind::Viewed, NocopyKind::Received, NocopyKind::Posted] {
        assert_eq!(selected(kind, false), READ);
        assert_eq!(selected(kind, true), if kind == NocopyKind::Viewed { VIEWED } else { PASSED });
    }
}

#[test]
fn passes_have_a_plan_where_a_layout_or_another_process_asks_for_one() {
    let (unhelped, helped) = (4 * KIB, 4 * KIB + 1);
    for landing_bytes in [unhelped, helped] {
        assert!(is_planned(true, landing(landing_bytes), false));
        assert!(!is_planned(false, landing(landing_bytes), false));
        let is_longer = landing_bytes == helped;
        assert_eq!(is_planned(false, laid_out(landing_bytes), false), is_longer);
        assert_eq!(is_planned(false, landing(landing_bytes), true), is_longer);
    }
    assert!(is_planned(false, None, true) && !is_planned(false, None, false));
    assert!(is_long(128 * KIB + 1) && !is_long(128 * KIB));
}

#[test]
fn long_passes_by_short_layouts_are_shared() {
    let (long, short) = (runs(1 << 17, 8, 2), runs(1 << 4, 8, 2));
    assert!(pays_to_share(&long, &long) && !pays_to_share(&short, &short));
    let list = list(1 << 17);
    assert!(!pays_to_share(&list, &list), "it does not travel with a message");
}

#[test]
fn few_pages_far_apart_are_entered_one_by_one() {
    let far = |bytes: u64| {
        let piece = Raw::bytes_of(bytes).expect("bytes");
        Raw::sequence(&[(0, &piece), (1 << 30, &piece)]).expect("it fits")
    };
    assert!(is_sparse(&far(1)) && is_sparse(&far(1 << 20)));
    assert!(!is_sparse(&far(1 << 28)));
    let each = |bytes| Raw::bytes_of(8).and_then(|one| one.hvector(10_000, 1, bytes)).expect("it fits");
    assert!(is_sparse(&each(11 << 12)));
    assert!(!is_sparse(&each(9 << 12)) && !is_sparse(&each(0)));
}

#[test]
fn the_kernel_reads_around_single_elements_and_by_vectors_what_lies_far_apart() {
    let target = runs(1, 1 << 20, 1);
    let read = |forced, from: &Raw| read_by_kernel(forced, from, &target, || &USUAL_RATES);
    let (near, far) = (runs(1 << 17, 8, 8), runs(4, 1 << 18, 4));
    assert_eq!(read(None, &near), SIEVED);
    assert_eq!(read(None, &far), VECTORED);
    assert_eq!(read(PACK, &far), VECTORED, "who gets it by a handle has nobody who packs");
    assert_eq!(read(SIEVE, &far), SIEVED);
    assert_eq!(read(VECTORS, &near), VECTORED);
}

#[test]
fn a_network_reads_runs_that_are_long_or_far_apart_and_are_not_cut() {
    let read = |forced, from: &Raw, to: &Raw| read_by_network(forced, true, from, to);
    let one = runs(1, 1 << 20, 1);
    let (long, near, far) = (runs(32, 24 << 10, 2), runs(128, 64, 2), runs(128, 64, 1 + (10 << 10) / 64));
    assert_eq!(read(None, &long, &one), RUNS);
    assert_eq!(read(None, &runs(32, (24 << 10) - 1, 1), &one), RUNS, "it is one run");
    assert_eq!(read(None, &near, &one), STRETCHED);
    assert_eq!(read(None, &far, &one), STRETCHED, "less than 10 KiB between two, on average");
    assert_eq!(read(None, &runs(128, 64, 3 + (10 << 10) / 64), &one), RUNS);
    assert_eq!(read_by_network(None, false, &long, &one), STRETCHED);
    assert_eq!(read(SIEVE, &long, &one), STRETCHED);
    assert_eq!(read(VECTORS, &near, &one), RUNS);
    // The target cuts.
    assert_eq!(read(None, &long, &near), RUNS_ASIDE);
    assert_eq!(read(VECTORS, &long, &near), RUNS);
    assert_eq!(read(None, &long, &runs(33, 24 << 10, 2)), RUNS, "into long ones");
    assert_eq!((gap_bytes(true), gap_bytes(false)), (16 << 10, 4 << 10));
}

#[test]
fn costs_of_the_kernel_are_those_that_were_measured() {
    assert_eq!(rates(None), USUAL_RATES);
    let measured = rates(Some(VectorCosts { vector_ns: 1.0, byte_ns: 2.0 }));
    assert_eq!((measured.vector_ns, measured.vector_byte_ns), (1.0, 2.0));
    assert_eq!(measured.help_ns, USUAL_RATES.help_ns);
}

#[test]
fn device_arguments_go_with_their_call_by_a_mapping_by_the_network_or_in_chunks() {
    assert_eq!(short_of_device(8, 8, || true), Some(DEVICE_SHORT));
    for (bytes, room, is_short) in [(0, 8, true), (9, 8, true), (8, 8, false)] {
        assert_eq!(short_of_device(bytes, room, || is_short), None);
    }
    let across = |bytes, is_copied, is_shared, pulls, is_direct| {
        across_devices(bytes, is_copied, is_shared, || pulls, || is_direct)
    };
    assert_eq!(across(8, false, true, false, true), DEVICE_MAPPED);
    assert_eq!(across(8, true, true, true, true), DEVICE_MAPPED);
    assert_eq!(across(8, true, true, false, true), DEVICE_DIRECT);
    assert_eq!(across(8, false, false, true, true), DEVICE_DIRECT);
    assert_eq!(across(8, true, true, false, false), DEVICE_CHUNKS);
    assert_eq!(across(0, false, true, true, true), DEVICE_CHUNKS);
}

#[test]
fn adopted_memory_is_mapped_from_a_length_on_and_other_memory_always() {
    assert!(is_worth_mapping(0, false));
    assert!(!is_worth_mapping(KIB * KIB - 1, true));
    assert!(is_worth_mapping(KIB * KIB, true));
}
