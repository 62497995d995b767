// The quadruped of 4.8 kg with three joints a leg.
Urdf(
    path: "links.urdf", base: Floating, feet: ["LF_foot", "RF_foot", "LH_foot", "RH_foot"],
    keyframes: { "stand": (s: [0.0466, 0.8493, 1.4430, -0.0466, -0.8493, -1.4430, -0.0466, -0.8493, -1.4430, 0.0466, 0.8493, 1.4430]) },
)
