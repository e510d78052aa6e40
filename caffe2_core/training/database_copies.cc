#include "caffe2_core/training/database_copies.h"

#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/db.h"

namespace caffe2rt {
namespace {

// From planes to pixels.
std::string ChannelsLast(const CaffeDatum& datum) {
  const auto channels = static_cast<size_t>(datum.channels());
  const std::string& planes = datum.data();
  const size_t pixels = planes.size() / channels;
  std::string bytes(planes.size(), '\0');
  for (size_t channel = 0; channel < channels; ++channel) {
    for (size_t i = 0; i < pixels; ++i)
      bytes[i * channels + channel] = planes[channel * pixels + i];
  }
  return bytes;
}

std::string RecordOf(const CaffeDatum& datum, const std::string& key) {
  TensorProtos tensors;
  TensorProto* const data = tensors.add_protos();
  if (datum.encoded()) {
    data->set_data_type(TensorProto::STRING);
    data->add_dims(1);
    data->add_string_data(datum.data());
  } else {
    CAFFE_ENFORCE(
        datum.has_data(), "record \"", key,
        "\" is a Datum of floats, want one of bytes; caffe2 convert writes its floats as tensors");
    data->set_data_type(TensorProto::BYTE);
    for (const int64_t dim : {datum.height(), datum.width(), datum.channels()}) data->add_dims(dim);
    data->set_byte_data(ChannelsLast(datum));
  }
  AddLabel(datum.label(), LabelDims::kOne, &tensors);
  return tensors.SerializeAsString();
}

// Calls `put` with the key and the value of each record.
template <class Put>
void ForEachRecord(const DatabasePlace& from, const DatabaseCopyOptions& options, Put put) {
  const std::unique_ptr<db::DB> source = db::OpenDB(from.type, from.path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = source->NewCursor();
  int64_t records = 0;
  for (; cursor->Valid(); cursor->Next()) {
    put(cursor->key(), cursor->value());
    ++records;
    if (options.progress) options.progress(records);
  }
  CAFFE_ENFORCE_GT(records, 0, "records of the database \"", from.path, "\"");
}

}  // namespace

int64_t CopyDatabase(const DatabasePlace& from, const DatabasePlace& to,
                     const DatabaseCopyOptions& options) {
  RecordDatabase target(to.type, to.path);
  ForEachRecord(from, options, [&](const std::string& key, const std::string& value) {
    CaffeDatum datum;
    target.Put(key, ParseDatum(value, &datum) ? RecordOf(datum, key) : value);
  });
  target.Finish();
  return target.records();
}

std::vector<std::string> SplitDatabase(const DatabasePlace& from, int parts,
                                       const std::string& prefix,
                                       const DatabaseCopyOptions& options) {
  CAFFE_ENFORCE_GT(parts, 0, "parts of the database \"", from.path, "\"");
  std::vector<std::unique_ptr<RecordDatabase>> targets;
  std::vector<std::string> paths;
  for (int i = 0; i < parts; ++i) {
    paths.push_back(MakeString(prefix, i));
    targets.push_back(std::make_unique<RecordDatabase>(from.type, paths.back()));
  }
  size_t next = 0;
  ForEachRecord(from, options, [&](const std::string& key, const std::string& value) {
    targets[next]->Put(key, value);
    next = (next + 1) % targets.size();
  });
  CAFFE_ENFORCE_GT(targets.back()->records(), 0, "records of the last of ", parts, " parts of \"",
                   from.path, "\"");
  for (const auto& target : targets) target->Finish();
  return paths;
}

}  // namespace caffe2rt
