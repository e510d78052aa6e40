#pragma once
// Runs a trace on a pool.
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
  size_t peak_used_bytes = 0;  // of what the trace asked for, before any rounding
  size_t peak_reserved_bytes = 0;
  uint64_t upstream_calls = 0;  // allocations, frees and events made
  uint64_t upstream_calls_second_half = 0;
};

// Keeps the trace, the pool and the upstream by reference. Not thread safe.
class TraceReplayer {
 public:
  TraceReplayer(const Trace& trace, Pool& pool, Upstream& upstream);
  // Frees what is in use.
  ~TraceReplayer();
  TraceReplayer(const TraceReplayer&) = delete;
  TraceReplayer& operator=(const TraceReplayer&) = delete;

  // Called where the trace gives work to a stream (behind `a` and `u`), with the block's number.
  std::function<void(StreamIndex stream, uint32_t id)> on_work;

  // Entries from begin to end. THROWS what the pool throws; entries before are done then.
  void Replay(size_t begin, size_t end);
  // Frees what is in use.
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

// The whole trace on a new pool that nobody else uses. `prepare`, if any, sets the replayer's hook.
TraceResult ReplayTrace(const Trace& trace, Pool& pool, Upstream& upstream,
                        const std::function<void(TraceReplayer&)>& prepare = nullptr);

}  // namespace caffe2rt
