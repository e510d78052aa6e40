#pragma once
// The part of `caffe2 inspect --memory` that shows a memory report.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "binaries/json_output.h"
#include "caffe2_core/graph/memory_report.h"

namespace caffe2rt {

// Prints the report, with at most `limit` blobs.
void PrintMemory(const std::string& title, const MemoryReport& report, size_t limit);

// Adds the report to the object `json`.
void WriteMemory(const MemoryReport& report, Json* json);

}  // namespace caffe2rt
