// Comments may stand in front.
Urdf(
    path: "std:robots/mini_cheetah/mini_cheetah.urdf", base: Floating, feet: ["FL_foot", "HR_foot"],
    keyframes: { "stand": (s: [0, -0.8, 1.6, 0, -0.8, 1.6, 0, "=-0.4 - 0.4", 1.6, 0, -0.8, 1.6]) },
)
