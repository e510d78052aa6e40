// Plans of trainings as whole texts: each operator of each net with its arguments, and the steps.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/model_builder.h"
#include "caffe2_core/training/training_plan.h"
#include "tests/caffe2_core/training/small_run.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::training_text_test {
namespace {

std::string ValueOf(const Argument& arg) {
  if (arg.has_f()) return MakeString(arg.f());
  if (arg.has_i()) return MakeString(arg.i());
  if (arg.has_s()) return arg.s();
  if (arg.floats_size() > 0)
    return MakeString(std::vector<float>(arg.floats().begin(), arg.floats().end()));
  if (arg.ints_size() > 0)
    return MakeString(std::vector<int64_t>(arg.ints().begin(), arg.ints().end()));
  return "[]";
}

std::string TextOf(const OperatorDef& op) {
  std::string line = "  " + op.type();
  for (const std::string& input : op.input()) line += " " + input;
  line += " ->";
  for (const std::string& output : op.output()) line += " " + output;
  for (const Argument& arg : op.arg()) line += " " + arg.name() + "=" + ValueOf(arg);
  return line + (op.is_gradient_op() ? " (gradient)\n" : "\n");
}

std::string TextOf(const NetDef& net) {
  std::string text = net.name() + (net.type().empty() ? "" : " " + net.type()) + ":\n";
  for (const OperatorDef& op : net.op()) text += TextOf(op);
  return text;
}

std::string TextOf(const ExecutionStep& step, const std::string& indent) {
  std::string text = indent + "step " + step.name();
  for (const std::string& net : step.network()) text += " " + net;
  if (step.has_num_iter()) text += MakeString(" x ", step.num_iter());
  text += "\n";
  for (const ExecutionStep& substep : step.substep()) text += TextOf(substep, indent + "  ");
  return text;
}

std::string TextOf(const PlanDef& plan) {
  std::string text = plan.name() + "\n";
  for (const NetDef& net : plan.network()) text += TextOf(net);
  for (const ExecutionStep& step : plan.execution_step()) text += TextOf(step, "");
  return text;
}

// The third step of an epoch has the last four of 20 records. Of the 18 records of the test, two are left after two
// batches of 8; each batch counts by its share, 8 / 18 and 2 / 18.
TEST(TrainingTextTest, OfAWholeTraining) {
  RunDef run = SmallRun();
  run.mutable_train()->mutable_input()->add_mean(3);
  run.set_shuffle(true);
  run.set_seed(7);
  run.set_init("weights.minidb");
  EXPECT_EQ(TextOf(MakeTrainingPlan(run, {Pixels(20), Pixels(18)}, {.folder = "out"}).plan), R"(net
net_init:
  XavierFill -> conv_w shape=[2, 1, 4, 4]
  ConstantFill -> conv_b shape=[2]
  ConstantFill -> bn_s shape=[2] value=1
  ConstantFill -> bn_b shape=[2]
  ConstantFill -> bn_rm shape=[2] value=0
  ConstantFill -> bn_riv shape=[2] value=1
  XavierFill -> fc_w shape=[3, 2]
  ConstantFill -> fc_b shape=[3]
  ConstantFill -> optimizer_iteration shape=[1] dtype=10 value=0
  ConstantFill -> optimizer_one shape=[1] value=1
  ConstantFill conv_w -> conv_w_momentum
  ConstantFill conv_b -> conv_b_momentum
  ConstantFill bn_s -> bn_s_momentum
  ConstantFill bn_b -> bn_b_momentum
  ConstantFill fc_w -> fc_w_momentum
  ConstantFill fc_b -> fc_b_momentum
  CreateDB -> train_reader db_type=minidb db=pixels.minidb shuffle=1 shuffle_seed=7
  GivenTensorFill -> input_offset shape=[1] values=[-3]
  Load -> db=weights.minidb db_type=minidb absolute_path=1 load_all=1
net_train:
  TensorProtosDBInput train_reader -> data_read label_read batch_size=8
  Cast data_read -> data_float to=1
  NHWC2NCHW data_float -> data_planes
  Add data_planes input_offset -> data broadcast=1
  FlattenToVec label_read -> label
  Conv data conv_w conv_b -> conv kernel=4 deterministic=1
  SpatialBN conv bn_s bn_b bn_rm bn_riv -> bn bn_rm bn_riv bn_sm bn_siv is_test=0 momentum=0.9
  FC bn fc_w fc_b -> fc
  SoftmaxWithLoss fc label -> softmax loss
  Accuracy softmax label -> accuracy
  ConstantFill loss -> loss_autogen_grad value=1
  SoftmaxWithLossGradient fc label softmax loss_autogen_grad -> fc_grad (gradient)
  FCGradient bn fc_w fc_grad -> fc_w_grad fc_b_grad bn_grad (gradient)
  SpatialBNGradient conv bn_s bn_grad bn_sm bn_siv -> conv_grad bn_s_grad bn_b_grad is_test=0 momentum=0.9 (gradient)
  ConvGradient data conv_w conv_grad -> conv_w_grad conv_b_grad data_grad kernel=4 deterministic=1 (gradient)
  Iter optimizer_iteration -> optimizer_iteration
  LearningRate optimizer_iteration -> learning_rate policy=fixed base_lr=0.01
  MomentumSGDUpdate conv_w_grad conv_w_momentum learning_rate conv_w -> conv_w_grad conv_w_momentum conv_w momentum=0.9
  MomentumSGDUpdate conv_b_grad conv_b_momentum learning_rate conv_b -> conv_b_grad conv_b_momentum conv_b momentum=0.9
  MomentumSGDUpdate bn_s_grad bn_s_momentum learning_rate bn_s -> bn_s_grad bn_s_momentum bn_s momentum=0.9
  MomentumSGDUpdate bn_b_grad bn_b_momentum learning_rate bn_b -> bn_b_grad bn_b_momentum bn_b momentum=0.9
  MomentumSGDUpdate fc_w_grad fc_w_momentum learning_rate fc_w -> fc_w_grad fc_w_momentum fc_w momentum=0.9
  MomentumSGDUpdate fc_b_grad fc_b_momentum learning_rate fc_b -> fc_b_grad fc_b_momentum fc_b momentum=0.9
net_test_begin:
  CreateDB -> test_reader db_type=minidb db=pixels.minidb
  GivenTensorFill -> input_offset shape=[1] values=[-3]
  ConstantFill -> test_one shape=[1] value=1
  ConstantFill -> test_loss_mean shape=[1] value=0
  ConstantFill -> test_weight_8 shape=[1] value=0.444444
  ConstantFill -> test_accuracy_mean shape=[1] value=0
  ConstantFill -> test_weight_2 shape=[1] value=0.111111
net_test:
  TensorProtosDBInput test_reader -> test_data_read test_label_read batch_size=8
  Cast test_data_read -> test_data_float to=1
  NHWC2NCHW test_data_float -> test_data_planes
  Add test_data_planes input_offset -> test_data broadcast=1
  FlattenToVec test_label_read -> test_label
  Conv test_data conv_w conv_b -> test_conv kernel=4
  SpatialBN test_conv bn_s bn_b bn_rm bn_riv -> test_bn is_test=1 momentum=0.9
  FC test_bn fc_w fc_b -> test_fc
  SoftmaxWithLoss test_fc test_label -> test_softmax test_loss
  Accuracy test_softmax test_label -> test_accuracy
  WeightedSum test_loss_mean test_one test_loss test_weight_8 -> test_loss_mean
  WeightedSum test_accuracy_mean test_one test_accuracy test_weight_8 -> test_accuracy_mean
net_test_rest:
  TensorProtosDBInput test_reader -> test_data_read test_label_read batch_size=2
  Cast test_data_read -> test_data_float to=1
  NHWC2NCHW test_data_float -> test_data_planes
  Add test_data_planes input_offset -> test_data broadcast=1
  FlattenToVec test_label_read -> test_label
  Conv test_data conv_w conv_b -> test_conv kernel=4
  SpatialBN test_conv bn_s bn_b bn_rm bn_riv -> test_bn is_test=1 momentum=0.9
  FC test_bn fc_w fc_b -> test_fc
  SoftmaxWithLoss test_fc test_label -> test_softmax test_loss
  Accuracy test_softmax test_label -> test_accuracy
  WeightedSum test_loss_mean test_one test_loss test_weight_2 -> test_loss_mean
  WeightedSum test_accuracy_mean test_one test_accuracy test_weight_2 -> test_accuracy_mean
net_checkpoint:
  Checkpoint optimizer_iteration train_reader input_offset conv_w conv_b bn_s bn_b bn_rm bn_riv fc_w fc_b conv_w_momentum conv_b_momentum bn_s_momentum bn_b_momentum fc_w_momentum fc_b_momentum -> db=out/checkpoint-%d every=1 db_type=minidb absolute_path=1
net_save:
  Save conv_w conv_b bn_s bn_b bn_rm bn_riv fc_w fc_b -> db=out/weights.minidb db_type=minidb absolute_path=1
step init net_init
step epoch x 3
  step train net_train x 3
  step test_begin net_test_begin
  step test net_test x 2
  step test_rest net_test_rest
  step epoch_end net_checkpoint
step save net_save
)");
}

// Rank 1 of 3 has 3 of the 8 records of a step and 6 of the 18 of the test, in batches of 3. It goes on after 4 of 9
// steps, and saves nothing.
TEST(TrainingTextTest, OfTheSecondOfThreeRanks) {
  RunDef run = SmallRun();
  for (const float std : {2.f, 4.f, 8.f}) run.mutable_train()->mutable_input()->add_std(std);
  const TrainingPlanOptions options = {.ranks = {.rank = 1, .size = 3, .store = "file:/s"},
                                       .checkpoint = "c",
                                       .iteration = 4,
                                       .epoch = 1,
                                       .folder = "out"};
  EXPECT_EQ(TextOf(MakeTrainingPlan(run, {Pixels(20), Pixels(18)}, options).plan), R"(net
net_init:
  Load -> input_factor bn_rm bn_riv conv_w conv_b bn_s bn_b fc_w fc_b optimizer_iteration conv_w_momentum conv_b_momentum bn_s_momentum bn_b_momentum fc_w_momentum fc_b_momentum db=c db_type=minidb absolute_path=1 keep_device=1
  CreateDB -> train_reader db_type=minidb db=pixels.minidb num_shards=3 shard_id=1 block=8 first_block=4
  FileStoreHandlerCreate -> train_store path=file:/s prefix=
  CreateCommonWorld train_store -> train_world rank=1 size=3 timeout_ms=30000 interface=
  Broadcast train_world input_factor -> input_factor
  Broadcast train_world bn_rm -> bn_rm
  Broadcast train_world bn_riv -> bn_riv
  Broadcast train_world conv_w -> conv_w
  Broadcast train_world conv_b -> conv_b
  Broadcast train_world bn_s -> bn_s
  Broadcast train_world bn_b -> bn_b
  Broadcast train_world fc_w -> fc_w
  Broadcast train_world fc_b -> fc_b
  Broadcast train_world optimizer_iteration -> optimizer_iteration
  Broadcast train_world conv_w_momentum -> conv_w_momentum
  Broadcast train_world conv_b_momentum -> conv_b_momentum
  Broadcast train_world bn_s_momentum -> bn_s_momentum
  Broadcast train_world bn_b_momentum -> bn_b_momentum
  Broadcast train_world fc_w_momentum -> fc_w_momentum
  Broadcast train_world fc_b_momentum -> fc_b_momentum
  ConstantFill -> train_stop shape=[1] value=0
net_train dag:
  TensorProtosDBInput train_reader -> data_read label_read batch_size=3
  Cast data_read -> data_float to=1
  NHWC2NCHW data_float -> data_planes
  Mul data_planes input_factor -> data broadcast=1 axis=1
  FlattenToVec label_read -> label
  Copy bn_rm -> bn_rm_before_step
  Copy bn_riv -> bn_riv_before_step
  Conv data conv_w conv_b -> conv kernel=4 deterministic=1
  SpatialBN conv bn_s bn_b bn_rm bn_riv -> bn bn_rm bn_riv bn_sm bn_siv is_test=0 momentum=0.9
  FC bn fc_w fc_b -> fc
  SoftmaxWithLoss fc label -> softmax loss
  Accuracy softmax label -> accuracy
  ConstantFill loss -> loss_autogen_grad value=0.375
  SoftmaxWithLossGradient fc label softmax loss_autogen_grad -> fc_grad (gradient)
  FCGradient bn fc_w fc_grad -> fc_w_grad fc_b_grad bn_grad (gradient)
  SpatialBNGradient conv bn_s bn_grad bn_sm bn_siv -> conv_grad bn_s_grad bn_b_grad is_test=0 momentum=0.9 (gradient)
  ConvGradient data conv_w conv_grad -> conv_w_grad conv_b_grad data_grad kernel=4 deterministic=1 (gradient)
  Reshape loss -> loss_vote loss_vote_dims shape=[1]
  Scale loss_vote -> loss_vote scale=0.375
  Reshape accuracy -> accuracy_vote accuracy_vote_dims shape=[1]
  Scale accuracy_vote -> accuracy_vote scale=0.375
  Concat loss_vote accuracy_vote train_stop -> train_votes train_votes_dims axis=0
  AllreduceCoalesced train_world conv_w_grad conv_b_grad bn_s_grad bn_b_grad fc_w_grad fc_b_grad train_votes -> conv_w_grad conv_b_grad bn_s_grad bn_b_grad fc_w_grad fc_b_grad train_votes
  Iter optimizer_iteration -> optimizer_iteration
  LearningRate optimizer_iteration -> learning_rate policy=fixed base_lr=0.01
  MomentumSGDUpdate conv_w_grad conv_w_momentum learning_rate conv_w -> conv_w_grad conv_w_momentum conv_w momentum=0.9
  MomentumSGDUpdate conv_b_grad conv_b_momentum learning_rate conv_b -> conv_b_grad conv_b_momentum conv_b momentum=0.9
  MomentumSGDUpdate bn_s_grad bn_s_momentum learning_rate bn_s -> bn_s_grad bn_s_momentum bn_s momentum=0.9
  MomentumSGDUpdate bn_b_grad bn_b_momentum learning_rate bn_b -> bn_b_grad bn_b_momentum bn_b momentum=0.9
  MomentumSGDUpdate fc_w_grad fc_w_momentum learning_rate fc_w -> fc_w_grad fc_w_momentum fc_w momentum=0.9
  MomentumSGDUpdate fc_b_grad fc_b_momentum learning_rate fc_b -> fc_b_grad fc_b_momentum fc_b momentum=0.9
net_test_begin:
  CreateDB -> test_reader db_type=minidb db=pixels.minidb num_shards=3 shard_id=1
  GivenTensorFill -> input_factor shape=[3] values=[0.5, 0.25, 0.125]
  ConstantFill -> test_one shape=[1] value=1
  ConstantFill -> test_loss_mean shape=[1] value=0
  ConstantFill -> test_weight_3 shape=[1] value=0.166667
  ConstantFill -> test_accuracy_mean shape=[1] value=0
net_test:
  TensorProtosDBInput test_reader -> test_data_read test_label_read batch_size=3
  Cast test_data_read -> test_data_float to=1
  NHWC2NCHW test_data_float -> test_data_planes
  Mul test_data_planes input_factor -> test_data broadcast=1 axis=1
  FlattenToVec test_label_read -> test_label
  Conv test_data conv_w conv_b -> test_conv kernel=4
  SpatialBN test_conv bn_s bn_b bn_rm bn_riv -> test_bn is_test=1 momentum=0.9
  FC test_bn fc_w fc_b -> test_fc
  SoftmaxWithLoss test_fc test_label -> test_softmax test_loss
  Accuracy test_softmax test_label -> test_accuracy
  WeightedSum test_loss_mean test_one test_loss test_weight_3 -> test_loss_mean
  WeightedSum test_accuracy_mean test_one test_accuracy test_weight_3 -> test_accuracy_mean
net_test_sum:
  Allreduce train_world test_loss_mean -> test_loss_mean
  Allreduce train_world test_accuracy_mean -> test_accuracy_mean
step init net_init
step epoch_rest
  step train net_train x 2
  step test_begin net_test_begin
  step test net_test x 2
  step test_sum net_test_sum
  step epoch_end
step epoch
  step train net_train x 3
  step test_begin net_test_begin
  step test net_test x 2
  step test_sum net_test_sum
  step epoch_end
)");
}

// One reader of the test for the whole plan, and a batch that divides its 18 records.
TEST(TrainingTextTest, OfAPlanForCaffe2) {
  RunDef run = SmallRun();
  run.set_on_error("skip");
  const TrainingPlanOptions options = {
      .checkpoint = "c", .iteration = 4, .epoch = 1, .for_caffe2 = true};
  EXPECT_EQ(TextOf(MakeTrainingPlan(run, {Pixels(20), Pixels(18)}, options).plan), R"(net
net_init:
  Load -> train_reader conv_w conv_b bn_s bn_b bn_rm bn_riv fc_w fc_b optimizer_iteration conv_w_momentum conv_b_momentum bn_s_momentum bn_b_momentum fc_w_momentum fc_b_momentum db=c db_type=minidb absolute_path=1 keep_device=1
  CreateDB -> test_reader db_type=minidb db=pixels.minidb
net_train:
  TensorProtosDBInput train_reader -> data_read label_read batch_size=8 on_error=skip
  Cast data_read -> data_float to=1
  NHWC2NCHW data_float -> data
  FlattenToVec label_read -> label
  Conv data conv_w conv_b -> conv kernel=4 deterministic=1
  SpatialBN conv bn_s bn_b bn_rm bn_riv -> bn bn_rm bn_riv bn_sm bn_siv is_test=0 momentum=0.9
  FC bn fc_w fc_b -> fc
  SoftmaxWithLoss fc label -> softmax loss
  Accuracy softmax label -> accuracy
  ConstantFill loss -> loss_autogen_grad value=1
  SoftmaxWithLossGradient fc label softmax loss_autogen_grad -> fc_grad (gradient)
  FCGradient bn fc_w fc_grad -> fc_w_grad fc_b_grad bn_grad (gradient)
  SpatialBNGradient conv bn_s bn_grad bn_sm bn_siv -> conv_grad bn_s_grad bn_b_grad is_test=0 momentum=0.9 (gradient)
  ConvGradient data conv_w conv_grad -> conv_w_grad conv_b_grad data_grad kernel=4 deterministic=1 (gradient)
  Iter optimizer_iteration -> optimizer_iteration
  LearningRate optimizer_iteration -> learning_rate policy=fixed base_lr=0.01
  MomentumSGDUpdate conv_w_grad conv_w_momentum learning_rate conv_w -> conv_w_grad conv_w_momentum conv_w momentum=0.9
  MomentumSGDUpdate conv_b_grad conv_b_momentum learning_rate conv_b -> conv_b_grad conv_b_momentum conv_b momentum=0.9
  MomentumSGDUpdate bn_s_grad bn_s_momentum learning_rate bn_s -> bn_s_grad bn_s_momentum bn_s momentum=0.9
  MomentumSGDUpdate bn_b_grad bn_b_momentum learning_rate bn_b -> bn_b_grad bn_b_momentum bn_b momentum=0.9
  MomentumSGDUpdate fc_w_grad fc_w_momentum learning_rate fc_w -> fc_w_grad fc_w_momentum fc_w momentum=0.9
  MomentumSGDUpdate fc_b_grad fc_b_momentum learning_rate fc_b -> fc_b_grad fc_b_momentum fc_b momentum=0.9
net_test_begin:
  ConstantFill -> test_one shape=[1] value=1
  ConstantFill -> test_loss_mean shape=[1] value=0
  ConstantFill -> test_weight_18 shape=[1] value=1
  ConstantFill -> test_accuracy_mean shape=[1] value=0
net_test:
  TensorProtosDBInput test_reader -> test_data_read test_label_read batch_size=18
  Cast test_data_read -> test_data_float to=1
  NHWC2NCHW test_data_float -> test_data
  FlattenToVec test_label_read -> test_label
  Conv test_data conv_w conv_b -> test_conv kernel=4
  SpatialBN test_conv bn_s bn_b bn_rm bn_riv -> test_bn is_test=1 momentum=0.9
  FC test_bn fc_w fc_b -> test_fc
  SoftmaxWithLoss test_fc test_label -> test_softmax test_loss
  Accuracy test_softmax test_label -> test_accuracy
  WeightedSum test_loss_mean test_one test_loss test_weight_18 -> test_loss_mean
  WeightedSum test_accuracy_mean test_one test_accuracy test_weight_18 -> test_accuracy_mean
step init net_init
step epoch_rest
  step train net_train x 2
  step test_begin net_test_begin
  step test net_test
  step epoch_end
step epoch
  step train net_train x 3
  step test_begin net_test_begin
  step test net_test
  step epoch_end
)");
}

// The operators and parameters of each layer of the builder.
TEST(TrainingTextTest, OfEveryLayer) {
  ModelBuilder model("m");
  std::string x = model.Conv("data", "c", 6, 8,
                             {.kernel = 5, .stride = 2, .pad = 1, .dilation = 3, .group = 2});
  x = model.Conv(x, "d", 8, 4, {.bias = false, .fill = "MSRAFill"});
  x = model.MaxPool(x, "p", {.kernel = 3, .stride = 1, .pad = 2});
  x = model.AveragePool(x, "a", {.kernel = 9, .global = true});
  x = model.Dropout(model.SpatialBN(x, "bn", 4, 0.5f), "drop", 0.25f);
  x = model.FC(x, "f", 4, 3, "GaussianFill");
  model.SquaredLoss(x, "label");
  model.Embedding("ids", "e", 10, 2);
  std::string params;
  for (const ParamDef& param : model.def().param()) {
    params += MakeString(param.name(), " ",
                         std::vector<int64_t>(param.dims().begin(), param.dims().end()), " ",
                         param.fill(), param.trained() ? "" : " fixed",
                         param.has_decays() && !param.decays() ? " no decay" : "");
    for (const Argument& arg : param.arg()) params += " " + arg.name() + "=" + ValueOf(arg);
    params += "\n";
  }
  EXPECT_EQ(params, R"(c_w [8, 3, 5, 5] XavierFill
c_b [8] ConstantFill
d_w [4, 8, 1, 1] MSRAFill
bn_s [4] ConstantFill value=1
bn_b [4] ConstantFill
bn_rm [4] ConstantFill fixed value=0
bn_riv [4] ConstantFill fixed value=1
f_w [3, 4] GaussianFill
f_b [3] ConstantFill
e_w [10, 2] UniformFill no decay min=-0.1 max=0.1
)");
  EXPECT_EQ(TextOf(model.def().net()), R"(m:
  Conv data c_w c_b -> c kernel=5 stride=2 pad=1 dilation=3 group=2
  Conv c d_w -> d kernel=1
  MaxPool d -> p kernel=3 pad=2
  AveragePool p -> a global_pooling=1
  SpatialBN a bn_s bn_b bn_rm bn_riv -> bn bn_rm bn_riv bn_sm bn_siv is_test=0 momentum=0.5
  Dropout bn -> drop drop_mask ratio=0.25 is_test=0
  FC drop f_w f_b -> f
  SquaredL2Distance f label -> distance
  AveragedLoss distance -> loss
  Gather e_w ids -> e
)");
  EXPECT_EQ(model.def().loss(), "loss");
  EXPECT_FALSE(model.def().has_accuracy());
}

DataFacts Records(TensorProto::DataType type, const std::vector<int64_t>& dims,
                  const TensorFacts& label = {TensorProto::INT32, {1}}) {
  return {.place = {"minidb", "r.minidb"}, .records = 10, .tensors = {{type, dims}, label}};
}

// What prepares the records of a database, as lines.
std::string InputText(const std::string& def, const DataFacts& facts, bool is_test = false) {
  InputDef input;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(def, &input)) << def;
  std::string text;
  for (const OperatorDef& op : InputOperators(
           input, facts, {.reader = "r", .batch_size = 4, .is_test = is_test, .prefix = "t_"}))
    text += TextOf(op);
  for (const OperatorDef& op : InputFills(input, facts)) text += TextOf(op);
  return text;
}

