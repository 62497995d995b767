//! Who comes from elsewhere, or knows no token, gets nothing.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Instant;

use legwork_page::ServerOptions;
use legwork_page::limits::{HEAD, HEAD_TIME, MESSAGE};
use serde_json::json;
use tungstenite::Message;

use super::{Page, Running, library};
/// The headers by which a page asks for its socket.
fn upgrade<'h>(host: &'h str, origin: &'h str) -> Vec<(&'h str, &'h str)> {
    vec![
        ("Host", host),
        ("Origin", origin),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]
}

/// The status of a request for the socket.
fn socket_status(running: &Running, token: &str, host: &str, origin: &str) -> u16 {
    let line = format!("GET /socket?token={token} HTTP/1.1\r\n");
    let headers: String =
        upgrade(host, origin).iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let mut stream = TcpStream::connect(running.host()).unwrap();
    stream.write_all(format!("{line}{headers}\r\n").as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[9..]).parse().unwrap()
}

#[test]
fn a_socket_opens_for_its_own_page_alone() {
    let running = Running::demo("stand");
    let (host, token) = (running.host(), running.token());
    let origin = format!("http://{host}");
    let port = host.rsplit(':').next().unwrap();
    let by_name = format!("localhost:{port}");
    assert_eq!(socket_status(&running, token, host, &origin), 101);
    assert_eq!(socket_status(&running, token, &by_name, &format!("http://{by_name}")), 101);
    let evil = format!("http://evil.example:{port}");
    let wrong = "0".repeat(token.len());
    let https = format!("https://{host}");
    for (what, token, host, origin) in [
        ("foreign origin", token, host, "http://evil.example"),
        ("foreign origin with our port", token, host, evil.as_str()),
        ("no origin of a page", token, host, "null"),
        ("another scheme", token, host, https.as_str()),
        ("origin of our other name", token, by_name.as_str(), origin.as_str()),
        ("rebound host", token, &evil[7..], evil.as_str()),
        ("host without port", token, "127.0.0.1", "http://127.0.0.1"),
        ("wrong token", wrong.as_str(), host, origin.as_str()),
        ("beginning of the token", &token[..8], host, origin.as_str()),
        ("no token", "", host, origin.as_str()),
    ] {
        assert_eq!(socket_status(&running, token, host, origin), 403, "{what}");
    }
    let line = format!("GET /socket?token={token}");
    assert_eq!(running.status(&line, &[("Host", host)]), 403, "no origin");
    let plain = [("Host", host), ("Origin", &origin)];
    assert_eq!(running.status(&line, &plain), 400, "no upgrade");
}

