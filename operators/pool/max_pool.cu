// MaxPool, MaxPool1D, MaxPool2D, MaxPool3D, MaxPoolWithIndex and their gradients on CUDA.

#include <limits>

#include "operators/pool/windows.cuh"
#include "operators/primitives/half.cuh"

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

struct LargestGradient {
  using Value = float;
  static constexpr const char* kName = "MaxPoolGradient";

  CAFFE2RT_HOST_DEVICE float Start() const { return 0; }
  template <class Term>
  CAFFE2RT_HOST_DEVICE void Add(const Term& term, float& sum) const {
    if (term.x == term.y) sum += term.dy;
  }
  CAFFE2RT_HOST_DEVICE float Finish(float sum, float) const { return sum; }
};

// The axes of planes of NCHW.
struct PlaneAxes {
  internal::PoolAxis<int64_t> depth, height, width;
  explicit PlaneAxes(const PoolPlan& plan)
      : depth(plan.axis[0]), height(plan.axis[1]), width(plan.axis[2]) {}
  CAFFE2RT_HOST_DEVICE int64_t in_size() const { return depth.in * height.in * width.in; }
  CAFFE2RT_HOST_DEVICE int64_t out_size() const { return depth.out * height.out * width.out; }
};

// A thread computes one window.
template <class T>
struct WindowWithIndex {
  PlaneAxes axes;
  float lowest;
  const T* x;
  T* y;
  int32_t* index;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const auto w = axes.width.Elements(i % axes.width.out);
    int64_t rest = i / axes.width.out;
    const auto h = axes.height.Elements(rest % axes.height.out);
    rest /= axes.height.out;
    const auto d = axes.depth.Elements(rest % axes.depth.out);
    const T* const plane = x + i / axes.out_size() * axes.in_size();
    float largest = lowest;
    int64_t at = -1;
    for (int64_t z = d.first; z < d.last; ++z) {
      for (int64_t r = h.first; r < h.last; ++r) {
        const int64_t row = (z * axes.height.in + r) * axes.width.in;
        for (int64_t k = row + w.first; k < row + w.last; ++k) {
          const float value = math::Load(plane[k]);
          if (!(value > largest)) continue;
          largest = value;
          at = k;
        }
      }
    }
    math::Store(largest, y + i);
    index[i] = static_cast<int32_t>(at);
  }
};

// A thread computes the gradient of one element from the windows that contain it.
template <class T>
struct ElementByIndex {
  PlaneAxes axes;
  const T* dy;
  const int32_t* index;
  T* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const auto w = axes.width.Windows(i % axes.width.in);
    int64_t rest = i / axes.width.in;
    const auto h = axes.height.Windows(rest % axes.height.in);
    rest /= axes.height.in;
    const auto d = axes.depth.Windows(rest % axes.depth.in);
    const int64_t plane = i / axes.in_size(), place = i - plane * axes.in_size();
    float sum = 0;
    for (int64_t z = d.first; z < d.last; ++z) {
      for (int64_t r = h.first; r < h.last; ++r) {
        const int64_t row = plane * axes.out_size() + (z * axes.height.out + r) * axes.width.out;
        for (int64_t k = row + w.first; k < row + w.last; ++k) {
          if (index[k] == place) sum += math::Load(dy[k]);
        }
      }
    }
    math::Store(sum, dx + i);
  }
};

template <class T>
void PoolWithIndex(CUDAContext& context, const PoolPlan& plan, float lowest, const T* x, T* y,
                   int32_t* index) {
  const WindowWithIndex<T> window{PlaneAxes(plan), lowest, x, y, index};
  ForEach(context, plan.batch * plan.channels * window.axes.out_size(), window, "MaxPoolWithIndex");
}
template <class T>
void AddByIndex(CUDAContext& context, const PoolPlan& plan, const T* dy, const int32_t* index,
                T* dx) {
  const ElementByIndex<T> element{PlaneAxes(plan), dy, index, dx};
  ForEach(context, plan.batch * plan.channels * element.axes.in_size(), element,
          "MaxPoolWithIndexGradient");
}

}  // namespace

void RunMaxPool(CUDAContext& context, const PoolPlan& plan, const float* x, float* y) {
  internal::RunPool(context, plan, Largest{plan.first_wins, plan.lowest}, x, y);
}

void RunMaxPoolGradient(CUDAContext& context, const PoolPlan& plan, const PoolGradientData& data) {
  internal::RunPoolGradient(context, plan, LargestGradient{}, data);
}

void RunMaxPoolWithIndex(CUDAContext& context, const PoolPlan& plan, const float* x, float* y,
                         int32_t* index) {
  PoolWithIndex(context, plan, std::numeric_limits<float>::lowest(), x, y, index);
}
void RunMaxPoolWithIndex(CUDAContext& context, const PoolPlan& plan, const float16* x, float16* y,
                         int32_t* index) {
  PoolWithIndex(context, plan, kLowestFloat16, x, y, index);
}

void RunMaxPoolWithIndexGradient(CUDAContext& context, const PoolPlan& plan, const float* dy,
                                 const int32_t* index, float* dx, ThreadScratch*) {
  AddByIndex(context, plan, dy, index, dx);
}
void RunMaxPoolWithIndexGradient(CUDAContext& context, const PoolPlan& plan, const float16* dy,
                                 const int32_t* index, float16* dx, ThreadScratch*) {
  AddByIndex(context, plan, dy, index, dx);
}

}  // namespace caffe2rt
