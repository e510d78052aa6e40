// The backend API of the fake cuDNN: descriptors, graphs of a convolution and a bias, and engines.

#include <memory>
#include <string>

#include "cudnn/testing.h"

namespace cudnn_test {
namespace {

// A descriptor that is destroyed at the end.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    EXPECT_DNN(cudnnBackendCreateDescriptor(type, &descriptor_));
  }
  ~Descriptor() { Destroy(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void Destroy() {
    if (descriptor_ != nullptr) {
      EXPECT_DNN(cudnnBackendDestroyDescriptor(descriptor_));
    }
    descriptor_ = nullptr;
  }
  cudnnBackendDescriptor_t get() const { return descriptor_; }
  template <class T>
  cudnnStatus_t Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    const std::vector<T>& values) {
    return cudnnBackendSetAttribute(descriptor_, name, type, static_cast<int64_t>(values.size()),
                                    values.data());
  }
  cudnnStatus_t Ints(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
    return Set(name, CUDNN_TYPE_INT64, values);
  }
  cudnnStatus_t Child(cudnnBackendAttributeName_t name, const Descriptor& child) {
    return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::vector{child.get()});
  }
  cudnnStatus_t Finalize() { return cudnnBackendFinalize(descriptor_); }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

// NCHW, or NHWC if `last`, 16 bytes aligned. The id 'v' makes it virtual.
class TensorOf : public Descriptor {
 public:
  TensorOf(char id, const std::vector<int64_t>& dims, bool last = false)
      : Descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
    const int64_t c = dims[1], h = dims[2], w = dims[3];
    EXPECT_DNN(Ints(CUDNN_ATTR_TENSOR_UNIQUE_ID, {id}));
    EXPECT_DNN(Ints(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16}));
    EXPECT_DNN(
        Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector{CUDNN_DATA_FLOAT}));
    EXPECT_DNN(Ints(CUDNN_ATTR_TENSOR_DIMENSIONS, dims));
    EXPECT_DNN(Ints(CUDNN_ATTR_TENSOR_STRIDES, last
                                                   ? std::vector{c * h * w, int64_t{1}, w * c, c}
                                                   : std::vector{c * h * w, h * w, w, int64_t{1}}));
    const bool is_virtual = id == 'v';
    EXPECT_DNN(cudnnBackendSetAttribute(get(), CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1,
                                        &is_virtual));
    EXPECT_DNN(Finalize());
  }
};

struct Sizes {
  int64_t n, c, h, w, k, r, s, groups;
  std::vector<int64_t> pre, post;
  int64_t stride, dilation;
  int64_t out(size_t d) const {
    const int64_t in = d == 0 ? h : w, kernel = d == 0 ? r : s;
    return (in + pre[d] + post[d] - (kernel - 1) * dilation - 1) / stride + 1;
  }
};

// The descriptors of a convolution, with an addition of a bias if `biased`.
struct Graph {
  Graph(cudnnHandle_t handle, const Sizes& z, bool biased, bool last = false,
        cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD)
      : x('x', {z.n, z.c, z.h, z.w}, last),
        w('w', {z.k, z.c / z.groups, z.r, z.s}, last),
        y('y', {z.n, z.k, z.out(0), z.out(1)}, last),
        v('v', {z.n, z.k, z.out(0), z.out(1)}, last),
        b('b', {1, z.k, 1, 1}, last) {
    EXPECT_DNN(windows.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                           std::vector{CUDNN_DATA_FLOAT}));
    EXPECT_DNN(windows.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                           std::vector{CUDNN_CROSS_CORRELATION}));
    EXPECT_DNN(windows.Ints(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2}));
    EXPECT_DNN(windows.Ints(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, z.pre));
    EXPECT_DNN(windows.Ints(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, z.post));
    EXPECT_DNN(windows.Ints(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {z.stride, z.stride}));
    EXPECT_DNN(windows.Ints(CUDNN_ATTR_CONVOLUTION_DILATIONS, {z.dilation, z.dilation}));
    EXPECT_DNN(windows.Finalize());
    EXPECT_DNN(conv.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, windows));
    EXPECT_DNN(conv.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x));
    EXPECT_DNN(conv.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w));
    EXPECT_DNN(conv.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, biased ? v : y));
    EXPECT_DNN(conv.Finalize());
    EXPECT_DNN(add.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, std::vector{mode}));
    EXPECT_DNN(add.Finalize());
    EXPECT_DNN(plus.Child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add));
    EXPECT_DNN(plus.Child(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, v));
    EXPECT_DNN(plus.Child(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b));
    EXPECT_DNN(plus.Child(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y));
    EXPECT_DNN(plus.Finalize());
    std::vector<cudnnBackendDescriptor_t> operations = {conv.get()};
    if (biased) operations.push_back(plus.get());
    EXPECT_DNN(graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, std::vector{handle}));
    EXPECT_DNN(graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations));
    status = graph.Finalize();
  }

  TensorOf x, w, y, v, b;
  Descriptor windows{CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR};
  Descriptor conv{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR};
  Descriptor add{CUDNN_BACKEND_POINTWISE_DESCRIPTOR};
  Descriptor plus{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR};
  Descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
};

