#pragma once

// Events.

#include <memory>
#include <vector>

#include "cudart/world.h"

namespace fakecuda {

// Guarded by the world's mutex.
// Invariant: at most one of `recorded` and `capture` is set; neither before the first record.
struct Event {
  int device = 0;
  unsigned flags = 0;
  OpP recorded;  // the operation that marks the record in its stream
  // If recorded in a capture: the capture, and the nodes of its graph that the event follows.
  std::shared_ptr<Capture> capture;
  std::vector<size_t> nodes;
};

}  // namespace fakecuda
