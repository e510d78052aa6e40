// Compares the built-in kernels for channel planes (operators/common/channel_planes.h) with oneDNN's
// primitives on shapes of common nets, on one thread. The contenders of a row take turns. Prints the
// shortest time of each, and GFLOP/s or GB/s of the built-in kernel.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <dnnl.hpp>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "binaries/program_main.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/common/channel_functions.h"
#include "operators/common/onednn_planes.h"
#include "operators/conv/depthwise_conv.h"
#include "operators/image/channel_order.h"
#include "operators/norm/lrn_planes.h"
#include "operators/pool/planes_pool.h"
#include "operators/primitives/onednn_program.h"

namespace caffe2rt::test {
namespace {

using Run = std::function<void()>;

// The shortest time of each function in microseconds.
std::vector<double> Race(const std::vector<Run>& runs) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> best(runs.size(), 1e30);
  for (int round = 0; round < 30; ++round) {
    for (size_t i = 0; i < runs.size(); ++i) {
      for (int k = 0; k < 5; ++k) {
        const auto start = Clock::now();
        runs[i]();
        const std::chrono::duration<double, std::micro> time = Clock::now() - start;
        best[i] = std::min(best[i], time.count());
      }
    }
  }
  return best;
}

void Print(const std::string& name, double work, const char* unit, const Run& own,
           const std::string& peer_name, const Run& peer) {
  const std::vector<double> us = Race({own, peer});
  std::printf("%-52s %9.1f us %8.1f %s   %-22s %9.1f us  ratio %.2f\n", name.c_str(), us[0],
              work / us[0] / 1e3, unit, peer_name.c_str(), us[1], us[0] / us[1]);
}

// Memory as tensors have it.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  T* allocate(size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t(64)); }
  bool operator==(const CacheLineAllocator&) const = default;
};
using Floats = std::vector<float, CacheLineAllocator<float>>;

Floats Values(int64_t count) {
  Floats values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) * 0.1f - 0.7f;
  return values;
}

std::string NameOf(const char* what, const ChannelPlanes& x) {
  char text[100];
  std::snprintf(text, sizeof(text), "%s %s C %d, %d x %d", what, x.blocked ? "nChw16c" : "nhwc",
                static_cast<int>(x.channels), static_cast<int>(x.height),
                static_cast<int>(x.width));
  return text;
}

// A oneDNN primitive with its memory.
struct Primitive {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
  std::string name;
  void Run() { primitive.execute(OnednnStream(), arguments); }
};
dnnl::memory Memory(const dnnl::memory::desc& desc, Floats* values) {
  return {desc, OnednnEngine(), values->data()};
}

WindowAxis AxisOf(int64_t in, int64_t kernel, int64_t stride, int64_t pad) {
  WindowAxis axis{.in = in, .kernel = kernel, .stride = stride, .pad_head = pad, .pad_tail = pad};
  axis.out = (in + 2 * pad - kernel) / stride + 1;
  return axis;
}

void RaceDepthwise(const ChannelPlanes& x, int64_t kernel, int64_t stride) {
  const WindowAxis axis = AxisOf(x.height, kernel, stride, kernel / 2);
  const DepthwiseConv conv{.x = x, .rows = axis, .columns = axis, .lowest = 0, .highest = 6};
  Floats source = Values(x.size()), y = Values(conv.y().size()), y2 = y;
  Floats filter = Values(x.channels * conv.taps()), bias = Values(x.channels);
  Floats prepared(static_cast<size_t>(PreparedDepthwiseSize(conv)));
  PrepareDepthwiseFilter(conv, filter.data(), prepared.data());

  using namespace dnnl;  // local
  post_ops ops;
  AppendEltwise(algorithm::eltwise_clip, 0.f, 6.f, &ops);
  primitive_attr attributes;
  attributes.set_post_ops(ops);
  const memory::desc x_desc = DescOf(x), y_desc = DescOf(conv.y());
  const memory::desc w_any({x.channels, 1, 1, kernel, kernel}, memory::data_type::f32,
                           memory::format_tag::any);
  const memory::desc b_desc({x.channels}, memory::data_type::f32, memory::format_tag::x);
  const memory::dims strides(2, stride), pads(2, axis.pad_head);
  const auto desc = NewPrimitiveDesc<convolution_forward>(
      attributes, prop_kind::forward_inference, algorithm::convolution_direct, x_desc, w_any,
      b_desc, y_desc, strides, pads, pads);
  Floats weights(desc.weights_desc().get_size() / sizeof(float));
  Reorder({{x.channels, 1, 1, kernel, kernel}, memory::data_type::f32, memory::format_tag::goihw},
          filter.data(), desc.weights_desc(), weights.data());
  Primitive peer{convolution_forward(desc),
                 {{DNNL_ARG_SRC, Memory(x_desc, &source)},
                  {DNNL_ARG_WEIGHTS, Memory(desc.weights_desc(), &weights)},
                  {DNNL_ARG_BIAS, Memory(b_desc, &bias)},
                  {DNNL_ARG_DST, Memory(y_desc, &y2)}},
                 desc.impl_info_str()};
  const double flops = 2.0 * static_cast<double>(conv.y().size() * conv.taps());
  Print(
      NameOf("depthwise", x) + " k" + std::to_string(kernel) + " s" + std::to_string(stride), flops,
      "GFLOP/s", [&] { RunDepthwise(conv, source.data(), prepared.data(), bias.data(), y.data()); },
      peer.name, [&] { peer.Run(); });
}

