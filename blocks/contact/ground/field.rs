//! Heights on a regular grid, from a table, a picture or an expression.

use std::collections::BTreeMap;

use legwork_block::quantity::{Formula, Length, Positive, Scalar};
use legwork_block::{Files, Invalid, Scope, Unit, Value};
use legwork_contact::HeightField;
use legwork_recording::{Record, Records};

use super::{FrictionMap, wrong};
use crate::signal::formula::refuse_known;

/// Most points of a grid.
const MOST_POINTS: usize = 4_000_000;

/// A field of heights with its friction.
pub(super) struct Field {
    pub(super) heights: HeightField,
    pub(super) friction: Option<FrictionField>,
}

/// Numbers row by row, and how many a row has.
type Grid = (Vec<f64>, usize);

impl Field {
    pub(super) fn of_table(
        file: &str,
        cell: f64,
        origin: Option<[Length; 2]>,
        friction: Option<&FrictionMap>,
        files: &dyn Files,
    ) -> Result<Self, Invalid> {
        let bytes = files.read(file).map_err(wrong)?;
        Self::new(numbers(&bytes, file)?, cell, of(origin), friction, files)
            .map_err(|error| Invalid { message: format!("{file}: {}", error.message), ..error })
    }

    /// Heights `levels[0]` where the picture is black, higher by `levels[1]` where it is white.
    pub(super) fn of_image(
        (file, levels): (&str, [f64; 2]),
        cell: f64,
        origin: Option<[Length; 2]>,
        friction: Option<&FrictionMap>,
        files: &dyn Files,
    ) -> Result<Self, Invalid> {
        let bytes = files.read(file).map_err(wrong)?;
        let (brightness, width) = brightness(&bytes, file)?;
        let heights =
            |row: &[f64]| row.iter().map(|b| levels[0] + levels[1] * b).collect::<Vec<_>>();
        let upwards = brightness.rchunks_exact(width).flat_map(heights).collect();
        Self::new((upwards, width), cell, of(origin), friction, files)
            .map_err(|error| Invalid { message: format!("{file}: {}", error.message), ..error })
    }

    pub(super) fn of_function(
        (z, constants): (&Formula, &BTreeMap<String, Scalar>),
        [x, y]: [[f64; 2]; 2],
        cell: f64,
        friction: Option<&FrictionMap>,
        files: &dyn Files,
    ) -> Result<Self, Invalid> {
        let count = |[from, to]: [f64; 2], axis: &str| {
            let cells = libm::ceil((to - from) / cell - 1e-9);
            match cells >= 1.0 {
                true => Ok(cells.min(MOST_POINTS as f64) as usize + 1),
                false => {
                    Err(wrong(format!("expected {axis} from less to more, found {from} to {to}")))
                }
            }
        };
        let (along_x, along_y) = (count(x, "`x`")?, count(y, "`y`")?);
        if along_x.saturating_mul(along_y) > MOST_POINTS {
            return Err(too_many(along_x, along_y));
        }
        refuse_known(constants.keys(), &["x", "y"]).map_err(wrong)?;
        let expression = z.parse().map_err(|error| wrong(error.message))?;
        let mut at = Place { x: 0.0, y: 0.0, constants };
        let mut heights = Vec::with_capacity(along_x * along_y);
        for j in 0..along_y {
            for i in 0..along_x {
                (at.x, at.y) = (x[0] + cell * i as f64, y[0] + cell * j as f64);
                let value = expression
                    .eval(&at)
                    .map_err(|error| wrong(format!("{} at {at}", error.message)))?;
                heights.push(height(&value).ok_or_else(|| {
                    let found = value.describe();
                    wrong(format!("expected a finite height in m, found {found} at {at}"))
                })?);
            }
        }
        Self::new((heights, along_x), cell, [x[0], y[0]], friction, files)
    }

    fn new(
        (heights, along_x): Grid,
        cell: f64,
        origin: [f64; 2],
        friction: Option<&FrictionMap>,
        files: &dyn Files,
    ) -> Result<Self, Invalid> {
        if heights.len() > MOST_POINTS {
            return Err(too_many(along_x, heights.len() / along_x.max(1)));
        }
        let field = HeightField::new(&heights, along_x, cell, origin);
        let heights = field.map_err(|error| wrong(error.to_string()))?;
        let friction = friction.map(|map| FrictionField::read(map, origin, files)).transpose()?;
        Ok(Self { heights, friction })
    }
}

fn too_many(along_x: usize, along_y: usize) -> Invalid {
    let message =
        format!("expected at most {MOST_POINTS} heights, found {along_x} times {along_y}");
    wrong(message).hint("take a larger `cell`")
}

fn of(origin: Option<[Length; 2]>) -> [f64; 2] {
    origin.map_or([0.0; 2], |origin| origin.map(Length::value))
}

/// A finite number that is a length, or has no unit.
fn height(value: &Value) -> Option<f64> {
    let Value::Real { value, unit } = value else { return None };
    let fits = unit.is_none_or(|unit| Unit::METRE.agrees(unit));
    (fits && value.is_finite()).then_some(*value)
}

