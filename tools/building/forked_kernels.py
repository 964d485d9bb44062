"""Forks Jupyter kernels from a server that has imported what every chapter needs.

A pytest plugin for Linux, which `tools/building/execute.py` loads. The server has a single
thread, so that no lock is held at a fork. The server imports third-party packages only:
each chapter still imports the book's own.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

ADDRESS = "BOOK_FORKS_KERNELS"  # the variable that names the socket
IMPORTS = """
    IPython ipykernel.kernelapp ipykernel.ipkernel ipykernel.zmqshell anywidget ipywidgets
    numpy matplotlib.pyplot yaml matplotlib_inline.backend_inline
""".split()


class Forked:
    """A forked kernel, with the methods of `Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._end = os.pidfd_open(pid)

    def poll(self) -> int | None:
        return self.wait(0)

    def wait(self, timeout: float | None = None) -> int | None:
        if self.returncode is None and select.select([self._end], [], [], timeout)[0]:
            os.close(self._end)
            self.returncode = 0  # only the parent of a process learns its real status
        return self.returncode

    def send_signal(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def request_kernel(cmd: list[str], **options: object) -> Forked:
    """Request a kernel from the server; replaces `jupyter_client.launch_kernel`."""
    folder = str(options.get("cwd") or os.getcwd())
    request = {"argv": cmd[3:], "env": options["env"], "folder": folder}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[ADDRESS])
        server.sendall(json.dumps(request).encode() + b"\n")
        return Forked(int(server.makefile().readline()))


def pytest_configure() -> None:
    from jupyter_client.provisioning import local_provisioner

    local_provisioner.launch_kernel = request_kernel


# ---- the server


def start(address: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    """Start the server; return once it accepts requests."""
    command = [sys.executable, __file__, str(address)]
    # With one thread for OpenBLAS, NumPy starts none of its own before the fork. A kernel
    # sets the other variable before Matplotlib is imported.
    env = env | {"OPENBLAS_NUM_THREADS": "1"}
    env |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    pipes |= {"stderr": subprocess.DEVNULL, "text": True}
    server = subprocess.Popen(command, env=env, **pipes)
    if not server.stdout.readline():
        raise RuntimeError("the server that forks kernels did not start")
    return server


def serve(address: str) -> None:
    """Import what kernels need, and fork one for each request until the parent ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps ended kernels
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)  # requests queue up while the imports run
        for name in IMPORTS:
            __import__(name)
        # Standard input closes when the process that started this one ends.
        while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
            connection, _ = server.accept()
            request = json.loads(connection.makefile().readline())
            threads = len(os.listdir("/proc/self/task"))
            if threads > 1:
                raise RuntimeError(f"a process with {threads} threads is not forked")
            if os.fork() == 0:
                # Jupyter kills a kernel's process group, which must not be the server's.
                os.setsid()
                connection.sendall(f"{os.getpid()}\n".encode())
                server.close(), connection.close()
                run_kernel(**request)
            connection.close()


def run_kernel(argv: list[str], env: dict[str, str], folder: str) -> None:
    """Become a kernel, as `python -m ipykernel_launcher` does."""
    from ipykernel import kernelapp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(folder)
    os.environ.clear(), os.environ.update(env)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    sys.argv[1:] = argv
    kernelapp.launch_new_instance()
    os._exit(0)


if __name__ == "__main__":
    del sys.path[0]  # this file's folder
    serve(sys.argv[1])
