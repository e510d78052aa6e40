#include "tests/benchmarks/vgg19_files.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"

namespace caffe2rt::test {
namespace {

// Both forms of the net, layer by layer. An operator and a layer have the same name.
class Vgg19Writer {
 public:
  explicit Vgg19Writer(const Vgg19Files& files)
      : files_(files), caffemodel_(files.caffemodel), init_net_(files.init_net) {
    caffemodel_.Write(Bytes(1, "vgg19"));
    init_net_.Write(Bytes(1, "vgg19_init"));
    predict_.set_name("vgg19");
    predict_.add_external_input("data");
    prototxt_ =
        "name: \"vgg19\"\nlayer { name: \"data\" type: \"Input\" top: \"data\"\n"
        "  input_param { shape { dim: 1 dim: 3 dim: 224 dim: 224 } } }\n";
  }

  void Convolution(int64_t channels) {
    Layer("Convolution", "Conv", "convolution_param", {{"kernel", 3}, {"pad", 1}},
          MakeString("num_output: ", channels, " kernel_size: 3 pad: 1"));
    Parameters({channels, channels_, 3, 3});
    channels_ = channels;
    Relu();
  }
  void MaxPool() {
    Layer("Pooling", "MaxPool", "pooling_param", {{"kernel", 2}, {"stride", 2}},
          "pool: MAX kernel_size: 2 stride: 2");
    plane_ /= 4;
  }
  void InnerProduct(int64_t outputs) {
    Layer("InnerProduct", "FC", "inner_product_param", {}, MakeString("num_output: ", outputs));
    Parameters({outputs, channels_ * plane_});
    channels_ = outputs;
    plane_ = 1;
  }
  void Relu() {
    prototxt_ += "layer { name: \"relu_" + blob_ + "\" type: \"ReLU\" bottom: \"" + blob_ +
                 "\" top: \"" + blob_ + "\" }\n";
    *predict_.add_op() = CreateOperatorDef("Relu", "", {blob_}, {blob_}, {});
  }
  void Finish() {
    prototxt_ +=
        "layer { name: \"prob\" type: \"Softmax\" bottom: \"" + blob_ + "\" top: \"prob\" }\n";
    *predict_.add_op() = CreateOperatorDef("Softmax", "", {blob_}, {"prob"}, {});
    predict_.add_external_output("prob");
    AtomicFile prototxt(files_.prototxt);
    prototxt.Write(prototxt_);
    prototxt.Commit();
    WriteProtoToBinaryFile(predict_, files_.predict_net);
    caffemodel_.Commit();
    init_net_.Commit();
    CAFFE_ENFORCE_EQ(bytes_, kVgg19WeightBytes, "bytes of the weights");
  }

 private:
  // The layer reads the last blob, and its own becomes the last.
  void Layer(const std::string& layer, const std::string& op, const std::string& param,
             const std::vector<std::pair<const char*, int>>& arguments, const std::string& fields) {
    const std::string name = MakeString("layer", ++layers_);
    prototxt_ += "layer { name: \"" + name + "\" type: \"" + layer + "\" bottom: \"" + blob_ +
                 "\" top: \"" + name + "\"\n  " + param + " { " + fields + " } }\n";
    std::vector<Argument> args;
    for (const auto& argument : arguments) {
      args.push_back(MakeArgument(argument.first, argument.second));
    }
    *predict_.add_op() = CreateOperatorDef(op, "", {blob_}, {name}, args);
    blob_ = name;
    type_ = layer;
  }

  // The filter and the bias of the last layer.
  void Parameters(const std::vector<int64_t>& filter) {
    int64_t fan_in = 1;
    for (size_t i = 1; i < filter.size(); ++i) fan_in *= filter[i];
    const auto width = static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in)));
    // Fields of LayerParameter: 1 name, 2 type, 7 blobs; 100 layer of NetParameter.
    const std::string blobs =
        Weight(blob_ + "_w", filter, width) + Weight(blob_ + "_b", {filter[0]}, 0.1f);
    caffemodel_.Write(Bytes(100, Bytes(1, blob_) + Bytes(2, type_) + blobs));
  }

  // Writes the weight to the init net, and returns it as a blob of Caffe.
  std::string Weight(const std::string& name, const std::vector<int64_t>& shape, float width) {
    size_t count = 1;
    for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
    bytes_ += count * sizeof(float);
    std::string packed(count * sizeof(float), '\0'), tagged(count * (1 + sizeof(float)), '\0');
    for (size_t i = 0; i < count; ++i) {
      const float value = Random() * width;
      std::memcpy(packed.data() + i * sizeof(value), &value, sizeof(value));
      tagged[i * (1 + sizeof(value))] = 5 << 3 | 5;
      std::memcpy(tagged.data() + i * (1 + sizeof(value)) + 1, &value, sizeof(value));
    }
    Argument dims = MakeArgument("shape", shape);
    // Fields of OperatorDef: 2 output, 4 type, 5 arg; of Argument: 1 name.
    init_net_.Write(Bytes(2, Bytes(2, name) + Bytes(4, "GivenTensorFill") +
                                 Bytes(5, dims.SerializeAsString()) +
                                 Bytes(5, Bytes(1, "values") + tagged)));
    predict_.add_external_input(name);
    predict_.mutable_op(predict_.op_size() - 1)->add_input(name);
    std::string packed_dims;
    for (const int64_t dim : shape) packed_dims += Varint(static_cast<uint64_t>(dim));
    return Bytes(7, Bytes(7, Bytes(1, packed_dims)) + Bytes(5, packed));
  }

  // Uniform in [-1, 1).
  float Random() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<int32_t>(state_ >> 32)) / 2147483648.0f;
  }

  const Vgg19Files files_;
  AtomicFile caffemodel_, init_net_;
  NetDef predict_;
  std::string prototxt_, blob_ = "data", type_;
  int layers_ = 0;
  int64_t channels_ = 3, plane_ = 224 * 224;
  size_t bytes_ = 0;
  uint64_t state_ = 1;
};

}  // namespace

Vgg19Files Vgg19FilesIn(const std::string& folder) {
  return {.prototxt = folder + "/vgg19.prototxt",
          .caffemodel = folder + "/vgg19.caffemodel",
          .init_net = folder + "/init_net.pb",
          .predict_net = folder + "/predict_net.pb"};
}

void WriteVgg19(const std::string& folder) {
  const Vgg19Files files = Vgg19FilesIn(folder);
  if (std::filesystem::exists(files.init_net)) return;  // the last one that is written
  std::filesystem::create_directories(folder);
  Vgg19Writer writer(files);
  for (const auto& [convolutions, channels] :
       {std::pair{2, 64}, std::pair{2, 128}, std::pair{4, 256}, std::pair{4, 512},
        std::pair{4, 512}}) {
    for (int i = 0; i < convolutions; ++i) writer.Convolution(channels);
    writer.MaxPool();
  }
  for (const int outputs : {4096, 4096}) {
    writer.InnerProduct(outputs);
    writer.Relu();
  }
  writer.InnerProduct(1000);
  writer.Finish();
}

}  // namespace caffe2rt::test
