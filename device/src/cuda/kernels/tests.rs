//! Launches carried out by the kernels' own source, compiled for the host, thread by thread, beside the plan itself.

#![expect(unsafe_code, reason = "calls kernels that a C++ compiler made for the host")]

use super::{Bases, PiecesArgument, Shape, THREADS, at, gathered};
use crate::launch::sections::{Job, Nest, Section};
use crate::launch::{Launches, Single};
use chare_layout::{LayoutError, Plan, Raw};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::process::Command;

/// What the source needs of CUDA, where threads are calls.
const HOST: &str = r#"
#define __device__
#define __global__
struct Dim { unsigned x; };
static Dim blockIdx, threadIdx, blockDim, gridDim;
extern "C" void place(unsigned block, unsigned thread, unsigned blocks, unsigned threads) {
    blockIdx.x = block, threadIdx.x = thread, gridDim.x = blocks, blockDim.x = threads;
}
#include "step.cu"
"#;

/// The kernels as functions of the host.
struct Host {
    library: libloading::Library,
    /// Holds the library's file.
    _folder: tempfile::TempDir,
}

impl Host {
    /// None where there is no C++ compiler.
    fn compile() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, library) = (folder.path().join("host.cpp"), folder.path().join("libhost.so"));
        std::fs::write(&source, HOST).expect("a file");
        let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");
        let compiled = Command::new("c++")
            .args([
                "-std=c++17",
                "-O1",
                "-fno-strict-aliasing",
                "-Wall",
                "-Werror",
                "-shared",
                "-fPIC",
                "-I",
                kernels,
                "-o",
            ])
            .args([&library, &source])
            .status();
        match compiled {
            Ok(status) => assert!(status.success(), "the kernels are C++"),
            Err(error) => {
                println!("skipped: kernels on the host: c++: {error}");
                return None;
            }
        }
        // SAFETY: a library of a few functions, without initialisers.
        let library = unsafe { libloading::Library::new(library) }.expect("it was made a moment ago");
        Some(Self { library, _folder: folder })
    }

    /// # Safety
    /// `F` is the function's type.
    unsafe fn function<F: Copy>(&self, name: &str) -> F {
        // SAFETY: the caller's promise.
        *unsafe { self.library.get::<F>(name.as_bytes()) }.expect("the source has it")
    }

    /// Calls `kernel` for each thread of a launch.
    fn threads(&self, shape: Shape, mut kernel: impl FnMut()) {
        // SAFETY: as `HOST` has it.
        let place: unsafe extern "C" fn(u32, u32, u32, u32) = unsafe { self.function("place") };
        for block in 0..shape.blocks {
            for thread in 0..THREADS {
                // SAFETY: it sets words of the library, which this thread alone uses.
                unsafe { place(block, thread, shape.blocks, THREADS) };
                kernel();
            }
        }
    }

    /// # Safety
    /// What the launch reads may be read, and what it writes written.
    unsafe fn carry_out(&self, single: &Single, bases: Bases) {
        match at(*single, bases) {
            // SAFETY: the caller's promise.
            Single::Copy(piece) => unsafe {
                let (source, target) = (piece.source as *const u8, piece.target as *mut u8);
                std::ptr::copy_nonoverlapping(source, target, piece.bytes as usize);
            },
            Single::Nest(nest) => {
                let shape = Shape::of_nest(&nest);
                // SAFETY: as the source has it.
                let kernel: unsafe extern "C" fn(Nest, u32) =
                    unsafe { self.function(&format!("step_nest_{}", 1 << shape.word_bits)) };
                // SAFETY: the caller's promise.
                self.threads(shape, || unsafe { kernel(nest, shape.lane_bits) });
            }
        }
    }

    /// # Safety
    /// As for [`carry_out`](Self::carry_out), and the table is there.
    unsafe fn carry_out_section(&self, section: &Section, table: u64, bases: Bases) {
        match section {
            Section::Pieces(pieces) => {
                let shape = Shape::of_pieces(pieces, bases);
                // SAFETY: as the source has it.
                let kernel: unsafe extern "C" fn(PiecesArgument, u32) =
                    unsafe { self.function(&format!("step_pieces_{}", 1 << shape.word_bits)) };
                let argument = PiecesArgument::new(pieces, table, bases);
                // SAFETY: the caller's promise.
                self.threads(shape, || unsafe { kernel(argument, shape.lane_bits) });
            }
            Section::Nests(nests) => {
                let shape = Shape::of_nests(nests, bases);
                // SAFETY: as the source has it.
                let kernel: unsafe extern "C" fn(*const Job, u64, u64, u64, u64, u32) =
                    unsafe { self.function(&format!("step_nests_{}", 1 << shape.word_bits)) };
                let jobs = (table + nests.at) as *const Job;
                // SAFETY: the caller's promise.
                self.threads(shape, || unsafe {
                    kernel(jobs, nests.count, nests.blocks, bases.0, bases.1, shape.lane_bits);
                });
            }
        }
    }

    /// # Safety
    /// As for [`carry_out`](Self::carry_out), for all of them.
    unsafe fn carry_out_all(&self, launches: &Launches, bases: Bases) {
        // Where a device has it: aligned for what a kernel reads.
        let words: Vec<u64> = launches.table.chunks(8).map(padded).collect();
        // SAFETY: the caller's promise.
        unsafe {
            launches.singles.iter().for_each(|single| self.carry_out(single, bases));
            let table = words.as_ptr() as u64;
            launches.sections.iter().for_each(|section| self.carry_out_section(section, table, bases));
        }
    }
}

