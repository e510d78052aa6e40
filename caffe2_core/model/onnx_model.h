#pragma once
// Loads models of ONNX (caffe2_core/import/onnx) as models. Internal to the library.

#include <string>
#include <string_view>

#include "caffe2_core/model/model_file.h"

namespace caffe2rt {

// Whether the content of the file, or else its name, is that of an ONNX model.
bool IsOnnxFile(const std::string& path);
bool IsOnnxContent(std::string_view bytes);

// Imports options.predict_net. THROWS for options that do not go together.
void LoadOnnxModel(const ModelFileOptions& options, Model* model);
// The same for a file in memory.
void LoadOnnxBytes(std::string_view bytes, const ModelFileOptions& options, Model* model);

}  // namespace caffe2rt
