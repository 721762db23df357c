//! Process manager: the few questions that a node asks of the launcher which started it.

use std::time::Instant;

/// What is asked of a process manager.
pub(super) trait ProcessManager: Send {
    /// Its name, for humans.
    fn name(&self) -> &'static str;
    /// This process's number in the job.
    fn rank(&self) -> u32;
    /// How many processes the job has.
    fn size(&self) -> u32;
    /// How many characters a published text may have.
    fn text_chars_max(&self) -> usize;
    /// Keeps a text for the others; they see it after the next fence. Keys are used once in a job.
    fn publish(&mut self, key: &str, text: &str) -> Result<(), String>;
    /// Waits until every process of the job has called it as often.
    fn fence(&mut self, deadline: Instant) -> Result<(), String>;
    /// What a process published.
    fn look_up(&mut self, rank: u32, key: &str, deadline: Instant) -> Result<String, String>;
    /// Says that this process did all its work.
    fn finish(&mut self);
}
