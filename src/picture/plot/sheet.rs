//! Panels under one another, each with its own legend, over one time or each over its own x.

use std::fmt::Write as _;

use super::Error;
use super::axis::{Axis, Scale};
use super::ink::{INK, begin, frame, legend, range_of};
use super::trace::Trace;
use crate::text::{shorten, xml};

/// Default width of a sheet [px].
const WIDTH: f64 = 960.0;
/// Default heights of a panel: alone, and among others [px].
const ALONE: f64 = 340.0;
const STACKED: f64 = 190.0;
/// The least height of a panel [px].
const LEAST_PANEL: f64 = 40.0;
/// The least width of one [px].
const LEAST_WIDTH: f64 = 120.0;
/// What is around panels [px].
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const HEAD: f64 = 48.0;
const FOOT: f64 = 42.0;
/// The heading of a panel, and the white above it [px].
const HEADING: f64 = 20.0;
const BETWEEN: f64 = 12.0;
/// Where [`legend`] puts the middle of its first row, and how far from the left [px].
const LEGEND_ROW: f64 = 52.0;
const LEGEND_LEFT: f64 = 20.0;
/// Most characters of a heading.
const LONGEST_HEADING: usize = 110;

/// A line with its name and its stroke.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) stroke: String,
    pub(super) trace: Trace,
}

/// One pair of axes.
pub(super) struct Panel {
    pub(super) heading: String,
    /// Label of the vertical axis.
    pub(super) left: String,
    /// Label of the horizontal axis of a panel that has its own; others share the time.
    pub(super) below: Option<String>,
    pub(super) lines: Vec<Line>,
}

/// All panels.
pub(super) struct Sheet {
    /// Nothing where something around the sheet says it.
    pub(super) title: Option<String>,
    pub(super) panels: Vec<Panel>,
    /// Whether an axis is logarithmic; points at zero or below then lie at its start.
    pub(super) log_x: bool,
    pub(super) log_y: bool,
    /// Width and height [px], if they are given.
    pub(super) size: Option<(u32, u32)>,
}

impl Sheet {
    /// The sheet as SVG.
    ///
    /// # Errors
    /// If the panels do not fit into the size that was chosen.
    pub(super) fn svg(&self) -> Result<String, Error> {
        let width = self.size.map_or(WIDTH, |size| f64::from(size.0));
        let legends: Vec<(String, f64)> =
            self.panels.iter().map(|panel| panel_legend(panel, width)).collect();
        let head = if self.title.is_some() { HEAD } else { 0.0 };
        let around: f64 = head
            + legends.iter().map(|(_, rows)| BETWEEN + HEADING + rows).sum::<f64>()
            + self.panels.iter().map(|panel| self.foot(panel)).sum::<f64>()
            + if self.is_shared() { FOOT } else { 0.0 };
        let count = self.panels.len().max(1) as f64;
        let each = match self.size {
            Some((_, high)) => (f64::from(high) - around) / count,
            None if self.panels.len() == 1 => ALONE,
            None => STACKED,
        };
        if each < LEAST_PANEL || width < LEFT + RIGHT + LEAST_WIDTH {
            let least = (LEFT + RIGHT + LEAST_WIDTH, (around + LEAST_PANEL * count).ceil());
            return Err(Error::TooSmall {
                least: (least.0 as u32, least.1 as u32),
                found: self.size.unwrap_or_default(),
                panels: self.panels.len(),
            });
        }
        let height = (around + each * count).round();
        let mut out = String::new();
        begin(&mut out, width, height, self.title.as_deref().unwrap_or_default());
        let time = self.is_shared().then(|| {
            let shared = self.panels.iter().filter(|panel| panel.below.is_none());
            self.axis_of_x(shared, width, false)
        });
        let mut top = head;
        for (i, (panel, (legend, rows))) in self.panels.iter().zip(&legends).enumerate() {
            top += BETWEEN + HEADING;
            let _ = writeln!(
                out,
                "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"13\" font-weight=\"bold\" \
                 fill=\"{INK}\">{}</text>",
                top - 6.0,
                xml(&shorten(&panel.heading, LONGEST_HEADING)),
            );
            if !legend.is_empty() {
                let _ = writeln!(
                    out,
                    "<g transform=\"translate({} {:.1})\">\n{legend}</g>",
                    LEFT - LEGEND_LEFT,
                    top + 6.0 - LEGEND_ROW,
                );
            }
            top += rows;
            let y = self.axis_of_y(panel, top + each, top);
            let own =
                panel.below.as_ref().map(|_| self.axis_of_x([panel].into_iter(), width, true));
            if let Some(x) = own.as_ref().or(time.as_ref()) {
                let is_last = self.panels[i + 1..].iter().all(|panel| panel.below.is_some());
                let below = panel.below.as_deref().or(is_last.then_some("t [s]"));
                let ticks = if each < 110.0 { 3 } else { 6 };
                frame(&mut out, x, &y, ticks, below, &panel.left);
                draw(&mut out, panel, x, &y);
            }
            top += each + self.foot(panel);
        }
        out.push_str("</svg>\n");
        Ok(out)
    }

