//! Factors of columns that come and go.

use super::matrices::{Random, absolute, assert_within, for_each_definite, product};
use legwork_linalg::lanes::{LANES, Lanes, padded};
use legwork_linalg::{ConjugateBasis, OrthonormalBasis, Span, dot, ldlt, triangle};

/// Q as a matrix.
fn vectors(basis: &OrthonormalBasis, d: usize) -> Vec<Vec<f64>> {
    let unit = |k: usize| (0..basis.rank()).map(move |i| f64::from(u8::from(i == k)));
    (0..basis.rank())
        .map(|k| {
            let mut q = vec![0.0; d];
            basis.add_combination(&unit(k).collect::<Vec<_>>(), &mut q);
            q
        })
        .collect()
}

/// `QᵀQ = I`, `Q R = B_P` and `RᵀR = B_PᵀB_P` whatever was pushed and removed; a basis that was
/// only filled with the same columns agrees.
#[test]
fn an_orthonormal_basis_is_that_of_the_columns_it_holds() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let d = 1 + random.below(14);
        // Repeated and scaled columns are dependent; scales must not matter.
        let mut columns: Vec<Vec<f64>> = (0..2 * d)
            .map(|_| {
                let scale = 10f64.powf(4.0 * random.signed());
                random.vector(d).iter().map(|x| x * scale).collect()
            })
            .collect();
        columns[d] = columns[0].iter().map(|x| -3.0 * x).collect();
        let length = |column: &[f64]| dot(column, column).sqrt();
        let mut basis = OrthonormalBasis::default();
        basis.reset(d);
        let mut held: Vec<usize> = Vec::new();
        for step in 0..60 {
            let name = format!("seed {seed}, d {d}, step {step}");
            if held.is_empty() || (held.len() < d && random.uniform() < 0.55) {
                let column = random.below(columns.len());
                let distance = basis.probe(&columns[column]);
                let is_multiple =
                    |other: &usize| [0, d].contains(&column) && [0, d].contains(other);
                let is_dependent = held.contains(&column) || held.iter().any(is_multiple);
                let relative = distance / length(&columns[column]);
                assert!(!is_dependent || relative < 1e-13, "{name}: {relative:e}");
                if relative > 1e-6 {
                    basis.push(distance);
                    held.push(column);
                }
            } else {
                let at = random.below(held.len());
                basis.remove(at);
                held.remove(at);
            }
            assert_eq!(basis.rank(), held.len());
            let q = vectors(&basis, d);
            for (i, a) in q.iter().enumerate() {
                for (j, b) in q.iter().enumerate().take(i + 1) {
                    let miss = (dot(a, b) - f64::from(u8::from(i == j))).abs();
                    assert!(miss < 1e-13 * d as f64, "{name}: {miss:e}");
                }
            }
            // R of a basis that never lost a column is the same up to signs of its rows.
            let mut fresh = OrthonormalBasis::default();
            fresh.reset(d);
            for &column in &held {
                let distance = fresh.probe(&columns[column]);
                fresh.push(distance);
            }
            for (k, &column) in held.iter().enumerate() {
                let mut x = vec![0.0; held.len()];
                basis.products_of(&columns[column], &mut x);
                let (mut back, size) = (vec![0.0; d], length(&columns[column]));
                basis.add_combination(&x, &mut back);
                assert_within(&back, &columns[column], &vec![size; d], 1e-12, &name);
                // R⁻¹ Qᵀ b is the unit vector, with an error of R's condition.
                basis.solve_upper(&mut x);
                let mut y = vec![0.0; held.len()];
                fresh.products_of(&columns[column], &mut y);
                fresh.solve_upper(&mut y);
                for (i, (x, y)) in x.iter().zip(&y).enumerate() {
                    let scale = size / length(&columns[held[i]]);
                    let unit = f64::from(u8::from(i == k));
                    assert!((x - unit).abs() <= 1e-6 * scale.max(1.0), "{name}: {x} at {i}, {k}");
                    assert!((x - y).abs() <= 1e-6 * scale.max(1.0), "{name}: {x} {y}");
                }
            }
        }
    }
}

