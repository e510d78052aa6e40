#include "caffe2_core/graph/net_file.h"

#include <filesystem>
#include <new>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/standard_streams.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The absolute path of a database that exists in the net's folder but not under the root; otherwise
// empty.
std::string BesideTheNet(const std::string& path, const std::string& root,
                         const std::string& folder) {
  const fs::path relative(path);
  if (path.empty() || relative.is_absolute() || Exists(fs::path(root) / relative)) return "";
  std::error_code ignored;
  const fs::path beside = fs::absolute(fs::path(folder) / relative, ignored);
  return Exists(beside) ? beside.string() : "";
}

// CreateDB does not prepend the root folder, so a path under the root becomes absolute as well.
void FindCreatedDatabase(OperatorDef* op, const std::string& root, const std::string& folder) {
  for (Argument& arg : *op->mutable_arg()) {
    if (arg.name() != "db" || arg.s().empty() || fs::path(arg.s()).is_absolute()) continue;
    const std::string beside = BesideTheNet(arg.s(), root, folder);
    std::error_code ignored;
    if (!beside.empty()) {
      arg.set_s(beside);
    } else if (Exists(fs::path(root) / arg.s())) {
      arg.set_s(fs::absolute(fs::path(root) / arg.s(), ignored).string());
    }
  }
}

void FindDatabasesOf(OperatorDef* op, const std::string& root, const std::string& folder) {
  if (op->type() == "CreateDB") FindCreatedDatabase(op, root, folder);
  if (op->type() != "Load" && op->type() != "DBExists") return;
  if (GetFlagArgument(*op, "absolute_path")) return;
  std::vector<std::string*> paths;
  for (Argument& arg : *op->mutable_arg()) {
    if (arg.name() == "db" || arg.name() == "db_name") paths.push_back(arg.mutable_s());
    if (arg.name() != "dbs") continue;
    for (std::string& path : *arg.mutable_strings()) paths.push_back(&path);
  }
  bool found = false;
  for (const std::string* path : paths) found |= !BesideTheNet(*path, root, folder).empty();
  if (!found) return;
  // absolute_path applies to all paths, so those under the root become absolute as well.
  for (std::string* path : paths) {
    const std::string beside = BesideTheNet(*path, root, folder);
    std::error_code ignored;
    *path = !beside.empty() ? beside : fs::absolute(fs::path(root) / *path, ignored).string();
  }
  GetMutableArgument("absolute_path", true, op)->set_i(1);
}

void FindDatabases(NetDef* net, const std::string& root, const std::string& folder, int depth) {
  if (depth > kMaxNetDepth) return;
  for (OperatorDef& op : *net->mutable_op()) {
    FindDatabasesOf(&op, root, folder);
    for (Argument& arg : *op.mutable_arg()) {
      if (arg.has_n()) FindDatabases(arg.mutable_n(), root, folder, depth + 1);
      for (NetDef& nested : *arg.mutable_nets()) FindDatabases(&nested, root, folder, depth + 1);
    }
  }
}

}  // namespace

NetDef LoadNet(const std::string& path, ProtoKindCheck check) try {
  NetDef net;
  LoadProto(path, &net, check);
  NameNet(&net, FileStem(path));
  return net;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string FileStem(const std::string& path) try {
  return IsStandardStream(path) ? "stdin" : fs::path(path).stem().string();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void NameNet(NetDef* net, const std::string& name) try {
  CAFFE_ENFORCE(net != nullptr, "argument net of NameNet is null");
  if (net->name().empty()) net->set_name(name);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void FindDatabases(NetDef* net, const std::string& root, const std::string& folder) try {
  CAFFE_ENFORCE(net != nullptr, "argument net of FindDatabases is null");
  FindDatabases(net, root, folder, 0);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
