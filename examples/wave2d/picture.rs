//! Pictures of the membrane: water seen from above, lit from one side.

use image::imageops::{self, FilterType};
use image::{ImageResult, Rgb, RgbImage};
use std::fs;
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
pub(crate) fn write(directory: &Path, step: u32, side: usize, values: &[f64]) -> ImageResult<()> {
    // Opposite sides touch.
    let at = |column: usize, row: usize| values[row % side * side + column % side];
    let pixel = |column: u32, row: u32| {
        // Pictures begin at the top.
        let (column, row) = (column as usize, side - 1 - row as usize);
        let (west, south) = (at(column + side - 1, row), at(column, row + side - 1));
        let slope = (at(column + 1, row) - west) + (south - at(column, row + 1));
        Rgb(colour(at(column, row)).map(|shade| (shade * (1.0 + GLOSS * slope).clamp(0.4, 1.9)) as u8))
    };
    let picture = RgbImage::from_fn(side as u32, side as u32, pixel);
    let larger = (side * SIDE_MIN.div_ceil(side)) as u32;
    let picture = imageops::resize(&picture, larger, larger, FilterType::CatmullRom);
    fs::create_dir_all(directory)?;
    picture.save(directory.join(format!("wave-{step:06}.png")))
}

fn colour(height: f64) -> [f64; 3] {
    let last = COLOURS.len() - 1;
    let place = ((height / HEIGHT).clamp(-1.0, 1.0) + 1.0) / 2.0 * last as f64;
    let below = (place as usize).min(last - 1);
    let share = place - below as f64;
    [0, 1, 2].map(|part| COLOURS[below][part] * (1.0 - share) + COLOURS[below + 1][part] * share)
}
