#pragma once
// The values that the blobs of a net have, one after the other: when the net begins, and after each
// operator that writes them.
//
//   operator                     values
//                                w, x                          read from outside the net
//   0: FC    x w -> y            y after operator 0
//   1: Relu  y -> y              y after operator 1, the last value of y

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct BlobValue {
  std::string blob = {};
  // The operator that writes it, as a position in the net; -1: the blob has it when the net begins.
  int position = -1;
  // A unique text for the value: the name of the blob for its last value, `y after operator 0` or
  // `x before the run` for earlier ones, with "_" appended where a blob has that name.
  std::string key = {};
  int from_last = 0;   // the number of later values of the blob
  bool only = true;    // the blob has no other value
  bool stays = false;  // the blob still has the value when the net has finished

  // The text for a reader: `y` if it is the only value, else `y after operator 1`.
  std::string Title() const;
};

// Lists the values in the order in which they appear. Blobs that share memory are taken into account
// as NetDependencies does.
std::vector<BlobValue> ListBlobValues(const NetDef& net);

}  // namespace caffe2rt
#pragma GCC visibility pop
