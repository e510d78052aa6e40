#pragma once
// SampleAs: selects the items of a batch whose label is above 0.
//   X [N, ..] of any type, labels int32 [N]  ->  Y [number of labels above 0, ..]
//
// SampleAsGradient: X, labels, dY float  ->  dX, with zeros for the items that were not selected
//
// The labels determine the shape of the output, so that the host has to read them.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/common/host_input.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Sets *dims to the shape of Y. THROWS if the shapes do not match.
void SampledDims(const Tensor& X, const Tensor& labels, std::vector<int64_t>* dims);
// THROWS unless dY has the shape of Y.
void CheckSampledGradient(const Tensor& dY, const std::vector<int64_t>& dims);
#pragma GCC visibility pop

// Calls function(first, place, count) for each run of adjacent items whose label is above 0:
// `first` is the index of the first of them in X, `place` that in Y.
template <class Function>
void ForEachSampledRun(const Tensor& labels, Function function) {
  const int32_t* const label = labels.data<int32_t>();
  int64_t place = 0;
  for (int64_t i = 0; i < labels.numel(); ++i) {
    if (label[i] <= 0) continue;
    const int64_t first = i;
    while (i < labels.numel() && label[i] > 0) ++i;
    function(first, place, i - first);
    place += i - first;
  }
}

template <class Context>
class SampleAsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SampleAsOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& labels = labels_input_.Read(*this, 1);
    SampledDims(X, labels, &dims_);
    const TypeMeta type = X.dtype();
    Tensor* Y = Output(0);
    Y->Resize(dims_);
    void* const y = OutputMemory(Y, type);
    if (Y->numel() == 0) return true;
    const int64_t item = X.size_from_dim(1);
    const void* const x = X.raw_data();
    ForEachSampledRun(labels, [&](int64_t first, int64_t place, int64_t count) {
      CopyRows(context_, type, 1, count * item, ItemAt(x, type, first * item), count * item,
               ItemAt(y, type, place * item), count * item);
    });
    return true;
  }

 private:
  HostInput labels_input_;
  std::vector<int64_t> dims_;
};

template <class Context>
class SampleAsGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SampleAsGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dY = Input(2);
    const Tensor& labels = labels_input_.Read(*this, 1);
    SampledDims(X, labels, &dims_);
    CheckSampledGradient(dY, dims_);
    const float* const dy = dY.template data<float>();
    float* const dx = this->template OutputData<float>(0, X.sizes());
    if (X.numel() == 0) return true;
    FillZeros(context_, static_cast<size_t>(X.numel()) * sizeof(float), dx);
    const int64_t item = X.size_from_dim(1);
    ForEachSampledRun(labels, [&](int64_t first, int64_t place, int64_t count) {
      CopyRows(context_, TypeMeta::Make<float>(), 1, count * item, dy + place * item, count * item,
               dx + first * item, count * item);
    });
    return true;
  }

 private:
  HostInput labels_input_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
