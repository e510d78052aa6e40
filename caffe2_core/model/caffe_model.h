#pragma once
// Loads models of Caffe (caffe2_core/import/caffe) as models. Internal to the library.

#include <string>
#include <string_view>

#include "caffe2_core/model/model_file.h"

namespace caffe2rt {

// Whether the content of the file is a net of Caffe: a prototxt, or a binary net.
bool IsCaffeNetFile(const std::string& path);

// Imports options.predict_net with options.weights. THROWS for options that do not go together.
void LoadCaffeModel(const ModelFileOptions& options, Model* model);
// The same for files in memory. If `weights` is empty, the layers are filled by their fillers.
void LoadCaffeBytes(std::string_view net, std::string_view weights, const ModelFileOptions& options,
                    Model* model);

}  // namespace caffe2rt
