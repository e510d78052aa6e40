#pragma once
// Ten operators in the style of 2019: Tensor is a class. Each one uses another part of the
// interface.
#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"
#include "caffe2/operators/conv_pool_op_base.h"
#include "caffe2/operators/filler_op.h"
#include "caffe2/operators/prefetch_op.h"
#include "caffe2/utils/eigen_utils.h"
#include "caffe2/utils/math.h"

namespace caffe2 {

// Y = scale * X, by a primitive of the context.
template <typename T, class Context>
class NewScaleOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  template <class... Args>
  explicit NewScaleOp(Args&&... args)
      : Operator<Context>(std::forward<Args>(args)...),
        scale_(this->template GetSingleArgument<float>("scale", 1.0f)) {}
  bool RunOnDevice() override {
    const auto& X = Input(0);
    auto* Y = Output(0, X.sizes(), at::dtype<T>());
    math::Scale<float, T, Context>(X.numel(), scale_, X.template data<T>(),
                                   Y->template mutable_data<T>(), &context_);
    return true;
  }

 private:
  const float scale_;
};

// Limits elements of several types.
template <class Context>
class NewClampOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_DISPATCH_HELPER;
  template <class... Args>
  explicit NewClampOp(Args&&... args)
      : Operator<Context>(std::forward<Args>(args)...), OP_SINGLE_ARG(float, "max", max_, 1.0f) {}
  bool RunOnDevice() override {
    return DispatchHelper<TensorTypes<int32_t, int64_t, float>>::call(this, Input(0));
  }

 private:
  template <typename T>
  bool DoRunWithType() {
    const Tensor& X = Input(0);
    Tensor* Y = Output(0, X.sizes(), at::dtype<T>());
    const T* x = X.template data<T>();
    T* y = Y->template mutable_data<T>();
    for (int64_t i = 0; i < X.numel(); ++i) y[i] = std::min(x[i], static_cast<T>(max_));
    return true;
  }

  float max_;
};

// The greatest element of each window of an image.
template <typename T, class Context>
class NewWindowMaxOp final : public ConvPoolOpBase<Context> {
 public:
  USE_CONV_POOL_BASE_FUNCTIONS(Context);
  template <class... Args>
  explicit NewWindowMaxOp(Args&&... args) : ConvPoolOpBase<Context>(std::forward<Args>(args)...) {}
  bool RunOnDeviceWithOrderNCHW() override {
    const auto& X = Input(0);
    const auto sizes = ConvPoolOpBase<Context>::GetOutputSize(X, X.dim32(1));
    auto* Y = Output(0, sizes, at::dtype<T>());
    const int height = X.dim32(2), width = X.dim32(3);
    const T* x = X.template data<T>();
    T* y = Y->template mutable_data<T>();
    for (int image = 0; image < X.size_to_dim(2); ++image, x += height * width) {
      for (int h = 0; h < Y->dim32(2); ++h) {
        for (int w = 0; w < Y->dim32(3); ++w, ++y) {
          *y = std::numeric_limits<T>::lowest();
          for (int i = 0; i < kernel_h() * kernel_w(); ++i) {
            const int row = h * stride_h() + i / kernel_w(),
                      column = w * stride_w() + i % kernel_w();
            *y = std::max(*y, x[row * width + column]);
          }
        }
      }
    }
    return true;
  }
};

// first, first + 1, ... in the shape that the arguments or the input give.
template <typename T, class Context>
class NewRampOp final : public FillerOp<Context> {
 public:
  template <class... Args>
  explicit NewRampOp(Args&&... args)
      : FillerOp<Context>(std::forward<Args>(args)...),
        first_(this->template GetSingleArgument<float>("first", 0)) {}
  bool Fill(Tensor* output) override {
    Tensor values(output->sizes(), CPU);
    T* data = values.template mutable_data<T>();
    std::iota(data, data + values.numel(), static_cast<T>(first_));
    output->CopyFrom(values);
    return true;
  }

 private:
  float first_;
};

