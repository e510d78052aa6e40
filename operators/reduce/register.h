#pragma once
// The built-in operators of this family.

namespace caffe2rt {

void RegisterReduceOperators();

void RegisterReduceFrontBack();
void RegisterReductions();
void RegisterRowMax();
void RegisterSumElements();
void RegisterSumReduceLike();

}  // namespace caffe2rt
