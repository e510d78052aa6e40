// LC, LC1D, LC2D, LC3D: locally connected layers, which are convolutions with a filter for each
// output position.
//   X [N, C, in...], filter [out..., M, C, kernel...], optional bias [out..., M]
//   ->  Y [N, M, out...]
// In NHWC: X [N, in..., C], filter [out..., M, kernel..., C], Y [N, out..., M].
//
// LCGradient, LC1DGradient, LC2DGradient, LC3DGradient: the gradients of their inputs, with the
// inputs and outputs of ConvGradient (conv_gradient.h).
//
// An output position ("place") multiplies its window of all images by its filter in one GEMM. Its
// results have the same bits for every number of threads.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/common/inference.h"
#include "operators/common/window_arguments.h"
#include "operators/conv/conv_arguments.h"
#include "operators/conv/conv_gradient.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

// Images whose gradients of X are computed together.
constexpr int64_t kLcImages = 8;

struct LcShape {
  WindowGeometry window;
  int64_t out_channels = 0;
  std::vector<int64_t> y, bias;  // dims
};

// THROWS if the shapes do not match.
LcShape MakeLcShape(const WindowArguments& window, IntArrayRef x, IntArrayRef filter) {
  CAFFE_ENFORCE_EQ(window.group, 1, "argument group of a locally connected layer");
  LcShape shape;
  shape.window = MakeWindowGeometry(window, x);
  const WindowGeometry& geometry = shape.window;
  const size_t axes = static_cast<size_t>(geometry.axes);
  CAFFE_ENFORCE_EQ(filter.size(), 2 * axes + 2, "rank of input 1 (filter) of shape ", filter,
                   ", want that of input 0 (X) and one dim for each axis of the output");
  shape.out_channels = filter[axes];
  for (size_t i = 0; i < axes; ++i) shape.bias.push_back(geometry.axis[i].out);
  shape.bias.push_back(shape.out_channels);
  std::vector<int64_t> want = shape.bias;
  for (size_t i = 0; i < axes; ++i) want.push_back(geometry.axis[i].kernel);
  want.insert(geometry.order == StorageOrder::NHWC ? want.end()
                                                   : want.begin() + static_cast<int64_t>(axes) + 1,
              geometry.channels);
  CAFFE_ENFORCE(filter == IntArrayRef(want), "input 1 (filter) has shape ", filter, ", want ", want,
                ": the output's axes and channels, then a filter");
  shape.y = geometry.OutputDims(shape.out_channels);
  (void)CheckedProduct(shape.y);
  return shape;
}

// The layer for one shape. A column is the window of a place in one image, in a filter's order.
class LcPlan {
 public:
  // REQUIRES: neither X nor Y is empty.
  explicit LcPlan(const LcShape& shape)
      : last_(shape.window.order == StorageOrder::NHWC),
        images_(shape.window.batch),
        channels_(shape.window.channels),
        pixels_(shape.window.in_size()),
        out_channels_(shape.out_channels),
        places_(shape.window.out_size()),
        taps_(shape.window.kernel_size()),
        depth_(CheckedMultiply(taps_, channels_)),
        pixel_of_(static_cast<size_t>(CheckedMultiply(places_, taps_))) {
    for (int64_t place = 0; place < places_; ++place) Locate(shape.window, place);
  }

  // `bias` may be null.
  void Run(const float* x, const float* filter, const float* bias, float* y) {
    ForEach(places_, images_, [&](int64_t place, float* columns, float* results) {
      for (int64_t n = 0; n < images_; ++n) {
        Fill(x, n, place, columns + n * depth_);
        if (bias != nullptr) {
          std::copy_n(bias + place * out_channels_, out_channels_, results + n * out_channels_);
        }
      }
      Sgemm(false, true, images_, out_channels_, depth_, 1.f, columns, depth_,
            FilterOf(place, filter), depth_, bias != nullptr ? 1.f : 0.f, results, out_channels_);
      for (int64_t n = 0; n < images_; ++n) {
        for (int64_t m = 0; m < out_channels_; ++m) {
          y[OutputAt(n, m, place)] = results[n * out_channels_ + m];
        }
      }
    });
  }

  // `dbias` may be null.
  void RunFilterGradient(const float* x, const float* dy, float* dfilter, float* dbias) {
    ForEach(places_, images_, [&](int64_t place, float* columns, float* rows) {
      for (int64_t n = 0; n < images_; ++n) Fill(x, n, place, columns + n * depth_);
      CopyRows(dy, place, 0, images_, rows);
      Sgemm(true, false, out_channels_, depth_, images_, 1.f, rows, out_channels_, columns, depth_,
            0.f, FilterOf(place, dfilter), depth_);
      if (dbias == nullptr) return;
      float* const sums = dbias + place * out_channels_;
      std::fill_n(sums, out_channels_, 0.f);
      for (int64_t i = 0; i < images_ * out_channels_; ++i) sums[i % out_channels_] += rows[i];
    });
  }

