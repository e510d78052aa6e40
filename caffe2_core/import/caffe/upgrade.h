#pragma once
// Brings nets of Caffe's three generations into one form: layers as V2 has them.
//
// V0: `layers { layer { type: "conv" kernelsize: 3 } bottom: ... }`, with padding as layers.
// V1: `layers { type: CONVOLUTION ... }`. V2: `layer { type: "Convolution" ... }`.

#include <string>
#include <vector>

#include "caffe2_core/import/caffe/message_tree.h"

namespace caffe2rt {

struct CaffeLayer {
  std::string name = {}, type = {};
  std::vector<std::string> bottoms = {}, tops = {};
  std::vector<std::string> shared = {};  // the names of shared parameters; "" for others
  CaffeMessage fields = {};              // with the names of V2, such as convolution_param
  CaffePlace place = {};
};

struct CaffeNet {
  std::string name;
  std::vector<CaffeLayer> layers;
};

// What decides which layers belong to the net.
struct CaffeState {
  bool train = false;  // phase TRAIN
  int64_t level = 0;
  std::vector<std::string> stages = {};
};

// The state in the file, which is TEST if it has none.
CaffeState StateOf(const CaffeMessage& net);

// The layers that the rules keep for the state. Fields `input` become a layer of type Input. THROWS
// for a file with both `layer` and `layers`, and for a layer with include and exclude rules.
CaffeNet UpgradeCaffeNet(const CaffeMessage& net, const CaffeState& state);

// Whether the fields are those of a solver.
bool IsCaffeSolver(const CaffeMessage& message);

}  // namespace caffe2rt
