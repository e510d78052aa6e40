#pragma once
// Key-value databases.
#include <future>
#include <mutex>

#include "c10/util/Registry.h"
#include "caffe2/core/blob_serialization.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/io/db.h"

namespace caffe2 {
namespace db {
using ::caffe2rt::db::Caffe2DBRegistry;
using ::caffe2rt::db::CreateDB;
using ::caffe2rt::db::Cursor;
using ::caffe2rt::db::DB;
using ::caffe2rt::db::DBExists;
using ::caffe2rt::db::DBReader;
using ::caffe2rt::db::Mode;
using ::caffe2rt::db::NEW;
using ::caffe2rt::db::READ;
using ::caffe2rt::db::Transaction;
using ::caffe2rt::db::WRITE;
}  // namespace db
}  // namespace caffe2
