// Convolutions of volumes, whose three axes have strides, dilations and padding of their own, in both
// orders and with all algorithms for them, against the definition. All numbers are small integers, so
// that results are exact.
#include <gtest/gtest.h>

#include "operators/common/conv_geometry.h"
#include "operators/conv/conv_gradient_kernel.h"
#include "operators/conv/conv_kernel.h"

namespace caffe2rt::test::conv_volumes_test {
namespace {

struct VolumeAxis {
  int64_t in, kernel, stride = 1, dilation = 1, head = 0, tail = 0;
};
struct Volume {
  const char* name;
  VolumeAxis axes[3];
  int64_t channels = 2, filters = 3, group = 1, batch = 2;
};

const Volume kVolumes[] = {
    {"plain", {{4, 2}, {5, 3}, {6, 2}}},
    {"dilation of the first axis", {{6, 2, 1, 3}, {4, 2}, {5, 3}}},
    {"dilation of the second axis", {{4, 2}, {7, 3, 1, 2}, {5, 2}}},
    {"dilation of the last axis", {{4, 2}, {3, 2}, {8, 3, 1, 2}}},
    {"dilation of all axes, to the last plane", {{5, 3, 1, 2}, {4, 2, 1, 3}, {9, 3, 1, 4}}},
    {"dilation of the last axis with padding", {{3, 2}, {3, 2}, {5, 3, 1, 2, 3, 2}}},
    {"dilation of the last axis with a stride", {{3, 2}, {3, 1}, {11, 3, 3, 2, 1, 0}}},
    {"strides", {{7, 2, 3}, {6, 2, 2}, {9, 3, 4}}},
    {"padding of one side each", {{3, 2, 1, 1, 1, 0}, {4, 3, 1, 1, 0, 2}, {3, 2, 1, 1, 2, 0}}},
    {"windows of padding alone", {{2, 1, 1, 1, 1, 2}, {2, 2, 1, 1, 3, 0}, {2, 2, 1, 1, 0, 3}}},
    {"cropped", {{5, 2, 1, 1, -1, 0}, {5, 2, 1, 1, 0, -2}, {6, 2, 2, 1, -1, -1}}},
    {"groups", {{4, 2, 1, 2}, {4, 2, 2}, {7, 3, 1, 3, 1, 0}}, 4, 6, 2},
    {"depthwise", {{3, 2, 1, 1, 1, 1}, {4, 2}, {6, 2, 1, 3}}, 3, 3, 3},
    {"one tap", {{3, 1}, {2, 1}, {4, 1}}, 5, 2},
    {"one tap with strides", {{5, 1, 2}, {4, 1, 3}, {7, 1, 2}}, 3, 4},
    {"sixteen channels", {{3, 2}, {4, 3, 1, 1, 1, 1}, {6, 3, 1, 2, 2, 2}}, 16, 16},
    {"one image of one channel", {{3, 3, 1, 1, 1, 1}, {3, 3, 1, 1, 1, 1}, {5, 3, 1, 2}}, 1, 1, 1, 1},
};

ConvShape ShapeOfVolume(const Volume& v, StorageOrder order, bool bias) {
  WindowArguments window;
  window.order = order;
  window.kernel.clear();
  window.stride.clear();
  window.dilation.clear();
  window.pads.clear();
  window.adj = {0, 0, 0};
  std::vector<int64_t> dims{v.batch, v.channels};
  for (const VolumeAxis& axis : v.axes) {
    window.kernel.push_back(axis.kernel);
    window.stride.push_back(axis.stride);
    window.dilation.push_back(axis.dilation);
    window.pads.push_back(axis.head);
    dims.push_back(axis.in);
  }
  for (const VolumeAxis& axis : v.axes) window.pads.push_back(axis.tail);
  if (order == StorageOrder::NHWC) {
    dims.erase(dims.begin() + 1);
    dims.push_back(v.channels);
  }
  return {MakeWindowGeometry(window, dims), v.filters, v.group, bias};
}

// The elements of a tensor [outer, channels, size of three axes], in either order.
struct VolumeTensor {
  StorageOrder order;
  int64_t channels, sizes[3];

