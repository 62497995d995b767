//! The diagrams of robots and bodies, run to their end and compared with laws and with figures of
//! others.

mod balance;
mod below_ground;
mod biped;
mod bounces;
mod constraint_solver;
mod cradle;
mod floating_base;
mod friction;
mod gaits;
mod gripper_arm;
mod harness;
mod inverse_dynamics;
mod joint_damping;
mod joint_limits;
mod joint_springs;
mod kinds;
mod predictive;
mod pushed;
mod quadruped;
mod quadruped_state;
mod trot;
mod whole_body;
