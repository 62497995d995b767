//! Random and structured matrices from a seeded generator, and the sums that laws need.

/// SplitMix64 (G. Steele et al. 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xD129_0A1B_2C3D_4E5F) ^ 0x5851_F42D_4C95_7F2D)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in (-1, 1).
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.uniform() - 1.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.uniform() * limit as f64) as usize
    }

    pub(crate) fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.signed()).collect()
    }

    /// 0 to 40, most of them small.
    fn size(&mut self) -> usize {
        let share = self.uniform();
        (41.0 * share * share * share) as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Dense,
    /// Scales of rows and columns over twelve decades.
    Graded,
    /// A column that differs from a sum of the others by 1e-7.
    NearlySingular,
    /// A product n × r times r × n.
    RankDeficient,
    RepeatedColumns,
    Zero,
}

pub(crate) const KINDS: [Kind; 6] = [
    Kind::Dense,
    Kind::Graded,
    Kind::NearlySingular,
    Kind::RankDeficient,
    Kind::RepeatedColumns,
    Kind::Zero,
];

/// A square matrix, column-major.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) n: usize,
    pub(crate) a: Vec<f64>,
    /// The rank in exact arithmetic, with probability one.
    pub(crate) rank: usize,
    pub(crate) random: Random,
}

/// Calls `law` with so many square matrices of all kinds.
pub(crate) fn for_each_square(count: u64, mut law: impl FnMut(&mut Case)) {
    for seed in 0..count {
        let mut random = Random::new(seed);
        // The zero matrix is one case in sixteen.
        let kind = match seed % 16 {
            0 => Kind::Zero,
            other => KINDS[other as usize % 5],
        };
        let n = random.size();
        let mut a = random.vector(n * n);
        let mut rank = n;
        match kind {
            Kind::Dense => {}
            Kind::Graded => {
                let mut scales = || (0..n).map(|_| 10f64.powf(6.0 * random.signed())).collect();
                let (rows, columns): (Vec<f64>, Vec<f64>) = (scales(), scales());
                for (j, column) in a.chunks_exact_mut(n.max(1)).enumerate() {
                    column.iter_mut().zip(&rows).for_each(|(a, r)| *a *= r * columns[j]);
                }
            }
            Kind::NearlySingular if n > 1 => {
                let (first, rest) = a.split_at_mut(n);
                let noise = random.vector(n);
                for (i, first) in first.iter_mut().enumerate() {
                    let sum: f64 = rest.iter().skip(i).step_by(n).sum();
                    *first = sum + 1e-7 * noise[i];
                }
            }
            Kind::RankDeficient => {
                rank = random.below(n.max(1));
                let (left, right) = (random.vector(n * rank), random.vector(rank * n));
                a = product(&left, n, &right, rank);
            }
            Kind::RepeatedColumns if n > 1 => {
                let (from, to) = (random.below(n), random.below(n));
                a.copy_within(from * n..(from + 1) * n, to * n);
                rank = if from == to { n } else { n - 1 };
            }
            Kind::Zero => (a, rank) = (vec![0.0; n * n], 0),
            Kind::NearlySingular | Kind::RepeatedColumns => {}
        }
        let name = format!("seed {seed}, {kind:?}, n {n}, rank {rank}");
        law(&mut Case { name, kind, n, a, rank, random });
    }
}

/// Calls `law` with so many `BᵀB` of the matrices of [`for_each_square`].
pub(crate) fn for_each_gram(count: u64, mut law: impl FnMut(&mut Case)) {
    for_each_square(count, |case| {
        case.a = product(&transposed(&case.a, case.n), case.n, &case.a, case.n);
        law(case);
    });
}

/// Calls `law` with so many symmetric positive definite matrices `D (BᵀB + δ I) D`, D graded.
pub(crate) fn for_each_definite(count: u64, mut law: impl FnMut(&mut Case)) {
    for_each_gram(count, |case| {
        let n = case.n;
        let largest = (0..n).fold(0.0, |most: f64, i| most.max(case.a[i * n + i]));
        let shift = if largest > 0.0 { 1e-3 * largest } else { 1.0 };
        (0..n).for_each(|i| case.a[i * n + i] += shift);
        let scales: Vec<f64> = (0..n).map(|_| 10f64.powf(2.0 * case.random.signed())).collect();
        for j in 0..n {
            (0..n).for_each(|i| case.a[j * n + i] *= scales[i] * scales[j]);
        }
        law(case);
    });
}

pub(crate) fn transposed(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|at| a[at % n * n + at / n]).collect()
}

/// `A B` for A of `rows × inner`.
pub(crate) fn product(a: &[f64], rows: usize, b: &[f64], inner: usize) -> Vec<f64> {
    let columns = b.len().checked_div(inner).unwrap_or(rows);
    let mut c = vec![0.0; rows * columns];
    for j in 0..columns {
        for k in 0..inner {
            let factor = b[j * inner + k];
            for i in 0..rows {
                c[j * rows + i] += a[k * rows + i] * factor;
            }
        }
    }
    c
}

pub(crate) fn absolute(a: &[f64]) -> Vec<f64> {
    a.iter().map(|a| a.abs()).collect()
}

/// Fails unless `|a - b| ≤ share · bound` entry by entry.
pub(crate) fn assert_within(a: &[f64], b: &[f64], bound: &[f64], share: f64, what: &str) {
    assert_eq!((a.len(), b.len()), (bound.len(), bound.len()), "{what}");
    for (at, ((a, b), bound)) in a.iter().zip(b).zip(bound).enumerate() {
        let (error, most) = ((a - b).abs(), share * bound);
        // Written so that NaN fails.
        assert!(error <= most, "{what}: entry {at}: |{a:e} - {b:e}| = {error:e} > {most:e}");
    }
}
