//! Threads beside the loop: one reader, and what is looked up at the start or again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};

use task::TaskId;

use crate::act::Crew;
use crate::entry::{Glance, Loaded};
use crate::mail::Mail;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that does one thing after the other, however many are asked for.
#[derive(Debug, Clone)]
pub struct Reader(Sender<Job>);

impl Reader {
    /// The thread ends with the last of those who can ask it. Where none can be started, what is asked is dropped, and
    /// whoever waits hears that nobody answers.
    pub fn start() -> Self {
        let (jobs, queue) = channel::<Job>();
        let work = move || {
            for job in queue {
                // Whoever asked hears of a fault by the reply that is gone.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        let _ = std::thread::Builder::new().name("reader".into()).spawn(work);
        Self(jobs)
    }

    pub fn put(&self, job: impl FnOnce() + Send + 'static) {
        let _ = self.0.send(Box::new(job));
    }
}

/// An editor starts with the newest, and with what waits for the developer; `understudy tasks list` has all of them.
const MOST_RESTORED: usize = 30;

impl Crew {
    /// Runs something on a thread of its own. Where none can be started it answers `false`, and a caller whose reply was
    /// moved there hears that nobody answers.
    pub fn beside(&self, name: &str, work: impl FnOnce() + Send + 'static) -> bool {
        std::thread::Builder::new().name(name.into()).spawn(work).is_ok()
    }

    /// Looks whether a model is configured.
    pub fn look_for_model(&self) {
        let crew = self.clone();
        self.beside("model", move || crew.mailbox.post(Mail::ModelKnown(crew.rooms.model(&crew.lent()))));
    }

    /// Tasks of these folders that were there before us, and where their folders' trees begin.
    pub fn restore(&self, folders: Vec<PathBuf>) {
        let crew = self.clone();
        // Commands wait for this mail, so it comes whatever happens.
        let started = self.beside("restore", move || {
            let loaded = catch_unwind(AssertUnwindSafe(|| crew.earlier(&folders)));
            crew.mailbox.post(Mail::Restored(loaded.ok().flatten().unwrap_or_default()));
        });
        if !started {
            self.mailbox.post(Mail::Restored(Vec::new()));
        }
    }

    fn earlier(&self, folders: &[PathBuf]) -> Option<Vec<Loaded>> {
        let state = self.rooms.state().ok()?;
        for folder in folders {
            if let Ok(top) = agent::top(folder, &state) {
                self.mailbox.post(Mail::FolderKnown { folder: folder.clone(), top });
            }
        }
        let house = self.house().ok()?;
        let lines = agent::list(&*house.journal).ok()?;
        let ours = |workspace: &str| folders.iter().any(|folder| folder.as_os_str() == workspace);
        let ours = lines.into_iter().filter(|line| ours(&line.workspace)).enumerate();
        // What needs the developer stays until it is answered, however old it is.
        let shown = ours.filter(|(at, line)| *at < MOST_RESTORED || line.waiting.is_some()).map(|(_, line)| line.id);
        Some(shown.filter_map(|id| Loaded::load(&house, &id).ok()).collect())
    }

    /// Looks at tasks that other processes work on, or may, and tells of those that are not as they are known. Whether
    /// somebody looks.
    pub fn look_again(&self, known: Vec<(TaskId, Glance)>) -> bool {
        let crew = self.clone();
        self.beside("look", move || {
            let seen = catch_unwind(AssertUnwindSafe(|| {
                let house = crew.house().ok()?;
                let news = known.iter().filter_map(|(id, known)| Loaded::load_news(&house, id, known).ok().flatten());
                Some(news.collect())
            }));
            crew.mailbox.post(Mail::Seen(seen.ok().flatten().unwrap_or_default()));
        })
    }
}
