//! The journal of a scene's command, read as the command itself reads it.

use journal::Journal;
use task::Event;
use task::port::Journal as _;

use super::scene::Scene;
use crate::stage::Answer;

/// Everything that happened to the task of an answer, in order.
pub fn events(scene: &Scene, answer: &Answer) -> Vec<Event> {
    let journal = Journal::open(&scene.stage.understudy.state()).unwrap();
    let records = journal.records(&answer.id().parse().unwrap()).unwrap();
    records.into_iter().map(|record| record.event.unwrap()).collect()
}