// The number of the run, prepared on another thread.
template <class Context>
class NewCountOp final : public PrefetchOperator<Context> {
 public:
  using PrefetchOperator<Context>::context_;
  using PrefetchOperator<Context>::prefetch_thread_;
  NewCountOp(const OperatorDef& operator_def, Workspace* ws)
      : PrefetchOperator<Context>(operator_def, ws) {}
  ~NewCountOp() override { PrefetchOperator<Context>::Finalize(); }
  bool Prefetch() override {
    ReinitializeTensor(&next_, {1}, at::dtype<float>().device(CPU));
    next_.template mutable_data<float>()[0] = ++count_;
    return true;
  }
  bool CopyPrefetched() override {
    CAFFE_ENFORCE(prefetch_thread_);
    OperatorBase::Output<Tensor>(0, Context::GetDeviceType())->CopyFrom(next_);
    return true;
  }

 private:
  Tensor next_{CPU};
  float count_ = 0;
};

// The shape of the input, as a CPU tensor on every device.
template <class Context>
class NewShapeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_SIMPLE_CTOR_DTOR(NewShapeOp);
  bool RunOnDevice() override {
    const auto& X = Input(0);
    auto* out = this->OutputTensor(0, {X.dim()}, at::dtype<int64_t>().device(CPU));
    auto* data = out->template mutable_data<int64_t>();
    for (int i = 0; i < X.dim(); ++i) data[i] = X.size(-1 - i);
    return this->InputIsTensorType(0, Context::GetDeviceType());
  }
};

// The sum of two tensors, which may be in place.
template <typename T, class Context>
class NewAddOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_SIMPLE_CTOR_DTOR(NewAddOp);
  bool RunOnDevice() override {
    const auto& A = Input(0);
    const auto& B = Input(1);
    CAFFE_ENFORCE_EQ(A.sizes(), B.sizes(), "shapes of the summands");
    auto* C = Output(0);
    if (!IsInputOutputAlias(0, 0)) C->ResizeLike(A);
    math::Add<T, Context>(A.numel(), A.template data<T>(), B.template data<T>(),
                          C->template mutable_data<T>(), &context_);
    return true;
  }
};

// The sums of the rows of a matrix, by Eigen.
class NewRowSumOp final : public Operator<CPUContext> {
 public:
  template <class... Args>
  explicit NewRowSumOp(Args&&... args) : Operator<CPUContext>(std::forward<Args>(args)...) {}
  bool RunOnDevice() override {
    const auto& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 2, "rank of the matrix");
    const auto N = X.dim(0), D = X.dim(1);
    auto* Y = Output(0, {N}, at::dtype<float>());
    EigenVectorMap<float>(Y->template mutable_data<float>(), N) =
        ConstEigenMatrixMap<float>(X.template data<float>(), D, N).colwise().sum();
    return true;
  }
};

// All inputs, one after the other.
template <class Context>
class NewJoinOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  explicit NewJoinOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws) {}
  bool RunOnDevice() override {
    int64_t size = 0;
    for (int i = 0; i < InputSize(); ++i) size += Input(i).numel();
    auto* Y = Output(0);
    Y->Resize(size);
    char* to = static_cast<char*>(Y->raw_mutable_data(Input(0).dtype()));
    for (int i = 0; i < InputSize(); ++i) {
      context_.CopyItemsSameDevice(Input(i).dtype(), Input(i).numel(), Input(i).raw_data(), to);
      to += Input(i).nbytes();
    }
    return true;
  }
};

// Appends the size of the input to a list, which is an object of another type in a blob, and
// returns the length of the list.
template <class Context>
class NewHistoryOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  NewHistoryOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws),
        extra_(this->template GetRepeatedArgument<int>("extra")) {}
  bool RunOnDevice() override {
    auto* list = this->template Output<std::vector<int64_t>>(0);
    list->push_back(Input(0).numel());
    list->insert(list->end(), extra_.begin(), extra_.end());
    Tensor* length = BlobGetMutableTensor(this->OutputBlob(1), {1}, at::dtype<int>().device(CPU));
    *length->template mutable_data<int>() = static_cast<int>(list->size());
    return true;
  }

 private:
  std::vector<int> extra_;
};

}  // namespace caffe2
