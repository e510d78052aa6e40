#pragma once
// The progress of streams as a pool knows it: events that freed blocks wait for, and markers that
// record how far a stream has come. Internal to contexts/pool.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "contexts/pool/block_record.h"
#include "contexts/pool/pool_statistics.h"
#include "contexts/pool/upstream.h"

namespace caffe2rt::internal {

// An event of the upstream and the block that waits for it.
struct EventNode {
  Upstream::Event event = nullptr;
  BlockRecord* block = nullptr;
  EventNode* next = nullptr;
};

// A stock of reusable events. Not thread safe.
class EventStock {
 public:
  EventStock(Upstream& upstream, PoolCounters& counters)
      : upstream_(upstream), counters_(counters) {}
  ~EventStock();
  EventStock(const EventStock&) = delete;
  EventStock& operator=(const EventStock&) = delete;

  // Records an event behind the stream's work so far. Returns null if the upstream fails.
  EventNode* Record(StreamIndex stream) noexcept;
  void Give(EventNode* node);
  bool IsDone(const EventNode& node) const { return upstream_.IsDone(node.event); }

 private:
  Upstream& upstream_;
  PoolCounters& counters_;
  EventNode* unused_ = nullptr;
  std::vector<std::unique_ptr<EventNode>> all_;
};

// The frees of one home stream are numbered. A marker is an event that is recorded only when
// another stream or the upstream could use freed memory. When it fires, the stream's work before
// all frees up to the marker's number has finished: their blocks may move to other streams or
// return to the upstream. A stream whose memory is used by no other stream records no marker.
//
// The waiting list holds the events of freed blocks on this stream, oldest first; they fire in this
// order.
struct StreamOrder {
  uint64_t frees = 0;      // number of the last free
  uint64_t completed = 0;  // frees up to this number are complete. Invariant: completed <= frees
  EventNode* marker = nullptr;
  uint64_t marker_number = 0;
  EventNode* first_waiting = nullptr;
  EventNode* last_waiting = nullptr;

  void Wait(EventNode* node);
  // Removes and returns the oldest waiting event if it is done; else returns null.
  EventNode* TakeDone(const EventStock& events);
  // Updates `completed`, and records a marker if needed. `stream` is the number of this stream.
  void Refresh(StreamIndex stream, EventStock& events);
};

}  // namespace caffe2rt::internal
