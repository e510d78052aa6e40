#pragma once
// The folder of a training: made for a new run, read to go on, removed if nothing came of it.

#include <string>

#include "caffe2rt/train.pb.h"

namespace caffe2rt {

// THROWS if the folder exists and is not empty, or cannot be created.
void CreateRunFolder(const std::string& folder);

void WriteRunDef(const RunDef& run, const std::string& folder);
// THROWS if the folder is not that of a training.
RunDef ReadRunDef(const std::string& folder);

// Removes what a run has before its first step ends: its definition, its first weights, its log and `checkpoint` ("":
// none). The folder stays if something else is in it.
void RemoveRunFolder(const std::string& folder, const std::string& checkpoint);

}  // namespace caffe2rt
