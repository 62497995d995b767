//! Coefficients of ESDIRK4(3)6L\[2\]SA; Kennedy, Carpenter (2016), table 16 and its dense output.

const SQRT_2: f64 = std::f64::consts::SQRT_2;
/// `γ`, the diagonal of A but for its first entry.
pub(super) const GAMMA: f64 = 0.25;
/// Nodes.
pub(super) const C: [f64; 6] = [0.0, 0.5, (2.0 - SQRT_2) / 4.0, 0.625, 1.04, 1.0];

/// Rows of A left of the diagonal; the first entry of each follows from `Σⱼ aᵢⱼ = cᵢ`.
pub(super) const A: [[f64; 5]; 6] = [
    [0.0; 5],
    row(1, [0.0, 0.0, 0.0, 0.0]),
    row(2, [(1.0 - SQRT_2) / 8.0, 0.0, 0.0, 0.0]),
    row(3, [(5.0 - 7.0 * SQRT_2) / 64.0, 7.0 * (1.0 + SQRT_2) / 32.0, 0.0, 0.0]),
    row(
        4,
        [
            (-13796.0 - 54539.0 * SQRT_2) / 125000.0,
            (506605.0 + 132109.0 * SQRT_2) / 437500.0,
            166.0 * (-97.0 + 376.0 * SQRT_2) / 109375.0,
            0.0,
        ],
    ),
    row(
        5,
        [
            (1181.0 - 987.0 * SQRT_2) / 13782.0,
            47.0 * (-267.0 + 1783.0 * SQRT_2) / 273343.0,
            -16.0 * (-22922.0 + 3525.0 * SQRT_2) / 571953.0,
            -15625.0 * (97.0 + 376.0 * SQRT_2) / 90749876.0,
        ],
    ),
];

const fn row(stage: usize, rest: [f64; 4]) -> [f64; 5] {
    let first = C[stage] - rest[0] - rest[1] - rest[2] - rest[3] - GAMMA;
    [first, rest[0], rest[1], rest[2], rest[3]]
}

/// Weights of the embedded solution; the first follows from `Σ b̂ⱼ = 1`.
const EMBEDDED: [f64; 6] = {
    let b: [f64; 5] = [
        -480923228411.0 / 4982971448372.0,
        6709447293961.0 / 12833189095359.0,
        3513175791894.0 / 6748737351361.0,
        -498863281070.0 / 6042575550617.0,
        2077005547802.0 / 8945017530137.0,
    ];
    [1.0 - b[0] - b[1] - b[2] - b[3] - b[4], b[0], b[1], b[2], b[3], b[4]]
};

/// `b - b̂`.
pub(super) const E: [f64; 6] = {
    let b = A[5];
    let h = EMBEDDED;
    [b[0] - h[0], b[1] - h[1], b[2] - h[2], b[3] - h[3], b[4] - h[4], GAMMA - h[5]]
};

/// Coefficients of θ², θ³, θ⁴ in `bⱼ*(θ)`. That of θ follows from `bⱼ*(1) = bⱼ`.
pub(super) const DENSE: [[f64; 6]; 3] = [
    [
        -69996760330788.0 / 18526599551455.0,
        -69996760330788.0 / 18526599551455.0,
        102610171905103.0 / 26266659717953.0,
        74957623907620.0 / 12279805097313.0,
        113853199235633.0 / 9983266320290.0,
        -84229392543950.0 / 6077740599399.0,
    ],
    [
        32473635429419.0 / 7030701510665.0,
        32473635429419.0 / 7030701510665.0,
        -38866317253841.0 / 6249835826165.0,
        -26705717223886.0 / 4265677133337.0,
        -121105382143155.0 / 6658412667527.0,
        1102028547503824.0 / 51424476870755.0,
    ],
    [
        -14668528638623.0 / 8083464301755.0,
        -14668528638623.0 / 8083464301755.0,
        21103455885091.0 / 7774428730952.0,
        30155591475533.0 / 15293695940061.0,
        119853375102088.0 / 14336240079991.0,
        -63602213973224.0 / 6753880425717.0,
    ],
];

/// Weights of the stage rates before that extrapolate to a stage, stages 2 to 6: polynomials in c
/// of the highest degree whose weights stay below 2. Larger ones, as stage 5 would have from degree
/// 2 on, amplify what stiff components do.
pub(super) const GUESS: [[f64; 5]; 6] = [
    [0.0; 5],
    [1.0, 0.0, 0.0, 0.0, 0.0],
    extrapolation(2, [true, true, false, false, false]),
    extrapolation(3, [true, true, true, false, false]),
    extrapolation(4, [false, false, true, true, false]),
    extrapolation(5, [true, true, true, true, true]),
];

