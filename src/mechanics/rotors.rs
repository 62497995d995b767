//! Inertia of the motors' rotors, reflected to the joints.
//!
//! A rotor of inertia `I_r` behind a gear of ratio `r` adds `r² I_r` to the diagonal of `M`. Where
//! one motor drives several joints (differentials, belts along a leg), motor positions are
//! `θ = T s` and the reflected inertia is the full matrix `Tᵀ diag(I_r) T`.

use legwork_linalg::symmetric_eigenvalues;

use crate::model::{Model, ModelError};

/// Reflected rotor inertia of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotors {
    /// Diagonal [kg m² or kg], one entry per joint coordinate.
    pub(crate) diagonal: Vec<f64>,
    /// The whole matrix (n × n, symmetric), if it has entries off the diagonal.
    pub(crate) matrix: Option<Vec<f64>>,
}

impl Rotors {
    pub(crate) fn none(n: usize) -> Self {
        Self { diagonal: vec![0.0; n], matrix: None }
    }

    /// The diagonal [kg m² or kg], one entry per joint coordinate.
    #[must_use]
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// The whole matrix (n × n, symmetric), if it has entries off the diagonal.
    #[must_use]
    pub fn matrix(&self) -> Option<&[f64]> {
        self.matrix.as_deref()
    }

    /// Entry (i, j) of the matrix.
    pub(crate) fn entry(&self, i: usize, j: usize) -> f64 {
        match &self.matrix {
            Some(matrix) => matrix[i * self.diagonal.len() + j],
            None if i == j => self.diagonal[i],
            None => 0.0,
        }
    }

    /// Adds the rotors' share `I_rotor ν̇` to the generalised force `out` (nv).
    #[inline]
    pub(crate) fn add_force(&self, indices: &[usize], acceleration: &[f64], out: &mut [f64]) {
        match &self.matrix {
            None => {
                for (&k, rotor) in indices.iter().zip(&self.diagonal) {
                    out[k] += rotor * acceleration[k];
                }
            }
            Some(matrix) => {
                for (&k, row) in indices.iter().zip(matrix.chunks_exact(indices.len())) {
                    let mut sum = 0.0;
                    for (&i, rotor) in indices.iter().zip(row) {
                        sum += rotor * acceleration[i];
                    }
                    out[k] += sum;
                }
            }
        }
    }
}

impl Model {
    /// The same model with reflected rotor inertia [kg m² or kg], one value per joint coordinate,
    /// which adds to the diagonal of `M` (gear ratio squared times the rotor's own inertia).
    ///
    /// # Errors
    /// [`ModelError`] if the length is not n or a value is negative or not finite.
    pub fn with_rotor_inertia(mut self, values: &[f64]) -> Result<Self, ModelError> {
        let expected = self.joint_dim();
        if values.len() != expected {
            return Err(ModelError::RotorInertiaLength { expected, found: values.len() });
        }
        for (name, &value) in self.joint_velocity_names().zip(values) {
            if !(value.is_finite() && value >= 0.0) {
                return Err(ModelError::RotorInertiaValue { joint: name.to_owned(), value });
            }
        }
        let coupled = self.rotors.matrix.is_some();
        self.rotors = Rotors { diagonal: values.to_vec(), matrix: None };
        // What only adds to the diagonal has no share in the pattern.
        if coupled {
            self.lay_out_pattern();
        }
        Ok(self)
    }

