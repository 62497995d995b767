//! Laws and references that the crate must keep.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod between;
mod bits;
mod constrained;
mod coupled;
mod derivatives;
mod factor;
mod inertial_step;
mod joint_kinds;
mod laws;
mod mass_scale;
mod mjcf;
mod momentum;
mod motion;
mod mutations;
mod quantities;
mod random;
mod reference;
mod resistance;
mod robot_file;
mod rotors;
mod visuals;
mod welded;
mod worlds;
mod written;
mod xacro;
mod xacro_of_ros;
mod xml;
