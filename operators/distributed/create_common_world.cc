#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "operators/distributed/collective.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kWorldSize{.name = "size",
                                       .doc = "number of ranks",
                                       .check = {[](int size) { return size > 0; }, "above 0"},
                                       .required = true};
constexpr ArgumentSpec<int> kWorldRank{.name = "rank",
                                       .doc = "number of this process, 0 to size - 1",
                                       .check = {[](int rank) { return rank >= 0; }, "0 or above"},
                                       .required = true};
constexpr ArgumentSpec<std::string> kWorldTransport{"transport", "tcp",
                                                    "what the engine uses: tcp"};
constexpr ArgumentSpec<std::string> kWorldInterface{
    "interface", "",
    "name or IPv4 address of the network interface on which to listen; if empty, 127.0.0.1, for "
    "ranks on one machine"};
constexpr ArgumentSpec<bool> kWorldMpiRendezvous{
    "mpi_rendezvous", false, "find the other ranks with MPI, which is not available"};
constexpr ArgumentSpec<int> kWorldTimeout{
    "timeout_ms", -1,
    "longest time in milliseconds to wait for the other ranks, at the creation and in each "
    "operation; 0 or less: 30000"};
constexpr ArgumentSpec<int> kWorldGeneration{
    "generation",
    0,
    "part of the keys in the store: a world that continues the work of a broken one has the next "
    "one",
    {[](int generation) { return generation >= 0; }, "0 or above"}};

class CreateCommonWorldOp final : public CollectiveOp {
 public:
  CreateCommonWorldOp(const OperatorDef& def, Workspace* ws) : CollectiveOp(def, ws) {
    options_.engine = def.engine();
    options_.name = def.name();
    options_.size = ReadArgument(kWorldSize);
    options_.rank = ReadArgument(kWorldRank);
    options_.transport = ReadArgument(kWorldTransport);
    options_.interface = ReadArgument(kWorldInterface);
    options_.generation = ReadArgument(kWorldGeneration);
    const int timeout = ReadArgument(kWorldTimeout);
    if (timeout > 0) options_.timeout = std::chrono::milliseconds(timeout);
    CAFFE_ENFORCE(!def.engine().empty() || options_.size == 1,
                  "the operator names no engine, want one that connects processes, such as GLOO");
    CAFFE_ENFORCE(!def.name().empty(),
                  "the operator has no name, want one: it is the prefix of the world's keys");
    CAFFE_ENFORCE(!ReadArgument(kWorldMpiRendezvous),
                  "argument mpi_rendezvous is true, but MPI is not available: give the operator a "
                  "store handler");
  }

 private:
  void Work() override {
    StoreBlob store;
    if (InputSize() > 0) store = OperatorBase::Input<StoreBlob>(0);
    OutputBlob(0)->Reset();  // leaves an earlier world, whose keys have the same names
    OutputBlob(0)->Reset(new CommonWorldBlob(CommonWorld::Create(options_, std::move(store))));
  }

  WorldOptions options_;
};

}  // namespace

void RegisterCreateCommonWorld() {
  DeclareSynchronizedType<CommonWorldBlob>();
  DeclareSynchronizedType<StoreBlob>();
  CollectiveSchema("CreateCommonWorld", __FILE__)
      .NumInputs(0, 1)
      .NumOutputs(1)
      .Args(kWorldSize, kWorldRank, kCollectiveSync, kWorldTransport, kWorldInterface,
            kWorldMpiRendezvous, kWorldTimeout, kWorldGeneration)
      .Input(0, "kv_handler", "a store in which the ranks find each other; not needed for one rank")
      .Output(0, "comm_world", "the world")
      .SynchronizedInputs({0})
      .SetDoc(
          "Creates a world: connects `size` processes, each of which runs this operator with the "
          "same name and its own "
          "rank. The engine of the operator moves the data.");
  RegisterCpuOperator<CreateCommonWorldOp>("CreateCommonWorld", __FILE__);
}

}  // namespace caffe2rt
