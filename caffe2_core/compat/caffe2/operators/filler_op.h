#pragma once
// FillerOp: a base class for operators that fill a tensor whose shape comes from arguments or an
// input.
#include "caffe2/core/context.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/utils/math.h"

namespace caffe2 {
#if CAFFE2RT_TEMPLATED_TENSOR
inline namespace templated {
#endif

template <class Context>
class FillerOp : public Operator<Context> {
 public:
  FillerOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        shape_(this->template GetRepeatedArgument<int64_t>("shape")),
        extra_shape_(this->template GetRepeatedArgument<int64_t>("extra_shape")),
        input_as_shape_(this->template GetSingleArgument<bool>("input_as_shape", false)) {
    CAFFE_ENFORCE(this->InputSize() == 0 || shape_.empty(),
                  "Cannot set the shape argument and pass in an input at the same time");
  }
  ~FillerOp() override = default;

  bool RunOnDevice() override {
    auto* output = this->Output(0);
    vector<int64_t> shape = shape_;
    if (this->InputSize() > 0) {
      const ::caffe2rt::Tensor& input = this->Input(0);
      if (input_as_shape_) {
        CAFFE_ENFORCE_EQ(input.dim(), 1, "rank of the input that holds the shape");
        const int64_t* dims = input.template data<int64_t>();
        shape.assign(dims, dims + input.numel());
      } else {
        shape = input.sizes().vec();
      }
      shape.insert(shape.end(), extra_shape_.begin(), extra_shape_.end());
    }
    output->Resize(shape);
    return Fill(output);
  }
#if CAFFE2RT_TEMPLATED_TENSOR
  virtual bool Fill(Tensor<Context>* output) = 0;
#else
  virtual bool Fill(Tensor* output) = 0;
#endif

 protected:
  vector<int64_t> shape_;
  vector<int64_t> extra_shape_;
  bool input_as_shape_;
};

#if CAFFE2RT_TEMPLATED_TENSOR
}  // namespace templated
#endif

template <int DataType = TensorProto_DataType_FLOAT>
vector<TensorShape> FillerTensorInference(const OperatorDef& def, const vector<TensorShape>& in) {
  const ArgumentHelper helper(def);
  TensorShape shape;
  if (in.empty()) {
    shape = CreateTensorShape(helper.GetRepeatedArgument<int64_t>("shape"),
                              static_cast<TensorProto_DataType>(DataType));
  } else if (helper.GetSingleArgument<bool>("input_as_shape", false)) {
    shape.set_unknown_shape(true);
  } else {
    shape = CreateTensorShape(GetDimsVector(in[0]), static_cast<TensorProto_DataType>(DataType));
    for (const int64_t d : helper.GetRepeatedArgument<int64_t>("extra_shape")) shape.add_dims(d);
  }
  return {shape};
}

}  // namespace caffe2
