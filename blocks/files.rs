//! Files that are built into the binary: masks, interfaces, robots and diagrams, which diagrams
//! find under `std:` and which `demo` lists.

/// Path under `std:` and content.
pub(crate) const FILES: [(&str, &[u8]); 28] = [
    (
        "robots/mini_cheetah/mini_cheetah.urdf",
        include_bytes!("../diagrams/robots/mini_cheetah/mini_cheetah.urdf"),
    ),
    ("robots/mini_cheetah.ron", include_bytes!("robots/mini_cheetah.ron")),
    ("robots/block/block.urdf", include_bytes!("../diagrams/robots/block/block.urdf")),
    ("robots/pendulum/pendulum.urdf", include_bytes!("../diagrams/robots/pendulum/pendulum.urdf")),
    ("diagrams/quadruped/stand.ron", include_bytes!("../diagrams/quadruped/stand.ron")),
    ("diagrams/basics/oscillator.ron", include_bytes!("../diagrams/basics/oscillator.ron")),
    ("diagrams/basics/hold_pair.ron", include_bytes!("../diagrams/basics/hold_pair.ron")),
    ("signals/gust.mcap", include_bytes!("../diagrams/signals/gust.mcap")),
    ("signals/gust.csv", include_bytes!("../diagrams/signals/gust.csv")),
    ("interfaces/contact_law.ron", include_bytes!("interfaces/contact_law.ron")),
    ("masks/acceleration_contact.ron", include_bytes!("masks/acceleration_contact.ron")),
    ("masks/compliant_contact.ron", include_bytes!("masks/compliant_contact.ron")),
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
    ("masks/velocity_contact.ron", include_bytes!("masks/velocity_contact.ron")),
];
