// Makes weights in a Workspace, serves a net over them to 8 threads.
#include <cstdio>
#include <thread>
#include <vector>

#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/predictor.h"
#include "caffe2_core/runtime/workspace.h"

using namespace caffe2rt;  // NOLINT: a small program

int main() {
  NetDef init, predict;
  ParseTextProto(R"(name: "init" op { type: "ConstantFill" output: "two"
                     arg { name: "shape" ints: 4 } arg { name: "value" f: 2 } })",
                 "init", &init);
  ParseTextProto(R"(name: "double" external_input: "x" external_input: "two" external_output: "y"
                     op { type: "Mul" input: "x" input: "two" output: "y" })",
                 "double", &predict);
  Workspace ws;
  if (!ws.RunNetOnce(init)) return 1;
  Predictor predictor(NetDef(), predict, &ws, false);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int run = 0; run < 1000; ++run) {
        Tensor x(std::vector<int64_t>{4}, CPU);
        for (int i = 0; i < 4; ++i)
          x.mutable_data<float>()[i] = static_cast<float>(t * 1000 + run + i);
        std::vector<Tensor> y;
        predictor({x}, &y);
        for (int i = 0; i < 4; ++i) wrong += y[0].data<float>()[i] != 2.0f * (t * 1000 + run + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d wrong values, %d instances\n", wrong.load(), predictor.num_instances());
  return wrong == 0 ? 0 : 1;
}
