#pragma once
// The numbers that --input states, and the conversion of element types by --cast.

#include <set>
#include <string>
#include <utility>

#include "binaries/command_line.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// Parses numbers that are an input, as floats: "0.5" has the shape [1], "320,320,0.625" the shape
// [1, 3], and lists in brackets, "[[1, 2], [3, 4]]", the shape of their nesting. Without brackets,
// one of the numbers must have a decimal point or an exponent: "320,320,1" is the shape of random
// values. Returns false for any other text. THROWS UsageError for brackets that are not numbers, or
// whose lists have different lengths.
bool ParseInputValues(const std::string& text, Tensor* tensor);

// Converts the elements by operator Cast.
Tensor CastElements(Tensor tensor, TensorProto_DataType type);
// Converts the elements of the input for `blob` to the type that --cast [BLOB=]TYPE states, if any.
// THROWS UsageError for an unknown type.
Tensor CastAsTold(const CommandLine& line, const std::string& blob, Tensor tensor);

// Returns "; --cast float converts input "data", which is uint8", if `error` is about the type of
// one of the blobs `fed` in `ws`; otherwise "".
std::string CastHint(const std::string& error, const std::set<std::string>& fed,
                     const Workspace& ws);

// Calls a function and adds the hint to its error.
template <class Function>
void WithCastHint(const std::set<std::string>& fed, const Workspace& ws, Function&& function) {
  try {
    std::forward<Function>(function)();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    const std::string hint = CastHint(error.message(), fed, ws);
    if (hint.empty()) throw;
    CAFFE_THROW(error.message(), hint);
  }
}

}  // namespace caffe2rt
