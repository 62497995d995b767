//! `legwork view`: a diagram in the browser, as it runs; recorded runs, or a file of them.

use std::io::IsTerminal as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use legwork_page::{Server, ServerOptions, Subject};
use legwork_study::{Library, RUN_JSON, Recorded, files, is_table};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::Overrides;
use super::{console, diagnostics, interrupt, picture, recorded, step};

/// `legwork view`.
///
/// Opens a page on which the diagram runs, stops, goes back and forks, with its robot and its
/// signals. Who has the address that is printed may do all that; it is of this machine alone, and
/// holds a token. Ctrl-C ends the server.
///
/// Of recorded runs the page shows what they recorded, over one another, with their checks, metrics
/// and times. With -o it is written to a file that needs neither network nor server.
#[derive(Debug, Args)]
#[command(override_usage = "legwork view [OPTIONS] <DIAGRAM>\n       \
                            legwork view [OPTIONS] <RUN>... [--output <FILE>]")]
pub(crate) struct ViewArguments {
    /// The diagram; or the directories of runs, recordings, or tables with the time in front.
    #[arg(required = true, value_name = "DIAGRAM|RUN")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Listen on this port; without it, on one that is free. An open page finds a server that is
    /// started again with the same port and diagram. Between the two, a page that is still open
    /// sends its token to any program that listens on this port: close it where other users of the
    /// machine are not trusted.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Listen on this address of the machine instead of the loopback one. What is said is not
    /// encrypted: whoever sees the address in the network can drive the run.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<IpAddr>,
    /// Print the address, open no browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Write the recording, run.mcap, to this directory as the run goes on, and those of forks
    /// into directories of their names. Without it nothing is written.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the page of recorded runs to this file.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl ViewArguments {
    /// Whether runs are named, not a diagram.
    fn is_of_runs(&self) -> bool {
        let is_run = |file: &PathBuf| {
            file.is_dir() || is_table(file) || file.extension().is_some_and(|end| end == "mcap")
        };
        self.files.len() > 1 || self.output.is_some() || self.files.iter().any(is_run)
    }

    /// Listens; an open page finds the next server of the same diagram at the same port.
    fn listen(&self) -> Result<Server, Failure> {
        let keep = self.port.and_then(|_| legwork_page::keep::place(&self.files[0]));
        let options = ServerOptions { host: self.host, port: self.port, keep };
        Server::bind(&options).map_err(|error| Failure::usage(error.to_string()))
    }
}

/// Shows a diagram or recorded runs until it is interrupted, or writes the page of the runs.
///
/// # Errors
/// If a file cannot be read or written, or nobody can listen.
pub(crate) fn view(arguments: &ViewArguments, library: &Library) -> Result<Answer, Failure> {
    match arguments.is_of_runs() {
        true => view_runs(arguments, library),
        false => view_diagram(arguments, library),
    }
}

/// Shows recorded runs, or writes their page.
fn view_runs(arguments: &ViewArguments, library: &Library) -> Result<Answer, Failure> {
    let Overrides { set, variant, input, with } = &arguments.overrides;
    let changes = [set.len(), variant.len(), input.len(), with.len()];
    if arguments.out.is_some() || changes.iter().any(|count| *count > 0) {
        let message = "a recorded run is shown as it is: --out, --set, --variant, --input and \
                       --with are for a diagram";
        return Err(Failure::usage(message));
    }
    let mut runs = Vec::new();
    for run in recorded::open_all(&arguments.files, library)? {
        let facts = facts(&run)?;
        runs.push((run, facts));
    }
    let page = legwork_page::offline(&runs, library);
    let page = page.map_err(|error| Failure::usage(error.to_string()))?;
    for unseen in &page.unseen {
        console::note(&format!("warning: {unseen}"));
    }
    let Some(output) = &arguments.output else {
        let server = arguments.listen()?;
        let cancel = interrupt::listen();
        tell(arguments, &server)?;
        let given = server.give(page, cancel);
        given.map_err(|error| Failure::usage(error.to_string()))?;
        return Ok(Answer::new(Code::Success, json!({})));
    };
    let inputs = runs.iter().flat_map(|(run, _)| [run.file.clone(), facts_of(run)]);
    files::refuse_input(output, inputs.collect::<Vec<_>>())?;
    if !["html", "htm"].contains(&picture::ending(output)?) {
        return Err(Failure::usage(format!(
            "cannot write `{}`: a page ends in .html; `legwork plot` and `legwork graph` draw",
            output.display()
        )));
    }
    files::write(output, &page.html)?;
    console::note(&format!("wrote {} ({} bytes)", output.display(), page.html.len()));
    let json = json!({ "page": output.display().to_string(), "bytes": page.html.len() });
    Ok(Answer::new(Code::Success, json))
}

