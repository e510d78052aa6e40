#pragma once
// Damages an input with knowledge of its format, for caffe2_fuzz and the libFuzzer targets.

#include <functional>
#include <string>

#include "caffe2_core/io/file_kind.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Damages bytes without knowledge of the format. May be called several times for one input.
using BytesMutator = std::function<void(Random*, std::string*)>;

// Damages a file of the kind: fields of nets, plans and predictor nets, which keep their format
// (binary or text); records of a minidb and the predictor nets in them; the index of a packed model
// and bytes of a PNG image, whose checksums are then corrected. Any other kind, a file that does
// not parse, and some of the others are damaged by `mutate_bytes`.
std::string MutateInput(FileKind kind, const std::string& bytes, Random* random,
                        const BytesMutator& mutate_bytes);

}  // namespace caffe2rt::test
