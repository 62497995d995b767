// usage: mujoco_trot MODEL.mjb STEPS HOLD KP KD REFERENCE
// Runs a legged robot in MuJoCo from its first keyframe under joint PD and prints the time per step [ns], the mean iterations
// of its solver per step, and the generalised positions at the end. REFERENCE is a text of wanted joint positions and
// velocities in MuJoCo's order, a line for each HOLD steps, for which the torques are held. What `legwork run` does within its
// clock is done within this one: every step's positions, velocities and contact forces are kept, here in memory.
#include <mujoco/mujoco.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

int main(int argc, char **argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s MODEL.mjb STEPS HOLD KP KD REFERENCE\n", argv[0]);
    return 64;
  }
  const long steps = std::atol(argv[2]), hold = std::atol(argv[3]);
  const double kp = std::atof(argv[4]), kd = std::atof(argv[5]);
  mjModel *model = mj_loadModel(argv[1], nullptr);
  if (!model || steps < 1 || hold < 1 || model->nkey < 1) {
    std::fprintf(stderr, "%s: expected a model with a keyframe, steps, and steps of a hold\n", argv[1]);
    return 1;
  }
  const int nq = model->nq, nv = model->nv, joints = model->nu;
  std::vector<double> reference;
  std::ifstream text(argv[6]);
  for (double value; text >> value;) reference.push_back(value);
  const long needed = (steps + hold - 1) / hold * 2 * joints;
  if (static_cast<long>(reference.size()) < needed || nq != 7 + joints || nv != 6 + joints) {
    std::fprintf(stderr, "%s: expected %ld numbers and an actuator for each joint\n", argv[6], needed);
    return 1;
  }
  mjData *data = mj_makeData(model);
  const long row = nq + nv + model->nbody * 6;
  std::vector<double> kept(static_cast<size_t>(steps) * row);
  mj_resetDataKeyframe(model, data, 0);
  double iterations = 0;
  const auto start = std::chrono::steady_clock::now();
  for (long k = 0; k < steps; ++k) {
    double *to = kept.data() + k * row;
    std::memcpy(to, data->qpos, nq * sizeof(double));
    std::memcpy(to + nq, data->qvel, nv * sizeof(double));
    if (k % hold == 0) {
      const double *wanted = reference.data() + k / hold * 2 * joints;
      for (int j = 0; j < joints; ++j) {
        data->ctrl[j] = kp * (wanted[j] - data->qpos[7 + j]) + kd * (wanted[joints + j] - data->qvel[6 + j]);
      }
    }
    mj_step(model, data);
    for (int c = 0; c < data->ncon; ++c) {
      const int body = model->geom_bodyid[data->contact[c].geom[1]];
      mjtNum force[6];
      mj_contactForce(model, data, c, force);
      for (int i = 0; i < 6; ++i) to[nq + nv + 6 * body + i] += force[i];
    }
    iterations += data->solver_niter[0];
  }
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("%.1f %.3f\n", elapsed.count() / double(steps), iterations / double(steps));
  for (int i = 0; i < nq; ++i) std::printf("%.17g%c", data->qpos[i], i + 1 < nq ? ' ' : '\n');
  mj_deleteData(data);
  mj_deleteModel(model);
}
