//! Every kernel in every size: layouts and loops by hand pack and unpack the same, and as many bytes as DDTBench says.

use super::{End, Kernel, Number, Precision, Sizes, kernels};
use chare::layout::{pack, unpack};

/// Name, size and bytes of each, by the formulas of DDTBench's sources; of `FFT2` half, as one of two processes sends the other half of
/// its columns.
const STATED: [(&str, &str, usize); 69] = [
    ("WRF_y_vec", "2x2", 90_804),
    ("WRF_y_sa", "2x2", 90_804),
    ("WRF_y_vec", "3x3", 75_012),
    ("WRF_y_sa", "3x3", 75_012),
    ("WRF_y_vec", "4x4", 63_168),
    ("WRF_y_sa", "4x4", 63_168),
    ("WRF_y_vec", "5x5", 55_272),
    ("WRF_y_sa", "5x5", 55_272),
    ("WRF_y_vec", "8x8", 43_428),
    ("WRF_y_sa", "8x8", 43_428),
    ("WRF_x_vec", "2x2", 173_712),
    ("WRF_x_sa", "2x2", 173_712),
    ("WRF_x_vec", "4x4", 102_648),
    ("WRF_x_sa", "4x4", 102_648),
    ("WRF_x_vec", "8x8", 63_168),
    ("WRF_x_sa", "8x8", 63_168),
    ("MILC_su3_zd", "16x16x16x16", 98_304),
    ("MILC_su3_zd", "8x16x16x16", 49_152),
    ("MILC_su3_zd", "8x8x8x16", 24_576),
    ("MILC_su3_zd", "8x8x8x8", 12_288),
    ("NAS_LU_x", "12x12", 480),
    ("NAS_LU_y", "12x12", 480),
    ("NAS_LU_x", "33x33", 1320),
    ("NAS_LU_y", "33x33", 1320),
    ("NAS_LU_x", "64x64", 2560),
    ("NAS_LU_y", "64x64", 2560),
    ("NAS_LU_x", "102x102", 4080),
    ("NAS_LU_y", "102x102", 4080),
    ("NAS_LU_x", "162x162", 6480),
    ("NAS_LU_y", "162x162", 6480),
    ("NAS_LU_x", "408x408", 16_320),
    ("NAS_LU_y", "408x408", 16_320),
    ("NAS_LU_x", "1020x1020", 40_800),
    ("NAS_LU_y", "1020x1020", 40_800),
    ("NAS_MG_x", "34x18x18", 2048),
    ("NAS_MG_y", "34x18x18", 4096),
    ("NAS_MG_z", "34x18x18", 4096),
    ("NAS_MG_x", "130x66x66", 32_768),
    ("NAS_MG_y", "130x66x66", 65_536),
    ("NAS_MG_z", "130x66x66", 65_536),
    ("NAS_MG_x", "258x130x130", 131_072),
    ("NAS_MG_y", "258x130x130", 262_144),
    ("NAS_MG_z", "258x130x130", 262_144),
    ("NAS_MG_x", "514x258x258", 524_288),
    ("NAS_MG_y", "514x258x258", 1_048_576),
    ("NAS_MG_z", "514x258x258", 1_048_576),
    ("LAMMPS_full", "2 processes", 195_968),
    ("LAMMPS_full", "4 processes", 143_552),
    ("LAMMPS_full", "8 processes", 106_368),
    ("LAMMPS_atomic", "2 processes", 11_664),
    ("LAMMPS_atomic", "4 processes", 6960),
    ("LAMMPS_atomic", "8 processes", 5472),
    ("SPECFEM3D_oc", "c=4", 12_900),
    ("SPECFEM3D_oc", "c=3", 7588),
    ("SPECFEM3D_oc", "c=2", 3508),
    ("SPECFEM3D_oc", "c=1", 1972),
    ("SPECFEM3D_cm", "c=4", 177_672),
    ("SPECFEM3D_cm", "c=3", 106_248),
    ("SPECFEM3D_cm", "c=2", 55_224),
    ("SPECFEM3D_cm", "c=1", 26_424),
    ("SPECFEM3D_mt", "c=1", 91_200),
    ("SPECFEM3D_mt", "c=2", 76_800),
    ("SPECFEM3D_mt", "c=3", 67_200),
    ("SPECFEM3D_mt", "c=4", 74_400),
    ("FFT2", "256x256", 262_144),
    ("FFT2", "512x512", 1_048_576),
    ("FFT2", "768x768", 2_359_296),
    ("FFT2", "1024x1024", 4_194_304),
    ("FFT2", "1536x1536", 9_437_184),
];

#[test]
fn kernels_are_those_of_ddtbench_and_pack_as_many_bytes() {
    let kernels = kernels();
    let found: Vec<(&str, &str, usize)> =
        kernels.iter().map(|kernel| (kernel.name, &kernel.size[..], kernel.bytes())).collect();
    assert_eq!(found, STATED);
}

/// A kernel's name, and bytes by class.
type Classes = (&'static str, [(&'static str, usize); 4]);

