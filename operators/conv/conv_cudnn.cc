// Convolutions and their gradients by cuDNN's legacy API: descriptors, algorithm and workspace size,
// cached by shape. Which of cuDNN's APIs computes a convolution.
//
// A transposed convolution is the data gradient of the convolution from its output to its input.
// Conversely, the gradient of X is a transposed convolution of dY.
// Products are computed in full float precision unless allow_tf32 is set.

#include <algorithm>
#include <optional>
#include <vector>

#include "caffe2_core/base/byte_size.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/conv/conv_graph_cudnn.h"
#include "operators/conv/conv_search_cudnn.h"
#include "operators/conv/cuda_conv.h"
#include "operators/conv/directions_cudnn.h"

namespace caffe2rt {

namespace {

SearchResults& FoundAlgorithms() {
  static auto* const results = new SearchResults;
  return *results;
}

template <class Direction>
class Plan final : public CudaConvPlan {
 public:
  using Algorithm = typename Direction::Algorithm;
  using Result = typename Direction::Result;

  explicit Plan(const CudnnConvOptions& options) : options_(options) {}

  // Returns false and sets *reason if cuDNN does not support the shape. `filter` has the dimensions
  // in cuDNN's order: [outer, inner, kernel...].
  bool Make(CUDAContext& context, const CudnnWindow& window, const WindowGeometry& geometry,
            int64_t out_channels, int64_t group, const std::array<int, 5>& filter,
            std::string* reason) {
    const cudnnTensorFormat_t format = CudnnFormat(geometry.order);
    Describe(d_.in, format, window, window.Dims(geometry.batch, geometry.channels, window.in));
    Describe(d_.out, format, window, window.Dims(geometry.batch, out_channels, window.out));
    Describe(d_.bias, format, window, window.Dims(1, out_channels, {1, 1, 1}));
    CUDNN_ENFORCE(Cudnn().SetFilterNdDescriptor(d_.filter, CUDNN_DATA_FLOAT, format, window.rank(),
                                                filter.data()),
                  "filter of ", window.axes, " axes");
    CUDNN_ENFORCE(Cudnn().SetConvolutionNdDescriptor(d_.conv, window.axes, window.pad.data(),
                                                     window.stride.data(), window.dilation.data(),
                                                     CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                  "windows of a convolution");
    CUDNN_ENFORCE(Cudnn().SetConvolutionGroupCount(d_.conv, static_cast<int>(group)), "group ",
                  group);
    const bool allow_tf32 = context.allow_tf32();
    CUDNN_ENFORCE(
        Cudnn().SetConvolutionMathType(d_.conv, allow_tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH),
        "math type of a convolution");
    CUDNN_ENFORCE(Cudnn().SetActivationDescriptor(identity_, CUDNN_ACTIVATION_IDENTITY,
                                                  CUDNN_NOT_PROPAGATE_NAN, 0),
                  "identity activation");
    limit_ = WorkspaceLimit(context, options_);
    key_ = MakeConvKey(
        context, Direction::kDirection, options_,
        {window, geometry.order, geometry.batch, geometry.channels, out_channels, group});
    return options_.algorithm >= 0 ? Force(context, reason) : Ask(context, reason);
  }

  bool Run(CUDAContext& context, const float* x, const float* filter, const float* bias, float* y,
           std::string* reason) override {
    const ConvPointers pointers{x, filter, y};
    if (search_) Search(context, pointers);
    ConvWorkspace space{};
    if (!Allocate(context, &space, reason)) return false;
    const cudnnHandle_t handle = context.cudnn_handle();
    if (bias != nullptr && adds_bias_) {
      const cudnnStatus_t status =
          Direction::RunWithBias(handle, d_, pointers, algorithm_, space, identity_, bias);
      if (CUDNN_STATUS_CATEGORY(status) != CUDNN_STATUS_NOT_SUPPORTED) {
        CUDNN_ENFORCE(status, "convolution with bias by algorithm ", algorithm_);
        return true;
      }
      adds_bias_ = false;
    }
    const cudnnStatus_t status = Direction::Run(handle, d_, pointers, algorithm_, space);
    if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) {
      *reason = CudnnStatusText(status);
      return false;
    }
    CUDNN_ENFORCE(status, "convolution by algorithm ", algorithm_);
    if (bias == nullptr) return true;
    CUDNN_ENFORCE(Cudnn().AddTensor(handle, &kCudnnOne, d_.bias, bias, &kCudnnOne, d_.out, y),
                  "bias of a convolution");
    return true;
  }

