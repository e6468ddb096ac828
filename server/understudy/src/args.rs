//! The command line, declared once.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Rehearses a change in a sandboxed shadow of your working tree, proves it with the project's own checks and hands over
/// an exact diff. Nothing of yours changes before you say so.
#[derive(Debug, Parser)]
#[command(name = "understudy", version, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an editor by the Language Server Protocol, over standard input and output
    Lsp,
    /// Carry out a task and show the proved diff
    Run(Run),
    /// Prove a change that anyone made: a patch, a branch, or what stands in the working tree
    Prove(Prove),
    /// Show what Understudy does, on a small crate that it carries in itself
    Try {
        /// Keep the folder of the sample and print where it is
        #[arg(long)]
        keep: bool,
    },
    /// Say what works on this machine, what does not and how to mend it, by really trying
    Doctor {
        #[command(flatten)]
        repo: Repo,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Look after tasks: list, show, continue, apply, undo
    #[command(subcommand)]
    Tasks(Tasks),
    /// Run one command in the sandbox, on a shadow of the working tree; passes its exit status, 125 if it could not start
    Sandbox {
        #[command(flatten)]
        repo: Repo,
        /// Seconds until the command is ended
        #[arg(long, default_value_t = 600)]
        timeout: u64,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<std::ffi::OsString>,
    },
    /// Run a measurement and print its table; without a name they are listed, `all` runs every one
    Bench {
        name: Option<String>,
        /// For `retrieval`: issue texts with the files that fixed them, one JSON object a line
        #[arg(long, value_name = "FILE", requires = "repos")]
        tasks: Option<PathBuf>,
        /// For `retrieval`: the folder of bare repositories that the tasks are about, as OWNER+NAME/repo
        #[arg(long, value_name = "DIR", requires = "tasks")]
        repos: Option<PathBuf>,
    },
    /// Print the JSON schema of what `--json` prints
    Schema,
}

#[derive(Debug, Args)]
pub struct Repo {
    /// The folder to work on
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub repo: PathBuf,
}

/// What `run` and `prove` have in common.
#[derive(Debug, Args)]
pub struct Common {
    #[command(flatten)]
    pub repo: Repo,
    /// Something that must hold when the task is done; can be given several times
    #[arg(long = "accept", value_name = "TEXT")]
    pub acceptance_criteria: Vec<String>,
    /// What may change, as globs; everything without it
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub paths: Vec<String>,
    /// Attempts at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10))]
    pub max_attempts: Option<u32>,
    /// Active time of the task at most, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
    /// Your own name for the request; asking twice under one name starts one task
    #[arg(long, value_name = "ID")]
    pub request_id: Option<String>,
    /// Files that look like secrets and may be copied all the same, as globs
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub allow_file: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// When the diff is there, ask at the terminal whether to write it
    #[arg(long)]
    pub apply: bool,
}

#[derive(Debug, Args)]
pub struct Run {
    /// The task, for example: rename `VersionReq::matches` to `accepts`
    #[arg(required = true, num_args = 1..)]
    pub task: Vec<String>,
    /// Who proposes the edits
    #[arg(long, value_name = "NAME", default_value = "compiler")]
    pub engine: String,
    /// What kinds of operations may serve the task: read, search, edit, execute, think
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// Take the base from this revision instead of the working tree
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Dollars at most; nothing is spent by the compiler engine
    #[arg(long, value_name = "DOLLARS")]
    pub budget_usd: Option<f64>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("candidate").multiple(false))]
pub struct Prove {
    /// A unified diff against the working tree; `-` reads standard input
    #[arg(long, value_name = "FILE", group = "candidate")]
    pub patch: Option<PathBuf>,
    /// A branch, against its merge base with HEAD
    #[arg(long, value_name = "B", group = "candidate")]
    pub branch: Option<String>,
    /// The working tree, against HEAD (the default)
    #[arg(long, group = "candidate")]
    pub worktree: bool,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Subcommand)]
pub enum Tasks {
    /// All tasks, newest first
    List {
        #[arg(long)]
        json: bool,
    },
    /// Everything about one task
    Show {
        id: String,
        #[arg(long)]
        json: bool,
    },
    /// The diff of a task, or of a selection of its hunks
    Diff {
        id: String,
        /// Hunks to keep, by id or its first digits; the selection is checked as the tree it is
        #[arg(long, value_name = "HUNK", value_delimiter = ',', num_args = 1..)]
        select: Option<Vec<String>>,
        #[arg(long)]
        json: bool,
    },
    /// Continue a task whose process ended
    Resume {
        id: String,
        #[arg(long)]
        json: bool,
    },
    /// End a task
    Cancel { id: String },
    /// Write a tree of a task into the working tree; naming the tree is the approval
    Apply {
        id: String,
        /// The tree that you approve, by id or its first digits
        #[arg(long, value_name = "TREE")]
        tree: Option<String>,
        /// Hunks to keep, by id or its first digits
        #[arg(long, value_name = "HUNK", value_delimiter = ',', num_args = 1..)]
        select: Option<Vec<String>>,
        /// Write the tree although it is not verified
        #[arg(long)]
        unverified: bool,
        /// Files that run by themselves and may be written, as globs; each needs this consent of its own
        #[arg(long, value_name = "GLOB", value_delimiter = ',')]
        consent: Vec<String>,
        #[arg(long)]
        json: bool,
    },
    /// Take the last publication of a task back
    Undo {
        id: String,
        #[arg(long)]
        json: bool,
    },
    /// Forget a task, or everything about ended tasks
    Purge {
        id: Option<String>,
        /// All tasks that have ended
        #[arg(long, conflicts_with = "id")]
        ended: bool,
    },
}
