//! Files that are built into the binary, which diagrams find under `std:` and which `demo` lists:
//! masks, interfaces and robots of this folder, and those of `diagrams`.

/// Path under `std:` and content of all files.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    FILES.into_iter().chain(legwork_diagrams::FILES)
}

/// Files that were built in once, and what stands in their place.
pub(crate) const MOVED: [(&str, &str); 3] = [
    ("masks/acceleration_contact.ron", "`std:masks/impact_contact.ron`"),
    ("masks/compliant_contact.ron", "`std:masks/hertz_contact.ron` with slip_speed: \"1 cm/s\""),
    ("masks/velocity_contact.ron", "`std:masks/gauss_contact.ron`"),
];

/// Those of this folder.
const FILES: [(&str, &[u8]); 23] = [
    ("robots/mini_cheetah.ron", include_bytes!("robots/mini_cheetah.ron")),
    ("robots/anymal_c.ron", include_bytes!("robots/anymal_c.ron")),
    ("robots/go2.ron", include_bytes!("robots/go2.ron")),
    ("robots/iris.ron", include_bytes!("robots/iris.ron")),
    ("robots/panda.ron", include_bytes!("robots/panda.ron")),
    ("robots/talos.ron", include_bytes!("robots/talos.ron")),
    ("robots/ur5.ron", include_bytes!("robots/ur5.ron")),
    ("interfaces/contact_law.ron", include_bytes!("interfaces/contact_law.ron")),
    ("masks/dead_time_process.ron", include_bytes!("masks/dead_time_process.ron")),
    ("masks/feed_forward_pid.ron", include_bytes!("masks/feed_forward_pid.ron")),
    ("masks/gauss_contact.ron", include_bytes!("masks/gauss_contact.ron")),
    ("masks/hertz_contact.ron", include_bytes!("masks/hertz_contact.ron")),
    ("masks/hunt_crossley_contact.ron", include_bytes!("masks/hunt_crossley_contact.ron")),
    ("masks/impact_contact.ron", include_bytes!("masks/impact_contact.ron")),
    ("masks/implicit_contact.ron", include_bytes!("masks/implicit_contact.ron")),
    ("masks/lead_lag.ron", include_bytes!("masks/lead_lag.ron")),
    ("masks/linear_contact.ron", include_bytes!("masks/linear_contact.ron")),
    ("masks/low_pass.ron", include_bytes!("masks/low_pass.ron")),
    ("masks/mini_cheetah_motors.ron", include_bytes!("masks/mini_cheetah_motors.ron")),
    ("masks/moving_average.ron", include_bytes!("masks/moving_average.ron")),
    ("masks/rate_limited_setpoint.ron", include_bytes!("masks/rate_limited_setpoint.ron")),
    ("masks/robot_with_contacts.ron", include_bytes!("masks/robot_with_contacts.ron")),
    ("masks/second_order_low_pass.ron", include_bytes!("masks/second_order_low_pass.ron")),
];
