//! Where compilers come from: one worker process for each workspace, inside the jail.

use std::sync::Arc;

use agent::{Compilers, Place};
use semantics::{WorkerLimits, Workspace};
use task::Features;
use task::port::{Absent, Compiler};

/// rust-analyzer in a process of its own.
#[derive(Debug)]
struct Worker;

/// Where the product's compilers come from.
pub fn compilers() -> Arc<dyn Compilers> {
    Arc::new(Worker)
}

impl Compilers for Worker {
    fn open(&self, place: &Place) -> Arc<dyn Compiler> {
        if place.toolchain.library.is_none() {
            let remedy = place.toolchain.rust_src_remedy();
            return Arc::new(Absent {
                reason: format!("the sources of the standard library are missing: run `{remedy}`"),
            });
        }
        let tools = semantics::Tools {
            sandbox: place.sandbox.clone(),
            place: semantics::Place {
                tree: place.shadow.clone(),
                target: place.work.clone(),
                toolchain: place.toolchain.root.clone(),
                cargo_home: place.cargo_home.clone(),
            },
            cargo: place.cargo.clone(),
            cancel: place.cancel.clone(),
        };
        Arc::new(Workspace::open(tools, Features::All, WorkerLimits::default().within(place.remaining)))
    }
}
