// Convolutions and their gradients by cuDNN's legacy API: descriptors, algorithm and workspace size,
// cached by shape.
//
// A transposed convolution is the data gradient of the convolution from its output to its input.
// Conversely, the gradient of X is a transposed convolution of dY.
// Products are computed in full float precision unless allow_tf32 is set.

#include <vector>

#include "contexts/cuda/cuda_context.h"
#include "operators/common/descriptors_cudnn.h"
#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

namespace {

// The descriptors that all directions use.
struct Descriptors {
  CudnnTensor in, out, bias;
  CudnnFilter filter;
  CudnnConvolution conv;
};
struct Pointers {
  const float* in;
  const float* filter;
  float* out;
};
struct Workspace {
  void* data;
  size_t nbytes;
};
constexpr float kOne = 1, kZero = 0;

// The directions: types and functions of cuDNN.
struct Forward {
  using Algorithm = cudnnConvolutionFwdAlgo_t;
  using Result = cudnnConvolutionFwdAlgoPerf_t;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;

  static cudnnStatus_t Ask(cudnnHandle_t handle, const Descriptors& d, int* count, Result* to) {
    return Cudnn().GetConvolutionForwardAlgorithm_v7(handle, d.in, d.filter, d.conv, d.out,
                                                     kAlgorithms, count, to);
  }
  static cudnnStatus_t Time(cudnnHandle_t handle, const Descriptors& d, const Pointers& p,
                            const Workspace& space, int* count, Result* to) {
    return Cudnn().FindConvolutionForwardAlgorithmEx(handle, d.in, p.in, d.filter, p.filter, d.conv,
                                                     d.out, p.out, kAlgorithms, count, to,
                                                     space.data, space.nbytes);
  }
  static cudnnStatus_t WorkspaceSize(cudnnHandle_t handle, const Descriptors& d,
                                     Algorithm algorithm, size_t* nbytes) {
    return Cudnn().GetConvolutionForwardWorkspaceSize(handle, d.in, d.filter, d.conv, d.out,
                                                      algorithm, nbytes);
  }
  static cudnnStatus_t Run(cudnnHandle_t handle, const Descriptors& d, const Pointers& p,
                           Algorithm algorithm, const Workspace& space) {
    return Cudnn().ConvolutionForward(handle, &kOne, d.in, p.in, d.filter, p.filter, d.conv,
                                      algorithm, space.data, space.nbytes, &kZero, d.out, p.out);
  }
  // Whether cuDNN can add the bias in the same call: only this algorithm supports it.
  static bool MayAddBias(Algorithm algorithm) {
    return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  }
  static cudnnStatus_t RunWithBias(cudnnHandle_t handle, const Descriptors& d, const Pointers& p,
                                   Algorithm algorithm, const Workspace& space,
                                   const CudnnActivation& identity, const float* bias) {
    return Cudnn().ConvolutionBiasActivationForward(
        handle, &kOne, d.in, p.in, d.filter, p.filter, d.conv, algorithm, space.data, space.nbytes,
        &kZero, d.out, p.out, d.bias, bias, identity, d.out, p.out);
  }
};

struct BackwardData {
  using Algorithm = cudnnConvolutionBwdDataAlgo_t;
  using Result = cudnnConvolutionBwdDataAlgoPerf_t;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT;

