//! The command as a user calls it: a summary in its three forms, a merged file, and mistakes.

use std::path::Path;
use std::process::{Command, Output};

/// Two nodes with a PE each: `Cell::step` asks its neighbour, which answers; the second node was killed within a line.
const NODES: [&str; 2] = [
    r#"[
{"name":"thread_name","ph":"M","pid":0,"tid":7,"args":{"name":"PE 0"}},
{"name":"message","cat":"message","ph":"s","id":"0x0","ts":1000.000,"pid":0,"tid":7,"args":{"to":1,"at":1002.000}},
{"name":"Cell::step","cat":"entry","ph":"X","ts":1000.000,"dur":40.000,"pid":0,"tid":7,"args":{"chare":"member 0"}},
{"name":"sweep","cat":"own","ph":"X","ts":1010.000,"dur":20.000,"pid":0,"tid":7,"args":{"chare":"member 0"}},
{"name":"residual","cat":"own","ph":"C","id":"PE 0","ts":1031.000,"pid":0,"tid":7,"args":{"value":5e-1}},
{"name":"residual","cat":"own","ph":"C","id":"PE 0","ts":1032.000,"pid":0,"tid":7,"args":{"value":2.5e-1}},
{"name":"Cell leaves","cat":"move","ph":"i","s":"t","ts":1040.000,"pid":0,"tid":7,"args":{"chare":"member 2","to":1}},
{"name":"send","cat":"shm","ph":"i","s":"t","ts":1003.000,"pid":0,"tid":7,"args":{"peer":1,"channel":"runtime","bytes":64}},
{"name":"idle","cat":"idle","ph":"M","ts":1040.000,"dur":60.000,"pid":0,"tid":7,"args":{}},
{"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"node 0"}}
]
"#,
    r#"[
{"name":"thread_name","ph":"M","pid":1,"tid":9,"args":{"name":"PE 1"}},
{"name":"idle","cat":"idle","ph":"M","ts":1000.000,"dur":10.000,"pid":1,"tid":9,"args":{}},
{"name":"Cell::answer","cat":"entry","ph":"X","ts":1010.000,"dur":80.000,"pid":1,"tid":9,"args":{"chare":"member 1"}},
{"name":"message","cat":"message","ph":"f","bp":"e","id":"0x0","ts":1010.000,"pid":1,"tid":9,"args":{"from":0}},
{"name":"dropped","cat":"trace","ph":"i","s":"t","ts":1090.000,"pid":1,"tid":9,"args":{"events":5}},
{"name":"get","cat":"own","ph":"b","id":"1-0","ts":1020.000,"pid":1,"tid":9,"args":{"chare":"member 1"}},
{"name":"get","cat":"own","ph":"e","id":"1-0","ts":1090.000,"pid":1,"tid":9,"args":{"chare":"member 1"}},
{"name":"Cell arrives","cat":"move","ph":"i","s":"t","ts":1080.000,"pid":1,"tid":9,"args":{"chare":"member 2","from":0}},
{"name":"idle","cat":"idle","ph":"M","ts":1090.000,"du"#,
];

fn chare_trace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chare-trace")).args(arguments).output().expect("it starts")
}

