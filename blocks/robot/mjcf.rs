//! `Mjcf`: a robot from a model of MuJoCo.

mod facts;

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::quantity::{
    Acceleration, Dimensionless, Inertia, NonNegative, OfJoint, PerJoint, Positive, Scalar,
};
use legwork_block::{Files, Invalid, OtherResources, Resource, ResourceKind, parameters};
use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{Base, MjcfErrors, MjcfOptions, Model, Placement};

use crate::robot::meshes;
use crate::robot::model::{Keyframe, RobotModel};
use crate::robot::robot_file::{
    Mimic, OfFile, beyond_limits, frames_of_feet, keyframe, placed, robot_file,
};

robot_file! {
    /// A robot from a model of MuJoCo, an MJCF file, for the `robots:` section.
    ///
    /// Every hinge, slide, ball and free joint is a joint, in the order of the file, also where a body
    /// has several, and its positions are those of MuJoCo's `qpos`; one without a name has that of its
    /// body, `thigh_joint`. Bodies without joints are welded to their parents and stay as frames, as do
    /// sites. `feet` names bodies. Defaults by class, frames, replicas and included files are applied;
    /// inertias are those of `<inertial>`, else of the geometry, by MuJoCo's rules and compiler
    /// settings, of meshes (STL, OBJ, MSH, COLLADA, glTF) too; a mesh on which no inertia depends may be
    /// missing, and one warning lists those. Armature is the rotor inertia of the joint. `damping` and
    /// `frictionloss` of the joints act as those of `Urdf`.
    ///
    /// Springs of hinges and slides, `stiffness` k and `springref` r, are forces of the robot itself,
    /// `−k (s − r)`, in all blocks that solve or advance the dynamics. Under solvers of one stage,
    /// `SemiImplicitEuler` and `Euler`, the inertia of the joint is `M + Δt d + ¼ Δt² k`, by which a
    /// step is stable for any stiffness and takes no energy from an oscillation: its frequency ω is that
    /// of the trapezoidal rule, `tan(½ ω Δt) = ½ Δt √(k/M)`. Other solvers take the force as it is.
    /// `Energy` has the springs in it; M and h as outputs know nothing of them.
    ///
    /// A robot begins in the pose of the file, `reference`, unless the `init` of its state gives
    /// another: free bodies where the file puts them, joints at their `ref`.
    ///
    /// If the only body of the world that moves has a free joint, that body is the floating base, and
    /// what stands in the world beside it is not part of the robot. Else the base is fixed and called
    /// `world`, and free bodies are joints of it.
    ///
    /// | of the file | here |
    /// |---|---|
    /// | `qvel` of free and ball joints | angular velocity in axes of the parent, not of the body |
    /// | `equality` `joint`, linear | the first joint follows the second exactly, see `mimic` |
    /// | `equality` `connect`, `weld` | two frames `NAME_1` and `NAME_2` for `LoopConstraint` |
    /// | keyframes, and `reference`, the file's pose | `keyframe:` of `init`; `<robot>.keyframes.NAME` |
    /// | actuators | facts, below: `Gain(gain: "=<robot>.actuation")` makes torques of their forces |
    /// | geometry with `contype` or `conaffinity` | collision shapes of its body |
    /// | `option` `gravity`; `timestep`, `integrator` | gravity; facts |
    ///
    /// Beside the facts of every robot it has these:
    ///
    /// | fact | meaning |
    /// |---|---|
    /// | `timestep`, `integrator` | the options of the file |
    /// | `actuation` | n rows, one column for each actuator: torques = actuation · forces |
    /// | `actuators.NAME` | `kind`, `control_lower`, `control_upper`, `force_lower`, `force_upper`, and `gain`, `constant`, `per_length`, `per_rate` of its force law |
    /// | `control_lower`, `control_upper` | limits of all controls, infinite if none |
    /// | `geoms.NAME` | `link`, `friction` (sliding, torsional, rolling), `condim`, `contype`, `conaffinity` |
    /// | `collides.LINK` | bits of `contype` and of `conaffinity` of all geoms of a link that touch |
    /// | `equality.NAME` | `frames`, `weld`, `active` |
    /// | `excluded`, `pairs` | names of links, and of geoms, whose contact the file excludes or adds |
    /// | `states.NAME` | of a keyframe: `s_dot`, `velocity`, `angular_velocity` of the base, `ctrl` |
    ///
    /// Whatever else a file has (tendons in space, sensors, solver settings, appearance) is listed in one
    /// warning. `composite`, `flexcomp` and `attach` make bodies that would be missing, and are errors.
    ///
    /// References: the XML reference of MuJoCo 4.0; N. M. Newmark, *A method of computation for
    /// structural dynamics* (1959), β = ¼, for the springs.
    #[parameters(aliases("robot model", "MJCF", "MuJoCo"))]
    pub struct Mjcf {
        /// The file: relative to the diagram, in a search root, or built in as `std:robots/…`. Files
        /// that it includes, and meshes, are named from its own folder.
        pub path: String,
        /// Whether the base is free in space or welded to the world; without it, as in the file.
        pub base: Option<Base>,
        /// Acceleration of free fall in world axes [m/s²]; without it, the file's.
        pub gravity: Option<[Acceleration; 3]>,
        /// Whether springs of the joints act, as the file's `stiffness` and `springref` state them.
        #[default]
        pub joint_springs: OfFile,
    }
}

