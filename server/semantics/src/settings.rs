//! How the compiler is asked to write code and what it is asked to report, declared once.

use ra_ap_hir::PrefixKind;
use ra_ap_ide::AssistConfig;
use ra_ap_ide_db::assists::ExprFillDefaultMode;
use ra_ap_ide_db::imports::insert_use::{ImportGranularity, InsertUseConfig};
use ra_ap_ide_diagnostics::DiagnosticsConfig;

fn imports() -> InsertUseConfig {
    InsertUseConfig {
        granularity: ImportGranularity::Crate,
        enforce_granularity: false,
        prefix_kind: PrefixKind::Plain,
        group: true,
        skip_glob_imports: true,
    }
}

/// Everything is reported, experimental diagnostics included: the comparison with the base takes away what is wrong
/// only in the analysis.
pub fn diagnostics() -> DiagnosticsConfig {
    DiagnosticsConfig {
        enabled: true,
        proc_macros_enabled: true,
        proc_attr_macros_enabled: true,
        disable_experimental: false,
        disabled: Default::default(),
        expr_fill_default: ExprFillDefaultMode::Default,
        style_lints: false,
        snippet_cap: None,
        insert_use: imports(),
        prefer_no_std: false,
        prefer_prelude: true,
        prefer_absolute: false,
        term_search_fuel: 400,
        show_rename_conflicts: false,
    }
}

/// No snippets: nobody stands at a cursor to fill them in.
pub fn assists() -> AssistConfig {
    AssistConfig {
        snippet_cap: None,
        allowed: None,
        insert_use: imports(),
        prefer_no_std: false,
        prefer_prelude: true,
        prefer_absolute: false,
        assist_emit_must_use: false,
        term_search_fuel: 400,
        code_action_grouping: false,
        expr_fill_default: ExprFillDefaultMode::Default,
        prefer_self_ty: false,
        show_rename_conflicts: false,
    }
}
