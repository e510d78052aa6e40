// MaxPool, MaxPool1D, MaxPool2D, MaxPool3D on CUDA.

#include <limits>

#include "operators/pool/windows.cuh"

namespace caffe2rt {

namespace {

// Accumulates the largest element that is not NaN, and the first element.
struct Largest {
  struct State {
    float largest;
    float first;
    bool empty;
  };
  // Joins the states of parts of a run. `first` is not used: FinishRun reads the first element.
  struct Join {
    CAFFE2RT_HOST_DEVICE State operator()(State a, const State& b) const {
      if (b.largest > a.largest) a.largest = b.largest;
      return a;
    }
  };
  static constexpr const char* kName = "MaxPool";

  bool first_wins;
  float lowest;

  CAFFE2RT_HOST_DEVICE State Start() const {
    return {-std::numeric_limits<float>::infinity(), 0, true};
  }
  CAFFE2RT_HOST_DEVICE void Add(float x, State& state) const {
    if (state.empty) state.first = x;
    state.empty = false;
    if (x > state.largest) state.largest = x;
  }
  CAFFE2RT_HOST_DEVICE float Finish(const State& state, float, float) const {
    if (first_wins && state.first != state.first) return state.first;
    return state.largest > lowest ? state.largest : lowest;
  }
  // A run of nothing but NaN gives NaN, unless `lowest` is finite.
  CAFFE2RT_HOST_DEVICE float FinishRun(const State& state, const float* x, int64_t) const {
    const float nothing = -std::numeric_limits<float>::infinity();
    const bool keeps = first_wins || (state.largest == nothing && lowest == nothing);
    if (keeps && x[0] != x[0]) return x[0];
    return state.largest > lowest ? state.largest : lowest;
  }
};

}  // namespace

void RunMaxPool(CUDAContext& context, const PoolPlan& plan, const float* x, float* y) {
  internal::RunPool(context, plan, Largest{plan.first_wins, plan.lowest}, x, y);
}

}  // namespace caffe2rt
