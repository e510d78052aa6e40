"""The units of recurrent nets, and a long short-term memory forward and backward, for compare_with_original.py."""
import os

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python import core, workspace

from gradient_cases import write_case

STEPS, BATCH, SIZE = 20, 32, 256


def step_net():
    net = caffe2_pb2.NetDef(name="lstm", type="simple", external_input=["h_prev", "c_prev", "x_t", "w", "b", "lengths", "timestep"])
    net.op.extend([
        core.CreateOperator("FC", ["h_prev", "w", "b"], ["gates"], axis=2),
        core.CreateOperator("Sum", ["gates", "x_t"], ["gates"]),
        core.CreateOperator("LSTMUnit", ["h_prev", "c_prev", "gates", "lengths", "timestep"], ["h", "c"]),
    ])
    return net


def backward_step_net():
    net = caffe2_pb2.NetDef(name="lstm_backward", type="simple")
    net.external_input.extend(["h_prev", "c_prev", "gates", "lengths", "timestep", "h", "c", "h_grad", "c_grad", "w"])
    net.op.extend([
        core.CreateOperator("LSTMUnitGradient",
                            ["h_prev", "c_prev", "gates", "lengths", "timestep", "h", "c", "h_grad", "c_grad"],
                            ["h_prev_grad", "c_prev_grad", "gates_grad"]),
        core.CreateOperator("FCGradient", ["h_prev", "w", "gates_grad"], ["w_grad", "b_grad", "h_prev_grad_part"], axis=2),
        core.CreateOperator("Sum", ["h_prev_grad", "h_prev_grad_part"], ["h_prev_grad"]),
    ])
    return net


def network(training):
    states = ["h_states", "c_states"]
    arguments = {
        "step_net": step_net(),
        "recurrent_states": states,
        "initial_recurrent_state_ids": [1, 2],
        "link_internal": ["h_prev", "h", "c_prev", "c", "x_t"],
        "link_external": ["h_states", "h_states", "c_states", "c_states", "x"],
        "link_offset": [0, 1, 0, 1, 0],
        "alias_src": ["h_states", "h_states", "c_states", "c_states"],
        "alias_dst": ["h_all", "h_last", "c_all", "c_last"],
        "alias_offset": [1, -1, 1, -1],
        "timestep": "timestep",
    }
    if training:
        arguments.update({
            "backward_step_net": backward_step_net(),
            "backward_link_internal": ["h_grad", "h_prev_grad", "c_grad", "c_prev_grad", "gates_grad"],
            "backward_link_external": ["h_states_grad", "h_states_grad", "c_states_grad", "c_states_grad", "x_grad"],
            "backward_link_offset": [1, 0, 1, 0, 0],
            "outputs_with_grads": [0],
            "param": [3, 4],
            "param_grads": ["w_grad", "b_grad"],
        })
    return core.CreateOperator("RecurrentNetwork", ["x", "h0", "c0", "w", "b", "lengths"],
                               ["h_all", "h_last", "c_all", "c_last", "steps"], **arguments)


def feed():
    rng = np.random.RandomState(1)
    shapes = {"x": (STEPS, BATCH, 4 * SIZE), "h0": (1, BATCH, SIZE), "c0": (1, BATCH, SIZE), "w": (4 * SIZE, SIZE), "b": (4 * SIZE,),
              "gates": (1, BATCH, 4 * SIZE), "unit_gates": (1, BATCH, 3 * SIZE), "h_grad": (1, BATCH, SIZE),
              "c_grad": (1, BATCH, SIZE), "h_all_grad": (STEPS, BATCH, SIZE)}
    for name, shape in shapes.items():
        workspace.FeedBlob(name, rng.uniform(-0.5, 0.5, shape).astype(np.float32))
    workspace.FeedBlob("lengths", np.full(BATCH, STEPS, np.int32))
    workspace.FeedBlob("timestep", np.zeros(1, np.int32))


def recurrent_cases(folder):
    """Writes each net and its inputs to a folder of its own and returns the cases."""
    workspace.SwitchWorkspace("recurrent_cases", True)
    workspace.ResetWorkspace()
    feed()
    lstm = core.CreateOperator("LSTMUnit", ["h0", "c0", "gates", "lengths", "timestep"], ["h", "c"])
    gru = core.CreateOperator("GRUUnit", ["h0", "unit_gates", "lengths", "timestep"], ["h"])
    training = network(True)
    gradients, _ = core.GradientRegistry.GetGradientForOp(training, ["h_all_grad", None, None, None, None])
    nets = {"lstm_unit": [lstm], "gru_unit": [gru], "forward": [network(False)], "training": [training] + gradients}
    for name, op, given in (("lstm_unit", lstm, ["h_grad", "c_grad"]), ("gru_unit", gru, ["h_grad"])):
        workspace.RunOperatorOnce(op)
        nets[name + "_gradient"] = core.GradientRegistry.GetGradientForOp(op, given)[0]
    return [write_case(os.path.join(folder, "recurrent", name), "recurrent/" + name, ops, ["steps"])
            for name, ops in sorted(nets.items())]
