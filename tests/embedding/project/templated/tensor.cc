// Tensors and blobs of sources in which Tensor is a template over the context.
#include "caffe2/core/tensor.h"

#include <map>

#include "../style/test.h"
#include "caffe2/core/blob.h"
#include "caffe2/core/blob_serialization.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/workspace.h"
#include "caffe2/utils/smart_tensor_printer.h"

using namespace std;     // NOLINT: as users write
using namespace caffe2;  // NOLINT

namespace {

template <class C>
TIndex CountOf(const Tensor<C>& tensor) {
  return tensor.size();
}

template <class C>
void FillBlob(Blob* blob, float value) {
  auto* t = blob->template GetMutable<Tensor<C>>();
  t->Resize(4);
  float* data = t->template mutable_data<float>();
  for (int i = 0; i < t->size(); ++i) data[i] = value;
}

TensorCPU MakeTensor() {
  TensorCPU t;
  t.Resize(2);
  t.mutable_data<float>()[1] = 3;
  return t;
}

}  // namespace

STYLE_TEST(TemplatedTensorsAreMadeInEveryWrittenForm) {
  auto v = TensorCPU({2, 3}, std::vector<float>(6, 1.f), NULL);
  STYLE_EXPECT(v.data<float>()[5] == 1 && v.dims() == (vector<TIndex>{2, 3}));
  TensorCPU a;
  TensorCPU b(std::vector<int>({1, 3, 8, 8}));
  TensorCPU four({1, 3, 224, 224});
  STYLE_EXPECT(four.size() == 3 * 224 * 224);
  a.Resize(std::vector<TIndex>({1, 2}));
  a.Resize(vector<TIndex>());
  STYLE_EXPECT(a.size() == 1 && a.ndim() == 0);
  a.Resize(b.dims());
  STYLE_EXPECT(a.dim32(1) * a.dim(2) == 24);
  std::vector<TensorCPU> many(3);
  std::unique_ptr<TensorCPU> p(new TensorCPU());
  std::map<std::string, TensorCPU*> m;
  m["p"] = p.get();
  STYLE_EXPECT(MakeTensor().data<float>()[1] == 3 && many[2].size() == -1);
  CPUContext context;
  Tensor<CPUContext> scalar(2.5f, &context);
  STYLE_EXPECT(scalar.ndim() == 0 && *scalar.data<float>() == 2.5f);
  Tensor<CPUContext> copied(v, &context), also_copied(v);
  STYLE_EXPECT(copied.raw_data() != v.raw_data() || also_copied.raw_data() == v.raw_data());
  STYLE_EXPECT(CountOf(v) == 6);
}

STYLE_TEST(TemplatedTensorsAreResizedByAnyNumbers) {
  enum { kRows = 3 };
  TensorCPU t;
  t.Resize(kRows, 2.0f, size_t(4), int64_t(1));
  STYLE_EXPECT(t.dims() == (vector<TIndex>{3, 2, 4, 1}));
  t.Resize(vector<size_t>{2, 2});
  t.Reshape(vector<int>{4});
  STYLE_EXPECT(t.dim32(0) == 4 && t.size_from_dim(0) == 4);
  std::vector<float> data(4, 2.f);
  t.ShareExternalPointer(data.data());
  STYLE_EXPECT(t.data<float>() == data.data() && t.shares_data());
  TensorCPU other;
  other.ResizeLike(t);
  other.ShareData(t);
  STYLE_EXPECT(other.data<float>() == data.data());
  other.swap(t);
  TensorCPU sum;
  sum.CopyFrom(other);
  CPUContext context;
  sum.CopyFrom<CPUContext>(other, &context);
  sum.ResizeLike<CPUContext>(other);
  sum.Extend(2, 50, static_cast<CPUContext*>(nullptr));
  STYLE_EXPECT(sum.dim(0) == 6 && sum.data<float>()[3] == 2);
  sum.Shrink(1);
  sum.Reserve(vector<TIndex>{8}, static_cast<CPUContext*>(nullptr));
  STYLE_EXPECT(sum.dim(0) == 1);
}

