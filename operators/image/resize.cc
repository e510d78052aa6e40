// Resize: ONNX's operator (opset 19): resizes any dimensions of a tensor by nearest, linear or cubic
// interpolation.
//   X numbers, roi, scales (float), sizes (int64) (arguments, or inputs 1 to 3)  ->  Y
//
// Either scales or sizes have to be given, one number for each of the axes. resize_axis.h explains the
// modes. Interpolation is computed in float, in double for double and for integers of 32 and 64 bits;
// integers are rounded to nearest even and saturate. An input without elements counts as not given.

#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/strided_copy.h"
#include "operators/image/resize_axis.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<std::string> kResizeMode{"mode", "nearest", "nearest, linear or cubic"};
constexpr ArgumentSpec<std::string> kResizeCoordinates{
    "coordinate_transformation_mode", "half_pixel",
    "half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, "
    "tf_half_pixel_for_nn or tf_crop_and_resize"};
constexpr ArgumentSpec<std::string> kResizeRounding{
    "nearest_mode", "round_prefer_floor", "round_prefer_floor, round_prefer_ceil, floor or ceil"};
constexpr ArgumentSpec<std::string> kResizePolicy{
    "keep_aspect_ratio_policy", "stretch",
    "how sizes are meant: stretch, or not_larger or not_smaller with one scale for all axes"};
constexpr ArgumentSpec<bool> kResizeAntialias{
    "antialias", false, "1: linear and cubic filters are stretched if a dimension shrinks"};
constexpr ArgumentSpec<bool> kResizeExcludeOutside{"exclude_outside", false,
                                                   "1: elements outside the tensor have weight 0"};
constexpr ArgumentSpec<float> kResizeCubic{"cubic_coeff_a", -0.75f,
                                           "coefficient of the cubic filter"};
constexpr ArgumentSpec<float> kResizeExtrapolation{"extrapolation_value", 0.0f,
                                                   "tf_crop_and_resize: value outside the tensor"};
constexpr RepeatedArgumentSpec<int64_t> kResizeAxes{
    "axes",
    "dimensions that the numbers belong to; negative ones count from the end; default: all"};
constexpr RepeatedArgumentSpec<float> kResizeRoi{
    "roi", "tf_crop_and_resize: the beginnings, then the ends, in units of the dimensions"};
constexpr RepeatedArgumentSpec<float> kResizeScales{"scales", "new sizes over old ones, above 0"};
constexpr RepeatedArgumentSpec<int64_t> kResizeSizes{"sizes", "the new sizes"};

// The number of a name, whose place in the list it is. THROWS if it is not in the list.
template <class Enum>
Enum NamedMode(const ArgumentHelper& args, const ArgumentSpec<std::string>& spec,
               std::initializer_list<const char*> names) {
  const std::string name = args.Read(spec);
  const auto found = std::find(names.begin(), names.end(), name);
  CAFFE_ENFORCE(found != names.end(), "argument \"", spec.name, "\" is \"", name, "\", want ",
                spec.doc);
  return static_cast<Enum>(found - names.begin());
}

enum class AspectPolicy : uint8_t { kStretch, kNotLarger, kNotSmaller };

