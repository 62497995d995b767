use super::*;
use crate::kkt::{ConeMultipliers, cone_residuals};
use crate::problem_data::{ConeProgramData, QpData};
use crate::problems::Random;

/// A problem's numbers.
struct Sample {
    matrix: Vec<f64>,
    target: Vec<f64>,
    rows: Vec<f64>,
    offset: Vec<f64>,
    cone_sizes: Vec<usize>,
}

impl Sample {
    fn solve(&self, n: usize) -> (Vec<f64>, Outcome) {
        let mut x = vec![0.0; n];
        let outcome = ConicLeastSquaresSolver::default().solve(&self.view(), &mut x);
        (x, outcome)
    }

    fn view(&self) -> ConicLeastSquares<'_> {
        ConicLeastSquares {
            matrix: &self.matrix,
            target: &self.target,
            rows: &self.rows,
            offset: &self.offset,
            cone_sizes: &self.cone_sizes,
        }
    }

    /// Random rows around a point that satisfies them, some just so.
    fn random(random: &mut Random, n: usize, linear: usize, cone_sizes: &[usize]) -> Self {
        let (r, m) = (n + 3, linear + cone_sizes.iter().sum::<usize>());
        let scale = libm::pow(10.0, 3.0 * random.normal());
        let mut values =
            |count: usize| -> Vec<f64> { (0..count).map(|_| scale * random.normal()).collect() };
        let (matrix, target, rows) = (values(r * n), values(r), values(m * n));
        let inside: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mut offset = vec![0.0; m];
        matrix_vector(&rows, m, &inside, &mut offset);
        for offset in &mut offset[..linear] {
            *offset -= scale * random.uniform();
        }
        let mut start = linear;
        for size in cone_sizes {
            let mut t: Vec<f64> = (0..*size).map(|_| scale * random.normal()).collect();
            t[0] = dot(&t[1..], &t[1..]).sqrt() + scale * random.uniform();
            axpy(-1.0, &t, &mut offset[start..start + size]);
            start += size;
        }
        Self { matrix, target, rows, offset, cone_sizes: cone_sizes.to_vec() }
    }

    /// The cone program with the Hessian CᵀC.
    fn dense(&self, n: usize) -> ConeProgramData {
        let (r, m) = (self.target.len(), self.offset.len());
        let column = |k: usize| &self.matrix[k * r..(k + 1) * r];
        let linear_rows = m - self.cone_sizes.iter().sum::<usize>();
        let linear = QpData {
            hessian: (0..n * n).map(|at| dot(column(at % n), column(at / n))).collect(),
            gradient: (0..n).map(|k| -dot(column(k), &self.target)).collect(),
            rows: (self.rows.chunks_exact(m)).flat_map(|g| g[..linear_rows].to_vec()).collect(),
            row_lower: self.offset[..linear_rows].to_vec(),
            row_upper: vec![f64::INFINITY; linear_rows],
            lower: vec![f64::NEG_INFINITY; n],
            upper: vec![f64::INFINITY; n],
        };
        ConeProgramData {
            linear,
            cone_rows: (self.rows.chunks_exact(m))
                .flat_map(|g| g[linear_rows..].to_vec())
                .collect(),
            cone_offset: self.offset[linear_rows..].iter().map(|h| -h).collect(),
            cone_sizes: self.cone_sizes.clone(),
        }
    }
}

/// The judge of cone programs finds every answer optimal to what `Solved` promises, with the
/// multipliers that the solver gives and the Hessian CᵀC, which is well enough here; and all but the
/// few that rounding stops before the target to a hundred times that.
#[test]
fn answers_satisfy_the_optimality_conditions() {
    let mut random = Random::new(1);
    let mut exact = 0;
    for case in 0..1000 {
        let (n, linear) = (1 + random.below(9), random.below(8));
        let sizes: Vec<usize> = (0..random.below(4)).map(|_| 1 + random.below(4)).collect();
        let linear = linear.max(usize::from(sizes.is_empty()));
        let sample = Sample::random(&mut random, n, linear, &sizes);
        let mut solver = ConicLeastSquaresSolver::default();
        let (mut x, data) = (vec![0.0; n], sample.dense(n));
        let outcome = solver.solve(&sample.view(), &mut x);
        assert_eq!(outcome.status, Status::Solved, "{case}: {outcome:?}");
        let (rows, cones) = solver.multipliers().split_at(linear);
        let multipliers = ConeMultipliers { rows, bounds: &vec![0.0; n], cones };
        let program = data.view().expect("fits");
        let residuals = cone_residuals(&program, &x, multipliers);
        assert!(residuals.worst() < SOLVED, "{case}: {residuals:?}");
        exact += usize::from(residuals.worst() < 100.0 * TARGET);
    }
    assert!(exact > 990, "{exact}");
}

