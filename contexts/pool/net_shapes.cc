#include "contexts/pool/net_shapes.h"

#include <algorithm>

namespace caffe2rt::internal {
namespace {

// Appends layers and tracks their shapes [batch, channels, side, side].
class NetShapes {
 public:
  struct Blob {
    size_t layer;
    size_t channels;
    size_t side;
  };

  explicit NetShapes(int64_t batch) : batch_(static_cast<size_t>(batch)) {}

  Blob Input(size_t channels, size_t side) { return Add({}, channels, side); }

  // The workspace holds one image lowered to columns (im2col), up to Caffe2's limit of 64 MiB.
  Blob Conv(Blob x, size_t channels, size_t kernel, size_t stride, size_t pad, bool bias = false) {
    const size_t side = (x.side + 2 * pad - kernel) / stride + 1;
    const Blob y = Add({x.layer}, channels, side);
    layers.back().weight_bytes = 4 * channels * (x.channels * kernel * kernel + (bias ? 1 : 0));
    if (kernel > 1) {
      const size_t columns = 4 * x.channels * kernel * kernel * side * side;
      layers.back().workspace_bytes = std::min(columns, size_t{64} << 20);
    }
    return y;
  }
  Blob BatchNorm(Blob x) {
    const Blob y = Add({x.layer}, x.channels, x.side);
    layers.back().weight_bytes = 4 * 2 * x.channels;
    layers.back().saved_bytes = 4 * 2 * x.channels;
    return y;
  }
  Blob Pool(Blob x, size_t kernel, size_t stride, size_t pad) {
    return Add({x.layer}, x.channels, (x.side + 2 * pad - kernel) / stride + 1);
  }
  Blob Sum(Blob a, Blob b) { return Add({a.layer, b.layer}, a.channels, a.side); }
  Blob FC(Blob x, size_t outputs) {
    const Blob y = Add({x.layer}, outputs, 1);
    layers.back().weight_bytes = 4 * outputs * (x.channels * x.side * x.side + 1);
    return y;
  }
  Blob Softmax(Blob x) { return Add({x.layer}, x.channels, x.side); }

  std::vector<Layer> layers;

 private:
  Blob Add(std::vector<size_t> inputs, size_t channels, size_t side) {
    layers.push_back({.inputs = std::move(inputs),
                      .output_bytes = 4 * batch_ * channels * side * side,
                      .weight_bytes = 0,
                      .workspace_bytes = 0,
                      .saved_bytes = 0});
    return {layers.size() - 1, channels, side};
  }
  const size_t batch_;
};

NetShapes::Blob Bottleneck(NetShapes& net, NetShapes::Blob x, size_t width, size_t stride,
                           bool project) {
  NetShapes::Blob y = net.BatchNorm(net.Conv(x, width, 1, 1, 0));
  y = net.BatchNorm(net.Conv(y, width, 3, stride, 1));
  y = net.BatchNorm(net.Conv(y, 4 * width, 1, 1, 0));
  const NetShapes::Blob shortcut =
      project ? net.BatchNorm(net.Conv(x, 4 * width, 1, stride, 0)) : x;
  return net.Sum(y, shortcut);
}

}  // namespace

std::vector<Layer> LeNetLayers(int64_t batch) {
  NetShapes net(batch);
  NetShapes::Blob x = net.Pool(net.Conv(net.Input(1, 28), 20, 5, 1, 0, true), 2, 2, 0);
  x = net.Pool(net.Conv(x, 50, 5, 1, 0, true), 2, 2, 0);
  net.Softmax(net.FC(net.FC(x, 500), 10));
  return net.layers;
}

std::vector<Layer> ResNet50Layers(int64_t batch) {
  NetShapes net(batch);
  NetShapes::Blob x = net.BatchNorm(net.Conv(net.Input(3, 224), 64, 7, 2, 3));
  x = net.Pool(x, 3, 2, 1);
  const size_t blocks[] = {3, 4, 6, 3};
  for (size_t stage = 0; stage < 4; ++stage) {
    for (size_t i = 0; i < blocks[stage]; ++i) {
      const size_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = Bottleneck(net, x, size_t{64} << stage, stride, i == 0);
    }
  }
  net.Softmax(net.FC(net.Pool(x, 7, 1, 0), 1000));
  return net.layers;
}

}  // namespace caffe2rt::internal
