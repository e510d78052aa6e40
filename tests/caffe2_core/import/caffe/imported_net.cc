#include "tests/caffe2_core/import/caffe/imported_net.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "caffe2_core/model/init_net.h"
#include "caffe2_core/runtime/net.h"

namespace caffe2rt::test {

void RunImported(CaffeModel model, const NamedTensors& inputs, Workspace* ws) {
  RunInitNet(NetWithWeights{.net = std::move(model.init_net), .weights = std::move(model.weights)},
             ws);
  for (const auto& [name, tensor] : inputs) *ws->CreateBlob(name)->GetMutableTensor(CPU) = tensor;
  ASSERT_TRUE(ws->RunNetOnce(model.predict_net));
}

Tensor RunCaffeText(const std::string& net, const std::string& weights, const NamedTensors& inputs,
                    const std::string& top) {
  Workspace ws;
  RunImported(ImportCaffeFromMemory(net, weights, {}), inputs, &ws);
  return ws.GetBlob(top)->Get<Tensor>();
}

Tensor Floats(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  Tensor tensor(dims, CPU);
  EXPECT_EQ(tensor.numel(), static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

double Difference(const Tensor& got, const Tensor& want) {
  if (got.sizes() != want.sizes()) return 1e30;
  double largest = 1, difference = 0;
  const float* a = got.data<float>();
  const float* b = want.data<float>();
  for (int64_t i = 0; i < got.numel(); ++i) {
    if (std::isnan(a[i])) return 1e30;
    largest = std::max<double>(largest, std::abs(b[i]));
    difference = std::max<double>(difference, std::abs(a[i] - b[i]));
  }
  return difference / largest;
}

}  // namespace caffe2rt::test