  void RunInputGradient(const float* filter, const float* dy, float* dx) {
    std::fill_n(dx, images_ * channels_ * pixels_, 0.f);
    const int64_t blocks = (images_ - 1) / kLcImages + 1;
    ForEach(blocks, std::min(images_, kLcImages), [&](int64_t block, float* columns, float* rows) {
      const int64_t first = block * kLcImages, count = std::min(kLcImages, images_ - first);
      for (int64_t place = 0; place < places_; ++place) {
        CopyRows(dy, place, first, count, rows);
        Sgemm(false, false, count, depth_, out_channels_, 1.f, rows, out_channels_,
              FilterOf(place, filter), depth_, 0.f, columns, depth_);
        for (int64_t n = 0; n < count; ++n) Add(columns + n * depth_, first + n, place, dx);
      }
    });
  }

 private:
  // Sets the input pixel of each tap of the window at `place`, -1 for padding: the taps of each
  // axis multiply those of the axes before it.
  void Locate(const WindowGeometry& window, int64_t place) {
    std::array<int64_t, kMaxWindowAxes> start;
    int64_t rest = place;
    for (size_t i = static_cast<size_t>(window.axes); i-- > 0;) {
      const WindowAxis& axis = window.axis[i];
      start[i] = rest % axis.out * axis.stride - axis.pad_head;
      rest /= axis.out;
    }
    int64_t* const pixels = pixel_of_.data() + place * taps_;
    int64_t count = 1;
    pixels[0] = 0;
    for (size_t i = 0; i < static_cast<size_t>(window.axes); ++i) {
      const WindowAxis& axis = window.axis[i];
      for (int64_t tap = count; tap-- > 0;) {
        const int64_t outer = pixels[tap];
        for (int64_t k = axis.kernel; k-- > 0;) {
          const int64_t at = start[i] + k * axis.dilation;
          const bool inside = outer >= 0 && at >= 0 && at < axis.in;
          pixels[tap * axis.kernel + k] = inside ? outer * axis.in + at : -1;
        }
      }
      count *= axis.kernel;
    }
  }

  template <class Float>
  Float* FilterOf(int64_t place, Float* filter) const {
    return filter + place * out_channels_ * depth_;
  }
  int64_t OutputAt(int64_t n, int64_t m, int64_t place) const {
    return last_ ? (n * places_ + place) * out_channels_ + m
                 : (n * out_channels_ + m) * places_ + place;
  }

  // rows [count, M] = the gradients of `place` in images [first, first + count).
  void CopyRows(const float* dy, int64_t place, int64_t first, int64_t count, float* rows) const {
    for (int64_t n = first; n < first + count; ++n) {
      for (int64_t m = 0; m < out_channels_; ++m) *rows++ = dy[OutputAt(n, m, place)];
    }
  }

  // Calls function(x) in the order of a column, with the index of each element in an image, or -1.
  template <class F>
  void ForEachElement(int64_t place, const F& function) const {
    const int64_t* const pixels = pixel_of_.data() + place * taps_;
    if (last_) {
      for (int64_t t = 0; t < taps_; ++t) {
        for (int64_t c = 0; c < channels_; ++c) {
          function(pixels[t] < 0 ? -1 : pixels[t] * channels_ + c);
        }
      }
    } else {
      for (int64_t c = 0; c < channels_; ++c) {
        for (int64_t t = 0; t < taps_; ++t) {
          function(pixels[t] < 0 ? -1 : c * pixels_ + pixels[t]);
        }
      }
    }
  }
  void Fill(const float* x, int64_t image, int64_t place, float* column) const {
    x += image * channels_ * pixels_;
    ForEachElement(place, [&](int64_t at) { *column++ = at < 0 ? 0.f : x[at]; });
  }
  void Add(const float* column, int64_t image, int64_t place, float* x) const {
    x += image * channels_ * pixels_;
    ForEachElement(place, [&](int64_t at) {
      if (at >= 0) x[at] += *column;
      ++column;
    });
  }

