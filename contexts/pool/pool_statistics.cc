#include "contexts/pool/pool_statistics.h"

#include <cstdio>

#include "caffe2_core/base/classic_string_stream.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string Address(uintptr_t address) {
  ClassicStringStream out;
  out << "\"0x" << std::hex << address << '"';
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

void Append(std::ostream& out, const PoolStatistics& s) {
  const struct {
    const char* name;
    uint64_t value;
  } fields[] = {
      {"in_use_bytes", s.in_use_bytes},
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
      {"out_of_memory_retries", s.out_of_memory_retries},
  };
  const char* separator = "{";
  for (const auto& field : fields) {
    out << separator << '"' << field.name << "\": " << field.value;
    separator = ", ";
  }
  out << '}';
}

void Append(std::ostream& out, const PoolSnapshot::Block& block) {
  out << "{\"address\": " << Address(block.address) << ", \"bytes\": " << block.bytes
      << ", \"requested_bytes\": " << block.requested_bytes << ", \"state\": \""
      << StateName(block.state) << "\", \"home\": " << block.home << ", \"uses\": [";
  const char* separator = "";
  for (const StreamIndex use : block.uses) {
    out << separator << use;
    separator = ", ";
  }
  out << "]}";
}

}  // namespace

std::string SnapshotJson(const PoolSnapshot& snapshot) {
  ClassicStringStream out;
  out << "{\"device\": " << Quoted(snapshot.device) << ", \"pool\": " << Quoted(snapshot.pool)
      << ",\n \"statistics\": ";
  Append(out, snapshot.statistics);
  out << ",\n \"segments\": [";
  const char* segment_separator = "\n  ";
  for (const PoolSnapshot::Segment& segment : snapshot.segments) {
    out << segment_separator << "{\"address\": " << Address(segment.address)
        << ", \"bytes\": " << segment.bytes << ", \"blocks\": [";
    segment_separator = ",\n  ";
    const char* separator = "\n    ";
    for (const PoolSnapshot::Block& block : segment.blocks) {
      out << separator;
      Append(out, block);
      separator = ",\n    ";
    }
    out << "]}";
  }
  out << "]}\n";
  return out.str();
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
