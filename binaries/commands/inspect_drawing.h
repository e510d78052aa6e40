#pragma once
// The part of `caffe2 inspect` that draws nets.

#include <set>
#include <string>
#include <vector>

#include "binaries/commands/file_argument.h"
#include "caffe2_core/graph/net_summary.h"

namespace caffe2rt {

// Whether --dot, --svg or --html is given. THROWS UsageError for options that need one of them.
bool WantsDrawing(const CommandLine& line);

// The nets to draw: all nets of a plan, in the order of its steps; else the predict net of a
// predictor, or the net with the most operators.
std::vector<TitledNet> NetsToDraw(const std::string& path, FileKind kind, const NetsOfFile& found);

// Writes the drawings that the options ask for. `nets` and `summaries` correspond; `parameters` are
// the weights, if they are known.
void WriteDrawings(const CommandLine& line, const std::string& title,
                   const std::vector<TitledNet>& nets, const std::vector<NetSummary>& summaries,
                   const std::set<std::string>& parameters);

}  // namespace caffe2rt
