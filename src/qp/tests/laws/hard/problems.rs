//! Small quadratic programs with known optima that are hard for some method, as data.
//!
//! Sources: HS is W. Hock, K. Schittkowski, *Test Examples for Nonlinear Programming Codes* (1981),
//! by number; HS35MOD, GENHS28, TAME and ZECEVIC2 are from I. Maros, C. Mészáros, *A repository of
//! convex quadratic programming problems*, Optim. Methods Softw. 11 (1999), by name. The cycling
//! linear programs are those of E. M. L. Beale, *Cycling in the dual simplex algorithm*, Nav. Res.
//! Logist. Q. 2 (1955) (texts that write its objective -¾, 20, -½, 6 use other units for two
//! unknowns), and of H. W. Kuhn (in M. L. Balinski, A. W. Tucker, SIAM Rev. 11, 1969); the worst
//! case of the simplex method is of V. Klee, G. J. Minty, *How good is the simplex algorithm?*
//! (1972), in the units of V. Chvátal, *Linear Programming* (1983), ch. 4.
//!
//! | name | n × m | why it is hard | optimum |
//! |---|---|---|---|
//! | HS3 | 2 × 0 | curvature 1e-5, semidefinite | 0 |
//! | HS21 | 2 × 1 | scales 0.01 and 1 | -99.96 |
//! | HS28 | 3 × 1 | semidefinite | 0 |
//! | HS35 | 3 × 1 | | 1/9 |
//! | HS35MOD | 3 × 1 | a fixed unknown | 1/4 |
//! | HS48 | 5 × 2 | semidefinite | 0 |
//! | HS51 | 5 × 3 | zero residual | 0 |
//! | HS52 | 5 × 3 | equalities only | 1859/349 |
//! | HS53 | 5 × 3 | with idle bounds | 176/43 |
//! | HS76 | 4 × 3 | | -103/22 |
//! | HS118 | 15 × 17 | curvature 1e-4, degenerate | 664.82045 |
//! | GENHS28 | 10 × 8 | semidefinite, two freedoms | 4596/4957 |
//! | TAME | 2 × 1 | semidefinite | 0 |
//! | ZECEVIC2 | 2 × 2 | semidefinite | -4.125 |
//! | Beale | 4 × 3 | linear, cycles | -1/20 |
//! | Kuhn | 4 × 3 | linear, cycles, degenerate | -2 |
//! | Klee-Minty | 3 × 3 | linear, scales 1 to 1e4 | -10000 |
//! | Hilbert | 8 × 0 | condition 1e10 | -½ Σ H |
//! | contradiction | 2 × 3 | by a margin of 1e-6 | none |
//! | ray | 2 × 1 | linear without a minimum | none |
//!
//! All optima but those of HS118 and Hilbert can be verified by hand; all were recomputed in
//! rational arithmetic from the active set.

use legwork_qp::QpData;

/// What is known about a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KnownOptimum {
    /// The least objective.
    Value(f64),
    /// No point is feasible.
    Infeasible,
    /// The objective falls without bound.
    Unbounded,
}

/// A program with its known optimum.
#[derive(Clone, Debug)]
pub(crate) struct HardProblem {
    /// Its name in the source.
    pub(crate) name: &'static str,
    /// The program.
    pub(crate) program: QpData,
    /// Constant that makes its objective that of the source.
    pub(crate) constant: f64,
    /// Outcome stated by the source.
    pub(crate) optimum: KnownOptimum,
}

const INF: f64 = f64::INFINITY;

