#include "operators/conv/conv_graph_cudnn.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "caffe2_core/base/logging.h"
#include "contexts/cuda/cuda_graph.h"
#include "operators/conv/conv_operations_cudnn.h"
#include "operators/conv/conv_search_cudnn.h"
#include "operators/conv/execution_plans_cudnn.h"
#include "operators/math/cuda.h"

namespace caffe2rt {

namespace {

constexpr size_t kMostTimedPlans = 8;

SearchResults& FoundEngines() {
  static auto* const results = new SearchResults;
  return *results;
}

// A plan that may be chosen. If it does not add the bias, a native kernel does.
struct Candidate {
  CudnnExecutionPlan execution;
  bool adds_bias;
};

// The pointers of one run. `bias` may be null.
struct ConvArguments {
  const float* x;
  const float* filter;
  const float* bias;
  float* y;
};

bool IsAligned(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % kCudnnTensorAlignment == 0;
}
bool AreAligned(const ConvArguments& run) {
  return IsAligned(run.x) && IsAligned(run.filter) && IsAligned(run.bias) && IsAligned(run.y);
}

// What cuDNN reads and writes in one execution. The bias is null if the plan does not add it.
struct Bound {
  std::array<const void*, 4> tensors{};  // X, filter, Y, bias
  void* workspace = nullptr;
  bool operator==(const Bound&) const = default;
};

CudnnDescriptor NewVariantPack(const Bound& bound) {
  static constexpr int64_t kIds[] = {kCudnnConvX, kCudnnConvFilter, kCudnnConvY, kCudnnConvBias};
  const size_t count = bound.tensors[3] == nullptr ? 3 : 4;
  std::array<void*, 4> pointers{};
  for (size_t i = 0; i < count; ++i) pointers[i] = const_cast<void*>(bound.tensors[i]);
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const int64_t>(kIds, count));
  pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void* const>(pointers.data(), count));
  pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, bound.workspace);
  pack.Finalize();
  return pack;
}

