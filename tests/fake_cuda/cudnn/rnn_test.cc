// Recurrent nets of the fake cuDNN: values worked out by hand, and gradients compared with central
// differences.

#include <memory>

#include "cudnn/testing.h"

namespace cudnn_test {
namespace {

struct Net {
  cudnnRNNMode_t mode;
  int steps, batch, input, hidden, layers;
  bool bidirectional = false, skips_input = false;

  int directions() const { return bidirectional ? 2 : 1; }
  size_t x_size() const { return static_cast<size_t>(steps * batch * input); }
  size_t y_size() const { return static_cast<size_t>(steps * batch * hidden * directions()); }
  size_t state_size() const { return static_cast<size_t>(layers * directions() * batch * hidden); }
};

class RnnTest : public CudnnTest {
 protected:
  void SetUp() override {
    CudnnTest::SetUp();
    ASSERT_DNN(cudnnCreateDropoutDescriptor(&dropout_));
    ASSERT_DNN(cudnnSetDropoutDescriptor(dropout_, handle_, 0, nullptr, 0, 0));
    ASSERT_DNN(cudnnCreateRNNDescriptor(&rnn_));
    ASSERT_DNN(cudnnCreateRNNDataDescriptor(&x_));
    ASSERT_DNN(cudnnCreateRNNDataDescriptor(&y_));
  }
  void TearDown() override {
    cudnnDestroyRNNDataDescriptor(y_);
    cudnnDestroyRNNDataDescriptor(x_);
    cudnnDestroyRNNDescriptor(rnn_);
    cudnnDestroyDropoutDescriptor(dropout_);
    CudnnTest::TearDown();
  }
  cudnnStatus_t Describe(const Net& net) {
    return cudnnSetRNNDescriptor_v8(rnn_, CUDNN_RNN_ALGO_STANDARD, net.mode, CUDNN_RNN_DOUBLE_BIAS,
                                    net.bidirectional ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                                    net.skips_input ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT,
                                    CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, net.input,
                                    net.hidden, net.hidden, net.layers, dropout_,
                                    CUDNN_RNN_PADDED_IO_DISABLED);
  }
  void Set(const Net& net) {
    net_ = net;
    ASSERT_DNN(Describe(net));
    const std::vector<int> lengths(static_cast<size_t>(net.batch), net.steps);
    const auto set = [&](cudnnRNNDataDescriptor_t data, int columns) {
      return cudnnSetRNNDataDescriptor(data, CUDNN_DATA_FLOAT,
                                       CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, net.steps, net.batch,
                                       columns, lengths.data(), nullptr);
    };
    ASSERT_DNN(set(x_, net.input));
    ASSERT_DNN(set(y_, net.hidden * net.directions()));
    const int dims[] = {net.layers * net.directions(), net.batch, net.hidden};
    const int strides[] = {dims[1] * dims[2], dims[2], 1};
    ASSERT_DNN(cudnnSetTensorNdDescriptor(state_, CUDNN_DATA_FLOAT, 3, dims, strides));
    ASSERT_DNN(cudnnGetRNNWeightSpaceSize(handle_, rnn_, &weight_bytes_));
    ASSERT_DNN(cudnnGetRNNTempSpaceSizes(handle_, rnn_, CUDNN_FWD_MODE_TRAINING, x_,
                                         &workspace_bytes_, &reserve_bytes_));
  }

  struct Values {
    std::vector<float> x, h, c, w;
  };
  struct Result {
    std::vector<float> y, h, c;
  };
  // Keeps the reserve space for Backward.
  Result Forward(const Values& v) {
    Array x(v.x), h(v.h), c(v.c), w(v.w), y(std::vector<float>(net_.y_size()));
    Array hy(std::vector<float>(net_.state_size())), cy(std::vector<float>(net_.state_size()));
    Array workspace(std::vector<float>(workspace_bytes_ / 4));
    reserve_ = std::make_unique<Array>(std::vector<float>(reserve_bytes_ / 4));
    EXPECT_DNN(cudnnRNNForward(handle_, rnn_, CUDNN_FWD_MODE_TRAINING, nullptr, x_, x.get(), y_,
                               y.get(), state_, h.get(), hy.get(), state_, c.get(), cy.get(),
                               weight_bytes_, w.get(), workspace_bytes_, workspace.get(),
                               reserve_bytes_, reserve_->get()));
    return {y.Read(), hy.Read(), cy.Read()};
  }
  Values Backward(const Values& v, const Result& out, const Result& d) {
    Array x(v.x), h(v.h), c(v.c), w(v.w), y(out.y), dy(d.y), dhy(d.h), dcy(d.c);
    Array dx(std::vector<float>(v.x.size())), dh(std::vector<float>(v.h.size()));
    Array dc(std::vector<float>(v.c.size())), dw(std::vector<float>(v.w.size()));
    Array workspace(std::vector<float>(workspace_bytes_ / 4));
    EXPECT_DNN(cudnnRNNBackwardData_v8(
        handle_, rnn_, nullptr, y_, y.get(), dy.get(), x_, dx.get(), state_, h.get(), dhy.get(),
        dh.get(), state_, c.get(), dcy.get(), dc.get(), weight_bytes_, w.get(), workspace_bytes_,
        workspace.get(), reserve_bytes_, reserve_->get()));
    EXPECT_DNN(cudnnRNNBackwardWeights_v8(handle_, rnn_, CUDNN_WGRAD_MODE_ADD, nullptr, x_, x.get(),
                                          state_, h.get(), y_, y.get(), weight_bytes_, dw.get(),
                                          workspace_bytes_, workspace.get(), reserve_bytes_,
                                          reserve_->get()));
    return {dx.Read(), dh.Read(), dc.Read(), dw.Read()};
  }