fn padded(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(word)
}

/// Some levels of blocks, strides and lists.
fn random(chance: &mut StdRng) -> Result<Raw, LayoutError> {
    let mut raw = Raw::bytes_of([1, 2, 3, 4, 8, 12, 16, 48][chance.random_range(0..8)])?;
    for _ in 0..chance.random_range(0..5) {
        let (count, len) = (chance.random_range(1..5), chance.random_range(1..4));
        let gap = chance.random_range(1..4) * 16;
        raw = match chance.random_range(0..8) {
            0 => raw.contiguous(count)?,
            1..7 => {
                let stride = len as i64 * raw.extent() + gap;
                raw.hvector(count, len, if chance.random() { stride } else { -stride })?
            }
            _ => {
                let places: Vec<i64> = (0..chance.random_range(1..30)).map(|at| at * 2).collect();
                raw.indexed_block(1, &places)?
            }
        };
        if raw.bytes() > 20_000 {
            break;
        }
    }
    raw.shifted(-raw.origin())
}

fn filled(len: usize, seed: u64) -> Vec<u8> {
    let mut chance = StdRng::seed_from_u64(seed);
    (0..len).map(|_| chance.random()).collect()
}

/// Steps by a plan from one buffer to another, by the plan itself and by its launches.
fn check(host: &Host, (from, to): (&Raw, &Raw), misaligned: (usize, usize), kinds: &mut [usize; 3]) {
    let plan = Plan::beginning(from, to).expect("places of a target are apart");
    check_plan(host, &plan, (len(from), len(to)), misaligned, kinds);
}

/// How long a buffer must be.
fn len(raw: &Raw) -> usize {
    (raw.origin() as u64 + raw.span()) as usize
}

/// Carries out a plan between buffers of these lengths, by the plan itself and by its launches.
fn check_plan(
    host: &Host,
    plan: &Plan,
    (from, to): (usize, usize),
    misaligned: (usize, usize),
    kinds: &mut [usize; 3],
) {
    let (source, expected) = (filled(misaligned.0 + from, 1), &mut filled(misaligned.1 + to, 2));
    let mut landed = expected.clone();
    // SAFETY: behind what is misaligned, both are as long as what the plan selects of them.
    unsafe { plan.run(source.as_ptr().add(misaligned.0), expected.as_mut_ptr().add(misaligned.1)) };
    let addresses = (
        (source.as_ptr() as usize + misaligned.0) as u64,
        (landed.as_mut_ptr() as usize + misaligned.1) as u64,
    );
    let launches = Launches::of(plan);
    for single in &launches.singles {
        kinds[usize::from(matches!(single, Single::Nest(_)))] += 1;
    }
    kinds[2] += launches.sections.len();
    // SAFETY: as above, for the other target.
    unsafe { host.carry_out_all(&launches, addresses) };
    assert!(landed == *expected, "{plan:?}, {misaligned:?}");
}