void RacePool(const ChannelPlanes& x, bool mean, int64_t kernel, int64_t stride, int64_t pad) {
  const WindowAxis axis = AxisOf(x.height, kernel, stride, pad);
  WindowGeometry geometry;
  geometry.axes = 2;
  geometry.batch = x.batch;
  geometry.channels = x.channels;
  geometry.axis[0] = geometry.axis[1] = axis;
  const PoolPlan plan = MakePoolPlan(geometry, false, false);
  const ChannelPlanes out = PooledPlanes(plan, x);
  Floats source = Values(x.size()), y = Values(out.size()), y2 = y;
  using namespace dnnl;  // local
  const pooling_forward::primitive_desc desc =
      NewPoolDesc(mean ? algorithm::pooling_avg_exclude_padding : algorithm::pooling_max, DescOf(x),
                  DescOf(out), kernel, stride, pad);
  Primitive peer{
      pooling_forward(desc),
      {{DNNL_ARG_SRC, Memory(DescOf(x), &source)}, {DNNL_ARG_DST, Memory(DescOf(out), &y2)}},
      desc.impl_info_str()};
  Print(
      NameOf(mean ? "mean" : "max", x) + " k" + std::to_string(kernel), 4.0 * x.size(), "GB/s in ",
      [&] { (mean ? MeanPoolPlanes : MaxPoolPlanes)(plan, x, source.data(), y.data()); }, peer.name,
      [&] { peer.Run(); });
}

void RaceLrn(const ChannelPlanes& x) {
  std::vector<float> scratch;
  const LRNWindow window{.before = 2, .after = 2, .alpha = 1e-4f / 5, .beta = 0.75f, .bias = 1};
  Floats source = Values(x.size()), y = source, y2 = source;
  using namespace dnnl;  // local
  const lrn_forward::primitive_desc desc = NewLrnDesc(DescOf(x), 5, 1e-4f, 0.75f, 1.f);
  Primitive peer{
      lrn_forward(desc),
      {{DNNL_ARG_SRC, Memory(DescOf(x), &source)}, {DNNL_ARG_DST, Memory(DescOf(x), &y2)}},
      desc.impl_info_str()};
  Print(
      NameOf("LRN", x), 8.0 * x.size(), "GB/s    ",
      [&] { NormalizeLocally(x, window, source.data(), &scratch, y.data(), nullptr); }, peer.name,
      [&] { peer.Run(); });
}

void RaceCopies(const ChannelPlanes& x, int64_t group) {
  Floats source = Values(x.size()), y = source, y2 = source;
  const Run copy = [&] { std::memcpy(y2.data(), source.data(), source.size() * sizeof(float)); };
  ChannelOrder order;
  const int64_t size = x.channels / group;
  order.Plan(x, [&](int64_t c) { return c % group * size + c / group; });
  const double bytes = 8.0 * static_cast<double>(x.size());
  Print(
      NameOf("shuffle", x), bytes, "GB/s    ", [&] { order.Run(source.data(), y.data()); },
      "memcpy", copy);
  std::vector<float> a;
  PadChannels(x, Values(x.channels).data(), 1, &a);
  Print(
      NameOf("scale, shift, relu", x), bytes, "GB/s    ",
      [&] { MapChannels(x, ScaleAndShift{0}, a.data(), a.data(), 0, source.data(), y.data()); },
      "memcpy", copy);
}

void Main() {
  const OneOpenMPThread one_thread;
  for (const bool blocked : {false, true}) {
    const auto image = [&](int64_t channels, int64_t size) {
      return ChannelPlanes{1, channels, size, size, blocked};
    };
    // MobileNetV2.
    RaceDepthwise(image(32, 112), 3, 1);
    RaceDepthwise(image(96, 112), 3, 2);
    RaceDepthwise(image(144, 56), 3, 1);
    RaceDepthwise(image(144, 56), 3, 2);
    RaceDepthwise(image(192, 28), 3, 1);
    RaceDepthwise(image(192, 28), 3, 2);
    RaceDepthwise(image(384, 14), 3, 1);
    RaceDepthwise(image(576, 14), 3, 1);
    RaceDepthwise(image(576, 14), 3, 2);
    RaceDepthwise(image(960, 7), 3, 1);
    // ShuffleNet.
    RaceDepthwise(image(60, 56), 3, 2);
    RaceDepthwise(image(120, 28), 3, 1);
    RaceDepthwise(image(240, 14), 3, 1);
    RaceDepthwise(image(480, 7), 3, 1);
    RaceDepthwise(image(240, 28), 5, 1);
    RaceDepthwise(image(240, 28), 5, 2);
    RacePool(image(64, 112), false, 3, 2, 1);
    RacePool(image(192, 56), false, 3, 2, 0);
    RacePool(image(192, 28), false, 3, 1, 1);
    RacePool(image(512, 28), false, 2, 2, 0);
    RacePool(image(128, 56), true, 2, 2, 0);
    RacePool(image(2048, 7), true, 7, 1, 0);
    RacePool(image(1000, 13), true, 13, 1, 0);
    RaceLrn(image(96, 55));
    RaceLrn(image(64, 56));
    RaceLrn(image(192, 56));
    RaceCopies(image(240, 28), 3);
    RaceCopies(image(480, 14), 3);
    RaceCopies(image(960, 7), 3);
    RaceCopies(image(256, 56), 2);
  }
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  const caffe2rt::Program program = {
      .name = "planes_benchmark",
      .purpose = "compares the kernels for channel planes with oneDNN's primitives",
      .usage = "",
      .options = {},
      .notes = "",
      .run = [](const caffe2rt::CommandLine&) {
        caffe2rt::test::Main();
        return 0;
      }};
  return caffe2rt::ProgramMain(program, argc, argv);
}