  Net net_{};
  cudnnDropoutDescriptor_t dropout_ = nullptr;
  cudnnRNNDescriptor_t rnn_ = nullptr;
  cudnnRNNDataDescriptor_t x_ = nullptr, y_ = nullptr;
  TensorDescriptor state_;
  size_t weight_bytes_ = 0, workspace_bytes_ = 0, reserve_bytes_ = 0;
  std::unique_ptr<Array> reserve_;
};

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// One unit, one step. The weights are those of the input, of the hidden state, then the biases.
TEST_F(RnnTest, RunsALongShortTermMemory) {
  Set({CUDNN_LSTM, 1, 1, 1, 1, 1});
  ASSERT_EQ(weight_bytes_, 16 * sizeof(float));
  const Result got = Forward({{2},
                              {0.5f},
                              {3},
                              {0.1f, 0.2f, 0.3f, 0.4f, 1, 2, 3, 4,  //
                               0.01f, 0.02f, 0.03f, 0.04f, 0.1f, 0.2f, 0.3f, 0.4f}});
  const float i = Sigmoid(0.2f + 0.5f + 0.11f), f = Sigmoid(0.4f + 1 + 0.22f);
  const float g = std::tanh(0.6f + 1.5f + 0.33f), o = Sigmoid(0.8f + 2 + 0.44f);
  ExpectNear(got.c, {f * 3 + i * g});
  ExpectNear(got.y, {o * std::tanh(f * 3 + i * g)});
  EXPECT_EQ(got.h, got.y);
}

TEST_F(RnnTest, RunsAGatedRecurrentUnit) {
  Set({CUDNN_GRU, 1, 1, 1, 1, 1});
  ASSERT_EQ(weight_bytes_, 12 * sizeof(float));
  const Result got = Forward({{2},
                              {0.5f},
                              {0},
                              {0.1f, 0.2f, 0.3f, 1, 2, 3,  //
                               0.01f, 0.02f, 0.03f, 0.1f, 0.2f, 0.3f}});
  const float r = Sigmoid(0.2f + 0.5f + 0.11f), z = Sigmoid(0.4f + 1 + 0.22f);
  const float n = std::tanh(0.6f + 0.03f + r * (1.5f + 0.3f));
  ExpectNear(got.y, {(1 - z) * n + z * 0.5f});
}

// Without matrices of the input, y = relu(x + 2 h): forward 1, 3 + 2, then backward 3, 1 + 6.
TEST_F(RnnTest, RunsInBothDirections) {
  Set({CUDNN_RNN_RELU, 2, 1, 1, 1, 1, true, true});
  ASSERT_EQ(weight_bytes_, 6 * sizeof(float));
  const Result got = Forward({{1, 3}, {0, 0}, {0, 0}, {2, 2, 0, 0, 0, 0}});
  EXPECT_EQ(got.y, (std::vector<float>{1, 7, 5, 3}));
  EXPECT_EQ(got.h, (std::vector<float>{5, 7}));
}

TEST_F(RnnTest, HasTheGradientsOfItsOutputs) {
  for (const Net& net : {Net{CUDNN_LSTM, 3, 2, 3, 2, 2, true}, Net{CUDNN_GRU, 3, 2, 2, 3, 2},
                         Net{CUDNN_GRU, 2, 1, 2, 2, 1, true}, Net{CUDNN_RNN_TANH, 4, 2, 2, 2, 2},
                         Net{CUDNN_LSTM, 2, 1, 2, 2, 1, false, true}}) {
    Set(net);
    Values v{Random(net.x_size()), Random(net.state_size()), Random(net.state_size()),
             Random(weight_bytes_ / 4)};
    const bool cells = net.mode == CUDNN_LSTM;
    const Result d{Random(net.y_size()), Random(net.state_size()),
                   cells ? Random(net.state_size()) : std::vector<float>(net.state_size())};
    const auto loss = [&] {
      const Result out = Forward(v);
      return Dot(out.y, d.y) + Dot(out.h, d.h) + (cells ? Dot(out.c, d.c) : 0);
    };
    const Result out = Forward(v);
    const Values gradients = Backward(v, out, d);
    const auto compare = [&](std::vector<float>* values, const std::vector<float>& got) {
      for (size_t i = 0; i < values->size(); ++i) {
        const float before = (*values)[i], step = 1 / 64.0f;
        (*values)[i] = before + step;
        const float above = loss();
        (*values)[i] = before - step;
        const float below = loss();
        (*values)[i] = before;
        EXPECT_NEAR(got[i], (above - below) / (2 * step), 2e-3f) << i;
      }
    };
    compare(&v.x, gradients.x);
    compare(&v.h, gradients.h);
    if (cells) compare(&v.c, gradients.c);
    compare(&v.w, gradients.w);
  }
}

TEST_F(RnnTest, FindsParameters) {
  Set({CUDNN_LSTM, 1, 1, 3, 2, 2});
  ASSERT_EQ(weight_bytes_, (4 * 2 * 3 + 3 * 4 * 2 * 2 + 16 * 2) * sizeof(float));
  const std::vector<float> none(weight_bytes_ / 4);
  Array w(none);
  TensorDescriptor matrix, bias;
  const auto find = [&](int layer, int transform, void** at, void** bias_at) {
    return cudnnGetRNNWeightParams(handle_, rnn_, layer, weight_bytes_, w.get(), transform, matrix,
                                   at, bias, bias_at);
  };
  void *at = nullptr, *bias_at = nullptr;
  ASSERT_DNN(find(0, 1, &at, &bias_at));
  EXPECT_EQ(static_cast<float*>(at) - w.get(), 6);
  EXPECT_EQ(static_cast<float*>(bias_at) - w.get(), 72 + 2);
  cudnnDataType_t type;
  int rank = 0, dims[3], strides[3];
  ASSERT_DNN(cudnnGetTensorNdDescriptor(matrix, 3, &type, &rank, dims, strides));
  EXPECT_EQ(std::vector<int>(dims, dims + 3), (std::vector<int>{1, 2, 3}));
  ASSERT_DNN(find(1, 7, &at, &bias_at));
  EXPECT_EQ(static_cast<float*>(at) - w.get(), 24 + 16 + 7 * 4);
  EXPECT_EQ(find(2, 0, &at, &bias_at), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(find(0, 8, &at, &bias_at), CUDNN_STATUS_BAD_PARAM);
}

TEST_F(RnnTest, DropsOutputsBetweenLayers) {
  size_t bytes = 0;
  ASSERT_DNN(cudnnDropoutGetStatesSize(handle_, &bytes));
  Array states(std::vector<float>(bytes / 4));
  ASSERT_DNN(cudnnSetDropoutDescriptor(dropout_, handle_, 0.5f, states.get(), bytes, 3));
  // Both layers pass x on; half of the outputs of the first are 0, the others are doubled.
  Set({CUDNN_RNN_RELU, 1, 1000, 1, 1, 2, false, true});
  const Result got = Forward({std::vector<float>(1000, 1),
                              std::vector<float>(2000),
                              std::vector<float>(2000),
                              {0, 1, 0, 0, 0, 0, 0}});
  float sum = 0;
  for (const float y : got.y) {
    EXPECT_TRUE(y == 0 || y == 2) << y;
    sum += y;
  }
  EXPECT_NEAR(sum, 1000, 150);
}

TEST_F(RnnTest, RejectsWhatDoesNotFit) {
  EXPECT_EQ(Describe({CUDNN_LSTM, 1, 1, 1, 0, 1}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(Describe({CUDNN_LSTM, 1, 1, 1, 1, 0}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(Describe({CUDNN_LSTM, 1, 1, 2, 3, 1, false, true}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnGetRNNWeightSpaceSize(handle_, rnn_, &weight_bytes_), CUDNN_STATUS_BAD_PARAM);
  Set({CUDNN_LSTM, 2, 1, 1, 1, 1});
  Array x({1, 2}), y({0, 0}), h({0}), w(std::vector<float>(16)), space(std::vector<float>(400));
  const auto run = [&](size_t weight_bytes, size_t workspace_bytes, size_t reserve_bytes) {
    return cudnnRNNForward(handle_, rnn_, CUDNN_FWD_MODE_TRAINING, nullptr, x_, x.get(), y_,
                           y.get(), state_, h.get(), nullptr, state_, h.get(), nullptr,
                           weight_bytes, w.get(), workspace_bytes, space.get(), reserve_bytes,
                           space.get());
  };
  EXPECT_EQ(run(weight_bytes_ - 4, workspace_bytes_, reserve_bytes_), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(run(weight_bytes_, workspace_bytes_ - 1, reserve_bytes_),
            CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
  EXPECT_EQ(run(weight_bytes_, workspace_bytes_, reserve_bytes_ - 4),
            CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
  EXPECT_DNN(run(weight_bytes_, workspace_bytes_, reserve_bytes_));
}

}  // namespace
}  // namespace cudnn_test
