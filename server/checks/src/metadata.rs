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
    /// The library, whatever its crate types.
    pub(crate) fn library(&self) -> Option<&Target> {
        self.targets.iter().find(|target| target.label() == "lib")
    }
}
