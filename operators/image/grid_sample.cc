// GridSample: ONNX's operator (opset 22): reads X at the places of a grid.
//   X float or double [N, C, D1, ..., Dr], grid of the same type [N, O1, ..., Or, r]
//   ->  Y [N, C, O1, ..., Or]; r is 1 to 3
//
// A place has its last coordinate first (x, y, z) and runs from -1 to 1: with align_corners from the
// centre of the first element to that of the last one, otherwise between their outer borders. Modes are
// linear, cubic and nearest; places and elements outside are zero, those of the border, or reflected.

#include <algorithm>
#include <array>
#include <cmath>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr int kMostGridAxes = 3;
enum class GridPadding : uint8_t { kZeros, kBorder, kReflection };
enum class GridFilter : uint8_t { kNearest, kLinear, kCubic };

constexpr ArgumentSpec<std::string> kGridSampleMode{
    "mode",
    "linear",
    "linear (or bilinear), cubic (or bicubic) or nearest",
    {[](const std::string& mode) {
       return mode == "linear" || mode == "bilinear" || mode == "cubic" || mode == "bicubic" ||
              mode == "nearest";
     },
     "linear, bilinear, cubic, bicubic or nearest"}};
constexpr ArgumentSpec<std::string> kGridSamplePadding{
    "padding_mode",
    "zeros",
    "what lies outside: zeros, border or reflection",
    {[](const std::string& mode) {
       return mode == "zeros" || mode == "border" || mode == "reflection";
     },
     "zeros, border or reflection"}};
constexpr ArgumentSpec<bool> kGridSampleCorners{
    "align_corners", false, "1: -1 and 1 are the centres of the first and the last element"};

// Reflects a place at the borders until it lies between them.
double ReflectPlace(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  double distance = std::fmod(std::abs(x - low), 2 * range);
  if (distance > range) distance = 2 * range - distance;
  return low + distance;
}

// How places are read along one dimension.
struct GridAxis {
  int64_t size, stride;
  GridPadding padding;
  bool align_corners;

  double low() const { return align_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(size) - (align_corners ? 1 : 0.5); }
  // The place of a coordinate. A place far outside, or NaN, is moved near.
  double Place(double coordinate, bool round) const {
    const double n = static_cast<double>(size);
    double x = align_corners ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
    if (!std::isfinite(x)) x = std::isnan(x) ? -2 : std::clamp(x, -2.0, n + 1);
    if (round) x = std::nearbyint(x);
    if (padding == GridPadding::kBorder) return std::clamp(x, 0.0, n - 1);
    if (padding == GridPadding::kReflection) {
      if (x < low() || x > high()) x = ReflectPlace(x, low(), high());
      return x;
    }
    return std::clamp(x, -4.0, n + 3);
  }
  // The offset of an element, or -1 where there is a zero.
  int64_t Offset(int64_t index) const {
    if (index >= 0 && index < size) return index * stride;
    if (padding == GridPadding::kZeros) return -1;
    if (padding == GridPadding::kReflection)
      index = static_cast<int64_t>(ReflectPlace(static_cast<double>(index), low(), high()));
    return std::clamp<int64_t>(index, 0, size - 1) * stride;
  }
};

// The elements and weights of a place along one dimension.
struct GridTaps {
  int count;
  std::array<int64_t, 4> offsets;
  std::array<double, 4> weights;

  GridTaps() = default;
  GridTaps(const GridAxis& axis, GridFilter filter, double coordinate) {
    const double place = axis.Place(coordinate, filter == GridFilter::kNearest);
    const double floor = std::floor(place), ratio = place - floor;
    const int64_t base = static_cast<int64_t>(floor);
    count = filter == GridFilter::kNearest ? 1 : filter == GridFilter::kLinear ? 2 : 4;
    const int64_t first = filter == GridFilter::kCubic ? base - 1 : base;
    for (int i = 0; i < count; ++i) offsets[static_cast<size_t>(i)] = axis.Offset(first + i);
    if (filter == GridFilter::kNearest) {
      weights[0] = 1;
    } else if (filter == GridFilter::kLinear) {
      weights[0] = 1 - ratio;
      weights[1] = ratio;
    } else {
      weights = {Far(ratio + 1), Near(ratio), Near(1 - ratio), Far(2 - ratio)};
    }
  }
  // The cubic filter with coefficient -0.75, up to distance 1 and beyond.
  static double Near(double x) { return (1.25 * x - 2.25) * x * x + 1; }
  static double Far(double x) { return ((-0.75 * x + 3.75) * x - 6) * x + 3; }
};

