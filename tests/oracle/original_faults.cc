#include "tests/oracle/original_faults.h"

#include <algorithm>

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt::test {
namespace {

// The recorded value of input i. An empty proto if it is no tensor.
TensorProto RecordedInput(const oracle::OperatorCase& recorded, const OperatorDef& def, int i) {
  TensorProto tensor;
  if (i >= def.input_size()) return tensor;
  for (const oracle::Blob& blob : recorded.input()) {
    if (blob.name() == def.input(i)) tensor.ParseFromString(blob.tensor());
  }
  return tensor;
}

// The gradient of a three-dimensional convolution in NHWC places the planes of dX as far apart as if
// the first of their axes had the size of the axis before them.
bool MixesUpAxes(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  if (def.type() != "ConvGradient" && def.type() != "Conv3DGradient") return false;
  const ArgumentHelper arguments(def);
  const TensorProto x = RecordedInput(recorded, def, 0);
  return arguments.GetSingleArgument<std::string>("order", "NCHW") == "NHWC" &&
         x.dims_size() == 5 && x.dims(1) != x.dims(2);
}

// The gradient of Slice multiplies offsets in dX by the size of the elements of X, not of dY.
bool MixesUpTypes(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  if (def.type() != "SliceGradient") return false;
  const TensorProto x = RecordedInput(recorded, def, 0);
  const TensorProto dy = RecordedInput(recorded, def, def.input_size() - 1);
  return x.data_type() == TensorProto::INT64 && dy.data_type() == TensorProto::FLOAT;
}

}  // namespace

std::string FaultOfRecord(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  if (MixesUpAxes(recorded, def)) {
    return "order NHWC with three axes, of which the first two differ: the original places the "
           "planes of dX at wrong distances, so that planes overlap or pixels stay 0; with a "
           "kernel "
           "of one pixel dX must be dY times the filter";
  }
  if (MixesUpTypes(recorded, def)) {
    return "X is int64 and dY float: the original multiplies offsets in the float output by the "
           "size of X's elements, so that it writes dY to wrong places and beyond the output";
  }
  return "";
}

}  // namespace caffe2rt::test
