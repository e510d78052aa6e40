#include "operators/detection/roi_pool.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Sets the pixels of the rows of bins of a RoI, then those of the columns, once for all planes.
void FillSpans(const RoiGeometry& g, const PoolWindow& window, PoolSpan* spans) {
  for (int64_t r = 0; r < g.pooled_h; ++r) *spans++ = window.rows.Span(r);
  for (int64_t c = 0; c < g.pooled_w; ++c) *spans++ = window.columns.Span(c);
}

// Writes the bins of one plane.
void PoolPlane(const RoiGeometry& g, const PoolSpan* spans, const float* plane, float* y,
               int32_t* argmax) {
  for (int64_t r = 0; r < g.pooled_h; ++r) {
    const PoolSpan rows = spans[r];
    for (int64_t c = 0; c < g.pooled_w; ++c) {
      const PoolSpan columns = spans[g.pooled_h + c];
      const bool empty = rows.first >= rows.last || columns.first >= columns.last;
      float largest = empty ? 0 : std::numeric_limits<float>::lowest();
      int64_t at = -1;
      for (int64_t h = rows.first; h < rows.last; ++h) {
        for (int64_t i = h * g.width + columns.first; i < h * g.width + columns.last; ++i) {
          if (!(plane[i] > largest)) continue;
          largest = plane[i];
          at = i;
        }
      }
      *y++ = largest;
      if (argmax != nullptr) *argmax++ = static_cast<int32_t>(at);
    }
  }
}

int PiecesOf(int64_t rows, int64_t elements) {
  constexpr int64_t kElementsPerPiece = 16384;
  return static_cast<int>(
      std::min({int64_t{GetNumThreads()}, rows, elements / kElementsPerPiece + 1}));
}