 private:
  // Selects the first result that satisfies the options; returns false if none does.
  bool Take(CUDAContext& context, int count, const Result* results) {
    for (int i = 0; i < count; ++i) {
      if (results[i].status != CUDNN_STATUS_SUCCESS) continue;
      if (options_.deterministic && results[i].determinism != CUDNN_DETERMINISTIC) continue;
      if (Fits(context, results[i].algo)) return true;
    }
    return false;
  }

  // Selects the algorithm if it supports the shape within the workspace limit; returns false
  // otherwise.
  bool Fits(CUDAContext& context, Algorithm algorithm) {
    size_t nbytes = 0;
    const cudnnStatus_t status =
        Direction::WorkspaceSize(context.cudnn_handle(), d_, algorithm, &nbytes);
    if (status != CUDNN_STATUS_SUCCESS || nbytes > limit_) return false;
    algorithm_ = algorithm;
    workspace_nbytes_ = nbytes;
    adds_bias_ = Direction::MayAddBias(algorithm);
    return true;
  }

  bool Force(CUDAContext& context, std::string* reason) {
    CAFFE_ENFORCE_LT(options_.algorithm, Direction::kAlgorithms,
                     "argument force_algo, want one of cuDNN's algorithms");
    if (Fits(context, static_cast<Algorithm>(options_.algorithm))) return true;
    *reason = MakeString("algorithm ", options_.algorithm, " does not support this shape with ",
                         ByteSizeText(limit_), " of workspace");
    return false;
  }

  bool Ask(CUDAContext& context, std::string* reason) {
    std::vector<Result> results = NewResults(context);
    int count = 0;
    const cudnnStatus_t status = Direction::Ask(
        context.cudnn_handle(), d_, static_cast<int>(results.size()), &count, results.data());
    if (status == CUDNN_STATUS_SUCCESS && Take(context, count, results.data())) {
      search_ = options_.exhaustive_search;
      return true;
    }
    *reason = status == CUDNN_STATUS_SUCCESS
                  ? MakeString("none of ", count, " algorithms supports this shape with ",
                               ByteSizeText(limit_), " of workspace")
                  : CudnnStatusText(status);
    return false;
  }

  // The workspace of the algorithm. If memory is short, an algorithm with a smaller one is
  // selected; returns false and sets *reason if there is none.
  bool Allocate(CUDAContext& context, ConvWorkspace* space, std::string* reason) {
    while (workspace_nbytes_ > 0) {
      try {
        *space = {CudnnWorkspace(context, workspace_nbytes_), workspace_nbytes_};
        return true;
      } catch (const OutOfMemory& e) {
        if (options_.algorithm >= 0) throw;
        limit_ = workspace_nbytes_ / 2;
        if (!Ask(context, reason)) {
          *reason = e.message();
          return false;
        }
        search_ = false;
      }
    }
    return true;
  }

  static std::vector<Result> NewResults(CUDAContext& context) {
    int most = 0;
    CUDNN_ENFORCE(Direction::Count(context.cudnn_handle(), &most), "number of algorithms");
    return std::vector<Result>(static_cast<size_t>(std::max(most, Direction::kAlgorithms)));
  }

  // Times all algorithms on the data of this run, unless an equal convolution has been timed. If
  // none qualifies, the algorithm that the heuristics chose remains.
  void Search(CUDAContext& context, const ConvPointers& pointers) {
    search_ = false;
    if (const std::optional<int> found = FoundAlgorithms().Find(key_)) {
      (void)Fits(context, static_cast<Algorithm>(*found));
      return;
    }
    std::vector<Result> results = NewResults(context);
    ConvWorkspace space{nullptr, 0};
    if (const size_t nbytes = LargestWorkspace(context); nbytes > 0) {
      try {
        space = {CudnnWorkspace(context, nbytes), nbytes};
      } catch (const OutOfMemory&) {  // only algorithms without a workspace take part
      }
    }
    int count = 0;
    CUDNN_ENFORCE(Direction::Time(context.cudnn_handle(), d_, pointers, space,
                                  static_cast<int>(results.size()), &count, results.data()),
                  "search for the fastest algorithm");
    if (Take(context, count, results.data())) FoundAlgorithms().Add(key_, algorithm_);
  }