// The configurations that the heuristics return.
class Heuristics : public Descriptor {
 public:
  Heuristics(const Graph& graph, cudnnBackendHeurMode_t mode)
      : Descriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
    EXPECT_DNN(Child(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.graph));
    EXPECT_DNN(Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, std::vector{mode}));
    EXPECT_DNN(Finalize());
    EXPECT_DNN(cudnnBackendGetAttribute(get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &announced, nullptr));
    std::vector<cudnnBackendDescriptor_t> raw;
    for (int64_t i = 0; i < announced; ++i) {
      configs.push_back(std::make_unique<Descriptor>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
      raw.push_back(configs.back()->get());
    }
    int64_t count = 0;
    EXPECT_DNN(cudnnBackendGetAttribute(get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, announced, &count,
                                        raw.data()));
    configs.resize(static_cast<size_t>(count));
  }
  int64_t announced = 0;
  std::vector<std::unique_ptr<Descriptor>> configs;
};

class Plan : public Descriptor {
 public:
  Plan(cudnnHandle_t handle, const Descriptor& config)
      : Descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    EXPECT_DNN(Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, std::vector{handle}));
    EXPECT_DNN(Child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config));
    status = Finalize();
  }
  int64_t workspace() const {
    int64_t count = 0, bytes = 0;
    EXPECT_DNN(cudnnBackendGetAttribute(get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                        CUDNN_TYPE_INT64, 1, &count, &bytes));
    return bytes;
  }
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
};

class BackendTest : public CudnnTest {
 protected:
  cudnnStatus_t Execute(const Descriptor& plan, const std::vector<int64_t>& ids,
                        const std::vector<void*>& pointers, void* workspace = nullptr) {
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    EXPECT_DNN(pack.Ints(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids));
    EXPECT_DNN(pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers));
    EXPECT_DNN(
        pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, std::vector{workspace}));
    EXPECT_DNN(pack.Finalize());
    return cudnnBackendExecute(handle_, plan.get(), pack.get());
  }
  std::vector<float> ToLast(const std::vector<float>& values, const std::vector<int64_t>& dims) {
    std::vector<float> moved;
    for (int64_t n = 0; n < dims[0]; ++n)
      for (int64_t i = 0; i < dims[2] * dims[3]; ++i)
        for (int64_t c = 0; c < dims[1]; ++c)
          moved.push_back(values[static_cast<size_t>((n * dims[1] + c) * dims[2] * dims[3] + i)]);
    return moved;
  }
};

const Sizes kSmall = {2, 4, 6, 5, 6, 3, 2, 1, {1, 1}, {1, 1}, 1, 1};