impl Mjcf {
    fn read(&self, files: &dyn Files) -> Result<legwork_mechanics::Mjcf, Invalid> {
        let mount = self.mount.map_or(Placement::identity(), placed);
        let gravity = self.gravity.map(|g| Vector3::from(g.map(Acceleration::value)));
        let read = |path: &str| files.read(path);
        let options = MjcfOptions {
            read: &read,
            base: self.base,
            mount,
            gravity,
            coupled: self.mimic == Mimic::Coupled,
            welded: self.welded(),
        };
        let robot = Model::from_mjcf(&self.path, &options).map_err(|errors| refused(&errors))?;
        let floats = robot.model.trees().iter().any(legwork_mechanics::Tree::is_floating);
        if floats && self.mount.is_some() {
            let message = "expected a fixed base to mount, found a floating one";
            return Err(Invalid::parameter("mount", message)
                .hint("add `base: Fixed`, or place the robot by the `init` of its state"));
        }
        Ok(robot)
    }
}

/// Other mistakes of a file that are shown beside the first.
const MOST_OTHERS: usize = 8;

/// The first thing that is wrong, with its line; the others beside it.
fn refused(errors: &MjcfErrors) -> Invalid {
    let Some((first, others)) = errors.0.split_first() else {
        return Invalid::parameter("path", errors.to_string());
    };
    let mut invalid = Invalid::parameter("path", first.to_string());
    if !first.excerpt.is_empty() {
        invalid = invalid.hint(format!("it reads\n{}", first.excerpt));
    }
    if let Some(hint) = &first.hint {
        invalid = invalid.hint(hint.clone());
    }
    // Advice that holds of several is given once.
    let mut given: Vec<&String> = first.hint.iter().collect();
    for error in others.iter().take(MOST_OTHERS) {
        let hint = error.hint.as_ref().filter(|hint| !given.contains(hint));
        given.extend(hint);
        let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
        invalid = invalid.hint(format!("also {error}{hint}"));
    }
    if others.len() > MOST_OTHERS {
        invalid = invalid.hint(format!("and {} others", others.len() - MOST_OTHERS));
    }
    invalid
}

impl ResourceKind for Mjcf {
    const KIND: &'static str = "Mjcf";

    fn load(
        self,
        name: &str,
        files: &dyn Files,
        _: &dyn OtherResources,
    ) -> Result<(Arc<dyn Resource>, Vec<String>), Invalid> {
        let mut mjcf = self.read(files)?;
        let mut warnings = std::mem::take(&mut mjcf.warnings);
        let model = match self.joint_springs {
            OfFile::Act => mjcf.model.clone(),
            OfFile::Ignore => mjcf.model.clone().without_springs(),
        };
        let model = self.as_stated(model)?;
        let (model, hulls, doubts) =
            meshes::with_files(model, files, &mut |name| match files.exists(name) {
                true => Ok(name.to_owned()),
                false => Err("they are looked for in the folder of the model".to_owned()),
            });
        warnings.extend(doubts.into_iter().map(|doubt| format!("{}: {doubt}", self.path)));
        let feet = frames_of_feet(&self.feet, &self.path, &model)?;
        let mut keyframes: BTreeMap<String, Keyframe> = BTreeMap::new();
        for found in &mjcf.keyframes {
            keyframes.insert(found.name.clone(), facts::keyframe(&model, found));
        }
        for (key, pose) in &self.keyframes {
            keyframes.insert(key.clone(), keyframe(key, pose, &model)?);
        }
        for (key, keyframe) in &keyframes {
            warnings.extend(beyond_limits(key, keyframe, &model));
        }
        let of_file = facts::of_file(&mjcf);
        let (name, members) = (name.to_owned(), Vec::new());
        let start = keyframes.get("reference").cloned();
        let robot = RobotModel { name, model, feet, keyframes, start, members, of_file, hulls };
        Ok((Arc::new(robot), warnings))
    }
}

#[cfg(test)]
mod tests;
