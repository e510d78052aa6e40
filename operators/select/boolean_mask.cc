// BooleanMask: the rows of data where the mask is true, and their positions. BooleanMaskGradient: the gradient of data.
//   data [N, ...], mask bool [N]  ->  masked_data [M, ...], masked_indices int64 [M]
// BooleanUnmask: a tensor from the values of several masks. At each position the first mask that is true there gives its
// next value.
//   mask_0 bool [N], values_0 [M_0], mask_1, values_1, ...  ->  [N]
#include <algorithm>
#include <climits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

class BooleanMaskOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& mask = Input(1);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (data)");
    CAFFE_ENFORCE_EQ(mask.dim(), 1, "rank of input 1 (mask) of shape ", mask.sizes());
    CAFFE_ENFORCE_EQ(mask.numel(), data.dim(0),
                     "elements of input 1 (mask), want the rows of input 0 (data) of shape ",
                     data.sizes());
    const bool* const keep = mask.data<bool>();
    const int64_t rows = data.dim(0), items = data.size_from_dim(1),
                  kept = std::count(keep, keep + rows, true);
    const TypeMeta type = data.dtype();
    dims_.assign(data.dims().begin(), data.dims().end());
    dims_[0] = kept;
    Tensor* const output = Output(0);
    output->Resize(dims_);
    void* const y = OutputMemory(output, type);
    int64_t* const positions = OutputSize() == 2 ? OutputData<int64_t>(1, {kept}) : nullptr;
    const void* const x = kept > 0 ? data.raw_data() : nullptr;
    for (int64_t i = 0, next = 0; i < rows; ++i) {
      if (!keep[i]) continue;
      if (items > 0)
        CopyRow(context_, type, items, ItemAt(x, type, i * items), ItemAt(y, type, next * items));
      if (positions != nullptr) positions[next] = i;
      ++next;
    }
    return true;
  }

 private:
  std::vector<int64_t> dims_;
};

class BooleanMaskGradientOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& mask = Input(0);
    const Tensor& dY = Input(1);
    CAFFE_ENFORCE_EQ(mask.dim(), 1, "rank of input 0 (mask) of shape ", mask.sizes());
    CAFFE_ENFORCE_GE(dY.dim(), 1, "rank of input 1 (dmasked_data)");
    RequireElementsOf<float, double, int32_t, int64_t, bool>(dY, "input 1 (dmasked_data)");
    const bool* const kept = mask.data<bool>();
    const int64_t rows = mask.numel(), items = dY.size_from_dim(1);
    CAFFE_ENFORCE_EQ(
        std::count(kept, kept + rows, true), dY.dim(0),
        "true elements of input 0 (mask), want the rows of input 1 (dmasked_data) of shape ",
        dY.sizes());
    const TypeMeta type = dY.dtype();
    dims_.assign(dY.dims().begin(), dY.dims().end());
    dims_[0] = rows;
    Tensor* const dX = Output(0, dims_, type);
    void* const dx = dX->raw_mutable_data(type);
    if (dX->numel() == 0) return true;
    FillZeros(context_, dX->nbytes(), dx);
    const void* const dy = dY.numel() > 0 ? dY.raw_data() : nullptr;
    for (int64_t i = 0, next = 0; i < rows; ++i) {
      if (kept[i])
        CopyRow(context_, type, items, ItemAt(dy, type, next++ * items),
                ItemAt(dx, type, i * items));
    }
    return true;
  }

 private:
  std::vector<int64_t> dims_;
};

class BooleanUnmaskOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const int64_t n = Input(0).numel();
    const TypeMeta type = Input(1).dtype();
    const int masks = InputSize() / 2;
    for (int m = 0; m < masks; ++m) {
      const Tensor& mask = Input(2 * m);
      CAFFE_ENFORCE_EQ(mask.dim(), 1, "rank of input ", 2 * m, " (a mask) of shape ", mask.sizes());
      CAFFE_ENFORCE_EQ(mask.numel(), n, "elements of input ", 2 * m,
                       " (a mask), want those of input 0");
      CAFFE_ENFORCE_EQ(Input(2 * m + 1).dim(), 1, "rank of input ", 2 * m + 1, " (values)");
      CAFFE_ENFORCE(Input(2 * m + 1).dtype() == type, "input ", 2 * m + 1,
                    " (values) has elements of type ", Input(2 * m + 1).dtype().name(),
                    ", want that of input 1, ", type.name());
      RequireElements<bool>(mask);
    }
    next_.assign(static_cast<size_t>(masks), 0);
    Tensor* const output = Output(0);
    output->Resize(n);
    void* const y = OutputMemory(output, type);
    for (int64_t i = 0; i < n; ++i)
      CopyRow(context_, type, 1, NextValue(i, masks), ItemAt(y, type, i));
    for (int m = 0; m < masks; ++m) {
      CAFFE_ENFORCE_EQ(next_[static_cast<size_t>(m)], Input(2 * m + 1).numel(), "values that mask ",
                       m, " takes, want the elements of input ", 2 * m + 1);
    }
    return true;
  }

 private:
  // The next value of the first mask that is true at position i.
  const void* NextValue(int64_t i, int masks) {
    for (int m = 0; m < masks; ++m) {
      if (!Input(2 * m).data<bool>()[i]) continue;
      const Tensor& values = Input(2 * m + 1);
      int64_t& next = next_[static_cast<size_t>(m)];
      CAFFE_ENFORCE_LT(next, values.numel(), "position in input ", 2 * m + 1,
                       " (values), want one for each true "
                       "element of its mask that is the first one there");
      return ItemAt(values.raw_data(), values.dtype(), next++);
    }
    CAFFE_THROW("All masks have False at position ", i, ": want one that is true there");
  }

  std::vector<int64_t> next_;
};

class GetBooleanMaskGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("BooleanMaskGradient", "", {I(1), GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterBooleanMask() {
  RegisterSchema("BooleanMask", __FILE__)
      .NumInputs(2)
      .NumOutputs(1, 2)
      .Input(0, "data", "[N, ...], elements of any type")
      .Input(1, "mask", "[N] bool: the rows to keep")
      .Output(0, "masked_data", "[M, ...]: the rows where mask is true")
      .Output(1, "masked_indices", "(optional) [M] int64: their positions")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = UnknownOutputsOfInputType(def, in);
        if (out.size() == 2) out[1] = UnknownShapeOf(TensorProto_DataType_INT64);
        return out;
      })
      .SetDoc("Keeps the rows of data where the mask is true.");
  RegisterCpuOperator<BooleanMaskOp>("BooleanMask", __FILE__);
  RegisterSchema("BooleanMaskGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "mask", "[N] bool")
      .Input(1, "dmasked_data", "[M, ...]: the gradient of masked_data")
      .Output(0, "ddata", "[N, ...]: the gradient of data, 0 where mask is false")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2) || in[0].dims_size() != 1 || in[1].dims_size() == 0)
          return UnknownOutputs(def);
        std::vector<int64_t> dims = GetDimsVector(in[1]);
        dims[0] = in[0].dims(0);
        return std::vector<TensorShape>{CreateTensorShape(dims, in[1].data_type())};
      })
      .SetDoc("Computes the gradient of BooleanMask.");
  RegisterCpuOperator<BooleanMaskGradientOp>("BooleanMaskGradient", __FILE__);
  RegisterGradient<GetBooleanMaskGradient>("BooleanMask", __FILE__);
  RegisterSchema("BooleanUnmask", __FILE__)
      .NumInputs([](int n) { return n > 0 && n % 2 == 0; })
      .NumOutputs(1)
      .Input(0, "mask_0, values_0, mask_1, ...", "masks bool [N], each followed by its values [M]")
      .Output(0, "unmasked_data", "[N], the type of the values")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2) || in[0].dims_size() != 1) return UnknownOutputs(def);
        return std::vector<TensorShape>{CreateTensorShape(GetDimsVector(in[0]), in[1].data_type())};
      })
      .SetDoc(
          "Puts the values of several masks together: at each position the next value of the first "
          "mask that is "
          "true there.");
  RegisterCpuOperator<BooleanUnmaskOp>("BooleanUnmask", __FILE__);
  RegisterGradient<NoGradient>("BooleanUnmask", __FILE__);
}

}  // namespace caffe2rt