/// Lagrange's weights of the used nodes at `C[to]`.
const fn extrapolation(to: usize, used: [bool; 5]) -> [f64; 5] {
    let mut weights = [0.0; 5];
    let mut j = 0;
    while j < 5 {
        if used[j] {
            weights[j] = 1.0;
            let mut m = 0;
            while m < 5 {
                if used[m] && m != j {
                    weights[j] *= (C[to] - C[m]) / (C[j] - C[m]);
                }
                m += 1;
            }
        }
        j += 1;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a(i: usize, j: usize) -> f64 {
        if i == 0 || j > i {
            0.0
        } else if i == j {
            GAMMA
        } else {
            A[i][j]
        }
    }

    fn dot(b: &[f64; 6], x: impl Fn(usize) -> f64) -> f64 {
        (0..6).map(|i| b[i] * x(i)).sum()
    }

    /// `Σⱼ aᵢⱼ xⱼ`.
    fn stage(x: impl Fn(usize) -> f64) -> impl Fn(usize) -> f64 {
        move |i| (0..6).map(|j| a(i, j) * x(j)).sum()
    }

    /// Defects of the conditions up to order 4, relative, and how many there are up to each order;
    /// Hairer, Nørsett, Wanner I, table II.2.1.
    fn defects(b: &[f64; 6], theta: f64) -> [f64; 8] {
        let c = |i: usize| C[i];
        let square = |i: usize| C[i] * C[i];
        let [t1, t2] = [theta, theta * theta];
        let [t3, t4] = [t2 * theta, t2 * t2];
        [
            dot(b, |_| 1.0) / t1 - 1.0,
            2.0 * dot(b, c) / t2 - 1.0,
            3.0 * dot(b, square) / t3 - 1.0,
            6.0 * dot(b, stage(c)) / t3 - 1.0,
            4.0 * dot(b, |i| C[i] * square(i)) / t4 - 1.0,
            8.0 * dot(b, |i| C[i] * stage(c)(i)) / t4 - 1.0,
            12.0 * dot(b, stage(square)) / t4 - 1.0,
            24.0 * dot(b, stage(stage(c))) / t4 - 1.0,
        ]
    }

    fn weights() -> [f64; 6] {
        std::array::from_fn(|j| a(5, j))
    }

    #[test]
    fn order_conditions_hold() {
        let main = defects(&weights(), 1.0);
        assert!(main.iter().all(|d| d.abs() < 1e-14), "{main:?}");
        let embedded = defects(&EMBEDDED, 1.0);
        assert!(embedded[..4].iter().all(|d| d.abs() < 1e-14), "{embedded:?}");
        assert!(embedded[4..].iter().any(|d| d.abs() > 1e-3), "it is of order 3: {embedded:?}");
        for theta in [0.1, 0.25, 0.5, 0.75, 0.9] {
            let dense = std::array::from_fn(|j| {
                let [b2, b3, b4] = DENSE.map(|row| row[j]);
                let b1 = weights()[j] - b2 - b3 - b4;
                theta * (b1 + theta * (b2 + theta * (b3 + theta * b4)))
            });
            // Coefficients of size 20 with 14 digits, cancelled to θ⁴.
            let dense = defects(&dense, theta);
            assert!(dense.iter().all(|d| d.abs() < 1e-9), "θ = {theta}: {dense:?}");
        }
        for (i, c) in C.iter().enumerate().skip(1) {
            assert!((stage(|_| 1.0)(i) - c).abs() < 1e-15, "row {i}");
            assert!((2.0 * stage(|j| C[j])(i) - c * c).abs() < 1e-14, "stage order, row {i}");
        }
    }

    /// Stability function `1 + z bᵀ (I - z A)⁻¹ 1`, by forward substitution.
    fn amplification(b: &[f64; 6], z: f64) -> f64 {
        let mut k = [0.0; 6];
        for i in 0..6 {
            let sum: f64 = (0..i).map(|j| a(i, j) * k[j]).sum();
            k[i] = (1.0 + z * sum) / (1.0 - z * a(i, i));
        }
        1.0 + z * dot(b, |i| k[i])
    }

    #[test]
    fn both_solutions_are_l_stable_on_the_real_axis() {
        for b in [weights(), EMBEDDED] {
            for exponent in -3..=8 {
                let z = -libm::pow(10.0, f64::from(exponent));
                let r = amplification(&b, z);
                assert!(r.abs() < 1.0, "R({z}) = {r}");
            }
            assert!(amplification(&b, -1e6).abs() < 1e-4);
        }
    }

    #[test]
    fn guesses_are_exact_for_rates_of_their_degree_and_do_not_amplify() {
        for (i, (weights, degree)) in GUESS.iter().zip([0, 0, 1, 2, 1, 4]).enumerate().skip(1) {
            for power in 0..=degree {
                let guess: f64 =
                    (0..5).map(|j| weights[j] * libm::pow(C[j], f64::from(power))).sum();
                let exact = libm::pow(C[i], f64::from(power));
                assert!((guess - exact).abs() < 1e-14, "stage {i}, power {power}: {guess}");
            }
            assert!(weights.iter().all(|w| w.abs() < 2.0), "{weights:?}");
        }
    }
}
