#pragma once
// Records from the binary files of CIFAR-10 and CIFAR-100 ("data_batch_1.bin", "train.bin"), plain
// or compressed by gzip. Source of the form: https://www.cs.toronto.edu/~kriz/cifar.html, section
// "binary version".

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/training/record.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Which classes the labels name. CIFAR-100 has two labels an image: its fine class, of 100, and
// its coarse one, of 20.
enum class CifarLabels { kCifar10, kCifar100, kCifar100Coarse };

struct CifarOptions {
  CifarLabels labels = CifarLabels::kCifar10;
  PixelOrder order = PixelOrder::kChannelsLast;
  int64_t limit = 0;  // records; 0: all
};

// Passes a record for each image of the files, in their order: the key is its number, in five
// digits; the data are bytes [32, 32, 3] or, with the channels first, [3, 32, 32], in
// the order red, green, blue; the label is an int32 [1]. (That is what make_cifar_db wrote.) THROWS
// if a file is not of this form: it ends within an image, has a label that is not one of its classes, or the files have more than 100,000 images.
void CifarRecords(const std::vector<std::string>& files, const CifarOptions& options,
                  const RecordAcceptor& accept);

// The files of a folder as it is published: "data_batch_1.bin" to "_5.bin" or "train.bin"; if
// `test`, "test_batch.bin" or "test.bin". THROWS if there are none.
std::vector<std::string> CifarFilesOf(const std::string& folder, bool test);

}  // namespace caffe2rt
#pragma GCC visibility pop
