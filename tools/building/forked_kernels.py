"""Kernels that are forked from a process which has imported what every chapter needs.

A plugin of pytest for Linux: `tools/building/execute.py` runs the chapters with it. The
process that forks has one thread, so no lock can be held when it does; it imports packages
of others only, so each chapter still has to import what is ours.
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
IMPORTED = (
    "IPython",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
)
IMPORTED += ("anywidget", "ipywidgets", "numpy", "matplotlib.pyplot", "yaml")
IMPORTED += ("matplotlib_inline.backend_inline",)


class Forked:
    """A forked kernel, with what Jupyter asks of a process that it has started."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ends = os.pidfd_open(pid)

    def poll(self) -> int | None:
        return self.wait(0)

    def wait(self, timeout: float | None = None) -> int | None:
        if self.returncode is None and select.select([self._ends], [], [], timeout)[0]:
            os.close(self._ends)
            self.returncode = 0  # nobody but the parent is told more
        return self.returncode

    def send_signal(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def ask(cmd: list[str], **options: object) -> Forked:
    """Ask for a kernel in the place of `jupyter_client.launch_kernel`."""
    folder = str(options.get("cwd") or os.getcwd())
    wanted = {"argv": cmd[3:], "env": options["env"], "folder": folder}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[ADDRESS])
        server.sendall(json.dumps(wanted).encode() + b"\n")
        return Forked(int(server.makefile().readline()))


def pytest_configure() -> None:
    from jupyter_client.provisioning import local_provisioner

    local_provisioner.launch_kernel = ask


# ---- the process that forks


def start(address: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    """Start the process that forks; return when it waits for requests."""
    command = [sys.executable, __file__, str(address)]
    # Without the first, threads of NumPy's would be there at the fork; the second is what
    # a kernel tells Matplotlib before it is imported.
    more = {"OPENBLAS_NUM_THREADS": "1"}
    more["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    env = {**env, **more}
    quiet = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    quiet |= {"stderr": subprocess.DEVNULL, "text": True}
    server = subprocess.Popen(command, env=env, **quiet)
    if not server.stdout.readline():
        raise RuntimeError("the process that forks kernels did not start")
    return server


def serve(address: str) -> None:
    """Import what kernels need, and fork one for each request until the parent ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel's end is nobody's news
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)  # what is asked meanwhile waits for the imports
        for name in IMPORTED:
            __import__(name)
        # Standard input closes when the process that started this one ends.
        while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
            asked, _ = server.accept()
            wanted = json.loads(asked.makefile().readline())
            threads = len(os.listdir("/proc/self/task"))
            if threads > 1:
                raise RuntimeError(f"a process with {threads} threads is not forked")
            if os.fork() == 0:
                # Jupyter ends a kernel's whole group, which must not be this one's.
                os.setsid()
                asked.sendall(f"{os.getpid()}\n".encode())
                server.close(), asked.close()
                kernel(**wanted)
            asked.close()


def kernel(argv: list[str], env: dict[str, str], folder: str) -> None:
    """Be a kernel, as `python -m ipykernel_launcher` would be."""
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
