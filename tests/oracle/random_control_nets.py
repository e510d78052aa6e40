"""Random nets with If, While, Do and recurrent networks, for record_random_nets.py --kind control."""
import itertools

import numpy as np
from caffe2.python import control_ops_util, core, gru_cell, model_helper, recurrent, rnn_cell, workspace

from random_sparse_nets import SparseNet


class ControlNet(SparseNet):
    """Adds inner nets to the operators of its base class."""

    def __init__(self, number, rng):
        super().__init__(number, rng)
        self.model = model_helper.ModelHelper(name="model_%d" % number)
        self.model.net = self.net

    def inner_net(self, name):
        self.next += 1
        return core.Net("%s_%s_%d" % (self.net.Name(), name, self.next))

    def others_like(self, x, most):
        same = sorted(n for n, s in self.shapes.items() if s == self.shapes[x])
        return [self.rng.choice(same) for _ in range(self.rng.randint(1, most))]

    # Inner nets. They read blobs of one shape and write `result`, in the names that their own net has for them.
    def body(self, net, readable, result, prefix, in_place=0.1):
        names = list(readable)
        count = self.rng.randint(1, 4)
        for i in range(count):
            last = i == count - 1
            kind = self.rng.choice(["unary", "unary", "binary", "sum", "scale", "linear"])
            x = self.rng.choice(names)
            y = result if last else "%s_%d" % (prefix, i)
            if kind == "unary":
                op_type = self.rng.choice(["Tanh", "Sigmoid", "Relu", "Softsign", "Copy", "Negative", "Sqr"])
                if not last and x not in readable and op_type != "Copy" and self.rng.random() < in_place:
                    y = x
                getattr(net, op_type)(x, y)
            elif kind == "binary":
                getattr(net, self.rng.choice(["Add", "Sub", "Mul"]))([x, self.rng.choice(names)], y)
            elif kind == "sum":
                net.Sum([x] + [self.rng.choice(names) for _ in range(self.rng.randint(1, 2))], y)
            elif kind == "scale":
                net.Scale(x, y, scale=0.5)
            else:
                self.linear(net, x, y)
            if y not in names:
                names.append(y)

    def linear(self, net, x, y):
        """Both nets name the weights alike; a net that renames its blobs has none."""
        if self.weights is None:
            net.Tanh(x, y)
            return
        net.FC([x] + self.weights, y)

    def captured_weights(self, shape):
        """Weights that map rows of a matrix to rows of the same size."""
        self.weights = None
        if len(shape) == 2 and self.rng.random() < 0.5:
            self.weights = [self.feed((shape[1], shape[1]), readable=False), self.feed((shape[1],), readable=False)]
        return self.weights or []

    def condition(self):
        if self.rng.random() < 0.5:
            return self.feed_value([self.rng.random() < 0.5], np.bool_)
        a, b, result = self.feed_value([self.rng.uniform(-1, 1)], np.float32), self.feed_value([0.0], np.float32), self.name()
        self.op(self.rng.choice(["LT", "GT"]), [a, b], [result])
        return result

    def initial(self, x):
        """An output of a branch or loop: it exists before, in the scope around it."""
        y = self.output(self.shapes[x])
        if self.rng.random() < 0.5:
            self.op("ConstantFill", [], [y], shape=list(self.shapes[x]), value=self.rng.uniform(-1, 1))
        else:
            self.op("Copy", [x], [y])
        return y

    def if_with_scopes(self):
        x = self.pick()
        used = sorted(set([x] + self.others_like(x, 2)))
        weights, condition = self.captured_weights(self.shapes[x]), self.condition()
        y = self.initial(x)
        scope = set(used + weights + [condition, y])
        then_net = self.inner_net("then")
        self.body(then_net, used, y, "t%d" % self.next)
        if self.rng.random() < 0.3:  # nested
            inner, inner_condition = self.inner_net("inner"), self.condition()
            scope.add(inner_condition)
            self.body(inner, used, y, "n%d" % self.next)
            other = self.inner_net("other")
            self.body(other, used, y, "o%d" % self.next)
            nested = self.inner_net("nested")
            control_ops_util.add_if_op(nested, inner_condition, scope, inner, other)
            then_net = nested if self.rng.random() < 0.5 else then_net
        else_net = None
        if self.rng.random() < 0.8:
            else_net = self.inner_net("else")
            self.body(else_net, used, y, "e%d" % self.next)
        control_ops_util.add_if_op(self.net, condition, scope, then_net, else_net)

    def if_without_scopes(self):
        x = self.pick()
        used = sorted(set([x] + self.others_like(x, 2)))
        weights, condition = self.captured_weights(self.shapes[x]), self.condition()
        y = self.output(self.shapes[x])
        nets = {}
        for name in ["then_net", "else_net"]:
            net = self.inner_net(name)
            self.body(net, used, y, "%s%d" % (name[0], self.next), in_place=0.0)
            nets[name] = net.Proto()
        if self.rng.random() < 0.15:
            del nets["else_net"]
            self.op("Copy", [x], [y])
        self.op("If", [condition] + used + weights, [y], **nets)

    def do(self):
        x = self.pick()
        used = sorted(set([x] + self.others_like(x, 3)))
        self.weights = None
        scope, y = self.name(), self.output(self.shapes[x])
        net = self.inner_net("do")
        inner = ["in%d" % i for i in range(len(used))] + ["result"]
        self.body(net, inner[:-1], "result", "d")
        self.op("CreateScope", [], [scope])
        arguments = self.rng.choice([{}, {}, {}, {"reuse_workspace": 1}, {"copy_external_blobs": 1}])
        self.op("Do", used + [scope], [y, scope], net=net.Proto(), inner_blobs=inner,
                outer_blobs_idx=list(range(len(inner))), **arguments)

    def while_with_scopes(self):
        x = self.pick()
        used = sorted(set(self.others_like(x, 2)))
        weights = self.captured_weights(self.shapes[x])
        y = self.output(self.shapes[x])
        self.op("Copy", [x], [y])
        i = self.name()
        dtype = self.rng.choice([np.int32, np.int64, np.float32])
        start, one, end = (self.feed_value([v], dtype) for v in (0, 1, self.rng.randint(0, 4)))
        go = self.name()
        self.op("Copy", [start], [i])
        condition_net, body = self.inner_net("condition"), self.inner_net("loop")
        condition_net.LT([i, end], go)
        state = "state%d" % self.next
        self.body(body, used + [y], state, "w%d" % self.next)
        body.Tanh(state, y)  # stays bounded
        body.Add([i, one], i)
        scope = set(used + weights + [y, i, one, end])
        if self.rng.random() < 0.3:
            nested_condition = self.condition()
            nested, other = self.inner_net("inner"), self.inner_net("other")
            nested.Sigmoid(y, y)
            self.body(other, [y], y, "v%d" % self.next)
            scope.add(nested_condition)
            control_ops_util.add_if_op(body, nested_condition, scope, nested, other if self.rng.random() < 0.7 else None)
        control_ops_util.add_while_op(self.net, go, scope, body, condition_net)

    def while_without_scopes(self):
        """Has no gradient in the original."""
        x = self.pick()
        weights = self.captured_weights(self.shapes[x])
        y, i, go = self.name(), self.name(), self.name()
        dtype = self.rng.choice([np.int32, np.int64, np.float32])
        start, one, end = (self.feed_value([v], dtype) for v in (0, 1, self.rng.randint(0, 4)))
        self.op("Copy", [x], [y])
        self.op("Copy", [start], [i])
        self.op("LT", [i, end], [go])
        body = self.inner_net("loop")
        state = "state%d" % self.next
        self.body(body, [y], state, "w%d" % self.next)
        body.Tanh(state, y)
        body.Add([i, one], i)
        arguments = {}
        if self.rng.random() < 0.5:
            body.LT([i, end], go)
        else:
            condition_net = self.inner_net("condition")
            condition_net.LT([i, end], go)
            arguments["cond_net"] = condition_net.Proto()
        self.op("While", [go, y, i, one, end] + weights, [y, i, go], loop_net=body.Proto(), **arguments)
        if self.rng.random() < 0.1:
            self.shapes[y] = self.shapes[x]

    # Recurrent networks.
    def cell(self):
        x = self.sequence()
        steps, rows, columns = self.shapes[x]
        units = self.rng.randint(1, 4)
        kind = self.rng.choice([rnn_cell.LSTM, rnn_cell.LSTM, rnn_cell.BasicRNN, gru_cell.GRU, rnn_cell.MILSTM,
                                rnn_cell.LayerNormLSTM])
        states = [self.feed((1, rows, units), readable=False)]
        if kind not in (rnn_cell.BasicRNN, gru_cell.GRU):
            states.append(self.feed((1, rows, units), readable=False))
        lengths = self.name()
        self.inputs[lengths] = np.array([self.rng.randint(1, steps) for _ in range(rows)], np.int32)
        arguments = {}
        if kind == rnn_cell.BasicRNN:
            arguments["activation"] = self.rng.choice(["tanh", "relu"])
        if kind == rnn_cell.LSTM and self.rng.random() < 0.3:
            lengths = None
        self.next += 1
        both = len(states) == 2 and self.rng.random() < 0.3
        with core.NameScope(self.rng.choice(["outer", "other"])):
            with_gradients = (0, 2) if both else self.rng.choice([(0,), (1,), (0, 1)])
            outputs = kind(
                self.model, core.BlobReference(x), core.BlobReference(lengths) if lengths else None,
                [core.BlobReference(state) for state in states],
                dim_in=columns, dim_out=units, scope="cell%d" % self.next,
                outputs_with_grads=with_gradients,
                memory_optimization=kind is rnn_cell.LSTM and self.rng.random() < 0.3,
                forget_bias=self.rng.choice([0.0, 1.0]), drop_states=self.rng.random() < 0.3, **arguments)
        everything, last = str(outputs[0]), str(outputs[1])
        self.shapes[everything] = (steps, rows, units)
        self.flatten(last, (1, rows, units))
        self.need(outputs, with_gradients)

    def need(self, outputs, with_gradients):
        """Adds a loss of each output, which must have a gradient in the original."""
        if self.rng.random() < 0.1:
            return
        for i in with_gradients:
            loss = self.name()
            self.op("AveragedLoss", [str(outputs[i])], [loss])
            self.losses.append(loss)

    def plain_recurrence(self):
        x = self.sequence()
        steps, rows, columns = self.shapes[x]
        state, second = (self.feed((1, rows, columns), readable=False) for _ in range(2))
        self.next += 1
        cell = model_helper.ModelHelper(name="step_%d" % self.next)
        two = self.rng.random() < 0.4
        cell_input, previous = cell.net.AddExternalInputs("input_t", "previous")
        older = cell.net.AddExternalInput("older") if two else None
        weights = None
        if self.rng.random() < 0.6:
            weights = [self.feed((columns, columns), readable=False), self.feed((columns,), readable=False)]
            cell.net.AddExternalInputs(*weights)
        self.weights = None
        names = [str(cell_input), str(previous)]
        if weights is not None:
            cell.net.FC([str(previous)] + weights, "linear", axis=2)
            names.append("linear")
        self.body(cell.net, names, "mixed", "r", in_place=0.0)
        cell.net.Sum(["mixed", str(previous), str(cell_input)], "sum")
        cell.net.Tanh("sum", "state")
        with_gradients = self.rng.choice([(0,), (0, 1), (1,)] + ([(0, 2), (2, 3)] if two else []))
        links, initial = {previous: "state"}, [(previous, core.BlobReference(state))]
        if two:
            cell.net.Mul(["state", str(older)], "product")
            cell.net.Sum(["product", str(cell_input)], "second")
            links[older] = "second"
            initial.append((older, core.BlobReference(second)))
        cell.net.AddExternalOutput(*map(core.BlobReference, sorted(links.values())))
        results = recurrent.recurrent_net(
            net=self.net, cell_net=cell.net, inputs=[(cell_input, core.BlobReference(x))], initial_cell_inputs=initial,
            links=links, scope="recurrent%d" % self.next,
            outputs_with_grads=with_gradients,
            recompute_blobs_on_backward=["sum"] if self.rng.random() < 0.2 else None)
        for name, shape in zip(results, [(steps, rows, columns), (1, rows, columns)] * 2):
            if shape[0] == steps:
                self.shapes[str(name)] = shape
            else:
                self.flatten(str(name), shape)
        self.need(results, with_gradients)

    def loss(self):
        x = self.pick(3)
        if x is None or self.rng.random() < 0.6:
            super().loss()
            return
        loss = self.name()
        self.op("AveragedLoss", [x], [loss])
        self.losses.append(loss)

    def parameters(self):
        """Values for the parameters that cells have created."""
        if len(self.model.param_init_net.Proto().op) == 0:
            return
        workspace.ResetWorkspace()
        workspace.RunNetOnce(self.model.param_init_net)
        for name in sorted(set(itertools.chain(*(op.output for op in self.model.param_init_net.Proto().op)))):
            self.inputs[name] = self.values(workspace.FetchBlob(name).shape)

    def build(self):
        control = [self.if_with_scopes, self.if_without_scopes, self.do, self.while_with_scopes, self.while_without_scopes]
        recurrences = [self.cell, self.cell, self.plain_recurrence, self.plain_recurrence]
        sparse = self.sparse_steps()
        plain = [self.unary, self.unary, self.binary, self.fc, self.many, self.softmax, self.flatten_sequence]
        main = self.rng.choice([control, recurrences, sparse, control + recurrences + sparse])
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice(plain)()
            self.rng.choice(main)()
        for _ in range(self.rng.randint(0, 2)):
            self.rng.choice(plain)()
        for _ in range(self.rng.randint(1, 2)):
            self.loss()
        self.parameters()
        declared = set(self.net.Proto().external_input)
        self.net.Proto().external_input.extend(name for name in self.inputs if name not in declared)
