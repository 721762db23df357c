//! Goals as text, as JSON, and as a picture.

use super::goal::{Goal, NOT_SHOWN, Verdict};
use crate::plots::{Drawing, draw};
use plotters::prelude::*;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write;

/// What figures of a kind of device are worth.
fn worth(kind: &str) -> &'static str {
    match kind {
        "software" => "on the software device: correctness only, no figure says anything about a device",
        _ => "on the device, ceilings measured in the same run",
    }
}

pub(super) fn text(kind: &str, goals: &[Goal]) -> String {
    let mut text = format!("goals, {}\n", worth(kind));
    for Goal { number, what, verdict, why, .. } in goals {
        let _ = write!(text, "{number}  {:<17} {what}\n      {why}\n", verdict.name());
    }
    text + NOT_SHOWN + "\n"
}

pub(super) fn values(kind: &str, goals: &[Goal]) -> Value {
    let goal = |Goal { number, what, verdict, why, reached }: &Goal| json!({ "goal": number, "what": what, "verdict": verdict.name(), "why": why, "reached": reached });
    json!({ "kind": kind, "worth": worth(kind), "not_shown": NOT_SHOWN, "goals": goals.iter().map(goal).collect::<Vec<_>>() })
}

/// Pixels from a goal to the next, and of the width.
const ROW: i32 = 40;
const WIDTH: u32 = 1100;

/// Where bars begin, and where one ends that just reaches its goal.
const BARS: (i32, i32) = (220, 620);

pub(super) fn picture(kind: &str, goals: &[Goal]) -> Result<String, Box<dyn Error>> {
    draw((WIDTH, 50 + ROW as u32 * goals.len() as u32), |area| draw_goals(area, kind, goals))
}

/// A bar for each goal that has a figure, as long as the goal is reached, up to twice.
fn draw_goals(area: &Drawing<'_>, kind: &str, goals: &[Goal]) -> Result<(), Box<dyn Error>> {
    let text = ("sans-serif", 14).into_font();
    area.draw(&Text::new(format!("goals, {}", worth(kind)), (12, 12), text.clone()))?;
    let bottom = 40 + ROW * goals.len() as i32;
    area.draw(&PathElement::new([(BARS.1, 36), (BARS.1, bottom)], RGBColor(150, 155, 160)))?;
    for (row, Goal { number, what, verdict, reached, .. }) in (0..).zip(goals) {
        let (top, length) = (42 + ROW * row, f64::from(BARS.1 - BARS.0));
        area.draw(&Text::new(format!("{number}  {}", verdict.name()), (12, top), text.clone()))?;
        if let Some(reached) = reached {
            let colour =
                if *verdict == Verdict::Met { RGBColor(42, 127, 158) } else { RGBColor(194, 138, 27) };
            let end = BARS.0 + (length * reached.clamp(0.0, 2.0)) as i32;
            area.draw(&Rectangle::new([(BARS.0, top), (end.max(BARS.0 + 1), top + 14)], colour.filled()))?;
            area.draw(&Text::new(format!("{reached:.2} times"), (end + 6, top), text.clone()))?;
        }
        area.draw(&Text::new(*what, (BARS.0, top + 18), ("sans-serif", 12).into_font()))?;
    }
    Ok(())
}
