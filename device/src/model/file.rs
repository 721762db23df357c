//! Files of models: what a device was measured to take, left for the jobs after the one that measured it.
//!
//! 1. A file has the name of its device's identity, and begins with all that its times are of: the kernels of this version, the driver, and the
//!    lengths that were tried.
//! 2. It is written beside its place and moved there, so that nobody reads a part of one; of two processes that measure at once, one's stays.
//! 3. What cannot be read, or is of something else, is as if it were not there.

use super::table::{BLOCK_BYTES, LENGTHS, Table};
use crate::words::info::Info;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

/// Where a method was not tried.
const UNTRIED: &str = "-";

/// Longer files are none of ours: all times of a table, as long as numbers get.
const BYTES_MAX: u64 = 64 << 10;

/// Reads what an earlier job has left; none if there is nothing of this device and its driver.
pub(super) fn load(folder: &Path, info: &Info) -> Option<Table> {
    let (head, mut text) = (head(info)?, String::new());
    let file = File::open(folder.join(info.uuid.to_string())).ok()?;
    file.take(BYTES_MAX + 1).read_to_string(&mut text).ok()?;
    if text.len() as u64 > BYTES_MAX {
        return None;
    }
    read(text.strip_prefix(&head)?)
}

/// Leaves it for later jobs; nothing of a device without a driver.
pub(super) fn save(table: &Table, folder: &Path, info: &Info) -> io::Result<()> {
    let Some(head) = head(info) else { return Ok(()) };
    fs::create_dir_all(folder)?;
    let place = folder.join(info.uuid.to_string());
    // Not the number of the process: those of several containers, which may share the folder, have the same.
    let beside = place.with_extension(format!("{:016x}", rand::random::<u64>()));
    let mut file = File::create_new(&beside)?;
    let written = file.write_all((head + &written(table)).as_bytes());
    let moved = written.and_then(|()| fs::rename(&beside, place));
    if moved.is_err() {
        let _ = fs::remove_file(beside);
    }
    moved
}

/// What the times are of; none for a device whose times nothing tells from those of another.
fn head(info: &Info) -> Option<String> {
    let driver = info.driver.as_ref()?;
    let lengths = format!("bytes {LENGTHS:?}, in blocks of {BLOCK_BYTES:?}");
    let version = env!("CARGO_PKG_VERSION");
    let (uuid, name) = (info.uuid, &info.name);
    Some(format!("chare-device {version}, model 1\n{uuid} ({name}), driver {driver:?}\n{lengths}\n"))
}

fn written(table: &Table) -> String {
    let line = |times: &[Option<Duration>]| {
        let word =
            |time: &Option<Duration>| time.map_or(UNTRIED.to_owned(), |time| time.as_nanos().to_string());
        times.iter().map(word).collect::<Vec<_>>().join(" ") + "\n"
    };
    table.all().flatten().map(|times| line(times)).collect()
}

/// The times, if there are as many as a table has, and nothing else.
fn read(text: &str) -> Option<Table> {
    let (mut table, mut words) = (Table::default(), text.split_ascii_whitespace());
    for time in table.all_mut().flat_map(|times| times.as_flattened_mut()) {
        *time = match words.next()? {
            UNTRIED => None,
            nanoseconds => Some(Duration::from_nanos(nanoseconds.parse().ok()?)),
        };
    }
    words.next().is_none().then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{Method, Way};
    use crate::software::Software;
    use tempfile::TempDir;

    fn info(driver: &str) -> Info {
        Software { driver: Some(driver.to_owned()), ..Software::default() }.open().info().clone()
    }

    fn table(nanoseconds: u64) -> Table {
        let mut table = Table::default();
        table.times_mut(Way::In, Method::Rows)[2][1] = Some(Duration::from_nanos(nanoseconds));
        table.pulled[4][4] = Some(Duration::MAX.min(Duration::from_nanos(u64::MAX)));
        table
    }

    #[test]
    fn a_model_is_found_again_for_its_device_and_driver_alone() {
        let folder = TempDir::new().expect("a folder");
        let folder = &folder.path().join("made/when/needed");
        assert_eq!(load(folder, &info("12040")), None, "nobody has measured it");
        save(&table(7), folder, &info("12040")).expect("it can be written");
        assert_eq!(load(folder, &info("12040")), Some(table(7)));
        assert_eq!(load(folder, &info("12050")), None, "another driver takes other times");
        let other = Info { uuid: crate::Uuid(*b"another device.."), ..info("12040") };
        assert_eq!(load(folder, &other), None);
        save(&table(8), folder, &info("12050")).expect("it can be written");
        assert_eq!(load(folder, &info("12050")), Some(table(8)));
        let none = Software::default().open().info().clone();
        save(&table(9), folder, &none).expect("nothing is written");
        assert_eq!(load(folder, &none), None, "its times are of the machine");
        assert_eq!(fs::read_dir(folder).expect("a folder").count(), 1, "nothing is left beside it");
    }

    #[test]
    fn what_is_no_model_is_as_if_it_were_not_there() {
        let folder = TempDir::new().expect("a folder");
        let (folder, info) = (folder.path(), info("12040"));
        save(&table(7), folder, &info).expect("it can be written");
        let place = folder.join(info.uuid.to_string());
        let good = fs::read_to_string(&place).expect("it was written");
        for bad in [
            String::new(),
            good[..good.len() / 2].to_owned(),
            good.clone() + "1",
            good.replace(" 7 ", " seven "),
            good.replace(" 7 ", " -7 "),
            good.replace("model 1", "model 2"),
            good.replacen(env!("CARGO_PKG_VERSION"), "0.0.0-older", 1),
            good.clone() + &" ".repeat(BYTES_MAX as usize + 1 - good.len()),
        ] {
            fs::write(&place, &bad).expect("it can be written");
            assert_eq!(load(folder, &info), None, "{bad:.100}");
        }
        fs::write(&place, [0xff; 100]).expect("it can be written");
        assert_eq!(load(folder, &info), None, "it is no text");
        for good in [good.clone(), good.clone() + &" ".repeat(BYTES_MAX as usize - good.len())] {
            fs::write(&place, good).expect("it can be written");
            assert_eq!(load(folder, &info), Some(table(7)));
        }
    }

    #[test]
    fn processes_that_measure_at_once_leave_one_of_their_models() {
        let folder = TempDir::new().expect("a folder");
        let (folder, info) = (folder.path(), info("12040"));
        save(&table(0), folder, &info).expect("it can be written");
        std::thread::scope(|scope| {
            for writer in 1..=4 {
                let info = &info;
                scope.spawn(move || {
                    (0..50).for_each(|_| save(&table(writer), folder, info).expect("it can be written"));
                });
            }
            for _ in 0..200 {
                let found = load(folder, &info).expect("there is always a whole one");
                assert!((0..=4).map(table).any(|table| table == found));
            }
        });
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_and_nothing_else() {
        let folder = TempDir::new().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "a file is no folder").expect("it can be written");
        save(&table(7), &file, &info("12040")).expect_err("it is no folder");
        assert_eq!(load(&file, &info("12040")), None);
    }
}
