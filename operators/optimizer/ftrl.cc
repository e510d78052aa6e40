// Ftrl, SparseFtrl, GFtrl.

#include "operators/optimizer/ftrl.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"

namespace caffe2rt {

namespace {

void RequireFtrlState(const NamedInput& var, const Tensor& nz) {
  CAFFE_ENFORCE_EQ(nz.numel(), 2 * var.tensor.numel(), "elements of input 1 (nz) of shape ",
                   nz.sizes(), ", want two for each element of ", var.name, " of shape ",
                   var.tensor.sizes());
}

class FtrlOp final : public Operator<CPUContext> {
 public:
  FtrlOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), arguments_(*this, 3) {}

  bool RunOnDevice() override {
    const Tensor& nz = Input(1);
    const NamedInput var{Input(0), "input 0 (var)"};
    const NamedInput grad{Input(2), "input 2 (grad)"};
    RequireSameSize(grad, var);
    RequireFtrlState(var, nz);
    FtrlRule rule{arguments_.Alpha(*this),
                  var.tensor.data<float>(),
                  nz.data<float>(),
                  grad.tensor.data<float>(),
                  nullptr,
                  nullptr,
                  arguments_.numbers()};
    rule.out_var = OutputData<float>(0, var.tensor.sizes());
    rule.out_nz = OutputData<float>(1, nz.sizes());
    UpdateAll(context_, grad.tensor.numel(), rule);
    return true;
  }

 private:
  const FtrlArguments arguments_;
};

class SparseFtrlOp final : public Operator<CPUContext> {
 public:
  SparseFtrlOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), arguments_(*this, 4) {}

  bool RunOnDevice() override {
    const Tensor& nz = Input(1);
    const Tensor& indices = Input(2);
    const Tensor& grad = Input(3);
    const NamedInput var{Input(0), "input 0 (var)"};
    RequireFtrlState(var, nz);
    CAFFE_ENFORCE_GE(var.tensor.dim(), 1, "rank of ", var.name);
    const RowSizes sizes{var.tensor.dim(0), var.tensor.size_from_dim(1), indices.numel()};
    CAFFE_ENFORCE_EQ(grad.numel(), CheckedMultiply(sizes.count, sizes.block),
                     "elements of input 3 (grad) of shape ", grad.sizes(), ", want ", sizes.block,
                     ", as in a row of input 0 (var) of shape ", var.tensor.sizes(),
                     ", for each index of input 2 (indices) of shape ", indices.sizes());
    RequireElementsOf<int32_t, int64_t>(indices, "input 2 (indices)");
    FtrlRule rule{arguments_.Alpha(*this),
                  var.tensor.data<float>(),
                  nz.data<float>(),
                  grad.data<float>(),
                  nullptr,
                  nullptr,
                  arguments_.numbers()};
    rule.out_var = OutputData<float>(0, var.tensor.sizes());
    rule.out_nz = OutputData<float>(1, nz.sizes());
    DispatchByType<int32_t, int64_t>(indices.dtype(), "input 2 (indices)", [&](auto element) {
      UpdateRows(context_, sizes, indices.data<decltype(element)>(), rule, &scratch_);
    });
    return true;
  }

 private:
  const FtrlArguments arguments_;
  RowScratch<CPUContext> scratch_;
};

class GFtrlOp final : public Operator<CPUContext> {
 public:
  GFtrlOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), arguments_(*this, 3) {}

  bool RunOnDevice() override {
    const Tensor& var = Input(0);
    const Tensor& nz = Input(1);
    const Tensor& grad = Input(2);
    RequireSameSize({grad, "input 2 (grad)"}, {var, "input 0 (var)"});
    RequireFtrlState({var, "input 0 (var)"}, nz);
    CAFFE_ENFORCE_GE(grad.dim(), 1, "rank of input 2 (grad)");
    const float inverse_alpha = 1.0f / arguments_.Alpha(*this);
    const float* const w = var.data<float>();
    const float* const old = nz.data<float>();
    const float* const d = grad.data<float>();
    float* const out_w = OutputData<float>(0, var.sizes());
    float* const out = OutputData<float>(1, nz.sizes());
    if (grad.numel() == 0) return true;
    const int64_t rows = grad.dim(0), columns = grad.size_from_dim(1);
    squares_.assign(static_cast<size_t>(columns), 0.0f);
    for (int64_t i = 0; i < rows * columns; ++i) {
      const float n = old[2 * i], next = n + d[i] * d[i];
      const float z =
          old[2 * i + 1] + d[i] - (std::sqrt(next) - std::sqrt(n)) * inverse_alpha * w[i];
      out[2 * i] = next;
      out[2 * i + 1] = z;
      squares_[static_cast<size_t>(i % columns)] += z * z;
    }
    const FtrlNumbers& numbers = arguments_.numbers();
    const float least = numbers.lambda1 * std::sqrt(static_cast<float>(rows));
    for (int64_t i = 0; i < rows * columns; ++i) {
      const float norm = std::sqrt(squares_[static_cast<size_t>(i % columns)]);
      const float divisor =
          (numbers.beta + std::sqrt(out[2 * i])) * inverse_alpha + numbers.lambda2;
      out_w[i] = norm > least ? out[2 * i + 1] * (least / norm - 1.0f) / divisor : 0.0f;
    }
    return true;
  }

 private:
  const FtrlArguments arguments_;
  std::vector<float> squares_;  // of z, for each column
};

OpSchema& FtrlSchema(const char* type, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(3, 4)
      .NumOutputs(2)
      .AllowInplace({{0, 0}, {1, 1}})
      .Args(kFtrlAlpha, kFtrlBeta, kFtrlLambda1, kFtrlLambda2)
      .Input(0, "var", "the parameter, float")
      .Input(1, "nz", "n and z of each element of var")
      .Input(2, "grad", "as many elements as var")
      .Input(3, "alpha", "the learning rate: one element; optional")
      .Output(0, "var", "the updated parameter")
      .Output(1, "nz", "the new state")
      .TensorInferenceFunction(InferLikeInputs({0, 1}))
      .SetDoc(doc);
}

}  // namespace

void RegisterFtrl() {
  FtrlSchema("Ftrl", "Updates a parameter by FTRL-Proximal.");
  RegisterCpuOperator<FtrlOp>("Ftrl", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Ftrl", __FILE__);

  FtrlSchema("GFtrl",
             "Updates a parameter by FTRL-Proximal with the lasso over groups: all elements that "
             "differ only in the first dimension of grad are one group.");
  RegisterCpuOperator<GFtrlOp>("GFtrl", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("GFtrl", __FILE__);

  RegisterSchema("SparseFtrl", __FILE__)
      .NumInputs(4, 5)
      .NumOutputs(2)
      .EnforceInplace({{0, 0}, {1, 1}})
      .Args(kFtrlAlpha, kFtrlBeta, kFtrlLambda1, kFtrlLambda2)
      .Input(0, "var", "[rows, row..], float")
      .Input(1, "nz", "n and z of each element of var")
      .Input(2, "indices", "the rows to update, int32 or int64")
      .Input(3, "grad", "the gradient of the rows")
      .Input(4, "alpha", "the learning rate: one element; optional")
      .Output(0, "var", "input 0")
      .Output(1, "nz", "input 1")
      .TensorInferenceFunction(InferLikeInputs({0, 1}))
      .SetDoc("Updates rows of a parameter by FTRL-Proximal.");
  RegisterCpuOperator<SparseFtrlOp>("SparseFtrl", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SparseFtrl", __FILE__);
}

}  // namespace caffe2rt
