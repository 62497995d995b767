//! Controllers of `whole_body` at the limits of their robots.

use super::harness::{Case, failed_checks, metrics};

/// Robots that are so heavy that torques reach their limits keep to them, and say so.
#[test]
fn torques_stop_at_their_limits_and_that_is_said() {
    let cases = [
        ("diagrams/whole_body/reach.ron", "3.2", None),
        ("diagrams/whole_body/balance.ron", "4.4", Some("no joint is at a limit")),
    ];
    for (file, scale, said) in cases {
        let robot = format!(
            "Robot(file: \"robots/icub/icub.robot\", joint_limits: Act, mass_scale: {scale})"
        );
        let case = Case { file, set: &[("robots.robot", &robot)], ..Case::default() };
        let simulation = case.simulate();
        let failed = failed_checks(&simulation);
        let held = "torques are in their limits";
        assert!(simulation.program().checks.iter().any(|check| check.name == held), "{file}");
        assert!(!failed.contains(&held.to_owned()), "{file}: {failed:?}");
        // They are reached.
        match said {
            Some(said) => assert!(failed.contains(&said.to_owned()), "{file}: {failed:?}"),
            None => assert!(metrics(&simulation)["kept_by_limits"] > 0.1, "{file}"),
        }
    }
}

#[test]
fn the_other_solver_balances_too() {
    let case = Case {
        file: "diagrams/whole_body/balance.ron",
        set: &[("run.stop", "8.9 s")],
        variants: &[("qp", "interior_point")],
        ..Case::default()
    };
    case.passes();
}

#[test]
fn talos_balances_too() {
    let patches = &["diagrams/whole_body/talos.patch"];
    Case { file: "diagrams/whole_body/balance.ron", patches, ..Case::default() }.passes();
}