/// Where what is known of a run besides its recording is.
fn facts_of(run: &Recorded) -> PathBuf {
    run.file.parent().unwrap_or(Path::new("")).join(RUN_JSON)
}

/// What `run.json` says, if it is there and of this run.
fn facts(run: &Recorded) -> Result<Option<Value>, Failure> {
    let path = facts_of(run);
    let Ok(text) = files::read_text(&path) else { return Ok(None) };
    let shown = path.display();
    let facts: Value = serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("`{shown}` is not what `legwork run` wrote: {error}"))
    })?;
    let theirs = facts.get("program_hash").and_then(Value::as_str);
    let own = run.recording.metadata().map(|metadata| metadata.program_hash.as_str());
    if theirs != own {
        console::note(&format!("warning: `{shown}` is of another run and is left out"));
        return Ok(None);
    }
    Ok(Some(facts))
}

/// Shows a diagram.
fn view_diagram(arguments: &ViewArguments, library: &Library) -> Result<Answer, Failure> {
    let diagram = arguments.overrides.open(&arguments.files[0], None, library)?;
    let compiled = diagram.compile();
    diagnostics::say_all(&compiled.diagnostics, &compiled.sources);
    let Some(model) = &compiled.model else {
        let json = json!({ "diagram": diagram.name(), "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    };
    let mut session = model.session();
    match &arguments.out {
        Some(out) => session.record_into(out)?,
        None => session.forget_rows(),
    }
    let server = arguments.listen()?;
    let cancel = interrupt::listen();
    session.cancel_by(cancel.clone());
    tell(arguments, &server)?;
    let (model, session) = (model.clone(), Box::new(session));
    let subject = Subject::Live { model, session, out: arguments.out.clone() };
    let left = server.serve(subject, cancel).map_err(|error| Failure::usage(error.to_string()))?;
    let mut sessions = left.into_iter();
    let mut code = Code::Success;
    let mut json = json!({});
    let mut forks = Vec::new();
    for (i, (name, mut session)) in sessions.by_ref().enumerate() {
        let (one, told) = step::leave(&name, &mut session);
        code = code.worse(one);
        if i == 0 {
            json = told;
        } else {
            forks.push(told);
        }
    }
    if !forks.is_empty() {
        json["forks"] = forks.into();
    }
    Ok(Answer::new(code, json))
}

/// Says where the page is, and opens it.
fn tell(arguments: &ViewArguments, server: &Server) -> Result<(), Failure> {
    let address = server.address();
    if arguments.host.is_some_and(|host| !host.is_loopback()) {
        console::say(
            "warning: others in the network can reach this address, and what is said is not \
             encrypted; there, the name of this machine takes the place of the address",
        );
    }
    if console::is_json() {
        console::say(&address);
    } else {
        console::print(&format!("{address}\n"))?;
    }
    if let Some(connection) = std::env::var_os("SSH_CONNECTION") {
        let port = server.port();
        let host = ssh_host(&connection.to_string_lossy());
        console::note(&format!(
            "over SSH: `ssh -L {port}:127.0.0.1:{port} {host}` on your machine, then open the \
             address there"
        ));
    } else if !arguments.no_open && !console::is_json() && std::io::stdout().is_terminal() {
        open(&address);
    }
    Ok(())
}

/// The address of this machine, third in what SSH says of the connection.
fn ssh_host(connection: &str) -> String {
    let user = std::env::var("USER").map_or(String::new(), |user| format!("{user}@"));
    format!("{user}{}", connection.split(' ').nth(2).unwrap_or("HOST"))
}

/// Opens the browser; without one the user can open the address. The browser gets the name of a
/// private file that leads to the address: arguments of processes are public, the token is not.
fn open(address: &str) {
    let page = match cfg!(unix) {
        true => match legwork_page::keep::redirect(address) {
            Some(page) => page.into_os_string(),
            None => return,
        },
        false => address.into(),
    };
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = match cfg!(windows) {
        true => {
            let mut command = Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler").arg(&page);
            command
        }
        false => {
            let mut command = Command::new(program);
            command.arg(&page);
            command
        }
    };
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Nobody waits for it: it may be the browser itself.
    let _ = quiet.spawn();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_the_third_word_of_the_connection() {
        assert!(ssh_host("10.0.0.2 50122 10.0.0.9 22").ends_with("10.0.0.9"));
        assert!(ssh_host("").ends_with("HOST"));
    }
}
