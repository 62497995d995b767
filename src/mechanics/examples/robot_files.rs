//! Robot files beside another library: `benches/peers/robot_files.py` writes what that finds, this
//! says how far it is from what the model here gives. Also what a file is read with, or why not.
//!
//! Standard input: a JSON object a line, `{"file", "states": [{"q", "nu", "m", "h", "jacobians"}],
//! "joints"}`, with numbers in the conventions of this crate but for the order of the joints, which
//! `joints` names. Standard output: a line for each.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool of the tests")]

use std::io::BufRead as _;

use legwork_mechanics::{
    Base, InverseDynamics, Kinematics, MassMatrix, MimicJoints, Model, Options, bias_force,
    frame_jacobian, mass_matrix,
};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Largest difference, relative to the largest number.
fn error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len(), "lengths");
    let size = expected.iter().fold(1e-9_f64, |most, x| most.max(x.abs()));
    let pairs = found.iter().zip(expected);
    pairs.fold(0.0, |most: f64, (a, b)| {
        let difference = (a - b).abs() / size;
        // What is no number is as wrong as can be.
        if difference.is_nan() { f64::INFINITY } else { most.max(difference) }
    })
}

fn compare(case: &Value) -> Result<(f64, usize), String> {
    let file = case["file"].as_str().unwrap();
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let options = Options { mimic: MimicJoints::Independent, ..Options::new(Base::Floating) };
    let (model, _) = Model::from_urdf_text(&text, &options).map_err(|error| error.to_string())?;
    let theirs: Vec<&str> =
        case["joints"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    if theirs.len() != model.joints().len() {
        return Err(format!("{} joints, not {}", model.joints().len(), theirs.len()));
    }
    // Where each of our coordinates is among theirs.
    let mut order: Vec<usize> = (0..6).collect();
    for joint in model.joints() {
        let at = theirs.iter().position(|name| *name == joint.name);
        let at = at.ok_or_else(|| format!("no joint `{}`", joint.name))?;
        order.push(6 + at);
    }
    let nv = order.len();
    let mut worst: f64 = 0.0;
    for state in case["states"].as_array().unwrap() {
        let theirs = numbers(&state["q"]);
        let mut q = theirs[..7].to_vec();
        q.extend(order[6..].iter().map(|k| theirs[k + 1]));
        let theirs = numbers(&state["nu"]);
        let nu: Vec<f64> = order.iter().map(|&k| theirs[k]).collect();
        let mut kinematics = Kinematics::new(&model);
        kinematics.update(&model, &q, &nu);
        let (mut mass, mut m) = (MassMatrix::new(&model), vec![0.0; nv * nv]);
        mass_matrix(&model, &kinematics, &mut mass);
        mass.write_dense(&mut m);
        let theirs = numbers(&state["m"]);
        let expected: Vec<f64> = order
            .iter()
            .flat_map(|&c| order.iter().map(move |&r| (r, c)))
            .map(|(r, c)| theirs[c * nv + r])
            .collect();
        worst = worst.max(error(&m, &expected));
        let mut h = vec![0.0; nv];
        bias_force(&model, &kinematics, &mut InverseDynamics::new(&model), &mut h);
        let theirs = numbers(&state["h"]);
        let expected: Vec<f64> = order.iter().map(|&k| theirs[k]).collect();
        worst = worst.max(error(&h, &expected));
        for (name, theirs) in state["jacobians"].as_object().unwrap() {
            let frame = model.find_frame(name).ok_or_else(|| format!("no link `{name}`"))?;
            let (theirs, mut j) = (numbers(theirs), vec![0.0; 6 * nv]);
            frame_jacobian(&model, &kinematics, frame, &mut j);
            let expected: Vec<f64> =
                order.iter().flat_map(|&c| theirs[6 * c..6 * c + 6].to_vec()).collect();
            worst = worst.max(error(&j, &expected));
        }
    }
    Ok((worst, nv))
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let file = case["file"].as_str().unwrap();
        match compare(&case) {
            Ok((worst, nv)) => println!("{worst:.1e} {nv} {file}"),
            Err(why) => println!("miss - {file}: {why}"),
        }
    }
}
