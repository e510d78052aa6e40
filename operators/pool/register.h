#pragma once
// The built-in operators of this family.

namespace caffe2rt {

void RegisterPoolOperators();

void RegisterAveragePool();
void RegisterMaxPool();

}  // namespace caffe2rt
