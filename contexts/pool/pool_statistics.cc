#include "contexts/pool/pool_statistics.h"

#include <nlohmann/json.hpp>

#include "caffe2_core/base/classic_string_stream.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

using Json = nlohmann::ordered_json;

std::string Address(uintptr_t address) {
  ClassicStringStream out;
  out << "0x" << std::hex << address;
  return out.str();
}

const char* StateName(PoolSnapshot::State state) {
  switch (state) {
    case PoolSnapshot::State::kInUse:
      return "in use";
    case PoolSnapshot::State::kWaiting:
      return "waiting";
    case PoolSnapshot::State::kCached:
      break;
  }
  return "cached";
}

Json JsonOf(const PoolStatistics& s) {
  return {{"in_use_bytes", s.in_use_bytes},
          {"peak_in_use_bytes", s.peak_in_use_bytes},
          {"requested_bytes", s.requested_bytes},
          {"blocks_in_use", s.blocks_in_use},
          {"reserved_bytes", s.reserved_bytes},
          {"peak_reserved_bytes", s.peak_reserved_bytes},
          {"cached_bytes", s.cached_bytes},
          {"largest_free_bytes", s.largest_free_bytes},
          {"limit_bytes", s.limit_bytes},
          {"allocations", s.allocations},
          {"upstream_allocations", s.upstream_allocations},
          {"upstream_frees", s.upstream_frees},
          {"events_created", s.events_created},
          {"events_recorded", s.events_recorded},
          {"out_of_memory_retries", s.out_of_memory_retries}};
}

Json JsonOf(const PoolSnapshot::Block& block) {
  return {{"address", Address(block.address)},
          {"bytes", block.bytes},
          {"requested_bytes", block.requested_bytes},
          {"state", StateName(block.state)},
          {"home", block.home},
          {"uses", block.uses}};
}

Json JsonOf(const PoolSnapshot& snapshot) {
  Json segments = Json::array();
  for (const PoolSnapshot::Segment& segment : snapshot.segments) {
    Json blocks = Json::array();
    for (const PoolSnapshot::Block& block : segment.blocks) blocks.push_back(JsonOf(block));
    segments.emplace_back() = {{"address", Address(segment.address)},
                               {"bytes", segment.bytes},
                               {"blocks", std::move(blocks)}};
  }
  return {{"device", snapshot.device},
          {"pool", snapshot.pool},
          {"statistics", JsonOf(snapshot.statistics)},
          {"segments", std::move(segments)}};
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

std::string SnapshotJson(const PoolSnapshot& snapshot) { return Text(JsonOf(snapshot)); }

std::string SnapshotJson(const std::vector<PoolSnapshot>& snapshots) {
  Json array = Json::array();
  for (const PoolSnapshot& snapshot : snapshots) array.push_back(JsonOf(snapshot));
  return Text(array);
}

PoolStatistics internal::PoolCounters::Read() const {
  PoolStatistics s;
  s.in_use_bytes = Get(in_use);
  s.peak_in_use_bytes = Get(peak_in_use);
  s.requested_bytes = Get(requested);
  s.blocks_in_use = Get(blocks);
  s.reserved_bytes = Get(reserved);
  s.peak_reserved_bytes = Get(peak_reserved);
  // The two counters are read one after the other and may be inconsistent.
  s.cached_bytes = s.reserved_bytes > s.in_use_bytes ? s.reserved_bytes - s.in_use_bytes : 0;
  s.limit_bytes = Get(limit);
  s.allocations = Get(allocations);
  s.upstream_allocations = Get(upstream_allocations);
  s.upstream_frees = Get(upstream_frees);
  s.events_created = Get(events_created);
  s.events_recorded = Get(events_recorded);
  s.out_of_memory_retries = Get(out_of_memory_retries);
  return s;
}

}  // namespace caffe2rt
