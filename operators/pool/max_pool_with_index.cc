#include "operators/pool/max_pool_with_index.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/order_argument.h"
#include "operators/pool/windows.h"

namespace caffe2rt {

namespace {

struct PlaneSizes {
  int64_t planes, in, out;
  int pieces;  // into which the planes are divided
  explicit PlaneSizes(const PoolPlan& plan)
      : planes(plan.batch * plan.channels),
        in(plan.axis[0].in * plan.axis[1].in * plan.axis[2].in),
        out(plan.axis[0].out * plan.axis[1].out * plan.axis[2].out) {
    constexpr int64_t kElementsPerPiece = 16384;
    pieces = static_cast<int>(
        std::min({int64_t{GetNumThreads()}, planes, planes * in / kElementsPerPiece + 1}));
  }
};

// Calls function(piece, first element of X, first element of Y) for every plane.
template <class F>
void ForEachPlane(const PlaneSizes& sizes, F function) {
  ParallelFor(sizes.pieces, [&](int piece) {
    const int64_t end = sizes.planes * (piece + 1) / sizes.pieces;
    for (int64_t p = sizes.planes * piece / sizes.pieces; p < end; ++p) {
      function(piece, p * sizes.in, p * sizes.out);
    }
  });
}

template <class T>
void PoolWithIndex(const PoolPlan& plan, const T* x, T* y, int32_t* index) {
  const WindowAxis &depth = plan.axis[0], &height = plan.axis[1], &width = plan.axis[2];
  const float lowest =
      std::is_same_v<T, float> ? std::numeric_limits<float>::lowest() : kLowestFloat16;
  ForEachPlane(PlaneSizes(plan), [&](int, int64_t x_offset, int64_t y_offset) {
    const T* const plane = x + x_offset;
    for (int64_t i = 0; i < depth.out * height.out * width.out; ++i) {
      const Span d = SpanOf(depth, i / width.out / height.out);
      const Span h = SpanOf(height, i / width.out % height.out);
      const Span w = SpanOf(width, i % width.out);
      float largest = lowest;
      int64_t at = -1;
      for (int64_t z = d.first; z < d.last; ++z) {
        for (int64_t r = h.first; r < h.last; ++r) {
          const int64_t row = (z * height.in + r) * width.in;
          for (int64_t k = row + w.first; k < row + w.last; ++k) {
            const float value = plane[k];
            if (!(value > largest)) continue;
            largest = value;
            at = k;
          }
        }
      }
      y[y_offset + i] = largest;
      index[y_offset + i] = static_cast<int32_t>(at);
    }
  });
}

// Adds the gradients of the windows of one plane of `size` elements.
template <class T>
void AddByIndex(const T* dy, const int32_t* index, int64_t windows, int64_t size, float* dx) {
  std::fill_n(dx, size, 0.0f);
  for (int64_t i = 0; i < windows; ++i) {
    if (index[i] == -1) continue;  // a window without a number
    CAFFE_ENFORCE(0 <= index[i] && index[i] < size, "input 2 (Index) has value ", index[i],
                  ", want -1 to ", size - 1);
    dx[index[i]] += dy[i];
  }
}

std::vector<TensorShape> InferMaxPoolWithIndex(const OperatorDef& def,
                                               const std::vector<TensorShape>& in) {
  std::vector<TensorShape> shapes = InferPoolShape(def, in);
  shapes.push_back(shapes[0]);
  if (!shapes[1].unknown_shape()) shapes[1].set_data_type(TensorProto::INT32);
  return shapes;
}

class GetMaxPoolWithIndexGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("MaxPoolWithIndexGradient", "",
                             std::vector<std::string>{I(0), GO(0), O(1)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void RunMaxPoolWithIndex(CPUContext&, const PoolPlan& plan, const float* x, float* y,
                         int32_t* index) {
  PoolWithIndex(plan, x, y, index);
}
void RunMaxPoolWithIndex(CPUContext&, const PoolPlan& plan, const float16* x, float16* y,
                         int32_t* index) {
  PoolWithIndex(plan, x, y, index);
}

void RunMaxPoolWithIndexGradient(CPUContext&, const PoolPlan& plan, const float* dy,
                                 const int32_t* index, float* dx, ThreadScratch*) {
  const PlaneSizes sizes(plan);
  ForEachPlane(sizes, [&](int, int64_t x_offset, int64_t y_offset) {
    AddByIndex(dy + y_offset, index + y_offset, sizes.out, sizes.in, dx + x_offset);
  });
}
void RunMaxPoolWithIndexGradient(CPUContext&, const PoolPlan& plan, const float16* dy,
                                 const int32_t* index, float16* dx, ThreadScratch* scratch) {
  const PlaneSizes sizes(plan);
  float* const buffers = scratch->Floats(sizes.pieces * sizes.in);
  ForEachPlane(sizes, [&](int piece, int64_t x_offset, int64_t y_offset) {
    float* const sums = buffers + piece * sizes.in;
    AddByIndex(dy + y_offset, index + y_offset, sizes.out, sizes.in, sums);
    std::copy_n(sums, sizes.in, dx + x_offset);
  });
}

WindowArguments ReadIndexedPool(const ArgumentHelper& args) {
  WindowArguments window = ParseWindowArguments(args, WindowUse::kPool);
  CAFFE_ENFORCE(window.order == StorageOrder::NCHW, "argument order is NHWC, want NCHW");
  return window;
}

PoolPlan MakeIndexedPoolPlan(const WindowGeometry& geometry, bool global) {
  CAFFE_ENFORCE(std::in_range<int32_t>(geometry.in_size()), "planes of input 0 (X) have ",
                geometry.in_size(), " elements, want at most 2147483647");
  return MakePoolPlan(geometry, global, /*include_pad=*/false);
}

void RegisterMaxPoolWithIndex() {
  OpSchema& schema =
      RegisterSchema("MaxPoolWithIndex", __FILE__)
          .NumInputs(1)
          .NumOutputs(2)
          .Input(0, "X", "[N, C, *] with 1 to 3 axes, float or float16")
          .Output(0, "Y", "[N, C, windows..], the largest element of each window")
          .Output(1, "Index", "the shape of Y, int32: the index of that element in its plane")
          .TensorInferenceFunction(InferMaxPoolWithIndex)
          .SetDoc(
              "Max pooling that also returns which element of each window is the largest: the "
              "first one of several equal elements. NaN is ignored.");
  DeclareWindowArguments(schema, WindowUse::kPool);
  RegisterCpuOperator<MaxPoolWithIndexOp<CPUContext, false>>("MaxPoolWithIndex", __FILE__);

  OpSchema& gradient =
      RegisterSchema("MaxPoolWithIndexGradient", __FILE__)
          .NumInputs(3)
          .NumOutputs(1)
          .Input(0, "X", "the input of MaxPoolWithIndex")
          .Input(1, "dY", "the gradient of Y")
          .Input(2, "Index", "the second output of MaxPoolWithIndex")
          .Output(0, "dX", "the gradient of X")
          .IdenticalTypeAndShapeOfInput(0)
          .SetDoc(
              "The gradient of MaxPoolWithIndex: the gradient of each window is added to the "
              "element with its index.");
  DeclareWindowArguments(gradient, WindowUse::kPool);
  RegisterCpuOperator<MaxPoolWithIndexOp<CPUContext, true>>("MaxPoolWithIndexGradient", __FILE__);
  RegisterGradient<GetMaxPoolWithIndexGradient>("MaxPoolWithIndex", __FILE__);
}

}  // namespace caffe2rt
