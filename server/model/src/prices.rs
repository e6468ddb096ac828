//! What tokens cost, in whole millionths of a dollar, and what is known of models by their id.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use task::port::Used;

/// Dollars per million tokens, as settings and the price table write them.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// As `input` where it is missing.
    pub cache_read: Option<f64>,
    /// As `input` where it is missing.
    pub cache_write: Option<f64>,
}

impl Price {
    /// Whether each part is a number that money can be.
    pub(crate) fn is_sound(&self) -> bool {
        let parts = [Some(self.input), Some(self.output), self.cache_read, self.cache_write];
        parts.into_iter().flatten().all(|part| (0.0..=1_000_000.0).contains(&part))
    }

    /// Microdollars, rounded up once at the end.
    pub fn of(&self, used: &Used) -> u64 {
        let (input, output) = (rate(self.input), rate(self.output));
        let read = self.cache_read.map_or(input, rate);
        let written = self.cache_write.map_or(input, rate);
        let parts =
            [(used.input, input), (used.cache_read, read), (used.cache_written, written), (used.output, output)];
        let sum = parts.iter().fold(0u128, |sum, (tokens, rate)| sum + u128::from(*tokens) * rate);
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// The most that so much input and output can cost, wherever the input comes from.
    pub(crate) fn worst(&self, input: u64, output: u64) -> u64 {
        let one = self.of(&Used { input, output, ..Used::default() });
        let two = self.of(&Used { cache_written: input, output, ..Used::default() });
        let three = self.of(&Used { cache_read: input, output, ..Used::default() });
        one.max(two).max(three)
    }
}

/// Microdollars per million tokens: exact for prices with six decimals.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`is_sound` has bounds")]
fn rate(dollars: f64) -> u128 {
    (dollars * 1_000_000.0).round() as u128
}

/// What the table says about a model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listed {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    pub(crate) window: u64,
    pub(crate) max_output: u64,
}

impl Listed {
    pub(crate) fn price(&self) -> Price {
        let Self { input, output, cache_read, cache_write, .. } = *self;
        Price { input, output, cache_read, cache_write }
    }
}

/// The price table, by vendor and model.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Table {
    pub(crate) as_of: String,
    #[serde(flatten)]
    vendors: BTreeMap<String, BTreeMap<String, Listed>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| toml::from_str(include_str!("../prices.toml")).unwrap_or_default());

/// What a vendor's list says of one of its models.
pub fn list_price(vendor: &str, model: &str) -> Option<Price> {
    table().vendor(vendor, model).map(Listed::price)
}

pub(crate) fn table() -> &'static Table {
    &TABLE
}

impl Table {
    pub(crate) fn vendor(&self, vendor: &str, id: &str) -> Option<&Listed> {
        let models = self.vendors.get(vendor)?;
        models.get(id).or_else(|| models.get(undated(id)?))
    }

    /// What a model can do is the same at whatever address it is asked.
    pub(crate) fn anywhere(&self, id: &str) -> Option<&Listed> {
        let bare = id.rsplit('/').next().unwrap_or(id);
        self.vendors.keys().find_map(|vendor| self.vendor(vendor, bare))
    }
}

/// The id without `-20250929`, `-2024-08-06` or `-latest`.
fn undated(id: &str) -> Option<&str> {
    if let Some(bare) = id.strip_suffix("-latest") {
        return Some(bare);
    }
    let bare = id.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let date: String = id[bare.len()..].chars().filter(char::is_ascii_digit).collect();
    // A version may stand before the date: `claude-sonnet-4-5-20250929`.
    let start = date.len().checked_sub(8)?;
    let mut digits = 0;
    let at = id.char_indices().rev().find(|(_, c)| {
        digits += usize::from(c.is_ascii_digit());
        digits == 8
    })?;
    let bare = id[..at.0].strip_suffix('-')?;
    let is_year = date[start..].starts_with("20");
    is_year.then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads_and_knows_both_vendors() {
        assert!(table().as_of.starts_with("20"));
        assert!(table().vendors["anthropic"].len() >= 8 && table().vendors["openai"].len() >= 12);
        for listed in table().vendors.values().flat_map(BTreeMap::values) {
            assert!(listed.price().is_sound());
            assert!(listed.max_output <= listed.window && listed.output > listed.input);
        }
    }

    #[test]
    fn a_date_behind_an_id_names_the_same_model() {
        for (id, bare) in [
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("gpt-4o-2024-08-06", Some("gpt-4o")),
            ("claude-3-7-sonnet-latest", Some("claude-3-7-sonnet")),
            ("gpt-4o", None),
            ("llama-3-12345678", None),
            ("20250929", None),
        ] {
            assert_eq!(undated(id), bare, "{id}");
        }
        let dated = table().vendor("openai", "gpt-4o-2024-05-13").unwrap();
        assert_eq!(dated.output, 15.0, "the exact id goes before");
        assert_eq!(table().vendor("openai", "claude-haiku-4-5"), None);
        assert_eq!(table().anywhere("anthropic/claude-haiku-4-5").unwrap().max_output, 64_000);
    }

    #[test]
    fn sums_are_rounded_up_once() {
        let price = Price { input: 0.075, output: 0.3, cache_read: Some(0.01), cache_write: None };
        assert_eq!(price.of(&Used { input: 1, ..Used::default() }), 1);
        // 0.075 + 0.3 + 0.01 + 0.075 microdollars.
        assert_eq!(price.of(&Used { input: 1, output: 1, cache_read: 1, cache_written: 1 }), 1);
        assert_eq!(price.of(&Used { input: 1_000_000, ..Used::default() }), 75_000);
        assert_eq!(price.of(&Used::default()), 0);
        assert_eq!(price.of(&Used { output: u64::MAX, ..Used::default() }), 5_534_023_222_112_865_485);
    }

    #[test]
    fn the_worst_case_takes_the_dearest_way_in() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: Some(3.75) };
        assert_eq!(price.worst(1000, 100), 3750 + 1500);
        let price = Price { input: 3.0, output: 15.0, cache_read: None, cache_write: Some(1.0) };
        assert_eq!(price.worst(1000, 100), 3000 + 1500);
    }
}
