#pragma once
// Copies databases record by record.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/training/record_database.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct DatabasePlace {
  std::string type;  // of db.h
  std::string path;
};

struct DatabaseCopyOptions {
  // Called after each record with the number of those copied.
  std::function<void(int64_t records)> progress;
};

// Copies all records, in their order, with the same keys. A record that is a Datum of Caffe becomes
// TensorProtos: an encoded image stays encoded, a STRING [1]; pixels become BYTE [height, width,
// channels]; the label is an int32 [1]. (That is what convert_caffe_image_db wrote.) Returns the
// number of records. THROWS, naming the key, for a Datum of floats; the target then does not appear.
int64_t CopyDatabase(const DatabasePlace& from, const DatabasePlace& to,
                     const DatabaseCopyOptions& options = {});

// Distributes the records over new databases of the same type: record i goes to part i modulo
// `parts`, as split_db did. Part i is `prefix` followed by its number. Returns the paths. The parts
// appear one after the other once all records are written to them. THROWS if there are fewer
// records than parts; then none appears.
std::vector<std::string> SplitDatabase(const DatabasePlace& from, int parts,
                                       const std::string& prefix,
                                       const DatabaseCopyOptions& options = {});

}  // namespace caffe2rt
#pragma GCC visibility pop
