#pragma once
// Ten operators in the style of 2017: Tensor is a template over the context. Each one uses another
// part of the interface.
#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"
#include "caffe2/operators/conv_pool_op_base.h"
#include "caffe2/operators/filler_op.h"
#include "caffe2/operators/prefetch_op.h"
#include "caffe2/utils/math.h"

namespace caffe2 {

// Y = scale * X, by a primitive of the context.
template <typename T, class Context>
class OldScaleOp final : public Operator<Context> {
 public:
  OldScaleOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws),
        scale_(OperatorBase::GetSingleArgument<float>("scale", 1.)) {}
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  bool RunOnDevice() override {
    auto& X = Input(0);
    auto* Y = Output(0);
    Y->ResizeLike(X);
    math::Scale<T, Context>(X.size(), scale_, X.template data<T>(), Y->template mutable_data<T>(),
                            &context_);
    return true;
  }

 protected:
  float scale_;
};

// Limits elements of several types.
template <class Context>
class OldClampOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_DISPATCH_HELPER;
  USE_SIMPLE_CTOR_DTOR(OldClampOp);
  bool RunOnDevice() override {
    return DispatchHelper<TensorTypes<int, TIndex, float>>::call(this, Input(0));
  }

 private:
  template <typename T>
  bool DoRunWithType() {
    const T most = static_cast<T>(OperatorBase::GetSingleArgument<float>("max", 1));
    const Tensor<Context>& X = Input(0);
    Tensor<Context>* Y = Output(0);
    Y->ResizeLike(X);
    const T* x = X.template data<T>();
    T* y = Y->template mutable_data<T>();
    for (TIndex i = 0; i < X.size(); ++i) y[i] = std::min(x[i], most);
    return true;
  }
};

// The sum of each window of an image.
template <typename T, class Context>
class OldWindowSumOp final : public ConvPoolOpBase<Context> {
 public:
  USE_CONV_POOL_BASE_FUNCTIONS(Context);
  OldWindowSumOp(const OperatorDef& operator_def, Workspace* ws)
      : ConvPoolOpBase<Context>(operator_def, ws) {}
  bool RunOnDeviceWithOrderNCHW() override {
    const Tensor<Context>& X = Input(0);
    Tensor<Context>* Y = Output(0);
    ConvPoolOpBase<Context>::SetOutputSize(X, Y, X.dim32(1));
    const int height = X.dim32(2), width = X.dim32(3);
    const T* x = X.template data<T>();
    T* y = Y->template mutable_data<T>();
    for (int image = 0; image < X.size_to_dim(2); ++image, x += height * width) {
      for (int h = 0; h < Y->dim32(2); ++h) {
        for (int w = 0; w < Y->dim32(3); ++w, ++y) {
          *y = 0;
          for (int i = 0; i < kernel_h() * kernel_w(); ++i) {
            const int row = h * stride_h() - pad_t() + i / kernel_w();
            const int column = w * stride_w() - pad_l() + i % kernel_w();
            if (row >= 0 && row < height && column >= 0 && column < width)
              *y += x[row * width + column];
          }
        }
      }
    }
    return true;
  }
};

// first, first + 1, ... in the shape that the arguments or the input give.
template <typename T, class Context>
class OldRampOp final : public FillerOp<Context> {
 public:
  OldRampOp(const OperatorDef& operator_def, Workspace* ws)
      : FillerOp<Context>(operator_def, ws),
        first_(OperatorBase::GetSingleArgument<T>("first", 0)) {}
  bool Fill(Tensor<Context>* output) override {
    TensorCPU values;
    values.ResizeLike(*output);
    for (int i = 0; i < values.size(); ++i) values.template mutable_data<T>()[i] = first_ + i;
    output->CopyFrom(values);
    return true;
  }

 private:
  T first_;
};

// The number of the run, prepared on another thread.
template <class Context>
class OldCountOp final : public PrefetchOperator<Context> {
 public:
  using PrefetchOperator<Context>::context_;
  OldCountOp(const OperatorDef& operator_def, Workspace* ws)
      : PrefetchOperator<Context>(operator_def, ws) {}
  ~OldCountOp() { PrefetchOperator<Context>::Finalize(); }
  bool Prefetch() override {
    next_.Resize(1);
    next_.template mutable_data<float>()[0] = ++count_;
    return true;
  }
  bool CopyPrefetched() override {
    OperatorBase::Output<Tensor<Context>>(0)->CopyFrom(next_, &context_);
    return true;
  }