/// All programs of the table in the module docs, in its order.
pub(crate) fn hard_problems() -> Vec<HardProblem> {
    let mut all = hock_schittkowski();
    all.extend(repository());
    all.extend(linear());
    let mut hilbert = Draft::new(8);
    let mut sum = 0.0;
    for i in 0..8 {
        for j in 0..8 {
            let entry = 1.0 / (i + j + 1) as f64;
            hilbert.hessian[j * 8 + i] = entry;
            hilbert.gradient[i] -= entry;
            sum += entry;
        }
        hilbert = hilbert.bound(i, 0.0, INF);
    }
    all.push(hilbert.known("Hilbert", -0.5 * sum));
    all.push(
        Draft::new(2)
            .square(&[(0, 1.0)], 0.0)
            .square(&[(1, 1.0)], 0.0)
            .row(&[(0, 1.0), (1, 1.0)], 1.0, INF)
            .row(&[(0, 1.0), (1, -1.0)], 1.0, INF)
            .row(&[(0, -2.0)], -2.0 + 4e-6, INF)
            .with("contradiction", KnownOptimum::Infeasible),
    );
    all.push(
        Draft::new(2)
            .cost(&[-1.0, 0.5])
            .row(&[(0, 1.0), (1, -1.0)], -INF, 1.0)
            .bound(0, 0.0, INF)
            .bound(1, 0.0, INF)
            .with("ray", KnownOptimum::Unbounded),
    );
    all
}

fn hock_schittkowski() -> Vec<HardProblem> {
    let linked = |first: f64, sum: f64| {
        Draft::new(5)
            .square(&[(0, first), (1, -1.0)], 0.0)
            .square(&[(1, 1.0), (2, 1.0)], 2.0)
            .square(&[(3, 1.0)], 1.0)
            .square(&[(4, 1.0)], 1.0)
            .row(&[(0, 1.0), (1, 3.0)], sum, sum)
            .row(&[(2, 1.0), (3, 1.0), (4, -2.0)], 0.0, 0.0)
            .row(&[(1, 1.0), (4, -1.0)], 0.0, 0.0)
    };
    let mut boxed = linked(1.0, 0.0);
    for i in 0..5 {
        boxed = boxed.bound(i, -10.0, 10.0);
    }
    vec![
        Draft::new(2)
            .weighted_square(1e-5, &[(0, -1.0), (1, 1.0)], 0.0)
            .cost(&[0.0, 1.0])
            .bound(1, 0.0, INF)
            .known("HS3", 0.0),
        Draft::new(2)
            .weighted_square(0.01, &[(0, 1.0)], 0.0)
            .square(&[(1, 1.0)], 0.0)
            .plus(-100.0)
            .row(&[(0, 10.0), (1, -1.0)], 10.0, INF)
            .bound(0, 2.0, 50.0)
            .bound(1, -50.0, 50.0)
            .known("HS21", -99.96),
        Draft::new(3)
            .square(&[(0, 1.0), (1, 1.0)], 0.0)
            .square(&[(1, 1.0), (2, 1.0)], 0.0)
            .row(&[(0, 1.0), (1, 2.0), (2, 3.0)], 1.0, 1.0)
            .known("HS28", 0.0),
        hs35().known("HS35", 1.0 / 9.0),
        hs35().bound(1, 0.5, 0.5).known("HS35MOD", 0.25),
        Draft::new(5)
            .square(&[(0, 1.0)], 1.0)
            .square(&[(1, 1.0), (2, -1.0)], 0.0)
            .square(&[(3, 1.0), (4, -1.0)], 0.0)
            .row(&[(0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0)], 5.0, 5.0)
            .row(&[(2, 1.0), (3, -2.0), (4, -2.0)], -3.0, -3.0)
            .known("HS48", 0.0),
        linked(1.0, 4.0).known("HS51", 0.0),
        linked(4.0, 0.0).known("HS52", 1859.0 / 349.0),
        boxed.known("HS53", 176.0 / 43.0),
        hs76().known("HS76", -103.0 / 22.0),
        hs118().known("HS118", 664.82045),
    ]
}

fn hs35() -> Draft {
    let mut draft = Draft::new(3)
        .product(0, 0, 2.0)
        .product(1, 1, 2.0)
        .product(2, 2, 1.0)
        .product(0, 1, 2.0)
        .product(0, 2, 2.0)
        .cost(&[-8.0, -6.0, -4.0])
        .plus(9.0)
        .row(&[(0, 1.0), (1, 1.0), (2, 2.0)], -INF, 3.0);
    for i in 0..3 {
        draft = draft.bound(i, 0.0, INF);
    }
    draft
}