  // The largest workspace within the limit that an algorithm uses for this shape.
  size_t LargestWorkspace(CUDAContext& context) {
    size_t largest = 0;
    for (int i = 0; i < Direction::kAlgorithms; ++i) {
      size_t nbytes = 0;
      const cudnnStatus_t status =
          Direction::WorkspaceSize(context.cudnn_handle(), d_, static_cast<Algorithm>(i), &nbytes);
      if (status == CUDNN_STATUS_SUCCESS && nbytes <= limit_) largest = std::max(largest, nbytes);
    }
    return largest;
  }

  const CudnnConvOptions options_;
  ConvDescriptors d_;
  CudnnActivation identity_;
  Algorithm algorithm_ = {};
  size_t limit_ = 0;  // of the workspace
  size_t workspace_nbytes_ = 0;
  ConvKey key_;
  bool adds_bias_ = false;
  bool search_ = false;  // time the algorithms in the next run
};

// Whether the sizes that CudnnWindow does not check fit cuDNN's int.
bool FitsInt(const WindowGeometry& geometry, int64_t out_channels, int64_t weights,
             std::string* reason) {
  constexpr int64_t kLargest = std::numeric_limits<int>::max();
  const int64_t images = geometry.batch * out_channels;
  if (images <= kLargest && images * geometry.out_size() <= kLargest && weights <= kLargest) {
    return true;
  }
  *reason = "cuDNN supports fewer than 2^31 elements";
  return false;
}

// Returns false and sets *reason if cuDNN does not support the sizes of the shape, whose filter has
// outer * inner channels. `transposed`: the windows slide over Y.
template <class Shape>
bool MakeWindow(const Shape& shape, bool transposed, int64_t outer, int64_t inner,
                CudnnWindow* window, std::string* reason) {
  return CudnnWindow::Make(shape.window, transposed, window, reason) &&
         FitsInt(shape.window, shape.out_channels, outer * inner * shape.window.kernel_size(),
                 reason);
}

template <class Direction, class Shape>
std::unique_ptr<CudaConvPlan> NewPlan(CUDAContext& context, const Shape& shape,
                                      const CudnnConvOptions& options, int64_t outer, int64_t inner,
                                      std::string* reason) {
  CudnnWindow window;
  const bool transposed = std::is_same_v<Direction, CudnnBackwardData>;
  if (!MakeWindow(shape, transposed, outer, inner, &window, reason)) return nullptr;
  auto plan = std::make_unique<Plan<Direction>>(options);
  if (!plan->Make(context, window, shape.window, shape.out_channels, shape.group,
                  window.Dims(outer, inner, window.kernel), reason)) {
    return nullptr;
  }
  return plan;
}

// A plan of the backend API if it computes the shape and the options allow it, else one of the
// legacy API.
std::unique_ptr<CudaConvPlan> NewForwardPlan(CUDAContext& context, const ConvShape& shape,
                                             const CudnnConvOptions& options, std::string* reason) {
  const NewLegacyConv legacy = [shape, options](CUDAContext& in, std::string* why) {
    return NewPlan<CudnnForward>(in, shape, options, shape.out_channels, shape.in_group(), why);
  };
  if (options.algorithm < 0 && GlobalCudaLibraryOptions().cudnn_graph) {
    CudnnWindow window;
    if (!MakeWindow(shape, false, shape.out_channels, shape.in_group(), &window, reason)) {
      return nullptr;
    }
    std::unique_ptr<CudaConvPlan> plan = NewCudnnGraphConv(context, shape, window, options, legacy);
    if (plan != nullptr) return plan;
  }
  return legacy(context, reason);
}

// Copies X with its padding, then runs a plan without padding.
class PaddedPlan final : public CudaConvPlan {
 public:
  PaddedPlan(const WindowGeometry& from, const WindowGeometry& to,
             std::unique_ptr<CudaConvPlan> plan, Tensor* scratch)
      : from_(from), to_(to), plan_(std::move(plan)), padded_(scratch) {}

  bool Run(CUDAContext& context, const float* x, const float* filter, const float* bias, float* y,
           std::string* reason) override {
    padded_->Resize(from_.batch * from_.channels * to_.in_size());
    float* const padded = padded_->mutable_data<float>();
    CopyPadded(context, from_, to_, x, padded);
    return plan_->Run(context, padded, filter, bias, y, reason);
  }

