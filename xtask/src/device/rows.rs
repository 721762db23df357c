//! Rows of figures in what the examples print: those of the ping-pong, as comma-separated values; those of DDTBench, as a table; and those of
//! exchanges of halos, as sentences.

use serde_json::{Value, json};

/// A row as the benchmark writes it.
fn row(side: &str, (bytes, block): (u64, u64), median_ns: f64) -> Value {
    let gib_per_s = bytes as f64 / median_ns * 1e9 / f64::from(1 << 30);
    json!({ "side": side, "bytes": bytes, "block": block, "median_ns": median_ns, "gib_per_s": gib_per_s })
}

/// One way of a buffer that is received, and of one that is posted.
pub(super) fn of_ping_pong(said: &str) -> Result<Vec<Value>, String> {
    let mut lines =
        said.lines().filter(|line| !line.starts_with('#')).skip_while(|line| !line.starts_with("path,"));
    let head: Vec<&str> = lines.next().ok_or("a ping-pong without a table")?.split(',').collect();
    let mut rows = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |name: &str| {
            let place = head.iter().position(|column| *column == name)?;
            cells.get(place).and_then(|cell| cell.parse::<f64>().ok())
        };
        let bytes = cell("bytes").ok_or_else(|| format!("a row without bytes: {line}"))? as u64;
        for (side, column) in [("received", "entry"), ("posted", "entry+recv")] {
            let time_us = cell(column).ok_or_else(|| format!("a row without {column}: {line}"))?;
            rows.push(row(side, (bytes, bytes), time_us * 1e3));
        }
    }
    if rows.is_empty() { Err("a ping-pong without rows".to_owned()) } else { Ok(rows) }
}

/// One way of what a kernel of DDTBench selects, in place and packed by hand: the last columns are bytes, both times, and their ratio. Objects
/// say before them how long their rows are: `rows of 64`.
pub(super) fn of_kernels(said: &str) -> Result<Vec<Value>, String> {
    let read = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let [_name, size @ .., bytes, layout, manual, _ratio] = &cells[..] else { return None };
        let (bytes, times) = (bytes.parse().ok()?, [layout.parse::<f64>().ok()?, manual.parse().ok()?]);
        let block = match size {
            ["rows", "of", block] => block.parse().ok()?,
            _ => 8,
        };
        let sides = ["in place", "by hand"].into_iter().zip(times);
        Some(sides.map(|(side, time_us)| row(side, (bytes, block), time_us * 1e3)).collect::<Vec<_>>())
    };
    let rows: Vec<Value> = said.lines().filter_map(read).flatten().collect();
    if rows.is_empty() { Err("a DDTBench without rows".to_owned()) } else { Ok(rows) }
}

/// What an exchange of halos takes in each way, and how many lines of the program do it, where it says so:
/// `exchange BY: 12.5 us, 4096 bytes, 9 lines`.
pub(super) fn of_exchanges(said: &str) -> Result<Vec<Value>, String> {
    let number =
        |text: Option<&str>| text.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let read = |line: &str| {
        let (side, told) = line.strip_prefix("exchange ")?.split_once(": ")?;
        let mut told = told.split(", ");
        let (time_us, bytes) = (number(told.next())?, number(told.next())? as u64);
        let mut row = row(side, (bytes, 8), time_us * 1e3);
        if let Some(lines) = number(told.next()) {
            row["lines"] = (lines as u64).into();
        }
        Some(row)
    };
    let rows: Vec<Value> = said.lines().filter_map(read).collect();
    if rows.is_empty() { Err("a stencil that says nothing of exchanges".to_owned()) } else { Ok(rows) }
}

#[cfg(test)]
mod tests {
    use super::{of_exchanges, of_kernels, of_ping_pong};

    #[test]
    fn rows_are_read_from_tables_and_sentences() {
        let said = "# path shm: ..\npath,bytes,iterations,entry,entry+recv\nshm,32,20,1.500,2.500\nshm,64,20,1.6,2.6\n";
        let rows = of_ping_pong(said).expect("a table");
        assert_eq!(rows.len(), 4);
        assert_eq!((&rows[1]["side"], &rows[1]["median_ns"]), (&"posted".into(), &2500.0.into()));
        assert!(of_ping_pong("path,bytes\n").is_err() && of_ping_pong("nothing").is_err());

        let said = "10 sweeps ..\nexchange by hand: 12.5 us, 4096 bytes, 30 lines\nexchange by nocopy arguments: 5.0 us, 4096 bytes, 9 lines\n";
        let rows = of_exchanges(said).expect("two sentences");
        assert_eq!((&rows[0]["side"], &rows[0]["lines"]), (&"by hand".into(), &30.into()));
        assert_eq!(rows[1]["median_ns"], 5000.0);
        let rows = of_exchanges("exchange by layouts: 5.0 us, 4096 bytes\n").expect("a sentence");
        assert_eq!((&rows[0]["bytes"], rows[0].get("lines")), (&4096.into(), None));
        assert!(of_exchanges("nothing").is_err());

        let said = "kernel  size  bytes  layout us  manual us  manual/layout\nFFT2  1536x1536  9437184  986.59  3172.99  3.22\n";
        let rows = of_kernels(said).expect("a row");
        assert_eq!(rows.len(), 2);
        assert_eq!((&rows[1]["side"], &rows[1]["median_ns"]), (&"by hand".into(), &3_172_990.0.into()));
        let rows = of_kernels("object_1MiB  rows of 64  1048576  5.00  50.00  10.00\n").expect("an object");
        assert_eq!((&rows[0]["bytes"], &rows[0]["block"]), (&(1 << 20).into(), &64.into()));
        assert!(of_kernels("nothing").is_err());
    }
}
