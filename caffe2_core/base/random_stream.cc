#include "caffe2_core/base/random_stream.h"

namespace caffe2rt {
namespace {

// Separates the keys of the nets inside an operator from the key of its own stream.
constexpr uint64_t kInner = 0x6e6574;

}  // namespace

uint64_t RandomKeyOf(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return MixRandomKeys(hash, name.size());
}

void RandomRuns::SetSeed(std::optional<uint64_t> seed) {
  seed_ = seed;
  next_run_ = 0;
  is_seeded_ = seed.has_value();
  // Until Begin is called, as by a user's executor that does not, the streams are those of run 0.
  if (seed.has_value()) SetKey(MixRandomKeys(*seed, 0));
}

void RandomRuns::BeginStreams() {
  const bool has_parent = parent_ != nullptr && parent_->begun() != 0;
  is_seeded_ = has_parent || seed_.has_value();
  if (has_parent) {
    SetKey(parent_->NextInnerKey());
  } else if (is_seeded_) {
    SetKey(MixRandomKeys(*seed_, next_run_++));
  }
}

void RandomRuns::SetKey(uint64_t key) {
  key_ = key;
  ++begun_;
}

uint64_t RandomPlace::NextInnerKey() {
  if (outer_ != nullptr) return outer_->NextInnerKey();
  if (inner_begun_ != runs_->begun()) {
    inner_begun_ = runs_->begun();
    inner_runs_ = 0;
  }
  return MixRandomKeys(MixRandomKeys(key(), kInner), inner_runs_++);
}

}  // namespace caffe2rt
