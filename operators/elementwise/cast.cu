// The kernels of Cast, for each pair of input type and output type.

#include "operators/elementwise/cast_kernels.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

namespace internal {

template <class Types>
struct CastRows;
template <class... Ts>
struct CastRows<ElementTypes<Ts...>> {
  template <class To>
  using Row = UnaryRow<CastFunction<To>, Ts...>;
  using Table = const FunctionTable<Row<Ts>...>;
};

}  // namespace internal

template struct CudaKernels<internal::CastRows<CastTypes>::Table>;

}  // namespace caffe2rt
