#pragma once
// The part of `caffe2 inspect` that shows nets and plans.

#include <string>

#include "binaries/commands/file_argument.h"

namespace caffe2rt {

// Prints the nets as tables (or JSON), the steps of a plan before them; with --dot or --svg it
// draws instead. THROWS UsageError for a wrong --input.
void InspectNets(const CommandLine& line, const std::string& path, FileKind kind,
                 const NetsOfFile& found);

}  // namespace caffe2rt
