#pragma once
// Shared by the commands that prepare a net: their options.

#include <set>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/preparation.h"

namespace caffe2rt {

class AtomicFile;  // caffe2_core/io/atomic_file.h

// --no-optimize, --without-pass, --deterministic, --winograd-memory, --precision, --min-snr
const std::vector<Option>& OptimizeOptions();
// One of them, for commands that do not have all.
Option OptimizeOption(const std::string& name);

// --report, of the commands that run a prepared net. Its file is complete or unchanged.
inline constexpr Option kReportOption = {
    "report", "FILE",
    "",       "write which passes changed the net and which kernel each operator runs, as JSON",
    false,    true};
// Writes the report of a net that has run, if --report is given.
void WriteReport(const CommandLine& line, const Preparation& preparation, const NetBase* net);

// Prints the names and descriptions of the passes.
void ListPasses();

// The options of OptimizeOptions for a model that is loaded. `fed` are blobs that were fed besides the
// model's inputs; `kept` are blobs that are read after the run besides its outputs. Constants that
// are no longer needed are freed. THROWS UsageError if they name an unknown pass
// or precision.
PreparationOptions PreparationOptionsOf(const CommandLine& line, const Model& model,
                                        const std::set<std::string>& fed,
                                        const std::set<std::string>& kept);

// Writes a net as text if the name `path` states it (NamesTextFormat), otherwise in binary format.
void WriteNetFile(const NetDef& net, const std::string& path, AtomicFile* file);

}  // namespace caffe2rt