  static cudnnStatus_t Ask(cudnnHandle_t handle, const Descriptors& d, int* count, Result* to) {
    return Cudnn().GetConvolutionBackwardDataAlgorithm_v7(handle, d.filter, d.in, d.conv, d.out,
                                                          kAlgorithms, count, to);
  }
  static cudnnStatus_t Time(cudnnHandle_t handle, const Descriptors& d, const Pointers& p,
                            const Workspace& space, int* count, Result* to) {
    return Cudnn().FindConvolutionBackwardDataAlgorithmEx(handle, d.filter, p.filter, d.in, p.in,
                                                          d.conv, d.out, p.out, kAlgorithms, count,
                                                          to, space.data, space.nbytes);
  }
  static cudnnStatus_t WorkspaceSize(cudnnHandle_t handle, const Descriptors& d,
                                     Algorithm algorithm, size_t* nbytes) {
    return Cudnn().GetConvolutionBackwardDataWorkspaceSize(handle, d.filter, d.in, d.conv, d.out,
                                                           algorithm, nbytes);
  }
  static cudnnStatus_t Run(cudnnHandle_t handle, const Descriptors& d, const Pointers& p,
                           Algorithm algorithm, const Workspace& space) {
    return Cudnn().ConvolutionBackwardData(handle, &kOne, d.filter, p.filter, d.in, p.in, d.conv,
                                           algorithm, space.data, space.nbytes, &kZero, d.out,
                                           p.out);
  }
  static bool MayAddBias(Algorithm) { return false; }
  static cudnnStatus_t RunWithBias(cudnnHandle_t, const Descriptors&, const Pointers&, Algorithm,
                                   const Workspace&, const CudnnActivation&, const float*) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
};

// Reads X as p.in and dY as p.filter, and writes the gradient of the filter to p.out.
struct BackwardFilter {
  using Algorithm = cudnnConvolutionBwdFilterAlgo_t;
  using Result = cudnnConvolutionBwdFilterAlgoPerf_t;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;

  static cudnnStatus_t Ask(cudnnHandle_t handle, const Descriptors& d, int* count, Result* to) {
    return Cudnn().GetConvolutionBackwardFilterAlgorithm_v7(handle, d.in, d.out, d.conv, d.filter,
                                                            kAlgorithms, count, to);
  }
  static cudnnStatus_t Time(cudnnHandle_t handle, const Descriptors& d, const Pointers& p,
                            const Workspace& space, int* count, Result* to) {
    return Cudnn().FindConvolutionBackwardFilterAlgorithmEx(handle, d.in, p.in, d.out, p.filter,
                                                            d.conv, d.filter, p.out, kAlgorithms,
                                                            count, to, space.data, space.nbytes);
  }
  static cudnnStatus_t WorkspaceSize(cudnnHandle_t handle, const Descriptors& d,
                                     Algorithm algorithm, size_t* nbytes) {
    return Cudnn().GetConvolutionBackwardFilterWorkspaceSize(handle, d.in, d.out, d.conv, d.filter,
                                                             algorithm, nbytes);
  }
  static cudnnStatus_t Run(cudnnHandle_t handle, const Descriptors& d, const Pointers& p,
                           Algorithm algorithm, const Workspace& space) {
    return Cudnn().ConvolutionBackwardFilter(handle, &kOne, d.in, p.in, d.out, p.filter, d.conv,
                                             algorithm, space.data, space.nbytes, &kZero, d.filter,
                                             p.out);
  }
  static bool MayAddBias(Algorithm) { return false; }
  static cudnnStatus_t RunWithBias(cudnnHandle_t, const Descriptors&, const Pointers&, Algorithm,
                                   const Workspace&, const CudnnActivation&, const float*) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
};

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
    const bool allow_tf32 = GlobalCudaLibraryOptions().allow_tf32;
    CUDNN_ENFORCE(
        Cudnn().SetConvolutionMathType(d_.conv, allow_tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH),
        "math type of a convolution");
    CUDNN_ENFORCE(Cudnn().SetActivationDescriptor(identity_, CUDNN_ACTIVATION_IDENTITY,
                                                  CUDNN_NOT_PROPAGATE_NAN, 0),
                  "identity activation");
    return options_.algorithm >= 0 ? Force(context, reason) : Ask(context, reason);
  }

  bool Run(CUDAContext& context, const float* x, const float* filter, const float* bias, float* y,
           std::string* reason) override {
    const Pointers pointers{x, filter, y};
    if (search_) Search(context, pointers);
    const Workspace space{
        workspace_nbytes_ > 0 ? CudnnWorkspace(context, workspace_nbytes_) : nullptr,
        workspace_nbytes_};
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
    CUDNN_ENFORCE(Cudnn().AddTensor(handle, &kOne, d_.bias, bias, &kOne, d_.out, y),
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
    if (status != CUDNN_STATUS_SUCCESS || nbytes > options_.workspace_limit_bytes) return false;
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
                         options_.workspace_limit_bytes, " bytes of workspace");
    return false;
  }

  bool Ask(CUDAContext& context, std::string* reason) {
    Result results[Direction::kAlgorithms];
    int count = 0;
    const cudnnStatus_t status = Direction::Ask(context.cudnn_handle(), d_, &count, results);
    if (status == CUDNN_STATUS_SUCCESS && Take(context, count, results)) {
      search_ = options_.exhaustive_search;
      return true;
    }
    *reason = status == CUDNN_STATUS_SUCCESS
                  ? MakeString("none of ", count, " algorithms supports this shape with ",
                               options_.workspace_limit_bytes, " bytes of workspace")
                  : CudnnStatusText(status);
    return false;
  }

  // Times all algorithms once, on the data of this run. If none qualifies, the algorithm that the
  // heuristics chose remains.
  void Search(CUDAContext& context, const Pointers& pointers) {
    search_ = false;
    const size_t limit = options_.workspace_limit_bytes;
    const Workspace space{limit > 0 ? CudnnWorkspace(context, limit) : nullptr, limit};
    Result results[Direction::kAlgorithms];
    int count = 0;
    CUDNN_ENFORCE(Direction::Time(context.cudnn_handle(), d_, pointers, space, &count, results),
                  "search for the fastest algorithm");
    (void)Take(context, count, results);
  }

  const CudnnConvOptions options_;
  Descriptors d_;
  CudnnActivation identity_;
  Algorithm algorithm_ = {};
  size_t workspace_nbytes_ = 0;
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

