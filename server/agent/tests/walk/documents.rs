//! What stands in an editor and not on disk is part of the base.

use std::sync::{Arc, Mutex};

use agent::{Applied, Approval};
use task::port::{PublishError, Publisher};
use task::{PublicationEnd, PublishedFile};

use crate::home::{Desk, Home, tree_path};

const PATCH: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n typed\n-two\n+TWO\n";

/// Takes note of what it is asked to write.
#[derive(Default)]
struct Editor(Mutex<Vec<PublishedFile>>);

impl Publisher for Editor {
    fn publish(&self, files: &[PublishedFile], fence: &dyn Fn() -> bool) -> Result<PublicationEnd, PublishError> {
        assert!(fence());
        *self.0.lock().unwrap() = files.to_vec();
        Ok(PublicationEnd::Applied)
    }
}

#[test]
fn unsaved_text_is_what_a_change_is_made_of_and_written_over() {
    let mut home = Home::new("-- a.txt --\none\ntwo\n-- b.txt --\nb\n");
    let desk = Arc::new(Desk::default());
    desk.types("a.txt", "typed\ntwo\n");
    home.house.documents = desk.clone();
    let before = home.project.fingerprint();
    let id = home.walked(home.patch(PATCH));
    let mut walk = home.take(&id);
    let (base, tree) = (walk.state().base.clone().unwrap(), walk.state().tree.clone().unwrap());
    let file = |tree| agent::file_of(&*home.house.journal, &home.house.state, &id, tree, &tree_path("a.txt"));
    assert_eq!(file(&base).unwrap().unwrap(), b"typed\ntwo\n");
    assert_eq!(file(&tree).unwrap().unwrap(), b"typed\nTWO\n");
    support::assert_same(&before, &home.project.fingerprint());

    // Nothing moved: the editor is asked to put these bytes over those.
    let approval = Approval { tree: tree.clone(), unverified: true, consent: Vec::new() };
    let editor = Editor::default();
    assert_eq!(walk.apply(&approval, &editor).unwrap(), Applied::Ended(PublicationEnd::Applied));
    let asked = editor.0.lock().unwrap().remove(0);
    let blobs = walk.blobs();
    let bytes = |side: &Option<(String, task::Mode)>| blobs.read(&side.as_ref().unwrap().0).unwrap();
    assert_eq!((bytes(&asked.before), bytes(&asked.after)), (b"typed\ntwo\n".to_vec(), b"typed\nTWO\n".to_vec()));
    assert!(blobs.read("none").is_err() && blobs.read(&"0".repeat(40)).is_err());
}

#[test]
fn typing_since_the_snapshot_moves_the_files() {
    let mut home = Home::new("-- a.txt --\ntyped\ntwo\n-- b.txt --\nb\n");
    let desk = Arc::new(Desk::default());
    home.house.documents = desk.clone();
    let id = home.walked(home.patch(PATCH));
    let mut walk = home.take(&id);
    let tree = walk.state().tree.clone().unwrap();
    desk.types("b.txt", "b, unsaved\n");
    let approval = Approval { tree: tree.clone(), unverified: true, consent: Vec::new() };
    let moved = walk.apply(&approval, &home.publisher()).unwrap();
    assert!(matches!(moved, Applied::Moved { .. }), "{moved:?}");
    // The same text as on disk, in another form, is no other text.
    desk.types("a.txt", "\u{feff}typed\r\ntwo");
    assert_eq!(walk.apply(&approval, &home.publisher()).unwrap(), Applied::Ended(PublicationEnd::Applied));
}
