// usage: idyntree URDF BASE_LINK FOOT...
//
// Times what a whole-body controller asks of KinDynComputations at one state: mass matrix, bias
// forces, Jacobian and bias acceleration of each foot, in MIXED representation. The state is set
// anew before every call, since iDynTree keeps the kinematics of a state until it changes.
#include <iDynTree/FreeFloatingState.h>
#include <iDynTree/KinDynComputations.h>
#include <iDynTree/Model.h>
#include <iDynTree/ModelLoader.h>

#include <iostream>
#include <string>

#include "timing.h"

using namespace iDynTree;

int main(int argc, char **argv) {
  if (argc < 3) {
    std::cerr << "usage: idyntree URDF BASE_LINK FOOT...\n";
    return 2;
  }
  ModelLoader loader;
  KinDynComputations computations;
  if (!loader.loadModelFromFile(argv[1]) || !computations.loadRobotModel(loader.model()) ||
      !computations.setFloatingBase(argv[2])) {
    std::cerr << argv[1] << ": no model with the base `" << argv[2] << "`\n";
    return 1;
  }
  computations.setFrameVelocityRepresentation(MIXED_REPRESENTATION);
  const std::vector<std::string> feet(argv + 3, argv + argc);

  const int count = 128;
  const size_t joints = computations.model().getNrOfDOFs(), nv = joints + 6;
  std::srand(1);
  const auto random = [] { return 2.0 * std::rand() / RAND_MAX - 1.0; };
  std::vector<VectorDynSize> s(count, VectorDynSize(joints)), s_dot(count, VectorDynSize(joints));
  std::vector<Transform> world_from_base(count);
  std::vector<Twist> base_velocity(count);
  for (int i = 0; i < count; ++i) {
    for (size_t j = 0; j < joints; ++j) {
      s[i](j) = random();
      s_dot[i](j) = random();
    }
    const double roll = random(), pitch = random(), yaw = random(), x = random(), y = random(), z = random();
    world_from_base[i] = Transform(Rotation::RPY(roll, pitch, yaw), Position(x, y, z));
    for (int j = 0; j < 6; ++j) base_velocity[i](j) = random();
  }
  Vector3 gravity;
  gravity.zero();
  gravity(2) = -9.81;

  MatrixDynSize mass(nv, nv);
  FreeFloatingGeneralizedTorques bias(computations.model());
  std::vector<MatrixDynSize> jacobians(feet.size(), MatrixDynSize(6, nv));
  std::vector<Vector6> jacobian_dot_velocity(feet.size());
  bool valid = true;
  measure("terms_of_controller", [&](long call) {
    const int i = int(call % count);
    valid &= computations.setRobotState(world_from_base[i], s[i], base_velocity[i], s_dot[i], gravity);
    valid &= computations.getFreeFloatingMassMatrix(mass);
    valid &= computations.generalizedBiasForces(bias);
    for (size_t k = 0; k < feet.size(); ++k) {
      valid &= computations.getFrameFreeFloatingJacobian(feet[k], jacobians[k]);
      jacobian_dot_velocity[k] = computations.getFrameBiasAcc(feet[k]);
    }
  });
  if (!valid) {
    std::cerr << "iDynTree reported an error\n";
    return 1;
  }
  return 0;
}