fn hs76() -> Draft {
    let mut draft = Draft::new(4)
        .product(0, 0, 1.0)
        .product(1, 1, 0.5)
        .product(2, 2, 1.0)
        .product(3, 3, 0.5)
        .product(0, 2, -1.0)
        .product(2, 3, 1.0)
        .cost(&[-1.0, -3.0, 1.0, -1.0])
        .row(&[(0, 1.0), (1, 2.0), (2, 1.0), (3, 1.0)], -INF, 5.0)
        .row(&[(0, 3.0), (1, 1.0), (2, 2.0), (3, -1.0)], -INF, 4.0)
        .row(&[(1, 1.0), (2, 4.0)], 1.5, INF);
    for i in 0..4 {
        draft = draft.bound(i, 0.0, INF);
    }
    draft
}

fn hs118() -> Draft {
    let mut draft = Draft::new(15);
    for k in 0..5 {
        let (a, b, c) = (3 * k, 3 * k + 1, 3 * k + 2);
        draft = draft.product(a, a, 1e-4).product(b, b, 1e-4).product(c, c, 1.5e-4);
        draft.gradient[a] = 2.3;
        draft.gradient[b] = 1.7;
        draft.gradient[c] = 2.2;
        let least = [60.0, 50.0, 70.0, 85.0, 100.0][k];
        draft = draft.row(&[(a, 1.0), (b, 1.0), (c, 1.0)], least, INF);
        if k == 0 {
            draft = draft.bound(a, 8.0, 21.0).bound(b, 43.0, 57.0).bound(c, 3.0, 16.0);
            continue;
        }
        draft = draft.bound(a, 0.0, 90.0).bound(b, 0.0, 120.0).bound(c, 0.0, 60.0);
        for (now, rise) in [(a, 6.0), (b, 7.0), (c, 6.0)] {
            draft = draft.row(&[(now, 1.0), (now - 3, -1.0)], -7.0, rise);
        }
    }
    draft
}

fn repository() -> Vec<HardProblem> {
    let mut general = Draft::new(10);
    for i in 0..9 {
        general = general.square(&[(i, 1.0), (i + 1, 1.0)], 0.0);
    }
    for i in 0..8 {
        general = general.row(&[(i, 1.0), (i + 1, 2.0), (i + 2, 3.0)], 1.0, 1.0);
    }
    vec![
        general.known("GENHS28", 4596.0 / 4957.0),
        Draft::new(2)
            .square(&[(0, 1.0), (1, -1.0)], 0.0)
            .row(&[(0, 1.0), (1, 1.0)], 1.0, 1.0)
            .bound(0, 0.0, INF)
            .bound(1, 0.0, INF)
            .known("TAME", 0.0),
        Draft::new(2)
            .product(1, 1, 2.0)
            .cost(&[-2.0, -3.0])
            .row(&[(0, 1.0), (1, 1.0)], -INF, 2.0)
            .row(&[(0, 1.0), (1, 4.0)], -INF, 4.0)
            .bound(0, 0.0, 10.0)
            .bound(1, 0.0, 10.0)
            .known("ZECEVIC2", -4.125),
    ]
}