std::vector<float> Textbook(const Sizes& z, const std::vector<float>& x,
                            const std::vector<float>& w, const std::vector<float>& bias) {
  std::vector<float> y;
  const int64_t cg = z.c / z.groups, kg = z.k / z.groups;
  for (int64_t n = 0; n < z.n; ++n)
    for (int64_t k = 0; k < z.k; ++k)
      for (int64_t i = 0; i < z.out(0); ++i)
        for (int64_t j = 0; j < z.out(1); ++j) {
          float sum = bias[static_cast<size_t>(k)];
          for (int64_t c = 0; c < cg; ++c)
            for (int64_t r = 0; r < z.r; ++r)
              for (int64_t s = 0; s < z.s; ++s) {
                const int64_t a = i * z.stride - z.pre[0] + r * z.dilation;
                const int64_t b = j * z.stride - z.pre[1] + s * z.dilation;
                if (a < 0 || a >= z.h || b < 0 || b >= z.w) continue;
                sum += x[static_cast<size_t>(((n * z.c + k / kg * cg + c) * z.h + a) * z.w + b)] *
                       w[static_cast<size_t>(((k * cg + c) * z.r + r) * z.s + s)];
              }
          y.push_back(sum);
        }
  return y;
}

TEST_F(BackendTest, ReportsWrongAttributesAsNvidiasLibraryDoes) {
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const std::vector<int64_t> one = {1}, four = {2, 3, 4, 5};
  EXPECT_EQ(tensor.Finalize(), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, one),
            CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
  EXPECT_EQ(tensor.Ints(CUDNN_ATTR_TENSOR_UNIQUE_ID, {1, 2}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(tensor.Ints(CUDNN_ATTR_TENSOR_DIMENSIONS, {}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(tensor.Ints(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, one), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnBackendSetAttribute(tensor.get(), CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1,
                                     nullptr),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnBackendSetAttribute(nullptr, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1,
                                     one.data()),
            CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  int64_t count = -1, values[8] = {};
  EXPECT_EQ(cudnnBackendGetAttribute(tensor.get(), CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                                     8, &count, values),
            CUDNN_STATUS_NOT_INITIALIZED);
  EXPECT_DNN(tensor.Ints(CUDNN_ATTR_TENSOR_UNIQUE_ID, one));
  EXPECT_DNN(tensor.Ints(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {3}));
  EXPECT_DNN(
      tensor.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector{CUDNN_DATA_FLOAT}));
  EXPECT_DNN(tensor.Ints(CUDNN_ATTR_TENSOR_DIMENSIONS, four));
  EXPECT_DNN(tensor.Ints(CUDNN_ATTR_TENSOR_STRIDES, {60, 20, 5}));
  EXPECT_EQ(tensor.Finalize(), CUDNN_STATUS_BAD_PARAM);
  EXPECT_DNN(tensor.Ints(CUDNN_ATTR_TENSOR_STRIDES, {60, 20, 5, 1}));
  EXPECT_EQ(tensor.Finalize(), CUDNN_STATUS_BAD_PARAM);
  EXPECT_DNN(tensor.Ints(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {4}));
  EXPECT_DNN(tensor.Finalize());
}

TEST_F(BackendTest, DoesNotChangeFinalizedDescriptors) {
  TensorOf tensor('t', {2, 3, 4, 5});
  EXPECT_EQ(tensor.Ints(CUDNN_ATTR_TENSOR_UNIQUE_ID, {1}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(tensor.Finalize(), CUDNN_STATUS_BAD_PARAM);
  int64_t count = -1, values[8] = {};
  const auto get = [&](int64_t room) {
    return cudnnBackendGetAttribute(tensor.get(), CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                                    room, &count, values);
  };
  EXPECT_DNN(get(0));
  EXPECT_EQ(count, 4);
  EXPECT_DNN(get(2));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(values[2], 0);
  EXPECT_DNN(get(8));
  EXPECT_EQ(count, 4);
  EXPECT_EQ(values[3], 5);
}

TEST_F(BackendTest, RejectsGraphsThatItDoesNotCompute) {
  EXPECT_DNN(Graph(handle_, kSmall, true).status);
  EXPECT_EQ(Graph(handle_, kSmall, true, false, CUDNN_POINTWISE_MUL).status,
            CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN);
  Graph graph(handle_, kSmall, true);
  Descriptor alone(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  EXPECT_EQ(alone.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE,
                      std::vector<cudnnHandle_t>{nullptr}),
            CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  EXPECT_DNN(alone.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, std::vector{handle_}));
  EXPECT_DNN(alone.Child(CUDNN_ATTR_OPERATIONGRAPH_OPS, graph.conv));
  EXPECT_EQ(alone.Finalize(), CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN);  // its Y is virtual
  Descriptor wrong(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  EXPECT_DNN(wrong.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, graph.windows));
  EXPECT_DNN(wrong.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, graph.x));
  EXPECT_DNN(wrong.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, graph.w));
  EXPECT_DNN(wrong.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, graph.x));
  EXPECT_EQ(wrong.Finalize(), CUDNN_STATUS_BAD_PARAM);
}

TEST_F(BackendTest, ListsEnginesWithNotesAndWorkspaces) {
  Graph graph(handle_, kSmall, false);
  Heuristics all(graph, CUDNN_HEUR_MODE_A), fallback(graph, CUDNN_HEUR_MODE_FALLBACK);
  EXPECT_EQ(all.configs.size(), 7u);
  EXPECT_EQ(all.announced, 8);
  EXPECT_EQ(fallback.configs.size(), 2u);
  std::string notes;
  for (const auto& config : all.configs) {
    Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t raw = engine.get();
    int64_t count = 0;
    cudnnBackendNumericalNote_t numerical[16];
    cudnnBackendBehaviorNote_t behavior[16];
    ASSERT_DNN(cudnnBackendGetAttribute(config->get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &raw));
    ASSERT_DNN(cudnnBackendGetAttribute(raw, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                        CUDNN_TYPE_NUMERICAL_NOTE, 16, &count, numerical));
    for (int64_t i = 0; i < count; ++i) notes += " " + std::to_string(numerical[i]);
    ASSERT_DNN(cudnnBackendGetAttribute(raw, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                        CUDNN_TYPE_BEHAVIOR_NOTE, 16, &count, behavior));
    for (int64_t i = 0; i < count; ++i) notes += " b" + std::to_string(behavior[i]);
    const Plan plan(handle_, *config);
    EXPECT_DNN(plan.status);
    notes += plan.workspace() > 0 ? " space;" : ";";
  }
  Sizes grouped = kSmall;
  grouped.groups = 2;
  Graph in_groups(handle_, grouped, false);
  Heuristics of_groups(in_groups, CUDNN_HEUR_MODE_A);
  EXPECT_EQ(Plan(handle_, *of_groups.configs[5]).status, CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(notes, " 0 space; 0 1; b0; 2; 4 space; 5 b4 space; 9;");
}

TEST_F(BackendTest, ConvolvesAndAddsABias) {
  const Sizes shapes[] = {kSmall,
                          {1, 4, 7, 6, 6, 3, 3, 2, {0, 2}, {1, 0}, 2, 1},
                          {2, 3, 8, 9, 3, 2, 3, 3, {1, 0}, {1, 2}, 1, 2}};
  for (const Sizes& z : shapes) {
    const std::vector<int64_t> dims_x = {z.n, z.c, z.h, z.w},
                               dims_w = {z.k, z.c / z.groups, z.r, z.s},
                               dims_y = {z.n, z.k, z.out(0), z.out(1)};
    const auto size = [](const std::vector<int64_t>& dims) {
      return static_cast<size_t>(dims[0] * dims[1] * dims[2] * dims[3]);
    };
    const std::vector<float> xs = Random(size(dims_x)), ws = Random(size(dims_w)),
                             bs = Random(static_cast<size_t>(z.k)), none(bs.size());
    for (const bool biased : {false, true}) {
      for (const bool last : {false, true}) {
        Graph graph(handle_, z, biased, last);
        Heuristics heuristics(graph, CUDNN_HEUR_MODE_FALLBACK);
        const Plan plan(handle_, *heuristics.configs[0]);
        Array x(last ? ToLast(xs, dims_x) : xs), w(last ? ToLast(ws, dims_w) : ws), b(bs);
        Array y(std::vector<float>(size(dims_y)));
        std::vector<int64_t> ids = {'y', 'x', 'w'};
        std::vector<void*> pointers = {y.get(), x.get(), w.get()};
        if (biased) {
          ids.push_back('b');
          pointers.push_back(b.get());
        }
        ASSERT_DNN(Execute(plan, ids, pointers));
        const std::vector<float> want = Textbook(z, xs, ws, biased ? bs : none);
        ExpectNear(y.Read(), last ? ToLast(want, dims_y) : want);
      }
    }
  }
}

TEST_F(BackendTest, ChecksWhatAPlanIsExecutedWith) {
  Graph graph(handle_, kSmall, false);
  Heuristics heuristics(graph, CUDNN_HEUR_MODE_A);
  const Plan plan(handle_, *heuristics.configs[6]), spacious(handle_, *heuristics.configs[4]);
  Array x(std::vector<float>(240)), w(std::vector<float>(144)), y(std::vector<float>(2000));
  Array space(std::vector<float>(100));
  const std::vector<int64_t> ids = {'x', 'w', 'y'};
  EXPECT_DNN(Execute(plan, ids, {x.get(), w.get(), y.get()}));
  EXPECT_EQ(Execute(plan, ids, {x.get(), w.get(), y.get() + 1}),
            CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
  EXPECT_EQ(Execute(plan, {'x', 'w', 'z'}, {x.get(), w.get(), y.get()}),
            CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  EXPECT_EQ(Execute(plan, {'x', 'w'}, {x.get(), w.get()}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(Execute(plan, ids, {x.get(), w.get()}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(Execute(plan, ids, {x.get(), y.get(), w.get()}), CUDNN_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(Execute(spacious, ids, {x.get(), w.get(), y.get()}),
            CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  EXPECT_EQ(Execute(spacious, ids, {x.get(), w.get(), y.get()}, space.get()),
            CUDNN_STATUS_EXECUTION_FAILED);
  EXPECT_DNN(
      Execute(spacious, ids, {x.get(), w.get(), y.get()}, Array(std::vector<float>(10000)).get()));
  cudaDeviceSynchronize();
}

TEST_F(BackendTest, DetectsUseOfDestroyedDescriptors) {
  Graph graph(handle_, kSmall, false);
  Array x(std::vector<float>(240)), w(std::vector<float>(144)), y(std::vector<float>(2000));
  Heuristics heuristics(graph, CUDNN_HEUR_MODE_FALLBACK);
  const Plan plan(handle_, *heuristics.configs[0]);
  heuristics.Destroy();
  EXPECT_DNN(Execute(plan, {'x', 'w', 'y'}, {x.get(), w.get(), y.get()}));
  graph.windows.Destroy();
  EXPECT_EQ(Execute(plan, {'x', 'w', 'y'}, {x.get(), w.get(), y.get()}), CUDNN_STATUS_BAD_PARAM);
}

TEST_F(BackendTest, RoundsTheInputsOfEnginesThatUseTensorCores) {
  const Sizes z = {1, 1, 1, 1, 1, 1, 1, 1, {0, 0}, {0, 0}, 1, 1};
  Graph graph(handle_, z, false);
  Heuristics heuristics(graph, CUDNN_HEUR_MODE_A);
  Array x({1.0001f}), w({1}), y({0}), space({0, 0, 0, 0});
  for (const size_t engine : {size_t{0}, size_t{6}}) {
    const Plan plan(handle_, *heuristics.configs[engine]);
    ASSERT_DNN(Execute(plan, {'x', 'w', 'y'}, {x.get(), w.get(), y.get()}, space.get()));
    EXPECT_EQ(y.Read()[0], engine == 0 ? 1 : 1.0001f);
  }
}

TEST_F(BackendTest, RunsInStreamOrderAndCanBeCaptured) {
  const Sizes z = {1, 1, 1, 1, 1, 1, 1, 1, {0, 0}, {0, 0}, 1, 1};
  Graph graph(handle_, z, false);
  Heuristics heuristics(graph, CUDNN_HEUR_MODE_FALLBACK);
  const Plan plan(handle_, *heuristics.configs[0]);
  Array x({3}), w({2}), y({0});
  cudaStream_t stream = nullptr;
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_DNN(cudnnSetStream(handle_, stream));
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_DNN(Execute(plan, {'x', 'w', 'y'}, {x.get(), w.get(), y.get()}));
  ASSERT_EQ(cudaStreamEndCapture(stream, &captured), cudaSuccess);
  EXPECT_EQ(y.Read()[0], 0);
  ASSERT_EQ(cudaGraphInstantiate(&executable, captured, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(y.Read()[0], 6);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(captured);
  cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace cudnn_test
