#pragma once
// Int8PoolOp: what the pools of quantized images share: window arguments, shapes, the loop over
// windows.

#include <string>
#include <vector>

#include "operators/int8/int8_operator.h"
#include "operators/int8/int8_window.h"

namespace caffe2rt {

// The pixels of a window: rows x columns pixels of `channels` elements. The rest of the window lies
// in the padding.
struct Int8PoolWindow {
  const uint8_t* x = nullptr;  // the first pixel
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0;  // elements from a row to the next
  int64_t channels = 0;
  uint8_t* y = nullptr;  // the pixel of the output
};

class Int8PoolOp : public Int8Operator {
 public:
  // What a window gives that lies in the padding altogether.
  enum class Padding { kNothing, kNearestPixel };

  Int8PoolOp(const OperatorDef& def, Workspace* ws, Padding padding);
  bool RunOnDevice() final;

 protected:
  // As in Caffe2, a window must have at least two pixels, unless this is true.
  virtual bool AllowsOnePixel() const { return false; }
  // THROWS if the quantizations of input and output do not match. Called in each run.
  virtual void CheckQuantization(const QuantizedInput& x) = 0;
  // Called in each run, before PoolPixel, for up to `pieces` concurrent calls.
  virtual void Prepare(const QuantizedInput&, int /*pieces*/) {}
  // Computes one pixel of the output. Calls with different `piece` are concurrent.
  virtual void PoolPixel(const Int8PoolWindow& window, int piece) = 0;
  const WindowArguments& window() const { return window_; }
  const WindowGeometry& geometry() const { return geometry_; }

 private:
  void PoolRow(const uint8_t* x, int64_t row, int piece, uint8_t* y);

  const WindowArguments window_;
  const Padding padding_;
  std::vector<int64_t> dims_, out_dims_;  // shapes of the last input and output
  WindowGeometry geometry_;
};

// Registers the schema of one type. `doc` describes the value of a window.
OpSchema& RegisterInt8PoolSchema(const std::string& type, const char* file, const std::string& doc);

}  // namespace caffe2rt