 private:
  TensorCPU next_;
  float count_ = 0;
};

// The shape of the input, as a CPU tensor on every device.
template <class Context>
class OldShapeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  OldShapeOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws), OP_SINGLE_ARG(bool, "reverse", reverse_, false) {}
  bool RunOnDevice() override {
    const auto& dims = Input(DATA).dims();
    auto* out = OperatorBase::Output<TensorCPU>(0);
    out->Resize(static_cast<TIndex>(dims.size()));
    auto* data = out->template mutable_data<TIndex>();
    for (size_t i = 0; i < dims.size(); ++i) data[reverse_ ? dims.size() - 1 - i : i] = dims[i];
    return true;
  }

 private:
  bool reverse_;
  INPUT_TAGS(DATA);
};

// Deduces the context from the tensors.
template <typename T, class Context>
void AddTensors(const Tensor<Context>& a, const Tensor<Context>& b, Tensor<Context>* sum,
                Context* context) {
  CAFFE_ENFORCE_EQ(a.size(), b.size(), "sizes of the summands");
  sum->ResizeLike(a);
  math::Add<T, Context>(a.size(), a.template data<T>(), b.template data<T>(),
                        sum->template mutable_data<T>(), context);
}

// The sum of two tensors, which may be in place.
template <typename T, class Context>
class OldAddOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_SIMPLE_CTOR_DTOR(OldAddOp);
  bool RunOnDevice() override {
    AddTensors<T>(Input(0), Input(1), Output(0), &context_);
    return true;
  }
};

// The product of a matrix and a vector of ones, which is a member tensor on the device.
template <typename T, class Context>
class OldRowSumOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_SIMPLE_CTOR_DTOR(OldRowSumOp);
  bool RunOnDevice() override {
    const auto& X = Input(0);
    CAFFE_ENFORCE_EQ(X.ndim(), 2, "rank of the matrix");
    if (ones_.size() != X.dim(1)) {
      ones_.Resize(X.dim(1));
      math::Set<T, Context>(ones_.size(), static_cast<T>(1), ones_.template mutable_data<T>(),
                            &context_);
    }
    auto* Y = Output(0);
    Y->Resize(vector<TIndex>(1, X.dim(0)));
    math::Gemv<T, Context>(CblasNoTrans, X.dim32(0), X.dim32(1), 1, X.template data<T>(),
                           ones_.template data<T>(), 0, Y->template mutable_data<T>(), &context_);
    return true;
  }

 private:
  Tensor<Context> ones_;
};

// All inputs, one after the other.
template <typename T, class Context>
class OldJoinOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  using Operator<Context>::Operator;
  bool RunOnDevice() override {
    TIndex size = 0;
    for (int i = 0; i < InputSize(); ++i) size += Input(i).size();
    Output(0)->Resize(size);
    T* to = Output(0)->template mutable_data<T>();
    for (int i = 0; i < InputSize(); ++i) {
      context_.template Copy<T, Context, Context>(Input(i).size(), Input(i).template data<T>(), to);
      to += Input(i).size();
    }
    return true;
  }
};

// Appends the size of the input to a list, which is an object of another type in a blob, and
// returns the length of the list.
template <class Context>
class OldHistoryOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  OldHistoryOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws),
        extra_(OperatorBase::GetRepeatedArgument<int>("extra")) {}
  bool RunOnDevice() override {
    auto* list = OperatorBase::Output<vector<TIndex>>(0);
    list->push_back(Input(0).size());
    for (const int value : extra_) list->push_back(value);
    auto* length = OperatorBase::Output<Tensor<CPUContext>>(1);
    length->Resize(vector<int>{1});
    length->template mutable_data<int>()[0] = static_cast<int>(list->size());
    return true;
  }

 private:
  vector<int> extra_;
};

}  // namespace caffe2
