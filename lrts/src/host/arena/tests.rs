//! Tests of arenas: alone, and with one neighbour whose link is full.

use super::*;
use crate::host::testing::mapped_bytes;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

fn alone() -> Arc<Arenas> {
    Arc::new(Arenas::new(Vec::new()))
}

#[test]
fn pieces_are_aligned_distinct_and_return() {
    let arenas = alone();
    let mut pieces: Vec<MemoryMut> = [0, 1, 63, 64, 65, 4096, 1 << 20]
        .into_iter()
        .map(|len| arenas.allocate(len).expect("memory"))
        .collect();
    for (index, piece) in pieces.iter_mut().enumerate() {
        assert_eq!(piece.address() as usize % UNIT_BYTES, 0);
        assert!(piece.share().is_some());
        piece.as_mut_slice().fill(index as u8);
    }
    for (index, piece) in pieces.iter().enumerate() {
        assert!(piece.as_slice().iter().all(|&byte| byte == index as u8));
    }
    let total = arenas.total_bytes();
    for _ in 0..100 {
        drop(arenas.allocate(1 << 20).expect("memory"));
    }
    assert_eq!(arenas.total_bytes(), total, "freed pieces are used again");
}

#[test]
fn a_long_request_gets_an_arena_that_serves_others_later() {
    let arenas = alone();
    for len in [(8 << 20) - 1, 8 << 20, (8 << 20) + 1] {
        let long = arenas.allocate(len).expect("memory");
        assert_eq!(long.len(), len);
    }
    let total = arenas.total_bytes();
    let many: Vec<_> = (0..64).map(|_| arenas.allocate(64 << 10).expect("memory")).collect();
    assert_eq!(arenas.total_bytes(), total);
    std::thread::scope(|scope| {
        scope.spawn(move || drop(many));
    });
}

#[test]
fn what_cannot_be_is_a_typed_error() {
    let arenas = alone();
    assert!(matches!(arenas.allocate(ARENA_BYTES_MAX + 1), Err(ArenaError::TooLong { .. })));
    assert!(matches!(arenas.allocate(usize::MAX), Err(ArenaError::TooLong { .. })));
}