  size_t At(int64_t outer, int64_t channel, const int64_t (&at)[3]) const {
    const bool last = order == StorageOrder::NHWC;
    int64_t i = last ? outer : outer * channels + channel;
    for (int axis = 0; axis < 3; ++axis) i = i * sizes[axis] + at[axis];
    return static_cast<size_t>(last ? i * channels + channel : i);
  }
  size_t count(int64_t outer) const {
    return static_cast<size_t>(outer * channels * sizes[0] * sizes[1] * sizes[2]);
  }
};

// Calls function(x, filter, y) with the indices of every product.
template <class Function>
void ForEachProduct(const ConvShape& shape, const Function& function) {
  const auto& axis = shape.window.axis;
  const StorageOrder order = shape.window.order;
  const VolumeTensor x{order, shape.window.channels, {axis[0].in, axis[1].in, axis[2].in}};
  const VolumeTensor w{order, shape.in_group(), {axis[0].kernel, axis[1].kernel, axis[2].kernel}};
  const VolumeTensor y{order, shape.out_channels, {axis[0].out, axis[1].out, axis[2].out}};
  const int64_t outs = shape.window.out_size(), taps = shape.window.kernel_size();
  for (int64_t n = 0; n < shape.window.batch * shape.out_channels * outs; ++n) {
    const int64_t image = n / shape.out_channels / outs, m = n / outs % shape.out_channels;
    const int64_t out[3] = {n / axis[2].out / axis[1].out % axis[0].out,
                            n / axis[2].out % axis[1].out, n % axis[2].out};
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t tap[3] = {t / axis[2].kernel / axis[1].kernel,
                              t / axis[2].kernel % axis[1].kernel, t % axis[2].kernel};
      int64_t in[3];
      bool inside = true;
      for (size_t i = 0; i < 3; ++i) {
        in[i] = out[i] * axis[i].stride + tap[i] * axis[i].dilation - axis[i].pad_head;
        inside = inside && in[i] >= 0 && in[i] < axis[i].in;
      }
      if (!inside) continue;
      for (int64_t c = 0; c < shape.in_group(); ++c) {
        const int64_t channel = m / shape.out_group() * shape.in_group() + c;
        function(x.At(image, channel, in), w.At(m, c, tap), y.At(image, m, out));
      }
    }
  }
}

// From -3 to 3, in no order.
std::vector<float> SmallNumbers(int64_t count, int64_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  uint32_t state = static_cast<uint32_t>(seed);
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>((state >> 16) % 7) - 3);
  }
  return values;
}

class ConvVolumesTest : public testing::TestWithParam<StorageOrder> {};

TEST_P(ConvVolumesTest, AddProductsOfEveryTap) {
  for (const Volume& v : kVolumes) {
    for (const bool with_bias : {false, true}) {
      const ConvShape shape = ShapeOfVolume(v, GetParam(), with_bias);
      const int64_t out = shape.window.out_size();
      const auto x = SmallNumbers(v.batch * v.channels * shape.window.in_size(), 1);
      const auto w = SmallNumbers(v.filters * shape.in_group() * shape.window.kernel_size(), 2);
      const auto bias = SmallNumbers(v.filters, 3);
      std::vector<float> want(static_cast<size_t>(v.batch * v.filters * out));
      for (size_t i = 0; with_bias && i < want.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const bool last = GetParam() == StorageOrder::NHWC;
        want[i] = bias[static_cast<size_t>(last ? at % v.filters : at / out % v.filters)];
      }
      ForEachProduct(shape, [&](size_t from, size_t tap, size_t to) {
        want[to] += x[from] * w[tap];
      });
      for (const ConvAlgorithm algorithm : kPlainConvAlgorithms) {
        SCOPED_TRACE(testing::Message() << v.name << ", " << ConvAlgorithmName(algorithm));
        const auto kernel = NewConvKernel(algorithm, shape);
        if (algorithm == ConvAlgorithm::kIm2Col) {
          ASSERT_NE(kernel, nullptr);
        }
        if (kernel == nullptr) continue;
        ThreadScratch scratch;
        std::shared_ptr<const void> prepared;
        if (!kernel->FilterForm().empty()) prepared = kernel->PrepareFilter(w.data());
        std::vector<float> y(want.size(), -77.f);
        kernel->Run(x.data(), prepared ? prepared.get() : w.data(),
                    with_bias ? bias.data() : nullptr, y.data(),
                    scratch.ForPieces(kernel->ScratchParts(), kernel->ScratchSize()));
        EXPECT_EQ(y, want);
      }
    }
  }
}

TEST_P(ConvVolumesTest, HaveGradientsOfEveryTap) {
  for (const Volume& v : kVolumes) {
    const ConvShape shape = ShapeOfVolume(v, GetParam(), false);
    const auto x = SmallNumbers(v.batch * v.channels * shape.window.in_size(), 1);
    const auto w = SmallNumbers(v.filters * shape.in_group() * shape.window.kernel_size(), 2);
    const auto dy = SmallNumbers(v.batch * v.filters * shape.window.out_size(), 4);
    std::vector<float> want_x(x.size()), want_w(w.size());
    ForEachProduct(shape, [&](size_t from, size_t tap, size_t to) {
      want_x[from] += dy[to] * w[tap];
      want_w[tap] += dy[to] * x[from];
    });
    for (const ConvGradientAlgorithm algorithm : kAllConvGradientAlgorithms) {
      SCOPED_TRACE(testing::Message() << v.name << ", algorithm " << static_cast<int>(algorithm));
      const auto kernel = NewConvGradientKernel(algorithm, shape, {.filter = true, .x = true});
      if (algorithm == ConvGradientAlgorithm::kIm2Col) {
        ASSERT_NE(kernel, nullptr);
      }
      if (kernel == nullptr) continue;
      ThreadScratch scratch;
      std::vector<float> dx(x.size(), -77.f), dw(w.size(), -77.f);
      kernel->Run(x.data(), w.data(), dy.data(), dw.data(), dx.data(),
                  scratch.Floats(kernel->ScratchSize()));
      EXPECT_EQ(dx, want_x);
      EXPECT_EQ(dw, want_w);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, ConvVolumesTest,
                         testing::Values(StorageOrder::NCHW, StorageOrder::NHWC));

}  // namespace
}  // namespace caffe2rt::test::conv_volumes_test