#[test]
fn launches_do_what_plans_do() {
    let Some(host) = Host::compile() else { return };
    let (mut chance, mut kinds) = (StdRng::seed_from_u64(5), [0; 3]);
    for _ in 0..200 {
        let mut both = [random(&mut chance), random(&mut chance)].map(|raw| raw.expect("it fits"));
        // Half of them pack or unpack.
        if let Some(side) = both.get_mut(chance.random_range(0..4_usize)) {
            *side = Raw::bytes_of(100_000).expect("it fits");
        }
        let misaligned = [(0, 0), (16, 8), (1, 2), (4, 12)][chance.random_range(0..4)];
        check(&host, (&both[0], &both[1]), misaligned, &mut kinds);
    }
    assert!(kinds.iter().all(|count| *count >= 15), "copies, nests, tables: {kinds:?}");
}

/// Chunks of a stream begin and end anywhere in a layout.
#[test]
fn launches_of_ranges_do_what_their_plans_do() -> Result<(), LayoutError> {
    let Some(host) = Host::compile() else { return Ok(()) };
    let (mut chance, mut kinds) = (StdRng::seed_from_u64(13), [0; 3]);
    // A list that no loops go through, so that some are tables.
    let places: Vec<i64> = (0..100).map(|at| at * (at + 3) / 2).collect();
    let mut layouts = vec![Raw::bytes_of(4)?.indexed_block(1, &places)?];
    for _ in 0..80 {
        layouts.push(random(&mut chance)?);
    }
    for raw in layouts {
        let start = chance.random_range(0..=raw.bytes() / 2);
        let range = start..chance.random_range(start..=raw.bytes());
        let bytes = (range.end - range.start) as usize;
        let misaligned = [(0, 0), (8, 4)][chance.random_range(0..2)];
        check_plan(
            &host,
            &Plan::pack_range(&raw, range.clone())?,
            (len(&raw), bytes),
            misaligned,
            &mut kinds,
        );
        check_plan(&host, &Plan::unpack_range(&raw, range)?, (bytes, len(&raw)), misaligned, &mut kinds);
    }
    assert!(kinds.iter().all(|count| *count > 0), "copies, nests, tables: {kinds:?}");
    Ok(())
}

#[test]
fn long_blocks_are_cut_and_deep_nests_are_tables() -> Result<(), LayoutError> {
    let Some(host) = Host::compile() else { return Ok(()) };
    let mut kinds = [0; 3];
    // Three cuts and a rest.
    let long = Raw::bytes_of(3 * 4096 + 100)?.hvector(3, 1, 20_000)?;
    check(&host, (&long, &Raw::bytes_of(long.bytes())?), (0, 0), &mut kinds);
    assert_eq!(kinds, [0, 2, 0]);
    let mut deep = Raw::bytes_of(5)?;
    for stride in [11, 25, 60, 130, 270, 600, 1300] {
        deep = deep.hvector(2, 1, stride)?;
    }
    check(&host, (&Raw::bytes_of(deep.bytes())?, &deep), (3, 1), &mut kinds);
    assert_eq!(kinds, [0, 2, 1]);
    // Rows longer than a block of a table.
    let rows: Vec<(u64, i64)> = (0..20).map(|row| (5000 + row as u64 % 3, row * 9000)).collect();
    let (lens, places): (Vec<u64>, Vec<i64>) = rows.into_iter().unzip();
    let rows = Raw::bytes_of(1)?.hindexed(&lens, &places)?;
    check(&host, (&rows, &Raw::bytes_of(rows.bytes())?), (0, 7), &mut kinds);
    assert_eq!(kinds, [0, 2, 2]);
    Ok(())
}