    /// The same model with a full matrix of reflected rotor inertias [kg m² or kg] (n × n,
    /// symmetric positive semidefinite), as transmissions that couple joints have it:
    /// `Tᵀ diag(I_rotor) T` with motor positions `θ = T s`.
    ///
    /// # Errors
    /// [`ModelError`] if the matrix is not n × n, not finite, not symmetric to a relative 1e-12, or
    /// has a negative eigenvalue beyond rounding.
    pub fn with_rotor_inertia_matrix(mut self, matrix: &[f64]) -> Result<Self, ModelError> {
        let n = self.joint_dim();
        let wrong = |problem: String| ModelError::RotorInertiaMatrix { problem };
        if matrix.len() != n * n {
            let found = matrix.len();
            return Err(wrong(format!("expected {n} x {n} numbers, found {found}")));
        }
        // Finite and symmetric.
        let largest = matrix.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        if !matrix.iter().all(|x| x.is_finite()) {
            return Err(wrong("expected finite numbers".to_owned()));
        }
        for i in 0..n {
            for j in 0..i {
                let (a, b) = (matrix[i * n + j], matrix[j * n + i]);
                if (a - b).abs() > 1e-12 * largest {
                    return Err(wrong(format!(
                        "expected a symmetric matrix, \
                         found {a} and {b} at ({i}, {j}) and ({j}, {i})"
                    )));
                }
            }
        }
        // Semidefinite: the lower triangle counts on both sides.
        let symmetric: Vec<f64> =
            (0..n * n).map(|at| matrix[(at / n).max(at % n) * n + (at / n).min(at % n)]).collect();
        let mut eigenvalues = vec![0.0; n];
        symmetric_eigenvalues(&mut symmetric.clone(), n, &mut eigenvalues);
        if let Some(least) = eigenvalues.first().filter(|least| **least < -1e-12 * largest) {
            return Err(wrong(format!("expected no negative eigenvalue, found {least:e}")));
        }
        // A diagonal one keeps the tree's sparsity.
        let diagonal = (0..n).map(|i| symmetric[i * n + i]).collect();
        let full = (0..n * n).any(|at| at / n != at % n && symmetric[at] != 0.0);
        self.rotors = Rotors { diagonal, matrix: full.then_some(symmetric) };
        self.lay_out_pattern();
        Ok(self)
    }

    /// The same model with reflected rotor inertia [kg m² or kg] by joint name; `*` in a pattern
    /// matches any characters, later entries win, joints not named keep their value. Entries off
    /// the diagonal do not change.
    ///
    /// # Errors
    /// [`ModelError`] if a pattern matches no joint, a value is negative or not finite, or the
    /// whole matrix is not a valid inertia.
    pub fn with_named_rotor_inertia(self, entries: &[(String, f64)]) -> Result<Self, ModelError> {
        let mut values = self.rotors.diagonal.clone();
        for (pattern, value) in entries {
            let mut found = false;
            for (name, slot) in self.joint_velocity_names().zip(&mut values) {
                if matches(pattern.as_bytes(), name.as_bytes()) {
                    *slot = *value;
                    found = true;
                }
            }
            if !found {
                return Err(ModelError::NoSuchJoint { pattern: pattern.clone() });
            }
        }
        let Some(mut matrix) = self.rotors.matrix.clone() else {
            return self.with_rotor_inertia(&values);
        };
        for (i, value) in values.iter().enumerate() {
            matrix[i * values.len() + i] = *value;
        }
        self.with_rotor_inertia_matrix(&matrix)
    }
}

/// Whether `name` matches `pattern`, in which `*` matches any characters. Greedy with one
/// point of return, so the cost is O(pattern × name) at worst.
pub(crate) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p + 1, n));
            p += 1;
        } else if p < pattern.len() && pattern[p] == name[n] {
            p += 1;
            n += 1;
        } else if let Some((after, from)) = star {
            p = after;
            n = from + 1;
            star = Some((after, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn star_stands_for_any_characters() {
        let yes = [("*_hip_*", "FL_hip_joint"), ("*", ""), ("a*b*c", "aXbbYc"), ("ab", "ab")];
        let no = [("*_hip", "FL_hip_joint"), ("a", ""), ("", "a"), ("a*b", "ac"), ("ab", "abc")];
        for (pattern, name) in yes {
            assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in no {
            assert!(!matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }
}
