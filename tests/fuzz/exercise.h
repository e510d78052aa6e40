#pragma once
// Processes one input as the subcommands of caffe2 do: detects its kind, parses and checks it,
// infers shapes, creates and runs nets, reads databases.

#include <string>

#include "tests/fuzz/corpus.h"

namespace caffe2rt::test {

enum class Outcome {
  kRan,         // parsed and ran completely
  kRefused,     // the library reported an error
  kOverBudget,  // stopped because it exceeded the work budget
  kFailed,      // threw another exception
};

struct ExerciseResult {
  Outcome outcome = Outcome::kRan;
  std::string error;
};

// Never throws. Random inputs depend only on the bytes. `origin` provides the weights, and may be
// null. Nets run under a file policy that allows the current folder, or no file at all.
ExerciseResult Exercise(const std::string& bytes, FileKind kind_of_origin,
                        const CorpusFile* origin);

}  // namespace caffe2rt::test
