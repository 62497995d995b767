// usage: mujoco_step MODEL.mjb STEPS PUSH_Y PUSH_FROM PUSH_UNTIL
// Runs a MuJoCo model from its first keyframe and prints the time per step [ns], the mean iterations of its solver per
// step, and the generalised positions at the end. The push [N, s, s] acts along y at the origin of the first body, if
// that floats. What `legwork run` does within its clock is done within this one: every step's positions, velocities and
// contact forces are kept, here in memory.
#include <mujoco/mujoco.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

int main(int argc, char **argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s MODEL.mjb STEPS PUSH_Y PUSH_FROM PUSH_UNTIL\n", argv[0]);
    return 64;
  }
  const long steps = std::atol(argv[2]);
  const double push = std::atof(argv[3]), from = std::atof(argv[4]), until = std::atof(argv[5]);
  mjModel *model = mj_loadModel(argv[1], nullptr);
  if (!model || steps < 1 || model->nkey < 1) {
    std::fprintf(stderr, "%s: expected a model with a keyframe, and steps\n", argv[1]);
    return 1;
  }
  mjData *data = mj_makeData(model);
  const int nq = model->nq, nv = model->nv;
  const long row = nq + nv + model->nbody * 6;
  std::vector<double> kept(static_cast<size_t>(steps) * row);
  mj_resetDataKeyframe(model, data, 0);
  double iterations = 0;
  const auto start = std::chrono::steady_clock::now();
  for (long k = 0; k < steps; ++k) {
    double *to = kept.data() + k * row;
    std::memcpy(to, data->qpos, nq * sizeof(double));
    std::memcpy(to + nq, data->qvel, nv * sizeof(double));
    const double t = model->opt.timestep * double(k);
    if (push != 0) data->qfrc_applied[1] = t >= from && t < until ? push : 0;
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
