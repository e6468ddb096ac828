//! [`Lending`]: the loop's part in asking models of the client: which calls are under way, and whom their pieces are for.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;

use crate::lent::{Lends, ModelOver, Piece};
use crate::mail::Mail;
use crate::transport::{Outbox, Outgoing};

#[derive(Debug, Default)]
pub struct Lending {
    /// What the client lends at present.
    pub lends: Option<Lends>,
    last: u64,
    calls: BTreeMap<u64, Sender<Piece>>,
}

impl Lending {
    pub fn take(&mut self, mail: Mail, outbox: &Outbox) {
        match mail {
            Mail::Models(lends) => self.lends = lends,
            Mail::Lends(reply) => {
                let _ = reply.send(self.lends.clone());
            }
            Mail::Lend { mut ask, pieces, reply } => {
                self.last += 1;
                ask["id"] = self.last.into();
                let _ = reply.send(self.last);
                self.calls.insert(self.last, pieces.clone());
                outbox.put(Outgoing::Model(ask, pieces));
            }
            // A piece of a call that is over is nobody's.
            Mail::ModelText(text) => {
                if let Some(pieces) = self.calls.get(&text.id) {
                    let _ = pieces.send(Piece::Text(text.text));
                }
            }
            Mail::LendOver { call, answered } => {
                let known = self.calls.remove(&call).is_some();
                if known && !answered {
                    outbox.put(Outgoing::ModelOver(ModelOver { id: call }));
                }
            }
            _ => {}
        }
    }
}
