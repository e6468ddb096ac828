//! Where a provider is: its address, whether it may be spoken to in the clear, and its key.

use std::net::IpAddr;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use task::Redactor;

use crate::error::SettingsError;
use crate::known;
use crate::settings::{Key, ProviderSettings, Wire};

/// A provider that can be asked.
#[derive(Debug)]
pub(crate) struct Place {
    /// As settings name it.
    pub(crate) name: String,
    pub(crate) wire: Wire,
    pub(crate) host: String,
    /// Whose list prices hold there.
    pub(crate) prices: Option<String>,
    pub(crate) key_env: Option<String>,
    url: Url,
    key: Option<Key>,
    redactor: Redactor,
}

/// Words of a provider that an error repeats at most.
const MOST_WORDS: usize = 300;

impl Place {
    pub(crate) fn new(name: &str, settings: &ProviderSettings) -> Result<Self, SettingsError> {
        let built_in = known::provider(name);
        let base = settings.base_url.as_deref().or(built_in.map(|known| known.base_url));
        let base = base.ok_or_else(|| SettingsError::NoAddress { provider: name.to_owned() })?;
        let bad = |why: &'static str| SettingsError::Address { provider: name.to_owned(), why };
        let mut url = Url::parse(base).map_err(|_| bad("it is no URL"))?;
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(bad("it holds a name, a password or a query; keys belong into the keyring"));
        }
        let host = url.host_str().ok_or_else(|| bad("it names no host"))?.to_owned();
        let is_near = is_near(&host);
        match url.scheme() {
            "https" => {}
            "http" if is_near => {}
            "http" => return Err(bad("outside of private networks it must begin with https://")),
            _ => return Err(bad("it must begin with https:// or http://")),
        }
        let wire = settings.wire.or(built_in.map(|known| known.wire)).unwrap_or_default();
        let path = url.path().trim_end_matches('/').to_owned();
        // What other programs take for a base URL has the version in it on one wire, and has it not on the other.
        let versioned = match wire {
            Wire::Anthropic => path.ends_with("/v1"),
            Wire::Openai => !path.is_empty(),
        };
        url.set_path(&if versioned { path } else { format!("{path}/v1") });
        let key_env = settings.key_env.clone().or(built_in.and_then(|known| known.key_env.map(str::to_owned)));
        let key = settings.key.clone();
        if key.is_none() && !is_near {
            let provider = name.to_owned();
            return Err(match key_env {
                Some(key_env) => SettingsError::NoKey { provider, key_env },
                None => SettingsError::NoKeyName { provider },
            });
        }
        let prices = settings.prices.clone().or(known::vendor(&host).map(str::to_owned));
        let redactor = Redactor::new(key.iter().map(|key| key.reveal().to_owned()), None);
        Ok(Self { name: name.to_owned(), wire, host, prices, key_env, url, key, redactor })
    }

    /// `messages` becomes `https://host/v1/messages`.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{path}", self.url.path()));
        url
    }

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The headers that say who asks.
    pub(crate) fn headers(&self) -> Result<HeaderMap, SettingsError> {
        let mut headers = HeaderMap::new();
        if self.wire == Wire::Anthropic {
            headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
        }
        let Some(key) = &self.key else { return Ok(headers) };
        let (name, text) = match self.wire {
            Wire::Anthropic => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
            Wire::Openai => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
        };
        let odd = || SettingsError::OddKey { provider: self.name.clone() };
        // A header would carry other bytes too, and a provider only say that the key is wrong.
        if !key.reveal().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(odd());
        }
        let mut value = HeaderValue::from_str(&text).map_err(|_| odd())?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(headers)
    }

    /// `anthropic (api.anthropic.com)`.
    pub(crate) fn shown(&self) -> String {
        format!("{} ({})", self.name, self.host)
    }

    /// What a provider said, fit to be repeated: servers echo keys, and error pages are long.
    pub(crate) fn clean(&self, words: &str) -> String {
        let mut words = task::printable(&self.redactor.redact(words)).split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(key) = self.key.as_ref().map(Key::reveal).filter(|key| !key.is_empty()) {
            // The redactor leaves short values alone; as a key even a short one stays here.
            words = words.replace(key, "[key left out]");
        }
        if words.len() > MOST_WORDS {
            words.truncate(words.floor_char_boundary(MOST_WORDS));
            words.push('…');
        }
        words
    }
}

/// This machine, or one that no name server of the world knows.
fn is_near(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => {
            let ends = [".local", ".localhost", ".lan", ".internal", ".home.arpa"];
            !host.contains('.') || ends.iter().any(|end| host.ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(wire: Wire, base: &str, key: Option<&str>) -> Result<Place, SettingsError> {
        let (wire, base_url) = (Some(wire), Some(base.to_owned()));
        Place::new("mine", &ProviderSettings { wire, base_url, key: key.map(Key::new), ..Default::default() })
    }

    #[test]
    fn base_urls_are_taken_with_and_without_their_version() {
        for (wire, base, whole) in [
            (Wire::Anthropic, "https://a.example.org", "https://a.example.org/v1/x"),
            (Wire::Anthropic, "https://a.example.org/v1/", "https://a.example.org/v1/x"),
            (Wire::Anthropic, "https://a.example.org/anthropic", "https://a.example.org/anthropic/v1/x"),
            (Wire::Openai, "https://a.example.org", "https://a.example.org/v1/x"),
            (Wire::Openai, "https://a.example.org/api/v3/", "https://a.example.org/api/v3/x"),
        ] {
            assert_eq!(place(wire, base, Some("key")).unwrap().url("x").as_str(), whole);
        }
    }

    #[test]
    fn keys_and_code_travel_in_the_clear_only_nearby() {
        for near in ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost", "http://box", "http://10.1.2.3/v1"] {
            assert!(place(Wire::Openai, near, None).is_ok(), "{near}");
        }
        for far in ["http://api.openai.com/v1", "http://8.8.8.8", "ftp://localhost", "https://u:p@box", "nothing"] {
            let error = place(Wire::Openai, far, Some("key")).unwrap_err();
            assert!(matches!(error, SettingsError::Address { .. }), "{far}: {error}");
        }
        let error = place(Wire::Openai, "https://api.example.org", None).unwrap_err();
        assert!(matches!(error, SettingsError::NoKeyName { .. }), "{error}");
    }

    #[test]
    fn words_of_a_provider_come_without_the_key() {
        let place = place(Wire::Openai, "http://box", Some("abc")).unwrap();
        assert_eq!(place.clean("no\n key abc\u{1b} here"), "no key [key left out]\\u{1b} here");
        assert_eq!(place.clean(&"é".repeat(500)).chars().count(), 151);
        assert!(!format!("{place:?}{:?}", place.headers()).contains("abc"));
    }
}
