#pragma once
// Imports models of Caffe: a prototxt and a caffemodel become an init net, whose weights are read
// straight into their tensors, and a predict net.
//
//   CaffeModel model = ImportCaffe({.net = "deploy.prototxt", .weights = "net.caffemodel"});
//
// Nothing of the files is run, and no file that they name is opened. README.md of this folder lists
// the layers.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct CaffeImportOptions {
  // A prototxt, or a binary net.
  std::string net = {};
  // A caffemodel, also in text. If empty, the blobs in `net`, or else the fillers of the layers.
  std::string weights = {};
  // The shapes of inputs, by name. They replace those in the file.
  std::map<std::string, std::vector<int64_t>> input_shapes = {};
  // The same for blobs that need not be inputs: other names have no effect.
  std::map<std::string, std::vector<int64_t>> given_shapes = {};
  // Which layers belong to the net: the phase is TEST, unless this is set.
  bool train = false;
  // Level and stages besides those in the file.
  int64_t level = 0;
  std::vector<std::string> stages = {};
};

struct CaffeInput {
  std::string name;
  std::vector<int64_t> dims;  // empty if the file does not tell
};

// How the data layers of the file prepare images: (x - mean) * scale. Fields that are not set are
// empty or 0.
struct CaffeTransform {
  float scale = 1;
  std::vector<float> mean_values = {};  // one, or one for each channel, in BGR order
  std::string mean_file = {};
  int64_t crop_size = 0;
  bool mirror = false;
};

struct CaffeModel {
  NetDef init_net, predict_net;
  std::vector<OperatorWeights> weights;  // of init_net
  std::vector<CaffeInput> inputs;
  std::vector<std::string> outputs;
  CaffeTransform transform;
  std::map<std::string, std::string> layer_blobs;  // the blob that each layer writes first
  std::vector<std::string> notes;                  // what was left out or assumed, a line each
  // A layer whose operators fit only the heights and widths of `inputs`; "" if there is none.
  std::string fixed_size_layer;
};

// THROWS an error with the place in the file, or the name of the layer, if the model cannot be
// imported. An error about layers that are not supported lists all of them.
CaffeModel ImportCaffe(const CaffeImportOptions& options);
// The same for files in memory. If `weights` is empty, the layers are filled by their fillers.
CaffeModel ImportCaffeFromMemory(std::string_view net, std::string_view weights,
                                 const CaffeImportOptions& options);

// The mean image in a binaryproto, [1, C, H, W] or [C, H, W]. THROWS if the file is not one.
Tensor ReadCaffeMean(const std::string& path);

}  // namespace caffe2rt
#pragma GCC visibility pop
