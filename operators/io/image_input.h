#pragma once
// ImageInput: reads a batch of images with their labels from a database, decodes and augments them.
//   reader: DBReader (or no input, and the arguments db and db_type)
//     ->  data: float [batch_size, channels, crop, crop], channels in the order blue, green, red
//         label: [batch_size] or [batch_size, num_labels]
//         additional outputs: [batch_size] or [batch_size, size]
// The records are described in image_record.h, what happens to an image in image_augmentation.h.
// After the last record of the database the first one follows. Batches are read and decoded ahead
// (batch_ahead.h), on decode_threads threads of the operator.
//
// What is random in an image depends on the seed of the operator and the record's position in the
// reader's order (epoch and number) only. The seed is that of the device option or, with the name of
// the operator's first output, that of the workspace; otherwise it differs from run to run of a
// program.

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/io/batch_ahead.h"
#include "operators/io/image_augmentation.h"
#include "operators/io/image_record.h"

namespace caffe2rt {

// The arguments of ImageInput. THROW if they contradict each other.
ImageRecordForm ReadImageRecordForm(const OperatorBase& op);
ImageAugmentation ReadImageAugmentation(const OperatorBase& op);
struct ImageDatabase {
  std::string type, path;  // empty path: the reader is an input
};
ImageDatabase ReadImageDatabase(const OperatorBase& op);

class ImageInputOp final : public Operator<CPUContext> {
 public:
  ImageInputOp(const OperatorDef& def, Workspace* ws);

  // Records that were left out because they are damaged, also in batches that no run has taken.
  int64_t skipped() const { return skipped_; }

  bool RunOnDevice() override;

 private:
  struct Item {
    db::DBRecord record;
    ImageRecord image;
    std::exception_ptr error;  // of a damaged record
  };
  const db::DBReader& Reader();
  // Reads and decodes a batch.
  void Fill(BatchRecords& records);
  // Reads the next record. With on_error "skip", leaves out those that the database cannot read.
  void ReadItem(BatchRecords& records, Item* item);
  // Decodes the image into `pixels`, the data of the batch, or sets the item's error.
  void MakeItem(size_t i, float* pixels);
  // Reads another record for each damaged one. THROWS the error of the first if it may not be left
  // out.
  void ReplaceDamaged(BatchRecords& records, float* pixels);
  // Counts a record that is left out. THROWS `error` if it may not be left out.
  void LeaveOut(const std::exception_ptr& error, int in_a_row);

  const ImageRecordForm form_;
  const ImageAugmentation augmentation_;
  const ImageDatabase database_;
  const bool skips_damaged_;
  const uint64_t random_key_;
  db::DBReader own_reader_;
  std::atomic<int64_t> skipped_ = 0;
  std::vector<Item> batch_;
  // The outputs of the batch that is read, and of the one that a run has taken.
  std::vector<Tensor> tensors_, taken_;
  std::vector<Tensor*> others_;           // of tensors_: the label and the additional outputs
  std::unique_ptr<ThreadPool> decoders_;  // null: one thread
  BatchAhead ahead_;                      // last: its thread uses the others
};

}  // namespace caffe2rt
