//! Pictures of the membrane: water seen from above, lit from one side.

use png::{BitDepth, ColorType, Encoder, EncodingError};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

/// The least side of a picture: a smaller membrane is drawn larger.
const SIDE_MIN: usize = 640;

/// The colours of displacements from the lowest to the highest, equally far apart.
const COLOURS: [[f64; 3]; 5] = [
    [6.0, 20.0, 61.0],
    [10.0, 64.0, 120.0],
    [22.0, 126.0, 160.0],
    [120.0, 200.0, 205.0],
    [246.0, 250.0, 240.0],
];

/// The displacement of the highest colour; that of the lowest is as far below zero. Waves are that high soon after the drops.
const HEIGHT: f64 = 0.1;

/// Brightness that a slope of one, towards the light, adds.
const GLOSS: f64 = 7.0;

/// Writes `wave-STEP.png`, into a folder that is made if it is not there.
pub(crate) fn write(directory: &Path, step: u32, side: usize, values: &[f64]) -> Result<(), EncodingError> {
    let scale = SIDE_MIN.div_ceil(side);
    let larger = side * scale;
    // Pictures begin at the top.
    let rows = (0..larger).rev();
    let pixels = rows.flat_map(|row| (0..larger).map(move |column| [column, row]));
    let shades: Vec<u8> = pixels
        .flat_map(|position| shade(side, values, position.map(|along| along as f64 / scale as f64)))
        .collect();
    fs::create_dir_all(directory)?;
    let file = BufWriter::new(File::create(directory.join(format!("wave-{step:06}.png")))?);
    let mut encoder = Encoder::new(file, larger as u32, larger as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&shades)?;
    writer.finish()
}

/// Red, green and blue at a position between elements.
fn shade(side: usize, values: &[f64], [column, row]: [f64; 2]) -> [u8; 3] {
    // Opposite sides touch.
    let at = |column: usize, row: usize| values[row % side * side + column % side];
    let between = |column: f64, row: f64| {
        let (west, south) = (column as usize, row as usize);
        let along = |row| mixed([at(west, row), at(west + 1, row)], column.fract());
        mixed([along(south), along(south + 1)], row.fract())
    };
    let [last_column, last_row] = [column, row].map(|along| along + side as f64 - 1.0);
    let slope = between(column + 1.0, row) - between(last_column, row) + between(column, last_row)
        - between(column, row + 1.0);
    let light = (1.0 + GLOSS * slope).clamp(0.4, 1.9);
    colour(between(column, row)).map(|part| (part * light) as u8)
}

fn colour(height: f64) -> [f64; 3] {
    let last = COLOURS.len() - 1;
    let place = ((height / HEIGHT).clamp(-1.0, 1.0) + 1.0) / 2.0 * last as f64;
    let below = (place as usize).min(last - 1);
    let share = place - below as f64;
    [0, 1, 2].map(|part| mixed([COLOURS[below][part], COLOURS[below + 1][part]], share))
}

/// What lies between two numbers, at a share of the way.
fn mixed([from, to]: [f64; 2], share: f64) -> f64 {
    from * (1.0 - share) + to * share
}
