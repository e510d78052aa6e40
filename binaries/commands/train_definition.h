#pragma once
// The definition of a training from the command line: a TrainDef file, or --predict-net with the
// options that state what such a file states.

#include "binaries/command_line.h"
#include "caffe2rt/train.pb.h"

namespace caffe2rt {

// What NET, --data and the other options say. THROWS UsageError if options are missing or contradict
// each other.
RunDef RunDefOf(const CommandLine& line);

}  // namespace caffe2rt