template <bool kHasTest>
class GetRoIPoolGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(kHasTest ? "RoIPoolGradient" : "RoIPoolFGradient", "",
                             std::vector<std::string>{I(0), I(1), O(1), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

std::vector<TensorShape> InferRoiPool(const OperatorDef& def, const std::vector<TensorShape>& in) {
  return InferRoiOutput(def, in, ReadRoiPool);
}

template <bool kHasTest>
void RegisterMaxPool(const std::string& type, const char* doc) {
  OpSchema& schema = RegisterSchema(type, __FILE__)
                         .NumInputs(2)
                         .NumOutputs(kHasTest ? 1 : 2, 2)
                         .Args(kRoiPoolSpatialScale, kRoiPoolPooledH, kRoiPoolPooledW)
                         .Input(0, "X", "[N, C, H, W]")
                         .Input(1, "RoIs", "[R, 5]: image, x1, y1, x2, y2")
                         .Output(0, "Y", "[R, C, pooled_h, pooled_w]")
                         .Output(1, "argmaxes",
                                 "int32 [R, C, pooled_h, pooled_w]: the index of the largest "
                                 "element in its plane, or -1 for an empty bin")
                         .TensorInferenceFunction(InferRoiPool)
                         .SetDoc(doc);
  if constexpr (kHasTest) schema.Args(kStorageOrder, kRoiPoolIsTest);
  RegisterCpuOperator<RoIPoolOp<CPUContext, kHasTest>>(type, __FILE__);

  const std::string gradient = type + "Gradient";
  OpSchema& gradient_schema = RegisterSchema(gradient, __FILE__)
                                  .NumInputs(4)
                                  .NumOutputs(1)
                                  .Args(kRoiPoolSpatialScale, kRoiPoolPooledH, kRoiPoolPooledW)
                                  .Input(0, "X", "the input of the pool; only its shape is used")
                                  .Input(1, "RoIs", "the RoIs of the pool")
                                  .Input(2, "argmaxes", "the second output of the pool")
                                  .Input(3, "dY", "the gradient of Y")
                                  .Output(0, "dX", "the gradient of X")
                                  .IdenticalTypeAndShapeOfInput(0)
                                  .SetDoc("The gradient of " + type + ".");
  if constexpr (kHasTest) gradient_schema.Args(kStorageOrder, kRoiPoolIsTest);
  RegisterCpuOperator<RoIPoolGradientOp<CPUContext, kHasTest>>(gradient, __FILE__);
  RegisterGradient<GetRoIPoolGradient<kHasTest>>(type, __FILE__);
}

}  // namespace

void MaxPoolRois(CPUContext&, const RoiGeometry& g, const float* x, const float* rois, float* y,
                 int32_t* argmax) {
  const int pieces = PiecesOf(g.rois, g.out_elements());
  ParallelFor(pieces, [&](int piece) {
    std::array<PoolSpan, 64> few;
    std::vector<PoolSpan> many;  // so that RoIs with few bins need no memory
    PoolSpan* spans = few.data();
    const size_t count = static_cast<size_t>(g.pooled_h + g.pooled_w);
    if (count > few.size()) {
      many.resize(count);
      spans = many.data();
    }
    for (int64_t r = g.rois * piece / pieces; r < g.rois * (piece + 1) / pieces; ++r) {
      PoolWindow window;
      CheckRoiFault(PlacePool(g, rois + r * 5, /*by_position=*/false, &window), r, g.batch);
      FillSpans(g, window, spans);
      for (int64_t c = 0; c < g.channels; ++c) {
        const int64_t plane = r * g.channels + c;
        PoolPlane(g, spans, x + (window.image * g.channels + c) * g.pixels(), y + plane * g.bins(),
                  argmax == nullptr ? nullptr : argmax + plane * g.bins());
      }
    }
  });
}

void MaxPoolRoisGradient(CPUContext&, const RoiGeometry& g, const float* rois, const float* dy,
                         const int32_t* argmax, float* dx) {
  std::fill_n(dx, g.in_elements(), 0.0f);
  const int pieces = PiecesOf(g.channels, g.out_elements());
  ParallelFor(pieces, [&](int piece) {
    const int64_t first = g.channels * piece / pieces, last = g.channels * (piece + 1) / pieces;
    for (int64_t r = 0; r < g.rois; ++r) {
      int64_t image = 0;
      CheckRoiFault(ImageOfRoi(rois + r * 5, true, g.batch, &image), r, g.batch);
      for (int64_t c = first; c < last; ++c) {
        float* const plane = dx + (image * g.channels + c) * g.pixels();
        const int64_t from = (r * g.channels + c) * g.bins();
        for (int64_t i = from; i < from + g.bins(); ++i) {
          if (argmax[i] == -1) continue;  // an empty bin
          CAFFE_ENFORCE(0 <= argmax[i] && argmax[i] < g.pixels(), "input 2 (argmaxes) has value ",
                        argmax[i], ", want -1 to ", g.pixels() - 1);
          plane[argmax[i]] += dy[i];
        }
      }
    }
  });
}

RoiGeometry ReadMaxRoiPool(const ArgumentHelper& args, bool has_test, int outputs) {
  const RoiGeometry geometry = ReadRoiPool(args);
  if (!has_test) return geometry;
  CAFFE_ENFORCE(ReadStorageOrder(args) == StorageOrder::NCHW, "argument order is NHWC, want NCHW");
  const bool is_test = args.Read(kRoiPoolIsTest);
  CAFFE_ENFORCE(outputs == 0 || outputs == (is_test ? 1 : 2), "number of outputs is ", outputs,
                ", want ", is_test ? "1 with argument is_test" : "2 without argument is_test");
  return geometry;
}

void CheckRoiPlane(const RoiGeometry& geometry) {
  CAFFE_ENFORCE(std::in_range<int32_t>(geometry.pixels()), "planes of input 0 (X) have ",
                geometry.pixels(), " elements, want at most 2147483647");
}

void RegisterRoiPool() {
  RegisterMaxPool<true>("RoIPool",
                        "Divides regions of interest into bins and returns the largest element of "
                        "X in each bin. Bins touch pixels at their edges.");
  RegisterMaxPool<false>("RoIPoolF",
                         "RoIPool with both outputs: the largest element of X in each bin of a "
                         "region of interest, and its index.");
}

}  // namespace caffe2rt
