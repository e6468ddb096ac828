//! How many tokens a call has, by our own count. No provider counts exactly so: the ledger learns by how much each of
//! them differs, and the reservation allows for it.

use std::sync::LazyLock;

use task::port::{Arguments, Block, ModelCall};
use tiktoken_rs::CoreBPE;

static VOCABULARY: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());

/// What a provider puts around each block and message, and around a tool.
const FRAME: u64 = 16;
const TOOL: u64 = 24;
/// Longer texts are counted in parts: the splitter gives up on white space without end.
const PART: usize = 16 * 1024;

/// Tokens of input.
pub(crate) fn tokens(call: &ModelCall) -> u64 {
    let tools = call.tools.iter();
    let tools = tools.map(|tool| TOOL + of(&tool.name) + of(&tool.description) + of(&tool.parameters.to_string()));
    let blocks = call.messages.iter().flat_map(|message| &message.blocks).map(|block| FRAME + in_block(block));
    let messages = call.messages.len() as u64 * FRAME;
    FRAME + of(call.system.text()) + messages + tools.sum::<u64>() + blocks.sum::<u64>()
}

fn in_block(block: &Block) -> u64 {
    match block {
        Block::Text { told, .. } => of(told.text()),
        Block::ToolCall { id, name, arguments } => {
            let arguments = match arguments {
                Arguments::Read(value) => of(&value.to_string()),
                Arguments::Malformed(text) => of(text),
            };
            of(id) + of(name) + arguments
        }
        Block::ToolResult { id, told, .. } => of(id) + of(told.text()),
        Block::Thinking { raw, .. } => of(&raw.to_string()),
    }
}

/// At least a token for four bytes as they are on the wire: what this vocabulary happens to have as one word is many in
/// another.
fn of(text: &str) -> u64 {
    let mut rest = text;
    let mut sum = 0;
    while !rest.is_empty() {
        let (part, tail) = rest.split_at(rest.floor_char_boundary(PART));
        let counted = VOCABULARY.as_ref().map_or(part.len(), |vocabulary| vocabulary.encode_ordinary(part).len());
        let escapes = part.bytes().filter(|byte| matches!(byte, b'"' | b'\\' | ..b' ')).count();
        sum += counted.max((part.len() + escapes).div_ceil(4)) as u64;
        rest = tail;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_tokens() {
        assert!(VOCABULARY.is_some());
        assert_eq!(of("a b c d e"), 5);
        assert_eq!(of(""), 0);
        assert_eq!(of("supercalifragilistic"), 6);
    }

    #[test]
    fn texts_that_no_person_writes_are_counted_too() {
        for text in [" ", "\n", "a", "é", "}", "\u{0}"] {
            let tokens = of(&text.repeat(300_000));
            assert!(tokens >= text.len() as u64 * 75_000, "{text:?}: {tokens}");
        }
    }
}
