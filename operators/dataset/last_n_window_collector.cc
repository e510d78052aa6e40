// LastNWindowCollector: keeps the last rows of all batches in a ring.
//   buffer [M, ...] (in place), next int32 scalar (in place), data [B, ...], (mutex), (num_visited int64, in place)
//   ->  buffer [up to num_to_collect, ...], next, (num_visited)
#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kLastNRows{"num_to_collect",
                                       -1,
                                       "the most rows of the buffer; must be given, above 0",
                                       {[](int rows) { return rows > 0; }, "above 0"},
                                       true};
constexpr float kWindowGrowthPercent = 40;

class LastNWindowCollectorOp final : public Operator<CPUContext> {
 public:
  LastNWindowCollectorOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), limit_(ReadArgument(kLastNRows)) {
    CAFFE_ENFORCE(OutputSize() == 2 || InputSize() == 5, "the operator has ", OutputSize(),
                  " outputs and ", InputSize(), " inputs, want 5 inputs with num_visited");
  }
  bool RunOnDevice() override {
    if (InputSize() < 4) return Collect();
    const auto& mutex = OperatorBase::Input<std::unique_ptr<std::mutex>>(3);
    CAFFE_ENFORCE(mutex != nullptr, "input 3 (MUTEX) holds no mutex");
    const std::lock_guard lock(*mutex);
    return Collect();
  }

 private:
  bool Collect() {
    const Tensor& data = Input(2);
    Tensor* const buffer = Output(0);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 2 (DATA)");
    CAFFE_ENFORCE_EQ(Input(1).dim(), 0, "rank of input 1 (next cursor), want a scalar");
    RequireElements<int32_t>(Input(1));
    if (OutputSize() == 3) RequireElements<int64_t>(Input(4));
    const bool begun = buffer->numel() > 0;
    if (begun) Check(*buffer, data);
    const int64_t rows = data.dim(0), kept = std::min<int64_t>(rows, limit_);
    const int64_t before = begun ? buffer->dim(0) : 0,
                  after = std::min<int64_t>(limit_, before + kept);
    int32_t* const next = Output(1)->mutable_data<int32_t>();
    // All checks come before the first change.
    // Rows may be added behind the last one of the buffer, and all are replaced by as many or more.
    const int64_t end = rows > limit_ ? limit_ : std::min<int64_t>(limit_, before + 1);
    CAFFE_ENFORCE(rows == 0 || (*next >= 0 && *next < end), "input 1 (next cursor) is ", *next,
                  ", want at least 0 and less than ", end, ", because the buffer has ", before,
                  " rows");
    if (OutputSize() == 3) {
      CAFFE_ENFORCE_EQ(Input(4).numel(), 1, "elements of input 4 (NUM_VISITED)");
      *Output(2)->mutable_data<int64_t>() += rows;
    }
    if (rows == 0) {
      if (!begun) ResizeTo(0, data, buffer);
      return true;
    }
    if (!begun) {
      ResizeTo(after, data, buffer);
      buffer->raw_mutable_data(data.dtype());
    } else if (after > before) {
      buffer->Extend(after - before, kWindowGrowthPercent, &context_);
    }
    if (rows > limit_) {
      Write(data, rows - limit_, limit_, 0, buffer);
      *next = 0;
      return true;
    }
    const int64_t first = std::min<int64_t>(kept, limit_ - *next);
    Write(data, 0, first, *next, buffer);
    Write(data, first, kept - first, 0, buffer);
    *next = static_cast<int32_t>((*next + kept) % limit_);
    return true;
  }

  void Check(const Tensor& buffer, const Tensor& data) const {
    CAFFE_ENFORCE(buffer.dtype() == data.dtype(), "input 2 (DATA) has elements of type ",
                  data.dtype().name(), ", want that of the buffer, ", buffer.dtype().name());
    CAFFE_ENFORCE_LE(buffer.dim(0), limit_,
                     "rows of input 0 (last-N buffer), want at most num_to_collect");
    bool fits = buffer.dim() == data.dim();
    for (int d = 1; fits && d < data.dim(); ++d) fits = buffer.dim(d) == data.dim(d);
    CAFFE_ENFORCE(fits, "input 2 (DATA) has shape ", data.sizes(), ", want that of the buffer, ",
                  buffer.sizes(), ", except in dimension 0");
  }
  void ResizeTo(int64_t rows, const Tensor& data, Tensor* buffer) {
    std::vector<int64_t> dims = data.dims();
    dims[0] = rows;
    buffer->Resize(dims);
    if (rows == 0 && data.dtype().IsSet()) buffer->raw_mutable_data(data.dtype());
  }
  void Write(const Tensor& data, int64_t from, int64_t rows, int64_t to, Tensor* buffer) {
    const int64_t block = data.size_from_dim(1);
    if (rows == 0 || block == 0) return;
    CopyRow(context_, data.dtype(), rows * block,
            ItemAt(data.raw_data(), data.dtype(), from * block),
            ItemAt(buffer->raw_mutable_data(data.dtype()), data.dtype(), to * block));
  }

  const int limit_;
};

// The shape after a run; where the buffer is not known, that of a full one, which it soon has for good.
std::vector<TensorShape> InferLastNWindow(const OperatorDef& def,
                                          const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = UnknownOutputs(def);
  if (in.size() < 3) return out;
  const int64_t limit = ArgumentHelper(def).Read(kLastNRows);
  if (IsKnown(in[2]) && in[2].dims_size() > 0) {
    std::vector<int64_t> dims = GetDimsVector(in[2]);
    const int64_t added = std::min(limit, dims[0]);
    dims[0] = limit;
    if (IsKnown(in[0])) {
      const bool begun = in[0].dims_size() > 0 && NumElements(in[0]) > 0;
      dims[0] = std::min(limit, added + (begun ? in[0].dims(0) : 0));
    }
    out[0] = CreateTensorShape(dims, in[2].data_type());
  }
  if (IsKnown(in[1])) out[1] = in[1];
  if (out.size() == 3 && in.size() > 4 && IsKnown(in[4])) out[2] = in[4];
  return out;
}

}  // namespace

void RegisterLastNWindowCollector() {
  RegisterSchema("LastNWindowCollector", __FILE__)
      .NumInputs(std::set<int>{3, 4, 5})
      .NumOutputs(2, 3)
      .Arg(kLastNRows)
      .Input(0, "last-N buffer", "[M, ...], M at most num_to_collect; empty at first")
      .Input(1, "next cursor",
             "int32 scalar: the row of the buffer that is written next; 0 at first")
      .Input(2, "DATA", "[B, ...], elements of any type: rows to add")
      .Input(3, "MUTEX", "(optional) a mutex from CreateMutex that guards the buffer")
      .Input(4, "NUM_VISITED", "(optional) int64, one element: the rows so far")
      .Output(0, "last-N buffer",
              "input 0, in place: at most num_to_collect rows, the last of all data")
      .Output(1, "next cursor", "input 1, in place")
      .Output(2, "NUM_VISITED", "(optional) input 4, in place")
      .EnforceInplace({{0, 0}, {1, 1}, {4, 2}})
      .SynchronizedInputs({3})
      .TensorInferenceFunction(InferLastNWindow)
      .SetDoc(
          "Keeps the last num_to_collect rows of all data in a ring: when the buffer is full, new "
          "rows replace the "
          "oldest.");
  RegisterCpuOperator<LastNWindowCollectorOp>("LastNWindowCollector", __FILE__);
  // Rows are collected, not computed.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("LastNWindowCollector", __FILE__);
}

}  // namespace caffe2rt
