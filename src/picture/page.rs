//! A page of HTML that needs no network and no other file, and whose texts are all escaped.

use std::fmt::Write as _;

use crate::text::xml;

const STYLE: &str = "\
body{font:15px/1.45 Helvetica,Arial,'DejaVu Sans',sans-serif;color:#1b2430;background:#fff;\
max-width:1080px;margin:24px auto;padding:0 16px}\
h1{font-size:24px;margin:0 0 4px}\
h2{font-size:18px;margin:28px 0 8px;border-bottom:1px solid #e3e8ee}\
p{margin:6px 0}table{border-collapse:collapse;margin:6px 0}\
td,th{padding:3px 14px 3px 0;text-align:left;vertical-align:top;border-bottom:1px solid #eef2f6}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
.pass{color:#00734d;font-weight:bold}.fail{color:#b00020;font-weight:bold}.open{color:#5b6673}\
.doc,.note{color:#5b6673}.doc{white-space:pre-line}.scroll{overflow-x:auto}\
pre{background:#f7f9fb;padding:10px;overflow-x:auto;font-size:13px}svg{max-width:none}";

/// A page in the making. Text is escaped; `html` is what the functions of this module and drawings
/// give.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    body: String,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number, to the right.
    Number(String),
    /// Text of a class: `pass`, `fail` or `open`.
    Marked(&'static str, String),
}

impl Page {
    /// A page under a title.
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), body: String::new() }
    }

    /// A section; `html` is written as it is.
    pub fn section(&mut self, heading: &str, html: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.body, "<h2>{}</h2>\n{html}\n", xml(heading));
    }

    /// Text without a heading, as under the title.
    pub fn lead(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"doc\">{}</p>", xml(text));
    }

    /// What the reader should know of the page.
    pub fn note(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"note\">{}</p>", xml(text));
    }

    /// The whole page.
    pub fn html(&self) -> String {
        let title = xml(&self.title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{}</body>\n</html>\n",
            self.body
        )
    }
}

/// A table; without a header if that is empty.
pub fn table(header: &[&str], rows: &[Vec<Cell>]) -> String {
    let mut out = String::from("<table>\n");
    if !header.is_empty() {
        let numeric = |i: usize| matches!(rows.first().map(|row| &row[i]), Some(Cell::Number(_)));
        out.push_str("<tr>");
        for (i, name) in header.iter().enumerate() {
            let class = if numeric(i) { " class=\"n\"" } else { "" };
            let _ = write!(out, "<th{class}>{}</th>", xml(name));
        }
        out.push_str("</tr>\n");
    }
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = match cell {
                Cell::Text(text) => write!(out, "<td>{}</td>", xml(text)),
                Cell::Number(text) => write!(out, "<td class=\"n\">{}</td>", xml(text)),
                Cell::Marked(class, text) => {
                    write!(out, "<td class=\"{class}\">{}</td>", xml(text))
                }
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
    out
}

/// A paragraph of text.
pub fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", xml(text))
}

/// A picture that may be wider than the page.
pub fn scroll(svg: &str) -> String {
    format!("<div class=\"scroll\">\n{svg}</div>\n")
}

/// Text as it is written, behind a line that opens it.
pub fn folded(summary: &str, text: &str) -> String {
    format!("<details><summary>{}</summary>\n<pre>{}</pre>\n</details>\n", xml(summary), xml(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_escaped() {
        let evil = "<script>alert('x') & \"y\"</script>";
        let mut page = Page::new(evil);
        page.lead(evil);
        page.note(evil);
        let cells = vec![
            Cell::Text(evil.to_owned()),
            Cell::Number(evil.to_owned()),
            Cell::Marked("fail", evil.to_owned()),
        ];
        page.section(evil, &table(&[evil, evil, evil], &[cells]));
        page.section("b", &(paragraph(evil) + &folded(evil, evil)));
        let html = page.html();
        assert!(!html.contains("<script") && !html.contains("'x'"), "{html}");
        assert_eq!(html.matches("&lt;script&gt;").count(), 14);
    }
}
