//! The diagrams of robots and bodies, run to their end and judged by laws and by figures of others.

mod constraint_solver;
mod floating_base;
mod gripper_arm;
mod harness;
mod inverse_dynamics;
mod quadruped;
mod quadruped_state;
mod trot;
