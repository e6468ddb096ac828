//! [`Desk`]: which acts run, which wait, and for what.
//!
//! Acts on one task run one after the other, and so do publications of one workspace. A new task is durable at once and
//! then waits for its turn: one task of a workspace walks at a time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::Sender;

use serde_json::Value;
use task::TaskId;

use crate::act::{ActId, Canceller, Crew, Work};
use crate::entry::Activity;
use crate::mail::Reply;

/// An act that was asked for.
#[derive(Debug)]
pub struct Order {
    pub task: Option<TaskId>,
    /// The workspace, see [`crate::session::Session::workspace`].
    pub folder: String,
    pub work: Work,
    pub reply: Option<Reply<Value>>,
}

/// An act that runs.
#[derive(Debug)]
pub struct Running {
    pub task: Option<TaskId>,
    pub folder: String,
    pub activity: Activity,
    /// Its caller may take it back by cancelling the request.
    pub follows_caller: bool,
    pub publishes: bool,
    pub reply: Option<Reply<Value>>,
    cancel: Option<Canceller>,
    /// It made way, or somebody ended it.
    pub cancelled: bool,
    turn: Option<Sender<()>>,
}

#[derive(Default)]
pub struct Desk {
    last: u64,
    running: BTreeMap<ActId, Running>,
    waiting: VecDeque<Order>,
}

impl Desk {
    pub fn order(&mut self, order: Order) {
        self.waiting.push_back(order);
    }

    /// Starts what can start; names the tasks that something began to happen to.
    pub fn start(&mut self, crew: &Crew) -> Vec<(ActId, Option<TaskId>)> {
        let mut started = Vec::new();
        let mut held: VecDeque<Order> = VecDeque::new();
        while let Some(order) = self.waiting.pop_front() {
            let publishes = publishes(&order.work);
            let same_task = |task: &Option<TaskId>| order.task.is_some() && *task == order.task;
            let blocked = self
                .running
                .values()
                .any(|act| same_task(&act.task) || publishes && act.publishes && act.folder == order.folder)
                || held.iter().any(|before| {
                    same_task(&before.task)
                        || publishes && self::publishes(&before.work) && before.folder == order.folder
                });
            if blocked {
                held.push_back(order);
                continue;
            }
            self.last += 1;
            let id = ActId(self.last);
            let running = Running {
                task: order.task.clone(),
                folder: order.folder,
                activity: activity(&order.work),
                follows_caller: matches!(
                    order.work,
                    Work::Check { .. } | Work::CheckAgain { .. } | Work::Explain { .. }
                ) && order.reply.is_some(),
                publishes,
                reply: order.reply,
                cancel: None,
                cancelled: false,
                turn: None,
            };
            self.running.insert(id, running);
            started.push((id, order.task.clone()));
            crew.start(id, order.task, order.work);
        }
        self.waiting = held;
        started
    }

    pub fn running(&self, act: ActId) -> Option<&Running> {
        self.running.get(&act)
    }

    pub fn on(&self, task: &TaskId) -> Option<(ActId, &Running)> {
        self.running.iter().find(|(_, act)| act.task.as_ref() == Some(task)).map(|(id, act)| (*id, act))
    }

    /// How an act can be ended is known from now on; what was wished before happens now.
    pub fn cancellable(&mut self, act: ActId, cancel: Canceller) {
        if let Some(running) = self.running.get_mut(&act) {
            if running.cancelled {
                cancel.cancel();
            }
            running.cancel = Some(cancel);
        }
    }

    pub fn cancel(&mut self, act: ActId) {
        let Some(running) = self.running.get_mut(&act) else { return };
        running.cancelled = true;
        if let Some(cancel) = &running.cancel {
            cancel.cancel();
        }
        // One that waits for its turn has it, to end.
        if let Some(turn) = running.turn.take() {
            let _ = turn.send(());
        }
    }

    /// Orders on a task that have not begun.
    pub fn withdraw(&mut self, task: &TaskId) -> VecDeque<Order> {
        let (gone, kept) = self.waiting.drain(..).partition(|order| order.task.as_ref() == Some(task));
        self.waiting = kept;
        gone
    }

    /// The checks among them.
    pub fn withdraw_checks(&mut self, task: &TaskId) -> VecDeque<Order> {
        let is_check = |order: &Order| {
            order.task.as_ref() == Some(task) && matches!(order.work, Work::Check { .. } | Work::CheckAgain { .. })
        };
        let (gone, kept) = self.waiting.drain(..).partition(is_check);
        self.waiting = kept;
        gone
    }

    /// Whether something is asked for or happens on a task.
    pub fn has_orders(&self, task: &TaskId) -> bool {
        self.on(task).is_some() || self.waiting.iter().any(|order| order.task.as_ref() == Some(task))
    }

    /// A task has an id and waits for its turn.
    pub fn begun(&mut self, act: ActId, task: &TaskId, turn: Sender<()>) -> Option<Reply<Value>> {
        let running = self.running.get_mut(&act)?;
        running.task = Some(task.clone());
        running.activity = Activity::Waiting;
        if running.cancelled {
            let _ = turn.send(());
            running.activity = Activity::Walking;
        } else {
            running.turn = Some(turn);
        }
        running.reply.take()
    }

    /// Gives turns; names the tasks that walk from now on.
    pub fn turns(&mut self) -> Vec<TaskId> {
        let mut walking: Vec<String> = self
            .running
            .values()
            .filter(|act| act.activity == Activity::Walking)
            .map(|act| act.folder.clone())
            .collect();
        let mut begun = Vec::new();
        for act in self.running.values_mut() {
            if act.activity != Activity::Waiting || walking.contains(&act.folder) {
                continue;
            }
            if let Some(turn) = act.turn.take() {
                let _ = turn.send(());
                act.activity = Activity::Walking;
                walking.push(act.folder.clone());
                begun.extend(act.task.clone());
            }
        }
        begun
    }

    pub fn ended(&mut self, act: ActId) -> Option<Running> {
        self.running.remove(&act)
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// Ends the checks whose callers have cancelled their requests.
    pub fn follow_callers(&mut self) {
        let left = |act: &Running| act.follows_caller && act.reply.as_ref().is_some_and(Reply::is_closed);
        let gone: Vec<ActId> = self.running.iter().filter(|(_, act)| left(act)).map(|(id, _)| *id).collect();
        gone.into_iter().for_each(|act| self.cancel(act));
    }
}

fn publishes(work: &Work) -> bool {
    matches!(work, Work::Apply { .. } | Work::Undo { .. })
}

fn activity(work: &Work) -> Activity {
    match work {
        // Until its id is durable it is nobody's task.
        Work::Create { .. } | Work::Again { .. } | Work::Resume | Work::Explain { .. } => Activity::Noting,
        Work::Check { .. } | Work::CheckAgain { .. } => Activity::Checking,
        Work::Apply { .. } | Work::Undo { .. } => Activity::Publishing,
        Work::Reject { .. } | Work::Keep { .. } | Work::Cancel | Work::Purge => Activity::Noting,
    }
}
