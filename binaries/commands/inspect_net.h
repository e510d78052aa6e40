#pragma once
// The part of `caffe2 inspect` that shows nets and plans.

#include <string>

#include "binaries/commands/file_argument.h"

namespace caffe2rt {

// Prints the steps of a plan and the nets as tables, or as JSON with --json. With --dot or --svg,
// draws one net instead. THROWS UsageError for an invalid --input.
void InspectNets(const CommandLine& line, const std::string& path, FileKind kind,
                 const NetsOfFile& found);

}  // namespace caffe2rt
