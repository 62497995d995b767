// usage: qp PROBLEMS.txt LANDING.csv [SECONDS]
//
// Times eiquadprog-fast and qpOASES on problems of 12 unknowns and 20 rows: those of make_qp.py, and the recorded
// landing of src/qp/tests/data. Prints a row per line: name and median time per solve [ns].
#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <eiquadprog/eiquadprog-fast.hpp>
#include <fstream>
#include <map>
#include <qpOASES.hpp>
#include <sstream>
#include <string>
#include <vector>

constexpr int N = 12, C = 20;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
struct Problem {
  Eigen::MatrixXd H{N, N};
  Eigen::VectorXd g{N};
};

// Median over many short batches, as src/qp/benches/active_set does it.
template <class F>
double median_ns(double seconds, F &&f) {
  using Clock = std::chrono::steady_clock;
  auto since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  auto start = Clock::now();
  long calls = 0;
  while (since(start) < 0.05) f(), ++calls;
  double per_call = since(start) / calls;
  long size = std::max(1L, long(150e-6 / per_call));
  std::vector<double> batches(std::max(31L, long(seconds / (per_call * size))));
  for (double &time : batches) {
    auto begin = Clock::now();
    for (long i = 0; i < size; ++i) f();
    time = since(begin) / size * 1e9;
  }
  std::sort(batches.begin(), batches.end());
  return batches[batches.size() / 2];
}

Eigen::MatrixXd pyramids(bool inscribed) {
  // Normals n of rows n'f >= 0. The recorded problems have inscribed pyramids, whose facets lie across the diagonals.
  double mu = inscribed ? 0.2 * std::sqrt(0.5) : 0.7, c = inscribed ? std::sqrt(0.5) : 1, s = inscribed ? std::sqrt(0.5) : 0;
  double rows[5][3] = {{-c, s, mu}, {-s, -c, mu}, {c, -s, mu}, {s, c, mu}, {0, 0, 1}};
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(C, N);
  for (int foot = 0; foot < 4; ++foot)
    for (int r = 0; r < 5; ++r)
      for (int k = 0; k < 3; ++k) A(5 * foot + r, 3 * foot + k) = rows[r][k];
  return A;
}

void time_set(const std::string &name, const std::vector<Problem> &problems, const Eigen::MatrixXd &A, double seconds) {
  size_t next = 0;
  auto report = [&](const char *solver, auto &&solve) {
    double time = median_ns(seconds, [&] { solve(problems[next]), next = (next + 1) % problems.size(); });
    std::printf("%s/%s %.0f\n", solver, name.c_str(), time);
  };
  Eigen::MatrixXd E(0, N);
  Eigen::VectorXd e(0), zero = Eigen::VectorXd::Zero(C), x(N);
  eiquadprog::solvers::EiquadprogFast dual;
  dual.reset(N, 0, C);
  report("eiquadprog", [&](const Problem &p) { dual.solve_quadprog(p.H, p.g, E, e, A, zero, x); });

  RowMajor rows = A;
  qpOASES::Options options;
  options.setToMPC();
  options.printLevel = qpOASES::PL_NONE;
  qpOASES::SQProblem online(N, C, qpOASES::HST_POSDEF);
  online.setOptions(options);
  bool is_first = true;
  auto solve = [&](const Problem &p, bool warm) {
    qpOASES::int_t changes = 200;
    if (warm && !is_first) {
      online.hotstart(p.H.data(), p.g.data(), rows.data(), nullptr, nullptr, zero.data(), nullptr, changes);
    } else {
      online.reset();
      online.setOptions(options);
      online.init(p.H.data(), p.g.data(), rows.data(), nullptr, nullptr, zero.data(), nullptr, changes);
    }
    is_first = false;
    online.getPrimalSolution(x.data());
  };
  report("qpoases_cold", [&](const Problem &p) { solve(p, false); });
  report("qpoases_hotstart", [&](const Problem &p) { solve(p, true); });
}

int main(int argc, char **argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: qp PROBLEMS.txt LANDING.csv [SECONDS]\n"), 2;
  double seconds = argc > 3 ? std::atof(argv[3]) : 0.4;
  std::map<std::string, std::vector<Problem>> sets;
  std::ifstream text(argv[1]);
  for (std::string kind; text >> kind;) {
    Problem p;
    double skipped;
    for (int i = 0; i < N * N; ++i) text >> p.H.data()[i];
    for (int i = 0; i < N; ++i) text >> p.g[i];
    for (int i = 0; i < N; ++i) text >> skipped;
    p.H = (0.5 * (p.H + p.H.transpose())).eval();
    sets[kind].push_back(p);
  }
  std::vector<Problem> landing;
  std::ifstream csv(argv[2]);
  for (std::string line; std::getline(csv, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream values(line);
    Problem p;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j <= i; ++j) values >> p.H(i, j), p.H(j, i) = p.H(i, j);
    p.H.diagonal().array() += 1e-9;
    for (int i = 0; i < N; ++i) values >> p.g[i];
    landing.push_back(p);
  }
  for (const char *kind : {"standing", "random"}) time_set(kind, sets[kind], pyramids(false), seconds);
  time_set("landing", landing, pyramids(true), seconds);
}
