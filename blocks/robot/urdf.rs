//! `Urdf`: a robot from a URDF file.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::quantity::{
    Acceleration, Dimensionless, Inertia, NonNegative, OfJoint, PerJoint, Positive, Scalar,
};
use legwork_block::{Files, Invalid, OtherResources, Resource, ResourceKind, parameters};
use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{Base, MimicJoints, Model, Options, Placement};

mod source;

use source::Source;

use crate::robot::meshes::{self, HullsByPath};
use crate::robot::model::RobotModel;
use crate::robot::robot_file::{
    Mimic, beyond_limits, frames_of_feet, keyframe, placed, robot_file,
};

robot_file! {
    /// A robot from a URDF file, for the `robots:` section.
    ///
    /// All joints but fixed ones move, in the order of the file. A joint of several degrees of freedom
    /// has several coordinates: `ball.qw`, `ball.qx`, … in `s`, `ball.wx`, … in `ṡ` and `τ`. Links on
    /// fixed joints are welded to their parents and stay as frames.
    ///
    /// Meshes (STL, OBJ, COLLADA, glTF) are `package://NAME/…`, `file://…`, or named from the folder of
    /// the file. One warning lists those that are missing; only a contact that takes its shape from one
    /// needs it. Another lists links whose mass is far from where their shapes are, in a ball of radius
    /// R about the shapes' centre: the centre of mass lies 3 R from it; `tr(I)/2` is ten times `m R²`,
    /// which no matter in the ball exceeds; or I is a thousandth of that of an even density in the
    /// hulls. The shapes are those of collision if they are meshes, else those that are seen.
    ///
    /// A file with `<xacro:…>` elements is expanded first, as ROS xacro 2.1 does it: properties,
    /// macros, conditionals, includes, YAML files with units (`!degrees`, `!millimeters`, `!foot`
    /// and others), and expressions with lists, sets, dictionaries, comprehensions, `lambda`,
    /// methods of texts, and the functions of `math`, `python` and `xacro`. A value that depends on
    /// the reader of the file is not read: `$(env …)` and `$(cwd)` are errors, `$(optenv …)` is its
    /// default. An expansion that takes too long is an error. Of several robots in a file the
    /// largest is read. What a file states beside its mechanism (transmissions, Gazebo, safety controllers) is
    /// not used, and one warning lists it.
    ///
    /// Damping and dry friction of the joints, the file's `<dynamics damping="D" friction="F"/>`, are
    /// forces of the robot itself: a joint of speed v feels `−d v` with `d = D + F/max(|v|, ε)`:
    /// Coulomb friction above the speed ε of `friction_speed` and a steep damper below, so that a joint
    /// loaded by less than F creeps at less than ε. All blocks that solve or advance the dynamics have
    /// them from one place, the computation of M, h and the factor that they share. Under solvers of
    /// one stage, `SemiImplicitEuler` and `Euler`, and in blocks that step by themselves, the force is
    /// that of the speed at the end of the step, `−d(ν) ν⁺`: `(M + Δt d) ν̇ = Sᵀτ + Jᵀf − h − d ν`,
    /// stable for any damping at any step. Other solvers take `−d(ν) ν` as it is; stiff damping then
    /// needs an implicit one. M and h as outputs know nothing of either. A joint that mimics another
    /// loads it by `m² D` and `|m| F`.
    ///
    /// References: MuJoCo's documentation, "Computation", for implicit damping of joints; P. Song et
    /// al., *Analysis of rigid-body dynamic models for simulation of systems with frictional contacts*
    /// (2001), for the regularised friction.
    #[parameters(aliases("robot model", "URDF"))]
    pub struct Urdf {
        /// The file: relative to the diagram, in a search root, or built in as `std:robots/…`.
        pub path: String,
        /// Arguments of a xacro file, in place of their defaults: `{ "prefix": "left_", "dof": "7" }`.
        #[default]
        pub args: BTreeMap<String, String>,
        /// Folders of packages, for `package://NAME/…` and `$(find NAME)` of xacro. Those not named are
        /// the nearest folder around the file that is called NAME, or has a `package.xml` of that name.
        #[default]
        pub packages: BTreeMap<String, String>,
        /// Whether the root link is free in space or welded to the world.
        #[default]
        pub base: Base,
        /// Acceleration of free fall in world axes [m/s²].
        #[default = [0, 0, -9.81]]
        pub gravity: [Acceleration; 3],
    }
}

impl Urdf {
    fn model(&self, files: &dyn Files) -> Result<(Model, HullsByPath, Vec<String>), Invalid> {
        let source = Source::read(&self.path, &self.args, &self.packages, files)?;
        if self.base == Base::Floating && self.mount.is_some() {
            let message = "expected a fixed base to mount, found a floating one";
            return Err(Invalid::parameter("mount", message)
                .hint("add `base: Fixed`, or place the robot by the `init` of its state"));
        }
        let mount = self.mount.map_or(Placement::identity(), placed);
        let mimic = match self.mimic {
            Mimic::Coupled => MimicJoints::Coupled,
            Mimic::Free => MimicJoints::Independent,
        };
        let [x, y, z] = self.gravity.map(Acceleration::value);
        let gravity = Vector3::new(x, y, z);
        let welded = self.welded();
        let options = Options { gravity, mimic, mount, welded, ..Options::new(self.base) };
        let (model, warnings) =
            Model::from_urdf_text(&source.text, &options).map_err(|error| source.error(error))?;
        let warnings = warnings.into_iter().map(|warning| source.warning(warning));
        let model = self.as_stated(model)?;
        let mut folders = source::Folders::new(&self.path, &self.packages, files);
        let (model, hulls, doubts) =
            meshes::with_files(model, files, &mut |name| folders.find(name));
        let doubts = doubts.into_iter().map(|doubt| format!("{}: {doubt}", self.path));
        Ok((model, hulls, warnings.chain(doubts).collect()))
    }
}

impl ResourceKind for Urdf {
    const KIND: &'static str = "Urdf";

    fn load(
        self,
        name: &str,
        files: &dyn Files,
        _: &dyn OtherResources,
    ) -> Result<(Arc<dyn Resource>, Vec<String>), Invalid> {
        let (model, hulls, mut warnings) = self.model(files)?;
        let feet = frames_of_feet(&self.feet, &self.path, &model)?;
        let mut keyframes = BTreeMap::new();
        for (key, pose) in &self.keyframes {
            let keyframe = keyframe(key, pose, &model)?;
            warnings.extend(beyond_limits(key, &keyframe, &model));
            keyframes.insert(key.clone(), keyframe);
        }
        let (name, members, of_file) = (name.to_owned(), Vec::new(), Vec::new());
        let start = None;
        let robot = RobotModel { name, model, feet, keyframes, start, members, of_file, hulls };
        Ok((Arc::new(robot), warnings))
    }
}

#[cfg(test)]
mod tests;
