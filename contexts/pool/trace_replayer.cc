#include "contexts/pool/trace_replayer.h"

#include <algorithm>

#include "caffe2_core/base/logging.h"

namespace caffe2rt {
namespace {

uint64_t UpstreamCalls(const Pool& pool) {
  const PoolStatistics statistics = pool.Statistics();
  return statistics.upstream_allocations + statistics.upstream_frees + statistics.events_created;
}

}  // namespace

TraceReplayer::TraceReplayer(const Trace& trace, Pool& pool, Upstream& upstream)
    : trace_(trace),
      pool_(pool),
      upstream_(upstream),
      blocks_(trace.IdCount()),
      bytes_(trace.IdCount()) {}

TraceReplayer::~TraceReplayer() {
  try {
    FreeAll();
  } catch (...) {
    LOG(ERROR) << CurrentExceptionMessage();
  }
}

void TraceReplayer::Replay(size_t begin, size_t end) {
  CAFFE_ENFORCE_LE(end, trace_.entries.size(), "end of the entries to replay");
  for (size_t i = begin; i < end; ++i) {
    const TraceEntry& entry = trace_.entries[i];
    PoolBlock& block = blocks_[entry.id];
    switch (entry.kind) {
      case TraceEntry::Kind::kAllocate:
        block = pool_.Allocate(entry.bytes, entry.stream);
        bytes_[entry.id] = entry.bytes;
        used_bytes_ += entry.bytes;
        peak_used_bytes_ = std::max(peak_used_bytes_, used_bytes_);
        if (on_work) on_work(entry.stream, entry.id);
        break;
      case TraceEntry::Kind::kUse:
        pool_.RecordUse(block, entry.stream);
        if (on_work) on_work(entry.stream, entry.id);
        break;
      case TraceEntry::Kind::kFree:
        pool_.Free(block, entry.stream);
        block = {};
        used_bytes_ -= bytes_[entry.id];
        break;
      case TraceEntry::Kind::kWait:
        upstream_.Synchronize(entry.stream);
        break;
    }
  }
}

void TraceReplayer::FreeAll() {
  for (PoolBlock& block : blocks_) {
    if (block.data != nullptr) pool_.Free(block, kNoStream);
    block = {};
  }
  used_bytes_ = 0;
}

TraceResult ReplayTrace(const Trace& trace, Pool& pool, Upstream& upstream,
                        const std::function<void(TraceReplayer&)>& prepare) {
  const uint64_t before = UpstreamCalls(pool);
  TraceReplayer replayer(trace, pool, upstream);
  if (prepare) prepare(replayer);
  const size_t half = trace.entries.size() / 2;
  replayer.Replay(0, half);
  const uint64_t middle = UpstreamCalls(pool);
  replayer.Replay(half, trace.entries.size());
  const uint64_t after = UpstreamCalls(pool);
  return {.peak_used_bytes = replayer.peak_used_bytes(),
          .peak_reserved_bytes = pool.Statistics().peak_reserved_bytes,
          .upstream_calls = after - before,
          .upstream_calls_second_half = after - middle};
}

}  // namespace caffe2rt
