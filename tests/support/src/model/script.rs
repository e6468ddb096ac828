//! Which move answers which request.

use std::collections::VecDeque;
use std::fmt;

use super::{Move, Seen};

/// A list of moves, made in order, or a closure that plays the model.
pub struct Script(Player);

enum Player {
    List(VecDeque<Move>),
    Closure(Box<dyn FnMut(&Seen) -> Move + Send>),
}

impl Script {
    /// The closure is asked for every request. Its panics are violations.
    pub fn playing(model: impl FnMut(&Seen) -> Move + Send + 'static) -> Self {
        Self(Player::Closure(Box::new(model)))
    }

    /// The move for this request, and what it did not find as expected.
    ///
    /// The first move that is left is made, unless it has guards that do not hold: then the next one is asked.
    pub(super) fn next(&mut self, seen: &Seen) -> Option<(Move, Vec<String>)> {
        let chosen = match &mut self.0 {
            Player::Closure(model) => model(seen),
            Player::List(moves) => {
                let index = moves.iter().position(|entry| entry.guards.iter().all(|guard| guard.holds(seen)))?;
                let entry = &mut moves[index];
                entry.times = entry.times.saturating_sub(usize::from(entry.times != usize::MAX));
                let chosen = entry.clone();
                if chosen.times == 0 {
                    moves.remove(index);
                }
                chosen
            }
        };
        let last = seen.last_text();
        let missing = chosen.expected.iter().filter(|text| !last.contains(*text));
        let missing = missing.map(|text| format!("the script expected `{text}` in the last message")).collect();
        Some((chosen, missing))
    }

    /// Moves that were not made. Those that are made for ever do not count.
    pub(super) fn left(&self) -> usize {
        match &self.0 {
            Player::List(moves) => moves.iter().filter(|entry| entry.times != usize::MAX).count(),
            Player::Closure(_) => 0,
        }
    }
}

impl From<Vec<Move>> for Script {
    fn from(moves: Vec<Move>) -> Self {
        Self(Player::List(moves.into()))
    }
}

impl<const N: usize> From<[Move; N]> for Script {
    fn from(moves: [Move; N]) -> Self {
        Self::from(Vec::from(moves))
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Player::List(moves) => formatter.debug_tuple("Script").field(moves).finish(),
            Player::Closure(_) => formatter.write_str("Script(closure)"),
        }
    }
}
