//! A browser without a screen: Chromium, driven through a pipe by its own protocol (Chrome DevTools Protocol).

use crate::launcher::find;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where the browser's protocol is: standard input and output, as descriptors 3 and 4, where it looks for them.
const START: &str = r#"exec "$0" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-extensions \
    --hide-scrollbars --user-data-dir="$1" --window-size=1100,760 --remote-debugging-pipe 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1"#;

/// The longest that a page may take to show what it is to show.
const PATIENCE: Duration = Duration::from_secs(30);

/// A page in a browser; its drop ends the browser.
pub struct Browser {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    asked: u64,
    session: Option<String>,
    _profile: TempDir,
}

impl Browser {
    /// Opens a page; `None` where there is no Chromium, of which a line says so.
    ///
    /// # Panics
    /// If the browser does not start.
    pub fn open(url: &str, what: &str) -> Option<Self> {
        let Some(program) = find(&["chromium"], "chromium") else {
            println!("skipped: {what} in a browser");
            return None;
        };
        let profile = TempDir::new().expect("a folder for the browser");
        let mut command = Command::new("sh");
        command.args(["-c", START]).arg(program).arg(profile.path()).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell starts");
        let orders = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut browser = Self { child, orders, answers, asked: 0, session: None, _profile: profile };
        let target = browser.ask("Target.createTarget", json!({ "url": url }))["targetId"].clone();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = browser.ask("Target.attachToTarget", attach)["sessionId"].as_str().map(str::to_owned);
        browser.session = Some(session.expect("the page has a session"));
        Some(browser)
    }

    /// Carries out a command and returns its result.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.asked += 1;
        let mut order = json!({ "id": self.asked, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            order["sessionId"] = json!(session);
        }
        let mut bytes = order.to_string().into_bytes();
        bytes.push(0);
        self.orders.write_all(&bytes).expect("the browser listens");
        loop {
            let mut bytes = Vec::new();
            self.answers.read_until(0, &mut bytes).expect("the browser speaks");
            assert_eq!(bytes.pop(), Some(0), "the browser has ended during {method}");
            let mut said: Value = serde_json::from_slice(&bytes).expect("the browser speaks JSON");
            if said["id"] == json!(self.asked) {
                assert!(said["error"].is_null(), "{method}: {said}");
                return said["result"].take();
            }
        }
    }

    /// The value of an expression in the page.
    ///
    /// # Panics
    /// If the page refuses it.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true });
        let mut result = self.ask("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    /// Waits until an expression is true in the page.
    ///
    /// # Panics
    /// If it does not become true in time; with what the page shows.
    #[track_caller]
    pub fn wait_until(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.evaluate(expression) != json!(true) {
            if Instant::now() > deadline {
                let shown = self.evaluate("document.body ? document.body.innerText : ''");
                panic!("`{expression}` does not become true; the page shows {shown}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        // It may have ended: then there is nothing to do.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}
