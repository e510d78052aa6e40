#pragma once
// Does with one input what the program's subcommands do: tells its kind, parses, checks, infers
// shapes, makes nets and runs them, reads databases.

#include <string>

#include "tests/fuzz/corpus.h"

namespace caffe2rt::test {

enum class Outcome {
  kRan,         // parsed, and all that was in it ran
  kRefused,     // ended in an error of the library
  kOverBudget,  // ended because it would have taken long
  kFailed,      // threw something else
};

struct ExerciseResult {
  Outcome outcome = Outcome::kRan;
  std::string error;
};

// Never throws. Random inputs are a function of the bytes. `origin` gives the weights; null: none.
// Nets run under a policy that lets them reach the current folder, or no file.
ExerciseResult Exercise(const std::string& bytes, FileKind kind_of_origin,
                        const CorpusFile* origin);

}  // namespace caffe2rt::test
