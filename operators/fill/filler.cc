#include "operators/fill/filler.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int64_t> kFillShape{
    "shape", "dimensions of the output; cannot be combined with an input"};
constexpr RepeatedArgumentSpec<int64_t> kFillExtraShape{
    "extra_shape", "dimensions appended to those that the input gives"};
constexpr ArgumentSpec<bool> kFillInputAsShape{
    "input_as_shape", false, "whether the input is a vector of int64 that holds the dimensions"};

}  // namespace

FillShape ReadFillShape(const ArgumentHelper& args, int num_inputs) {
  FillShape spec;
  spec.shape = args.Read(kFillShape);
  spec.extra_shape = args.Read(kFillExtraShape);
  spec.input_as_shape = args.Read(kFillInputAsShape);
  if (num_inputs > 0) {
    CAFFE_ENFORCE(spec.shape.empty(), "argument shape is ", IntArrayRef(spec.shape),
                  " and there is an input: cannot set both, remove one");
    return spec;
  }
  CAFFE_ENFORCE(spec.extra_shape.empty(), "argument extra_shape is ", IntArrayRef(spec.extra_shape),
                " but there is no input to extend");
  CAFFE_ENFORCE(!spec.input_as_shape, "argument input_as_shape is set but there is no input");
  CAFFE_ENFORCE(!spec.shape.empty() || !args.HasSingleArgumentOfType<int64_t>(kFillShape.name),
                "argument shape is a scalar, want a list of integers");
  return spec;
}

TensorShape InferFill(const OperatorDef& def, const std::vector<TensorShape>& inputs,
                      TensorProto_DataType type) {
  const FillShape spec = ReadFillShape(ArgumentHelper(def), def.input_size());
  if (def.input_size() == 0) return CreateTensorShape(spec.shape, type);
  if (spec.input_as_shape || !AreKnown(inputs, 1)) return UnknownShapeOf(type);
  std::vector<int64_t> dims = GetDimsVector(inputs[0]);
  dims.insert(dims.end(), spec.extra_shape.begin(), spec.extra_shape.end());
  return CreateTensorShape(dims, type);
}

void DeclareFillShape(OpSchema& schema) {
  schema.NumInputs(0, 1)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kFillShape, kFillExtraShape, kFillInputAsShape)
      .Input(0, "input", "(optional) its shape is the shape of the output")
      .Output(0, "output", "the filled tensor");
}

}  // namespace caffe2rt