TEST(TrainingTextTest, OfInputs) {
  EXPECT_EQ(InputText("", Records(TensorProto::FLOAT, {5})),
            "  TensorProtosDBInput r -> t_data t_label_read batch_size=4\n"
            "  FlattenToVec t_label_read -> t_label\n");
  EXPECT_EQ(InputText("", Records(TensorProto::INT32, {7}, {TensorProto::FLOAT, {2}})),
            "  TensorProtosDBInput r -> t_data t_label batch_size=4\n");
  EXPECT_EQ(
      InputText("scale: 2 mean: 3", Records(TensorProto::INT32, {7}, {TensorProto::INT32, {2}})),
      "  TensorProtosDBInput r -> t_data_read t_label batch_size=4\n"
      "  Cast t_data_read -> t_data_float to=1\n"
      "  Scale t_data_float -> t_data_scaled scale=2\n"
      "  Add t_data_scaled input_offset -> t_data broadcast=1\n"
      "  GivenTensorFill -> input_offset shape=[1] values=[-6]\n");
  // (x - mean) / std, times the scale, for each channel.
  EXPECT_EQ(InputText("scale: 2 mean: 1 mean: 2 mean: 3 std: 4 std: 5 std: 8",
                      Records(TensorProto::BYTE, {8, 6, 3})),
            "  TensorProtosDBInput r -> t_data_read t_label_read batch_size=4\n"
            "  Cast t_data_read -> t_data_float to=1\n"
            "  NHWC2NCHW t_data_float -> t_data_planes\n"
            "  Mul t_data_planes input_factor -> t_data_scaled broadcast=1 axis=1\n"
            "  Add t_data_scaled input_offset -> t_data broadcast=1 axis=1\n"
            "  FlattenToVec t_label_read -> t_label\n"
            "  GivenTensorFill -> input_factor shape=[3] values=[0.5, 0.4, 0.25]\n"
            "  GivenTensorFill -> input_offset shape=[3] values=[-0.5, -0.8, -0.75]\n");
  EXPECT_EQ(InputText("grey: true", Records(TensorProto::BYTE, {8, 6})),
            "  TensorProtosDBInput r -> t_data_read t_label_read batch_size=4\n"
            "  Cast t_data_read -> t_data_float to=1\n"
            "  ExpandDims t_data_float -> t_data dims=[1]\n"
            "  FlattenToVec t_label_read -> t_label\n");
  EXPECT_EQ(
      InputText(
          "crop: 5 resize: 6 mirror: true scale: 0.5 mean: 3 std: 4 image_arg { name: 'x' i: 1 }",
          Records(TensorProto::STRING, {1})),
      "  ImageInput r -> t_data t_label batch_size=4 crop=5 scale=6 color=1 is_test=0 mirror=1 "
      "mean_per_channel=[3, 3, 3] std_per_channel=[8, 8, 8] x=1\n");
  EXPECT_EQ(InputText("crop: 5 mirror: true grey: true mean: 3 std: 4",
                      Records(TensorProto::STRING, {1}), true),
            "  ImageInput r -> t_data t_label batch_size=4 crop=5 scale=5 color=0 is_test=1 mean=3 "
            "std=4\n");
}

