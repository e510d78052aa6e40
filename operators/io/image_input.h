#pragma once
// ImageInput: reads a batch of images with their labels from a database, decodes and augments them.
//   reader: DBReader (or no input, and the arguments db and db_type)
//     ->  data: float [batch_size, channels, crop, crop], channels in the order blue, green, red
//         label: [batch_size] or [batch_size, num_labels]
//         additional outputs: [batch_size] or [batch_size, size]
// The records are described in image_record.h, what happens to an image in image_augmentation.h.
// After the last record of the database the first one follows. Images are decoded on the threads of
// the pool; records are not read ahead.

#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/io/image_augmentation.h"
#include "operators/io/image_record.h"

namespace caffe2rt {

// The arguments of ImageInput. THROW if they contradict each other.
ImageRecordForm ReadImageRecordForm(const OperatorBase& op);
ImageAugmentation ReadImageAugmentation(const OperatorBase& op);
int ReadImageBatchSize(const OperatorBase& op);
bool SkipsDamagedImages(const OperatorBase& op);
struct ImageDatabase {
  std::string type, path;  // empty path: the reader is an input
};
ImageDatabase ReadImageDatabase(const OperatorBase& op);

class ImageInputOp final : public Operator<CPUContext> {
 public:
  ImageInputOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        form_(ReadImageRecordForm(*this)),
        augmentation_(ReadImageAugmentation(*this)),
        database_(ReadImageDatabase(*this)),
        skips_damaged_(SkipsDamagedImages(*this)),
        batch_(static_cast<size_t>(ReadImageBatchSize(*this))) {}

  // Records that were left out because they are damaged.
  int64_t skipped() const { return skipped_; }

  bool RunOnDevice() override;

 private:
  struct Item {
    std::string key, value;
    uint32_t seed = 0;
    ImageRecord record;
    std::exception_ptr error;  // of a damaged record
  };
  const db::DBReader& Reader();
  // Fills the batch; an item of a damaged record has an error.
  void ReadBatch(const db::DBReader& reader, float* pixels);
  void MakeItem(Item* item, float* pixels) const;
  // Reads another record for each damaged one. THROWS the error of the first if it may not be skipped.
  void ReplaceDamaged(const db::DBReader& reader, float* pixels);

  const ImageRecordForm form_;
  const ImageAugmentation augmentation_;
  const ImageDatabase database_;
  const bool skips_damaged_;
  db::DBReader own_reader_;
  int64_t skipped_ = 0;
  std::vector<Item> batch_;
  std::vector<Tensor*> outputs_;  // all but the data
};

}  // namespace caffe2rt
