#include "operators/int8/int8_pool.h"

#include "caffe2_core/base/thread_pool.h"
#include "operators/common/window_arguments.h"

namespace caffe2rt {

namespace {

// The pixels of an image's axis under a window: first .. first + count - 1.
struct PixelRange {
  int64_t first = 0, count = 0;
};

PixelRange PixelsUnder(const WindowAxis& axis, int64_t window, Int8PoolOp::Padding padding) {
  const int64_t start = window * axis.stride - axis.pad_head;
  const TapRange taps = TapsInside(axis, window);
  if (taps.first < taps.end) return {start + taps.first, taps.end - taps.first};
  if (padding == Int8PoolOp::Padding::kNothing) return {};
  return {start < 0 ? 0 : axis.in - 1, 1};
}

}  // namespace

Int8PoolOp::Int8PoolOp(const OperatorDef& def, Workspace* ws, Padding padding)
    : Int8Operator(def, ws),
      window_(ReadNhwcWindow(args(), WindowUse::kWidePool)),
      padding_(padding) {}

bool Int8PoolOp::RunOnDevice() {
  const QuantizedInput x = InputInt8(0, "X");
  CheckQuantization(x);
  if (dims_.empty() || x.tensor->dims() != dims_) {
    dims_.clear();  // if a check below throws, the next run plans again
    geometry_ = MakeImageGeometry(window_, x.tensor->sizes());
    CAFFE_ENFORCE(geometry_.kernel_size() > 1 || AllowsOnePixel(),
                  "the windows have one pixel, want at least two: such a pool has no effect");
    out_dims_ = geometry_.OutputDims(geometry_.channels);
    dims_ = x.tensor->dims();
  }
  uint8_t* y = OutputInt8(0, out_dims_);
  if (OperatorBase::Output<Int8TensorCPU>(0)->t.numel() == 0) return true;
  const uint8_t* elements = x.data();
  const int64_t rows = geometry_.batch * geometry_.axis[0].out;
  const int64_t image = geometry_.in_size() * geometry_.channels;
  const int64_t y_row = geometry_.axis[1].out * geometry_.channels;
  const int pieces = PiecesOf(rows);
  Prepare(x, pieces);
  ParallelFor(pieces, [&](int piece) {
    for (int64_t row = rows * piece / pieces; row < rows * (piece + 1) / pieces; ++row) {
      const int64_t n = row / geometry_.axis[0].out;
      PoolRow(elements + n * image, row % geometry_.axis[0].out, piece, y + row * y_row);
    }
  });
  return true;
}

void Int8PoolOp::PoolRow(const uint8_t* x, int64_t row, int piece, uint8_t* y) {
  const WindowAxis& height = geometry_.axis[0];
  const WindowAxis& width = geometry_.axis[1];
  const PixelRange rows = PixelsUnder(height, row, padding_);
  Int8PoolWindow window;
  window.channels = geometry_.channels;
  window.row_stride = width.in * geometry_.channels;
  for (int64_t column = 0; column < width.out; ++column, y += geometry_.channels) {
    const PixelRange columns = PixelsUnder(width, column, padding_);
    window.rows = rows.count;
    window.columns = columns.count;
    window.x = x + rows.first * window.row_stride + columns.first * window.channels;
    window.y = y;
    PoolPixel(window, piece);
  }
}

OpSchema& RegisterInt8PoolSchema(const std::string& type, const char* file,
                                 const std::string& doc) {
  OpSchema& schema = RegisterInt8Schema(type, file)
                         .NumInputs(1)
                         .NumOutputs(1)
                         .Input(0, "X", "a quantized tensor [N, H, W, C]")
                         .Output(0, "Y", "a quantized tensor [N, windows.., C]")
                         .TensorInferenceFunction(InferWidePoolShape)
                         .SetDoc(doc + " The argument order must be NHWC.");
  DeclareWindowArguments(schema, WindowUse::kWidePool);
  return schema;
}

}  // namespace caffe2rt
