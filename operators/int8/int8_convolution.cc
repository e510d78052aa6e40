#include "operators/int8/int8_convolution.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

namespace {

// Copies the taps of one group of channels under a window to a row.
class Int8RowGatherer {
 public:
  Int8RowGatherer(const Int8ConvShape& shape, int64_t group, const uint8_t* x, int32_t zero_point)
      : height_(shape.window.axis[0]),
        width_(shape.window.axis[1]),
        channels_(shape.window.channels),
        group_in_(shape.group_in()),
        whole_pixels_(shape.group == 1 && width_.dilation == 1),
        direct_(shape.direct()),
        x_(x + group * group_in_),
        zero_(zero_point) {}

  // Rows of `pitch` bytes for pixels first .. first + count - 1 of the output.
  void Gather(int64_t first, int64_t count, int64_t pitch, uint8_t* buffer,
              const uint8_t** pointers) const {
    for (int64_t r = 0; r < count; ++r) {
      const int64_t pixel = first + r;
      const int64_t column = pixel % width_.out, row = pixel / width_.out % height_.out;
      const int64_t image = pixel / width_.out / height_.out;
      const uint8_t* x = x_ + image * height_.in * width_.in * channels_;
      if (direct_) {
        pointers[r] = x + (row * height_.stride * width_.in + column * width_.stride) * channels_;
        continue;
      }
      GatherPixel(x, row, column, buffer);
      pointers[r] = buffer;
      buffer += pitch;
    }
  }

 private:
  void GatherPixel(const uint8_t* x, int64_t row, int64_t column, uint8_t* out) const {
    const TapRange rows = TapsInside(height_, row), columns = TapsInside(width_, column);
    const int64_t row_bytes = width_.kernel * group_in_;
    const int64_t left = column * width_.stride - width_.pad_head;
    for (int64_t i = 0; i < height_.kernel; ++i, out += row_bytes) {
      if (i < rows.first || i >= rows.end || columns.first == columns.end) {
        std::memset(out, zero_, static_cast<size_t>(row_bytes));
        continue;
      }
      const int64_t y = row * height_.stride - height_.pad_head + i * height_.dilation;
      const uint8_t* line = x + y * width_.in * channels_;
      const int64_t head = columns.first * group_in_, end = columns.end * group_in_;
      std::memset(out, zero_, static_cast<size_t>(head));
      if (whole_pixels_) {
        std::memcpy(out + head, line + (left + columns.first) * channels_,
                    static_cast<size_t>(end - head));
      } else {
        for (int64_t j = columns.first; j < columns.end; ++j) {
          std::memcpy(out + j * group_in_, line + (left + j * width_.dilation) * channels_,
                      static_cast<size_t>(group_in_));
        }
      }
      std::memset(out + end, zero_, static_cast<size_t>(row_bytes - end));
    }
  }

  const WindowAxis& height_;
  const WindowAxis& width_;
  const int64_t channels_, group_in_;
  const bool whole_pixels_, direct_;
  const uint8_t* const x_;
  const int32_t zero_;
};

}  // namespace

bool Int8ConvShape::direct() const {
  const auto covers_one_pixel = [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.pad_head == 0 && axis.pad_tail == 0;
  };
  // The kernels read whole groups of four elements.
  return covers_one_pixel(window.axis[0]) && covers_one_pixel(window.axis[1]) &&
         group_in() % 4 == 0;
}

Int8Convolution::Int8Convolution()
    : isa_(BestInt8Isa()),
      groups_(MakeString("Int8Conv filters for ", Int8IsaName(isa_))),
      depthwise_("Int8Conv depthwise filters in pairs of taps") {}

void Int8Convolution::Plan(const WindowArguments& window, IntArrayRef x, IntArrayRef filter) {
  Int8ConvShape shape;
  shape.window = MakeImageGeometry(window, x);
  shape.group = window.group;
  CAFFE_ENFORCE_EQ(filter.size(), 4u, "rank of input 1 (filter) of shape ", filter,
                   ", want [outputs, height, width, channels]");
  shape.out_channels = filter[0];
  CAFFE_ENFORCE_EQ(shape.window.channels % shape.group, 0, "channels of input 0 (X) of shape ", x,
                   " modulo argument group ", shape.group);
  CAFFE_ENFORCE_EQ(shape.out_channels % shape.group, 0, "outputs of input 1 (filter) of shape ",
                   filter, " modulo argument group ", shape.group);
  const int64_t want[] = {shape.out_channels, shape.window.axis[0].kernel,
                          shape.window.axis[1].kernel, shape.group_in()};
  CAFFE_ENFORCE(filter == IntArrayRef(want, 4), "input 1 (filter) has shape ", filter, ", want ",
                IntArrayRef(want, 4),
                ": the kernel, and the channels of input 0 (X) divided by argument group");
  shape_ = shape;
}

void Int8Convolution::Prepare(const QuantizedInput& filter) {
  if (shape_.depthwise()) {
    (void)PrepareDepthwise(filter);
  } else {
    (void)PrepareGroups(filter, GroupBytes());
  }
}

size_t Int8Convolution::GroupBytes() const {
  return Int8WeightBytes(isa_, shape_.group_out(), shape_.window.kernel_size() * shape_.group_in());
}

void Int8Convolution::Run(const QuantizedInput& x, const QuantizedInput& filter,
                          const int32_t* bias, const Requantization& requantization, uint8_t* y) {
  if (shape_.depthwise()) {
    RunDepthwise(x, filter, bias, requantization, y);
  } else {
    RunGroups(x, filter, bias, requantization, y);
  }
}