/// Where a function of the place is evaluated.
struct Place<'c> {
    x: f64,
    y: f64,
    constants: &'c BTreeMap<String, Scalar>,
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "x = {}, y = {}", self.x, self.y)
    }
}

impl Scope for Place<'_> {
    fn lookup(&self, name: &str) -> Option<Value> {
        let plain = |value| Some(Value::Real { value, unit: None });
        match name {
            "x" => plain(self.x),
            "y" => plain(self.y),
            _ => {
                let Scalar { value, unit } = *self.constants.get(name)?;
                Some(Value::Real { value, unit })
            }
        }
    }

    fn names(&self) -> Vec<String> {
        let own = ["x", "y"].map(str::to_owned);
        own.into_iter().chain(self.constants.keys().cloned()).collect()
    }
}

/// The shades of grey of a picture from 0 to 1, row by row from the top, and its width.
fn brightness(bytes: &[u8], file: &str) -> Result<Grid, Invalid> {
    let refuse = |why: &dyn std::fmt::Display| wrong(format!("{file}: {why}"));
    let limits = png::Limits { bytes: 16 * MOST_POINTS };
    let decoder = png::Decoder::new_with_limits(std::io::Cursor::new(bytes), limits);
    let mut reader = decoder.read_info().map_err(|error| refuse(&error))?;
    let (width, height) = reader.info().size();
    let (width, height) = (width as usize, height as usize);
    if width.saturating_mul(height) > MOST_POINTS {
        return Err(too_many(width, height));
    }
    let (color, depth) = reader.output_color_type();
    let bytes_per_pixel = match (color, depth) {
        (png::ColorType::Grayscale, png::BitDepth::Eight) => 1,
        (png::ColorType::Grayscale, png::BitDepth::Sixteen) => 2,
        _ => {
            let found = format!("{color:?} of {} bits", depth as u8);
            let found = format!("expected shades of grey of 8 or 16 bits, found {found}");
            return Err(refuse(&found));
        }
    };
    let mut pixels = vec![0; width * height * bytes_per_pixel];
    reader.next_frame(&mut pixels).map_err(|error| refuse(&error))?;
    let levels = match bytes_per_pixel {
        1 => pixels.iter().map(|level| f64::from(*level) / 255.0).collect(),
        _ => {
            let pairs = pixels.chunks_exact(2);
            pairs.map(|two| f64::from(u16::from_be_bytes([two[0], two[1]])) / 65_535.0).collect()
        }
    };
    Ok((levels, width))
}

/// Reads the numbers of a field, row by row, and how many a row has.
fn numbers(bytes: &[u8], file: &str) -> Result<(Vec<f64>, usize), Invalid> {
    let mut records = Records::new(bytes);
    let (mut heights, mut along_x) = (Vec::new(), None);
    while let Some(Record { line, cells }) =
        records.next_record().map_err(|error| wrong(format!("{file}: {error}")))?
    {
        let expected = *along_x.get_or_insert(cells.len());
        if cells.len() != expected {
            let found = cells.len();
            let message = format!(
                "{file}, line {line}: expected {expected} numbers as in the first, found {found}"
            );
            return Err(wrong(message));
        }
        for (i, cell) in cells.iter().enumerate() {
            let height = records.number(cell).ok().filter(|height| height.is_finite());
            heights.push(height.ok_or_else(|| {
                // It may be any file, so that nothing of it is shown.
                wrong(format!("{file}, line {line}, column {}: expected a finite number", i + 1))
            })?);
        }
    }
    if !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r") && !heights.is_empty() {
        let message = "the file ends in its last cell, so that a number that was cut off cannot be \
                       told from a whole one; end the last line with a line break";
        return Err(wrong(format!("{file}: {message}")));
    }
    Ok((heights, along_x.unwrap_or(0)))
}

/// Friction by place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FrictionField {
    values: Vec<f64>,
    along_x: usize,
    cell: f64,
    origin: [f64; 2],
}

impl FrictionField {
    /// Reads a map of patches from `origin` on.
    ///
    /// # Errors
    /// If its file cannot be read, is empty, or has a coefficient below zero.
    fn read(map: &FrictionMap, origin: [f64; 2], files: &dyn Files) -> Result<Self, Invalid> {
        let file = &map.file;
        let bytes = files.read(file).map_err(wrong)?;
        let (values, along_x) = numbers(&bytes, file)?;
        if along_x == 0 {
            return Err(wrong(format!("{file}: expected friction of patches, found none")));
        }
        if let Some(mu) = values.iter().find(|mu| **mu < 0.0) {
            return Err(wrong(format!("{file}: expected friction of zero or more, found {mu}")));
        }
        Ok(Self { values, along_x, cell: Positive::value(map.cell), origin })
    }

    /// Friction at x and y in axes of the ground.
    pub(crate) fn at(&self, [x, y]: [f64; 2]) -> f64 {
        let along_y = self.values.len() / self.along_x;
        let index = |place: f64, origin: f64, count: usize| {
            let patch = libm::floor((place - origin) / self.cell);
            // From zero to a count, so the conversion is exact.
            patch.max(0.0).min((count - 1) as f64) as usize
        };
        let column = index(x, self.origin[0], self.along_x);
        self.values[index(y, self.origin[1], along_y) * self.along_x + column]
    }
}