struct ResizeArguments {
  explicit ResizeArguments(const ArgumentHelper& args)
      : axes(args.Read(kResizeAxes)),
        sizes(args.Read(kResizeSizes)),
        roi(args.Read(kResizeRoi)),
        scales(args.Read(kResizeScales)),
        extrapolation(args.Read(kResizeExtrapolation)) {
    mode.filter = NamedMode<ResizeFilter>(args, kResizeMode, {"nearest", "linear", "cubic"});
    mode.rounding = NamedMode<ResizeRounding>(
        args, kResizeRounding, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
    mode.coordinates = NamedMode<ResizeCoordinates>(
        args, kResizeCoordinates,
        {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
         "tf_half_pixel_for_nn", "tf_crop_and_resize"});
    policy = NamedMode<AspectPolicy>(args, kResizePolicy, {"stretch", "not_larger", "not_smaller"});
    mode.antialias = args.Read(kResizeAntialias);
    mode.exclude_outside = args.Read(kResizeExcludeOutside);
    mode.cubic_a = args.Read(kResizeCubic);
    CAFFE_ENFORCE(!mode.antialias || mode.filter != ResizeFilter::kNearest,
                  "argument antialias is 1, want mode linear or cubic");
  }
  ResizeMode mode;
  AspectPolicy policy;
  const std::vector<int64_t> axes, sizes;
  const std::vector<float> roi, scales;
  const float extrapolation;
};

// The dimensions of the output, from scales or sizes.
class ResizePlan {
 public:
  // THROWS if the numbers do not fit the input.
  void Make(const ResizeArguments& arguments, IntArrayRef input, ArrayRef<float> roi,
            ArrayRef<float> scales, IntArrayRef sizes) {
    PlaceAxes(arguments.axes, static_cast<int64_t>(input.size()), &placed_);
    const size_t count = placed_.size();
    CAFFE_ENFORCE(
        (scales.size() == count && sizes.empty()) || (scales.empty() && sizes.size() == count),
        "scales are ", scales, " and sizes ", sizes, ", want either of them, for ", count, " axes");
    const bool crops = arguments.mode.coordinates == ResizeCoordinates::kTfCropAndResize;
    CAFFE_ENFORCE(!crops || roi.size() == 2 * count, "roi is ", roi,
                  ", want a begin and an end for each of ", count, " axes");
    axes_.clear();
    for (const int64_t dim : input) axes_.push_back({.in = dim, .out = dim});
    for (size_t i = 0; i < count; ++i) {
      ResizedAxis& axis = axes_[static_cast<size_t>(placed_[i])];
      if (scales.empty()) {
        SetSize(sizes[i], &axis);
      } else {
        SetScale(scales[i], &axis);
      }
      if (crops) axis.begin = roi[i], axis.end = roi[i + count];
    }
    if (!sizes.empty() && arguments.policy != AspectPolicy::kStretch) KeepRatio(arguments.policy);
    dims_.clear();
    for (const ResizedAxis& axis : axes_) {
      CAFFE_ENFORCE(axis.out == 0 || axis.in > 0, "a dimension of size 0 of input 0 of shape ",
                    input, " cannot be resized to ", axis.out);
      dims_.push_back(axis.out);
    }
    (void)CheckedProduct(dims_);
  }
  const std::vector<ResizedAxis>& axes() const { return axes_; }
  const std::vector<int64_t>& dims() const { return dims_; }

 private:
  static void SetScale(double scale, ResizedAxis* axis) {
    const double size = scale * static_cast<double>(axis->in);
    CAFFE_ENFORCE(scale > 0 && size < 0x1p62, "scale is ", scale, " for a dimension of size ",
                  axis->in, ", want above 0, and sizes that can be counted");
    axis->scale = scale;
    axis->out = ScaledSize(axis->in, scale);
  }
  static void SetSize(int64_t size, ResizedAxis* axis) {
    CAFFE_ENFORCE_GE(size, 0, "element of sizes");
    axis->out = size;
    axis->scale = axis->in > 0 ? static_cast<double>(size) / static_cast<double>(axis->in) : 1;
  }
  // One scale for all axes: the least or the largest.
  void KeepRatio(AspectPolicy policy) {
    double scale = axes_[static_cast<size_t>(placed_[0])].scale;
    for (const int64_t i : placed_) {
      const double other = axes_[static_cast<size_t>(i)].scale;
      scale = policy == AspectPolicy::kNotLarger ? std::min(scale, other) : std::max(scale, other);
    }
    for (const int64_t i : placed_) {
      ResizedAxis& axis = axes_[static_cast<size_t>(i)];
      axis.scale = scale;
      axis.out = static_cast<int64_t>(scale * static_cast<double>(axis.in) + 0.5);
    }
  }

