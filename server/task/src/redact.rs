//! The redactor: the one thing that stands between any text and a language model.
//!
//! It replaces secrets by what kind of secret was there, and the developer's home folder by `~`. The same text gives the
//! same result, so that what is sent twice is the same bytes. It errs on the side of hiding: a model that cannot see a
//! literal can still do its work, a key that was sent cannot be taken back.
//!
//! A text keeps its number of lines, so that a file can be redacted as a whole and a part of it shown under its own line
//! numbers. That is the only safe order: a part of a secret has no shape that could be known.

mod forms;
mod shapes;

use std::borrow::Cow;

use regex::Captures;

/// Knows the secrets of this machine that have a value, besides the shapes that all secrets of a kind have.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Values that must never be sent, longest first.
    secrets: Vec<String>,
    /// Folders that are written as `~`, longest first.
    homes: Vec<String>,
}

/// Shorter values are words that code is full of.
const SHORTEST: usize = 8;

impl Redactor {
    /// With the values of secrets that this process knows, and the home folder, under all its names, that is nobody's
    /// business.
    pub fn new(secrets: impl IntoIterator<Item = String>, homes: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST);
        let secrets = secrets.flat_map(|secret| forms::of(&secret)).filter(|form| form.len() >= SHORTEST);
        let homes = homes.into_iter().map(|home| home.trim_end_matches('/').to_owned()).filter(|home| home.len() > 1);
        Self {
            secrets: longest_first(secrets.collect()),
            homes: longest_first(homes.flat_map(|home| forms::of_path(&home)).collect()),
        }
    }

    /// The text without secrets, with as many lines as it had.
    pub fn redact(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in &self.secrets {
            if out.contains(secret.as_str()) {
                out = out.replace(secret.as_str(), &marks(secret, "secret"));
            }
        }
        for shape in shapes::ALL.iter() {
            let replaced = shape.regex.replace_all(&out, |found: &Captures<'_>| {
                let whole = &found[0];
                let part = |name: &str| found.name(name).map(|part| part.as_str());
                if part("mixed").is_some_and(|part| !is_mixed(part))
                    || part("dense").is_some_and(|part| !is_dense(part))
                {
                    return whole.to_owned();
                }
                let keep = part("keep").unwrap_or_default();
                let end = if whole.ends_with('@') { "@" } else { "" };
                format!("{keep}{}{end}", marks(&whole[keep.len()..], shape.name))
            });
            if let Cow::Owned(replaced) = replaced {
                out = replaced;
            }
        }
        for home in &self.homes {
            if out.contains(home.as_str()) {
                out = without_home(&out, home);
            }
        }
        out
    }
}

fn longest_first(mut all: Vec<String>) -> Vec<String> {
    all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    all.dedup();
    all
}

/// What stands where a secret stood: one mark on each of its lines.
fn marks(gone: &str, name: &str) -> String {
    let mark = |line: &str| {
        let text = line.trim_end_matches(['\r', '\n']);
        let mark = if text.trim().is_empty() { text.to_owned() } else { format!("[{name} left out]") };
        mark + &line[text.len()..]
    };
    gone.split_inclusive('\n').map(mark).collect()
}

fn is_mixed(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_ascii_alphabetic())
}

