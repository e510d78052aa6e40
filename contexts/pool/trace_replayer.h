#pragma once
// Replays a trace on a pool.
//
//   FakeAllocator upstream;
//   auto pool = NewThcPool(upstream, {});
//   TraceReplayer replayer(trace, *pool, upstream);
//   replayer.Replay(0, trace.entries.size());
//   pool->Statistics().peak_reserved_bytes / double(replayer.peak_used_bytes())

#include <cstddef>
#include <functional>
#include <vector>

#include "contexts/pool/pool.h"
#include "contexts/pool/trace.h"

namespace caffe2rt {

struct TraceResult {
  size_t peak_used_bytes = 0;  // peak of the requested bytes, before any rounding
  size_t peak_reserved_bytes = 0;
  uint64_t upstream_calls = 0;  // allocations, frees and creations of events
  uint64_t upstream_calls_second_half = 0;
};

// Holds references to the trace, the pool and the upstream. Not thread safe.
class TraceReplayer {
 public:
  TraceReplayer(const Trace& trace, Pool& pool, Upstream& upstream);
  // Frees the blocks that are in use.
  ~TraceReplayer();
  TraceReplayer(const TraceReplayer&) = delete;
  TraceReplayer& operator=(const TraceReplayer&) = delete;

  // Called after each `a` and `u`, where the trace enqueues work on a stream, with the block's id.
  std::function<void(StreamIndex stream, uint32_t id)> on_work;

  // Replays the entries in [begin, end). THROWS any exception of the pool, after the entries before
  // the failing one have been replayed.
  void Replay(size_t begin, size_t end);
  // Frees the blocks that are in use.
  void FreeAll();

  const PoolBlock& block(uint32_t id) const { return blocks_[id]; }
  size_t peak_used_bytes() const { return peak_used_bytes_; }

 private:
  const Trace& trace_;
  Pool& pool_;
  Upstream& upstream_;
  std::vector<PoolBlock> blocks_;  // by id
  std::vector<size_t> bytes_;
  size_t used_bytes_ = 0;
  size_t peak_used_bytes_ = 0;
};

// Replays the whole trace. REQUIRES: the pool is new and nothing else uses it. `prepare`, if not
// null, can set the replayer's on_work.
TraceResult ReplayTrace(const Trace& trace, Pool& pool, Upstream& upstream,
                        const std::function<void(TraceReplayer&)>& prepare = nullptr);

}  // namespace caffe2rt