// The packed weights of all groups, one behind the other.
const char* Int8Convolution::PrepareGroups(const QuantizedInput& filter, size_t group_bytes) {
  const int64_t n = shape_.group_out();
  const int64_t k = shape_.window.kernel_size() * shape_.group_in();
  const Int8FormOptions options = {
      .zero_point = filter.quantization.zero_point,
      .group = shape_.group,
      .nbytes = CheckedMultiply(static_cast<size_t>(shape_.group), group_bytes)};
  return groups_.Get(*filter.tensor, options, [&](void* to) {
    for (int64_t g = 0; g < shape_.group; ++g) {
      PackInt8Weights(isa_, {.n = n, .k = k, .n_stride = k}, filter.data() + g * n * k,
                      options.zero_point,
                      static_cast<char*>(to) + static_cast<size_t>(g) * group_bytes);
    }
  });
}

void Int8Convolution::RunGroups(const QuantizedInput& x, const QuantizedInput& filter,
                                const int32_t* bias, const Requantization& requantization,
                                uint8_t* y) {
  const int64_t n = shape_.group_out();
  const int64_t k = shape_.window.kernel_size() * shape_.group_in();
  const size_t group_bytes = GroupBytes();
  const char* const groups = PrepareGroups(filter, group_bytes);
  for (int64_t g = 0; g < shape_.group; ++g) {
    const Int8Weights weights(isa_, n, k, filter.quantization.zero_point,
                              groups + static_cast<size_t>(g) * group_bytes);
    start_.resize(static_cast<size_t>(weights.padded_n()));
    StartOfSums(weights, bias + g * n, x.quantization.zero_point, start_.data());
    const Int8RowGatherer gatherer(shape_, g, x.data(), x.quantization.zero_point);
    const Int8Product product{.weights = &weights,
                              .start = start_.data(),
                              .requantization = requantization,
                              .rows = shape_.window.batch * shape_.window.out_size(),
                              .y = y + g * n,
                              .y_stride = shape_.out_channels};
    RunInt8Product(product, &scratch_,
                   [&](int64_t first, int64_t count, uint8_t* buffer, const uint8_t** pointers) {
                     gatherer.Gather(first, count, weights.padded_k(), buffer, pointers);
                   });
  }
}

const char* Int8Convolution::PrepareDepthwise(const QuantizedInput& filter) {
  const int64_t channels = shape_.out_channels, taps = shape_.window.kernel_size();
  const int32_t filter_zero = filter.quantization.zero_point;
  const Int8FormOptions options = {.zero_point = filter_zero,
                                   .group = shape_.group,
                                   .nbytes = Int8DepthwiseBytes(channels, taps)};
  return depthwise_.Get(*filter.tensor, options, [&](void* to) {
    PackInt8Depthwise(channels, taps, filter.data(), filter_zero, to);
  });
}

void Int8Convolution::RunDepthwise(const QuantizedInput& x, const QuantizedInput& filter,
                                   const int32_t* bias, const Requantization& requantization,
                                   uint8_t* y) {
  const int64_t channels = shape_.out_channels, taps = shape_.window.kernel_size();
  const Int8DepthwiseWeights weights(channels, taps, PrepareDepthwise(filter));
  const int32_t zero_point = x.quantization.zero_point;
  start_.resize(static_cast<size_t>(channels));
  for (size_t c = 0; c < start_.size(); ++c) {
    start_[c] =
        math::WrappingSubtract(bias[c], math::WrappingMultiply(zero_point, weights.totals()[c]));
  }
  padding_.assign(static_cast<size_t>(channels), static_cast<uint8_t>(zero_point));
  const int64_t out_rows = shape_.window.axis[0].out, rows = shape_.window.batch * out_rows;
  const int pieces = PiecesOf(rows);
  if (taps_.size() < static_cast<size_t>(pieces)) taps_.resize(static_cast<size_t>(pieces));
  for (auto& pointers : taps_) pointers.resize(static_cast<size_t>(taps));
  const uint8_t* elements = x.data();
  const int64_t image = shape_.window.in_size() * channels;
  const int64_t y_row = shape_.window.axis[1].out * channels;
  const PieceScratch scratch = scratch_.ForPieces(pieces, channels);
  ParallelFor(pieces, [&](int piece) {
    auto* const sums = reinterpret_cast<int32_t*>(scratch[piece]);
    for (int64_t row = rows * piece / pieces; row < rows * (piece + 1) / pieces; ++row) {
      DepthwiseRow(weights, elements + row / out_rows * image, row % out_rows, sums,
                   taps_[static_cast<size_t>(piece)].data(), requantization, y + row * y_row);
    }
  });
}

// One row of the output.
void Int8Convolution::DepthwiseRow(const Int8DepthwiseWeights& weights, const uint8_t* x,
                                   int64_t row, int32_t* sums, const uint8_t** taps,
                                   const Requantization& requantization, uint8_t* y) {
  const WindowAxis& height = shape_.window.axis[0];
  const WindowAxis& width = shape_.window.axis[1];
  const int64_t channels = shape_.out_channels;
  const TapRange rows = TapsInside(height, row);
  for (int64_t column = 0; column < width.out; ++column, y += channels) {
    const TapRange columns = TapsInside(width, column);
    const uint8_t** tap = taps;
    for (int64_t i = 0; i < height.kernel; ++i) {
      const int64_t in_row = row * height.stride - height.pad_head + i * height.dilation;
      const bool inside = i >= rows.first && i < rows.end;
      for (int64_t j = 0; j < width.kernel; ++j) {
        const int64_t in_column = column * width.stride - width.pad_head + j * width.dilation;
        *tap++ = inside && j >= columns.first && j < columns.end
                     ? x + (in_row * width.in + in_column) * channels
                     : padding_.data();
      }
    }
    weights.Multiply(taps, start_.data(), sums);
    Requantize(sums, channels, requantization, y);
  }
}

}  // namespace caffe2rt
