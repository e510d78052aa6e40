#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/image/space_to_batch_kernels.h"

namespace caffe2rt {

namespace {

template <class Index>
struct Image {
  Index batch, channels, height, width;
  explicit Image(const int64_t (&dims)[4])
      : batch(static_cast<Index>(dims[0])),
        channels(static_cast<Index>(dims[1])),
        height(static_cast<Index>(dims[2])),
        width(static_cast<Index>(dims[3])) {}
};

// A thread writes one element of the narrow images.
template <class Index>
struct TakeApart {
  Image<Index> wide, narrow;
  int64_t block, top, left;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), line = at / narrow.width, plane = line / narrow.height;
    const Index image = plane / narrow.channels, part = image / wide.batch;
    const int64_t row = line % narrow.height * block + part / block - top;
    const int64_t column = at % narrow.width * block + part % block - left;
    const bool inside = row >= 0 && row < wide.height && column >= 0 && column < wide.width;
    const int64_t n = image % wide.batch, c = plane % narrow.channels;
    y[i] = inside ? x[((n * wide.channels + c) * wide.height + row) * wide.width + column] : 0.0f;
  }
};

// A thread writes one element of the wide images.
template <class Index>
struct PutTogether {
  Image<Index> wide, narrow;
  int64_t block, top, left;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), line = at / wide.width, plane = line / wide.height;
    const int64_t n = plane / wide.channels, c = plane % wide.channels;
    const int64_t row = line % wide.height + top, column = at % wide.width + left;
    const bool inside =
        row >= 0 && row < narrow.height * block && column >= 0 && column < narrow.width * block;
    if (!inside) {
      y[i] = 0;
      return;
    }
    const int64_t image = (row % block * block + column % block) * wide.batch + n;
    y[i] = x[((image * narrow.channels + c) * narrow.height + row / block) * narrow.width +
             column / block];
  }
};

template <template <class> class Kernel>
void Move(CUDAContext& context, const char* name, const SpaceBatchArguments& args,
          const SpaceBatchShape& shape, const int64_t (&out)[4], const float* x, float* y) {
  const int64_t n = out[0] * out[1] * out[2] * out[3];
  ForIndex(n, [&](auto index) {
    using Index = decltype(index);
    const Kernel<Index> kernel{Image<Index>(shape.wide),
                               Image<Index>(shape.narrow),
                               args.block,
                               args.top,
                               args.left,
                               x,
                               y};
    ForEach(context, n, kernel, name);
  });
}

}  // namespace

void SpaceToBatch(CUDAContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* wide, float* narrow) {
  Move<TakeApart>(context, "SpaceToBatch", args, shape, shape.narrow, wide, narrow);
}

void BatchToSpace(CUDAContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* narrow, float* wide) {
  Move<PutTogether>(context, "BatchToSpace", args, shape, shape.wide, narrow, wide);
}

}  // namespace caffe2rt
