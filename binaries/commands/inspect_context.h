#pragma once
// What `caffe2 inspect` knows beside the nets of a file: init nets, weights, and shapes of inputs.

#include <set>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/file_argument.h"
#include "caffe2_core/graph/net_summary.h"

namespace caffe2rt {

// The input of the summaries: nets that fill weights, and shapes given by the user.
struct InspectContext {
  std::vector<NetDef> init_nets;
  ShapeMap shapes;
  std::set<std::string> parameters;  // of a MetaNetDef
  std::set<std::string> loaded;      // from databases, by Load
};

// Reads --init-net and --input. THROWS UsageError if an --input is not a shape.
InspectContext ContextOf(const CommandLine& line, const std::string& path, FileKind kind,
                         const NetsOfFile& found);

// The init nets that run before the net.
std::vector<const NetDef*> InitNetsOf(const TitledNet& net, const InspectContext& context);

// THROWS if a net of the file does not accept the shapes given by --input, or none has such an
// input.
void CheckGivenShapes(const CommandLine& line, const NetsOfFile& found,
                      const InspectContext& context);

// THROWS UsageError if --fetch names a blob that no net of the file has, or if it or one of
// OptimizeOptions is given without --memory.
void CheckMemoryOptions(const CommandLine& line, const NetsOfFile& found);

NetSummary SummaryOf(const TitledNet& net, const InspectContext& context);

}  // namespace caffe2rt