#[track_caller]
fn pass(arguments: &[&str]) -> String {
    let output = chare_trace(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("a text")
}

fn record(folder: &Path) -> String {
    for (node, text) in NODES.iter().enumerate() {
        std::fs::write(folder.join(format!("run.{node}")), text).expect("there is room");
    }
    folder.join("run").to_str().expect("a text").to_owned()
}

#[test]
fn a_summary_is_text_tables_and_a_picture() {
    let folder = tempfile::tempdir().expect("there is room");
    let run = record(folder.path());
    let (tables, picture) = (folder.path().join("tables"), folder.path().join("run.svg"));
    let [tables_text, picture_text] = [&tables, &picture].map(|path| path.to_str().expect("a text"));
    let said = pass(&["summary", &run, "--csv", tables_text, "--svg", picture_text, "--intervals", "2"]);
    for words in [
        "2 PEs, 100 us: 2 entries, 1 messages between PEs, half of which ran within 8.00 us of leaving",
        "5 events are missing",
        "Cell::answer  entry      1  80.0 us  40.0 %  80.0 us  80.0 us",
        "Cell::step    member 0  40.0 us  PE 0  0.00 ns",
        "node 0  node 1       1     64",
        "get        1  70.0 us  70.0 us  70.0 us",
        "sweep      1  20.0 us  20.0 us  20.0 us",
        "residual  PE 0       2   0.25   0.5  0.25",
        "PE 0  PE 1         1",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    let table = |name: &str| std::fs::read_to_string(tables.join(name)).expect("it was written");
    assert_eq!(table("messages.csv"), "from_pe,to_pe,messages\n0,1,1\n");
    assert_eq!(table("moves.csv"), "from_pe,to_pe,elements\n0,1,1\n");
    assert_eq!(table("spans.csv"), "span,spans,lasted_us,longest_us\nget,1,70,70\nsweep,1,20,20\n");
    assert_eq!(table("counters.csv"), "counter,pe,values,least,most,last\nresidual,0,2,0.25,0.5,0.25\n");
    assert_eq!(
        table("profile.csv"),
        "from_us,program,runtime,scheduler,idle\n0,0.8,0,0,0.2\n50,0.4,0,0.1,0.5\n"
            .replace(",0.1,", &format!(",{},", 1.0 - 0.4 - 0.5))
    );
    assert!(std::fs::read_to_string(picture).expect("it was written").contains("Cell::step"));
}

#[test]
fn a_merged_file_says_the_same() {
    let folder = tempfile::tempdir().expect("there is room");
    let run = record(folder.path());
    let merged = folder.path().join("merged.json");
    let merged = merged.to_str().expect("a text");
    pass(&["merge", &run, "--output", merged]);
    assert_eq!(pass(&["summary", merged]), pass(&["summary", &run]));
    let events: Vec<serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(merged).expect("it was written")).expect("strict JSON");
    assert_eq!(events.len(), 10 + 8);
}

#[test]
fn a_merged_file_is_written_over_none_of_those_that_are_merged() {
    let folder = tempfile::tempdir().expect("there is room");
    let run = record(folder.path());
    pass(&["merge", &run, "--output", &run]);
    let (merged, link) = (std::fs::read(&run).expect("it was written"), folder.path().join("link"));
    std::os::unix::fs::symlink(&run, &link).expect("there is room");
    // The second time it is a file itself.
    for output in [&run, link.to_str().expect("a text")] {
        let refused = chare_trace(&["merge", &run, "--output", output]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(
            !refused.status.success() && said.contains("give the merged file another name"),
            "{refused:?}"
        );
        assert_eq!(std::fs::read(&run).expect("it is there"), merged);
    }
}

#[test]
fn what_a_file_says_neither_moves_the_cursor_nor_takes_all_memory() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("odd");
    let path = file.to_str().expect("a text");
    let odd = |name: &str, ts: &str, dur: &str| {
        let pe = r#"{"name":"thread_name","ph":"M","pid":0,"tid":7,"args":{"name":"PE 0"}}"#;
        let span = format!(
            r#"{{"name":"{name}","cat":"entry","ph":"X","ts":{ts},"dur":{dur},"pid":0,"tid":7,"args":{{}}}}"#
        );
        std::fs::write(&file, format!("[\n{pe},\n{span}\n]\n")).expect("there is room");
    };
    odd("red \\u001b[31m \\u202e", "1.0", "2.0");
    let said = pass(&["summary", path]);
    assert!(said.contains(r"red \u{1b}[31m \u{202e}") && !said.contains(['\u{1b}', '\u{202e}']), "{said}");
    for (ts, dur) in [("1.0", "1e308"), ("1e308", "1.0"), ("1.0", "-1.0"), ("-1e300", "1.0")] {
        odd("Cell::step", ts, dur);
        let refused = chare_trace(&["summary", path]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("line 3: a time of"), "{refused:?}");
    }
}

#[test]
fn mistakes_are_answered_in_words() {
    let folder = tempfile::tempdir().expect("there is room");
    let run = record(folder.path());
    let other = folder.path().join("other");
    std::fs::write(&other, "no trace\nat all\n").expect("there is room");
    let (other, first) = (other.to_str().expect("a text"), format!("{run}.0"));
    for (files, words) in [
        (vec!["/no-such-place/run"], "there is neither /no-such-place/run nor /no-such-place/run.0"),
        (vec![other], "line 1: "),
        (vec![&first, &first], "PE 0 is in two files"),
    ] {
        let output = chare_trace(&[&["summary"], &files[..]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(words), "{words}: {output:?}");
    }
}
