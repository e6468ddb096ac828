//! Where compilers come from: one worker process for each workspace, inside the jail.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use agent::{Compilers, Place, Shelf};
use semantics::{WorkerLimits, Workspace};
use task::Features;
use task::port::{Absent, Compiler};

/// A server ends a compiler that no task asked for so long.
const IDLE: Duration = Duration::from_secs(600);

/// rust-analyzer in a process of its own.
#[derive(Debug)]
struct Worker {
    shelf: Option<Shelf>,
}

/// Where the compilers of a process with one task come from.
pub fn compilers() -> Arc<dyn Compilers> {
    Arc::new(Worker { shelf: None })
}

/// Where the compilers of a server come from: they stay warm between tasks.
pub fn lasting_compilers() -> Arc<dyn Compilers> {
    Arc::new(Worker { shelf: Some(Shelf::new(IDLE)) })
}

/// The product's own kind of compiler; one that stands in for it is no such.
fn workspace(compiler: &dyn Compiler) -> Option<&Workspace> {
    (compiler as &dyn Any).downcast_ref()
}

fn limits(place: &Place) -> WorkerLimits {
    WorkerLimits::default().within(place.remaining)
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
        Arc::new(Workspace::open(tools, Features::All, limits(place)))
    }

    fn shelf(&self) -> Option<&Shelf> {
        self.shelf.as_ref()
    }

    fn release(&self, compiler: &dyn Compiler) -> bool {
        workspace(compiler).is_some_and(|workspace| workspace.0.release())
    }

    fn renew(&self, compiler: &dyn Compiler, place: &Place) {
        if let Some(workspace) = workspace(compiler) {
            workspace.0.renew(&place.cancel, limits(place));
        }
    }
}