  std::vector<int64_t> placed_, dims_;
  std::vector<ResizedAxis> axes_;
};

// A line of Y: the weighted sum of `taps` lines of X.
template <class T>
void SampleLine(int64_t inner, int taps, const int64_t* index, const float* weight, const T* x,
                T* y) {
  if (inner == 1) {
    T sum = 0;
    for (int t = 0; t < taps; ++t) sum += static_cast<T>(weight[t]) * x[index[t]];
    *y = sum;
    return;
  }
  const T w = static_cast<T>(weight[0]);
  const T* const line = x + index[0] * inner;
  if (taps == 2) {
    const T next_w = static_cast<T>(weight[1]);
    const T* const next = x + index[1] * inner;
    for (int64_t j = 0; j < inner; ++j) y[j] = w * line[j] + next_w * next[j];
    return;
  }
  for (int64_t j = 0; j < inner; ++j) y[j] = w * line[j];
  for (int t = 1; t < taps; ++t) {
    const T other_w = static_cast<T>(weight[t]);
    const T* const other = x + index[t] * inner;
    for (int64_t j = 0; j < inner; ++j) y[j] += other_w * other[j];
  }
}

// Y [outer, out, inner] from X [outer, in, inner].
template <class T>
void SampleAxis(int64_t outer, const ResizedAxis& axis, int64_t inner, const AxisSamples& samples,
                T extrapolation, const T* x, T* y) {
  const int taps = samples.taps;
  ParallelRanges(outer * axis.out, inner * taps, [&](int64_t first, int64_t last) {
    int64_t o = first % axis.out;
    const T* from = x + first / axis.out * axis.in * inner;
    for (int64_t line = first; line < last; ++line) {
      if (samples.outside[static_cast<size_t>(o)] != 0) {
        std::fill_n(y + line * inner, inner, extrapolation);
      } else {
        SampleLine(inner, taps, samples.indices.data() + o * taps,
                   samples.weights.data() + o * taps, from, y + line * inner);
      }
      if (++o == axis.out) {
        o = 0;
        from += axis.in * inner;
      }
    }
  });
}

// A number rounded and saturated.
template <class T, class From>
T RoundedTo(From value) {
  if constexpr (std::is_integral_v<T>) {
    const From rounded = std::nearbyint(value);
    constexpr From kLow = static_cast<From>(std::numeric_limits<T>::min());
    constexpr From kHigh = static_cast<From>(std::numeric_limits<T>::max());
    if (!(rounded > kLow)) return std::numeric_limits<T>::min();
    return rounded >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(rounded);
  } else {
    return T(value);
  }
}

class ResizeOp final : public Operator<CPUContext> {
 public:
  ResizeOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), arguments_(args()) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const ArrayRef<float> roi = Floats(1, "input 1 (roi)", arguments_.roi, &roi_);
    const ArrayRef<float> scales = Floats(2, "input 2 (scales)", arguments_.scales, &scales_);
    const IntArrayRef sizes = IntegersOf(*this, 3, "input 3 (sizes)", arguments_.sizes, &sizes_);
    plan_.Make(arguments_, X.sizes(), roi, scales, sizes);
    Tensor* const Y = Output(0);
    Y->Resize(plan_.dims());
    void* const y = OutputMemory(Y, X.dtype());
    if (Y->numel() == 0) return true;
    FindSamples();
    if (copies_) {
      CopySamples(X, y);
      return true;
    }
    return DispatchByType<float, uint8_t, float16, double, int8_t, int32_t, int64_t, int16_t,
                          uint16_t>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      constexpr bool kIsLarge =
          std::is_same_v<T, double> || (std::is_integral_v<T> && sizeof(T) >= 4);
      using Sum = std::conditional_t<kIsLarge, double, float>;
      Interpolate<T, Sum>(X.data<T>(), static_cast<T*>(y));
      return true;
    });
  }

 private:
  ArrayRef<float> Floats(int input, const char* subject, const std::vector<float>& argument,
                         std::vector<float>* values) {
    if (!IsGiven(*this, input)) return argument;
    const Tensor& tensor = Input(input);
    CAFFE_ENFORCE_LE(tensor.dim(), 1, "rank of ", subject, ", want a vector");
    DispatchByType<float, double, float16>(tensor.dtype(), subject, [&](auto element) {
      const auto* const data = tensor.data<decltype(element)>();
      values->clear();
      for (int64_t i = 0; i < tensor.numel(); ++i) values->push_back(static_cast<float>(data[i]));
    });
    return *values;
  }

  // Fills the tables of all dimensions unless they are those of the last run. Sets copies_.
  void FindSamples() {
    const std::vector<ResizedAxis>& axes = plan_.axes();
    const auto same = [](const ResizedAxis& a, const ResizedAxis& b) {
      return a.in == b.in && a.out == b.out && a.scale == b.scale && a.begin == b.begin &&
             a.end == b.end;
    };
    if (std::equal(axes.begin(), axes.end(), sampled_.begin(), sampled_.end(), same)) return;
    sampled_.clear();
    samples_.resize(axes.size());
    order_.clear();
    copies_ = arguments_.mode.filter == ResizeFilter::kNearest;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].IsIdentity()) continue;
      samples_[i].Fill(axes[i], arguments_.mode);
      copies_ = copies_ && !samples_[i].AnyOutside();
      order_.push_back(i);
    }
    // Dimensions that shrink most go first: the later passes have less to do. Of those that grow alike,
    // the inner ones go first: passes over outer dimensions add up whole lines.
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      const double ratio_a = static_cast<double>(axes[a].out) / static_cast<double>(axes[a].in);
      const double ratio_b = static_cast<double>(axes[b].out) / static_cast<double>(axes[b].in);
      if (ratio_a != ratio_b) return ratio_a < ratio_b;
      return ratio_a > 1 ? a > b : a < b;
    });
    sampled_ = axes;
  }

  // Nearest: moves elements of any type.
  void CopySamples(const Tensor& X, void* y) {
    const std::vector<ResizedAxis>& axes = plan_.axes();
    size_t total = 0;
    for (const ResizedAxis& axis : axes) total += static_cast<size_t>(axis.out);
    offsets_.resize(total);
    tables_.resize(axes.size());
    int64_t* table = offsets_.data();
    int64_t stride = 1;
    for (size_t i = axes.size(); i-- > 0;) {
      for (int64_t o = 0; o < axes[i].out; ++o)
        table[o] =
            (axes[i].IsIdentity() ? o : samples_[i].indices[static_cast<size_t>(o)]) * stride;
      tables_[i] = table;
      table += axes[i].out;
      stride *= axes[i].in;
    }
    CopyByTables(X.dtype(), plan_.dims(), tables_.data(), X.raw_data(), y);
  }

  // One pass for each dimension, between two buffers; the first reads X, the last writes Y.
  template <class T, class Sum>
  void Interpolate(const T* x, T* y) {
    const std::vector<ResizedAxis>& axes = plan_.axes();
    sizes_now_.clear();
    int64_t total = 1;
    for (const ResizedAxis& axis : axes) {
      sizes_now_.push_back(axis.in);
      total *= axis.in;
    }
    const Sum* from;
    if constexpr (std::is_same_v<T, Sum>) {
      from = x;
    } else {
      Sum* const converted = Buffer<Sum>(2, total);
      ParallelElements(total, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) converted[i] = static_cast<Sum>(x[i]);
      });
      from = converted;
    }
    for (size_t pass = 0; pass < order_.size(); ++pass) {
      const size_t i = order_[pass];
      const IntArrayRef now = sizes_now_;
      const int64_t outer = CheckedProduct(now.slice(0, i)),
                    inner = CheckedProduct(now.slice(i + 1));
      sizes_now_[i] = axes[i].out;
      total = CheckedMultiply(CheckedMultiply(outer, axes[i].out), inner);
      Sum* to = nullptr;
      if constexpr (std::is_same_v<T, Sum>) {
        if (pass + 1 == order_.size()) to = y;
      }
      if (to == nullptr) to = Buffer<Sum>(static_cast<int>(pass % 2), total);
      SampleAxis(outer, axes[i], inner, samples_[i], static_cast<Sum>(arguments_.extrapolation),
                 from, to);
      from = to;
    }
    if (from == reinterpret_cast<const Sum*>(y)) return;
    ParallelElements(total, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) y[i] = RoundedTo<T>(from[i]);
    });
  }
  template <class Sum>
  Sum* Buffer(int which, int64_t count) {
    buffers_[which].Resize({count});
    return buffers_[which].template mutable_data<Sum>();
  }

  const ResizeArguments arguments_;
  ResizePlan plan_;
  std::vector<float> roi_, scales_;
  std::vector<int64_t> sizes_, sizes_now_;
  bool copies_ = false;
  std::vector<ResizedAxis> sampled_;
  std::vector<AxisSamples> samples_;
  std::vector<size_t> order_;
  std::vector<int64_t> offsets_;
  std::vector<const int64_t*> tables_;
  Tensor buffers_[3] = {Tensor(CPU), Tensor(CPU), Tensor(CPU)};
};

