//! The connection to the proc-macro server, which is a sandboxed process of its own: the compiler gets pipe ends only.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ra_ap_paths::AbsPathBuf;
use ra_ap_proc_macro_api::{ProcMacroClient, ServerError, process::ProcessExit};

/// The two pipe ends of a running proc-macro server.
#[derive(Debug)]
pub struct MacroPipes {
    /// What we write goes to its standard input.
    pub to: File,
    /// What it writes to its standard output.
    pub from: File,
}

/// A proc-macro server that answered the version check.
pub struct MacroServer {
    pub(super) client: ProcMacroClient,
}

impl std::fmt::Debug for MacroServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MacroServer").finish_non_exhaustive()
    }
}

/// Someone else watches over the process; here only its pipes end.
struct Remote;

impl ProcessExit for Remote {
    fn exit_err(&mut self) -> Option<ServerError> {
        None
    }
}

impl MacroServer {
    /// Speaks to a server over its pipes.
    ///
    /// # Errors
    /// When it does not answer the version check.
    pub fn connect(program: &Path, pipes: MacroPipes, toolchain: &str) -> io::Result<MacroServer> {
        let toolchain = semver::Version::parse(toolchain).map_err(io::Error::other)?;
        let program = program.to_str().and_then(|path| AbsPathBuf::try_from(path).ok());
        let program = program.ok_or_else(|| io::Error::other("the path of the proc-macro server is not UTF-8"))?;
        // The client may ask for a connection more than once; there is one, so a second question is refused.
        let pipes = Arc::new(Mutex::new(Some(pipes)));
        let connect = move |_| {
            let taken = pipes.lock().unwrap_or_else(PoisonError::into_inner).take();
            let MacroPipes { to, from } =
                taken.ok_or_else(|| io::Error::other("the proc-macro server answered in an unknown protocol"))?;
            Ok((Box::new(Remote) as _, Box::new(to) as _, Box::new(BufReader::new(from)) as _))
        };
        let client = ProcMacroClient::with_io_channels(&program, connect, Some(&toolchain), 1)?;
        Ok(MacroServer { client })
    }
}
