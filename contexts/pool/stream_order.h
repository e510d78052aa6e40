#pragma once
// What a pool knows about the progress of streams: events that freed blocks wait for, and markers
// that say how far a stream has come. Internal to contexts/pool.

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

// Events that are used over and over. Not thread safe.
class EventStock {
 public:
  EventStock(Upstream& upstream, PoolCounters& counters)
      : upstream_(upstream), counters_(counters) {}
  ~EventStock();
  EventStock(const EventStock&) = delete;
  EventStock& operator=(const EventStock&) = delete;

  // An event behind the stream's work so far; null when the upstream gives or records none.
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
// somebody else wants the memory; when it fires, all frees up to its number are over: their blocks
// may go to other streams and back to the upstream. A stream that never shares records nothing.
//
// `waiting` are events of freed blocks on this stream, oldest first: they fire in this order.
struct StreamOrder {
  uint64_t frees = 0;      // number of the last free
  uint64_t completed = 0;  // frees up to this number are over. Invariant: completed <= frees
  EventNode* marker = nullptr;
  uint64_t marker_number = 0;
  EventNode* first_waiting = nullptr;
  EventNode* last_waiting = nullptr;

  void Wait(EventNode* node);
  // The oldest waiting event, taken out if it is done; else null.
  EventNode* TakeDone(const EventStock& events);
  // Learns how far the stream (number `stream`) has come.
  void Refresh(StreamIndex stream, EventStock& events);
};

}  // namespace caffe2rt::internal
