//! The packages and targets of a workspace, as `cargo metadata --no-deps` tells them.

use serde::Deserialize;

use crate::message::Target;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Metadata {
    pub packages: Vec<Member>,
}

/// A package of the workspace.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Member {
    pub id: String,
    pub name: String,
    pub manifest_path: String,
    pub targets: Vec<Target>,
}

impl Metadata {
    pub(crate) fn parse(stdout: &[u8]) -> Option<Metadata> {
        serde_json::from_slice(stdout).ok()
    }

    pub(crate) fn member(&self, id: &str) -> Option<&Member> {
        self.packages.iter().find(|member| member.id == id)
    }
}

impl Member {
    /// Its folder, as cargo names it.
    pub(crate) fn folder(&self) -> &str {
        self.manifest_path.strip_suffix("/Cargo.toml").unwrap_or(&self.manifest_path)
    }

    /// The library if it has doc tests switched on.
    pub(crate) fn documented(&self) -> Option<&Target> {
        self.library().filter(|library| library.doctest)
    }

    /// The library, whatever its crate types.
    pub(crate) fn library(&self) -> Option<&Target> {
        self.targets.iter().find(|target| target.label() == "lib")
    }
}
