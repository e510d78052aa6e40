#pragma once
// Ranks that are threads of the test, and the engine THREADS that moves their data through memory: for what
// worlds and operators do without an engine for processes.

#include <functional>
#include <string>
#include <vector>

#include "operators/distributed/collective_engine.h"
#include "operators/distributed/common_world.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test {

// What the test sees of the engine, and how it makes it fail. Functions may be empty.
struct ThreadEngineHooks {
  std::function<void(const TransportOptions&, TransportBootstrap&)> connecting = {};
  std::function<void(int rank)> moved = {};  // after the data of a collective have been moved
  std::function<void(int rank)> aborted = {};
};
// Registers the engine THREADS, whose transports are "memory" and "tcp". The hooks hold until the next call.
void UseThreadEngine(ThreadEngineHooks hooks = {});

// Runs `act` for each rank in a thread of its own, and waits. What one throws is a failure of the test.
void RunRanks(int size, const std::function<void(int rank)>& act);

// A folder for the store of the ranks, and their options.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size, int timeout_ms = 20000) : size_(size), timeout_ms_(timeout_ms) {}

  StoreBlob Store() const { return MakeFileStore(dir_.path(), "", FileAccess::Free()); }
  std::string folder() const { return dir_.path(); }
  WorldOptions Options(int rank) const {
    return {.engine = "THREADS",
            .name = "cw",
            .rank = rank,
            .size = size_,
            .timeout = std::chrono::milliseconds(timeout_ms_)};
  }
  CommonWorldBlob World(int rank) const { return CommonWorld::Create(Options(rank), Store()); }
  // Each rank creates the world, acts, and destroys it.
  void Run(const std::function<void(int rank, CommonWorld& world)>& act) const {
    RunRanks(size_, [&](int rank) {
      const CommonWorldBlob world = World(rank);
      act(rank, *world);
    });
  }

 private:
  const TempDir dir_;
  const int size_, timeout_ms_;
};

}  // namespace caffe2rt::test
