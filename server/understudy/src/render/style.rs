//! The few colours and forms that all texts share. `anstream` drops the colours where nobody sees them.

use anstyle::{AnsiColor, Style};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

fn coloured(colour: AnsiColor, text: impl std::fmt::Display) -> String {
    styled(colour.on_default(), text)
}

pub fn bold(text: impl std::fmt::Display) -> String {
    styled(BOLD, text)
}

pub fn dim(text: impl std::fmt::Display) -> String {
    styled(DIM, text)
}

/// What stands out within a colour.
pub fn reversed(text: impl std::fmt::Display) -> String {
    styled(Style::new().invert(), text)
}

pub fn good(text: impl std::fmt::Display) -> String {
    coloured(AnsiColor::Green, text)
}

pub fn poor(text: impl std::fmt::Display) -> String {
    coloured(AnsiColor::Red, text)
}

pub fn doubtful(text: impl std::fmt::Display) -> String {
    coloured(AnsiColor::Yellow, text)
}

pub fn place(text: impl std::fmt::Display) -> String {
    coloured(AnsiColor::Cyan, text)
}

/// A heading on a line of its own, with an empty line before it.
pub fn heading(text: &str) -> String {
    format!("\n{}", bold(text))
}

/// A duration as people say it.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{:.1} s", ms as f64 / 1000.0),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}