fn linear() -> Vec<HardProblem> {
    let positive = |mut draft: Draft| {
        for i in 0..draft.gradient.len() {
            draft = draft.bound(i, 0.0, INF);
        }
        draft
    };
    vec![
        positive(
            Draft::new(4)
                .cost(&[-0.75, 150.0, -0.02, 6.0])
                .row(&[(0, 0.25), (1, -60.0), (2, -0.04), (3, 9.0)], -INF, 0.0)
                .row(&[(0, 0.5), (1, -90.0), (2, -0.02), (3, 3.0)], -INF, 0.0)
                .row(&[(2, 1.0)], -INF, 1.0),
        )
        .known("Beale", -0.05),
        positive(
            Draft::new(4)
                .cost(&[-2.0, -3.0, 1.0, 12.0])
                .row(&[(0, -2.0), (1, -9.0), (2, 1.0), (3, 9.0)], -INF, 0.0)
                .row(&[(0, 1.0 / 3.0), (1, 1.0), (2, -1.0 / 3.0), (3, -2.0)], -INF, 0.0)
                .row(&[(0, 2.0), (1, 3.0), (2, -1.0), (3, -12.0)], -INF, 2.0),
        )
        .known("Kuhn", -2.0),
        positive(
            Draft::new(3)
                .cost(&[-100.0, -10.0, -1.0])
                .row(&[(0, 1.0)], -INF, 1.0)
                .row(&[(0, 20.0), (1, 1.0)], -INF, 100.0)
                .row(&[(0, 200.0), (1, 20.0), (2, 1.0)], -INF, 10_000.0),
        )
        .known("Klee-Minty", -10_000.0),
    ]
}

/// A row: its nonzeros and its bounds.
struct Row {
    entries: Vec<(usize, f64)>,
    lower: f64,
    upper: f64,
}

/// A program under construction.
struct Draft {
    hessian: Vec<f64>,
    gradient: Vec<f64>,
    constant: f64,
    rows: Vec<Row>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Draft {
    fn new(n: usize) -> Self {
        Self {
            hessian: vec![0.0; n * n],
            gradient: vec![0.0; n],
            constant: 0.0,
            rows: Vec::new(),
            lower: vec![-INF; n],
            upper: vec![INF; n],
        }
    }

    /// Adds `value x_i x_j`.
    fn product(mut self, i: usize, j: usize, value: f64) -> Self {
        let n = self.gradient.len();
        self.hessian[j * n + i] += value;
        self.hessian[i * n + j] += value;
        self
    }

    /// Adds `(Σ a x - b)²`.
    fn square(self, entries: &[(usize, f64)], b: f64) -> Self {
        self.weighted_square(1.0, entries, b)
    }

    fn weighted_square(mut self, weight: f64, entries: &[(usize, f64)], b: f64) -> Self {
        let n = self.gradient.len();
        for &(i, a) in entries {
            for &(j, other) in entries {
                self.hessian[j * n + i] += 2.0 * weight * a * other;
            }
            self.gradient[i] -= 2.0 * weight * a * b;
        }
        self.constant += weight * b * b;
        self
    }

    fn cost(mut self, cost: &[f64]) -> Self {
        self.gradient.iter_mut().zip(cost).for_each(|(g, c)| *g += c);
        self
    }

    fn plus(mut self, constant: f64) -> Self {
        self.constant += constant;
        self
    }

    fn row(mut self, entries: &[(usize, f64)], lower: f64, upper: f64) -> Self {
        self.rows.push(Row { entries: entries.to_vec(), lower, upper });
        self
    }

    fn bound(mut self, i: usize, lower: f64, upper: f64) -> Self {
        (self.lower[i], self.upper[i]) = (lower, upper);
        self
    }

    fn known(self, name: &'static str, optimum: f64) -> HardProblem {
        self.with(name, KnownOptimum::Value(optimum))
    }

    fn with(self, name: &'static str, optimum: KnownOptimum) -> HardProblem {
        let (n, m) = (self.gradient.len(), self.rows.len());
        let mut rows = vec![0.0; m * n];
        for (index, row) in self.rows.iter().enumerate() {
            for &(j, value) in &row.entries {
                rows[j * m + index] = value;
            }
        }
        let program = QpData {
            hessian: self.hessian,
            gradient: self.gradient,
            rows,
            row_lower: self.rows.iter().map(|row| row.lower).collect(),
            row_upper: self.rows.iter().map(|row| row.upper).collect(),
            lower: self.lower,
            upper: self.upper,
        };
        HardProblem { name, program, constant: self.constant, optimum }
    }
}
