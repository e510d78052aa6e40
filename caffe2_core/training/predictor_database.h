#pragma once
// Writes a trained net as a predictor's database, which LoadPredictor and `caffe2 run --predictor`
// read, as Caffe2's predictor_exporter wrote it.

#include <string>

#include "caffe2_core/model/image_preparation.h"
#include "caffe2_core/training/data_facts.h"
#include "caffe2_core/training/training_nets.h"
#include "caffe2rt/train.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// How images become inputs of the net, if its data are images.
ImagePreparation PreparationFor(const InputDef& input, const DataFacts& facts);

// Writes or replaces the minidb `path`, which appears whole or not at all: the nets, the parameters
// from `ws`, and the preparation. THROWS if a parameter does not exist or the file cannot be written.
void SavePredictor(const std::string& path, const TrainingNets& nets,
                   const ImagePreparation& preparation, const Workspace& ws);

}  // namespace caffe2rt
#pragma GCC visibility pop
