//! The compiler is loaded while the model reads and plans: what it is asked first, when a step is done, then waits for
//! nothing. It reads the shadow of the base meanwhile, so whoever wants to show another tree there waits for it.

use std::thread::JoinHandle;

use crate::{Error, walk::Walk};

/// A compiler that is being loaded.
pub(crate) type Warming = JoinHandle<()>;

impl Walk<'_> {
    /// Begins to load the compiler, once for each process that works on the task, where there is one for this base.
    pub(crate) fn warm_up(&mut self) -> Result<(), Error> {
        let Some(base) = self.state.base.clone() else { return Ok(()) };
        if self.desk().warmed || !self.has_compiler(&base)? {
            return Ok(());
        }
        self.desk().warmed = true;
        let source = self.store.entries(&base)?.keys().find(|path| path.as_bytes().ends_with(b".rs")).cloned();
        let Some(source) = source else { return Ok(()) };
        let (compiler, at) = self.compiler_on(&base, &base)?;
        // Any question loads it; this one has a short answer, which nobody needs.
        let load = move || drop(compiler.outline(at, &source));
        self.desk().warming = std::thread::Builder::new().name("warming".into()).spawn(load).ok();
        Ok(())
    }

    /// Waits until nothing reads the shadow for the compiler any more.
    pub(crate) fn settle_warming(&mut self) {
        let warming = self.desk.as_mut().and_then(|desk| desk.warming.take());
        if let Some(warming) = warming {
            // A compiler that broke down answers "unknown" from then on.
            let _ = warming.join();
        }
    }
}