STYLE_TEST(CopiesOfTemplatedTensorsShareTheMemory) {
  Workspace ws;
  FillBlob<CPUContext>(ws.CreateBlob("x"), 7);
  auto copy = ws.GetBlob("x")->Get<TensorCPU>();
  STYLE_EXPECT(copy.data<float>() == ws.GetBlob("x")->Get<TensorCPU>().data<float>());
  const auto& y = ws.GetBlob("x")->Get<caffe2::TensorCPU>();
  auto& x = *ws.CreateBlob("x")->GetMutable<caffe2::TensorCPU>();
  STYLE_EXPECT(&x == &y && y.data<float>()[3] == 7);
}

STYLE_TEST(BlobsTestTheDeviceOfATemplatedTensor) {
  Blob blob;
  bool is_new = false;
  blob.GetMutable<TensorCPU>(&is_new);
  STYLE_EXPECT(is_new && blob.IsType<TensorCPU>() && !blob.IsType<TensorCUDA>());
  STYLE_EXPECT(blob.IsType<Tensor<CPUContext>>() && !blob.IsType<Tensor<CUDAContext>>());
  STYLE_EXPECT(blob.meta().Match<TensorCPU>() && blob.meta().id() == TypeMeta::Id<TensorCPU>());
  bool threw = false;
  try {
    blob.Get<TensorCUDA>();
  } catch (const EnforceNotMet& error) {
    threw = std::string(error.what()).find("it holds a tensor on CPU") != std::string::npos;
  }
  STYLE_EXPECT(threw);
  // GetMutable replaces a tensor of another device.
  TensorCUDA* there = blob.GetMutable<TensorCUDA>(&is_new);
  STYLE_EXPECT(is_new && there->GetDeviceType() == CUDA && blob.IsType<TensorCUDA>());
  blob.Reset(new TensorCPU(std::vector<int>{2}));
  STYLE_EXPECT(blob.Get<TensorCPU>().size() == 2);
  TensorCPU outside;
  blob.ShareExternal<TensorCPU>(&outside);
  STYLE_EXPECT(&blob.Get<TensorCPU>() == &outside);
  blob.Reset(new std::vector<int>(3));
  STYLE_EXPECT(!blob.IsType<TensorCPU>() && blob.Get<std::vector<int>>().size() == 3);
}

STYLE_TEST(SerializersAreTemplatesToo) {
  TensorCPU t({2}, std::vector<float>{1, 4}, nullptr);
  TensorProto proto;
  TensorSerializer<CPUContext>().Serialize(t, "t", &proto, 0, static_cast<int32_t>(t.size()));
  TensorCPU back;
  TensorDeserializer<CPUContext>().Deserialize(proto, &back);
  STYLE_EXPECT(back.data<float>()[1] == 4);
  Blob blob, copy;
  blob.Reset(new TensorCPU(back));
  copy.Deserialize(blob.Serialize("t"));
  STYLE_EXPECT(copy.Get<TensorCPU>().data<float>()[0] == 1);
  SmartTensorPrinter::PrintTensor(back);
  STYLE_EXPECT(TensorPrinter("t").MetaStr(back).find("(2,)") != std::string::npos);
}

STYLE_TEST(TemplatedTensorsDescribeTheirShape) {
  TensorCPU x;
  int n = 2, c = 3;
  x.Resize(n, c, int64_t(2), size_t(1));
  TIndex sum = 0;
  for (auto d : x.dims()) sum += d;
  STYLE_EXPECT(sum == 8 && x.dims()[0] == 2 && x.dim32(0) * x.dim(1) == 6);
  STYLE_EXPECT(x.size_from_dim(1) == 6 && x.canonical_axis_index(-1) == 3);
  std::vector<float> data(12, 3.f);
  const float* p = data.data();
  x.ShareExternalPointer((float*)p, data.size() * sizeof(float));
  STYLE_EXPECT(x.data<float>() == p && x.data<float>()[11] == 3);
  CPUContext context;
  TensorCPU copy, *y = &copy, z;
  y->CopyFrom(x, &context);
  z.CopyFrom(x);
  STYLE_EXPECT(z.raw_data() != p && copy.data<float>()[4] == 3);
  std::string s = x.DebugString();
  STYLE_EXPECT(s.find("float") != std::string::npos);
}
