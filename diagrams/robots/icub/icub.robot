// iCub with the 23 joints of the original simulator: neck and wrists do not move, and joints have no damping and no limits,
// since that simulator reads none (the file's 0.1 and 1 N m s/rad are placeholders, the same for all joints of a kind).
Urdf(
    path: "icub.urdf",
    joint_damping: Ignore,
    joint_limits: Ignore,
    feet: ["l_sole", "r_sole"],
    weld: { "neck_*": 0, "*_wrist_*": 0 },
    rotor_inertia: { "torso_pitch": 0.1369, "torso_roll": 0.1369, "torso_yaw": 0.0795, "*_shoulder_*": 0.0795, "*_elbow": 0.0795, "*_hip_roll": 0.1369, "*_hip_yaw": 0.1369, "*_knee": 0.1369, "*_ankle_*": 0.1369, "*_hip_pitch": 0.305 },
    keyframes: { "stand": (
        s: {
            "torso_*": 0, "*_shoulder_pitch": "-35.97 deg", "*_shoulder_roll": "29.97 deg", "*_shoulder_yaw": "0.06 deg", "*_elbow": "50 deg",
            "*_hip_pitch": "10 deg", "*_hip_roll": 0, "*_hip_yaw": 0, "*_knee": "-20 deg", "*_ankle_pitch": "-10 deg", "*_ankle_roll": 0,
        },
        base_position: [0, 0, "0.619 m"], base_orientation: [0, 0, 0, 1],
    ) },
)
