//! Secrets by their shape, as a table.

use std::sync::LazyLock;

use regex::Regex;

/// A kind of secret. Of what it matches, a capture named `keep` stays. One named `mixed` has to hold digits and letters,
/// one named `dense` digits, small and capital letters: else it is a constant's name, a ruler or a list of hashes, and stays.
pub(super) struct Shape {
    /// Letters, digits and spaces only: the mark that stands in its place is known by that.
    pub name: &'static str,
    pub regex: Regex,
}

/// Whatever could have been cut before it came here is also known by its middle: a key without its first line, by lines
/// that are as long and as dense as those of a key.
const SHAPES: &[(&str, &str)] = &[
    (
        "private key",
        r"-?---- ?BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?----(?:[^\n]*\n){0,400}?[^\n]*?---- ?END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-----?",
    ),
    (
        "private key",
        r"-?---- ?BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-----?(?:[\s\\\x22'`+,;>|-]*[0-9A-Za-z+/=]{20,})+(?:[\s\\\x22'`+>|-]*[0-9A-Za-z+/]+=)?",
    ),
    (
        "private key",
        r"(?m)(?:^[-+>|*#\x22'` \t]*[0-9A-Za-z+/=]{4,}[\\nr\x22'`,;+ \t\r]*\n)+[-+>|*#\x22'` \t]*---- ?END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-----?",
    ),
    (
        "key material",
        r"(?m)^[ \t]*(?P<dense>(?:[-+>|*#/\x22'` \t]{0,12}(?:[0-9]{1,6}[ \t]*[|:]?[ \t]*)?[\x22'`]?[0-9A-Za-z+/]{60,76}={0,2}[\\nr\x22'`,;+ \t\r]{0,8}\n){2,}[-+>|*#/\x22'` \t]{0,12}(?:[0-9]{1,6}[ \t]*[|:]?[ \t]*)?[\x22'`]?[0-9A-Za-z+/]{60,76}={0,2}(?:[\\nr\x22'`,;+ \t\r]{0,8}\n[-+>|*#/\x22'` \t]{0,12}[0-9A-Za-z+/]{8,59}={0,2}[\\nr\x22'`,;+ \t\r]{0,8}$)?)",
    ),
    ("PuTTY key", r"(?m)Private-Lines: [0-9]+\r?$(?:\n[0-9A-Za-z+/=]+\r?$)+"),
    ("age key", r"\bAGE-SECRET-KEY-[0-9A-Za-z-]{20,}"),
    ("AWS key", r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[0-9A-Z]{16}\b"),
    (
        "AWS secret",
        r"(?P<keep>(?i:(?:secret[_-]?access[_-]?key|aws[_-]?secret[_-]?key|session[_-]?token))[\\\x22'`]*\s*[:=]+>?\s*[\\\x22'`]*)(?P<mixed>[0-9A-Za-z/+=]{40,})",
    ),
    ("GitHub token", r"\b(?:gh[pousr]_[0-9A-Za-z]{30,}|github_pat_[0-9A-Za-z_]{40,})"),
    ("GitLab token", r"\bgl(?:pat|dt|rt|ptt|ft|soat|agent|cbt)-[0-9A-Za-z_-]{18,}"),
    ("Slack token", r"\b(?:xox[abeoprs]|xapp)-[0-9A-Za-z-]{10,}"),
    ("Slack address", r"(?P<keep>hooks\.slack\.com/[a-z]+/)[0-9A-Za-z/]{20,}"),
    ("API key", r"\bsk-(?:ant-|proj-|svcacct-)?[0-9A-Za-z_-]{20,}"),
    (
        "API key",
        r"\b(?:gsk_|xai-|hf_|pplx-|nvapi-|r8_|lin_api_|sntrys_|dckr_pat_|vercel_blob_rw_|whsec_)[0-9A-Za-z_+/=-]{12,}",
    ),
    (
        "API key",
        r"\b(?:shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}|do[oprt]_v1_[0-9a-f]{40,}|pypi-A[0-9A-Za-z_-]{30,}|hvs\.[0-9A-Za-z_-]{20,})",
    ),
    ("SendGrid key", r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}"),
    ("Telegram token", r"\b[0-9]{8,10}:AA[0-9A-Za-z_-]{30,}"),
    ("Azure key", r"(?P<keep>\b(?i:AccountKey|SharedAccessKey|AccessKey)=)[0-9A-Za-z+/]{40,}={0,2}"),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    ("Google key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("npm token", r"\bnpm_[0-9A-Za-z]{36}\b"),
    ("JSON web token", r"\beyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}"),
    // What comes after the colon of a host is a port, what begins with a dollar and capitals a variable.
    (
        "password in a URL",
        r"(?P<keep>\b[a-z][a-z0-9+.-]*://[^\s:/@'\x22]*:)(?:[^\s@/'\x22$<{]|\$[^\s@/'\x22<{(A-Z_])[^\s@/\x22<{]{3,}@",
    ),
    (
        "password in a URL",
        r"(?P<keep>\b[a-z][a-z0-9+.-]*://[^\s:/@'\x22]*:)[0-9]*(?:[^\s@/'\x22$<{0-9]|\$[^\s@/'\x22<{(A-Z_])[^\s@\x22<{]{3,}@",
    ),
    (
        "bearer token",
        r"(?P<keep>(?i:authorization[\\\x22'`]*\s*[:=,]+>?\s*[\\\x22'`]*\s*(?:bearer|basic|token)\s+(?:token=)?[\\\x22'`]*))[0-9A-Za-z._~+/=-]{16,}",
    ),
    ("bearer token", r"(?P<keep>\b(?i:bearer)\s+)(?P<mixed>[0-9A-Za-z._~+/=-]{24,})"),
    (
        "API key",
        r"(?P<keep>(?i:(?:x-)?(?:goog-)?(?:api|auth|subscription)-(?:key|token))[\\\x22'`]*\s*[:=,]+>?\s*[\\\x22'`]*)(?P<mixed>[0-9A-Za-z_~+/=-]{16,})",
    ),
];

/// The whole table, made once.
pub(super) static ALL: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    // Words are ASCII here, which lets a search keep its speed in text that is not.
    let made = |(name, shape): &(&'static str, &str)| {
        Some(Shape { name, regex: Regex::new(&shape.replace(r"\b", r"(?-u:\b)")).ok()? })
    };
    SHAPES.iter().filter_map(made).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_a_regular_expression_with_a_name_that_makes_a_mark() {
        assert_eq!(ALL.len(), SHAPES.len());
        for shape in ALL.iter() {
            assert!(shape.name.chars().all(|c| c.is_ascii_alphanumeric() || c == ' '), "{}", shape.name);
        }
    }
}
