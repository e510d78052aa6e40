#pragma once
// What the two sources of this folder, one of each generation, call of each other. Only types that
// mean the same in both may appear here.
#include <string>

namespace caffe2rt {
class Workspace;
}

// Defined in templated.cc: fills `blob` with `count` numbers; and the sum of a blob.
void FillTemplated(caffe2rt::Workspace* ws, const std::string& blob, int count);
float SumTemplated(caffe2rt::Workspace* ws, const std::string& blob);
