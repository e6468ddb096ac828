//! The command line, declared once.

mod tasks;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use task::{Limits, PlanPolicy};

pub use tasks::{Onward, Raise, Tasks};

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
    /// Answer a question about the code, with the lines that show it; nothing is changed
    Explain(Explain),
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
    /// Look after tasks: list, show, answer, continue, apply, undo
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
        /// For `retrieval` and `replay`: issue texts with the files that fixed them, one JSON object a line
        #[arg(long, value_name = "FILE", requires = "repos")]
        tasks: Option<PathBuf>,
        /// For `retrieval` and `replay`: the folder of bare repositories that the tasks are about, as OWNER+NAME/repo
        #[arg(long, value_name = "DIR", requires = "tasks")]
        repos: Option<PathBuf>,
        /// For `replay`: ids of tasks, separated by commas
        #[arg(long, value_name = "IDS", value_delimiter = ',', requires = "tasks")]
        only: Vec<String>,
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(Limits::MOST_ATTEMPTS)))]
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
    #[arg(required_unless_present = "issue", num_args = 1..)]
    pub task: Vec<String>,
    /// Take the text of an issue as the task; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    pub issue: Option<PathBuf>,
    /// Who proposes the edits: compiler, model, or auto for the compiler where it understands the task
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub engine: String,
    /// Who agrees to a plan before its first edit: review (you), auto (nobody has to: what counts is the diff), skip
    /// (no plan is asked for)
    #[arg(long, value_name = "POLICY")]
    pub plan: Option<PlanPolicy>,
    /// What kinds of operations may serve the task: read, search, edit, execute, think
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// Take the base from this revision instead of the working tree
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Dollars at most, 0.50 unless the settings say otherwise; nothing is spent by the compiler engine
    #[arg(long, value_name = "DOLLARS")]
    pub budget_usd: Option<f64>,
    /// Tokens at most, input and output together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tokens: Option<u64>,
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

#[derive(Debug, Args)]
pub struct Explain {
    /// What you want to know
    #[arg(required = true, num_args = 1..)]
    pub question: Vec<String>,
    #[command(flatten)]
    pub repo: Repo,
    /// A place that the question is about
    #[arg(long, value_name = "PATH:LINE")]
    pub at: Option<String>,
    /// Dollars at most
    #[arg(long, value_name = "DOLLARS")]
    pub budget_usd: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