class GridSampleOp final : public Operator<CPUContext> {
 public:
  GridSampleOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), align_corners_(ReadArgument(kGridSampleCorners)) {
    const std::string mode = ReadArgument(kGridSampleMode);
    filter_ = mode == "nearest"                      ? GridFilter::kNearest
              : mode == "cubic" || mode == "bicubic" ? GridFilter::kCubic
                                                     : GridFilter::kLinear;
    const std::string padding = ReadArgument(kGridSamplePadding);
    padding_ = padding == "border"       ? GridPadding::kBorder
               : padding == "reflection" ? GridPadding::kReflection
                                         : GridPadding::kZeros;
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& grid = Input(1);
    const int rank = X.dim() - 2;
    CAFFE_ENFORCE(rank >= 1 && rank <= kMostGridAxes, "rank of input 0 (X) of shape ", X.sizes(),
                  ", want 3 to ", 2 + kMostGridAxes);
    CAFFE_ENFORCE(grid.dim() == X.dim() && grid.dim(0) == X.dim(0) && grid.dim(rank + 1) == rank,
                  "input 1 (grid) has shape ", grid.sizes(), ", want [", X.dim(0), ", ..., ", rank,
                  "] with the rank of input 0 (X) of shape ", X.sizes());
    CAFFE_ENFORCE(grid.dtype() == X.dtype(), "input 1 (grid) has elements of type ",
                  grid.dtype().name(), ", want ", X.dtype().name(), " as input 0 (X)");
    dims_.assign({X.dim(0), X.dim(1)});
    dims_.insert(dims_.end(), grid.dims().begin() + 1, grid.dims().end() - 1);
    return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
      return RunWith<decltype(element)>(X, grid);
    });
  }

 private:
  template <class T>
  bool RunWith(const Tensor& X, const Tensor& grid) {
    T* const y = OutputData<T>(0, dims_);
    const int rank = X.dim() - 2;
    const int64_t batch = X.dim(0), channels = X.dim(1), plane = X.size_from_dim(2);
    const int64_t places = grid.numel() / std::max<int64_t>(batch * rank, 1);
    if (batch * channels * places == 0) return true;
    CAFFE_ENFORCE_GT(plane, 0, "elements of an image of input 0 (X) of shape ", X.sizes());
    const T* const x = X.data<T>();
    const T* const coordinates = grid.data<T>();
    std::array<GridAxis, kMostGridAxes> axes{};
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      axes[static_cast<size_t>(i)] = {X.dim(i + 2), stride, padding_, align_corners_};
      stride *= X.dim(i + 2);
    }
    ParallelRanges(batch * places, 16 * channels, [&](int64_t first, int64_t last) {
      for (int64_t p = first; p < last; ++p) {
        std::array<GridTaps, kMostGridAxes> taps;
        for (int i = 0; i < rank; ++i) {
          const T at = coordinates[p * rank + rank - 1 - i];
          taps[static_cast<size_t>(i)] =
              GridTaps(axes[static_cast<size_t>(i)], filter_, static_cast<double>(at));
        }
        const int64_t n = p / places, place = p % places;
        for (int64_t c = 0; c < channels; ++c) {
          y[(n * channels + c) * places + place] =
              static_cast<T>(SumOfTaps(taps.data(), rank, x + (n * channels + c) * plane));
        }
      }
    });
    return true;
  }

  // The weighted sum over the taps of the first dimension, of those of the others.
  template <class T>
  static double SumOfTaps(const GridTaps* taps, int rank, const T* x) {
    double sum = 0;
    for (int i = 0; i < taps->count; ++i) {
      const int64_t offset = taps->offsets[static_cast<size_t>(i)];
      if (offset < 0) continue;
      sum +=
          taps->weights[static_cast<size_t>(i)] *
          (rank == 1 ? static_cast<double>(x[offset]) : SumOfTaps(taps + 1, rank - 1, x + offset));
    }
    return sum;
  }

  const bool align_corners_;
  GridFilter filter_;
  GridPadding padding_;
  std::vector<int64_t> dims_;
};

}  // namespace

void RegisterGridSample() {
  RegisterSchema("GridSample", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kGridSampleMode, kGridSamplePadding, kGridSampleCorners)
      .Input(0, "X", "float or double [N, C, D1, ..., Dr], r from 1 to 3")
      .Input(1, "grid", "[N, O1, ..., Or, r], the type of X: places from -1 to 1, last axis first")
      .Output(0, "Y", "[N, C, O1, ..., Or]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2) || in[0].dims_size() < 3 || in[1].dims_size() != in[0].dims_size())
          return UnknownOutputs(def);
        std::vector<int64_t> dims = {in[0].dims(0), in[0].dims(1)};
        for (int i = 1; i + 1 < in[1].dims_size(); ++i) dims.push_back(in[1].dims(i));
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kOther})
      .SetDoc("Reads a tensor at the places of a grid, as ONNX's GridSample does.");
  RegisterCpuOperator<GridSampleOp>("GridSample", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("GridSample", __FILE__);
}

}  // namespace caffe2rt
