#pragma once
// Processes one input as the subcommands of caffe2 do: parses and checks it, infers shapes, creates
// and runs nets, reads databases, arrays and images. A tensor that was read is also written and read
// again.

#include <string>

#include "caffe2_core/io/file_kind.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/work_budget.h"

namespace caffe2rt::test {

enum class Outcome {
  kRan,         // parsed and ran completely
  kRefused,     // the library reported an error
  kOverBudget,  // stopped because it exceeded the work budget
  kFailed,      // threw another exception, or a result is wrong
};

struct ExerciseResult {
  Outcome outcome = Outcome::kRan;
  std::string error;
};

// Processes the bytes as a file of the kind. Never throws. Random choices depend only on the bytes.
// `origin` provides the weights, and may be null. Nets run under a file policy that allows the
// current folder, or no file at all. The budget holds for nets that PrepareProcess watches.
ExerciseResult ExerciseAs(FileKind kind, const std::string& bytes, const CorpusFile* origin,
                          const WorkBudget& budget = {});

// The same, with the kind that the content shows; that of the origin if it shows none.
ExerciseResult Exercise(const std::string& bytes, FileKind kind_of_origin,
                        const CorpusFile* origin);

}  // namespace caffe2rt::test
