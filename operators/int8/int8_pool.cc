#include "operators/int8/int8_pool.h"

#include "caffe2_core/base/thread_pool.h"
#include "operators/common/window_arguments.h"

namespace caffe2rt {

Int8PoolOp::Int8PoolOp(const OperatorDef& def, Workspace* ws)
    : Int8Operator(def, ws), window_(ReadNhwcWindow(args(), WindowUse::kPool)) {}

bool Int8PoolOp::RunOnDevice() {
  const QuantizedInput x = InputInt8(0, "X");
  CheckQuantization(x);
  if (dims_.empty() || x.tensor->dims() != dims_) {
    dims_.clear();  // if a check below throws, the next run plans again
    geometry_ = MakeImageGeometry(window_, x.tensor->sizes());
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
  const TapRange rows = TapsInside(height, row);
  const int64_t top = row * height.stride - height.pad_head + rows.first;
  Int8PoolWindow window;
  window.rows = rows.end - rows.first;
  window.channels = geometry_.channels;
  window.row_stride = width.in * geometry_.channels;
  for (int64_t column = 0; column < width.out; ++column, y += geometry_.channels) {
    const TapRange columns = TapsInside(width, column);
    const int64_t left = column * width.stride - width.pad_head + columns.first;
    window.columns = columns.end - columns.first;
    // A window that lies outside the image has no first pixel.
    const bool empty = window.rows == 0 || window.columns == 0;
    window.x = empty ? x : x + top * window.row_stride + left * geometry_.channels;
    if (empty) window.rows = window.columns = 0;
    window.y = y;
    PoolPixel(window, piece);
    window.rows = rows.end - rows.first;
  }
}

OpSchema& RegisterInt8PoolSchema(const std::string& type, const char* file,
                                 const std::string& doc) {
  OpSchema& schema = RegisterInt8Schema(type, file)
                         .NumInputs(1)
                         .NumOutputs(1)
                         .Input(0, "X", "a quantized tensor [N, H, W, C]")
                         .Output(0, "Y", "a quantized tensor [N, windows.., C]")
                         .TensorInferenceFunction(InferPoolShape)
                         .SetDoc(doc + " The argument order must be NHWC.");
  DeclareWindowArguments(schema, WindowUse::kPool);
  return schema;
}

}  // namespace caffe2rt
