//! The verbs of `understudy tasks`.

use clap::{Args, Subcommand};
use task::Limits;

#[derive(Debug, Subcommand)]
pub enum Tasks {
    /// All tasks, newest first
    List {
        /// Only those that wait for you: for an answer, for the yes to a plan, for another try at the provider
        #[arg(long)]
        waiting: bool,
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
    /// Answer what a task asks, one text for each question, in their order; an option may be given by its number
    Answer {
        id: String,
        #[arg(required = true, num_args = 1.., value_name = "ANSWER")]
        answers: Vec<String>,
        #[command(flatten)]
        onward: Onward,
    },
    /// Agree to the plan of a task
    ApprovePlan {
        id: String,
        /// The version that you agree to; the one that waits unless you say
        #[arg(long, value_name = "V")]
        version: Option<u32>,
        #[command(flatten)]
        onward: Onward,
    },
    /// The plan of a task as a document; with `--amend`, your own in its place
    Plan {
        id: String,
        /// The document as you changed it, which agrees to it as well; `-` reads standard input
        #[arg(long, value_name = "FILE")]
        amend: Option<std::path::PathBuf>,
        #[command(flatten)]
        onward: Onward,
    },
    /// Give a task guidance, from its next turn on
    Steer {
        id: String,
        #[arg(required = true, num_args = 1.., value_name = "TEXT")]
        text: Vec<String>,
    },
    /// Raise limits of a task, also while it runs
    Raise(Raise),
    /// The same request once more as a new task, held to what was rejected of this one and why
    Again {
        id: String,
        /// What was wrong with it; can be given several times
        #[arg(long, value_name = "TEXT")]
        because: Vec<String>,
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

/// What happens once a task has what it waited for.
#[derive(Debug, Args)]
pub struct Onward {
    /// Only leave it for the task; do not go on with it here
    #[arg(long)]
    pub no_run: bool,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("limit").required(true).multiple(true))]
pub struct Raise {
    pub id: String,
    /// Dollars at most
    #[arg(long, value_name = "DOLLARS", group = "limit")]
    pub budget_usd: Option<f64>,
    /// Tokens at most, input and output together
    #[arg(long, value_name = "N", group = "limit")]
    pub max_tokens: Option<u64>,
    /// Active time of the task at most, in seconds
    #[arg(long, value_name = "SECONDS", group = "limit")]
    pub timeout: Option<u64>,
    /// Attempts at most
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u32).range(1..=i64::from(Limits::MOST_ATTEMPTS)))]
    pub max_attempts: Option<u32>,
}
