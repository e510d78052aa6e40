#pragma once
// Writes the inputs that the libFuzzer targets start from, for the formats of nets, plans, tensors
// and databases. Those of images and arrays are part of the repository (tests/fuzz/corpus).

#include <string>

namespace caffe2rt::test {

// Writes small files to FOLDER/TARGET for each target. They depend only on the registered
// operators, the demo's files and fixed seeds. THROWS if a file cannot be written.
void WriteSeeds(const std::string& folder);

}  // namespace caffe2rt::test
