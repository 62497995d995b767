//! Robots, diagrams and signals that are built into the binary: a package of their own, because a
//! published package holds the files of its own folder only.

/// Path under `std:` and content.
pub const FILES: [(&str, &[u8]); 15] = [
    (
        "robots/mini_cheetah/mini_cheetah.urdf",
        include_bytes!("robots/mini_cheetah/mini_cheetah.urdf"),
    ),
    ("robots/anymal_c/anymal_c.urdf", include_bytes!("robots/anymal_c/anymal_c.urdf")),
    ("robots/go2/go2.urdf", include_bytes!("robots/go2/go2.urdf")),
    ("robots/iris/iris.urdf", include_bytes!("robots/iris/iris.urdf")),
    ("robots/panda/panda.urdf", include_bytes!("robots/panda/panda.urdf")),
    ("robots/talos/talos.urdf", include_bytes!("robots/talos/talos.urdf")),
    ("robots/ur5/ur5.urdf", include_bytes!("robots/ur5/ur5.urdf")),
    ("robots/block/block.urdf", include_bytes!("robots/block/block.urdf")),
    ("robots/pendulum/pendulum.urdf", include_bytes!("robots/pendulum/pendulum.urdf")),
    ("diagrams/quadruped/stand.ron", include_bytes!("quadruped/stand.ron")),
    ("diagrams/basics/oscillator.ron", include_bytes!("basics/oscillator.ron")),
    ("diagrams/basics/hold_pair.ron", include_bytes!("basics/hold_pair.ron")),
    ("signals/gust.mcap", include_bytes!("signals/gust.mcap")),
    ("signals/gust.csv", include_bytes!("signals/gust.csv")),
    ("policies/balance.safetensors", include_bytes!("basics/balance.safetensors")),
];