  // Calls function(task, columns, rows) for tasks [0, count) on the threads of the pool, with
  // memory for `images` columns and as many rows of M.
  template <class F>
  void ForEach(int64_t count, int64_t images, const F& function) {
    const double work = static_cast<double>(images_) * static_cast<double>(places_) *
                        static_cast<double>(depth_) * static_cast<double>(out_channels_);
    const int pieces =
        work < kGemmWorthCutting ? 1 : static_cast<int>(std::min<int64_t>(GetNumThreads(), count));
    const int64_t columns = AlignedFloats(CheckedMultiply(images, depth_));
    const PieceScratch scratch =
        scratch_.ForPieces(pieces, CheckedAdd(columns, CheckedMultiply(images, out_channels_)));
    ParallelFor(pieces, [&](int piece) {
      for (int64_t task = piece; task < count; task += pieces) {
        function(task, scratch[piece], scratch[piece] + columns);
      }
    });
  }

  const bool last_;
  const int64_t images_, channels_, pixels_, out_channels_, places_, taps_, depth_;
  std::vector<int64_t> pixel_of_;  // [places, taps]
  ThreadScratch scratch_;
};

// The plan of an operator, which is made again for other shapes.
class LcPlanner {
 public:
  explicit LcPlanner(const OperatorBase& op)
      : window_(ParseWindowArguments(op.args(), WindowUse::kConv)) {}

  void Plan(const Tensor& X, const Tensor& filter) {
    if (!x_dims_.empty() && X.dims() == x_dims_ && filter.dims() == filter_dims_) return;
    x_dims_.clear();  // if a check below throws, the next run plans again
    plan_ = nullptr;
    shape_ = MakeLcShape(window_, X.sizes(), filter.sizes());
    if (X.numel() > 0 && CheckedProduct(shape_.y) > 0) plan_ = std::make_unique<LcPlan>(shape_);
    x_dims_ = X.dims();
    filter_dims_ = filter.dims();
  }
  const LcShape& shape() const { return shape_; }
  LcPlan* plan() { return plan_.get(); }  // null if X or Y is empty

 private:
  const WindowArguments window_;
  LcShape shape_;
  std::unique_ptr<LcPlan> plan_;
  std::vector<int64_t> x_dims_, filter_dims_;  // the shapes that were planned
};

class LcOp final : public Operator<CPUContext> {
 public:
  LcOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws), planner_(*this) {}

  bool RunOnDevice() override {
    const float* const x = Input(0).data<float>();
    const float* const filter = Input(1).data<float>();
    planner_.Plan(Input(0), Input(1));
    const float* bias = nullptr;
    if (InputSize() > 2) {
      bias = Input(2).data<float>();
      CAFFE_ENFORCE(Input(2).dims() == planner_.shape().bias, "input 2 (bias) has shape ",
                    Input(2).sizes(), ", want ", planner_.shape().bias,
                    ": the output's axes and channels");
    }
    float* const y = OutputData<float>(0, planner_.shape().y);
    if (planner_.plan() != nullptr) planner_.plan()->Run(x, filter, bias, y);
    return true;
  }

 private:
  LcPlanner planner_;
};

class LcGradientOp final : public Operator<CPUContext> {
 public:
  LcGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        outputs_(FindConvGradientOutputs(ReadArgument(kConvGradientNoBias) != 0, def.input_size(),
                                         def.output_size())),
        planner_(*this) {}

  bool RunOnDevice() override {
    const float* const x = Input(0).data<float>();
    const float* const filter = Input(1).data<float>();
    const float* const dy = Input(2).data<float>();
    planner_.Plan(Input(0), Input(1));
    const LcShape& shape = planner_.shape();
    CAFFE_ENFORCE(Input(2).dims() == shape.y, "input 2 (dY) has shape ", Input(2).sizes(),
                  ", want ", shape.y, ": the shape of the output of the forward operator");
    float* const dfilter = Gradient(0, Input(1).sizes());
    float* const dbias = Gradient(outputs_.bias, shape.bias);
    float* const dx = Gradient(outputs_.x, Input(0).sizes());
    if (planner_.plan() == nullptr) return true;
    planner_.plan()->RunFilterGradient(x, dy, dfilter, dbias);
    if (dx != nullptr) planner_.plan()->RunInputGradient(filter, dy, dx);
    return true;
  }

 private:
  // Returns null if there is no such output.
  float* Gradient(int position, IntArrayRef dims) {
    if (position < 0) return nullptr;
    float* const data = OutputData<float>(position, dims);
    if (planner_.plan() == nullptr) std::fill_n(data, Output(position)->numel(), 0.f);
    return data;
  }

  const ConvGradientPositions outputs_;
  LcPlanner planner_;
};

LcShape LcShapeOf(const OperatorDef& def, const std::vector<TensorShape>& in) {
  return MakeLcShape(ParseWindowArguments(ArgumentHelper(def), WindowUse::kConv),
                     GetDimsVector(in[0]), GetDimsVector(in[1]));
}

