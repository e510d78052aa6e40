"""The processes of the engines: each stays alive, and is stopped while another one runs."""
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = 'caffe2rt'
OURS_ONNX = 'caffe2rt_onnx'  # this project on the ONNX file
OURS_F32 = 'caffe2rt_f32'  # this project in f32, beside a lower precision
PEERS = {'onnxruntime': 'onnxruntime', 'openvino': 'openvino', 'ncnn': 'ncnn'}  # name: Python module


class EngineError(Exception):
    pass


def installed(module):
    return subprocess.run([sys.executable, '-c', 'import ' + module], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def command_of(name, runner, threads, precision):
    if name in (OURS, OURS_ONNX, OURS_F32):
        return [runner, '--threads', str(threads), '--format', 'onnx' if name == OURS_ONNX else 'netdef',
                '--precision', 'f32' if name == OURS_F32 else precision]
    return [sys.executable, os.path.join(HERE, 'serve_%s.py' % name), str(threads)] + ([precision] if precision != 'f32' else [])


class Engine:
    """A running engine that is bound to `cpus`. Usable in a with statement, which ends the process. `command` starts an engine that is
    not one of the above."""

    def __init__(self, name, runner, threads, cpus, command=None, precision='f32'):
        self.name = name
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        command = ['taskset', '-c', ','.join(map(str, cpus))] + (command or command_of(name, runner, threads, precision))
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env=environment)
        self.ask('memory')  # waits until the process is ready

    def ask(self, command):
        """The answer without "ok". The process is stopped afterwards, so that threads that spin do not disturb the others."""
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(command + '\n')
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ''
        if not answer:
            raise EngineError('%s ended with code %s at "%s"' % (self.name, self.process.wait(), command))
        self.process.send_signal(signal.SIGSTOP)
        state, _, text = answer.rstrip('\n').partition(' ')
        if state != 'ok':
            raise EngineError('%s: %s' % (self.name, text))
        return text

    def times(self, runs):
        return [float(value) for value in self.ask('run %d' % runs).split()]

    def cpu_seconds(self):
        with open('/proc/%d/stat' % self.process.pid) as file:
            fields = file.read().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
