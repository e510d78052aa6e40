#include "contexts/pool/stream_order.h"

#include <algorithm>

namespace caffe2rt::internal {

EventStock::~EventStock() {
  for (const auto& node : all_) upstream_.DestroyEvent(node->event);
}

EventNode* EventStock::Record(StreamIndex stream) noexcept {
  EventNode* node = unused_;
  try {
    if (node == nullptr) {
      all_.push_back(nullptr);
      try {
        auto made = std::make_unique<EventNode>();
        made->event = upstream_.CreateEvent();
        all_.back() = std::move(made);
      } catch (...) {
        all_.pop_back();
        throw;
      }
      PoolCounters::Add(counters_.events_created, 1);
      node = all_.back().get();
    } else {
      unused_ = node->next;
      node->next = nullptr;
    }
    upstream_.Record(node->event, stream);
    PoolCounters::Add(counters_.events_recorded, 1);
    return node;
  } catch (...) {
    // Callers can do without the event: they wait for the stream instead. A device error is
    // reported by the next call that can throw.
    if (node != nullptr) Give(node);
    return nullptr;
  }
}

void EventStock::Give(EventNode* node) {
  node->block = nullptr;
  node->next = unused_;
  unused_ = node;
}

void StreamOrder::Wait(EventNode* node) {
  node->next = nullptr;
  (last_waiting != nullptr ? last_waiting->next : first_waiting) = node;
  last_waiting = node;
}

EventNode* StreamOrder::TakeDone(const EventStock& events) {
  EventNode* const node = first_waiting;
  if (node == nullptr || !events.IsDone(*node)) return nullptr;
  first_waiting = node->next;
  if (first_waiting == nullptr) last_waiting = nullptr;
  node->next = nullptr;
  return node;
}

void StreamOrder::Refresh(StreamIndex stream, EventStock& events) {
  // At most twice: when an old marker has fired, record a new one behind the frees since then.
  for (int i = 0; i < 2 && completed < frees; ++i) {
    if (marker == nullptr) {
      marker = events.Record(stream);
      marker_number = frees;
    }
    if (marker == nullptr || !events.IsDone(*marker)) return;
    completed = std::max(completed, marker_number);
    events.Give(marker);
    marker = nullptr;
  }
}

}  // namespace caffe2rt::internal
