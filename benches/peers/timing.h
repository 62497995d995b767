// Timing by many short batches, the method of src/mechanics/benches/rigid_body/timing.rs.
// Prints one line per row: name, median, 10th percentile and minimum [ns per call].
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Calls f(0), f(1), ... for about the time in the variable BENCH_SECONDS (default 0.4 s).
template <class F>
void measure(const char *row, F &&f) {
  using Clock = std::chrono::steady_clock;
  const double warm_up = 50e-3, batch = 150e-6;
  const char *text = std::getenv("BENCH_SECONDS");
  const double total = text ? std::atof(text) : 0.4;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  long i = 0;
  auto start = Clock::now();
  while (seconds_since(start) < warm_up) f(i++);
  const double per_call = seconds_since(start) / double(i);
  const long batch_size = std::max(1L, long(batch / per_call));
  const long batch_count = std::max(31L, long(total / (per_call * double(batch_size))));
  std::vector<double> batches(batch_count);
  for (auto &time : batches) {
    start = Clock::now();
    for (long j = 0; j < batch_size; ++j) f(i++);
    time = seconds_since(start) / double(batch_size) * 1e9;
  }
  std::sort(batches.begin(), batches.end());
  std::printf("%s %.1f %.1f %.1f\n", row, batches[batch_count / 2], batches[batch_count / 10], batches[0]);
  std::fflush(stdout);
}
