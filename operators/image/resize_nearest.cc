#include "operators/image/resize_nearest.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/image/add_row.h"

namespace caffe2rt {

namespace {

// The source row and column of each output pixel are computed once for all planes. In the forward
// direction, an output row that repeats the row above is copied from it. Doubling the width reads
// no table of columns.

CAFFE2RT_SIMD void TakeRow(const float* x, const int32_t* columns, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[columns[i]];
}
CAFFE2RT_SIMD void TwiceRow(const float* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) {
    y[2 * i] = x[i];
    y[2 * i + 1] = x[i];
  }
}

void FillSources(const NearestAxis& axis, std::vector<int32_t>* sources) {
  sources->resize(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) {
    (*sources)[static_cast<size_t>(i)] = static_cast<int32_t>(axis.Source(i));
  }
}

// Whether every pixel of a row is repeated exactly twice, in order.
bool IsTwice(const std::vector<int32_t>& columns, int64_t in_width) {
  if (static_cast<int64_t>(columns.size()) != 2 * in_width) return false;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] != static_cast<int32_t>(i / 2)) return false;
  }
  return true;
}

std::vector<TensorShape> InferResizeNearest(const OperatorDef& def,
                                            const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || def.input_size() > 1) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE_EQ(dims.size(), 4u, "rank of input 0 (X), want 4");
  const ArgumentHelper args(def);
  const size_t height = ReadStorageOrder(args) == StorageOrder::NHWC ? 1 : 2;
  dims[height] = ScaledSize(dims[height], args.Read(kHeightScale));
  dims[height + 1] = ScaledSize(dims[height + 1], args.Read(kWidthScale));
  return {CreateTensorShape(dims, in[0].data_type())};
}

// dx[i] += dy[2i] + dy[2i + 1]
CAFFE2RT_SIMD void AddPairs(const float* dy, int64_t n, float* dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] += dy[2 * i] + dy[2 * i + 1];
}
class GetResizeNearestGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs{GO(0), I(0)};
    if (Def().input_size() == 2) inputs.push_back(I(1));
    return SingleGradientDef("ResizeNearestGradient", "", inputs, std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void ReadScales(const Tensor& scales, int i, float* height, float* width) {
  CAFFE_ENFORCE(scales.dim() == 1 && scales.numel() == 2, "input ", i, " (scales) has shape ",
                scales.sizes(), ", want [2]: height and width");
  *height = scales.data<float>()[0];
  *width = scales.data<float>()[1];
}

void TakePixelsGradient(CPUContext&, int64_t planes, int64_t items, const NearestAxis& height,
                        const NearestAxis& width, PixelTables* tables, const float* dy, float* dx) {
  FillSources(height, &tables->rows);
  FillSources(width, &tables->columns);
  const int32_t* const columns = tables->columns.data();
  const bool twice = items == 1 && IsTwice(tables->columns, width.in);
  const int64_t in_size = height.in * width.in * items, out_row = width.out * items;
  constexpr int64_t kElementsPerPiece = 16384;
  const int64_t work = planes * (in_size + height.out * out_row);
  const int64_t pieces = std::min({int64_t{GetNumThreads()}, planes, work / kElementsPerPiece + 1});
  ParallelFor(static_cast<int>(pieces), [&](int piece) {
    for (int64_t p = planes * piece / pieces; p < planes * (piece + 1) / pieces; ++p) {
      float* const image = dx + p * in_size;
      std::fill_n(image, in_size, 0.0f);
      for (int64_t r = 0; r < height.out; ++r) {
        const float* const from = dy + (p * height.out + r) * out_row;
        float* const row = image + tables->rows[static_cast<size_t>(r)] * width.in * items;
        if (twice) {
          AddPairs(from, width.in, row);
        } else if (items == 1) {
          for (int64_t i = 0; i < width.out; ++i) row[columns[i]] += from[i];
        } else {
          for (int64_t i = 0; i < width.out; ++i) {
            AddRow(from + i * items, items, row + columns[i] * items);
          }
        }
      }
    }
  });
}

void TakePixels(CPUContext&, int64_t planes, int64_t items, const NearestAxis& height_axis,
                const NearestAxis& width_axis, PixelTables* tables, const float* x, float* y) {
  FillSources(height_axis, &tables->rows);
  FillSources(width_axis, &tables->columns);
  const std::vector<int32_t>& rows = tables->rows;
  const std::vector<int32_t>& columns = tables->columns;
  const int64_t in_height = height_axis.in, in_width = width_axis.in, width = width_axis.out;
  const size_t row_bytes = static_cast<size_t>(width * items) * sizeof(float);
  const bool twice = items == 1 && IsTwice(columns, in_width);
  for (int64_t p = 0; p < planes; ++p, x += in_height * in_width * items) {
    for (size_t r = 0; r < rows.size(); ++r, y += width * items) {
      const float* const row = x + rows[r] * in_width * items;
      if (r > 0 && rows[r] == rows[r - 1]) {
        std::memcpy(y, y - width * items, row_bytes);
      } else if (twice) {
        TwiceRow(row, in_width, y);
      } else if (items == 1) {
        TakeRow(row, columns.data(), width, y);
      } else {
        for (int64_t i = 0; i < width; ++i) {
          std::memcpy(y + i * items, row + columns[static_cast<size_t>(i)] * items,
                      static_cast<size_t>(items) * sizeof(float));
        }
      }
    }
  }
}

void RegisterResizeNearest() {
  RegisterSchema("ResizeNearest", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Args(kWidthScale, kHeightScale, kStorageOrder)
      .Input(0, "X", "[N, C, H, W] or [N, H, W, C]")
      .Input(1, "scales",
             "optional scale factors of height and width, [2]; overrides the arguments")
      .Output(0, "Y", "X resized to height and width trunc(size * scale)")
      .TensorInferenceFunction(InferResizeNearest)
      .InheritOnnxSchema("Upsample")
      .Traits({.family = OperatorFamily::kShape,
               .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kNchw}})
      .SetDoc(
          "Resizes images by nearest-neighbour sampling: each output pixel is a copy of the input "
          "pixel at its position divided by the scale, rounded down.");
  RegisterCpuOperator<ResizeNearestOp<CPUContext>>("ResizeNearest", __FILE__);

  RegisterSchema("ResizeNearestGradient", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .Args(kWidthScale, kHeightScale, kStorageOrder)
      .Input(0, "dY", "the gradient of the output of ResizeNearest")
      .Input(1, "X", "the input of ResizeNearest; only its shape is used")
      .Input(2, "scales", "optional, as in ResizeNearest")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(1)
      .SetDoc(
          "The gradient of ResizeNearest: adds each pixel to the one from which it was copied.");
  RegisterCpuOperator<ResizeNearestGradientOp<CPUContext>>("ResizeNearestGradient", __FILE__);
  RegisterGradient<GetResizeNearestGradient>("ResizeNearest", __FILE__);
}

}  // namespace caffe2rt