/// The nearest point of a cone: `(a + |b|)/2 (1, b/|b|)` for a point outside the cone and its polar.
#[test]
fn projects_on_a_cone() {
    let identity = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let cases = [
        ([2.0, 1.0, 1.0], [2.0, 1.0, 1.0]),
        ([-3.0, 1.0, 2.0], [0.0, 0.0, 0.0]),
        ([1.0, 3.0, 4.0], [3.0, 1.8, 2.4]),
        ([-1.0, -3.0, 4.0], [2.0, -1.2, 1.6]),
    ];
    for (target, nearest) in cases {
        let sample = Sample {
            matrix: identity.clone(),
            target: target.to_vec(),
            rows: identity.clone(),
            offset: vec![0.0; 3],
            cone_sizes: vec![3],
        };
        let (x, outcome) = sample.solve(3);
        assert_eq!(outcome.status, Status::Solved, "{outcome:?}");
        for (x, nearest) in x.iter().zip(nearest) {
            assert!((x - nearest).abs() < 1e-10, "{x} {nearest}");
        }
    }
}

/// k contacts brake a block that slides at v, weighed by ζ against a residual of order B = 10⁸:
/// `min Σ ζ f² + |r|² + |r_i + B (v + w Σ r)|²` with `|r| ≤ μ f`. By symmetry all carry the same,
/// `f = c μ B v / (ζ + μ² + c² μ²)` with `c = 1 + B w k`, down to the last digits for every ζ,
/// although the forces among the contacts weigh 1 beside 10¹⁶.
#[test]
fn weights_may_lie_fourteen_orders_apart() {
    let (b, v, w, mu) = (1e8, 0.3, 1e-2, 0.25);
    for k in [1usize, 2, 4, 9] {
        for exponent in 0..=14 {
            let zeta = libm::pow(10.0, f64::from(exponent));
            let (n, r) = (3 * k, 5 * k);
            let mut matrix = vec![0.0; r * n];
            let mut target = vec![0.0; r];
            let mut rows = vec![0.0; n * n];
            for contact in 0..k {
                for axis in 0..3 {
                    let column = 3 * contact + axis;
                    matrix[column * r + column] = if axis == 0 { zeta.sqrt() } else { 1.0 };
                    rows[column * n + column] = if axis == 0 { mu } else { 1.0 };
                    for other in (0..k).filter(|_| axis > 0) {
                        let row = 3 * k + 2 * other + axis - 1;
                        matrix[column * r + row] += b * w + f64::from(u8::from(other == contact));
                    }
                }
                target[3 * k + 2 * contact] = -b * v;
            }
            let offset = vec![0.0; n];
            let (x, outcome) =
                Sample { matrix, target, rows, offset, cone_sizes: vec![3; k] }.solve(n);
            assert_eq!(outcome.status, Status::Solved, "{k} 1e{exponent}: {outcome:?}");
            let c = 1.0 + b * w * k as f64;
            let f = c * mu * b * v / (zeta + mu * mu + c * c * mu * mu);
            for found in x.chunks_exact(3) {
                for (x, expected) in found.iter().zip([f, -mu * f, 0.0]) {
                    assert!((x - expected).abs() < 1e-9 * f, "{k} 1e{exponent}: {found:?} {f}");
                }
            }
        }
    }
}

/// No point satisfies `x ≥ 1` and `-x ≥ 1`; NaN is no number; nothing is asked, nothing is done.
#[test]
fn problems_without_an_answer_are_told() {
    let sample = |target: f64, offset: Vec<f64>| {
        let rows = vec![1.0, -1.0];
        Sample { matrix: vec![1.0], target: vec![target], rows, offset, cone_sizes: vec![] }
    };
    let (_, outcome) = sample(0.0, vec![1.0, 1.0]).solve(1);
    assert!(!outcome.status.is_usable(), "{outcome:?}");
    let (_, outcome) = sample(f64::NAN, vec![1.0, 1.0]).solve(1);
    assert_eq!(outcome.status, Status::InvalidData);
    let (x, outcome) = sample(0.0, vec![0.0, 0.0]).solve(1);
    assert_eq!((x, outcome.status), (vec![0.0], Status::Solved));
    // No unknown is free of the objective and of the rows.
    let lost = Sample {
        matrix: vec![1.0, 0.0],
        target: vec![1.0],
        rows: vec![1.0, 0.0],
        offset: vec![0.0],
        cone_sizes: vec![],
    };
    assert_eq!(lost.solve(2).1.status, Status::NumericalTrouble);
}
