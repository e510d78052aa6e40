#include "operators/common/integer_input.h"

#include <algorithm>

#include "caffe2_core/runtime/dispatch.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void ReadIntegers(const Tensor& tensor, const char* subject, std::vector<int64_t>* values) {
  CAFFE_ENFORCE_LE(tensor.dim(), 1, "rank of ", subject, ", want a vector");
  DispatchByType<int64_t, int32_t>(tensor.dtype(), subject, [&](auto element) {
    const auto* const data = tensor.data<decltype(element)>();
    values->assign(data, data + tensor.numel());
  });
}

IntArrayRef IntegersOf(const Operator<CPUContext>& op, int input, const char* subject,
                       const std::vector<int64_t>& argument, std::vector<int64_t>* values) {
  if (!IsGiven(op, input)) return argument;
  ReadIntegers(op.Input(input), subject, values);
  return *values;
}

int64_t IntegerOf(const Operator<CPUContext>& op, int input, const char* subject,
                  int64_t argument) {
  if (!IsGiven(op, input)) return argument;
  const Tensor& tensor = op.Input(input);
  CAFFE_ENFORCE_EQ(tensor.numel(), 1, "elements of ", subject, ", want one");
  return DispatchByType<int64_t, int32_t>(tensor.dtype(), subject, [&](auto element) -> int64_t {
    return *tensor.data<decltype(element)>();
  });
}

int64_t PlaceAxis(int64_t axis, int64_t rank) {
  CAFFE_ENFORCE(axis >= -rank && axis < rank, "axis is ", axis, ", want at least ", -rank,
                " and below the rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

void PlaceAxes(IntArrayRef axes, int64_t rank, std::vector<int64_t>* placed) {
  placed->clear();
  if (axes.empty()) {
    for (int64_t i = 0; i < rank; ++i) placed->push_back(i);
    return;
  }
  for (const int64_t axis : axes) {
    const int64_t place = PlaceAxis(axis, rank);
    CAFFE_ENFORCE(std::find(placed->begin(), placed->end(), place) == placed->end(), "axes are ",
                  axes, ", which name dimension ", place, " twice");
    placed->push_back(place);
  }
}

bool MayBeGiven(const OperatorDef& def, const std::vector<TensorShape>& in, int input) {
  if (input >= def.input_size()) return false;
  const size_t i = static_cast<size_t>(input);
  return i >= in.size() || !IsKnown(in[i]) || NumElements(in[i]) > 0;
}

TensorShape UnknownShapeLike(const TensorShape& like) {
  TensorShape shape = UnknownShape();
  if (like.has_data_type()) shape.set_data_type(like.data_type());
  return shape;
}

}  // namespace caffe2rt
