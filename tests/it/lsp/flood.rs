//! Much at once: typing causes one recomputation, and thousands of requests with restarts in between leave memory and
//! processes as they were.

use std::fs;

use serde_json::json;
use support::{Client, Manner};

use super::{Room, lines, reviewed};

const FILE: &str = "src/lib.rs";

/// How often the editor was told something new about the open file.
fn told(desk: &mut support::Desk) -> usize {
    let published = desk.said("textDocument/publishDiagnostics");
    let published = published.iter().filter(|it| it["uri"].as_str().is_some_and(|uri| uri.ends_with(FILE)));
    published.count() + desk.said("workspace/codeLens/refresh").len()
}

#[test]
fn two_hundred_keystrokes_cause_one_recomputation() {
    let room = Room::data("desk");
    for client in [Client::helix as fn(&std::path::Path) -> Client, Client::kate] {
        let editor = room.editor(client);
        editor.open(FILE);
        let (id, _) = reviewed(&editor, json!("fix warnings"));
        editor.command("understudy.review.open", json!({ "task": id }));
        // Whatever was about to be said is said.
        editor.poll("the review is shown", |editor| {
            editor.look(|desk| told(desk) > 0 || !desk.messages().is_empty()).then_some(())
        });
        editor.wait_for_silence();
        let before = editor.look(told);
        for _ in 0..200 {
            editor.append(FILE, "/");
        }
        lines(&editor);
        editor.wait_for_silence();
        let after = editor.look(told);
        assert!(after <= before + 2, "{before} before, {after} after");
        editor.forget_typed();
        room.quit(editor);
    }
}

/// Kilobytes of memory that a process holds.
fn memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn thousands_of_requests_with_cancels_and_restarts_leave_nothing_behind() {
    let room = Room::data("desk");
    let before = room.fingerprint();
    let mut editor = room.editor(Client::kate);
    editor.open(FILE);
    let (id, _) = reviewed(&editor, json!("fix warnings"));
    let mut sizes = Vec::new();
    for round in 0..4 {
        for number in 0..400 {
            let asked = match number % 5 {
                0 => editor.send_command("understudy.task.list", json!({})),
                1 => editor.send_command("understudy.task.get", json!({ "task": id })),
                2 => editor.send(
                    "textDocument/codeLens",
                    json!({"textDocument": {"uri": format!("file://{}", editor.path(FILE).display())}}),
                ),
                3 => editor.send_command("understudy.check.receipt", json!({"task": id, "check": "nothing"})),
                _ => {
                    editor.append(FILE, "x");
                    editor.send_command("understudy.review.open", json!({ "task": id }))
                }
            };
            if (number * 7 + round) % 3 == 0 {
                editor.cancel(asked);
            }
        }
        editor.wait("everything is answered", |desk| desk.is_answered().then_some(()));
        sizes.push(memory(editor.process()));
        if round == 1 {
            editor.restart(&room.understudy);
        }
    }
    // Within one server: the first round warms up, the second must not need much more.
    for pair in [[0, 1], [2, 3]] {
        assert!(sizes[pair[1]] < sizes[pair[0]] * 3 / 2 + 8192, "{sizes:?} kB");
    }
    assert!(sizes.iter().all(|size| *size < 150 * 1024), "{sizes:?} kB");
    editor.set_manner(Manner::Honest);
    editor.forget_typed();
    super::assert_untouched(&before, &room);
    room.quit(editor);
}
