#pragma once
// What models of Caffe and of ONNX have in common when they become models of files. Internal to the
// library.

#include <string>
#include <utility>

#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/model/model_file.h"

namespace caffe2rt {

// Moves the nets, weights, outputs and notes of a CaffeModel or OnnxModel into the model. `stem` names
// nets without a name.
template <class Imported>
void TakeImportedNets(Imported* imported, const std::string& stem, Model* model) {
  NameNet(&imported->init_net, stem + "_init");
  NameNet(&imported->predict_net, stem);
  model->init_nets.push_back(std::move(imported->init_net));
  model->init_weights.push_back(std::move(imported->weights));
  model->predict_net = std::move(imported->predict_net);
  model->outputs = std::move(imported->outputs);
  for (std::string& note : imported->notes) model->notes.push_back(std::move(note));
}

}  // namespace caffe2rt
