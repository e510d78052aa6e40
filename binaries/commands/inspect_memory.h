#pragma once
// The part of `caffe2 inspect` that reports the memory of nets (--memory).

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/inspect_context.h"
#include "binaries/json_output.h"
#include "caffe2_core/graph/memory_report.h"

namespace caffe2rt {

// The memory that a net needs.
struct InspectedMemory {
  // Whether the net is reported as PrepareNet makes it, as it runs. Otherwise as it is written.
  bool prepared = false;
  std::vector<std::string> passes = {};  // those that changed the net
  MemoryReport report = {};
  // Why the prepared weights are estimated although `prepared` is set; otherwise empty.
  std::string problem = {};
};

// The predict net of a file is prepared if its weights are there: in the file or in --init-net. Its
// init nets are run then, and its operators prepare their weights, which are counted. THROWS if
// preparing the net fails.
InspectedMemory MemoryOf(const CommandLine& line, const std::string& path, FileKind kind,
                         const TitledNet& net, const InspectContext& context);

// Prints the report, with at most `limit` blobs.
void PrintMemory(const std::string& title, const InspectedMemory& memory, size_t limit);

// Adds the report to the object `json`.
void WriteMemory(const InspectedMemory& memory, Json* json);

}  // namespace caffe2rt
