#include "operators/conv/conv_epilogue.h"

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt {
namespace {

// With fewer elements than this, a second thread costs more than it saves.
constexpr int64_t kEpilogueWorthCutting = 32768;

}  // namespace

void DeclareConvEpilogue(OpSchema& schema) {
  DeclareActivation(schema);
  schema.Arg(kFusedSum);
}

ConvEpilogue ReadConvEpilogue(const ArgumentHelper& args) {
  return {.activation = ReadActivation(args), .sum = args.Read(kFusedSum) != 0};
}

void RunConvEpilogue(const ConvEpilogue& epilogue, int64_t count, const float* s, float* y) {
  if (epilogue.empty()) return;
  const int64_t pieces = count < kEpilogueWorthCutting ? 1 : GetNumThreads();
  ParallelFor(static_cast<int>(pieces), [&](int i) {
    const int64_t first = count * i / pieces, size = count * (i + 1) / pieces - first;
    FinishRows(epilogue.sum ? s + first : nullptr, epilogue.activation, 1, size, y + first, size);
  });
}

}  // namespace caffe2rt
