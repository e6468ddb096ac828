//! How an editor takes an edit that a server asks it to make. Each was seen in an editor that people use, or is what a
//! person at the keyboard does at the wrong moment.

/// The manner of one editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Manner {
    /// Compares every version, makes the whole edit or none of it, and says which.
    #[default]
    Honest,
    /// Looks at the version of the first document alone and makes the other edits whatever was typed (Neovim).
    FirstVersionOnly,
    /// Looks at the versions of open documents alone; any other one is opened and edited (VS Code).
    OpenOnly,
    /// Makes nothing of it, and says so.
    Refuses,
    /// Makes the first half of it and says that it made it (a preview in which one of two hunks was ticked).
    Partial,
    /// Makes nothing of it and says that it made it.
    SaysYes,
    /// Makes all of it and says that it did not.
    SaysNo,
    /// Makes something else of it and says that it made it.
    MakesSomethingElse,
    /// The developer types into the document after the request came and before it is looked at.
    TypesMeanwhile,
    /// The same in an editor that does not compare versions.
    TypesUnnoticed,
    /// The developer types right after the edit was made, before the answer.
    TypesAfter,
    /// Answers first and reports the new text later.
    SlowChange,
    /// Saves at moments that nobody can foresee; the number begins the row of coin throws.
    SavesAtRandom(u64),
    /// The document is closed when the request comes.
    ClosesBefore,
    /// The document is saved and closed as soon as the edit was made.
    ClosesAfter,
    /// The document is closed without being saved as soon as the edit was made.
    DropsAfter,
    /// The editor dies when the request comes.
    DiesBefore,
    /// The editor makes the edit, reports it, and dies instead of answering.
    DiesAfter,
    /// Waits with its answer until it is let go.
    Waits,
    /// Waits with its answers to everything until it is let go.
    Silent,
    /// An honest one that never saves when it is asked to.
    NeverSaves,
}

/// A coin for [`Manner::SavesAtRandom`] that falls the same way in every run.
#[derive(Debug, Clone)]
pub(crate) struct Coin(u64);

impl Coin {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn heads(&mut self) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 33 & 1 == 1
    }
}
