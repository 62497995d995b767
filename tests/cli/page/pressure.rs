//! A page that takes nothing holds nothing up.

use serde_json::json;

use super::Running;

#[test]
fn a_page_that_never_acknowledges_gets_one_batch() {
    let running = Running::demo("stand");
    let (mut slow, mut quick) = (running.page(), running.page());
    slow.acknowledges = false;
    let number = slow.done(0, "watch", json!({ "path": "pd.tau" }))["signal"].as_u64().unwrap();
    quick.done(0, "watch", json!({ "path": "pd.tau" }));
    quick.line("until 2.5 s");
    quick.until(|page| (page.samples(0, number).0.len() == 2500).then_some(()));
    // The answer comes behind all that was sent before.
    slow.done(0, "choices", json!({}));
    assert!(slow.frames.len() <= 2, "{}", slow.frames.len());
    assert!(quick.frames.len() > slow.frames.len(), "{}", quick.frames.len());
    // What came meanwhile comes at once, whole.
    let last = slow.frames.last().map_or(0, |frame| super::word(frame, 1));
    slow.acknowledges = true;
    slow.say(&json!({ "ack": last }));
    slow.until(|page| (page.samples(0, number).0.len() == 2500).then_some(()));
    assert_eq!(slow.samples(0, number), quick.samples(0, number));
}

#[test]
fn a_page_that_never_reads_stops_no_run_and_fills_no_memory() {
    let running = Running::demo("stand");
    let mut deaf = running.page();
    for i in 0..3 {
        let message = json!({ "id": i, "do": "watch", "path": "body.state" });
        deaf.say(&message);
    }
    let mut quick = running.page();
    assert!(quick.line("until 2 s").starts_with("t=2 s"));
    // States are left out, and one batch of frames is under way: nothing has been given up.
    assert!(quick.line("until 2.5 s").starts_with("t=2.5 s"));
    deaf.done(0, "choices", json!({}));
    let states = deaf.told.iter().filter(|told| told.get("state").is_some()).count();
    assert!(deaf.frames.len() <= 2, "{}", deaf.frames.len());
    assert!(states < 200, "{states}");
}

#[test]
fn a_page_that_asks_and_never_reads_is_given_up() {
    let running = Running::demo("stand");
    let mut flood = running.page();
    let mut quick = running.page();
    let mut refused = false;
    for i in 0..200_000u64 {
        let text = json!({ "id": i, "do": "draw" }).to_string();
        if flood.socket.send(tungstenite::Message::text(text)).is_err() {
            refused = true;
            break;
        }
    }
    assert!(refused, "the page may ask for ever");
    assert!(quick.line("step 1").starts_with("t=0.001 s"));
}