/// By hand: of WRF 3 times as many points as the box is long, of 4 + 65 * (3 + 2) floats; of MILC two halves of a half plane; of MG faces.
const CLASSES: [Classes; 8] = [
    ("WRF_y_vec", [("A 8x8", 43_428), ("B 4x4", 63_168), ("C 2x2", 90_804), ("D 1x1", 3 * 41 * 329 * 4)]),
    ("WRF_y_sa", [("A 8x8", 43_428), ("B 4x4", 63_168), ("C 2x2", 90_804), ("D 1x1", 3 * 41 * 329 * 4)]),
    ("WRF_x_vec", [("A 8x8", 63_168), ("B 4x4", 102_648), ("C 2x2", 173_712), ("D 1x1", 3 * 81 * 329 * 4)]),
    ("WRF_x_sa", [("A 8x8", 63_168), ("B 4x4", 102_648), ("C 2x2", 173_712), ("D 1x1", 3 * 81 * 329 * 4)]),
    (
        "MILC_su3_zd",
        [
            ("B 16x16x16x16", 98_304),
            ("C 16x16x32x32", 196_608),
            ("D 32x32x32x32", 786_432),
            ("E 32x32x64x64", 1_572_864),
        ],
    ),
    (
        "NAS_MG_x",
        [
            ("B 258x130x130", 128 * 128 * 8),
            ("C 514x258x258", 256 * 256 * 8),
            ("D 1026x514x514", 512 * 512 * 8),
            ("E 2050x1026x1026", 1024 * 1024 * 8),
        ],
    ),
    (
        "NAS_MG_y",
        [
            ("B 258x130x130", 256 * 128 * 8),
            ("C 514x258x258", 512 * 256 * 8),
            ("D 1026x514x514", 1024 * 512 * 8),
            ("E 2050x1026x1026", 2048 * 1024 * 8),
        ],
    ),
    (
        "NAS_MG_z",
        [
            ("B 258x130x130", 256 * 128 * 8),
            ("C 514x258x258", 512 * 256 * 8),
            ("D 1026x514x514", 1024 * 512 * 8),
            ("E 2050x1026x1026", 2048 * 1024 * 8),
        ],
    ),
];

#[test]
fn classes_grow_from_letter_to_letter() {
    let kernels = Sizes::Paper.kernels();
    let found = |name| {
        let of_name = kernels.iter().filter(move |kernel| kernel.name == name);
        of_name.map(|kernel| (&kernel.size[..], kernel.bytes())).collect::<Vec<_>>()
    };
    assert_eq!(kernels.len(), 4 * CLASSES.len());
    for (name, classes) in CLASSES {
        assert_eq!(found(name), classes, "{name}");
    }
}

#[test]
fn objects_have_the_bytes_of_their_names_in_rows_of_every_length() {
    let objects = Sizes::Objects.kernels();
    let bytes: Vec<usize> = objects.iter().map(Kernel::bytes).collect();
    assert_eq!(bytes, [[1 << 10; 4].as_slice(), &[1 << 20; 6], &[4 << 20; 6]].concat());
    assert_eq!((objects[9].name, &objects[9].size[..]), ("object_1MiB", "rows of 4096"));
}

/// Bytes of arrays up to which kernels are packed here.
const PACKED_MAX: u64 = 1 << 30;

#[test]
fn layouts_and_loops_by_hand_pack_and_unpack_the_same() {
    let all = Sizes::ALL.into_iter().flat_map(Sizes::kernels);
    for kernel in all.filter(|kernel| kernel.array_bytes() <= PACKED_MAX) {
        match kernel.precision {
            Precision::Single => check::<f32>(&kernel),
            Precision::Double => check::<f64>(&kernel),
        }
    }
}

/// An array by its number, of elements that differ from those of others.
fn array<T: Number>(number: usize, len: usize) -> Vec<T> {
    (0..len).map(|place| T::numbered((place + 1_000_003 * number) as u32 % (1 << 24))).collect()
}

fn check<T: Number>(kernel: &Kernel) {
    let elements = kernel.bytes() / size_of::<T>();
    let sources: Vec<Vec<T>> =
        kernel.lens(End::Source).enumerate().map(|(number, len)| array(number, len)).collect();
    let sources: Vec<&[T]> = sources.iter().map(|source| &source[..]).collect();

    let mut by_hand = vec![T::zeroed(); elements];
    kernel.pack(&sources, &mut by_hand);
    let mut by_layout = vec![T::zeroed(); elements];
    let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut by_layout);
    for (layout, source) in kernel.layouts::<T>(End::Source).iter().zip(&sources) {
        let (stream, behind) = rest.split_at_mut(layout.bytes() as usize);
        pack(layout, bytemuck::cast_slice(source), stream).expect("arrays hold what is selected");
        rest = behind;
    }
    assert!(rest.is_empty() && by_hand == by_layout, "{kernel:?}: what is packed");

    let targets = || kernel.lens(End::Target).map(|len| vec![T::zeroed(); len]).collect::<Vec<_>>();
    let (mut by_hand_targets, mut by_layout_targets) = (targets(), targets());
    let mut slices: Vec<&mut [T]> = by_hand_targets.iter_mut().map(|target| &mut target[..]).collect();
    kernel.unpack(&by_hand, &mut slices);
    let mut rest: &[u8] = bytemuck::cast_slice(&by_hand);
    for (layout, target) in kernel.layouts::<T>(End::Target).iter().zip(&mut by_layout_targets) {
        let (stream, behind) = rest.split_at(layout.bytes() as usize);
        unpack(layout, stream, bytemuck::cast_slice_mut(target)).expect("arrays hold what lands");
        rest = behind;
    }
    assert!(rest.is_empty() && by_hand_targets == by_layout_targets, "{kernel:?}: what is unpacked");
}
