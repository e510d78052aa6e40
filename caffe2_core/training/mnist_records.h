#pragma once
// Records from the files of MNIST and of data sets in its form (Fashion-MNIST, KMNIST, EMNIST):
// "train-images-idx3-ubyte" and "train-labels-idx1-ubyte", plain or compressed by gzip.
// Source of the form: http://yann.lecun.com/exdb/mnist, section "file formats".

#include <cstdint>
#include <string>

#include "caffe2_core/training/record.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct MnistFiles {
  std::string images;
  std::string labels;
};

struct MnistOptions {
  PixelOrder order = PixelOrder::kChannelsLast;
  int64_t limit = 0;  // records; 0: all
};

// Passes a record for each image: the key is its number, in eight digits; the data are bytes [rows,
// columns, 1] or, with the channels first, [1, rows, columns]; the label is an int32 without dims.
// (That is what make_mnist_db wrote.) THROWS if a file is not of this form, or if the numbers of
// images and labels differ.
void MnistRecords(const MnistFiles& files, const MnistOptions& options,
                  const RecordAcceptor& accept);

}  // namespace caffe2rt
#pragma GCC visibility pop
