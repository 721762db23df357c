//! Trace as `+trace` asks for it: a file, and the part of the job's time that it is to have.

use chare_lrts::wrappers::TraceWindow;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The value of `+trace`: `FILE`, `FILE,from=10`, `FILE,from=10,for=2`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TraceChoice {
    pub(super) file: PathBuf,
    pub(super) window: TraceWindow,
}

/// Reads seconds, `2`, `0.5` or `2s`, or `500ms`.
fn seconds(text: &str) -> Option<Duration> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let number: f64 = number.parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

impl FromStr for TraceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut window = TraceWindow::default();
        let mut file = text;
        // The name of a file may have commas, too.
        while let Some((before, part)) = file.rsplit_once(',')
            && let Some((name, value)) = part.split_once('=')
        {
            let time = || {
                seconds(value).ok_or_else(|| {
                    format!("`{part}` names no time: write seconds of the job, such as `{name}=10`, or `{name}=500ms`")
                })
            };
            match name {
                "from" => window.from = time()?,
                "for" => window.lasts = Some(time()?),
                _ => {
                    return Err(format!(
                        "`{part}` is no part of a trace's window: write `+trace FILE,from=10,for=2`"
                    ));
                }
            }
            file = before;
        }
        if file.is_empty() {
            return Err("it names no file: write `+trace FILE`, or `+trace FILE,from=10,for=2`".to_owned());
        }
        Ok(Self { file: file.into(), window })
    }
}