 private:
  const WindowGeometry from_, to_;
  const std::unique_ptr<CudaConvPlan> plan_;
  Tensor* const padded_;
};

// Runs a plan without padding, which computes dX with its padding, and copies dX without it.
class CroppedPlan final : public CudaConvPlan {
 public:
  // `padded` and `x` are the geometries of dX.
  CroppedPlan(const WindowGeometry& padded, const WindowGeometry& x,
              std::unique_ptr<CudaConvPlan> plan, Tensor* scratch)
      : from_(padded), to_(x), plan_(std::move(plan)), padded_(scratch) {
    for (size_t i = 0; i < static_cast<size_t>(to_.axes); ++i) {
      from_.axis[i].pad_head = -to_.axis[i].pad_head;
    }
  }

  bool Run(CUDAContext& context, const float* dy, const float* filter, const float* bias, float* dx,
           std::string* reason) override {
    padded_->Resize(from_.batch * from_.channels * from_.in_size());
    float* const padded = padded_->mutable_data<float>();
    if (!plan_->Run(context, dy, filter, bias, padded, reason)) return false;
    CopyPadded(context, from_, to_, padded, dx);
    return true;
  }

 private:
  WindowGeometry from_;
  const WindowGeometry to_;
  const std::unique_ptr<CudaConvPlan> plan_;
  Tensor* const padded_;
};

// Whether an axis has padding that cannot be expressed as one non-negative number for both sides.
bool NeedsCopy(const WindowGeometry& geometry) {
  for (int i = 0; i < geometry.axes; ++i) {
    const WindowAxis& axis = geometry.axis[static_cast<size_t>(i)];
    if (axis.pad_head < 0 || !HasEvenPads(axis, axis.in, axis.out)) return true;
  }
  return false;
}

// The same windows over axes that contain their padding as elements.
WindowGeometry Padded(WindowGeometry geometry) {
  for (int i = 0; i < geometry.axes; ++i) {
    WindowAxis& axis = geometry.axis[static_cast<size_t>(i)];
    axis.in = (axis.out - 1) * axis.stride + axis.extent();
    axis.pad_head = axis.pad_tail = 0;
  }
  return geometry;
}

// Calls plan(shape), or plan(shape with its padding as elements) and then wrap(that geometry, plan)
// if the padding requires it.
template <class MakePlan, class Wrap>
std::unique_ptr<CudaConvPlan> PlanWithPadding(const ConvShape& shape, std::string* reason,
                                              const MakePlan& plan, const Wrap& wrap) {
  if (shape.window.axes > 3 || !NeedsCopy(shape.window)) return plan(shape);
  constexpr int64_t kMostGrowth = 4;
  ConvShape padded = shape;
  padded.window = Padded(shape.window);
  if (padded.window.in_size() / kMostGrowth > shape.window.in_size()) {
    *reason = MakeString("padding makes X more than ", kMostGrowth, " times as large");
    return nullptr;
  }
  std::unique_ptr<CudaConvPlan> inner = plan(padded);
  if (inner == nullptr) return nullptr;
  return wrap(padded.window, std::move(inner));
}

// For the directions that read X.
template <class MakePlan>
std::unique_ptr<CudaConvPlan> PlanFromX(const ConvShape& shape, Tensor* scratch,
                                        std::string* reason, const MakePlan& new_plan) {
  return PlanWithPadding(shape, reason, new_plan,
                         [&](const WindowGeometry& padded, std::unique_ptr<CudaConvPlan> plan) {
                           return std::make_unique<PaddedPlan>(shape.window, padded,
                                                               std::move(plan), scratch);
                         });
}

}  // namespace

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context, const ConvShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason) {
  return PlanFromX(shape, scratch, reason, [&](const ConvShape& of) {
    return NewForwardPlan(context, of, options, reason);
  });
}

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context,
                                           const ConvFilterGradientShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason) {
  return PlanFromX(shape.conv, scratch, reason, [&](const ConvShape& of) {
    return NewPlan<CudnnBackwardFilter>(context, of, options, of.out_channels, of.in_group(),
                                        reason);
  });
}

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context, const ConvDataGradientShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason) {
  return PlanWithPadding(
      shape.conv, reason,
      [&](const ConvShape& of) {
        return NewCudnnConv(context, Transposed(of), options, scratch, reason);
      },
      [&](const WindowGeometry& padded, std::unique_ptr<CudaConvPlan> plan) {
        return std::make_unique<CroppedPlan>(padded, shape.conv.window, std::move(plan), scratch);
      });
}

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context, const ConvTransposeShape& shape,
                                           const CudnnConvOptions& options, Tensor*,
                                           std::string* reason) {
  return NewPlan<CudnnBackwardData>(context, shape, options, shape.window.channels,
                                    shape.out_channels / shape.group, reason);
}

}  // namespace caffe2rt
