//! Diagrams and robots that are built into the binary.

/// Path under `std:` and content.
pub(crate) const FILES: [(&str, &[u8]); 8] = [
    (
        "robots/mini_cheetah/mini_cheetah.urdf",
        include_bytes!("../diagrams/robots/mini_cheetah/mini_cheetah.urdf"),
    ),
    ("robots/block/block.urdf", include_bytes!("../diagrams/robots/block/block.urdf")),
    ("robots/pendulum/pendulum.urdf", include_bytes!("../diagrams/robots/pendulum/pendulum.urdf")),
    ("diagrams/quadruped/stand.ron", include_bytes!("../diagrams/quadruped/stand.ron")),
    ("diagrams/basics/oscillator.ron", include_bytes!("../diagrams/basics/oscillator.ron")),
    ("diagrams/basics/hold_pair.ron", include_bytes!("../diagrams/basics/hold_pair.ron")),
    ("signals/gust.mcap", include_bytes!("../diagrams/signals/gust.mcap")),
    ("signals/gust.csv", include_bytes!("../diagrams/signals/gust.csv")),
];