/// `Jᵀ H J = I`, and for every normal held `Jᵀ nᵢ = (R eᵢ, 0)`.
#[test]
fn a_conjugate_basis_is_that_of_the_normals_it_holds() {
    let mut basis = ConjugateBasis::default();
    for_each_definite(3_000, |case| {
        let n = case.n;
        // The normals' independence is judged in the metric of H; keep that readable.
        if n == 0 || n > 14 {
            return;
        }
        let stride = padded(n);
        let scale: Vec<f64> = (0..n).map(|i| case.a[i * n + i].sqrt()).collect();
        let (mut factor, mut pivots) = (vec![0.0; n * stride], vec![0.0; stride]);
        for (to, from) in factor.chunks_exact_mut(stride).zip(case.a.chunks_exact(n)) {
            to[..n].copy_from_slice(from);
        }
        assert!(ldlt::factor(&mut factor, n, stride, &mut pivots, 0.0));
        basis.reserve(n);
        basis.begin(&factor, &pivots, stride);
        let mut held: Vec<Vec<f64>> = Vec::new();
        let project = |basis: &ConjugateBasis, normal: &[f64]| -> Vec<f64> {
            let columns = basis.columns()[..n * stride].chunks_exact(stride);
            let mut d: Vec<f64> = columns.map(|column| dot(&column[..n], normal)).collect();
            d.resize(stride, 0.0);
            d
        };
        for _ in 0..12 {
            if held.len() < n && (held.is_empty() || case.random.uniform() < 0.6) {
                let normal: Vec<f64> =
                    case.random.vector(n).iter().zip(&scale).map(|(x, s)| x * s).collect();
                let mut d = project(&basis, &normal);
                let (free, bound) = basis.squares(&d);
                if free > 1e-8 * (free + bound) {
                    let mut z = vec![0.0; stride];
                    basis.free_combination(&d, &mut z, stride);
                    basis.append(&mut d, &mut z, free, stride);
                    held.push(normal);
                }
            } else {
                let at = case.random.below(held.len());
                basis.remove(at, stride);
                held.remove(at);
            }
            assert_eq!(basis.count(), held.len());
            let j: Vec<f64> = basis.columns()[..n * stride]
                .chunks_exact(stride)
                .flat_map(|column| column[..n].to_vec())
                .collect();
            let image = product(&case.a, n, &j, n);
            let size = product(&absolute(&case.a), n, &absolute(&j), n);
            for a in 0..n {
                for b in 0..n {
                    let value = dot(&j[a * n..(a + 1) * n], &image[b * n..(b + 1) * n]);
                    let terms = dot(&absolute(&j[a * n..(a + 1) * n]), &size[b * n..(b + 1) * n]);
                    let miss = (value - f64::from(u8::from(a == b))).abs();
                    let bound = 200.0 * (n + 1) as f64 * f64::EPSILON * terms;
                    assert!(miss <= bound, "{}: {miss:e} > {bound:e}", case.name);
                }
            }
            for (k, normal) in held.iter().enumerate() {
                let mut d = project(&basis, normal);
                let (free, bound) = basis.squares(&d);
                assert!(free <= 1e-18 * bound, "{}: {free:e} of {bound:e}", case.name);
                basis.solve_upper(&mut d, stride);
                for (i, x) in d[..held.len()].iter().enumerate() {
                    let unit = f64::from(u8::from(i == k));
                    assert!((x - unit).abs() < 1e-6, "{}: {x} at {i}, {k}", case.name);
                }
            }
            // Nᵀ J x = y for Rᵀ x = y.
            let y = case.random.vector(held.len());
            let mut x = y.clone();
            x.resize(stride, 0.0);
            basis.solve_transposed(&mut x, stride);
            for (normal, y) in held.iter().zip(&y) {
                let found = dot(&project(&basis, normal), &x);
                assert!((found - y).abs() < 1e-6, "{}: {found} {y}", case.name);
            }
        }
    });
}

