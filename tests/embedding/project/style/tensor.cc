// Tensors: how users create, resize and fill them.
#include "caffe2/core/tensor.h"

#include <map>

#include "caffe2/core/blob.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/types.h"
#include "test.h"

using caffe2::CPU;
using caffe2::Tensor;
using caffe2::TensorCPU;
using caffe2::TIndex;
using std::vector;

TensorCPU MakeTensor() {
  TensorCPU t;
  t.Resize(2);
  t.mutable_data<float>()[1] = 3;
  return t;
}

STYLE_TEST(TensorsAreMadeInEveryWrittenForm) {
  std::vector<TensorCPU> many(3);
  std::unique_ptr<TensorCPU> p(new TensorCPU());
  std::map<std::string, TensorCPU*> m;
  STYLE_EXPECT(MakeTensor().data<float>()[1] == 3);
  Tensor t(CPU);
  Tensor u(std::vector<int>{1, 2}, CPU);
  Tensor braces{CPU};
  TensorCPU w(u.sizes(), caffe2::CPU);
  TensorCPU listed({1, 3, 4}, CPU);
  STYLE_EXPECT(listed.dims() == (vector<TIndex>{1, 3, 4}));
  STYLE_EXPECT(u.numel() + int64_t(u.sizes().size()) + u.dim() == 6);
  std::vector<float> values{1, 2};
  auto v = caffe2::TensorCPUFromValues<float>({2}, at::ArrayRef<float>{values});
  STYLE_EXPECT(v.data<float>()[1] == 2);
  caffe2::ReinitializeTensor(&t, {2, 2}, at::dtype<float>().device(CPU));
  STYLE_EXPECT(t.nbytes() == 16);
  STYLE_EXPECT(caffe2::empty({3}, at::dtype<int>()).itemsize() == 4);
}

STYLE_TEST(OlderFormsWithoutADeviceMeanTheCpu) {
  auto v = TensorCPU({2, 3}, std::vector<float>(6, 1.f), NULL);
  STYLE_EXPECT(v.data<float>()[5] == 1);
  TensorCPU tensor;
  tensor.ResizeLike(v);
  tensor.ShareData(v);
  STYLE_EXPECT(tensor.data<float>() == v.data<float>());
  TensorCPU b(std::vector<int>({1, 3, 8, 8}));
  TensorCPU four({1, 3, 224, 224});
  STYLE_EXPECT(four.size() == 3 * 224 * 224);
  TensorCPU a;
  a.Resize(std::vector<TIndex>({1, 2}));
  a.Resize(vector<TIndex>());
  STYLE_EXPECT(a.size() == 1);
  a.Resize(b.dims());
  STYLE_EXPECT(a.dim32(1) * a.dim(2) == 24);
}

STYLE_TEST(ShapesAndMemory) {
  TensorCPU in;
  int n = 1, c = 2;
  size_t w = 4;
  in.Resize(n, c, int64_t(3), w);
  std::vector<float> data(24, 2.f);
  in.ShareExternalPointer(data.data());
  STYLE_EXPECT(in.data<float>()[23] == 2);
  in.ShareExternalPointer((float*)data.data(), data.size() * sizeof(float));
  int64_t sum = 0;
  for (auto d : in.dims()) sum += d;
  STYLE_EXPECT(sum == 10 && in.dims()[1] == 2 && in.ndim() == 4);
  STYLE_EXPECT(in.size_from_dim(1) == 24 && in.size_to_dim(2) == 2 &&
               in.canonical_axis_index(-1) == 3);
  TensorCPU z;
  z.CopyFrom(in);
  STYLE_EXPECT(z.IsType<float>() && z.meta() == in.meta());
  caffe2::CPUContext context;
  TensorCPU y;
  y.CopyFrom(in, &context);
  STYLE_EXPECT(y.raw_data() != in.raw_data() && y.DebugString().find("float") != std::string::npos);
  y.Reshape(vector<int>{24});
  y.raw_mutable_data(in.meta());
  y.swap(z);
  Tensor copy(z, CPU);
  Tensor clone = copy.Clone();
  STYLE_EXPECT(clone.nbytes() == 96);
  y.FreeMemory();
}

STYLE_TEST(ConstTensorsAreWrittenThroughAHandle) {
  using namespace caffe2;  // NOLINT
  Blob blob;
  const auto& t = *BlobGetMutableTensor(&blob, CPU);
  handles::Writable(t).Resize(2, 3);
  handles::Writable(t).mutable_data<float>()[5] = 4;
  const Tensor& held = blob.Get<Tensor>();
  STYLE_EXPECT(held.dim(1) == 3 && held.data<float>()[5] == 4);
  handles::Writable(held).raw_mutable_data(TypeMeta::Make<int>());
  STYLE_EXPECT(t.IsType<int>());
  Tensor captured({1}, CPU);
  captured.mutable_data<float>();
  auto fill = [captured](float x) { *handles::Writable(captured).mutable_data<float>() = x; };
  fill(2);  // a copy shares the memory
  STYLE_EXPECT(*captured.data<float>() == 2);
  struct Scratch : Tensor {  // a derived class keeps its type
    using Tensor::Tensor;
  } scratch(CPU);
  const Scratch& view = scratch;
  Scratch& same = handles::Writable(view);
  STYLE_EXPECT(&same == &scratch);
}

STYLE_TEST(LayoutsAndTypesHaveTheirNames) {
  using namespace caffe2;  // NOLINT
  STYLE_EXPECT(StringToStorageOrder("NCHW") == StorageOrder::NCHW && NCHW == 2);
  STYLE_EXPECT(TypeMetaToDataType(TypeMeta::Make<float>()) == TensorProto::FLOAT);
  STYLE_EXPECT(DataTypeToTypeMeta(TensorProto::INT32).Match<int>());
  STYLE_EXPECT(TypeMeta::Id<int>() == TypeMeta::Make<int>().id());
  STYLE_EXPECT(HasCudaGPU() || NumCudaDevices() == 0);
  STYLE_EXPECT(CAFFE_GET_BLOCKS(1) == 1);
  constexpr int threads = CAFFE_CUDA_NUM_THREADS;
  STYLE_EXPECT(threads > 0);
  bool refused = HasCudaGPU();
  try {
    DeviceOption option;
    option.set_device_type(CUDA);
    new CUDAContext(option);
  } catch (const std::exception&) {
    refused = true;
  }
  STYLE_EXPECT(refused);
}
