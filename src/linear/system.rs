//! A linear system, and its transfer matrix.

use faer::linalg::solvers::Solve as _;
use faer::{Mat, c64};

use crate::algebra::{Error, expect_finite, expect_shape};

/// A linear system: `ẋ = A x + B u`, or `x⁺ = A x + B u` every [`System::period`]; `y = C x + D u`.
#[derive(Debug, Clone)]
pub struct System {
    /// From states to their rates, or to the next states: n × n.
    pub a: Mat<f64>,
    /// From inputs: n × m.
    pub b: Mat<f64>,
    /// To outputs: p × n.
    pub c: Mat<f64>,
    /// From inputs to outputs at once: p × m.
    pub d: Mat<f64>,
    /// Time between two samples [s]; `None` in continuous time.
    pub period: Option<f64>,
}

impl System {
    /// The system of these matrices.
    ///
    /// # Errors
    /// If they do not fit together, or hold numbers that are not finite, or the period is not above
    /// zero.
    pub fn new(
        a: Mat<f64>,
        b: Mat<f64>,
        c: Mat<f64>,
        d: Mat<f64>,
        period: Option<f64>,
    ) -> Result<Self, Error> {
        let n = a.nrows();
        expect_shape("A", a.as_ref(), (n, n))?;
        expect_shape("B", b.as_ref(), (n, b.ncols()))?;
        expect_shape("C", c.as_ref(), (c.nrows(), n))?;
        expect_shape("D", d.as_ref(), (c.nrows(), b.ncols()))?;
        for (what, matrix) in [("A", &a), ("B", &b), ("C", &c), ("D", &d)] {
            expect_finite(what, matrix.as_ref())?;
        }
        if period.is_some_and(|period| period.is_nan() || period <= 0.0) {
            return Err(Error::Request("expected a period above zero".to_owned()));
        }
        Ok(Self { a, b, c, d, period })
    }

    /// n.
    pub fn states(&self) -> usize {
        self.a.nrows()
    }

    /// m.
    pub fn inputs(&self) -> usize {
        self.b.ncols()
    }

    /// p.
    pub fn outputs(&self) -> usize {
        self.c.nrows()
    }

    /// From one input to one output.
    ///
    /// # Panics
    /// If there is no such input or output.
    #[must_use]
    pub fn channel(&self, input: usize, output: usize) -> Self {
        let n = self.states();
        Self {
            a: self.a.clone(),
            b: Mat::from_fn(n, 1, |i, _| self.b[(i, input)]),
            c: Mat::from_fn(1, n, |_, j| self.c[(output, j)]),
            d: Mat::from_fn(1, 1, |_, _| self.d[(output, input)]),
            period: self.period,
        }
    }

    /// With inputs and outputs exchanged: `(Aᵀ, Cᵀ, Bᵀ, Dᵀ)`.
    #[must_use]
    pub fn dual(&self) -> Self {
        let t = |matrix: &Mat<f64>| matrix.transpose().to_owned();
        Self { a: t(&self.a), b: t(&self.c), c: t(&self.b), d: t(&self.d), period: self.period }
    }

    /// The transfer matrix `C (s − A)⁻¹ B + D` at a complex number: s, or z of a sampled system.
    ///
    /// Infinite or not a number at a pole.
    pub fn at(&self, s: c64) -> Mat<c64> {
        let n = self.states();
        let complex = |x: f64| c64::new(x, 0.0);
        let mut out = Mat::from_fn(self.outputs(), self.inputs(), |i, j| complex(self.d[(i, j)]));
        if n == 0 {
            return out;
        }
        let pencil = Mat::from_fn(n, n, |i, j| {
            let diagonal = if i == j { s } else { c64::new(0.0, 0.0) };
            diagonal - complex(self.a[(i, j)])
        });
        let b = Mat::from_fn(n, self.inputs(), |i, j| complex(self.b[(i, j)]));
        let c = Mat::from_fn(self.outputs(), n, |i, j| complex(self.c[(i, j)]));
        out += c * pencil.partial_piv_lu().solve(&b);
        out
    }

    /// The point of the imaginary axis, or of the unit circle, of a frequency [rad/s].
    pub fn point(&self, frequency: f64) -> c64 {
        match self.period {
            None => c64::new(0.0, frequency),
            Some(period) => {
                let (sin, cos) = libm::sincos(frequency * period);
                c64::new(cos, sin)
            }
        }
    }

    /// Highest frequency that a sampled system has [rad/s]: half that of its samples.
    pub fn nyquist_frequency(&self) -> Option<f64> {
        self.period.map(|period| std::f64::consts::PI / period)
    }

    /// Whether a pole lies where motion dies out.
    pub fn is_stable_pole(&self, pole: c64) -> bool {
        match self.period {
            None => pole.re < 0.0,
            Some(_) => libm::hypot(pole.re, pole.im) < 1.0,
        }
    }
}
