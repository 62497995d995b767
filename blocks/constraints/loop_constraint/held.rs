//! The rows of each kind of constraint, from those of a point and of a rotation.

use legwork_block::Fault;
use nalgebra::{Matrix3, Unit, Vector3};

/// Three rows of a constraint: error, its rate, and its second derivative at ν̇ = 0.
pub(crate) struct Rows {
    pub(crate) error: Vector3<f64>,
    pub(crate) rate: Vector3<f64>,
    pub(crate) bias: Vector3<f64>,
}

/// What a constraint holds.
pub(super) enum Held {
    Point,
    Weld,
    /// The axis and two directions normal to it.
    Hinge(Vector3<f64>, [Vector3<f64>; 2]),
    /// Two directions normal to the line.
    Slider([Vector3<f64>; 2]),
    /// The distance.
    Distance(f64),
}

/// The linear or the angular rows: `directions` times those of a point or of a rotation.
pub(super) struct Part {
    /// One row each; zero where there is none.
    pub(super) directions: Matrix3<f64>,
    /// How many there are.
    pub(super) count: usize,
    pub(super) rows: Rows,
}

impl Part {
    fn all(rows: Rows) -> Self {
        Self { directions: Matrix3::identity(), count: 3, rows }
    }

    fn none() -> Self {
        let zero = Vector3::zeros();
        let rows = Rows { error: zero, rate: zero, bias: zero };
        Self { directions: Matrix3::zeros(), count: 0, rows }
    }

    /// The components of `rows` along fixed directions.
    fn along(directions: &[Vector3<f64>; 2], rows: &Rows) -> Self {
        let matrix = two_rows(directions);
        let rows =
            Rows { error: matrix * rows.error, rate: matrix * rows.rate, bias: matrix * rows.bias };
        Self { directions: matrix, count: 2, rows }
    }
}

fn two_rows([a, b]: &[Vector3<f64>; 2]) -> Matrix3<f64> {
    Matrix3::from_rows(&[a.transpose(), b.transpose(), Vector3::zeros().transpose()])
}

/// Two unit vectors normal to `axis` and to one another.
fn normals(axis: &Unit<Vector3<f64>>) -> [Vector3<f64>; 2] {
    // The coordinate direction that is farthest from the axis.
    let other = Vector3::ith(axis.iamin(), 1.0);
    let first = axis.cross(&other).normalize();
    [first, axis.cross(&first)]
}

impl Held {
    pub(super) fn hinge(axis: Unit<Vector3<f64>>) -> Self {
        Self::Hinge(axis.into_inner(), normals(&axis))
    }

    pub(super) fn slider(axis: Unit<Vector3<f64>>) -> Self {
        Self::Slider(normals(&axis))
    }

    /// The linear and the angular rows; `linear` is the motion of the point, `angular` that of the
    /// axes, `turned` is `R R_closedᵀ`.
    ///
    /// # Errors
    /// If a distance has no direction.
    pub(super) fn parts(
        &self,
        linear: Rows,
        angular: Rows,
        turned: &Matrix3<f64>,
    ) -> Result<[Part; 2], Box<Fault>> {
        Ok(match self {
            Self::Point => [Part::all(linear), Part::none()],
            Self::Weld => [Part::all(linear), Part::all(angular)],
            Self::Hinge(axis, normals) => {
                [Part::all(linear), direction(axis, normals, &angular, turned)]
            }
            Self::Slider(normals) => [Part::along(normals, &linear), Part::all(angular)],
            Self::Distance(length) => [distance(*length, &linear)?, Part::none()],
        })
    }

    /// Angle between the axes that are held [rad].
    pub(super) fn angle(&self, angular: &Rows, turned: &Matrix3<f64>) -> f64 {
        match self {
            Self::Hinge(axis, _) => {
                let now = turned * axis;
                libm::atan2(axis.cross(&now).norm(), axis.dot(&now))
            }
            _ => angular.error.norm(),
        }
    }
}

/// `φ_i = b_i · (a × a')` with `a' = R R_closedᵀ a`, so that `φ̇_i = (a' × (b_i × a)) · ω` and
/// `φ̈_i = (a' × (b_i × a)) · ω̇ + (b_i × a) · (ω × (ω × a'))`.
fn direction(
    axis: &Vector3<f64>,
    normals: &[Vector3<f64>; 2],
    angular: &Rows,
    turned: &Matrix3<f64>,
) -> Part {
    let (now, w) = (turned * axis, &angular.rate);
    let levers = normals.map(|normal| normal.cross(axis));
    let matrix = two_rows(&levers.map(|lever| now.cross(&lever)));
    let centripetal = w.cross(&w.cross(&now));
    let rows = Rows {
        error: two_rows(normals) * axis.cross(&now),
        rate: matrix * w,
        bias: matrix * angular.bias + two_rows(&levers) * centripetal,
    };
    Part { directions: matrix, count: 2, rows }
}

/// `φ = |x| − l`: `φ̇ = d·ẋ` and `φ̈ = d·ẍ + (|ẋ|² − φ̇²)/|x|` with `d = x/|x|`.
fn distance(length: f64, linear: &Rows) -> Result<Part, Box<Fault>> {
    let apart = linear.error.norm();
    if apart <= 0.0 {
        let message = format!(
            "the points lie on one another: their distance, to be kept at {length} m, has no \
             direction"
        );
        return Err(Fault::new(message));
    }
    let d = linear.error / apart;
    let rate = d.dot(&linear.rate);
    let bias = d.dot(&linear.bias) + (linear.rate.norm_squared() - rate * rate) / apart;
    let first = |number: f64| Vector3::new(number, 0.0, 0.0);
    let rows = Rows { error: first(apart - length), rate: first(rate), bias: first(bias) };
    let zero = Vector3::zeros().transpose();
    let directions = Matrix3::from_rows(&[d.transpose(), zero, zero]);
    Ok(Part { directions, count: 1, rows })
}
