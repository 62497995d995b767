// usage: pinocchio MODEL      MODEL: a file that dump_model.py wrote
//
// Times the rows of src/mechanics/benches/rigid_body that Pinocchio has, under the same names.
// Where Pinocchio offers two conventions, the one that is faster on both robots is timed: LOCAL.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/joint/joint-free-flyer.hpp>
#include <pinocchio/multibody/model.hpp>

#include <fstream>
#include <iostream>
#include <string>

#include "timing.h"

using namespace pinocchio;

static SE3 read_placement(std::istream &in) {
  SE3::Matrix3 rotation;
  SE3::Vector3 translation;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) in >> rotation(r, c);
  for (int r = 0; r < 3; ++r) in >> translation[r];
  return SE3(rotation, translation);
}

static Inertia read_inertia(std::istream &in) {
  double mass;
  Eigen::Vector3d center;
  Eigen::Matrix3d about_center;
  in >> mass >> center[0] >> center[1] >> center[2];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) in >> about_center(r, c);
  return Inertia(mass, center, about_center);
}

static JointIndex add_joint(Model &model, int parent, const std::string &kind, const Eigen::Vector3d &axis,
                            const SE3 &placement, const std::string &name) {
  if (kind == "FreeFlyer") return model.addJoint(parent, JointModelFreeFlyer(), placement, name);
  if (kind == "RX") return model.addJoint(parent, JointModelRX(), placement, name);
  if (kind == "RY") return model.addJoint(parent, JointModelRY(), placement, name);
  if (kind == "RZ") return model.addJoint(parent, JointModelRZ(), placement, name);
  if (kind == "RevoluteUnaligned")
    return model.addJoint(parent, JointModelRevoluteUnaligned(axis), placement, name);
  std::cerr << "joint `" << name << "`: no support for the type `" << kind << "`\n";
  std::exit(1);
}

static Model read_model(const char *path, std::vector<FrameIndex> &feet) {
  Model model;
  std::ifstream in(path);
  std::string tag, name, kind;
  int parent;
  while (in >> tag >> name >> parent) {
    if (tag == "joint") {
      Eigen::Vector3d axis;
      in >> kind >> axis[0] >> axis[1] >> axis[2];
      const SE3 placement = read_placement(in);
      const JointIndex joint = add_joint(model, parent, kind, axis, placement, name);
      model.appendBodyToJoint(joint, read_inertia(in), SE3::Identity());
    } else {
      feet.push_back(model.addFrame(Frame(name, parent, 0, read_placement(in), OP_FRAME)));
    }
  }
  if (model.njoints < 2) {
    std::cerr << path << ": no model\n";
    std::exit(1);
  }
  return model;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: pinocchio MODEL\n";
    return 2;
  }
  std::vector<FrameIndex> feet;
  const Model model = read_model(argv[1], feet);
  Data data(model);

  const int count = 128, nv = model.nv;
  std::srand(1);
  const Eigen::VectorXd upper = Eigen::VectorXd::Ones(model.nq), lower = -upper;
  std::vector<Eigen::VectorXd> q(count), v(count), a(count), tau(count);
  for (int i = 0; i < count; ++i) {
    q[i] = randomConfiguration(model, lower, upper);
    v[i] = Eigen::VectorXd::Random(nv);
    a[i] = Eigen::VectorXd::Random(nv);
    tau[i] = Eigen::VectorXd::Random(nv);
  }
  const auto state = [](long call) { return int(call % count); };

  measure("crba", [&](long call) { crba(model, data, q[state(call)], Convention::LOCAL); });
  measure("nle", [&](long call) { nonLinearEffects(model, data, q[state(call)], v[state(call)]); });
  measure("rnea", [&](long call) {
    const int i = state(call);
    rnea(model, data, q[i], v[i], a[i]);
  });
  measure("aba", [&](long call) {
    const int i = state(call);
    aba(model, data, q[i], v[i], tau[i], Convention::LOCAL);
  });

  std::vector<Eigen::MatrixXd> jacobians(feet.size(), Eigen::MatrixXd::Zero(6, nv));
  measure("foot_jacobians", [&](long call) {
    computeJointJacobians(model, data, q[state(call)]);
    for (size_t k = 0; k < feet.size(); ++k) {
      updateFramePlacement(model, data, feet[k]);
      getFrameJacobian(model, data, feet[k], LOCAL_WORLD_ALIGNED, jacobians[k]);
    }
  });

  Eigen::VectorXd acceleration(nv);
  const auto forward_dynamics_by_factor = [&](long call) {
    const int i = state(call);
    crba(model, data, q[i], Convention::LOCAL);
    nonLinearEffects(model, data, q[i], v[i]);
    cholesky::decompose(model, data);
    acceleration = tau[i] - data.nle;
    cholesky::solve(model, data, acceleration);
  };
  measure("forward_dynamics_by_factor", forward_dynamics_by_factor);
  measure("minverse", [&](long call) { computeMinverse(model, data, q[state(call)]); });

  // The calls above must form what they are named for: both ways to forward dynamics agree.
  forward_dynamics_by_factor(0);
  Data other(model);
  const Eigen::VectorXd &expected = aba(model, other, q[0], v[0], tau[0], Convention::LOCAL);
  const double error = (acceleration - expected).norm() / expected.norm();
  if (!(error < 1e-9)) {
    std::cerr << "aba and the factor disagree by " << error << "\n";
    return 1;
  }
  return 0;
}