class TimedEvent {
 public:
  TimedEvent() { CUDA_ENFORCE(cudaEventCreate(&event_)); }
  ~TimedEvent() { LogCudaError(cudaEventDestroy(event_), "cudaEventDestroy"); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// Measures the time of work on a stream.
class StreamTimer {
 public:
  explicit StreamTimer(const CudaStream& stream) : stream_(stream) {}
  void Begin() { CUDA_ENFORCE(RecordEvent(begin_.get(), stream_)); }
  // Waits for the work since Begin, and returns its time.
  float EndMilliseconds() {
    float milliseconds = 0;
    CUDA_ENFORCE(RecordEvent(end_.get(), stream_));
    CUDA_ENFORCE(WaitForWork(stream_));
    CUDA_ENFORCE(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return milliseconds;
  }

 private:
  const CudaStream& stream_;
  const TimedEvent begin_, end_;
};

class ConvGraphPlan final : public CudaConvPlan {
 public:
  ConvGraphPlan(const CUDAContext& context, const ConvShape& shape, const CudnnWindow& window,
                const CudnnConvOptions& options, NewLegacyConv legacy)
      : shape_(shape),
        window_(window),
        options_(options),
        new_legacy_(std::move(legacy)),
        limit_(WorkspaceLimit(context, options)),
        search_(options.exhaustive_search) {}

  // Returns false if no engine qualifies. The fallback engines are slow, so the graph without the bias
  // is tried before those that would add it.
  bool Make(CUDAContext& context) {
    candidates_.clear();
    if (shape_.bias) AddCandidates(context, true, {CUDNN_HEUR_MODE_A});
    AddCandidates(context, false, {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK});
    return !candidates_.empty();
  }

  bool Run(CUDAContext& context, const float* x, const float* filter, const float* bias, float* y,
           std::string* reason) override {
    const ConvArguments run{x, filter, bias, y};
    if (!candidates_.empty() && AreAligned(run) && (bias != nullptr) == shape_.bias) {
      if (search_ && RecordingOfThread() == nullptr) Search(context, run);
      void* workspace = nullptr;
      if (Allocate(context, &workspace) && Execute(context, candidates_.front(), run, workspace)) {
        return true;
      }
      candidates_.clear();
    }
    if (legacy_ == nullptr) legacy_ = new_legacy_(context, reason);
    return legacy_ != nullptr && legacy_->Run(context, x, filter, bias, y, reason);
  }

 private:
  // Adds plans for the graph with or without the bias until there are enough.
  void AddCandidates(CUDAContext& context, bool adds_bias,
                     std::initializer_list<cudnnBackendHeurMode_t> modes) {
    const size_t most = search_ ? kMostTimedPlans : 1;
    std::optional<CudnnConvGraph>& made = graphs_[adds_bias ? 1 : 0];
    for (const cudnnBackendHeurMode_t mode : modes) {
      if (candidates_.size() == most) return;
      const cudnnHandle_t handle = context.cudnn_handle();
      if (!made.has_value()) made = NewForwardGraph(handle, shape_, window_, adds_bias);
      for (CudnnExecutionPlan& plan : FindExecutionPlans(
               handle, made->graph, mode, {context.allow_tf32(), options_.deterministic, limit_},
               most - candidates_.size())) {
        candidates_.push_back({std::move(plan), adds_bias});
      }
    }
  }

  // The workspace of the chosen plan. If memory is short, a plan with a smaller one is chosen;
  // returns false if there is none.
  bool Allocate(CUDAContext& context, void** workspace) {
    while (true) {
      const size_t nbytes = candidates_.front().execution.workspace_nbytes;
      if (nbytes == 0) return true;
      try {
        *workspace = CudnnWorkspace(context, nbytes);
        return true;
      } catch (const OutOfMemory&) {
        limit_ = nbytes / 2;
        search_ = false;
        if (!Make(context)) return false;
      }
    }
  }

  // Returns false, which is logged, if cuDNN rejects the run.
  bool Execute(CUDAContext& context, const Candidate& candidate, const ConvArguments& run,
               void* workspace) {
    const Bound bound{{run.x, run.filter, run.y, candidate.adds_bias ? run.bias : nullptr},
                      workspace};
    if (!pack_.has_value() || !(bound == bound_)) {
      pack_.emplace(NewVariantPack(bound));  // cuDNN does not let a finalized one change
      bound_ = bound;
    }
    const cudnnStatus_t status =
        ExecuteCudnnPlan(context.cudnn_handle(), candidate.execution.plan, *pack_);
    if (status != CUDNN_STATUS_SUCCESS) {
      VLOG(1) << "a plan of cuDNN's backend API failed: " << CudnnStatusText(status);
      return false;
    }
    if (run.bias != nullptr && !candidate.adds_bias) AddBias(context, run);
    return true;
  }

  void AddBias(CUDAContext& context, const ConvArguments& run) {
    const int64_t pixels = shape_.window.out_size();
    math::internal::CudaAffineChannel<float>(
        context, shape_.window.batch * shape_.out_channels * pixels, shape_.out_channels,
        shape_.channels_last() ? 1 : pixels, run.y, nullptr, run.bias, run.y);
  }

  // Times the candidates on the data of this run, unless those of an equal convolution have been
  // timed, and keeps the fastest.
  void Search(CUDAContext& context, const ConvArguments& run) {
    search_ = false;
    ConvKey key = MakeConvKey(context, ConvDirection::kForward, options_,
                              {window_, shape_.window.order, shape_.window.batch,
                               shape_.window.channels, shape_.out_channels, shape_.group});
    key.push_back(shape_.bias);
    const auto count = static_cast<int>(candidates_.size());
    std::optional<int> fastest = FoundEngines().Find(key);
    if (!fastest.has_value()) {
      fastest = Fastest(context, run);
      if (fastest.has_value()) FoundEngines().Add(key, *fastest);
    }
    if (!fastest.has_value() || *fastest >= count) return;
    std::swap(candidates_.front(), candidates_[static_cast<size_t>(*fastest)]);
    candidates_.erase(candidates_.begin() + 1, candidates_.end());
  }

  // The position of the fastest candidate; nothing if none runs. Of those that differ by less than the
  // times do from run to run, the one that cuDNN lists first.
  std::optional<int> Fastest(CUDAContext& context, const ConvArguments& run) {
    constexpr float kLeastGain = 0.97f;
    StreamTimer timer(context.stream());
    std::optional<int> fastest;
    float least = std::numeric_limits<float>::max();
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const std::optional<float> milliseconds = Time(context, candidates_[i], run, &timer);
      if (!milliseconds.has_value() || *milliseconds >= least * kLeastGain) continue;
      least = *milliseconds;
      fastest = static_cast<int>(i);
    }
    return fastest;
  }

  // The time of a few runs after a first one; nothing if memory is short or cuDNN rejects a run.
  std::optional<float> Time(CUDAContext& context, const Candidate& candidate,
                            const ConvArguments& run, StreamTimer* timer) {
    constexpr int kRuns = 5;
    void* workspace = nullptr;
    try {
      workspace = CudnnWorkspace(context, candidate.execution.workspace_nbytes);
    } catch (const OutOfMemory&) {
      return std::nullopt;
    }
    if (!Execute(context, candidate, run, workspace)) return std::nullopt;
    timer->Begin();
    for (int i = 0; i < kRuns; ++i) {
      if (!Execute(context, candidate, run, workspace)) return std::nullopt;
    }
    return timer->EndMilliseconds();
  }

  const ConvShape shape_;
  const CudnnWindow window_;
  const CudnnConvOptions options_;
  const NewLegacyConv new_legacy_;
  std::unique_ptr<CudaConvPlan> legacy_;                 // null until a run needs it
  std::array<std::optional<CudnnConvGraph>, 2> graphs_;  // without and with the bias
  std::vector<Candidate> candidates_;    // the first one runs; empty after a failure
  size_t limit_;                         // of the workspace
  bool search_;                          // time the candidates in the next run
  std::optional<CudnnDescriptor> pack_;  // of the last run, with the pointers `bound_`
  Bound bound_;
};

}  // namespace

std::unique_ptr<CudaConvPlan> NewCudnnGraphConv(CUDAContext& context, const ConvShape& shape,
                                                const CudnnWindow& window,
                                                const CudnnConvOptions& options,
                                                NewLegacyConv legacy) {
  if (!HasCudnnBackend()) return nullptr;
  auto plan = std::make_unique<ConvGraphPlan>(context, shape, window, options, std::move(legacy));
  if (plan->Make(context)) return plan;
  VLOG(1) << "no engine of cuDNN's backend API computes a convolution; the legacy API does";
  return nullptr;
}

}  // namespace caffe2rt