#[test]
fn files_are_given_for_the_token_alone() {
    let running = Running::demo("stand");
    let (host, token) = (running.host(), running.token());
    let get = |target: &str| running.status(&format!("GET {target}"), &[("Host", host)]);
    let (with, cookie) = (format!("/?token={token}"), format!("legwork-{}={token}", port(host)));
    assert_eq!(get(&with), 200);
    assert_eq!(running.status("GET /", &[("Host", host), ("Cookie", &cookie)]), 200);
    assert_eq!(get("/"), 403);
    assert_eq!(get("/?token="), 403);
    assert_eq!(running.status("GET /", &[("Host", host), ("Cookie", "legwork-1=0")]), 403);
    assert_eq!(running.status("GET /", &[("Host", "evil.example"), ("Cookie", &cookie)]), 403);
    assert_eq!(running.status("GET /", &[("Cookie", &cookie)]), 403, "no host");
    let twice = [("Host", host), ("Host", "evil.example"), ("Cookie", &cookie)];
    assert_eq!(running.status("GET /", &twice), 403, "two hosts");
    for method in ["POST", "PUT", "HEAD", "OPTIONS", "BREW"] {
        assert_eq!(running.status(&format!("{method} {with}"), &[("Host", host)]), 405, "{method}");
    }
    let answer = running.raw(&format!("GET {with} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let head = answer.split("\r\n\r\n").next().unwrap();
    for header in ["default-src 'self'", "frame-ancestors 'none'", "HttpOnly; SameSite=Strict"] {
        assert!(head.contains(header), "{head}");
    }
    assert!(!head.contains("Access-Control"), "{head}");
}

#[test]
fn a_server_on_all_addresses_goes_by_no_foreign_name() {
    let options =
        ServerOptions { host: Some(Ipv4Addr::UNSPECIFIED.into()), ..ServerOptions::default() };
    let running = Running::at(&library().open("demo:stand").unwrap(), None, &options);
    let (host, token) = (running.host(), running.token());
    let port = port(host);
    assert_eq!(host, format!("127.0.0.1:{port}"));
    let line = format!("GET /?token={token}");
    for (name, status) in [
        ("192.0.2.7", 200),
        ("[2001:db8::7]", 200),
        ("localhost", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("0x7f.1", 403),
    ] {
        assert_eq!(running.status(&line, &[("Host", &format!("{name}:{port}"))]), status, "{name}");
    }
    assert_eq!(running.status(&line, &[("Host", "192.0.2.7:1")]), 403, "another port");
}

fn port(host: &str) -> &str {
    host.rsplit(':').next().unwrap()
}

#[test]
fn no_path_leads_out_of_the_page() {
    let running = Running::demo("stand");
    let (host, token) = (running.host(), running.token());
    for path in [
        "/../Cargo.toml",
        "/assets/../../server.rs",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/server.rs",
        "//etc/passwd",
        "/etc/passwd",
        "/assets/",
        "/.",
        "/index.html/..",
        "/index.html%00.js",
        "\\..\\server.rs",
        "file:///etc/passwd",
        "http://evil.example/",
    ] {
        let line = format!("GET {path}?token={token}");
        let status = running.status(&line, &[("Host", host)]);
        assert!([400, 404].contains(&status), "{path}: {status}");
    }
}

#[test]
fn a_head_is_bounded_in_size_and_time() {
    let running = Running::demo("stand");
    let host = running.host();
    let long = "a".repeat(HEAD);
    assert_eq!(running.status("GET /", &[("Host", host), ("X", &long)]), 431);
    let many: Vec<(&str, &str)> = vec![("X", "y"); 100];
    assert_eq!(running.status("GET /", &many), 431);
    assert_eq!(running.status("\u{1}\u{2}", &[]), 400);
    // One byte now and then does not keep a place.
    let mut stream = TcpStream::connect(host).unwrap();
    let begin = Instant::now();
    let mut closed = false;
    while begin.elapsed() < 4 * HEAD_TIME && !closed {
        stream.set_read_timeout(Some(HEAD_TIME / 20)).unwrap();
        let written = stream.write_all(b"G");
        closed = written.is_err() || matches!(stream.read(&mut [0; 8]), Ok(0));
    }
    assert!(closed && begin.elapsed() >= HEAD_TIME / 2, "{:?}", begin.elapsed());
}

#[test]
fn connections_are_bounded() {
    let running = Running::demo("stand");
    let (host, token) = (running.host(), running.token());
    let line = format!("GET /?token={token}");
    let idle: Vec<TcpStream> = (0..16).map(|_| TcpStream::connect(host).unwrap()).collect();
    let begin = Instant::now();
    let mut status = 0;
    while status != 503 && begin.elapsed() < HEAD_TIME {
        status = running.status(&line, &[("Host", host)]);
    }
    assert_eq!(status, 503);
    drop(idle);
    while status != 200 && begin.elapsed() < 10 * HEAD_TIME {
        status = running.status(&line, &[("Host", host)]);
    }
    assert_eq!(status, 200, "places come free");
}

/// Whether the server has ended the connection.
fn is_ended(page: &mut Page) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < super::PATIENCE {
        match page.socket.read() {
            Ok(Message::Close(_)) | Err(_) => return true,
            Ok(_) => {}
        }
    }
    false
}

#[test]
fn messages_are_bounded_also_in_pieces() {
    use tungstenite::protocol::frame::Frame;
    use tungstenite::protocol::frame::coding::{Data, OpCode};

    let running = Running::demo("stand");
    let mut page = running.page();
    // What is not written any more has been refused.
    let _ = page.socket.send(Message::text(" ".repeat(MESSAGE + 1)));
    assert!(is_ended(&mut page));
    let mut page = running.page();
    let piece = vec![b' '; 64 << 10];
    for i in 0..=MESSAGE / piece.len() {
        let kind = OpCode::Data(if i == 0 { Data::Text } else { Data::Continue });
        let frame = Frame::message(piece.clone(), kind, false);
        if page.socket.send(Message::Frame(frame)).is_err() {
            break;
        }
    }
    assert!(is_ended(&mut page));
    let mut page = running.page();
    page.socket.send(Message::binary(vec![1, 2, 3])).unwrap();
    assert!(is_ended(&mut page));
    // A message in pieces of usual size is whole.
    let mut page = running.page();
    let text = json!({ "id": 5, "do": "choices" }).to_string();
    let (a, b) = text.split_at(7);
    let pieces = [(Data::Text, a, false), (Data::Continue, b, true)];
    for (kind, part, last) in pieces {
        let frame = Frame::message(part.as_bytes().to_vec(), OpCode::Data(kind), last);
        page.socket.send(Message::Frame(frame)).unwrap();
    }
    let reply = loop {
        if let Some(reply) = page.read() {
            break reply;
        }
    };
    assert_eq!((&reply["reply"], reply["ok"].is_object()), (&json!(5), true));
}

#[test]
fn what_makes_no_sense_is_answered_and_does_no_harm() {
    let running = Running::demo("stand");
    let mut page = running.page();
    for text in [
        "",
        "{",
        "[]",
        "null",
        "{\"ack\": -1}",
        "{\"ack\": 4294967296}",
        "{\"id\": 1.5, \"do\": \"run\"}",
        "{\"id\": 1, \"source\": -1, \"do\": \"run\"}",
        "{\"id\": 1, \"source\": 18446744073709551615, \"do\": \"run\"}",
        "{\"id\": 1}",
        "{\"id\": 1, \"do\": \"seek\", \"t\": 1e999}",
        "{\"id\": 1, \"do\": \"line\", \"text\": \"step 18446744073709551616\"}",
        "{\"id\": 1, \"do\": \"draw\", \"open\": 3}",
    ] {
        page.socket.send(Message::text(text)).unwrap();
        let reply = loop {
            if let Some(reply) = page.read() {
                break reply;
            }
        };
        assert!(reply["error"]["message"].is_string(), "{text}: {reply}");
    }
    let deep = "[".repeat(100_000);
    page.socket.send(Message::text(deep)).unwrap();
    assert!(page.line("step 2").starts_with("t=0.002 s"));
}