/// Many bytes here and there, and some rows: teams of one lane for the bytes, of many for the rows.
#[test]
fn short_pieces_of_a_table_have_teams_of_their_own() -> Result<(), LayoutError> {
    let Some(host) = Host::compile() else { return Ok(()) };
    let runs = (0..1500_i64).map(|at| if at % 400 == 7 { (500, at * 600) } else { (1, at * 600 + at % 7) });
    let (lens, places): (Vec<u64>, Vec<i64>) = runs.unzip();
    let raw = Raw::bytes_of(1)?.hindexed(&lens, &places)?;
    let packed = Raw::bytes_of(raw.bytes())?;
    let mut kinds = [0; 3];
    check(&host, (&raw, &packed), (0, 4), &mut kinds);
    check(&host, (&packed, &raw), (1, 0), &mut kinds);
    assert_eq!(kinds, [0, 0, 4]);
    let widths: Vec<u32> = Launches::of(&Plan::pack(&raw)?)
        .sections
        .iter()
        .map(|section| match section {
            Section::Pieces(pieces) => Shape::of_pieces(pieces, (0, 0)).lane_bits,
            Section::Nests(_) => unreachable!("there are none"),
        })
        .collect();
    assert_eq!(widths, [0, 5]);
    Ok(())
}

/// The 26 faces, edges and corners of a cube of 8-byte elements, packed by one plan: 24 nests of one length of words, and 8 single elements.
#[test]
fn many_nests_are_a_table_of_nests_and_not_of_their_blocks() -> Result<(), LayoutError> {
    let Some(host) = Host::compile() else { return Ok(()) };
    let (side, width) = (24_i64, 8_i64);
    let element = Raw::bytes_of(8)?;
    let (row, plane) = (side * width, side * side * width);
    // Two elements apart, so that no nest is the next one's neighbour.
    let slab = |counts: [u64; 3]| {
        let [x, y, z] = counts;
        element.hvector(x, 1, 2 * width)?.hvector(y, 1, 2 * row)?.hvector(z, 1, 2 * plane)
    };
    let mut fields = Vec::new();
    for at in 0..27_i64 {
        let sides = [at % 3, at / 3 % 3, at / 9];
        if sides == [1, 1, 1] {
            continue;
        }
        let counts = sides.map(|which| if which == 1 { 11 } else { 1 });
        let place = |which: i64, step: i64| [0, 1, side - 1][which as usize] * step;
        let start = place(sides[0], width) + place(sides[1], row) + place(sides[2], plane);
        fields.push((1, start, slab(counts)?));
    }
    let fields: Vec<(u64, i64, &Raw)> = fields.iter().map(|(count, at, raw)| (*count, *at, raw)).collect();
    let halo = Raw::structure(&fields)?;
    let packed = Raw::bytes_of(halo.bytes())?;
    let mut kinds = [0; 3];
    check(&host, (&halo, &packed), (0, 0), &mut kinds);
    check(&host, (&packed, &halo), (4, 12), &mut kinds);
    assert!(kinds[2] >= 2, "{kinds:?}");
    let launches = Launches::of(&Plan::pack(&halo)?);
    assert!(launches.sections.len() <= 2, "nests, and what is short: {launches:?}");
    assert!(matches!(launches.sections[0], Section::Nests(_)), "{launches:?}");
    let (bytes, of_pieces) = (launches.table.len(), halo.bytes() as usize / 8 * 12);
    assert!(bytes * 2 < of_pieces, "{bytes} of {of_pieces}");
    Ok(())
}