#[test]
fn an_arena_is_not_used_before_all_neighbours_know_it() {
    let (here, there) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
    .expect("sockets");
    let link = Arc::new(Link::new(NodeId(1), here));
    let filler = rustix::fs::memfd_create("filler", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
    while link.announce(0, 1, filler.as_fd()).is_ok() {}
    let arenas = Arc::new(Arenas::new(vec![link]));
    for _ in 0..3 {
        assert!(matches!(arenas.allocate(100), Err(ArenaError::Unannounced { peer: NodeId(1), .. })));
    }
    let reader = Link::new(NodeId(0), there);
    while matches!(reader.receive(), crate::host::link::Received::Message(_)) {}
    let piece = arenas.allocate(100).expect("the socket has room again");
    assert_eq!(piece.share(), Some(Share { row: 0, offset: 0 }));
    drop(reader);
    assert!(arenas.allocate(100 << 20).is_ok(), "a dead neighbour stops nobody");
}

#[test]
fn an_arena_that_stays_empty_gives_its_pages_back_and_is_used_again() {
    let arenas = alone();
    let long = 3 * ARENA_GRAIN_BYTES;
    let mut kept = arenas.allocate(100).expect("memory");
    let filled = |arenas: &Arc<Arenas>| {
        let mut memory = arenas.allocate(long).expect("memory");
        memory.as_mut_slice().fill(7);
        memory
    };
    let memory = filled(&arenas);
    let (now, total) = (clock::now(), arenas.total_bytes());
    let later = |times: u32| now + times * EMPTY_FOR;
    assert_eq!(arenas.give_back(now), None, "both are in use");
    drop(memory);
    assert_eq!(arenas.give_back(now), Some(EMPTY_FOR));
    // Used meanwhile: its time starts again.
    drop(filled(&arenas));
    assert_eq!(arenas.give_back(later(1)), Some(EMPTY_FOR));
    assert_eq!(arenas.give_back(later(2) - Duration::from_millis(1)), Some(Duration::from_millis(1)));
    let stale = arenas.allocate(long).expect("memory");
    assert!(stale.as_slice().iter().all(|&byte| byte == 7), "not given back yet");
    drop(stale);
    arenas.give_back(later(2));
    assert_eq!(arenas.give_back(later(3)), None, "given back, and the short one is kept");
    let again = arenas.allocate(long).expect("memory");
    assert!(again.as_slice().iter().all(|&byte| byte == 0), "its pages are new");
    assert_eq!(arenas.total_bytes(), total, "it is the same arena");
    kept.as_mut_slice().fill(1);
}

#[test]
fn an_arena_that_grew_gets_huge_pages_one_at_a_time_and_keeps_its_bytes() {
    if !Mapping::can_collapse() {
        println!("skipped: huge pages: this kernel puts none together");
        return;
    }
    let arenas = alone();
    let _short = arenas.allocate(100).expect("memory");
    let start = clock::now();
    assert_eq!(arenas.put_together(start, REST), None, "a short arena keeps small pages");
    let mut memory = arenas.allocate(3 * HUGE_PAGE_BYTES).expect("memory");
    let byte = |index: usize| (index / 1000) as u8;
    memory.as_mut_slice().iter_mut().enumerate().for_each(|(index, to)| *to = byte(index));
    assert_eq!(
        arenas.put_together(start, REST / 4),
        Some(REST * 3 / 4),
        "who has just been busy may be called"
    );
    let pause = arenas.put_together(start, REST).expect("more is left");
    let soon = Duration::from_millis(1);
    assert_eq!(arenas.put_together(start + soon, REST), Some(pause - soon), "not yet");
    let (mut now, mut pages) = (start + pause, 1);
    while let Some(wait) = arenas.put_together(now, REST) {
        now += wait;
        pages += 1;
    }
    let grown = arenas.total_bytes() - FIRST_BYTES;
    assert_eq!(pages * HUGE_PAGE_BYTES, grown);
    assert!(memory.as_slice().iter().enumerate().all(|(index, &found)| found == byte(index)));
    match mapped_bytes(memory.address(), "ShmemPmdMapped") {
        0 => println!("skipped: huge pages: this machine has no room for one"),
        huge => assert!(huge <= grown && huge.is_multiple_of(HUGE_PAGE_BYTES), "{huge} of {grown}"),
    }
}

#[test]
fn a_very_long_arena_is_not_backed_again_for_little() {
    let arenas = alone();
    drop(arenas.allocate(40 * ARENA_GRAIN_BYTES).expect("memory"));
    let now = clock::now();
    arenas.give_back(now);
    assert_eq!(arenas.give_back(now + EMPTY_FOR), None);
    let total = arenas.total_bytes();
    let little = arenas.allocate(3 * ARENA_GRAIN_BYTES).expect("memory");
    assert!(arenas.total_bytes() > total, "a new arena serves it");
    let behind = little.share().expect("it is shareable").offset;
    assert_eq!(behind, total as u64, "a new arena stands behind the others");
}

#[test]
fn arenas_grow_in_steps_of_what_they_may() {
    let arenas = alone();
    let fill =
        |count: usize| -> Vec<_> { (0..count).map(|_| arenas.allocate(1 << 20).expect("memory")).collect() };
    let _pieces = fill(20);
    let before = arenas.total_bytes();
    arenas.limit_growth(1 << 20);
    let _more = fill(9);
    // Arenas of 4, 8 and 16 MiB are there; unlimited, one of 32 MiB would follow.
    assert!(arenas.total_bytes() <= 40 << 20, "{} bytes after a step", arenas.total_bytes());
    assert_eq!((arenas.total_bytes() - before) % ARENA_GRAIN_BYTES, 0);
    let long = arenas.allocate(16 << 20).expect("a buffer gets what it needs");
    assert_eq!(long.len(), 16 << 20);
}

#[test]
fn arenas_of_a_row_have_the_same_distances_in_memory_as_in_the_row() {
    let arenas = alone();
    let pieces: Vec<_> = (0..4).map(|_| arenas.allocate(17 << 20).expect("memory")).collect();
    let place = |piece: &MemoryMut| piece.share().expect("it is shareable");
    let [first, .., last] = &pieces[..] else { unreachable!("there are four") };
    assert!(arenas.total_bytes() > 4 * (17 << 20), "in more than one arena");
    assert_eq!(place(first).row, place(last).row);
    let (distance, further) =
        (last.address().addr() - first.address().addr(), place(last).offset - place(first).offset);
    assert_eq!(distance as u64, further);
}