fn is_dense(text: &str) -> bool {
    let has = |is: fn(&char) -> bool| text.chars().any(|c| is(&c));
    has(char::is_ascii_digit) && has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase)
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
    use proptest::prelude::*;

    #[test]
    fn secrets_of_a_known_shape_are_left_out() {
        let redactor = Redactor::default();
        let cases = [
            ("AWS = AKIAIOSFODNN7EXAMPLE", "AWS = [AWS key left out]"),
            ("t = ghp_0123456789abcdefghijABCDEFGHIJ012345", "t = [GitHub token left out]"),
            ("postgres://app:hunter22@db/app", "postgres://app:[password in a URL left out]@db/app"),
            ("postgres://app:pa$$w0rdX@db/app", "postgres://app:[password in a URL left out]@db/app"),
            ("postgres://app:pa/ss0rdX@db/app", "postgres://app:[password in a URL left out]@db/app"),
            ("amqp://u:it's-secretX@h", "amqp://u:[password in a URL left out]@h"),
            ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [bearer token left out]"),
            ("\"Authorization\", \"Bearer 0123456789abcdef\"", "\"Authorization\", \"Bearer [bearer token left out]\""),
            ("Authorization: Token 0123456789abcdef", "Authorization: Token [bearer token left out]"),
            ("X-Api-Key: 0123456789abcdef0123", "X-Api-Key: [API key left out]"),
            (
                "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                "aws_secret_access_key=[AWS secret left out]",
            ),
            ("secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'", "secretAccessKey: '[AWS secret left out]'"),
        ];
        for (text, clean) in cases {
            assert_eq!(redactor.redact(text), clean);
        }
        let letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let hexadecimal = "0123456789abcdef".repeat(4);
        for token in [
            format!("AGE-SECRET-KEY-1{}", "Q".repeat(58)),
            format!("hf_{}", &letters[..34]),
            format!("gsk_{}", &letters[..52]),
            format!("xai-{letters}"),
            format!("SG.{}.{}", &letters[..22], &letters[..43]),
            format!("pypi-AgEIcHlwaS5vcmc{}", &letters[..40]),
            format!("shpat_{}", &hexadecimal[..32]),
            format!("dop_v1_{hexadecimal}"),
            "xapp-1-A012345-0123456789-abcdef0123456789".to_owned(),
            format!("whsec_{}", &letters[..32]),
            format!("123456789:AAF{}", &letters[..32]),
            format!("AccountKey={}{}==", letters, &letters[..24]),
        ] {
            let clean = redactor.redact(&format!("x = \"{token}\";"));
            assert!(clean.starts_with("x = \"") && clean.ends_with(" left out]\";"), "{clean}");
            assert!(clean.len() < 50, "{clean}");
        }
    }

    #[test]
    fn keys_over_several_lines_leave_as_many_lines() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n".repeat(4);
        let redactor = Redactor::default();
        for (kind, marks) in [
            ("k = `-----BEGIN RSA PRIVATE KEY-----\n\nMII\n-----END RSA PRIVATE KEY-----`\nx".to_owned(), 3),
            (
                format!(
                    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{body}=ab\n-----END PGP PRIVATE KEY BLOCK-----\nx"
                ),
                8,
            ),
            (
                format!(
                    "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{body}---- END SSH2 ENCRYPTED PRIVATE KEY ----\nx"
                ),
                6,
            ),
            (format!("-----BEGIN PRIVATE KEY-----\n{body}"), 5),
            (format!("{body}x"), 4),
            // What stands around a change in a diff.
            (format!(" {}\n MII=\n -----END PRIVATE KEY-----\n-let a;\nx", &body[..64]), 3),
            (format!(" let a;\n+-----BEGIN PRIVATE KEY-----\n+{}\n+{0}\nx", &body[..64]), 3),
            (format!("a\n{}x", body.replace("MII", "  \"MII").replace('\n', "\\n\" +\r\n")), 4),
            ("Private-Lines: 2\r\nAAAAMIIEAAAA\r\nMII=\r\nx y\nx".to_owned(), 3),
        ] {
            let clean = redactor.redact(&kind);
            assert_eq!(clean.lines().count(), kind.lines().count(), "{clean}");
            assert!(!clean.contains("MII") && clean.matches(" left out]").count() == marks, "{clean}");
            assert!(kind.ends_with('\n') || clean.ends_with("\nx"), "{clean}");
        }
    }

    #[test]
    fn code_that_only_looks_like_it_stays() {
        let redactor = Redactor::default();
        for text in [
            "let risk_level = sk - 3;",
            "http://localhost:8080/@scope",
            "eyJ is how they begin",
            "format!(\"{}://{}:{}@\", a, b, c)",
            "postgres://$USER:$PASSWORD@$HOST/db and `https://${user}:${pass}@host`",
            "if text.contains(\"-----BEGIN PRIVATE KEY-----\") {\n    return Kind::Key;\n}\n",
            "headers: { 'X-Api-Key': process.env.SERVICE_API_KEY, 'api-key': theKeyThatWasConfigured }",
            &"/".repeat(64).lines().cycle().take(4).collect::<Vec<_>>().join("\n"),
            &format!("{0}\n{0}\n{0}\n", "0123456789abcdef".repeat(4)),
            "the bearer authenticationOfThisService is",
        ] {
            assert_eq!(redactor.redact(text), text);
        }
    }

    #[test]
    fn values_of_this_machine_and_its_home_are_left_out() {
        let homes = ["/home/me/".to_owned(), "/data/me".to_owned()];
        let redactor = Redactor::new(["s3cr3t-value".into(), "short".into()], homes);
        assert_eq!(
            redactor.redact(
                "short s3cr3t-value /home/me/app /home/melissa /home/me /data/me/x %2Fhome%2Fme%2Fx \\/data\\/me"
            ),
            "short [secret left out] ~/app /home/melissa ~ ~/x ~%2Fx ~"
        );
        for encoded in ["czNjcjN0LXZhbHVl", "eHhzM2NyM3QtdmFsdWU=", "7333637233742d76616c7565"] {
            assert!(redactor.redact(encoded).contains("[secret left out]"), "{encoded}");
        }
    }

    #[test]
    fn redacting_twice_changes_nothing_more() {
        let redactor = Redactor::new(["s3cr3t-value".into()], Some("/home/me".into()));
        let text = "a s3cr3t-value in /home/me with sk-ant-0123456789abcdefghijkl and X-Api-Key: 0123456789abcdef0123";
        let once = redactor.redact(text);
        assert_eq!(redactor.redact(&once), once);
    }

    /// A secret as it stands in a file; what of it must never be seen again.
    fn secret() -> impl Strategy<Value = (String, String)> {
        let line = "[0-9A-Za-z+/]{30}0aZ[0-9A-Za-z+/]{31}";
        prop_oneof![
            (prop::collection::vec(line, 2..30), "[0-9A-Za-z+/]{8,40}==", any::<bool>()).prop_map(
                |(lines, last, crlf)| {
                    let body = format!("{}\n{last}", lines.join("\n"));
                    let whole = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----");
                    (if crlf { whole.replace('\n', "\r\n") } else { whole }, body)
                }
            ),
            "sk-proj-[0-9A-Za-z_-]{20,60}".prop_map(|key| (key.clone(), key)),
            "ghp_[0-9A-Za-z]{36}".prop_map(|key| (key.clone(), key)),
            Just(("s3cr3t-value".to_owned(), "s3cr3t-value".to_owned())),
        ]
    }

    proptest! {
        #[test]
        fn whatever_is_cut_out_of_a_redacted_text_holds_no_part_of_a_secret(
            before in "([ -~]{0,30}\n){0,6}[ \\(\"']", after in "[ \\)\"';]\n([ -~]{0,30}\n){0,6}",
            (whole, secret) in secret(), from in any::<prop::sample::Index>(), length in 0..300_usize,
        ) {
            let text = format!("{before}{whole}{after}");
            let clean = Redactor::new(["s3cr3t-value".to_owned()], None).redact(&text);
            prop_assert_eq!(clean.matches('\n').count(), text.matches('\n').count());
            let shown: Vec<char> = clean.chars().skip(from.index(clean.len())).take(length).collect();
            let shown: String = shown.into_iter().collect();
            for line in secret.lines() {
                for at in 0..line.len().saturating_sub(7) {
                    prop_assert!(!shown.contains(&line[at..at + 8]) || before.contains(&line[at..at + 8]) || after.contains(&line[at..at + 8]), "{}", clean);
                }
            }
        }

        #[test]
        fn any_text_keeps_its_lines_and_a_redacted_one_stays(text in "([ -~]{0,40}[\r]?\n|-----BEGIN PRIVATE KEY-----|\n[0-9A-Za-z+/]{64}|s3cr3t-value){0,20}") {
            let redactor = Redactor::new(["s3cr3t-value".to_owned()], None);
            let clean = redactor.redact(&text);
            prop_assert_eq!(clean.matches('\n').count(), text.matches('\n').count());
            prop_assert_eq!(redactor.redact(&clean), clean);
        }
    }
}