std::vector<TensorShape> InferResize(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || MayBeGiven(def, in, 2) || MayBeGiven(def, in, 3))
    return {in.empty() ? UnknownShape() : UnknownShapeLike(in[0])};
  const ResizeArguments arguments{ArgumentHelper(def)};
  ResizePlan plan;
  // The region has no influence on the shape.
  const size_t count =
      arguments.axes.empty() ? static_cast<size_t>(in[0].dims_size()) : arguments.axes.size();
  const std::vector<float> roi(2 * count, 0.0f);
  plan.Make(arguments, GetDimsVector(in[0]), roi, arguments.scales, arguments.sizes);
  return {CreateTensorShape(plan.dims(), in[0].data_type())};
}

}  // namespace

void RegisterResize() {
  RegisterSchema("Resize", __FILE__)
      .NumInputs(1, 4)
      .NumOutputs(1)
      .Args(kResizeMode, kResizeCoordinates, kResizeRounding, kResizePolicy, kResizeAntialias,
            kResizeExcludeOutside, kResizeCubic, kResizeExtrapolation, kResizeAxes, kResizeRoi,
            kResizeScales, kResizeSizes)
      .Input(0, "X", "numbers of any shape; any type in mode nearest")
      .Input(1, "roi", "(optional) floats, instead of the argument")
      .Input(2, "scales", "(optional) floats, instead of the argument")
      .Input(3, "sizes", "(optional) int32 or int64, instead of the argument")
      .Output(0, "Y", "X resized")
      .TensorInferenceFunction(InferResize)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape depends on the values of its inputs"})
      .SetDoc(
          "Resizes any dimensions of a tensor by nearest, linear or cubic interpolation, with all "
          "modes of ONNX's Resize. Either scales or sizes are required.");
  RegisterCpuOperator<ResizeOp>("Resize", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("Resize", __FILE__);
}

}  // namespace caffe2rt
