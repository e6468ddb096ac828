//! The redactor: the one thing that stands between any text and a language model.
//!
//! It replaces secrets by what kind of secret was there, and the developer's home folder by `~`. The same text gives the
//! same result, so that what is sent twice is the same bytes. It errs on the side of hiding: a model that cannot see a
//! literal can still do its work, a key that was sent cannot be taken back.

use std::sync::LazyLock;

use regex::Regex;

/// Knows the secrets of this machine that have a value, besides the shapes that all secrets of a kind have.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Values that must never be sent, longest first.
    secrets: Vec<String>,
    home: Option<String>,
}

/// Shorter values are words that code is full of.
const SHORTEST: usize = 8;

/// Secrets by their shape. A capture named `keep` stays; the rest of the match goes.
static SHAPES: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let shapes: [(&str, &str); 12] = [
        ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)"),
        ("AWS key", r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[0-9A-Z]{16}\b"),
        ("GitHub token", r"\b(?:gh[pousr]_[0-9A-Za-z]{30,}|github_pat_[0-9A-Za-z_]{40,})"),
        ("GitLab token", r"\bglpat-[0-9A-Za-z_-]{18,}"),
        ("Slack token", r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}"),
        ("API key", r"\bsk-(?:ant-|proj-|svcacct-)?[0-9A-Za-z_-]{20,}"),
        ("Stripe key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
        ("Google key", r"\bAIza[0-9A-Za-z_-]{35}"),
        ("npm token", r"\bnpm_[0-9A-Za-z]{36}\b"),
        ("JSON web token", r"\beyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}"),
        ("password in a URL", r"(?P<keep>\b[a-z][a-z0-9+.-]*://[^\s:/@'\x22]*:)[^\s@/'\x22$<{]{4,}@"),
        (
            "bearer token",
            r"(?P<keep>(?i:authorization['\x22]?\s*[:=]\s*['\x22]?\s*(?:bearer|basic)\s+))[0-9A-Za-z._~+/=-]{16,}",
        ),
    ];
    shapes.into_iter().filter_map(|(name, shape)| Some((name, Regex::new(shape).ok()?))).collect()
});

impl Redactor {
    /// With the values of secrets that this process knows, and the home folder that is nobody's business.
    pub fn new(secrets: impl IntoIterator<Item = String>, home: Option<String>) -> Self {
        let mut secrets: Vec<String> = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST).collect();
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        let home = home.map(|home| home.trim_end_matches('/').to_owned()).filter(|home| home.len() > 1);
        Self { secrets, home }
    }

    /// The text without secrets.
    pub fn redact(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in &self.secrets {
            if out.contains(secret.as_str()) {
                out = out.replace(secret.as_str(), "[secret left out]");
            }
        }
        for (name, shape) in SHAPES.iter() {
            if shape.is_match(&out) {
                let replaced = shape.replace_all(&out, |found: &regex::Captures<'_>| {
                    let keep = found.name("keep").map_or("", |keep| keep.as_str());
                    let end = if found[0].ends_with('@') { "@" } else { "" };
                    format!("{keep}[{name} left out]{end}")
                });
                out = replaced.into_owned();
            }
        }
        if let Some(home) = &self.home {
            out = without_home(&out, home);
        }
        out
    }
}

/// `/home/me/app` becomes `~/app`; `/home/melissa` stays.
fn without_home(text: &str, home: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(home) {
        let after = &rest[at + home.len()..];
        let whole = !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        out.push_str(&rest[..at]);
        out.push_str(if whole { "~" } else { home });
        rest = after;
    }
    out.push_str(rest);
    out
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("secrets", &self.secrets.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_known_shape_are_left_out() {
        let redactor = Redactor::default();
        let cases = [
            ("AWS = AKIAIOSFODNN7EXAMPLE", "AWS = [AWS key left out]"),
            ("t = ghp_0123456789abcdefghijABCDEFGHIJ012345", "t = [GitHub token left out]"),
            ("postgres://app:hunter22@db/app", "postgres://app:[password in a URL left out]@db/app"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nx", "[private key left out]\nx"),
            ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [bearer token left out]"),
        ];
        for (text, clean) in cases {
            assert_eq!(redactor.redact(text), clean);
        }
        assert_eq!(SHAPES.len(), 12, "every shape is a regular expression");
    }

    #[test]
    fn code_that_only_looks_like_it_stays() {
        let redactor = Redactor::default();
        for text in [
            "let risk_level = sk - 3;",
            "http://localhost:8080/@scope",
            "eyJ is how they begin",
            "format!(\"{}://{}:{}@\", a, b, c)",
        ] {
            assert_eq!(redactor.redact(text), text);
        }
    }

    #[test]
    fn values_of_this_machine_and_its_home_are_left_out() {
        let redactor = Redactor::new(["s3cr3t-value".into(), "short".into()], Some("/home/me/".into()));
        assert_eq!(
            redactor.redact("short s3cr3t-value /home/me/app /home/melissa /home/me"),
            "short [secret left out] ~/app /home/melissa ~"
        );
    }

    #[test]
    fn redacting_twice_changes_nothing_more() {
        let redactor = Redactor::new(["s3cr3t-value".into()], Some("/home/me".into()));
        let once = redactor.redact("a s3cr3t-value in /home/me with sk-ant-0123456789abcdefghijkl");
        assert_eq!(redactor.redact(&once), once);
    }
}