    /// Whether panels share the time.
    fn is_shared(&self) -> bool {
        self.panels.iter().any(|panel| panel.below.is_none())
    }

    /// Room below a panel with its own x.
    fn foot(&self, panel: &Panel) -> f64 {
        if panel.below.is_some() { FOOT } else { 0.0 }
    }

    /// The axis of the x of panels; with some room around its values, or none as time has.
    fn axis_of_x<'p>(
        &self,
        panels: impl Iterator<Item = &'p Panel>,
        width: f64,
        with_room: bool,
    ) -> Axis {
        let (start, end) = (LEFT, width - RIGHT);
        let lines = panels.flat_map(|panel| panel.lines.iter());
        let values = lines.flat_map(|line| line.trace.points().iter().map(|point| point.0));
        match range_of(values, self.log_x) {
            Some((low, high)) if self.log_x => Axis::decades(low, high, start, end),
            Some((low, high)) if low < high && !with_room => {
                Axis::new(low, high, start, end, Scale::Linear)
            }
            Some((low, high)) => Axis::around(low, high, start, end),
            None => Axis::new(0.0, 1.0, start, end, Scale::Linear),
        }
    }

    fn axis_of_y(&self, panel: &Panel, start: f64, end: f64) -> Axis {
        let values =
            panel.lines.iter().flat_map(|line| line.trace.points().iter().map(|point| point.1));
        match range_of(values, self.log_y) {
            Some((low, high)) if self.log_y => Axis::decades(low, high, start, end),
            Some((low, high)) => Axis::around(low, high, start, end),
            None => Axis::new(0.0, 1.0, start, end, Scale::Linear),
        }
    }
}

/// The legend of a panel and its height; none where the heading says it all.
fn panel_legend(panel: &Panel, width: f64) -> (String, f64) {
    let named = panel.lines.iter().filter(|line| !line.name.is_empty());
    let entries: Vec<(String, String)> =
        named.map(|line| (line.name.clone(), line.stroke.clone())).collect();
    match entries.as_slice() {
        [] => (String::new(), 0.0),
        [(name, _)] if *name == panel.heading => (String::new(), 0.0),
        _ => legend(&entries, width - LEFT + LEGEND_LEFT),
    }
}

fn draw(out: &mut String, panel: &Panel, x: &Axis, y: &Axis) {
    for line in &panel.lines {
        let path = match panel.below {
            None => line.trace.over_time(x, y),
            Some(_) => line.trace.in_plane(x, y),
        };
        if !path.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "<path d=\"{path}\" fill=\"none\" stroke-linejoin=\"round\" {}/>",
                line.stroke
            );
        }
    }
}
