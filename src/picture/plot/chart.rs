//! Series of points in one panel.

use super::Error;
use super::axis::{Axis, Scale};
use super::curve::Curve;
use super::ink::{begin, colour, frame, legend, line, range_of, stroke_of};

const WIDTH: f64 = 720.0;
/// Pixels around and in the panel.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const HEAD: f64 = 56.0;
const PANEL: f64 = 320.0;
const FOOT: f64 = 46.0;
/// The least width and height of the panel [px].
const LEAST: f64 = 80.0;
/// Points up to which each is marked.
const MOST_MARKS: usize = 60;

/// A chart of several series over one x.
pub(super) struct Chart {
    pub(super) title: String,
    /// Labels of the axes, with units: `time [us]`.
    pub(super) x: String,
    pub(super) y: String,
    /// Whether an axis is logarithmic; points at zero or below then lie at its start.
    pub(super) log_x: bool,
    pub(super) log_y: bool,
    /// Width and height [px], if they are given.
    pub(super) size: Option<(u32, u32)>,
    pub(super) series: Vec<Series>,
}

/// Points under a name.
pub(super) struct Series {
    pub(super) name: String,
    /// Number of its colour and of its dashes.
    pub(super) colour: usize,
    pub(super) dash: usize,
    pub(super) points: Vec<(f64, f64)>,
}

impl Chart {
    /// The chart as SVG.
    ///
    /// # Errors
    /// If it does not fit into the size that was chosen.
    pub(super) fn svg(&self) -> Result<String, Error> {
        let stroke = |series: &Series| stroke_of(series.colour, series.dash);
        let entries: Vec<(String, String)> =
            self.series.iter().map(|series| (series.name.clone(), stroke(series))).collect();
        let width = self.size.map_or(WIDTH, |size| f64::from(size.0));
        let (legend, rows) = legend(&entries, width);
        let around = HEAD + rows + FOOT;
        let panel = self.size.map_or(PANEL, |size| f64::from(size.1) - around);
        let least = (LEFT + RIGHT + LEAST, around + LEAST);
        if width < least.0 || panel < LEAST {
            return Err(Error::TooSmall {
                least: (least.0 as u32, least.1.ceil() as u32),
                found: self.size.unwrap_or_default(),
                panels: 1,
            });
        }
        let (top, bottom) = (HEAD + rows, HEAD + rows + panel);
        let mut out = String::new();
        begin(&mut out, width, bottom + FOOT, &self.title);
        out.push_str(&legend);
        let points = || self.series.iter().flat_map(|series| series.points.iter());
        let x = axis(points().map(|p| p.0), self.log_x, LEFT, width - RIGHT, false);
        let y = axis(points().map(|p| p.1), self.log_y, bottom, top, true);
        frame(&mut out, &x, &y, 6, Some(&self.x), &self.y);
        for series in &self.series {
            let curve = Curve::new(series.points.clone());
            line(&mut out, &curve, &x, &y, &stroke(series));
            if series.points.len() <= MOST_MARKS {
                curve.mark(&mut out, &x, &y, colour(series.colour));
            }
        }
        out.push_str("</svg>\n");
        Ok(out)
    }
}

/// An axis for these values. `from_zero`: a linear one for values that are not negative begins at
/// zero, so that proportions show.
fn axis(
    values: impl Iterator<Item = f64>,
    is_log: bool,
    start: f64,
    end: f64,
    from_zero: bool,
) -> Axis {
    match range_of(values, is_log) {
        Some((low, high)) if is_log => Axis::decades(low, high, start, end),
        Some((low, high)) if from_zero && low >= 0.0 && high > 0.0 => {
            Axis::new(0.0, 1.05 * high, start, end, Scale::Linear)
        }
        Some((low, high)) if !from_zero && low < high => {
            Axis::new(low, high, start, end, Scale::Linear)
        }
        Some((low, high)) => Axis::around(low, high, start, end),
        None => Axis::new(0.0, 1.0, start, end, Scale::Linear),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(log: bool, points: &[(f64, f64)]) -> String {
        let series =
            vec![Series { name: "a < b".into(), colour: 0, dash: 0, points: points.to_vec() }];
        let (title, x, y) = ("t".to_owned(), "n".to_owned(), "time [us]".to_owned());
        Chart { title, x, y, log_x: log, log_y: log, size: None, series }
            .svg()
            .expect("the usual size")
    }

    #[test]
    fn a_straight_line_is_straight_and_a_power_is_on_logarithmic_axes() {
        // Pixels of the three points, from the marks.
        let marks = |svg: &str| -> Vec<(f64, f64)> {
            let number = |text: &str, key: &str| -> f64 {
                let from = text.find(key).map_or(0, |at| at + key.len());
                text[from..].split('"').next().and_then(|t| t.parse().ok()).unwrap_or(f64::NAN)
            };
            let circles = svg.split("<circle").skip(1);
            circles.map(|c| (number(c, "cx=\""), number(c, "cy=\""))).collect()
        };
        let is_straight = |svg: &str| {
            let p = marks(svg);
            assert_eq!(p.len(), 3, "{svg}");
            let slope = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1) / (b.0 - a.0);
            (slope(p[0], p[1]) - slope(p[1], p[2])).abs() < 1e-2
        };
        let line = [(1.0, 3.0), (10.0, 30.0), (100.0, 300.0)];
        let power = [(1.0, 1.0), (10.0, 100.0), (100.0, 10_000.0)];
        assert!(is_straight(&chart(false, &line)) && is_straight(&chart(true, &line)));
        assert!(!is_straight(&chart(false, &power)) && is_straight(&chart(true, &power)));
    }

    #[test]
    fn any_numbers_make_a_picture() {
        let odd = [(f64::NAN, 1.0), (0.0, f64::INFINITY), (-1.0, -1.0)];
        for points in [&odd[..], &[], &[(0.0, 0.0)], &[(5.0, 1e-300)], &[(1e300, -1e300)]] {
            for log in [false, true] {
                let svg = chart(log, points);
                assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
                assert!(svg.contains("a &lt; b"), "{svg}");
            }
        }
    }
}
