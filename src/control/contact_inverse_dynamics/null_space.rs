//! A quadratic program among the forces that move the robot equally.

use legwork_linalg::{OrthonormalBasis, axpy, dot};
use legwork_qp::{GeneralActiveSet, Outcome, Qp, QpData};

/// A row, or a direction, depends on those before if no more than this share of it is outside their
/// span: rounding.
const DEPENDENT: f64 = 1e-10;

/// Least of a program over `x₀ + W w`, where W is an orthonormal basis of the null space of Z.
#[derive(Debug, Default)]
pub(super) struct NullSpace {
    basis: OrthonormalBasis,
    solver: GeneralActiveSet,
    /// W, n × d.
    directions: Vec<f64>,
    unit: Vec<f64>,
    start: Vec<f64>,
    image: Vec<f64>,
    reduced: QpData,
    step: Vec<f64>,
}

impl NullSpace {
    /// Writes to `x` the least of `program` among all x of the same `Z x` as on entry. The program
    /// is in unknowns x over `unit`; its bounds are those of x, upper ones only where they equal
    /// the lower. Z is `columns`, r × n, column-major.
    ///
    /// What x violates on entry by rounding is let be, so `w = 0` is allowed (sec. 6.2.5).
    pub(super) fn minimise(
        &mut self,
        program: &QpData,
        unit: f64,
        columns: &[f64],
        r: usize,
        x: &mut [f64],
    ) -> Outcome {
        let n = x.len();
        let d = self.find_directions(columns, r, n);
        let Self { solver, directions, start, image, reduced, step, .. } = self;
        start.clear();
        start.extend(x.iter().map(|x| x / unit));

        // Wᵀ H W and Wᵀ (H x₀ + g).
        reduced.hessian.clear();
        reduced.gradient.clear();
        let direction = |k: usize| &directions[k * n..(k + 1) * n];
        let product = |v: &[f64], image: &mut Vec<f64>| {
            image.clear();
            image.resize(n, 0.0);
            for (column, v) in program.hessian.chunks_exact(n).zip(v) {
                axpy(*v, column, image);
            }
        };
        for k in 0..d {
            product(direction(k), image);
            reduced.hessian.extend((0..d).map(|j| dot(direction(j), image)));
        }
        product(start, image);
        image.iter_mut().zip(&program.gradient).for_each(|(image, g)| *image += g);
        reduced.gradient.extend((0..d).map(|k| dot(direction(k), image)));

        // A W and the bounds of the unknowns as rows, with what x₀ leaves of each.
        let (facets, lower) = (program.row_lower.len(), &program.lower);
        let m = facets + n;
        reduced.row_lower.clear();
        reduced.row_upper.clear();
        for i in 0..facets {
            let now: f64 = (0..n).map(|j| program.rows[j * facets + i] * start[j]).sum();
            reduced.row_lower.push((program.row_lower[i] - now).min(0.0));
        }
        reduced.row_lower.extend(lower.iter().zip(&*start).map(|(l, now)| (l - now).min(0.0)));
        reduced.row_upper.resize(facets, f64::INFINITY);
        let fixed = program.upper.iter().map(|u| if u.is_finite() { 0.0 } else { f64::INFINITY });
        reduced.row_upper.extend(fixed);
        reduced.rows.clear();
        for k in 0..d {
            let w = direction(k);
            for i in 0..facets {
                reduced.rows.push((0..n).map(|j| program.rows[j * facets + i] * w[j]).sum());
            }
            reduced.rows.extend_from_slice(w);
        }
        debug_assert_eq!(reduced.rows.len(), m * d);

        step.clear();
        step.resize(d, 0.0);
        let qp = Qp {
            hessian: &reduced.hessian,
            gradient: &reduced.gradient,
            rows: &reduced.rows,
            row_lower: &reduced.row_lower,
            row_upper: &reduced.row_upper,
            lower: &[],
            upper: &[],
        };
        let outcome = solver.solve(&qp, step);
        if outcome.status.is_usable() {
            for (k, w) in step.iter().enumerate() {
                axpy(unit * w, direction(k), x);
            }
        }
        outcome
    }

    /// Writes W and returns its number of columns: the basis of Z's rows is completed by unit
    /// vectors; where none has a share left outside, it spans all.
    fn find_directions(&mut self, columns: &[f64], r: usize, n: usize) -> usize {
        self.basis.reset(n);
        self.unit.resize(n, 0.0);
        let longest = columns.iter().fold(0.0f64, |m, z| m.max(z.abs()));
        for i in 0..r {
            for (unit, column) in self.unit.iter_mut().zip(columns.chunks_exact(r)) {
                *unit = column[i];
            }
            let length = dot(&self.unit, &self.unit).sqrt();
            let distance = self.basis.probe(&self.unit);
            if distance > DEPENDENT * length.max(longest) {
                self.basis.push(distance);
            }
        }
        let rank = self.basis.rank();
        for i in 0..n {
            self.unit.fill(0.0);
            self.unit[i] = 1.0;
            let distance = self.basis.probe(&self.unit);
            if distance > DEPENDENT && self.basis.rank() < n {
                self.basis.push(distance);
            }
        }
        let all = self.basis.rank();
        self.directions.clear();
        self.directions.resize((all - rank) * n, 0.0);
        self.unit.resize(all, 0.0);
        for k in rank..all {
            self.unit.fill(0.0);
            self.unit[k] = 1.0;
            self.basis.add_combination(&self.unit, &mut self.directions[(k - rank) * n..][..n]);
        }
        all - rank
    }
}