template <class Direction, class Shape>
std::unique_ptr<CudaConvPlan> NewPlan(CUDAContext& context, const Shape& shape,
                                      const CudnnConvOptions& options, int64_t outer, int64_t inner,
                                      std::string* reason) {
  CudnnWindow window;
  const bool transposed = std::is_same_v<Direction, BackwardData>;
  if (!CudnnWindow::Make(shape.window, transposed, &window, reason)) return nullptr;
  const int64_t weights = outer * inner * shape.window.kernel_size();
  if (!FitsInt(shape.window, shape.out_channels, weights, reason)) return nullptr;
  auto plan = std::make_unique<Plan<Direction>>(options);
  if (!plan->Make(context, window, shape.window, shape.out_channels, shape.group,
                  window.Dims(outer, inner, window.kernel), reason)) {
    return nullptr;
  }
  return plan;
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

// The directions that read X.
template <class Direction>
std::unique_ptr<CudaConvPlan> PlanFromX(CUDAContext& context, const ConvShape& shape,
                                        const CudnnConvOptions& options, Tensor* scratch,
                                        std::string* reason) {
  return PlanWithPadding(
      shape, reason,
      [&](const ConvShape& of) {
        return NewPlan<Direction>(context, of, options, of.out_channels, of.in_group(), reason);
      },
      [&](const WindowGeometry& padded, std::unique_ptr<CudaConvPlan> plan) {
        return std::make_unique<PaddedPlan>(shape.window, padded, std::move(plan), scratch);
      });
}

}  // namespace

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context, const ConvShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason) {
  return PlanFromX<Forward>(context, shape, options, scratch, reason);
}

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context,
                                           const ConvFilterGradientShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason) {
  return PlanFromX<BackwardFilter>(context, shape.conv, options, scratch, reason);
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
  return NewPlan<BackwardData>(context, shape, options, shape.window.channels,
                               shape.out_channels / shape.group, reason);
}

}  // namespace caffe2rt