/// Six loops are as many as the kernel takes, where no block is cut.
#[test]
fn a_nest_of_six_loops_is_no_table() -> Result<(), LayoutError> {
    let Some(host) = Host::compile() else { return Ok(()) };
    let mut deep = Raw::bytes_of(5)?;
    for stride in [11, 25, 60, 130, 270, 600] {
        deep = deep.hvector(2, 1, stride)?;
    }
    let mut kinds = [0; 3];
    check(&host, (&Raw::bytes_of(deep.bytes())?, &deep), (3, 1), &mut kinds);
    assert_eq!(kinds, [0, 1, 0]);
    Ok(())
}

/// Many plans at once, beside the plans one after the other; how many launches they were.
fn check_fused(host: &Host, both: &[(Raw, Raw)], misaligned: usize) -> usize {
    let len = |raw: &Raw| misaligned + len(raw);
    let plan = |(from, to): &(Raw, Raw)| Plan::beginning(from, to).expect("places of a target are apart");
    let plans: Vec<Plan> = both.iter().map(plan).collect();
    let sources: Vec<Vec<u8>> = both.iter().map(|(from, _)| filled(len(from), 1)).collect();
    let mut expected: Vec<Vec<u8>> = both.iter().map(|(_, to)| filled(len(to), 2)).collect();
    let mut landed = expected.clone();
    for ((plan, source), target) in plans.iter().zip(&sources).zip(&mut expected) {
        // SAFETY: behind what is misaligned, both are as long as what the plan selects of them.
        unsafe { plan.run(source.as_ptr().add(misaligned), target.as_mut_ptr().add(misaligned)) };
    }
    let address = |bytes: *const u8| bytes as u64 + misaligned as u64;
    let addresses: Vec<(u64, u64)> = sources
        .iter()
        .zip(&mut landed)
        .map(|(source, target)| (address(source.as_ptr()), address(target.as_mut_ptr())))
        .collect();
    let (mut singles, mut launched) = (Vec::new(), 0);
    for (plan, bases) in plans.iter().zip(addresses) {
        let launches = Launches::of(plan);
        singles.extend(launches.singles.iter().map(|single| at(*single, bases)));
        launched += launches.sections.len();
        // SAFETY: as above, for the other targets.
        unsafe { host.carry_out_all(&Launches { singles: Vec::new(), ..launches }, bases) };
    }
    let together = gathered(singles);
    // SAFETY: as above.
    unsafe { host.carry_out_all(&together, (0, 0)) };
    assert!(landed == expected, "{both:?}, {misaligned}");
    launched + together.singles.len() + together.sections.len()
}

#[test]
fn fused_launches_do_what_their_plans_do() -> Result<(), LayoutError> {
    let Some(host) = Host::compile() else { return Ok(()) };
    let mut chance = StdRng::seed_from_u64(9);
    for _ in 0..30 {
        let mut pair = || Ok((random(&mut chance)?, random(&mut chance)?));
        let both: Vec<(Raw, Raw)> = (0..7).map(|_| pair()).collect::<Result<_, LayoutError>>()?;
        check_fused(&host, &both, [0, 16, 4, 1][chance.random_range(0..4)]);
    }
    // Faces of a cube of 8-byte elements in each direction, packed: one launch, as all words are of one length.
    let element = Raw::bytes_of(8)?;
    let row = element.contiguous(12)?;
    let faces = [
        row.hvector(12, 1, 12 * 8)?,
        row.hvector(12, 1, 12 * 12 * 8)?,
        element.hvector(144, 1, 12 * 8)?,
        element.hvector(7, 1, 12 * 12 * 8)?,
    ];
    let packed = |face: Raw| {
        let packed = Raw::bytes_of(face.bytes())?;
        Ok((face, packed))
    };
    let halos: Vec<(Raw, Raw)> = faces.into_iter().map(packed).collect::<Result<_, LayoutError>>()?;
    assert_eq!(check_fused(&host, &halos, 8), 1);
    // Nothing is launched for nothing; one nest needs no table.
    assert_eq!(check_fused(&host, &[], 0), 0);
    assert_eq!(check_fused(&host, &halos[3..], 8), 1);
    Ok(())
}
