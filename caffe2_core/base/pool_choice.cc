#include "caffe2_core/base/pool_choice.h"

#include <algorithm>

namespace caffe2rt {

PoolChoice::Key& PoolChoice::Find(uint64_t key) {
  // Pointers to operators differ in their middle bits.
  Key& entry = keys_[(key * 0x9e3779b97f4a7c15u) >> 56];
  if (entry.key != key) entry = {.key = key};
  return entry;
}

void PoolChoice::Compare(Key* entry) {
  entry->state = State::kCompareAlone;
  entry->left = kCompared;
  entry->alone = entry->together = Duration::zero();
}

PoolChoice::Way PoolChoice::Next(uint64_t key, Time now) {
  if (now < alone_until_) return Way::kAlone;
  Key& entry = Find(key);
  if (entry.state == State::kKeepAlone && --entry.left < 0) {
    Compare(&entry);
  }
  if (entry.state == State::kKeepAlone) return Way::kAlone;
  return entry.state == State::kCompareAlone ? Way::kAloneMeasured : Way::kTogether;
}

void PoolChoice::RanAlone(uint64_t key, Duration duration) {
  Key& entry = Find(key);
  if (entry.state != State::kCompareAlone) return;
  entry.alone += duration;
  if (--entry.left > 0) return;
  entry.state = State::kCompareTogether;
  entry.left = kCompared;
}

void PoolChoice::RanTogether(uint64_t key, const Job& job) {
  const Duration time = job.end - job.start;
  // If the pieces are alike. Nothing is known if the workers were faster with all of them.
  const bool known = job.own > 0;
  const Duration alone = known ? (job.own_end - job.start) / job.own * job.pieces : time;
  Key& entry = Find(key);
  UpdateCredit(job, alone, &entry);
  if (job.stalled) return;  // it says nothing about the operator
  if (entry.state == State::kCompareTogether) {
    entry.together += time;
    if (--entry.left > 0) return;
    const bool is_alone_faster = entry.alone < entry.together;
    entry.state = is_alone_faster ? State::kKeepAlone : State::kTogether;
    entry.left = is_alone_faster ? entry.kept : kMostKept;
    entry.kept = is_alone_faster ? std::min(2 * entry.kept, kMostKept) : kFirstKept;
    entry.slowness = 0.5f;
    return;
  }
  if (entry.state != State::kTogether || !known || alone <= Duration::zero()) return;
  const float slowness = static_cast<float>(time.count()) / static_cast<float>(alone.count());
  entry.slowness += (std::min(slowness, 4.f) - entry.slowness) / 8;
  if (entry.left > 0) {
    --entry.left;
  } else if (entry.slowness > 1) {
    Compare(&entry);
  }
}

void PoolChoice::UpdateCredit(const Job& job, Duration alone, Key* key) {
  Duration saved = alone - (job.end - job.start);
  if (!job.stalled) {
    if (saved <= Duration::zero()) return;
    saved = std::min(saved, std::max(2 * key->usually_saved, kUsuallySaved));
    key->usually_saved += (saved - key->usually_saved) / 8;
    credit_ = std::min(credit_ + saved, kMostCredit);
    return;
  }
  credit_ += std::min(saved, Duration::zero());
  if (credit_ >= Duration::zero()) return;
  alone_until_ = job.end + std::clamp(-20 * credit_, kShortestPause, kLongestPause);
  credit_ = kFirstCredit;
}

}  // namespace caffe2rt
