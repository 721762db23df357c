//! The dashboard: who knows the token sees the job as it runs, in a page and as metrics; nobody else sees anything.

use chare_tests::{Browser, Running};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

/// The probe, all that it says on its standard output.
fn probe(arguments: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec '{}' {arguments} 2>&1", env!("CARGO_BIN_EXE_probe"))]);
    command
}

/// A job with traffic and its dashboard, as the job printed it: address and token.
fn job() -> (Running, String, String) {
    let job = Running::start(&mut probe("flood +n 2 +p 2 +dashboard"));
    let url = job.wait_for("the address", |line| line.strip_prefix("dashboard: http://").map(str::to_owned));
    let (address, token) = url.split_once("/?token=").expect("address and token");
    assert!(address.starts_with("127.0.0.1:") && token.len() == 32, "{url}");
    job.wait_for("traffic", |line| line.starts_with("round 3").then_some(()));
    (job, address.to_owned(), token.to_owned())
}

fn end(job: Running) {
    job.signal(Signal::TERM);
    job.end_within(Duration::from_secs(10));
}

/// Status and body of the answer to a request.
fn get(address: &str, path: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).expect("it is read");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), body.to_owned())
}

/// The samples of a text in Prometheus's format: each line is a comment, or name, labels and a number.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
        (name.to_owned(), value.parse().unwrap_or_else(|error| panic!("{line}: {error}")))
    };
    lines.map(sample).collect()
}

#[test]
fn only_who_knows_the_token_sees_anything() {
    let (job, address, token) = job();
    for path in ["/", "/figures", "/metrics", "/waits", "/nothing"] {
        for wrong in [
            path.to_owned(),
            format!("{path}?token={}", &token[1..]),
            format!("{path}?token={}", "0".repeat(32)),
        ] {
            let (status, body) = get(&address, &wrong, "");
            assert_eq!(status, 401, "{wrong}: {body}");
            assert!(body.contains("the token is missing or wrong"), "{body}");
        }
    }
    assert_eq!(get(&address, &format!("/nothing?token={token}"), "").0, 404);
    let (status, page) = get(&address, &format!("/?token={token}"), "");
    assert!(status == 200 && page.contains("<title>chare</title>"), "{status} {page}");
    let (status, _) = get(&address, "/metrics", &format!("Authorization: Bearer {token}\r\n"));
    assert_eq!(status, 200);
    end(job);
}

#[test]
fn metrics_of_all_pes_are_numbers_that_grow() {
    let (job, address, token) = job();
    let look = || {
        let (status, body) = get(&address, &format!("/metrics?token={token}"), "");
        assert_eq!(status, 200, "{body}");
        samples(&body)
    };
    let first = look();
    let rounds = |job: &Running| {
        job.wait_for("more", |line| line.strip_prefix("round ").and_then(|round| round.parse::<u64>().ok()))
    };
    // Figures are fresh for half a second: look until they are new.
    let mut second = look();
    let uptime = r#"chare_pe_uptime_seconds_total{pe="0",node="0"}"#;
    while second[uptime] <= first[uptime] {
        rounds(&job);
        second = look();
    }
    for pe in 0..4 {
        let node = pe / 2;
        let of = |name: &str| format!("chare_pe_{name}{{pe=\"{pe}\",node=\"{node}\"}}");
        for name in ["entries_total", "messages_sent_total", "network_bytes_total"] {
            assert!(second[&of(name)] > first[&of(name)], "{name}: {second:#?}");
        }
        assert!(second.contains_key(&of("queue_length")) && second[&of("chares")] >= 1.0, "{second:#?}");
        let entry = format!("chare_entry_runs_total{{pe=\"{pe}\",chare=\"probe::Member\",entry=\"bounce\"}}");
        assert!(second[&entry] > 0.0, "{second:#?}");
        assert!(second[&entry.replace("runs", "seconds")] > 0.0, "{second:#?}");
        // A group has one member on each PE.
        let members = |(name, value): (&String, &f64)| {
            let is_here = name.ends_with(&format!("chare=\"probe::Member\",pe=\"{pe}\"}}"));
            (is_here && name.starts_with("chare_collection_elements")).then_some(*value)
        };
        assert!(second.iter().find_map(members).is_some_and(|members| members >= 1.0), "{second:#?}");
    }
    for node in 0..2 {
        assert!(second[&format!("chare_node_resident_bytes{{node=\"{node}\"}}")] > 1e6, "{second:#?}");
        let frames = format!("chare_node_frames_total{{node=\"{node}\",peer=\"{}\"", 1 - node);
        assert!(second.iter().any(|(name, value)| name.starts_with(&frames) && *value > 0.0), "{second:#?}");
    }
    end(job);
}

#[test]
fn the_page_shows_the_job_and_what_is_clicked() {
    let (job, address, token) = job();
    let Some(mut page) = Browser::open(&format!("http://{address}/?token={token}"), "the dashboard") else {
        return end(job);
    };
    let text = "document.querySelector('main').innerText";
    page.wait_until("document.querySelectorAll('main tbody tr').length === 4");
    page.wait_until("[...document.querySelectorAll('.card')].some(card => card.innerText.includes('entries/s') && !card.innerText.startsWith('0\\n'))");
    for (view, clue) in [
        ("entries", "probe::Member::bounce"),
        ("history", "probe::Member::bounce"),
        ("collections", "probe::Member"),
        ("balancing", "Nothing was balanced so far"),
        ("nodes", "0 → 1"),
        ("waits", "what waits in this job"),
        ("pes", "messages/s"),
    ] {
        page.evaluate(&format!("document.querySelector('[data-view={view}]').click()"));
        page.wait_until(&format!("{text}.includes('{clue}')"));
        page.wait_until(&format!(
            "document.querySelector('[data-view={view}]').getAttribute('aria-selected') === 'true'"
        ));
    }
    // Axes have their units.
    page.wait_until("['100 %', '−60 s', 'now'].every(label => document.querySelector('#history').textContent.includes(label))");
    end(job);
    page.wait_until("document.querySelector('#lost').innerText.includes('the job is over')");
}

#[test]
fn without_the_option_nobody_listens() {
    let job = Running::start(&mut probe("idle +p 2"));
    job.wait_for("idle job", |line| (line == "idle").then_some(()));
    let inodes: Vec<String> = std::fs::read_dir(format!("/proc/{}/fd", job.pid()))
        .expect("it runs")
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let listening =
        std::fs::read_to_string(format!("/proc/{}/net/tcp", job.pid())).expect("the kernel tells");
    let is_its = |line: &&str| {
        line.split_whitespace().nth(3) == Some("0A")
            && line.split_whitespace().nth(9).is_some_and(|inode| inodes.iter().any(|own| own == inode))
    };
    assert_eq!(listening.lines().filter(is_its).collect::<Vec<_>>(), [""; 0]);
    end(job);
}
