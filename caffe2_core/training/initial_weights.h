#pragma once
// The weights that a training starts with: new ones by the shapes of a trained net, or those of a file.

#include <string>
#include <vector>

#include "caffe2_core/training/training_nets.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/train.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Replaces the operators that fill blobs with given floats: by XavierFill with two dimensions or more,
// else by zeros. The shapes stay, and scalars do, which are not weights.
void UseFreshFills(NetDef* init);

// Adds a loss to the net: "softmax" and "squared" compare its last output with the label, and add
// blobs as ModelBuilder does, with longer names where the net has such blobs; any other text is the
// blob of a loss that the net has. A Softmax at the end of the net becomes a part of the loss
// "softmax". THROWS if the net has not one output.
void AddLoss(const std::string& loss, TrainDef* def);

struct InitialWeights {
  std::vector<std::string> found;      // blobs of the net that the file has, with the same shape
  std::vector<std::string> not_found;  // the other parameters, with the reason
};

// Finds the parameters of the nets in `file` (a checkpoint, a database of weights, a predictor's
// database or an init net) and writes those with the same name and shape to the minidb `target`.
// THROWS if the file cannot be read, or has none of them.
InitialWeights CollectInitialWeights(const std::string& file, const TrainingNets& nets,
                                     const std::string& target);

}  // namespace caffe2rt
#pragma GCC visibility pop
