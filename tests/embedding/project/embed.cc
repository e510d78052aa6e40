// A Predictor over the weights of a Workspace, called from 8 threads.
#include <atomic>
#include <cstdio>
#include <thread>

#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/predictor.h"

int main() {
  caffe2rt::NetDef init, predict;
  caffe2rt::ParseTextProto(R"(name: "init" op { type: "ConstantFill" output: "two"
      arg { name: "shape" ints: 4 } arg { name: "value" f: 2 } })",
                           "init", &init);
  caffe2rt::ParseTextProto(R"(name: "double" external_input: "x" external_input: "two"
      external_output: "y" op { type: "Mul" input: "x" input: "two" output: "y" })",
                           "double", &predict);
  caffe2rt::Workspace ws;
  if (!ws.RunNetOnce(init)) return 1;
  caffe2rt::Predictor predictor(caffe2rt::NetDef(), predict, &ws, /*run_init=*/false);

  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<caffe2rt::Tensor> y;
      for (int run = 0; run < 1000; ++run) {
        caffe2rt::Tensor x({4}, caffe2rt::CPU);
        for (int i = 0; i < 4; ++i) x.mutable_data<float>()[i] = static_cast<float>(t + run + i);
        predictor({x}, &y);
        for (int i = 0; i < 4; ++i)
          wrong += y[0].data<float>()[i] != static_cast<float>(2 * (t + run + i));
      }
    });
  }
  threads.clear();  // joins them
  std::printf("%d wrong values, %d instances\n", wrong.load(), predictor.num_instances());
  return wrong == 0 ? 0 : 1;
}