/// `QᵀQ = I`, `A = Q C` for columns of which some depend on others and some nearly do, and what is
/// taken out of a vector is its projection.
#[test]
fn a_span_holds_the_columns_that_it_was_given() {
    let mut span = Span::default();
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let (d, count) = (4 * (1 + random.below(6)), 1 + random.below(14));
        let mut columns: Vec<Vec<f64>> = (0..count).map(|_| random.vector(d)).collect();
        if count > 2 {
            let (nearly, scale) = (random.vector(d), 10f64.powf(-8.0 * random.uniform()));
            columns[2] = columns[0].iter().zip(&nearly).map(|(x, y)| 7.0 * x + scale * y).collect();
            columns[count - 1] = columns[1].iter().map(|x| -1e5 * x).collect();
        }
        span.reset(d, count);
        let mut coordinates = vec![vec![0.0; padded(count)]; count];
        for (column, coordinates) in columns.iter().zip(&mut coordinates) {
            span.push(&mut column.clone(), coordinates, 1e-11);
        }
        let rank = if count > 2 { count - 1 } else { count };
        assert_eq!(span.rank(), rank.min(d), "seed {seed}");
        let q: Vec<&[f64]> = span.vectors().chunks_exact(d).collect();
        for (i, a) in q.iter().enumerate() {
            for (j, b) in q.iter().enumerate().take(i + 1) {
                let unit = f64::from(u8::from(i == j && i < span.rank()));
                assert!((dot(a, b) - unit).abs() < 1e-13, "seed {seed}: {i} {j}");
            }
        }
        for (column, coordinates) in columns.iter().zip(&coordinates) {
            let back = product(span.vectors(), d, coordinates, padded(count));
            let size = dot(column, column).sqrt();
            assert_within(&back, column, &vec![size; d], 1e-11, &format!("seed {seed}"));
        }
        let x = random.vector(d);
        let (mut rest, mut shares) = (x.clone(), vec![0.0; padded(count)]);
        span.take_out(&mut rest, &mut shares);
        let back = product(span.vectors(), d, &shares, padded(count));
        let sum: Vec<f64> = rest.iter().zip(back).map(|(a, b)| a + b).collect();
        assert_within(&sum, &x, &vec![1.0; d], 1e-13, &format!("seed {seed}"));
        assert!(q.iter().all(|q| dot(q, &rest).abs() < 1e-12), "seed {seed}");
    }
}

/// `RᵀR` is the sum of what was rotated in, backward stably over many decades, and `R⁻¹ R = I`.
#[test]
fn a_triangle_is_the_root_of_the_rows_it_was_given() {
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let mut rows = [[Lanes::ZERO; 3]; 3];
        let mut sum = vec![[[0.0; 3]; 3]; LANES];
        for _ in 0..3 + random.below(6) {
            let mut v = [[0.0; LANES]; 3];
            for lane in 0..LANES {
                let size = 10f64.powf(5.0 * random.signed());
                (0..3).for_each(|i| v[i][lane] = size * random.signed());
                for i in 0..3 {
                    (0..3).for_each(|j| sum[lane][i][j] += v[i][lane] * v[j][lane]);
                }
            }
            triangle::update(&mut rows, &mut v.map(Lanes::from));
        }
        let inverse = triangle::inverse(&rows).map(Lanes::to_array);
        let r = rows.map(|row| row.map(Lanes::to_array));
        for (lane, sum) in sum.iter().enumerate() {
            let r = |i: usize, j: usize| if i <= j { r[i][j][lane] } else { 0.0 };
            let at = [[0, 1, 2], [9, 3, 4], [9, 9, 5]];
            let d = |i: usize, j: usize| if i <= j { inverse[at[i][j]][lane] } else { 0.0 };
            for i in 0..3 {
                for j in 0..3 {
                    let found: f64 = (0..3).map(|k| r(k, i) * r(k, j)).sum();
                    let size = (sum[i][i] * sum[j][j]).sqrt();
                    let miss = (found - sum[i][j]).abs();
                    assert!(miss < 60.0 * f64::EPSILON * size, "seed {seed}: {miss:e} of {size:e}");
                    let unit: f64 = (0..3).map(|k| d(i, k) * r(k, j)).sum();
                    let size: f64 = (0..3).map(|k| (d(i, k) * r(k, j)).abs()).sum();
                    let miss = (unit - f64::from(u8::from(i == j))).abs();
                    assert!(miss < 60.0 * f64::EPSILON * size.max(1.0), "seed {seed}: {miss:e}");
                }
            }
        }
    }
}