TEST(TrainingTextTest, OfInputsThatDoNotFit) {
  const auto error = [](const std::string& def, const DataFacts& facts) {
    InputDef input;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(def, &input)) << def;
    return MessageOf([&] { CheckInput(input, facts); });
  };
  DataFacts floats = Records(TensorProto::FLOAT, {5});
  EXPECT_EQ(error("", floats), "(nothing was thrown)");
  EXPECT_EQ(error("batch_size: 0", floats), "input: batch_size is 0, want at least 1");
  EXPECT_EQ(error("std: 1 std: 0", floats), "input: std contains 0, want other numbers");
  EXPECT_EQ(
      error("blob: 'a' blob: 'b' blob: 'c'", floats),
      "the records of \"r.minidb\" have 2 tensors, but the input has 3 blobs: a, b, c; `input { "
      "blob: ... }` (--blobs) names one for each tensor");
  EXPECT_EQ(error("blob: 'a'", floats),
            "the records of \"r.minidb\" have 2 tensors, but the input has 1 blob: a; `input { "
            "blob: ... "
            "}` (--blobs) names one for each tensor");
  EXPECT_EQ(
      error("", Records(TensorProto::STRING, {1})),
      "the records of \"r.minidb\" are encoded images: set the size of the net's input, `input { "
      "crop: N }`");
  EXPECT_EQ(error("crop: 8 channels_last: true", Records(TensorProto::STRING, {1})),
            "input: channels_last does not apply to images that are cut");
  floats.tensors.push_back({TensorProto::FLOAT, {1}});
  EXPECT_EQ(error("", floats),
            "the records of \"r.minidb\" have 3 tensors, but the input has 2 blobs: data, label; "
            "`input { "
            "blob: ... }` (--blobs) names one for each tensor");
}

}  // namespace
}  // namespace caffe2rt::test::training_text_test
