// Bucketize: the position of each element among boundaries.
//   X float, rank at least 1  ->  int32, the shape of X: the number of boundaries below the element
#include <algorithm>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<float> kBucketizeBoundaries{
    "boundaries",
    "numbers between the buckets, ascending",
    {[](const std::vector<float>& boundaries) {
       for (size_t i = 0; i < boundaries.size(); ++i) {
         if (!(boundaries[i == 0 ? 0 : i - 1] <= boundaries[i])) return false;
       }
       return true;
     },
     "ascending numbers"}};

class BucketizeOp final : public Operator<CPUContext> {
 public:
  BucketizeOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), boundaries_(ReadArgument(kBucketizeBoundaries)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0 (data), want at least 1");
    const float* const x = X.data<float>();
    int32_t* const y = OutputData<int32_t>(0, X.sizes());
    for (int64_t i = 0; i < X.numel(); ++i) {
      y[i] = static_cast<int32_t>(std::lower_bound(boundaries_.begin(), boundaries_.end(), x[i]) -
                                  boundaries_.begin());
    }
    return true;
  }

 private:
  const std::vector<float> boundaries_;
};

}  // namespace

void RegisterBucketize() {
  RegisterSchema("Bucketize", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kBucketizeBoundaries)
      .Input(0, "data", "float, rank at least 1")
      .Output(0, "output", "int32, the shape of data: from 0 to the number of boundaries")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) {
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto_DataType_INT32)};
        }
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), TensorProto_DataType_INT32)};
      })
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc(
          "Computes the bucket of each element: the number of boundaries that are less. An element "
          "that equals a boundary is in the bucket below it, and NaN is in bucket 0.");
  RegisterCpuOperator<BucketizeOp>("Bucketize", __FILE__);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
