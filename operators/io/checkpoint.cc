#include "operators/io/checkpoint.h"

#include <absl/strings/str_format.h>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr size_t kMaxWidthDigits = 3;

// Formats `value` with the conversion that begins at `at`, after its %, and appends it to *out.
// Returns the position after the conversion.
size_t FormatOne(const std::string& pattern, size_t at, int64_t value, std::string* out) {
  const auto digits = [&] {
    const size_t begin = at;
    while (at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9') ++at;
    CAFFE_ENFORCE_LE(at - begin, kMaxWidthDigits, "digits of a width in the file pattern \"",
                     pattern, "\"");
    return pattern.substr(begin, at - begin);
  };
  std::string spec = "%";
  while (at < pattern.size() && std::string("-+ #0").find(pattern[at]) != std::string::npos) {
    if (spec.find(pattern[at]) == std::string::npos) spec += pattern[at];
    ++at;
  }
  spec += digits();
  if (at < pattern.size() && pattern[at] == '.') {
    ++at;
    spec += '.';
    spec += digits();
  }
  while (at < pattern.size() && std::string("hlqjzt").find(pattern[at]) != std::string::npos) ++at;
  const char kind = at < pattern.size() ? pattern[at] : '\0';
  CAFFE_ENFORCE(kind != '\0' && std::string("diuxXo").find(kind) != std::string::npos,
                "the file pattern \"", pattern,
                "\" has a conversion that is not for an integer, want one like %d or %06d");
  spec += kind;
  CAFFE_ENFORCE(absl::FormatUntyped(out, absl::UntypedFormatSpec(spec), {absl::FormatArg(value)}),
                "cannot format the iteration with \"", spec, "\", from the file pattern \"",
                pattern, "\"");
  return at + 1;
}

void RegisterOne(const char* type, int min_inputs, int max_outputs) {
  RegisterSchema(type, __FILE__)
      .NumInputs(min_inputs, INT32_MAX)
      .NumOutputs(0, max_outputs)
      .Input(0, "iteration, X_0, ...", "int64 [1], then the blobs to save; all are saved")
      .SetDoc(
          "Saves its inputs to a new database if the iteration, which is input 0 (int64), is a "
          "multiple of every. The path is db, where the printf conversion is replaced by the "
          "iteration.")
      .Args(kDatabaseIsAbsolute, kCheckpointPattern, kDatabaseType, kCheckpointEvery, kStripPrefix,
            kBlobNameOverrides, kChunkSize)
      .AccessesFiles();
  DeclareCreatedDatabase(type, [](const OperatorDef& def) {
    CreatedDatabase database = DatabaseOfSave(def);
    database.is_pattern = true;
    return database;
  });
  RegisterCpuOperator<CheckpointOp<CPUContext>>(type, __FILE__);
}

}  // namespace

std::string FormatIteration(const std::string& pattern, int64_t value) {
  std::string result;
  bool done = false;
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '%') {
      result += pattern[at++];
    } else if (at + 1 < pattern.size() && pattern[at + 1] == '%') {
      result += '%';
      at += 2;
    } else {
      CAFFE_ENFORCE(!done, "the file pattern \"", pattern,
                    "\" has more than one conversion, want one, for the iteration");
      at = FormatOne(pattern, at + 1, value, &result);
      done = true;
    }
  }
  return result;
}

void RegisterCheckpoint() {
  RegisterOne("Checkpoint", 1, 0);
  RegisterOne("Snapshot", 0, INT32_MAX);
  // The operators have no outputs.
  for (const char* type : {"Checkpoint", "Snapshot"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
