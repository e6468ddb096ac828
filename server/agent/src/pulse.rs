//! The pulse of a process that works on a task: the time of change of a file of ours.
//!
//! A process that dies in a long check leaves no fact about the time it took. So that such a task does not have its whole
//! time again each time it is resumed, whoever resumes it looks when the one before was last seen alive.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use task::{Record, TaskId};

/// The file of one task. Nothing is wrong where it cannot be written: less time is counted then.
#[derive(Debug, Clone)]
pub(crate) struct Pulse(PathBuf);

impl Pulse {
    pub fn of(state: &Path, task: &TaskId) -> Self {
        Self(state.join("alive").join(task.to_string()))
    }

    /// Says that the task is worked on now.
    pub fn beat(&self) {
        if fs::write(&self.0, b"").is_err()
            && let Some(folder) = self.0.parent()
        {
            let _ = fs::create_dir(folder).and_then(|()| fs::write(&self.0, b""));
        }
    }

    /// Says that nobody works on it any more, and every time that was worked is in the journal.
    pub fn stop(&self) {
        let _ = fs::remove_file(&self.0);
    }

    /// How long the last owner had worked after its last fact, in milliseconds. A clock that jumped back counts as no time.
    pub fn lost_ms(&self, records: &[Record]) -> u64 {
        let seen = fs::symlink_metadata(&self.0).and_then(|metadata| metadata.modified()).unwrap_or(UNIX_EPOCH);
        let last = records.last().map_or(u64::MAX, |record| record.at.0);
        millis(seen).saturating_sub(last)
    }
}

fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use task::{Epoch, Event, Sequence, UnixMillis};

    use super::*;
    use crate::walk::active_ms;

    fn record(epoch: u64, at: u64, event: Event) -> Record {
        let task: TaskId = "01234567-89ab-4cde-8f01-23456789abcd".parse().unwrap();
        Record { task, sequence: Sequence(1), epoch: Epoch(epoch), at: UnixMillis(at), event: Ok(event) }
    }

    fn shadow(epoch: u64, at: u64) -> Record {
        record(epoch, at, Event::ShadowReady { slot: 0 })
    }

    #[test]
    fn a_process_that_died_in_a_check_has_used_its_time_until_it_was_last_seen() {
        let folder = std::env::temp_dir().join(format!("understudy-pulse-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut records = vec![shadow(1, 1_000), shadow(1, 3_000)];
        let pulse = Pulse::of(&folder, &records[0].task);
        assert_eq!(pulse.lost_ms(&records), 0, "never seen");
        pulse.beat();
        let file = fs::File::options().write(true).open(&pulse.0).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(63)).unwrap();
        assert_eq!(pulse.lost_ms(&records), 60_000);
        records.push(record(2, 100_000, Event::Resumed { process: 7, lost_ms: 60_000 }));
        records.push(shadow(2, 100_500));
        assert_eq!(active_ms(&records), 62_500);
        assert_eq!(pulse.lost_ms(&records), 0, "counted already");
        pulse.stop();
        assert!(!pulse.0.exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
