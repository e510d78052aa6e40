// The anonymous memory of a process when LoadModel returns, and after the first run: the weights once,
// whether they come from a caffemodel or from an init net, from files or from memory.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::loaded_memory_test {
namespace {

// y is the sum of the layers w x + b, each with a filter of 4 MiB.
constexpr int64_t kLayers = 12, kSize = 1024;
constexpr double kWeightBytes = kLayers * (kSize * kSize + kSize) * sizeof(float);

std::string Floats(int64_t count, float value) {
  const std::vector<float> values(static_cast<size_t>(count), value);
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

void Write(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.Write(bytes);
  file.Commit();
}

// A filter has elements (i + 1) / 1024, a bias i: y = (1 + .. + 12) x + (0 + .. + 11) = 144 for x = 1.
class Writer {
 public:
  explicit Writer(const std::string& folder) {
    NetDef predict = ParseNet("name: 'n' external_input: 'x' external_output: 'y'");
    OperatorDef sum = CreateOperatorDef("Sum", "", {}, {"y"}, {});
    std::string text = MakeString("input: 'x' input_shape { dim: 1 dim: ", kSize, " }\n");
    std::string tops, init, weights;
    for (int64_t i = 0; i < kLayers; ++i) {
      const std::string name = MakeString("l", i), w = name + "_w", b = name + "_b";
      const float value = static_cast<float>(i + 1) / static_cast<float>(kSize);
      const std::string filter = Floats(kSize * kSize, value),
                        bias = Floats(kSize, static_cast<float>(i));
      init += Fill(w, {kSize, kSize}, filter) + Fill(b, {kSize}, bias);
      weights += Bytes(100, Bytes(1, name) + Blob({kSize, kSize}, filter) + Blob({kSize}, bias));
      text += "layer { name: '" + name + "' type: 'InnerProduct' bottom: 'x' top: '" + name +
              MakeString("' inner_product_param { num_output: ", kSize, " } }\n");
      tops += " bottom: '" + name + "'";
      predict.add_external_input(w);
      predict.add_external_input(b);
      *predict.add_op() = CreateOperatorDef("FC", "", {"x", w, b}, {name}, {});
      sum.add_input(name);
    }
    *predict.add_op() = sum;
    Write(folder + "/net.prototxt",
          text + "layer { name: 'y' type: 'Eltwise' top: 'y'" + tops + " }\n");
    Write(folder + "/net.caffemodel", weights);
    Write(folder + "/init_net.pb", init);
    WriteProtoToBinaryFile(predict, folder + "/predict_net.pb");
  }

 private:
  // Fields of OperatorDef: 2 output, 4 type, 5 arg; of Argument: 1 name, 5 floats.
  static std::string Fill(const std::string& name, const std::vector<int64_t>& dims,
                          const std::string& floats) {
    const std::string shape = MakeArgument("shape", dims).SerializeAsString();
    return Bytes(2, Bytes(2, name) + Bytes(4, "GivenTensorFill") + Bytes(5, shape) +
                        Bytes(5, Bytes(1, "values") + Bytes(5, floats)));
  }
  // Fields of BlobProto: 5 data, 7 shape.
  static std::string Blob(const std::vector<int64_t>& dims, const std::string& floats) {
    std::string packed;
    for (const int64_t dim : dims) packed += Varint(static_cast<uint64_t>(dim));
    return Bytes(7, Bytes(7, Bytes(1, packed)) + Bytes(5, floats));
  }
};

struct Growth {
  double loaded_bytes = 0, run_bytes = 0, y = 0;
};

// With what the system has swapped out.
double AnonymousBytes() {
  std::ifstream smaps("/proc/self/smaps_rollup");
  double sum = 0;
  for (std::string line; std::getline(smaps, line);) {
    for (const std::string_view field : {"Anonymous:", "Swap:"}) {
      if (line.starts_with(field)) sum += std::stod(line.substr(field.size())) * 1024;
    }
  }
  return sum;
}

Growth Measure(const std::function<Model()>& load) {
  EnsureBuiltinOperators();
  Tensor x(std::vector<int64_t>{1, kSize}, CPU);
  std::fill_n(x.mutable_data<float>(), kSize, 1.0f);
  Growth growth;
  const double before = AnonymousBytes();
  Model model = load();
  growth.loaded_bytes = AnonymousBytes() - before;
  Predictor predictor(std::move(model));
  std::vector<Tensor> out;
  CAFFE_ENFORCE(predictor({x}, &out), "the net failed");
  growth.run_bytes = AnonymousBytes() - before;
  growth.y = out.at(0).data<float>()[kSize - 1];
  return growth;
}

// Calls `function`, which returns a Growth, in a child process: what earlier work has freed may not
// serve the next.
template <class Function>
Growth InAProcess(Function function) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    int code = 1;
    try {
      const Growth growth = function();
      if (write(ends[1], &growth, sizeof(growth)) == sizeof(growth)) code = 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(code);
  }
  close(ends[1]);
  Growth growth;
  EXPECT_EQ(read(ends[0], &growth, sizeof(growth)), static_cast<ssize_t>(sizeof(growth)));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return growth;
}

TEST(LoadedMemoryTest, IsThatOfTheWeights) {
  const TempDir dir;
  (void)InAProcess([&] { return Writer(dir.path()), Growth(); });
  const std::string net = dir.path("net.prototxt"), weights = dir.path("net.caffemodel");
  const std::string init = dir.path("init_net.pb"), predict = dir.path("predict_net.pb");
  const Growth reference = InAProcess([&] {
    return Measure([&] { return LoadModel({.init_nets = {init}, .predict_net = predict}); });
  });
  const auto check = [&](const Growth& growth, const char* what) {
    SCOPED_TRACE(what);
    EXPECT_EQ(growth.y, 144);
#ifndef CAFFE2RT_SANITIZED  // sanitizers use additional memory
    EXPECT_GE(growth.loaded_bytes, kWeightBytes);
    EXPECT_LE(growth.loaded_bytes, 1.1 * kWeightBytes);
    EXPECT_LE(growth.run_bytes, 1.02 * reference.run_bytes);
#endif
  };
  check(reference, "NetDef");
  check(InAProcess([&] {
          return Measure([&] { return LoadModel({.predict_net = net, .weights = weights}); });
        }),
        "Caffe");
  check(InAProcess([&] {
          const std::string init_bytes = ReadWholeFile(init),
                            predict_bytes = ReadWholeFile(predict);
          return Measure([&] { return LoadModelFromMemory({init_bytes}, predict_bytes); });
        }),
        "NetDef in memory");
  check(InAProcess([&] {
          const std::string net_bytes = ReadWholeFile(net), weight_bytes = ReadWholeFile(weights);
          return Measure([&] { return LoadCaffeModelFromMemory(net_bytes, weight_bytes); });
        }),
        "Caffe in memory");
}

}  // namespace
}  // namespace caffe2rt::test::loaded_memory_test
