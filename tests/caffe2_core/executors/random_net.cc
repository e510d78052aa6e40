#include "tests/caffe2_core/executors/random_net.h"

#include <cstdlib>

#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

constexpr int kBlobs = 10;

std::string Quoted(const char* letter, int number) {
  return MakeString("\"", letter, number, "\"");
}

}  // namespace

RandomNet::RandomNet(uint32_t seed, const RandomNetOptions& options)
    : random_(seed), draws_(options.draws) {
  const int operators = Below(options.most_operators - 4) + 5;
  for (int i = 0; i < operators; ++i) operators_.push_back(AnyOperator());
}

void RandomNet::Insert(const std::string& op) {
  const int place = Below(static_cast<int>(operators_.size()) + 1);
  operators_.insert(operators_.begin() + place, op);
}

std::string RandomNet::text() const {
  std::string text = R"(name: "n" external_input: "yes" external_input: "q" )";
  for (int i = 0; i < kBlobs; ++i) {
    const std::string blob = Quoted("b", i);
    text += MakeString("external_input: ", blob, " external_output: ", blob, " ");
  }
  for (const std::string& op : operators_) text += op + "\n";
  return text;
}

NetDef RandomNet::Def(const std::string& type) const {
  NetDef def = ParseNet(text());
  def.set_type(type);
  if (type == "dag" || type == "prof_dag") def.set_num_workers(3);
  return def;
}

std::string RandomNet::Blob() { return Quoted("b", Below(kBlobs)); }

std::string RandomNet::Control() {
  return Below(8) == 0 ? MakeString(" control_input: ", Blob()) : std::string();
}

std::string RandomNet::OneOperator() {
  const int read = Below(kBlobs);
  const std::string in = Quoted("b", read);
  const std::string out = Quoted("b", (read + 1 + Below(kBlobs - 1)) % kBlobs);
  switch (Below(draws_ ? 12 : 9)) {
    case 0:
      return MakeString("op { type: \"Relu\" input: ", in, " output: ", in, Control(), " }");
    case 1:
      return MakeString("op { type: \"Add\" input: ", in, " input: ", Blob(), " output: ", out,
                        Control(), " }");
    case 2:
      return MakeString("op { type: \"Sub\" input: ", in, " input: ", Blob(), " output: ", in,
                        " }");
    case 3:
      return MakeString("op { type: \"Scale\" input: ", in, " output: ", out,
                        " arg { name: \"scale\" f: 0.75 }", Control(), " }");
    case 4:
      return MakeString("op { type: \"Sin\" input: ", in, " output: ", out, Control(), " }");
    case 5:
      return MakeString("op { type: \"Alias\" input: ", in, " output: ", Quoted("a", Below(3)),
                        " }");
    case 6:
      return MakeString("op { type: \"ExecutorTestCall\" name: \"slow\" input: ", in,
                        " output: ", in, Control(), " }");
    case 7:
      if (Below(3) != 0) break;
      return MakeString("op { type: \"ExecutorTestCall\" name: \"flaky\" input: ", in,
                        " output: ", in, Control(), " }");
    case 9:
      return MakeString("op { type: \"UniformFill\" output: ", out,
                        " device_option { random_seed: 7 } arg { name: \"shape\" ints: 8 } }");
    case 10:
      return MakeString("op { type: \"GaussianFill\" output: ", out, Control(),
                        " arg { name: \"shape\" ints: 8 } }");
    case 11:
      return MakeString("op { type: \"Dropout\" input: ", in, " output: ", out, " output: ",
                        Quoted("mask", Below(3)), " arg { name: \"is_test\" i: 0 }", Control(), " }");
    default:
      break;
  }
  return MakeString("op { type: \"Copy\" input: ", in, " output: ", out, " }");
}

std::string RandomNet::AnyOperator() {
  if (Below(10) != 0) return OneOperator();
  std::string op = R"(op { type: "If" input: "yes" arg { name: "then_net" n { )";
  for (int i = 0; i < 3; ++i) op += OneOperator();
  return op + "} } }";
}

void FeedBlobs(Workspace* ws) {
  ws->SetRandomSeed(3);
  Feed<bool>(ws, "yes", {}, {true});
  for (int i = 0; i < kBlobs; ++i) {
    FeedRandom(ws, MakeString("b", i), {8}, -1, 1, static_cast<uint32_t>(i));
  }
  if (!ws->HasBlob("q")) RunOp(ws, R"(type: "CreateBlobsQueue" output: "q")");
}

std::string BytesOfBlobs(const Workspace& ws) {
  std::string bytes;
  for (int i = 0; i < kBlobs; ++i) {
    const Tensor& tensor = ws.GetBlob(MakeString("b", i))->Get<Tensor>();
    bytes.append(static_cast<const char*>(tensor.raw_data()), tensor.nbytes());
  }
  return bytes;
}

int NumberFromEnvironment(const char* name, int otherwise) {
  const char* const number = std::getenv(name);
  return number != nullptr ? std::atoi(number) : otherwise;
}

}  // namespace caffe2rt::test
