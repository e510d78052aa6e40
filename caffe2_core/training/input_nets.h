#pragma once
// The operators that read a batch and prepare it for a net, according to an InputDef.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/training/data_facts.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/train.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct InputPlace {
  std::string reader;  // the blob of the DBReader
  int64_t batch_size = 0;
  bool is_test = false;           // nothing is changed at random
  std::string prefix = "";        // of the blobs
  std::string on_error = "stop";  // what a damaged record means
};

// The names of the blobs that the records fill, InputDef::blob or its default.
std::vector<std::string> InputBlobs(const InputDef& input);
// The blob among them that the net's result is compared with: "label", or else the last one; "" if
// there is only one blob.
std::string LabelBlob(const InputDef& input);

// Whether an ImageInput operator reads the records: encoded images, and pixels of which a part is cut
// out (InputDef::crop).
bool IsImageInput(const InputDef& input, const TensorFacts& facts);

// THROWS if the records do not fit the definition.
void CheckInput(const InputDef& input, const DataFacts& facts);

// The shape of the first input of the net for a batch of one, or {} if the records do not state it.
std::vector<int64_t> InputShape(const InputDef& input, const DataFacts& facts);

// The operators that read a batch into the blobs.
//   numbers: TensorProtosDBInput, then of the first tensor: Cast of bytes to float, NHWC2NCHW if it is pixels
//            [H, W, C] of bytes, ExpandDims if it is pixels [H, W] and InputDef::grey is set, Scale, Add; of integer labels: one dimension
//   images:  ImageInput (IsImageInput)
// REQUIRES: CheckInput.
std::vector<OperatorDef> InputOperators(const InputDef& input, const DataFacts& facts,
                                        const InputPlace& place);
// The operators that fill the blobs that these operators read beside the reader.
std::vector<OperatorDef> InputFills(const InputDef& input, const DataFacts& facts);

}  // namespace caffe2rt
#pragma GCC visibility pop
