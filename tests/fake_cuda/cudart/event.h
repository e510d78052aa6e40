#pragma once

// What an event stands for.

#include <memory>
#include <vector>

#include "cudart/world.h"

namespace fakecuda {

// Guarded by the world's mutex.
// Invariant: at most one of `recorded` and `capture` is set; none before the first record.
struct Event {
  int device = 0;
  unsigned flags = 0;
  OpP recorded;  // the operation that stands for the record
  // Recorded in a capture: these nodes of its graph.
  std::shared_ptr<Capture> capture;
  std::vector<size_t> nodes;
};

}  // namespace fakecuda