std::vector<TensorShape> InferLc(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return {UnknownShapeOf(TensorProto::FLOAT)};
  return {CreateTensorShape(LcShapeOf(def, in).y, TensorProto::FLOAT)};
}

std::vector<TensorShape> InferLcGradient(const OperatorDef& def,
                                         const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out(static_cast<size_t>(def.output_size()),
                               UnknownShapeOf(TensorProto::FLOAT));
  if (in.size() < 2) return out;
  const ConvGradientPositions positions = FindConvGradientOutputs(
      ArgumentHelper(def).Read(kConvGradientNoBias) != 0, def.input_size(), def.output_size());
  const auto set = [&](int position, const std::vector<int64_t>& dims) {
    if (position < 0) return;
    out[static_cast<size_t>(position)] = CreateTensorShape(dims, TensorProto::FLOAT);
  };
  if (AreKnown(in, 2)) (void)LcShapeOf(def, in);  // checks them
  if (IsKnown(in[1])) {
    // [out..., M, ...], of which out... and M are half.
    std::vector<int64_t> dims = GetDimsVector(in[1]);
    set(0, dims);
    dims.resize(dims.size() / 2);
    set(positions.bias, dims);
  }
  if (IsKnown(in[0])) set(positions.x, GetDimsVector(in[0]));
  return out;
}

// Each element of a filter is multiplied once for each image, and twice as often for the gradients.
template <bool kGradient>
OpSchema::Cost LcCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, kGradient ? 3 : 2) || in[0].dims_size() == 0) return cost;
  const uint64_t images = static_cast<uint64_t>(in[0].dims(0)), weights = NumElements(in[1]);
  const uint64_t biases = kGradient || in.size() < 3 || !IsKnown(in[2]) ? 0 : NumElements(in[2]);
  cost.flops = images * (2 * weights * (kGradient ? 2 : 1) + biases);
  cost.params_bytes = (weights + biases) * sizeof(float);
  for (const TensorShape& shape : in) {
    if (IsKnown(shape)) cost.bytes_read += NumElements(shape) * sizeof(float);
  }
  for (const TensorShape& shape : kGradient ? InferLcGradient(def, in) : InferLc(def, in)) {
    cost.bytes_written += NumElements(shape) * sizeof(float);
  }
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

OpSchema& DeclareLc(const std::string& type) {
  OpSchema& schema = RegisterSchema(type, __FILE__);
  DeclareWindowArguments(schema, WindowUse::kConv);
  return schema.Arg(kConvNoGradientToInput).FloatInputs(3);
}

}  // namespace

void RegisterLc() {
  for (const std::string type : {"LC", "LC1D", "LC2D", "LC3D"}) {
    DeclareLc(type)
        .NumInputs(2, 3)
        .NumOutputs(1)
        .TensorInferenceFunction(InferLc)
        .CostInferenceFunction(LcCost<false>)
        .Traits({.family = OperatorFamily::kConv, .writes_float = true, .has_weights = true})
        .SetDoc(
            "Computes a locally connected layer: a convolution that has a filter and a bias for "
            "each position of the output. group must be 1.")
        .Input(0, "X", "input, [N, C, H, W] or [N, H, W, C]; the number of spatial axes may differ")
        .Input(1, "filter",
               "weights, [out..., M, C, kernel...] in NCHW, [out..., M, kernel..., C] in NHWC")
        .Input(2, "bias", "optional bias, [out..., M]")
        .Output(0, "Y", "result, in the layout of X, with M channels");
    RegisterCpuOperator<LcOp>(type, __FILE__);
    DeclareLc(type + "Gradient")
        .NumInputs(2, 3)
        .NumOutputs(1, 3)
        .Arg(kConvGradientNoBias)
        .TensorInferenceFunction(InferLcGradient)
        .CostInferenceFunction(LcCost<true>)
        .SetDoc(MakeString("Computes the gradients of the inputs of ", type,
                           ". The arguments are those of the forward operator. With no_bias, "
                           "output 1 is dX."))
        .Input(0, "X", "input of the forward operator")
        .Input(1, "filter", "weights of the forward operator")
        .Input(2, "dY", "gradient of the output of the forward operator; required")
        .Output(0, "dfilter", "gradient of the filter")
        .Output(1, "dbias", "gradient of the bias, [out..., M]; absent with no_bias")
        .Output(2, "dX", "(optional) gradient of X");
    RegisterCpuOperator<LcGradientOp>(type + "Gradient", __FILE__);
    RegisterConvGradientMaker(type, __FILE__);
  }
}

}  // namespace caffe2rt
