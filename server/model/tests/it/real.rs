//! A real model behind a real server, where there is one: `UNDERSTUDY_TEST_MODEL=http://127.0.0.1:8080/v1`. What it says
//! is not judged; that it is heard, counted and ended is.

use model::{ModelSettings, Panel, ProviderSettings, Settings, Wire};
use task::port::{Model, ModelCall, Said, Stop, ToolSpec};

use crate::home::*;

/// None, with the reason printed, where no such server is named.
fn panel() -> Option<Panel> {
    let Ok(url) = std::env::var("UNDERSTUDY_TEST_MODEL") else {
        eprintln!("skipped: UNDERSTUDY_TEST_MODEL names no server");
        return None;
    };
    let mut settings = Settings { common: Some("real".into()), ..Settings::default() };
    let provider = ProviderSettings { wire: Some(Wire::Openai), base_url: Some(url), ..ProviderSettings::default() };
    settings.providers.insert("here".into(), provider);
    let id = std::env::var("UNDERSTUDY_TEST_MODEL_ID").unwrap_or_else(|_| "model".into());
    let model = ModelSettings { provider: "here".into(), model: id, window: Some(2048), ..ModelSettings::default() };
    settings.models.insert("real".into(), model);
    Some(Panel::new(&settings).unwrap())
}

#[test]
fn a_real_model_is_heard_counted_and_cut_off() {
    let Some(panel) = panel() else { return };
    let listener = Listener::default();
    let mut book = Book::default();
    let mut asked = ModelCall { tools: Vec::new(), max_output: 24, ..call("Count from one to a hundred, in words.") };
    let reply = panel.call(&asked, &mut book, &listener).unwrap();
    assert_eq!(*listener.heard.borrow(), words(&reply));
    assert!(matches!(reply.stop, Stop::Length | Stop::End), "{reply:?}");
    let (spent, worst) = (reply.spent, &book.reserved[0]);
    assert!(spent.reported && spent.output > 0 && spent.output <= 24, "{spent:?}");
    let input = spent.input + spent.cache_read;
    assert!(input > 0 && input <= worst.input, "{spent:?} {worst:?}");
    // The second turn finds the first one in the server's cache.
    asked.messages.extend([kept(&reply), user(vec![text("Go on.")])]);
    let reply = panel.call(&asked, &mut book, &listener).unwrap();
    assert!(reply.spent.cache_read > 0, "{:?}", reply.spent);
    assert!(reply.spent.tokens() - reply.spent.output <= book.reserved[1].input);
    book.assert_settled();
}

#[test]
fn a_real_model_that_is_offered_tools_may_leave_them() {
    let Some(panel) = panel() else { return };
    let tool = |name: &str| ToolSpec { name: name.into(), ..call("").tools[0].clone() };
    let asked = ModelCall { tools: vec![tool("read"), tool("search")], max_output: 64, ..call("Read src/lib.rs.") };
    let (reply, _) = ask(&panel, &asked);
    let reply = reply.unwrap();
    assert!(reply.spent.reported);
    for said in &reply.blocks {
        match said {
            Said::Text(text) => assert!(!text.is_empty()),
            Said::ToolCall { id, name, .. } => assert!(!id.is_empty() && !name.is_empty()),
            Said::Thinking { .. } => {}
        }
    }
}
