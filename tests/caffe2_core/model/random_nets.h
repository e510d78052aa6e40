#pragma once
// Random nets that run, for tests that compare ways of running a net.
//
// They contain convolutions with everything that graph passes fold and fuse, no-ops, reshapes, dead
// operators, operators in place, blobs that are written several times, aliases, control inputs,
// operators on constants, state that one run leaves to the next, and If operators with nets.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::test {

struct RandomNet {
  NetDef net;
  std::set<std::string> inputs;  // the blobs that callers write
  std::set<std::string> kept;    // the outputs and further blobs that are read after a run
  // Fills weights and inputs, with the same values each time.
  void Fill(Workspace* ws) const;

  struct Filled {
    std::string name;
    std::vector<int64_t> dims;
    float low = -1, high = 1;
    uint32_t seed = 0;
  };
  std::vector<Filled> filled;
};

// The same net for the same seed on every machine.
RandomNet MakeRandomNet(uint32_t seed);

}  // namespace caffe2rt::test
